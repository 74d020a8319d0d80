"""Progress: how far something is, never chat and never an obligation (C2A-181 to C2A-183).

The latest report of each token; a report that goes backwards is dropped. Into a prompt it goes only after a
person asked how things stand.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tacit.c2a.vocabulary import Intent

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tacit.attention.state import records

_ASKS: Final = frozenset({Intent.QUESTION, Intent.REQUEST})


class Reports:
    """The latest progress by session and token."""

    __slots__ = ("_latest",)

    def __init__(self) -> None:
        self._latest: dict[tuple[str, str], records.Progress] = {}

    def apply(self, record: records.Progress) -> bool:
        """Fold a report; False when it goes backwards and is dropped."""
        key = (record.session, record.token)
        known = self._latest.get(key)
        if known is not None and record.progress < known.progress:
            return False
        self._latest[key] = record
        return True

    def of_session(self, session: str) -> Mapping[str, records.Progress]:
        """What a session last reported, by token."""
        return {token: record for (name, token), record in self._latest.items() if name == session}


def may_enter_prompt(intent: Intent, *, by_person: bool) -> bool:
    """May the message that asks bring progress into a prompt?"""
    return by_person and intent in _ASKS
