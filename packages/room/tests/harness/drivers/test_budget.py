"""A budget binds in the middle of a turn, whatever the driver counts: its shape of usage, or nothing at all."""

from __future__ import annotations

import asyncio

import pytest

from tacit.harness.drivers import claude, codex, command
from tacit.harness.drivers.io.turns import NoSteering, SessionDriver
from tacit.harness.drivers.port import (
    Price,
    StandingInstructions,
    TextDelta,
    TokenUsage,
    Traits,
    TurnAllowance,
    TurnRequest,
)
from tacit.harness.drivers.reading import part

PRICE = Price(1.0, 10.0, 0.1)


class Watching:
    async def saw(self, event):
        """Nothing is done with it."""

    async def in_session(self, session_id):
        """Nothing is kept."""


class Spender(NoSteering):
    """An agent that uses something, and then goes on for good."""

    traits = Traits("spender", steers=False, inserts=False, boundaries=False, resumes=False)
    alive = True
    session_id = "s1"

    def __init__(self, spend, *, ends=False):
        self._spend, self._ends = spend, ends
        self._halt = asyncio.Event()

    async def open(self, standing, session_id):
        """Nothing to open."""

    async def perform(self, live):
        await self._spend(live)
        if not self._ends:
            await self._halt.wait()
        return live.outcome(text="The last word.")

    async def interrupt(self, live):
        self._halt.set()

    async def kill(self, *, politely=True):
        """Nothing to end."""


async def codex_counts(live):
    counts = {"last": {"inputTokens": 900_000, "outputTokens": 50_000, "cachedInputTokens": 0}}
    live.usage += codex.usage(part(counts, "last"))


async def claude_streams(live):
    start = {"type": "message_start", "message": {"usage": {"input_tokens": 900_000, "output_tokens": 1}}}
    for event in (start, {"type": "message_delta", "usage": {"output_tokens": 50_000}}, {"type": "ping"}):
        if (seen := claude.seen_usage(event)) is not None:
            live.saw_usage(seen)


async def chat_counts(live):
    for _ in range(3):
        live.usage += TokenUsage(300_000, 20_000, 0)


async def a_program_tells(live):
    live.saw_usage(command.line(b'{"type": "usage", "input": 900000, "output": 50000}'))


async def only_words(live):
    await live.saw(TextDelta("x" * 400_000))


SHAPES = [codex_counts, claude_streams, chat_counts, a_program_tells, only_words]


async def run(spend, allowance, *, ends=False):
    driver = SessionDriver(Spender(spend, ends=ends))
    request = TurnRequest("t1", StandingInstructions("rules"), "prompt", 30.0, allowance=allowance)
    return await driver.run(request, Watching())


@pytest.mark.parametrize("spend", SHAPES)
@pytest.mark.parametrize(
    "allowance", [TurnAllowance(tokens=90_000), TurnAllowance(cost_usd=0.5, price=PRICE)]
)
async def test_a_turn_that_reaches_its_allowance_is_ended_there_and_says_so(spend, allowance):
    outcome = await run(spend, allowance)
    assert outcome.failure.code == "over_budget"
    assert "budget" in outcome.failure.hint
    assert allowance.is_used_up(outcome.usage, outcome.cost_usd), "what was used is counted"
    assert outcome.estimated == (spend is only_words)


@pytest.mark.parametrize("spend", SHAPES)
async def test_an_answer_that_reaches_it_with_its_last_word_stands(spend):
    outcome = await run(spend, TurnAllowance(tokens=1), ends=True)
    assert (outcome.text, outcome.failure) == ("The last word.", None)


@pytest.mark.parametrize("spend", SHAPES)
async def test_within_its_allowance_nothing_ends(spend):
    outcome = await run(spend, TurnAllowance(tokens=10_000_000, cost_usd=50.0, price=PRICE), ends=True)
    assert outcome.failure is None


async def test_a_fresh_turn_begins_a_new_session():
    opened = []

    class Opening(Spender):
        async def open(self, standing, session_id):
            opened.append(session_id)

    async def nothing(live):
        """Uses nothing."""

    backend = Opening(nothing, ends=True)
    backend.alive = False
    driver = SessionDriver(backend)
    standing = StandingInstructions("rules")
    await driver.run(TurnRequest("t1", standing, "prompt"), Watching())
    await driver.run(TurnRequest("t2", standing, "prompt"), Watching())
    await driver.run(TurnRequest("t3", standing, "prompt", fresh=True), Watching())
    assert opened == [None, "s1", None]
