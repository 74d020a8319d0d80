"""Calendars as text, and spans in words, for the tests of this folder."""

from __future__ import annotations

from datetime import UTC, datetime

from tacit.a2acp.packets.dates import moment_of, wall
from tacit.base.moment import Span


def calendar(*parts: str) -> bytes:
    """A calendar of parts that are written with plain line ends."""
    body = "\n".join(part.strip("\n") for part in parts)
    text = f"BEGIN:VCALENDAR\nVERSION:2.0\nPRODID:-//test//EN\n{body}\nEND:VCALENDAR\n"
    return text.replace("\n", "\r\n").encode()


def event(*lines: str, uid: str = "one") -> str:
    return "\n".join(["BEGIN:VEVENT", f"UID:{uid}", *lines, "END:VEVENT"])


def at(text: str):
    """`2026-03-27 18:00` or with an offset; UTC where none is said."""
    read = datetime.fromisoformat(text)
    return moment_of(read if read.tzinfo else read.replace(tzinfo=UTC))


def span(start: str, end: str) -> Span:
    return Span(at(start), at(end))


def shown(spans) -> list[str]:
    """Spans as `2026-03-27T18:00/2026-03-27T21:00`, in UTC."""
    return [
        "/".join(wall(one, UTC).strftime("%Y-%m-%dT%H:%M") for one in (span.start, span.end))
        for span in spans
    ]
