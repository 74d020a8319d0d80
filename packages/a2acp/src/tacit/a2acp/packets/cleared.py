"""A packet fit to leave: its body has passed the permission filter and the schema of its type (A2ACP-072).

Made by consent and nowhere else; whoever sends takes nothing but this. An import contract in `pyproject.toml`
keeps it so: no other room can name this class. Its body is a copy, so that what was judged is what is sent,
whatever its maker does afterwards.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tacit.a2acp.packets.shapes import Fields
    from tacit.base.moment import Moment


@dataclass(frozen=True, slots=True)
class Cleared:
    """What may go to one recipient, and on what ground each field of it."""

    to: str
    type: str
    thread_id: str
    packet_id: str
    at: Moment
    """When it was made: its `timestamp`, the same each time it is posted."""
    body: Fields
    """Without its header; `permissions` included."""
    bases: tuple[tuple[str, str], ...] = ()
    """Each field that is sent, in the packet's word, with the basis of its consent."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "body", copy.deepcopy(self.body))
