"""Packets that wait for their sender's key: so many, so large and so long, and no more."""

from __future__ import annotations

import pytest

from tacit.a2acp.post.io.store import FILE, AgentStore
from tacit.a2acp.post.io.unverified import Unverified
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


def befriend(store, *names: str) -> None:
    with store.transaction():
        for name in names:
            store.know(name, welcome=True)


@pytest.mark.spec("A2ACP-002", "A2ACP-219")
def test_twenty_five_of_one_stranger_wait_and_the_rest_is_let_go(store):
    waiting = Unverified(store)
    with store.transaction():
        for number in range(25):
            assert waiting.keep("a", b"x", f"s{number}", NOW)
        first = waiting.first("a")
        assert first is not None
        assert first.sig == "s0"
        assert waiting.keep("a", b"x", "s0", NOW), "one that waits already"
        assert kept(store) == [("a", 25)]
        assert waiting.keep("a", b"x", "s25", NOW)
    assert kept(store) == [("a", 25)]
    assert store.row("SELECT max(sig='s25') FROM unjudged") == (0,)
    assert waiting.first("b") is None
    assert (waiting.holds("a"), waiting.holds("b"), waiting.senders()) == (True, False, ["a"])


@pytest.mark.spec("A2ACP-002", "A2ACP-215")
def test_strangers_leave_half_a_mebibyte_each_and_four_together_before_their_key_is_known(store):
    waiting = Unverified(store)
    with store.transaction():
        for number in range(64):
            assert waiting.keep(f"n{number // 8}", bytes(MIB // 4), f"s{number}", NOW)
        assert dict(kept(store)) == {f"n{number}": 2 for number in range(8)}
        assert waiting.keep("last", bytes(MIB // 4), "s", NOW)
    assert dict(kept(store)) == {"n0": 1, **{f"n{number}": 2 for number in range(1, 8)}, "last": 1}


@pytest.mark.spec("A2ACP-002", "A2ACP-215")
def test_of_a_contact_five_hundred_or_sixteen_mebibytes_wait_and_the_rest_stays_with_the_relay(store):
    befriend(store, "many", "large")
    waiting = Unverified(store)
    with store.transaction():
        assert [waiting.keep("many", b"x", f"s{n}", NOW) for n in range(501)] == [True] * 500 + [False]
        assert [waiting.keep("large", bytes(MIB), f"s{n}", NOW) for n in range(17)] == [True] * 16 + [False]
    assert dict(kept(store)) == {"many": 500, "large": 16}


@pytest.mark.spec("A2ACP-002", "A2ACP-215")
def test_two_thousand_wait_in_all_and_strangers_make_room_for_contacts(store):
    befriend(store, *(f"n{number}" for number in range(5)), "last")
    waiting = Unverified(store)
    with store.transaction():
        assert waiting.keep("stranger", b"x", "s", NOW)
        for number in range(1_999):
            assert waiting.keep(f"n{number // 400}", b"x", f"s{number}", NOW)
        assert sum(count for _, count in kept(store)) == 2_000
        assert waiting.keep("last", b"x", "s", NOW)
        assert not waiting.keep("last", b"x", "s2", NOW)
    assert dict(kept(store)) == {"n0": 400, "n1": 400, "n2": 400, "n3": 400, "n4": 399, "last": 1}


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
