"""Who may write what in a space: three levels, given by its creator (A2ACP-202, A2ACP-203)."""

from __future__ import annotations

from typing import Final

from tacit.a2acp.packets.vocabulary import WRITE_LEVELS

READ_ALL, WRITE_OWN, FULL_WRITE = WRITE_LEVELS
REMOVED: Final = "removed"
"""No level: the creator takes the member out."""


def first_level(members: int) -> str:
    """What an invited member gets unless its creator says otherwise, in a space that then has so many."""
    return FULL_WRITE if members <= 2 else WRITE_OWN


def may_write(level: str, *, owner: str | None, author: str) -> bool:
    """Whether an author may write a field; `owner` created it, None when there is no such field yet."""
    return level == FULL_WRITE or (level == WRITE_OWN and owner in {None, author})
