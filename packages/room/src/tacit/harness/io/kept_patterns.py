"""The patterns that people allowed an agent for good: one small file in the agent's own folder.

Each stands under the approval that granted it, so that it can be listed and taken back by that name. The file
is the truth and is read at every question: who edits it by hand, or removes it, is obeyed. A file that cannot
be read allows nothing, and is set aside before another takes its place.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import msgspec

from tacit.harness.belonging import OWNER
from tacit.harness.permission import Pattern, read_pattern

if TYPE_CHECKING:
    from pathlib import Path

MOST: Final = 500
"""Patterns that are kept; the oldest goes first."""


@dataclass(frozen=True, slots=True)
class KeptPattern:
    """A pattern, who granted it, and when."""

    approval_id: str
    pattern: Pattern
    by: str
    at: str
    asker: str = OWNER
    """Who asked for it: the pattern holds for them alone. Those of earlier versions are the owner's."""


class KeptPatterns:
    """One agent's patterns."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def all(self) -> list[KeptPattern]:
        """Every pattern, the oldest first."""
        rows = self._rows()
        return [
            KeptPattern(
                str(row.get("approval_id", "")),
                pattern,
                str(row.get("by", "")),
                str(row.get("at", "")),
                str(row.get("asker", OWNER)),
            )
            for row in rows or ()
            if (pattern := read_pattern(row.get("pattern"))) is not None
        ]

    def _rows(self) -> list[dict[str, Any]] | None:
        """What the file holds; None when there is none, or it cannot be read."""
        try:
            return msgspec.json.decode(self._path.read_bytes(), type=list[dict[str, Any]])
        except (OSError, msgspec.DecodeError, msgspec.ValidationError):
            return None

    def keep(self, kept: KeptPattern) -> None:
        """Allow this from now on."""
        others = [one for one in self.all() if one.approval_id != kept.approval_id]
        self._write([*others, kept][-MOST:])

    def revoke(self, approval_id: str) -> bool:
        """Allow it no longer; false when it was not allowed."""
        before = self.all()
        after = [one for one in before if one.approval_id != approval_id]
        if len(after) != len(before):
            self._write(after)
        return len(after) != len(before)

    def _write(self, kept: list[KeptPattern]) -> None:
        rows = [
            {
                "approval_id": one.approval_id,
                "pattern": one.pattern.members(),
                "by": one.by,
                "at": one.at,
                "asker": one.asker,
            }
            for one in kept
        ]
        fresh = self._path.with_suffix(".new")
        with os.fdopen(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
            file.write(msgspec.json.format(msgspec.json.encode(rows), indent=1))
            file.flush()
            os.fsync(file.fileno())
        if self._rows() is None and self._path.exists():
            self._path.replace(self._path.with_suffix(".unreadable"))
        fresh.replace(self._path)
