from __future__ import annotations

import re
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import msgspec
import pytest

from tacit.base.errors import Refused, Unavailable
from tacit.ledger.commands import (
    Append,
    AppendTogether,
    BlobShare,
    Committed,
    Duplicate,
    IssueCredential,
    Recorded,
)
from tacit.ledger.envelope import MAX_EVENT_BYTES, decode
from tests.ledger.world import World, refusal, submission


def batch(world: World, *jobs: Any) -> list[Any]:
    """Several jobs in one commit. The writer thread is idle, so the writer still has one user at a time."""
    return list(world.store.writer.commit(list(jobs)))


def ask(group: str, by: str, kind: str, /, **data: Any) -> Append:
    return Append(submission(group, by, kind, data))


def padded(size: int, **data: Any) -> dict[str, Any]:
    """Data whose own encoding has exactly this many bytes."""
    bare = len(msgspec.json.encode({**data, "pad": ""}))
    return {**data, "pad": "x" * (size - bare)}


@pytest.mark.spec("CCCS-007")
def test_groups_that_are_opened_in_the_same_moment_have_ids_of_their_own(room: World) -> None:
    made = {room.store.new_group_id() for _ in range(1_000)}
    assert len(made) == 1_000
    assert all(re.fullmatch("g_[0-9a-f]{24}", one) for one in made)


@pytest.mark.spec("CCCS-018", "CCCS-026", "CCCS-114")
def test_fifty_submitters_at_once_give_fifty_whole_events(room: World) -> None:
    start = threading.Barrier(50)

    def send(number: int) -> int:
        start.wait()
        outcome = room.try_("g_one", "user", "chat.message", text=f"{number} " + "y" * 500)
        assert isinstance(outcome, Committed)
        return outcome.event.seq

    before = room.state("g_one").last_seq
    with ThreadPoolExecutor(50) as pool:
        seqs = list(pool.map(send, range(50)))
    assert sorted(seqs) == list(range(before + 1, before + 51))
    texts = [event.data["text"].split()[0] for event in room.events("g_one", since_seq=before)]
    assert sorted(map(int, texts)) == list(range(50))
    room.assert_rebuilds()


def test_a_refused_job_leaves_the_others_of_its_batch_alone(room: World) -> None:
    good, bad, last = batch(
        room,
        ask("g_one", "user", "chat.message", text="one"),
        ask("g_one", "user", "chat.message", text=""),
        ask("g_one", "user", "chat.message", text="two"),
    )
    assert isinstance(bad, Refused)
    assert last.event.seq == good.event.seq + 1


def test_a_fault_of_ours_in_one_job_fails_that_job_alone(room: World) -> None:
    class Broken:
        def __getattr__(self, name: str) -> str:
            raise ZeroDivisionError

    broken = Broken()
    outcomes = batch(
        room,
        ask("g_one", "user", "chat.message", text="one"),
        Append(broken),
        ask("g_one", "user", "chat.message", text="two"),
    )
    assert [type(outcome) for outcome in outcomes] == [Committed, Refused, Committed]
    assert outcomes[1].code == "internal"
    room.assert_rebuilds()


def test_look_ups_see_what_the_same_batch_admitted(room: World) -> None:
    first, repeat = batch(
        room,
        ask("g_one", "ann", "chat.message", text="one", client_id="k"),
        ask("g_one", "ann", "chat.message", text="one", client_id="k"),
    )
    assert isinstance(repeat, Duplicate)
    assert repeat.event.event_id == first.event.event_id


def test_a_batch_keeps_its_look_ups_across_a_context_change(room: World) -> None:
    first, _sync, repeat = batch(
        room,
        ask("g_one", "ann", "chat.message", text="one", client_id="k"),
        ask("g_one", "ann", "context.sync", ops=[{"op": "set", "key": "a", "value": 1}]),
        ask("g_one", "ann", "chat.message", text="one", client_id="k"),
    )
    assert isinstance(repeat, Duplicate)
    assert repeat.event.event_id == first.event.event_id


