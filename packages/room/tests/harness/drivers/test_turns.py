"""What all drivers have in common, tried on a backend that does not do as it is told."""

import asyncio
from dataclasses import replace

import pytest

from tacit.base.errors import Refused, Unavailable
from tacit.harness.drivers.io import turns
from tacit.harness.drivers.io.turns import NoSteering, SessionDriver
from tacit.harness.drivers.port import (
    FailureKind,
    Proceed,
    StandingInstructions,
    Stop,
    TextDelta,
    ToolEnded,
    ToolStarted,
    Traits,
)
from tests.harness.drivers.rigs import RULES, RecordingWatch, soon, turn


class Backend(NoSteering):
    """Does what the test says, and keeps a diary."""

    traits = Traits("odd", steers=False, inserts=False, boundaries=True, resumes=True)

    def __init__(self, act=None, opening=None):
        self.alive = False
        self.session_id = None
        self.diary = []
        self.act = act
        self.opening = opening
        self.begun = asyncio.Event()

    async def open(self, standing, session_id):
        self.diary.append(f"open {standing.rules} {session_id}")
        if self.opening is not None:
            raise self.opening
        self.alive, self.session_id = True, session_id or "s1"

    async def perform(self, live):
        self.begun.set()
        if self.act is not None:
            return await self.act(live)
        return live.outcome(text="done", session_id=self.session_id)

    async def interrupt(self, live):
        self.diary.append("interrupt")

    async def kill(self, *, politely=True):
        self.diary.append("kill" if politely else "kill at once")
        self.alive = False


async def forever(live):
    await asyncio.Event().wait()


async def test_an_agent_that_does_not_stop_is_ended_by_force(monkeypatch):
    monkeypatch.setattr(turns, "_GRACE", 0.05)
    backend = Backend(forever)
    driver, asked = SessionDriver(backend), turn()
    running = asyncio.create_task(driver.run(asked, RecordingWatch()))
    await soon(backend.begun.wait())
    await driver.cancel(asked.turn_id)
    assert (await soon(running)).failure.kind is FailureKind.CANCELLED
    assert backend.diary[-2:] == ["interrupt", "kill at once"]
    assert not backend.alive
    backend.act = None
    outcome = await soon(driver.run(turn(), RecordingWatch()))
    assert (outcome.text, backend.diary[-1]) == ("done", f"open {RULES} s1")


async def test_a_time_limit_covers_a_start_that_hangs(monkeypatch):
    monkeypatch.setattr(turns, "_GRACE", 0.05)
    backend = Backend()

    async def hang(standing, session_id):
        await asyncio.Event().wait()

    backend.open = hang
    outcome = await soon(SessionDriver(backend).run(turn(time_limit=0.05), RecordingWatch()))
    assert (outcome.failure.kind, outcome.failure.code) == (FailureKind.RETRYABLE, "time_limit")


@pytest.mark.parametrize(
    ("error", "kind", "code"),
    [
        (Unavailable("not now"), FailureKind.RETRYABLE, "agent_died"),
        (Refused("driver_unusable", "no such program"), FailureKind.PERMANENT, "agent_error"),
    ],
)
async def test_an_agent_that_cannot_start_is_an_outcome_of_the_turn_and_an_error_of_the_start(
    error, kind, code
):
    backend = Backend(opening=error)
    driver = SessionDriver(backend)
    with pytest.raises(type(error)):
        await driver.start(StandingInstructions(RULES))
    assert backend.diary[-1] == "kill"
    failure = (await soon(driver.run(turn(), RecordingWatch()))).failure
    assert (failure.kind, failure.code) == (kind, code)


async def test_a_second_start_of_a_live_agent_does_nothing_and_new_rules_open_it_anew():
    backend = Backend()
    driver = SessionDriver(backend)
    await driver.start(StandingInstructions("A"), "s7")
    await driver.start(StandingInstructions("A"))
    await driver.run(turn(rules="A"), RecordingWatch())
    await driver.run(turn(rules="B"), RecordingWatch())
    assert [line for line in backend.diary if line.startswith("open")] == ["open A s7", "open B s7"]


async def test_a_stop_at_a_boundary_is_the_last_thing_the_watch_hears():
    async def act(live):
        await live.saw(ToolStarted("1", "t"))
        order = await live.boundary(ToolEnded("1", "t", ok=True))
        assert isinstance(order, Stop)
        await live.saw(TextDelta("too late"))
        assert isinstance(await live.boundary(ToolEnded("2", "t", ok=True)), Stop)
        return live.outcome(text="too late")

    watch = RecordingWatch(Stop())
    outcome = await soon(SessionDriver(Backend(act)).run(turn(), watch))
    assert outcome.failure.kind is FailureKind.CANCELLED
    assert outcome.text == ""
    assert watch.kinds() == ["ToolStarted", "ToolEnded"]
    assert len(watch.boundaries) == 1


