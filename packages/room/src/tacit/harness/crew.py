"""The crew: the agents that a hub runs for its owner, as values.

The book is what survives a restart; secrets are in it by the names of their variables alone, and of a token
only its public id. A one-time code lets one agent of another machine in, once, and is kept hashed. Opens no
file and starts nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final, Literal, cast

from tacit.base.errors import Refused
from tacit.harness.team import TeamMember, document_of, member_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tacit.base.moment import Moment

CrewState = Literal["stopped", "starting", "running", "away", "fallen", "failed"]
"""How an agent is: `away` has lost the hub, `fallen` will be started again, `failed` needs a person."""
_TOLD: Final[dict[str, CrewState]] = {
    "starting": "starting",
    "connected": "running",
    "disconnected": "away",
    "fallen": "fallen",
    "given_up": "failed",
    "ended": "stopped",
}
"""What an agent's state is after its harness told something; anything else changes nothing."""


@dataclass(frozen=True, slots=True)
class CrewKey:
    """An agent of the crew: a name in a room."""

    group_id: str
    name: str


@dataclass(frozen=True, slots=True)
class CrewEntry:
    """One agent of the crew; its member's group is the group's id."""

    member: TeamMember
    wanted: bool = True
    """Shall it run?"""
    token_id: str = ""
    """The public id of the token that its harness was last given."""

    @property
    def key(self) -> CrewKey:
        """Which agent it is."""
        return CrewKey(self.member.group, self.member.name)


@dataclass(frozen=True, slots=True)
class Invitation:
    """A one-time code for an agent of another machine, by its hash."""

    digest: str
    group_id: str
    name: str
    expires_at: int


@dataclass(frozen=True, slots=True)
class CrewBook:
    """The whole crew, as it is kept."""

    entries: tuple[CrewEntry, ...] = ()
    invitations: tuple[Invitation, ...] = ()

    def entry(self, key: CrewKey) -> CrewEntry:
        """One agent; `Refused` when there is none."""
        for one in self.entries:
            if one.key == key:
                return one
        raise Refused("actor_not_found", "the crew has no such agent in this room; `tacit crew list`")

    def has(self, key: CrewKey) -> bool:
        """Is this agent of the crew?"""
        return any(one.key == key for one in self.entries)

    def put(self, entry: CrewEntry) -> CrewBook:
        """With this entry, in the place of one of the same name."""
        if not self.has(entry.key):
            return replace(self, entries=(*self.entries, entry))
        changed = tuple(entry if one.key == entry.key else one for one in self.entries)
        return replace(self, entries=changed)

    def without(self, key: CrewKey) -> CrewBook:
        """Without this agent."""
        return replace(self, entries=tuple(one for one in self.entries if one.key != key))

    def invited(self, invitation: Invitation, now: Moment) -> CrewBook:
        """With one more invitation; those that have run out are forgotten."""
        live = tuple(one for one in self.invitations if one.expires_at > now)
        return replace(self, invitations=(*live, invitation))

    def redeemed(self, digest: str, now: Moment) -> tuple[CrewBook, Invitation | None]:
        """The invitation of a code, and the book without it: a code works once."""
        found = next((one for one in self.invitations if one.digest == digest), None)
        rest = tuple(one for one in self.invitations if one is not found and one.expires_at > now)
        if found is not None and found.expires_at <= now:
            found = None
        return replace(self, invitations=rest), found


def book_document(book: CrewBook) -> dict[str, Any]:
    """The book as it is written."""
    return {
        "version": 1,
        "agents": [
            {"agent": document_of(one.member), "wanted": one.wanted, "token_id": one.token_id}
            for one in book.entries
        ],
        "invitations": [
            {"digest": one.digest, "group_id": one.group_id, "name": one.name, "expires_at": one.expires_at}
            for one in book.invitations
        ],
    }


def read_book(document: Mapping[str, Any]) -> CrewBook:
    """The book as it was written; `Refused` when it is not one."""
    try:
        agents = cast("list[dict[str, Any]]", document["agents"])
        invited = cast("list[dict[str, Any]]", document.get("invitations", []))
        entries = tuple(
            CrewEntry(member_of(one["agent"]), bool(one["wanted"]), str(one.get("token_id", "")))
            for one in agents
        )
        return CrewBook(entries, tuple(Invitation(**one) for one in invited))
    except (KeyError, TypeError, AttributeError) as error:
        raise Refused("invalid_request", "this is not a crew's book") from error


@dataclass(frozen=True, slots=True)
class CrewStatus:
    """How one agent of the crew is at the moment, from what its harness told."""

    state: CrewState = "stopped"
    since: int = 0
    reason: str = ""
    restarts: int = 0
    notes: Mapping[str, Any] = field(default_factory=dict[str, Any])

    def after(self, what: str, data: Mapping[str, Any], now: Moment) -> CrewStatus:
        """After its harness, or the process that runs it, told something."""
        if what == "warning":
            return replace(self, notes={**self.notes, "warning": str(data.get("message", ""))})
        state = _TOLD.get(what)
        if state is None:
            return self
        restarts = self.restarts + 1 if what == "fallen" else self.restarts
        # What was given up has also ended: the reason stays for whoever looks.
        if what == "ended" and self.state == "failed":
            return self
        reason = str(data.get("reason", ""))
        notes: Mapping[str, Any] = {} if what == "starting" else self.notes
        return CrewStatus(state, now, reason, restarts, notes)
