"""Whose dialogue a line may go on with, and how sure that is."""

from __future__ import annotations

from typing import Final, TypeAlias

import msgspec

TURN: Final = 0.6
"""From here on a line is as good as addressed."""

Follows: TypeAlias = "tuple[Continuation, ...]"


class Continuation(msgspec.Struct, frozen=True):
    """One whose dialogue a line may go on with."""

    who: str
    confidence: float
    ago_s: int | None = None
    """How long ago the two spoke; None when they did not."""
    named: bool = False
    """Whether its name stands somewhere in the line."""
    theirs: bool = False
    """Whether the other spoke last of the two."""
    asked: bool = False
    """Whether the other's last word to the author was a question."""
    nearly: bool = False
    """Whether a word like its name opens the line as a call."""

    @property
    def sure(self) -> bool:
        """Is it as good as addressed?"""
        return self.confidence >= TURN
