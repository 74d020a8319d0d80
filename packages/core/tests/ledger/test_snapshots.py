"""Which snapshot counts, when one is due, and when it is better than what a node has."""

from __future__ import annotations

import pytest

from tacit.ledger.shipment import StreamMessage
from tacit.ledger.snapshots import (
    BUSY,
    FEWEST_EVENTS,
    FEWEST_MESSAGES,
    FEWEST_WHEN_BUSY,
    LedgerSnapshot,
    SnapshotList,
    form_of,
    is_due,
    is_worth,
    mark_of,
)


def at(sequence: int, events: int = 0) -> LedgerSnapshot:
    return LedgerSnapshot(f"n{sequence}", "1", "now", sequence, "", events, "", 1, 1, "")


def test_two_are_kept_and_the_oldest_goes() -> None:
    listed: SnapshotList | None = SnapshotList()
    for sequence in (3, 5, 9):
        assert listed is not None
        listed = listed.with_(at(sequence))
    assert listed is not None
    assert [one.sequence for one in listed.kept] == [9, 5]
    assert listed.newest == at(9)
    assert SnapshotList().newest is None


@pytest.mark.parametrize(("sequence", "taken"), [(6, False), (7, False), (8, False), (9, True), (10, True)])
def test_none_comes_that_is_older_than_the_newest_or_than_what_was_taken_back(
    sequence: int, taken: bool
) -> None:
    found = SnapshotList(least=9, kept=(at(7),)).with_(at(sequence))
    assert (found is not None) == taken
    assert found is None or found.least == 9


@pytest.mark.parametrize(
    ("events", "held", "due"),
    [
        (FEWEST_EVENTS - 1, None, False),
        (FEWEST_EVENTS, None, True),
        (2 * FEWEST_EVENTS - 1, FEWEST_EVENTS, False),
        (2 * FEWEST_EVENTS, FEWEST_EVENTS, True),
        (124_999, 100_000, False),
        (125_000, 100_000, True),
    ],
)
def test_one_is_due_when_a_ledger_has_grown_by_a_quarter(events: int, held: int | None, due: bool) -> None:
    assert is_due(events, at(1, held) if held is not None else None) == due


@pytest.mark.parametrize(
    ("events", "held", "grown", "due"),
    [
        (FEWEST_WHEN_BUSY - 1, None, BUSY, False),
        (FEWEST_WHEN_BUSY - 1, None, BUSY - 1, True),
        (FEWEST_WHEN_BUSY, None, BUSY, True),
        (199_999, 100_000, BUSY, False),
        (200_000, 100_000, BUSY, True),
    ],
)
def test_a_busy_node_waits_until_a_ledger_has_doubled(
    events: int, held: int | None, grown: int, due: bool
) -> None:
    assert is_due(events, at(1, held) if held is not None else None, grown) == due


@pytest.mark.parametrize(
    ("sequence", "applied", "worth"),
    [
        (10_000, 4_999, True),
        (10_000, 5_000, False),
        (FEWEST_MESSAGES + 1, 1, True),
        (FEWEST_MESSAGES, 1, False),
    ],
)
def test_a_node_begins_anew_only_when_it_lacks_more_than_half(
    sequence: int, applied: int, worth: bool
) -> None:
    assert is_worth(at(sequence), applied) == worth


def test_a_form_and_a_mark_say_what_they_are_of() -> None:
    assert len({form_of(6, "1.2"), form_of(7, "1.2"), form_of(6, "1.3"), form_of(6, "")}) == 4
    messages = [StreamMessage(1, "a", b"x"), StreamMessage(2, "b", b"x"), StreamMessage(3, "a", b"y")]
    assert len({mark_of(one) for one in messages}) == 3