@pytest.mark.spec("CCCS-020")
def test_the_size_limit_counts_the_whole_event(room: World) -> None:
    largest = padded(MAX_EVENT_BYTES - 300, text="t")
    committed = room.try_("g_one", "user", "chat.message", **largest)
    assert len(committed.event.raw) <= MAX_EVENT_BYTES
    last = room.state("g_one").last_seq
    for size in (MAX_EVENT_BYTES - 50, MAX_EVENT_BYTES, MAX_EVENT_BYTES + 1):
        with refusal("invalid_request", "CCCS-020"):
            room.try_("g_one", "user", "chat.message", **padded(size, text="t"))
    assert room.state("g_one").last_seq == last


def test_a_group_whose_first_event_is_too_large_leaves_no_trace(world: World) -> None:
    data = padded(MAX_EVENT_BYTES - 50, title="t")
    with refusal("invalid_request", "CCCS-020"):
        world.store.append(submission("g_ghost", "user", "group.create", data), creates=True)
    with refusal("group_not_found"):
        world.try_("g_ghost", "user", "chat.message", text="boo")
    world.group("g_one")
    with refusal("group_not_found"):
        world.try_("g_ghost", "user", "chat.message", text="boo")
    world.assert_rebuilds()


@pytest.mark.spec("CCCS-101")
def test_together_is_all_or_none_when_the_second_is_refused(room: World) -> None:
    room.group("g_two", ann="peer")
    before = (room.state("g_one").last_seq, room.state("g_two").last_seq)
    for bad in ({"text": ""}, padded(MAX_EVENT_BYTES - 50, text="t")):
        with refusal("invalid_request"):
            room.store.together(
                [
                    submission("g_one", "user", "chat.message", {"text": "first"}),
                    submission("g_two", "user", "chat.message", bad),
                ]
            )
        assert (room.state("g_one").last_seq, room.state("g_two").last_seq) == before
    room.assert_rebuilds()


def test_together_is_all_or_none_inside_a_larger_batch(room: World) -> None:
    outcomes = batch(
        room,
        ask("g_one", "user", "chat.message", text="before"),
        AppendTogether(
            (
                submission("g_one", "user", "chat.message", {"text": "first"}),
                submission("g_one", "user", "chat.message", padded(MAX_EVENT_BYTES - 50, text="t")),
            )
        ),
        ask("g_one", "user", "chat.message", text="after"),
    )
    assert [type(outcome) for outcome in outcomes] == [Committed, Refused, Committed]
    assert [event.data["text"] for event in room.events("g_one", kinds=["chat.message"])] == [
        "before",
        "after",
    ]
    room.assert_rebuilds()


def test_blobs_that_come_along_with_a_refused_pair_do_not_stay(room: World) -> None:
    room.group("g_two", ann="peer")
    path = room.blob("g_one", "user", b"shared")
    share = BlobShare("g_one", "g_two", (path,), "user")
    bad = submission("g_two", "user", "chat.message", {"text": ""})
    with refusal("invalid_request"):
        room.store.execute(AppendTogether((bad,), share))
    assert not room.sees_blob("g_two", "user", path)
    room.store.execute(
        AppendTogether((submission("g_two", "user", "chat.message", {"text": "with it"}),), share)
    )
    assert room.sees_blob("g_two", "user", path)


@pytest.mark.spec("CCCS-005")
def test_a_refused_record_leaves_nothing_behind_and_the_batch_goes_on(room: World) -> None:
    first = IssueCredential(b"1" * 32, "tok_1", "svc:bot", None, ("g_one",))
    again = IssueCredential(b"2" * 32, "tok_2", "svc:bot", None, None)
    outcomes = batch(room, first, again, ask("g_one", "user", "chat.message", text="after"))
    assert [type(outcome) for outcome in outcomes] == [Recorded, Refused, Committed]
    rows = room.store.read(
        lambda reader: reader.connection.execute("SELECT token_id FROM credentials").fetchall()
    )
    assert rows == [("tok_1",)]


