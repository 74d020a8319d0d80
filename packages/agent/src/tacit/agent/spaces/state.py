"""What is known of a space, of those who keep it and of each of its fields, as values of the fold.

A2ACP-197, A2ACP-200, A2ACP-203, A2ACP-205. Contents are not here: neither a value nor the name of a field,
which is free text of somebody's. A field is named by a keyed hash of its path; path and value lie in the
vault, by the same name, and can be forgotten while the journal stays whole.
"""

from __future__ import annotations

from typing import Final

import msgspec

from tacit.base.moment import SECOND, Moment

WAITING: Final = "waiting"
"""Of a member: its invitation goes out once its agent has said that it keeps spaces."""
INVITED: Final = "invited"
JOINED: Final = "joined"
LEFT: Final = "left"
"""Of a member: it is no longer one, by its own will or the creator's. Of a space: we are not in it."""

ALL: Final = "all"
MENTIONS_ME: Final = "mentions_me"
NONE: Final = "none"
NOTIFY: Final = (MENTIONS_ME, ALL, NONE)
"""Of which changes the owner is told; the first is what holds unless it was set."""

KEPT_CHANGES: Final = 100
"""Of a space's changes so many are kept with their values, the newest."""
HOUR: Final = 3600 * SECOND


class Member(msgspec.Struct, frozen=True, omit_defaults=True):
    """One who keeps a replica, as the creator says."""

    level: str
    v: int = 1
    """The version of what the creator says of it; a higher one replaces a lower."""
    status: str = INVITED
    silent: bool = False
    """Whether our owner tells this one nothing: no packet of the space goes there."""
    hour: int = 0
    taken: int = 0
    """How many changes of its were taken in that hour."""
    compared: tuple[Moment, ...] = ()
    """When comparisons of its were last answered."""
    agreed: str = ""
    """A digest of what both had written when our replicas were last found alike; see `compare.is_due`."""
    agreed_at: Moment | None = None


class Space(msgspec.Struct, frozen=True, omit_defaults=True):
    """One space."""

    space_id: str
    creator: str
    created: Moment
    title: str
    """The id of its title in the vault."""
    status: str = JOINED
    """Ours: invited, joined, left."""
    members: dict[str, Member] = {}
    released: dict[str, tuple[str, ...]] = {}
    """By member: the consent names, hashed, that our owner released to it in this space (A2ACP-204)."""
    notify: str = MENTIONS_ME
    changes: int = 0
    """How many entries its change list has had."""
    seen: int = 0
    """Up to which of them the owner has looked."""

    def present(self, besides: str = "") -> tuple[str, ...]:
        """Those who keep it now, in order of their addresses."""
        return tuple(
            sorted(one for one, known in self.members.items() if known.status == JOINED and one != besides)
        )


class Cell(msgspec.Struct, frozen=True, omit_defaults=True):
    """The newest version of one field that one author wrote; which author's stands is computed from all."""

    v: int
    at: Moment
    by: str
    owner: str = ""
    """Of a version from before fields were kept by author: who created the field, as this replica saw it."""
    deleted: bool = False
    mark: str = ""
    """The author's own keyed hash of it, by which it knows what it wrote (see `tacit.agent.spaces.merge`)."""
    pending: bool = False
    """Written here, and not yet told to the others."""
    since: Moment | None = None
    """When its author first wrote the field; the moment of this version where nobody said."""

    @property
    def begun(self) -> Moment:
        """When its author first wrote the field."""
        return self.at if self.since is None else self.since


class Leaving(msgspec.Struct, frozen=True, array_like=True):
    """A packet of a space that the post may lack."""

    to: str
    type: str
    thread_id: str
    at: Moment
    mac: str
