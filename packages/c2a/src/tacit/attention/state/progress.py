"""Progress: how far something is, never chat and never an obligation (C2A-181, C2A-182, C2A-183).

A report belongs to its session and its token: two pieces of work move apart from each other. Within one token
progress rises; a report that goes backwards is dropped. People see it in their views. It is delivered to no
session, so it enters no prompt: a model that was asked how things stand reads its own work, not a report.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tacit.ledger.ports import Lists, no_lists

if TYPE_CHECKING:
    from collections.abc import MutableMapping

    from tacit.attention.state import records

KEPT_TOKENS: Final = 20
"""How many pieces of work of one session its views can show; what an older one last said is still known."""


class ProgressReports:
    """The latest report of each token, and in which order the tokens of a session last moved."""

    __slots__ = ("_latest", "_moved")

    def __init__(
        self,
        latest: MutableMapping[tuple[str, str], records.ProgressRecord] | None = None,
        moved: Lists[str, str] | None = None,
    ) -> None:
        self._latest: MutableMapping[tuple[str, str], records.ProgressRecord] = (
            {} if latest is None else latest
        )
        self._moved: Lists[str, str] = no_lists() if moved is None else moved

    def apply(self, record: records.ProgressRecord) -> None:
        """Fold a report; one that goes backwards changes nothing."""
        known = self._latest.get((record.session, record.token))
        if known is not None and record.progress < known.progress:
            return
        self._latest[record.session, record.token] = record
        others = [token for token in self._moved[record.session] if token != record.token]
        self._moved[record.session] = (*others, record.token)[-KEPT_TOKENS:]

    def of_session(self, session: str) -> list[records.ProgressRecord]:
        """What a session last reported, one report a token; what moved last comes first."""
        tokens = reversed(self._moved[session])
        return [found for token in tokens if (found := self._latest.get((session, token))) is not None]
