"""Which batches are quiet: of interest inside their group alone, as long as nobody reads there.

A node of several need not apply a quiet batch before somebody there asks for its group. Everything that is
looked at across groups is not quiet: that a group is there and what it is called, who takes part in it and by
which rules, and what takes content away. A kind that is not in the table is not quiet.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tacit.ledger.ports import JournalEntry

QUIET: Final = frozenset(
    {
        "chat.message",
        "chat.ack",
        "chat.read",
        "chat.reaction",
        "system.notify",
        "system.notify_ack",
        "context.sync",
        "x.c2a.delivery",
        "x.c2a.accepted",
        "x.c2a.claim",
        "x.c2a.disposition",
        "x.c2a.progress",
        "x.c2a.digest",
        "x.c2a.approval",
        "x.c2a.audit",
        "x.c2a.ephemeral",
        "x.c2a.usage",
        "x.c2a.work",
        "x.c2a.turn",
    }
)


def is_quiet(entries: Iterable[JournalEntry]) -> bool:
    """Are all of these of interest inside their group alone?"""
    return all(entry.kind in QUIET for entry in entries)
