"""Earlier lines beside a question: how much of each is shown (C2A-223)."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from tacit.c2a.messages import Part

if TYPE_CHECKING:
    from tacit.c2a.messages import Earlier

LINE_BYTES: Final = 1_200


def cut(line: Earlier) -> Earlier:
    """The line with as much of its text as fits; a pasted log must not take the place of all others."""
    said = line.text.encode()
    if len(said) <= LINE_BYTES:
        return line
    short = said[:LINE_BYTES].decode(errors="ignore")
    return replace(line, content=(Part(text=f"{short} [... cut]"),))