def test_a_ledger_that_moved_under_the_writer_is_read_anew_and_the_batch_decided_again(room: World) -> None:
    """`Stale` is no fault of anybody's command: what was believed is dropped, and the same commands run again."""
    before = room.say("g_one", "user")
    believed = room.store.writer._groups["g_one"]
    believed.last_seq -= 1
    outcomes = batch(room, ask("g_one", "user", "chat.message", text="after"))
    assert [type(outcome) for outcome in outcomes] == [Committed]
    assert outcomes[0].event.seq == before.seq + 1
    room.assert_rebuilds()


@pytest.mark.spec("CCCS-017")
def test_time_never_goes_back_in_a_ledger_even_when_the_clock_does(room: World) -> None:
    first = room.say("g_one", "user")
    room.clock.move(-3600)
    second = room.say("g_one", "user")
    room.reopen()
    third = room.say("g_one", "user")
    room.clock.move(7200)
    fourth = room.say("g_one", "user")
    assert first.ts == second.ts == third.ts < fourth.ts
    assert len({first.id, second.id, third.id, fourth.id}) == 4
    assert [e.seq for e in (first, second, third, fourth)] == list(range(first.seq, first.seq + 4))


@pytest.mark.spec("CCCS-018")
def test_positions_start_at_one_and_go_on_across_restarts(world: World) -> None:
    world.group("g_one", ann="peer")
    world.group("g_two")
    for _ in range(3):
        world.say("g_one", "user")
        world.reopen()
        world.say("g_two", "user")
    for group in ("g_one", "g_two"):
        seqs = [event.seq for event in world.events(group)]
        assert seqs == list(range(1, len(seqs) + 1))


@pytest.mark.spec("CCCS-013", "CCCS-014", "CCCS-015", "CCCS-041")
def test_the_hub_writes_the_envelope_and_nobody_else(room: World) -> None:
    event = room.do("g_one", "ann", "chat.message", text="t", by="user", id="x", ts="1999", seq=7, v=2)
    raw = msgspec.json.decode(room.page("g_one")[-1].raw)
    assert list(raw) == ["v", "id", "ts", "seq", "kind", "group_id", "scope_key", "by", "data"]
    assert (raw["v"], raw["by"], raw["group_id"], raw["scope_key"]) == (1, "ann", "g_one", "")
    assert raw["ts"] == "2026-01-13T10:00:00.000000Z"
    assert raw["id"] == event.id != "x"
    assert raw["data"] == {"text": "t", "by": "user", "id": "x", "ts": "1999", "seq": 7, "v": 2}


@pytest.mark.spec("CCCS-112", "CCCS-113")
def test_a_closing_store_takes_nothing_more(room: World) -> None:
    room.store.transport.close()
    with pytest.raises(Unavailable, match="closing"):
        room.say("g_one", "user")


def test_a_store_that_closes_waits_for_a_read_on_another_thread_and_refuses_a_later_one(room: World) -> None:
    reads, may_end = threading.Event(), threading.Event()

    def query(reader: Any) -> list[int]:
        reads.set()
        numbers: list[int] = []
        for (number,) in reader.connection.execute("SELECT 1 UNION ALL SELECT 2"):
            may_end.wait(30)
            numbers.append(number)
        return numbers

    with ThreadPoolExecutor(2) as threads:
        answer = threads.submit(room.store.read, query)
        assert reads.wait(30)
        closing = threads.submit(room.store.close)
        may_end.set()
        assert answer.result(30) == [1, 2]
        closing.result(30)
    with pytest.raises(Exception, match="closed"):
        room.store.read(lambda reader: reader.groups())


def test_the_last_event_of_a_batch_is_what_is_stored(room: World) -> None:
    outcome = room.try_("g_one", "user", "chat.message", text="x")
    assert decode(room.page("g_one")[-1].raw) == decode(outcome.event.raw)


def test_each_event_has_an_id_and_a_salt_of_its_own_though_chance_is_drawn_for_many(room: World) -> None:
    said = [ask("g_one", "user", "chat.message", text=f"line {number}") for number in range(150)]
    batch(room, *said)
    rows = room.store.read(lambda reader: reader.connection.execute("SELECT id, salt FROM events").fetchall())
    assert len(rows) > len(said)
    assert len({one for one, _ in rows}) == len({salt for _, salt in rows}) == len(rows)
    assert {len(salt) for _, salt in rows} == {16}
