"""Which batches are of interest inside their group alone."""

from __future__ import annotations

import pytest

from tacit.ledger.kinds import CONCERNS, KINDS
from tacit.ledger.ports import JournalEntry
from tacit.ledger.quiet import QUIET, is_quiet


def entry(kind: str) -> JournalEntry:
    return JournalEntry(1, b"", kind, b"")


def test_one_event_that_is_not_quiet_makes_its_batch_so() -> None:
    assert is_quiet([entry("chat.message"), entry("x.c2a.delivery")])
    assert not is_quiet([entry("chat.message"), entry("actor.add")])


def test_only_kinds_that_the_house_knows_are_quiet() -> None:
    assert set() == QUIET - KINDS.keys() - CONCERNS.keys()


@pytest.mark.parametrize(
    "kind", [*(kind for kind in KINDS if kind.startswith(("group.", "actor."))), "x.tacit.person.add"]
)
def test_who_takes_part_where_is_known_at_every_node(kind: str) -> None:
    assert not is_quiet([entry(kind)])


@pytest.mark.parametrize("kind", ["x.c2a.delete", "x.c2a.edit", "x.c2a.rules", "x.c2a.session", "x.ann.what"])
def test_what_takes_content_away_or_is_not_known_is_applied_at_every_node(kind: str) -> None:
    assert not is_quiet([entry(kind)])
