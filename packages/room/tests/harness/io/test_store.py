"""What a harness does not forget: reopened after a crash, a failed write, a week."""

from __future__ import annotations

import apsw
import pytest

from tacit.base.errors import Corrupt, Unavailable
from tacit.base.moment import SECOND, Moment
from tacit.c2a.messages import read_delivered
from tacit.harness.drivers.port import TokenUsage
from tacit.harness.effects import ModelTurn, Spent
from tacit.harness.io.store import REMEMBERED, HarnessStore, OutboxRow
from tests.c2a_peer import delivery

NOW = Moment(1_768_298_400 * SECOND)
WEEK = 7 * 86_400 * SECOND


@pytest.fixture
def path(tmp_path):
    return tmp_path / "harness.db"


@pytest.fixture
def store(path):
    opened = HarnessStore(path)
    yield opened
    opened.close()


def kept(store, *ids, at=NOW):
    store.write(lambda writing: [writing.accept(one, f"r-{one}", delivery(one), at) for one in ids])


def row(key="k1", event_id="e1", **more):
    return OutboxRow(
        key, "e1.1", event_id, "chat.send_message", {"content": "hi"}, more.get("state", "ready")
    )


@pytest.mark.spec("C2A-160", "C2A-162")
def test_what_was_accepted_is_there_after_a_reopening(store, path):
    kept(store, "e1", "e2")
    store.write(lambda writing: writing.begin("e1.1", ["e1"]))
    again = HarnessStore(path)
    assert [(one.event.event_id, one.state, one.runs) for one in again.waiting()] == [
        ("e1", "turn", 1),
        ("e2", "waiting", 0),
    ]
    assert again.known()["e1"] == ("turn", "buffered", "must_respond")
    assert again.event_of_request("r-e2") == "e2"
    again.close()


@pytest.mark.spec("C2A-162")
def test_ids_are_remembered_for_more_than_a_week_and_then_let_go(store):
    kept(store, "e1", "e2")
    store.write(lambda writing: writing.end("e1", "done", NOW))
    store.write(lambda writing: writing.forget(Moment(NOW + WEEK + 3600 * SECOND)))
    assert "e1" in store.known()
    store.write(lambda writing: writing.forget(Moment(NOW + REMEMBERED + SECOND)))
    assert set(store.known()) == {"e2"}


@pytest.mark.spec("C2A-167")
def test_a_key_keeps_its_first_body(store):
    store.write(lambda writing: writing.say(row(), NOW))
    store.write(
        lambda writing: writing.say(
            OutboxRow("k1", "e1.2", "e1", "chat.send_message", {"content": "other"}, "ready"), NOW
        )
    )
    assert [one.arguments for one in store.outgoing()] == [{"content": "hi"}]
    store.write(lambda writing: writing.said("k1", "sent", "m1"))
    assert store.outgoing() == []
    assert [one.state for one in store.outgoing(turn_id="e1.1")] == ["sent"]
    assert store.replies_to("e1") == 1


def test_what_is_said_leaves_in_the_order_in_which_it_was_written(store):
    for number in (3, 1, 2):
        store.write(lambda writing, number=number: writing.say(row(f"k{number}"), NOW))
    assert [one.key for one in store.outgoing()] == ["k3", "k1", "k2"]


@pytest.mark.spec("C2A-160")
def test_what_a_turn_gives_back_waits_again_and_its_failures_are_counted(store, path):
    kept(store, "e1", "e2", "e3")
    store.write(lambda writing: writing.begin("e1.1", ["e1", "e2", "e3"]))
    store.write(lambda writing: writing.end("e3", "done", NOW))
    store.write(lambda writing: writing.give_back(["e1"], failed=True))
    store.write(lambda writing: writing.give_back(["e2", "e3"], failed=False))
    waiting = [
        (one.event.event_id, one.state, one.turn_id, one.failed) for one in HarnessStore(path).waiting()
    ]
    assert waiting == [("e1", "waiting", "e1.1", 1), ("e2", "waiting", "e1.1", 0)]


