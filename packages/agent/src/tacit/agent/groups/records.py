"""What the agent's journal says of groups: ids, addresses, states and modes, and nobody's words.

A2ACP-153, A2ACP-174, A2ACP-175, A2ACP-184.
"""

from __future__ import annotations

from typing import Final

from msgspec import UNSET, UnsetType

from tacit.agent.kernel.records import Record
from tacit.base.moment import Moment


class Grouped(Record, frozen=True, omit_defaults=True):
    """A group is known, with its coordinator and its list."""

    group_id: str
    coordinator: str
    members: tuple[str, ...]
    mode: str = "all"
    quorum: int = 0
    order: tuple[str, ...] = ()
    parent: str = ""


class Regrouped(Record, frozen=True, omit_defaults=True):
    """What else is now known of a group; what is not named stays."""

    group_id: str
    coordinator: str | UnsetType = UNSET
    members: dict[str, str] | UnsetType = UNSET
    mode: str | UnsetType = UNSET
    quorum: int | UnsetType = UNSET
    order: tuple[str, ...] | UnsetType = UNSET
    asked: tuple[str, ...] | UnsetType = UNSET
    waited: tuple[str, ...] | UnsetType = UNSET
    declined: dict[str, bool] | UnsetType = UNSET
    offered_to: str | UnsetType = UNSET
    offered_until: Moment | UnsetType | None = UNSET
    overlap: str | UnsetType = UNSET


class Met(Record, frozen=True, omit_defaults=True):
    """It was confirmed: who could not be there."""

    group_id: str
    missing: tuple[str, ...] = ()


class CameEarly(Record, frozen=True, omit_defaults=True):
    """A packet of a member that does not coordinate is kept until the coordinator says that it does."""

    group_id: str
    peer: str
    packet_id: str
    type: str
    ready: int


class TakenUp(Record, frozen=True, omit_defaults=True):
    """A packet that came early has had its turn."""

    packet_id: str


KINDS: Final[dict[str, type[Record]]] = {
    "x.a2acp.grouped": Grouped,
    "x.a2acp.regrouped": Regrouped,
    "x.a2acp.met": Met,
    "x.a2acp.came_early": CameEarly,
    "x.a2acp.taken_up": TakenUp,
}
