"""What the journal says of shared spaces (A2ACP-197, A2ACP-201, A2ACP-202, A2ACP-203, A2ACP-205).

Bodies name fields by keyed hashes and values by their ids; no title, path or value of a space is in the
journal, which cannot forget.
"""

from __future__ import annotations

from typing import Final

from msgspec import UNSET, UnsetType

from tacit.agent.kernel.records import Record
from tacit.agent.spaces.state import Member
from tacit.base.moment import Moment


class SpaceBegan(Record, frozen=True, omit_defaults=True):
    """A space was created here, or somebody has invited us into theirs."""

    space_id: str
    creator: str
    created: Moment
    title: str
    status: str
    members: dict[str, Member]


class SpaceJoined(Record, frozen=True, omit_defaults=True):
    """Where we stand in a space now: joined, or out of it."""

    space_id: str
    status: str


class SpaceMember(Record, frozen=True, omit_defaults=True):
    """What holds of a member now."""

    space_id: str
    address: str
    member: Member


class SpaceWritten(Record, frozen=True, omit_defaults=True):
    """An author's newest version of a field: written here, or taken from its author."""

    space_id: str
    field: str
    """The keyed hash of its path and its author; before versions were kept by author, of its path alone."""
    v: int
    written: Moment
    by: str
    owner: str = ""
    """In records from before then: who created the field, as this replica saw it."""
    deleted: bool = False
    mark: str = ""
    pending: bool = False
    entry: int = 0
    """Its number in the change list; none for a version that only changes place."""
    since: Moment | None = None
    """When its author first wrote the field."""


class SpaceLost(Record, frozen=True, omit_defaults=True):
    """A version that another won against: in the change list, and nowhere else (A2ACP-200)."""

    space_id: str
    by: str
    entry: int


class SpacePublished(Record, frozen=True, omit_defaults=True):
    """Versions that were written here are on their way to the others."""

    space_id: str
    fields: tuple[str, ...]


class SpaceDropped(Record, frozen=True, omit_defaults=True):
    """Fields that a replica holds no longer: old tombstones, or those of somebody who is forgotten."""

    space_id: str
    fields: tuple[str, ...]


class SpaceReleased(Record, frozen=True, omit_defaults=True):
    """The owner has released consent names, hashed, to members of a space (A2ACP-204)."""

    space_id: str
    members: tuple[str, ...]
    names: tuple[str, ...]


class SpaceSet(Record, frozen=True, omit_defaults=True):
    """How the owner wants a space, and how far it has looked."""

    space_id: str
    notify: str | UnsetType = UNSET
    seen: int | UnsetType = UNSET


class SpaceSent(Record, frozen=True, omit_defaults=True):
    """A packet of a space is to leave; the post gets it under this id, as often as it takes."""

    space_id: str
    thread_id: str
    peer: str
    packet_id: str
    type: str
    mac: str


KINDS: Final[dict[str, type[Record]]] = {
    "x.a2acp.space_began": SpaceBegan,
    "x.a2acp.space_joined": SpaceJoined,
    "x.a2acp.space_member": SpaceMember,
    "x.a2acp.space_written": SpaceWritten,
    "x.a2acp.space_lost": SpaceLost,
    "x.a2acp.space_published": SpacePublished,
    "x.a2acp.space_dropped": SpaceDropped,
    "x.a2acp.space_released": SpaceReleased,
    "x.a2acp.space_set": SpaceSet,
    "x.a2acp.space_sent": SpaceSent,
}
