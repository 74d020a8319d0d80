"""The harness killed without a farewell, at every moment that matters: one reply, never none, never two."""

from __future__ import annotations

import asyncio
import json
import random
import signal

import pytest

from tests.harness.living import WAIT, Desk


class Joined:
    """`tacit join` as a process, and what it told so far."""

    def __init__(self, home, desk: Desk, name: str = "ada") -> None:
        self._home, self._desk, self._name = home, desk, name
        self._process = None
        self.told: list[dict] = []
        self._reading: asyncio.Task | None = None

    async def start(self) -> None:
        self._process = self._home.join(self._name, self._desk)
        self.told = []
        self._reading = asyncio.create_task(asyncio.to_thread(self._read, self._process, self.told))
        await self.until("connected")

    def _read(self, process, told) -> None:
        for line in process.stdout:
            told.append(json.loads(line))

    async def until(self, what: str, count: int = 1) -> None:
        async with asyncio.timeout(WAIT):
            while sum(one["what"] == what for one in self.told) < count:
                assert self._process.poll() is None, (self._home.folder / f"{self._name}.log").read_text()
                await asyncio.sleep(0.002)

    async def end(self, how: int) -> None:
        self._process.send_signal(how)
        await asyncio.to_thread(self._process.wait, 20)
        await self._reading
        self._process.stdout.close()


async def replies_to(home, event_id: str) -> list[str]:
    return [event.id for event in await home.said_by("ada") if event.data.get("reply_to") == event_id]


def answer(number: int) -> list[dict]:
    words = random.Random(number).sample(WORDS, 6)
    return [{"text": f"Answer {number}: {' '.join(words)}."}]


WORDS = [
    "anchor",
    "basin",
    "copper",
    "dune",
    "ember",
    "fjord",
    "glade",
    "harbor",
    "inlet",
    "jetty",
    "kelp",
    "lagoon",
    "moss",
    "nectar",
    "orchid",
    "pebble",
    "quartz",
]


async def one_reply_each(home, desk: Desk, questions: list[str]) -> None:
    """Counted after one more question was answered: an agent says what it still has to say before that."""
    desk.script(*[[] for _ in desk.turns], answer(1000))
    await home.until_reply(await home.say("@ada one last question?"))
    assert [len(await replies_to(home, one)) for one in questions] == [1] * len(questions)


async def killed_before_the_reply(home, desk: Desk, rounds: int) -> None:
    """Killed after the acceptance: on hearing, while thinking, and around the end of the thought."""
    joined = Joined(home, desk)
    await joined.start()
    questions = []
    for number in range(rounds):
        turns = len(desk.turns)
        thinking = [{"until": f"go{number}"}, *answer(number)]
        desk.script(*[[] for _ in range(turns)], thinking)
        asked = await home.say(f"@ada question {number}, please?")
        questions.append(asked)
        moment = number % 4
        await joined.until("heard")
        if moment > 0:
            await joined.until("turn")
            await desk.until_turn(turns + 1)
        if moment > 1:
            desk.go(f"go{number}")
            await asyncio.sleep(
                random.uniform(0.0, 0.12)
            )  # not to wait for anything: the moment is the input
        await joined.end(signal.SIGKILL)
        desk.go(f"go{number}")
        await joined.start()
        await home.until_reply(asked)
    await one_reply_each(home, desk, questions)
    await joined.end(signal.SIGINT)


async def killed_after_the_reply(home, desk: Desk, rounds: int) -> None:
    """Killed as soon as the reply is in the ledger: what is owed to the other fragments is still told."""
    joined = Joined(home, desk)
    await joined.start()
    questions = []
    for number in range(rounds):
        turns = len(desk.turns)
        desk.script(*[[] for _ in range(turns)], answer(100 + number))
        first = await home.say(f"@ada part one of {number}")
        asked = await home.say(f"@ada part two of {number}?")
        questions.append(asked)
        await home.until_reply(asked)
        await asyncio.sleep(random.uniform(0.0, 0.02))  # not to wait for anything: the moment is the input
        await joined.end(signal.SIGKILL)
        await joined.start()
        await home.until_kind(
            "x.c2a.disposition",
            lambda event, first=first: (
                event.data["event_id"] == first and event.data["disposition"] == "superseded"
            ),
        )
        assert await replies_to(home, first) == []
    await one_reply_each(home, desk, questions)
    await joined.end(signal.SIGINT)


@pytest.fixture
def desk(tmp_path):
    return Desk(tmp_path / "desk")


@pytest.mark.spec("C2A-160", "C2A-162", "C2A-163", "C2A-164", "C2A-167")
async def test_killed_between_accept_and_reply_there_is_one_reply(house, desk):
    await killed_before_the_reply(house, desk, 4)


@pytest.mark.spec("C2A-160", "C2A-162", "C2A-164", "C2A-168")
async def test_killed_between_reply_and_disposition_there_is_one_reply(house, desk):
    await killed_after_the_reply(house, desk, 2)


@pytest.mark.soak
@pytest.mark.timeout(900)
async def test_killed_twenty_times_between_accept_and_reply(house, desk):
    await killed_before_the_reply(house, desk, 20)


@pytest.mark.soak
@pytest.mark.timeout(900)
async def test_killed_twenty_times_between_reply_and_disposition(house, desk):
    await killed_after_the_reply(house, desk, 20)
