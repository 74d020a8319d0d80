"""No agent loses anything because the machine's clock was set to another time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tacit.a2acp.post.io.store import AgentStore, Myself
from tacit.agent.kernel.io.vault import write
from tacit.agent.shell.io.agent import Agent
from tacit.base.io.time_service import FILE
from tacit.base.moment import Moment
from tacit.seal import session
from tacit.seal.identity import Identity
from tests.two_clocks import DAY, LEAPS, START, TwoClocks

if TYPE_CHECKING:
    from pathlib import Path

PEER = "ben@relay.test"
TOLD = {name: by for name, by in LEAPS.items() if abs(by) > DAY}
KEPT = ("seen", "former", "prekeys", "sealings", "dropped", "unjudged", "outbox", "history")


def filled(folder: Path, clock: TwoClocks) -> None:
    """An agent's folder with something of everything that has an age."""
    store = AgentStore(folder)
    at = int(clock.now())
    with store.transaction():
        store.set_identity(
            Myself("anna@relay.test", "http://relay.test", Identity(b"s" * 32, b"a" * 32), 1, b"r")
        )
        history = "INSERT INTO history VALUES (NULL,?,?,?,'thr_1',1,'context',?,?,NULL,?)"
        store.run(history, "out", PEER, "pkt_1", at, "sent", b'{"said":1}')
        store.run(history, "in", PEER, "pkt_2", at, "asked", b'{"asked":1}')
        store.run(
            "INSERT INTO outbox (packet_id, peer, thread_id, payload) VALUES ('pkt_1',?,'thr_1',x'01')", PEER
        )
        store.run("INSERT INTO seen VALUES (?,'pkt_0',?)", PEER, at)
        store.run("INSERT INTO unjudged VALUES (NULL,?,x'01','sig',?)", PEER, at)
        store.run("INSERT INTO dropped VALUES (?,x'01','pkt_3',?,NULL,'failed')", PEER, at)
        store.run("INSERT INTO sealings VALUES (?,'pkt_1',x'01',x'01',?,0,'due')", PEER, at)
        store.add_former(Identity(b"t" * 32, b"b" * 32), at + 60 * DAY)
        store.add_prekey(1, 7, b"p" * 32, at)
        store.run("UPDATE prekeys SET replaced_at=?", at)
    store.close()


def held(agent: Agent) -> dict[str, object]:
    """What of it is there, with what became of it."""
    store = agent.post.store
    found: dict[str, object] = {table: store.rows(f"SELECT count(*) FROM {table}")[0][0] for table in KEPT}
    found["said"] = store.rows("SELECT payload FROM history WHERE direction='out'")
    found["waiting"] = store.rows("SELECT state FROM outbox")
    found["lost"] = store.rows("SELECT state FROM dropped")
    found["vault"] = agent.vault.raw("val_1")
    return found


def kept_house(agent: Agent) -> None:
    agent.post.inbox.forget_old()
    agent._tidied_up()


def notes(agent: Agent) -> list[str]:
    return [text for _, text in agent.post.store.notes(0) if "clock" in text]


async def started(folder: Path, clock: TwoClocks) -> None:
    filled(folder, clock)
    async with Agent(folder, clock=clock) as agent:
        write(agent.vault._file, [("val_1", PEER, int(clock.now()), b'"kept"')], ())
        kept_house(agent)
        assert agent.vault.raw("val_1")


@pytest.mark.spec("A2ACP-222", "A2ACP-245")
@pytest.mark.parametrize("by", LEAPS.values(), ids=LEAPS)
@pytest.mark.parametrize("restarts", [False, True], ids=["at once", "with a restart"])
async def test_nothing_goes_when_the_clock_leapt_and_the_owner_is_told_once(
    tmp_path: Path, by: int, *, restarts: bool
) -> None:
    clock = TwoClocks()
    await started(tmp_path, clock)
    if restarts:
        clock.leap(by)
    async with Agent(tmp_path, clock=clock) as agent:
        before = held(agent)
        if not restarts:
            kept_house(agent)
            clock.leap(by)
        agent.journal.book.due["thr_due"] = Moment(START + 2 * DAY)
        for _ in range(3):
            kept_house(agent)
            assert not await agent._time(), "a thread's time has not come"
        assert held(agent) == before
        expected = 1 if by in TOLD.values() else 0
        assert len(notes(agent)) == expected
        shown = [one for one in (await agent.notices())["notices"] if one["code"] == "clock"]
        assert len(shown) == expected
    async with Agent(tmp_path, clock=clock) as agent:
        kept_house(agent)
        assert held(agent) == before
        assert len(notes(agent)) == expected


@pytest.mark.parametrize("way", ["watched", "witness", "owner"])
async def test_an_agent_that_was_away_for_three_months_goes_on_once_the_clock_is_believed(
    tmp_path: Path, way: str
) -> None:
    clock = TwoClocks()
    await started(tmp_path, clock)
    clock.leap(91 * DAY)
    async with Agent(tmp_path, clock=clock) as agent:
        watch = agent.post.inbox.clock
        kept_house(agent)
        assert agent.vault.raw("val_1")
        agent.journal.book.due["thr_due"] = Moment(START + 2 * DAY)
        if way == "watched":
            clock.watch(DAY)
        elif way == "witness":
            watch.witness(Moment(clock.now() - 60_000_000))
        else:
            watch.trust()
        kept_house(agent)
        assert agent.post.store.rows("SELECT payload FROM history WHERE direction='out'") == [(b"",)]
        assert agent.vault.raw("val_1") is None
        assert await agent._time()
        assert not [one for one in (await agent.notices())["notices"] if one["code"] == "clock"]


async def test_a_folder_of_an_older_program_goes_by_its_newest_packet(tmp_path: Path) -> None:
    clock = TwoClocks()
    await started(tmp_path, clock)
    (tmp_path / FILE).unlink()
    clock.leap(91 * DAY)
    async with Agent(tmp_path, clock=clock) as agent:
        before = held(agent)
        kept_house(agent)
        assert held(agent) == before
        assert len(notes(agent)) == 1


def test_a_packet_is_taken_when_it_is_timely_by_either_of_two_times() -> None:
    later = Moment(START + 91 * DAY)
    for created in (START, later, Moment(START - 59 * DAY), Moment(later + DAY)):
        assert session.within_window(created, START, later)
    assert not session.within_window(Moment(START - 61 * DAY), START, later)
    assert not session.within_window(Moment(later + 3 * DAY), START, later)
