"""Packets that wait for their sender's key: so many, so large and so long, and no more."""

from __future__ import annotations

import pytest

from tacit.agent.io.store import FILE, AgentStore
from tacit.agent.io.unverified import Unverified
from tacit.base.moment import SECOND, Moment

NOW = Moment(10**15)
MIB = 1024 * 1024


@pytest.fixture
def store(tmp_path):
    made = AgentStore(tmp_path / "agent")
    yield made
    made.close()


def kept(store) -> list[tuple[str, int]]:
    return [tuple(row) for row in store.rows("SELECT sender, count(*) FROM unjudged GROUP BY sender")]


@pytest.mark.spec("A2ACP-002", "A2ACP-219")
def test_five_hundred_of_one_stranger_wait_and_then_the_oldest_goes(store):
    waiting = Unverified(store)
    with store.transaction():
        for number in range(500):
            assert waiting.keep("a", b"x", f"s{number}", NOW)
        first = waiting.first("a")
        assert first is not None
        assert first.sig == "s0"
        assert waiting.keep("a", b"x", "s0", NOW), "one that waits already"
        assert kept(store) == [("a", 500)]
        assert waiting.keep("a", b"x", "s500", NOW)
    assert kept(store) == [("a", 500)]
    first = waiting.first("a")
    assert first is not None
    assert first.sig == "s1"
    assert waiting.first("b") is None
    assert (waiting.holds("a"), waiting.holds("b"), waiting.senders()) == (True, False, ["a"])


@pytest.mark.spec("A2ACP-002", "A2ACP-215")
def test_two_thousand_wait_in_all(store):
    waiting = Unverified(store)
    with store.transaction():
        for number in range(2_000):
            assert waiting.keep(f"n{number // 400}", b"x", f"s{number}", NOW)
        assert sum(count for _, count in kept(store)) == 2_000
        assert waiting.keep("last", b"x", "s", NOW)
    assert dict(kept(store)) == {"n0": 399, "n1": 400, "n2": 400, "n3": 400, "n4": 400, "last": 1}


@pytest.mark.spec("A2ACP-002", "A2ACP-215")
def test_sixty_four_mebibytes_wait_in_all(store):
    waiting = Unverified(store)
    with store.transaction():
        for number in range(64):
            assert waiting.keep("a", bytes(MIB), f"s{number}", NOW)
        assert kept(store) == [("a", 64)]
        assert waiting.keep("b", b"x", "s", NOW)
    assert kept(store) == [("a", 63), ("b", 1)]


@pytest.mark.spec("A2ACP-002", "A2ACP-219")
def test_what_waited_thirty_days_is_let_go(store):
    waiting, month = Unverified(store), 30 * 24 * 3600 * SECOND
    with store.transaction():
        waiting.keep("old", b"x", "s", Moment(NOW - month - 1))
        waiting.keep("young", b"x", "s", Moment(NOW - month + 1))
        waiting.forget_old(NOW)
    assert kept(store) == [("young", 1)]


@pytest.mark.spec("A2ACP-215")
def test_the_folder_and_the_file_are_for_the_agent_alone(store):
    assert store.folder.stat().st_mode & 0o777 == 0o700
    assert (store.folder / FILE).stat().st_mode & 0o777 == 0o600


@pytest.mark.spec("A2ACP-215")
def test_a_folder_that_was_open_to_others_is_closed_to_them(tmp_path):
    (tmp_path / "agent").mkdir(mode=0o755)
    AgentStore(tmp_path / "agent").close()
    assert (tmp_path / "agent").stat().st_mode & 0o777 == 0o700
