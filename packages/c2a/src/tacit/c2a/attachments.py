"""Files that a message carries, as a delivery names them (C2A-035, CCCS-084).

A delivery says what there is: the path in the host's store, kind, title, type and size. The bytes are fetched
over HTTP by whoever may read the message. Knows nothing of what becomes of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, cast

MOST: Final = 50
"""How many are read; a message with more says so in its text."""


@dataclass(frozen=True, slots=True)
class Attached:
    """One file of a message."""

    path: str
    kind: str = "file"
    title: str = ""
    mime_type: str = ""
    size: int = 0
    """Bytes; 0 when nobody said."""

    def members(self) -> dict[str, Any]:
        """As on the wire."""
        found: dict[str, Any] = {"path": self.path, "kind": self.kind}
        if self.title:
            found["title"] = self.title
        if self.mime_type:
            found["mimeType"] = self.mime_type
        return {**found, "bytes": self.size} if self.size else found


def read_attachments(value: object) -> tuple[Attached, ...]:
    """The files in a message's data or in a delivery; what names no path is left out."""
    rows = cast("list[object]", value) if isinstance(value, list) else []
    found = [
        _read(cast("dict[str, object]", row))
        for row in rows[:MOST]
        if isinstance(row, dict) and isinstance(cast("dict[str, object]", row).get("path"), str)
    ]
    return tuple(found)


def _read(row: dict[str, object]) -> Attached:
    size = row.get("bytes")
    return Attached(
        str(row["path"]),
        _text(row, "kind") or "file",
        _text(row, "title"),
        _text(row, "mimeType") or _text(row, "mime_type"),
        size if isinstance(size, int) and size > 0 else 0,
    )


def _text(row: dict[str, object], name: str) -> str:
    found = row.get(name)
    return found if isinstance(found, str) else ""
