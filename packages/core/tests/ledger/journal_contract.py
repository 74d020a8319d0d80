"""What every journal promises, whatever it stands on; each implementation gets a test that inherits this."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import pytest

from tacit.base import ids
from tacit.base.errors import Bug
from tacit.base.moment import Moment
from tacit.ledger.envelope import encode
from tacit.ledger.ports import Journal, JournalEntry, Stale

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tacit.ledger.state import Group


class Bench(Protocol):
    """How a test reaches one implementation."""

    journal: Journal

    def ship(self, *bound: set[str]) -> frozenset[str]:
        """Ship what was staged; the groups that stay."""
        ...

    def settle(self) -> None:
        """Commit what was shipped."""
        ...

    def undo(self) -> None:
        """Roll back what was staged since `settle`, and apply what stays all the same."""
        ...

    def stored(self, group: Group, after: int, limit: int) -> list[bytes]:
        """Up to `limit` events after a position, in order, as they lie there."""
        ...

    def restart(self) -> None:
        """Let go of everything and open it again."""
        ...

    def group(self, name: str) -> Group:
        """A group that the journal can be handed: new, or as it was left."""
        ...


def entry(group: str, seq: int, *, kind: str = "x.test.thing", text: str = "") -> JournalEntry:
    event_id = ids.compose(seq, hash((group, seq)) & (1 << 74) - 1)
    raw = encode(
        event_id=ids.text(event_id),
        ts="2026-01-13T10:00:00.000000Z",
        seq=seq,
        kind=kind,
        group_id=group,
        scope_key="",
        by="user",
        data=b'{"text":"%s"}' % text.encode(),
    )
    return JournalEntry(seq, event_id, kind, raw)


def entries(group: str, first: int, count: int) -> list[JournalEntry]:
    return [entry(group, seq, text=f"n{seq}") for seq in range(first, first + count)]


class JournalContract:
    """Inherit, and give a fixture `bench`."""

    @pytest.fixture
    def bench(self) -> Iterator[Bench]:
        raise NotImplementedError

    def fill(self, bench: Bench, name: str, count: int, batch: int = 3) -> Group:
        group = bench.group(name)
        for first in range(1, count + 1, batch):
            self.put(bench, group, entries(name, first, min(batch, count + 1 - first)))
        return group

    def put(self, bench: Bench, group: Group, given: list[JournalEntry]) -> None:
        group.last_seq, group.last_ts = given[-1].seq, Moment(given[-1].seq)
        bench.journal.stage(group, given, given[0].seq - 1)
        bench.ship()
        bench.settle()

    def texts(self, bench: Bench, group: Group, after: int = 0, limit: int = 1000) -> list[bytes]:
        return bench.stored(group, after, limit)

    def test_a_group_without_events_ends_at_zero(self, bench: Bench) -> None:
        group = bench.group("g_a")
        assert bench.journal.last(group) == 0
        assert self.texts(bench, group) == []

    def test_the_end_moves_with_each_commit(self, bench: Bench) -> None:
        group = bench.group("g_a")
        self.put(bench, group, entries("g_a", 1, 1))
        assert bench.journal.last(group) == 1
        self.put(bench, group, entries("g_a", 2, 5))
        assert bench.journal.last(group) == 6
        assert not bench.journal.is_unsettled

    @pytest.mark.spec("CCCS-026")
    def test_the_tail_is_the_very_bytes_in_append_order(self, bench: Bench) -> None:
        group = self.fill(bench, "g_a", 10)
        assert self.texts(bench, group) == [given.raw for given in entries("g_a", 1, 10)]

    @pytest.mark.parametrize(("after", "limit"), [(0, 3), (3, 3), (9, 5), (10, 5), (99, 5), (4, 1)])
    def test_a_tail_starts_after_a_position_and_has_a_limit(
        self, bench: Bench, after: int, limit: int
    ) -> None:
        group = self.fill(bench, "g_a", 10)
        wanted = [given.raw for given in entries("g_a", 1, 10)][after : after + limit]
        assert self.texts(bench, group, after, limit) == wanted

    def test_groups_do_not_mix(self, bench: Bench) -> None:
        one, two = self.fill(bench, "g_a", 4), self.fill(bench, "g_b", 7)
        self.put(bench, one, entries("g_a", 5, 2))
        assert (bench.journal.last(one), bench.journal.last(two)) == (6, 7)
        assert self.texts(bench, one) == [given.raw for given in entries("g_a", 1, 6)]
        assert self.texts(bench, two) == [given.raw for given in entries("g_b", 1, 7)]

    @pytest.mark.parametrize("expected", [0, 2, 4, 99])
    def test_a_writer_that_believes_in_another_end_is_stale(self, bench: Bench, expected: int) -> None:
        group = self.fill(bench, "g_a", 3)
        with pytest.raises(Stale):
            bench.journal.stage(group, entries("g_a", expected + 1, 1), expected)
        bench.undo()
        assert bench.journal.last(group) == 3
        self.put(bench, group, entries("g_a", 4, 1))
        assert len(self.texts(bench, group)) == 4

    def test_what_was_staged_and_not_shipped_leaves_nothing(self, bench: Bench) -> None:
        group = self.fill(bench, "g_a", 3)
        bench.journal.stage(group, entries("g_a", 4, 2), 3)
        bench.undo()
        group = bench.group("g_a")
        assert bench.journal.last(group) == 3
        self.put(bench, group, entries("g_a", 4, 1))
        assert self.texts(bench, group) == [given.raw for given in entries("g_a", 1, 4)]

    @pytest.mark.parametrize("bound", [(), ({"g_a", "g_b"},)])
    def test_what_is_said_to_stay_stays_and_nothing_else(
        self, bench: Bench, bound: tuple[set[str], ...]
    ) -> None:
        for group in (self.fill(bench, "g_a", 2), self.fill(bench, "g_b", 2)):
            bench.journal.stage(group, entries(group.group_id, 3, 2), 2)
        kept = bench.ship(*bound)
        bench.undo()
        for name in ("g_a", "g_b"):
            group = bench.group(name)
            end = 4 if name in kept else 2
            assert self.texts(bench, group) == [given.raw for given in entries(name, 1, end)]
            self.put(bench, group, entries(name, end + 1, 1))
            assert bench.journal.last(group) == end + 1

    def test_several_groups_of_one_batch_end_where_each_was_taken(self, bench: Bench) -> None:
        groups = [bench.group(name) for name in ("g_a", "g_b", "g_c")]
        for number, group in enumerate(groups, 1):
            bench.journal.stage(group, entries(group.group_id, 1, number), 0)
        bench.ship({"g_a", "g_c"})
        bench.settle()
        bench.restart()
        assert [bench.journal.last(bench.group(group.group_id)) for group in groups] == [1, 2, 3]

    def test_positions_must_follow_the_expected_end(self, bench: Bench) -> None:
        group = self.fill(bench, "g_a", 3)
        for wrong in ([entry("g_a", 5)], [entry("g_a", 3)], [entry("g_a", 4), entry("g_a", 6)]):
            with pytest.raises((Stale, Bug)):
                bench.journal.stage(group, wrong, 3)
            bench.undo()
        assert self.texts(bench, group) == [given.raw for given in entries("g_a", 1, 3)]

    @pytest.mark.spec("CCCS-018")
    def test_what_is_durable_is_there_after_a_restart(self, bench: Bench) -> None:
        self.fill(bench, "g_a", 5)
        bench.restart()
        group = bench.group("g_a")
        assert bench.journal.last(group) == 5
        assert self.texts(bench, group) == [given.raw for given in entries("g_a", 1, 5)]
        self.put(bench, group, entries("g_a", 6, 1))
        assert bench.journal.last(group) == 6

    def test_many_kinds_and_large_events_come_back_whole(self, bench: Bench) -> None:
        group = bench.group("g_a")
        given = [
            entry("g_a", seq, kind=f"x.kind{seq % 40}.thing", text="y" * (seq * 997 % 60_000))
            for seq in range(1, 120)
        ]
        for first in range(0, len(given), 12):
            self.put(bench, group, given[first : first + 12])
        assert self.texts(bench, group) == [one.raw for one in given]


class SharedJournalContract(JournalContract):
    """A journal that several nodes write to: `bench` and `other` are two of them, with the same truth."""

    @pytest.fixture
    def other(self, bench: Bench) -> Iterator[Bench]:
        raise NotImplementedError

    def test_what_one_node_wrote_the_other_takes_in(self, bench: Bench, other: Bench) -> None:
        self.fill(bench, "g_a", 5)
        self.fill(bench, "g_b", 2)
        other.undo()
        for name in ("g_a", "g_b"):
            here, there = bench.group(name), other.group(name)
            assert self.texts(other, there) == self.texts(bench, here)
            assert there.chain == here.chain

    def test_the_second_of_two_is_stale_and_goes_on_behind_the_first(
        self, bench: Bench, other: Bench
    ) -> None:
        self.fill(bench, "g_a", 2)
        other.undo()
        self.put(bench, bench.group("g_a"), [entry("g_a", 3, text="first")])
        other.journal.stage(other.group("g_a"), [entry("g_a", 3, text="second")], 2)
        with pytest.raises(Stale) as stale:
            other.ship()
        assert stale.value.kept == frozenset()
        other.undo()
        group = other.group("g_a")
        assert other.journal.last(group) == 3
        self.put(other, group, entries("g_a", 4, 1))
        bench.undo()
        assert self.texts(bench, bench.group("g_a")) == self.texts(other, group)

    def test_a_stale_group_leaves_the_others_of_its_batch_in_place(self, bench: Bench, other: Bench) -> None:
        for name in ("g_a", "g_b"):
            self.fill(bench, name, 1)
        other.undo()
        self.put(bench, bench.group("g_a"), entries("g_a", 2, 1))
        for name in ("g_a", "g_b"):
            other.journal.stage(other.group(name), [entry(name, 2, text="other")], 1)
        with pytest.raises(Stale) as stale:
            other.ship()
        assert stale.value.kept == {"g_b"}
        other.undo()
        assert self.texts(other, other.group("g_a")) == [given.raw for given in entries("g_a", 1, 2)]
        assert self.texts(other, other.group("g_b")) == [
            entry("g_b", 1, text="n1").raw,
            entry("g_b", 2, text="other").raw,
        ]

    def test_what_a_node_wrote_behind_something_it_has_not_seen_is_not_taken_in_twice(
        self, bench: Bench, other: Bench
    ) -> None:
        self.fill(bench, "g_b", 2)
        self.fill(other, "g_a", 4)
        other.undo()
        for name in ("g_a", "g_b"):
            group = other.group(name)
            assert self.texts(other, group) == [given.raw for given in entries(name, 1, group.last_seq)]
        assert [other.journal.last(other.group(name)) for name in ("g_a", "g_b")] == [4, 2]

    def test_bound_groups_are_kept_together_or_not_at_all(self, bench: Bench, other: Bench) -> None:
        for name in ("g_a", "g_b"):
            self.fill(bench, name, 1)
        other.undo()
        self.put(bench, bench.group("g_a"), entries("g_a", 2, 1))
        for name in ("g_a", "g_b"):
            other.journal.stage(other.group(name), [entry(name, 2, text="other")], 1)
        with pytest.raises(Stale) as stale:
            other.ship({"g_a", "g_b"})
        assert stale.value.kept == frozenset()
        other.undo()
        assert other.journal.last(other.group("g_b")) == 1
