"""What is known of a thread, of a question and of a proposal, as values of the fold.

A2ACP-065, A2ACP-089, A2ACP-104, A2ACP-118, A2ACP-210. Contents are not here: a value is named by its id in
the vault, so that it can be forgotten while the journal stays whole. Field names, times and states are
here.
"""

from __future__ import annotations

from typing import Final

import msgspec

from tacit.a2acp.threads.states import TERMINAL, State
from tacit.base.errors import Bug
from tacit.base.moment import Moment

US: Final = "us"
THEM: Final = "them"

HUB: Final = "hub"
"""The role of a group's thread at its coordinator: its counterpart is the owner, its packets go by legs."""
LEG: Final = "leg"
"""The role of a coordinator's thread with one participant."""
MEMBER: Final = "member"
"""The role of a participant's thread with the coordinator."""

OPEN: Final = ""
GIVEN: Final = "data"
DECLINED: Final = "declined"
NOT_AVAILABLE: Final = "not_available"
REMEMBERED_PACKETS: Final = 40
"""Of a thread's packets the fold names so many, the newest; all of them are in the journal."""


class Entry(msgspec.Struct, frozen=True, array_like=True):
    """One packet of a thread."""

    packet_id: str
    side: str
    type: str
    at: Moment
    mac: str = ""


class Planned(msgspec.Struct, frozen=True, omit_defaults=True):
    """One action of a proposal and what became of it here."""

    action_id: str
    action: str
    executor: str
    """`us` or `them`."""
    reversible: bool = True
    label: str = ""
    """Its name for the owner, unlike any other of the proposal: what is ticked."""
    status: str = ""
    """Nothing, `started`, `done`, `failed`, `undoing`, `undone`, `stuck`."""
    undo_tries: int = 0


class Proposal(msgspec.Struct, frozen=True, omit_defaults=True):
    """The resolution that stands."""

    packet_id: str
    side: str
    at: Moment
    expires: Moment
    remind_at: Moment | None = None
    confirmers: tuple[str, ...] = ()
    confirmed: dict[str, int] = {}
    """Who has confirmed, and which alternative: -1 is the proposal itself."""
    actions: tuple[Planned, ...] = ()
    irreversible: tuple[str, ...] = ()
    question_id: str = ""
    """The checkpoint of our owner; confirming needs its answer (A2ACP-145)."""


class Thread(msgspec.Struct, frozen=True, omit_defaults=True):
    """One thread with one counterpart."""

    thread_id: str
    peer: str
    ours: bool
    """Whether we began it."""
    state: State
    began: Moment
    since: Moment
    urgent: bool = False
    goal: str = ""
    intent: str = ""
    why: str = ""
    paused: bool = False
    awaiting_user: bool = False
    consider: str = ""
    """The packet or answer that the agent has yet to think about; empty when it waits for others."""
    turns: int = 0
    last_side: str = ""
    granted: int = 0
    """Round trips beyond the first eight that the owner has granted (A2ACP-104)."""
    unanswered_since: Moment | None = None
    reminded: bool = False
    introduced: bool = False
    """Whether our first packet has left, with its hints."""
    wants: dict[str, str] = {}
    """What we asked for, by canonical field, and what came of it."""
    asked: dict[str, str] = {}
    """What they asked for, and what we answered."""
    reopened: tuple[str, ...] = ()
    """Fields that a change of intent opened once more (A2ACP-110)."""
    approved: dict[str, str] = {}
    """Fields that our owner released in this thread, and by which question."""
    refused: tuple[str, ...] = ()
    ruled_out: tuple[str, ...] = ()
    """Values that say what failed or was turned down: not to be proposed again (A2ACP-169)."""
    proposal: Proposal | None = None
    waiting: str = ""
    """A resolution that came while something was being undone: looked at once that is over."""
    past_proposals: int = 0
    escalated: bool = False
    packets: tuple[Entry, ...] = ()
    parent: str = ""
    siblings: tuple[str, ...] = ()
    depth: int = 0
    closed_reason: str = ""
    peer_zone: str = ""
    changed_by: str = ""
    """The packet that made it about something else: what was said of the old event no longer counts."""
    group: str = ""
    """The group that it belongs to: the thread's id as packets name it (A2ACP-174)."""
    role: str = ""

    @property
    def wire(self) -> str:
        """The id under which packets name it: one for a group, whoever of it is written to."""
        return self.group or self.thread_id

    @property
    def follows_hub(self) -> bool:
        """Whether it has no slot and no action of its own: its group's hub has them."""
        return self.role == LEG

    @property
    def is_open(self) -> bool:
        """Whether anything may still happen in it."""
        return self.state not in TERMINAL

    @property
    def standing(self) -> Proposal:
        """The proposal that stands, for a caller that knows that one does."""
        if self.proposal is None:
            raise Bug("no proposal stands in this thread")
        return self.proposal

    @property
    def me(self) -> str:
        """Which side began, as the draft's conflict names it: `a` is the initiator's (A2ACP-098)."""
        return "a" if self.ours else "b"


class Question(msgspec.Struct, frozen=True, omit_defaults=True):
    """Something only the owner can say; it waits until it is answered or loses its subject."""

    question_id: str
    kind: str
    thread_id: str
    peer: str
    asked_at: Moment
    content: str
    """Its fields, proposal and choices, in the vault."""
    fingerprint: str = ""
    """Of exactly what a yes would send."""
    subject: str = ""
    """The packet it is about."""
    remind_at: Moment | None = None
    outcome: str = ""
    """Empty while it is open; then `answered` or `withdrawn`."""

    @property
    def is_open(self) -> bool:
        """Whether it waits for its answer."""
        return not self.outcome


class Approvals(msgspec.Struct, frozen=True, omit_defaults=True):
    """How often an owner released a field for a counterpart since the last refusal (A2ACP-126)."""

    count: int = 0
    dismissed: int = 0