async def test_a_boundary_that_was_cancelled_while_it_was_asked_is_a_stop():
    asked, orders = turn(), []

    class Canceller(RecordingWatch):
        async def at_boundary(self, ended):
            await driver.cancel(asked.turn_id)
            return Proceed()

    async def act(live):
        orders.append(await live.boundary(ToolEnded("1", "t", ok=True)))
        return live.outcome(text="too late")

    driver = SessionDriver(Backend(act))
    outcome = await soon(driver.run(asked, Canceller()))
    assert outcome.failure.kind is FailureKind.CANCELLED
    assert isinstance(orders[0], Stop)


async def test_close_ends_running_and_waiting_turns_and_later_ones_until_started_again(monkeypatch):
    monkeypatch.setattr(turns, "_GRACE", 0.05)
    backend = Backend(forever)
    backend.interrupt = lambda live: asyncio.sleep(0)
    driver = SessionDriver(backend)
    running = [asyncio.create_task(driver.run(turn(), RecordingWatch())) for _ in range(3)]
    await soon(backend.begun.wait())
    await soon(driver.close(), 10)
    for outcome in await soon(asyncio.gather(*running)):
        assert outcome.failure.kind is FailureKind.CANCELLED
    assert (await driver.run(turn(), RecordingWatch())).failure.kind is FailureKind.CANCELLED
    backend.act = None
    await driver.start(StandingInstructions(RULES))
    assert (await driver.run(turn(), RecordingWatch())).text == "done"


async def test_unknown_turns_are_neither_steered_nor_a_fault():
    driver = SessionDriver(Backend())
    assert await driver.steer("nobody", "hello") is False
    await driver.cancel("nobody")
    await driver.close()
    await driver.close()


async def test_a_watch_that_breaks_its_promise_does_not_leave_the_agent_in_the_turn():
    class Broken(RecordingWatch):
        async def saw(self, event):
            raise LookupError("a bug in the harness")

    async def act(live):
        await live.saw(TextDelta("hello"))

    backend = Backend(act)
    driver = SessionDriver(backend)
    with pytest.raises(LookupError):
        await soon(driver.run(turn(), Broken()))
    assert backend.diary[-1] == "kill"
    backend.act = None
    assert (await soon(driver.run(turn(), RecordingWatch()))).text == "done"


# -- one session for each audience


def audience_turn(audience, session_id=None):
    return replace(turn(), audience=audience, session_id=session_id)


@pytest.mark.spec("C2A-203")
async def test_each_audience_has_a_backend_and_a_session_of_its_own():
    room, made = Backend(), {}

    def private(audience):
        made[audience] = Backend()
        return made[audience]

    driver = SessionDriver(room, private)
    await driver.start(StandingInstructions(RULES), "r1")
    assert (await driver.run(audience_turn(""), RecordingWatch())).session_id == "r1"
    assert (await driver.run(audience_turn("ada+bo", "b7"), RecordingWatch())).session_id == "b7"
    assert (await driver.run(audience_turn("ada+cy"), RecordingWatch())).session_id == "s1"
    assert [one.diary[-1] for one in (room, *made.values())] == [
        f"open {RULES} r1", f"open {RULES} b7", f"open {RULES} None",
    ]  # fmt: skip
    await driver.close()
    assert not any(one.alive for one in (room, *made.values()))


@pytest.mark.spec("C2A-203")
async def test_of_private_sessions_only_a_few_stay_open_and_a_closed_one_is_taken_up_again():
    made = []

    def private(audience):
        backend = Backend()
        backend.audience = audience
        made.append(backend)
        return backend

    driver = SessionDriver(Backend(), private)
    names = [f"ada+p{number}" for number in range(turns.MOST_OPEN + 1)]
    for name in names:
        await driver.run(audience_turn(name), RecordingWatch())
    assert [one.audience for one in made if one.alive] == names[1:]
    await driver.run(audience_turn(names[0], "kept"), RecordingWatch())
    assert made[-1].diary[-1] == f"open {RULES} kept"
    assert [one.audience for one in made if one.alive] == [*names[2:], names[0]]
    await driver.close()


async def test_text_for_a_running_turn_reaches_the_backend_of_its_audience():
    others = []

    def private(audience):
        others.append(Backend(forever))
        others[-1].steer = steered
        return others[-1]

    heard = []

    async def steered(live, text, files):
        heard.append((live.request.audience, text, files))
        return True

    driver, asked = SessionDriver(Backend(), private), audience_turn("ada+bo")
    running = asyncio.create_task(driver.run(asked, RecordingWatch()))
    while not others:
        await asyncio.sleep(0)
    await soon(others[0].begun.wait())
    assert await driver.steer(asked.turn_id, "more")
    assert heard == [("ada+bo", "more", ())]
    await driver.close()
    assert (await soon(running)).failure.kind is FailureKind.CANCELLED