def test_a_day_s_spending_is_summed(store):
    turn = ModelTurn("e1.1", (read_delivered(delivery("e1")),))
    store.write(lambda writing: writing.spent(Spent(turn, TokenUsage(100, 20, 30), 0.25, 10, "done"), NOW))
    later = ModelTurn("e1.2", turn.events)
    store.write(lambda writing: writing.spent(Spent(later, TokenUsage(1, 2, 0), None, 10, "done"), NOW))
    spent = store.spent_on("2026-01-13")
    assert (spent.turns, spent.tokens_in, spent.tokens_out, spent.cost_usd) == (2, 101, 22, 0.25)
    assert store.spent_on("2026-01-14").turns == 0


@pytest.mark.spec("C2A-160")
def test_spending_is_told_by_day_conversation_and_model_from_a_day_on(store):
    def turn(number, conversation):
        return ModelTurn(
            f"e{number}.1", (read_delivered(delivery(f"e{number}", conversation__id=conversation)),)
        )

    day = 86_400 * SECOND
    for number, (conversation, model, cost, estimated, days) in enumerate(
        [("main", "m1", 0.25, True, 0), ("main", "m1", 0.5, False, 0), ("main", "m2", None, False, 0),
         ("ops", "m1", 1.0, False, 1)]
    ):  # fmt: skip
        spent = Spent(
            turn(number, conversation), TokenUsage(100, 20, 30), cost, 10, "done", estimated=estimated
        )
        store.write(
            lambda writing, spent=spent, model=model, days=days: writing.spent(
                spent, Moment(NOW + days * day), model
            )
        )
    assert [(one.day, one.conversation, one.model, one.turns, one.tokens, one.cost_usd, one.estimated) for one in store.spending("2026-01-13")] == [
        ("2026-01-13", "main", "m1", 2, 240, 0.75, True),
        ("2026-01-13", "main", "m2", 1, 120, None, False),
        ("2026-01-14", "ops", "m1", 1, 120, 1.0, False),
    ]  # fmt: skip
    assert [one.day for one in store.spending("2026-01-14")] == ["2026-01-14"]


def test_a_transaction_that_fails_leaves_nothing(store):
    def work(writing):
        writing.accept("e1", "r", delivery("e1"), NOW)
        raise KeyError

    with pytest.raises(KeyError):
        store.write(work)
    assert store.known() == {}


class Failing(apsw.VFS):
    """A disk that refuses to write when told to."""

    fail = False

    def __init__(self) -> None:
        super().__init__("failing", "unix")

    def xOpen(self, name, flags):
        return FailingFile(name, flags)


class FailingFile(apsw.VFSFile):
    def __init__(self, name, flags) -> None:
        super().__init__("unix", name, flags)

    def xWrite(self, data, offset):
        if Failing.fail:
            raise apsw.FullError
        super().xWrite(data, offset)


@pytest.mark.spec("C2A-160")
def test_a_full_disk_is_told_and_nothing_half_written_stays(path):
    vfs = Failing()
    store = HarnessStore(path, vfs="failing")
    kept(store, "e1")
    Failing.fail = True
    try:
        with pytest.raises(Unavailable):
            kept(store, "e2")
    finally:
        Failing.fail = False
    kept(store, "e3")
    assert set(store.known()) == {"e1", "e3"}
    store.close()
    vfs.unregister()


def test_a_file_that_is_no_database_is_not_touched(path):
    path.write_bytes(b"certainly not a database, but long enough to look like one" * 20)
    with pytest.raises(Corrupt):
        HarnessStore(path)


def test_an_audience_has_the_session_that_was_kept_for_it_last(store):
    for audience, session in (("a", "s1"), ("b", "s2"), ("a", "s3")):
        store.write(
            lambda writing, audience=audience, session=session: writing.session_for(audience, session, NOW)
        )
    assert [store.session_for(one) for one in ("a", "b", "c")] == ["s3", "s2", None]


def test_the_log_of_writes_is_moved_into_the_file_by_itself(store):
    """Nobody else does it for a harness: the log would grow for ever."""
    assert store._db.execute("PRAGMA wal_autocheckpoint").get == 1000
