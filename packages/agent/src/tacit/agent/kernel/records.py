"""What the agent's journal says: its kinds of event, each with its body.

A2ACP-067, A2ACP-145, A2ACP-156, A2ACP-212. Bodies name values by their ids and keyed hashes; no content of
a packet, an answer or a profile is in the journal, which cannot forget.
"""

from __future__ import annotations

from typing import Final

import msgspec
from msgspec import UNSET, UnsetType

from tacit.agent.kernel.state import Proposal, Question
from tacit.base.moment import Moment


class Record(msgspec.Struct, frozen=True, omit_defaults=True):
    """One event's body."""


class Began(Record, frozen=True, omit_defaults=True):
    """A thread begins: our owner wants something, or a counterpart's first packet was accepted."""

    thread_id: str
    peer: str
    ours: bool
    urgent: bool = False
    goal: str = ""
    intent: str = ""
    parent: str = ""
    siblings: tuple[str, ...] = ()
    depth: int = 0
    approved: dict[str, str] = {}
    asked: dict[str, str] = {}
    wants: dict[str, str] = {}
    project: bool = False
    """Whether it is about a project (A2ACP-233)."""
    group: str = ""
    role: str = ""
    members: tuple[str, ...] = ()
    """The others of a group, where it begins with this thread."""


class Received(Record, frozen=True, omit_defaults=True):
    """A packet of the counterpart's is taken; `ready` is the post's number for it."""

    thread_id: str
    peer: str
    packet_id: str
    type: str
    ready: int
    mac: str
    negotiates: bool = False


class Sent(Record, frozen=True, omit_defaults=True):
    """A packet is to leave; the post gets it under this id, as often as it takes."""

    thread_id: str
    peer: str
    packet_id: str
    type: str
    mac: str
    bases: tuple[tuple[str, str, str], ...] = ()
    """Each field that it discloses, what allowed it, and the question that was answered."""
    negotiates: bool = False


class Entered(Record, frozen=True, omit_defaults=True):
    """A packet of another thread begins this one: the fork that made it (A2ACP-115)."""

    thread_id: str
    packet_id: str
    side: str
    type: str


class Posted(Record, frozen=True, omit_defaults=True):
    """The post has it."""

    packet_id: str


class Moved(Record, frozen=True, omit_defaults=True):
    """A thread went from one state to another."""

    thread_id: str
    cause: str
    before: str
    after: str
    reason: str = ""


class NotMoved(Record, frozen=True, omit_defaults=True):
    """Something wanted to move a thread that the table does not let it move (A2ACP-156)."""

    thread_id: str
    cause: str
    state: str


class Changed(Record, frozen=True, omit_defaults=True):
    """What else is now known of a thread; what is not named stays."""

    thread_id: str
    urgent: bool | UnsetType = UNSET
    goal: str | UnsetType = UNSET
    intent: str | UnsetType = UNSET
    why: str | UnsetType = UNSET
    paused: bool | UnsetType = UNSET
    awaiting_user: bool | UnsetType = UNSET
    consider: str | UnsetType = UNSET
    granted: int | UnsetType = UNSET
    unanswered_since: Moment | UnsetType | None = UNSET
    reminded: bool | UnsetType = UNSET
    wants: dict[str, str] | UnsetType = UNSET
    asked: dict[str, str] | UnsetType = UNSET
    reopened: tuple[str, ...] | UnsetType = UNSET
    approved: dict[str, str] | UnsetType = UNSET
    refused: tuple[str, ...] | UnsetType = UNSET
    ruled_out: tuple[str, ...] | UnsetType = UNSET
    proposal: Proposal | UnsetType | None = UNSET
    waiting: str | UnsetType = UNSET
    past_proposals: int | UnsetType = UNSET
    escalated: bool | UnsetType = UNSET
    siblings: tuple[str, ...] | UnsetType = UNSET
    peer_zone: str | UnsetType = UNSET
    changed_by: str | UnsetType = UNSET


class Asked(Record, frozen=True, omit_defaults=True):
    """The owner is asked."""

    question: Question


class Answered(Record, frozen=True, omit_defaults=True):
    """The owner has answered: a person's act, recorded for this question alone (A2ACP-145)."""

    question_id: str
    choice: str
    fields: tuple[str, ...] = ()
    declined: tuple[str, ...] = ()
    via: str = ""
    """Where the person answered: `terminal`, `page`, `room`, or a message of theirs by its id (A2ACP-266)."""


class Withdrawn(Record, frozen=True, omit_defaults=True):
    """A question lost its subject."""

    question_id: str
    reason: str


class Reminded(Record, frozen=True, omit_defaults=True):
    """The owner was reminded of a question, once."""

    question_id: str


class Acted(Record, frozen=True, omit_defaults=True):
    """What became of an action."""

    thread_id: str
    action_id: str
    status: str
    undo_tries: int = 0


class Cycled(Record, frozen=True, omit_defaults=True):
    """One packet's way through the five steps, with each step's outcome (A2ACP-067)."""

    thread_id: str
    subject: str
    steps: tuple[tuple[str, str], ...]


class Counted(Record, frozen=True, omit_defaults=True):
    """An owner's approvals of one field for one counterpart (A2ACP-126)."""

    field: str
    peer: str
    count: int
    dismissed: int = 0


class Completed(Record, frozen=True, omit_defaults=True):
    """How many threads of a category with a counterpart have come to their end (A2ACP-084)."""

    peer: str
    category: str
    count: int


class Noticed(Record, frozen=True, omit_defaults=True):
    """Something the owner is told; `code` says what, in no words of anybody's."""

    thread_id: str
    code: str
    subject: str = ""


class Violated(Record, frozen=True, omit_defaults=True):
    """A counterpart went beyond a limit; what it sent beyond was not answered (A2ACP-106, A2ACP-110)."""

    thread_id: str
    peer: str
    rule: str


class Set(Record, frozen=True, omit_defaults=True):
    """A setting of the owner's: profile, permissions, calendars, handlers; without a value it is gone."""

    name: str
    value: str = ""


class Hinted(Record, frozen=True, omit_defaults=True):
    """The owner was shown a hint; it is not shown again (A2ACP-234)."""

    hint: str


class Forgotten(Record, frozen=True, omit_defaults=True):
    """Every value of a contact is gone from the vault."""

    peer: str


KINDS: Final[dict[str, type[Record]]] = {
    "x.a2acp.began": Began,
    "x.a2acp.received": Received,
    "x.a2acp.sent": Sent,
    "x.a2acp.entered": Entered,
    "x.a2acp.posted": Posted,
    "x.a2acp.moved": Moved,
    "x.a2acp.not_moved": NotMoved,
    "x.a2acp.changed": Changed,
    "x.a2acp.asked": Asked,
    "x.a2acp.answered": Answered,
    "x.a2acp.withdrawn": Withdrawn,
    "x.a2acp.reminded": Reminded,
    "x.a2acp.acted": Acted,
    "x.a2acp.cycled": Cycled,
    "x.a2acp.counted": Counted,
    "x.a2acp.completed": Completed,
    "x.a2acp.noticed": Noticed,
    "x.a2acp.violated": Violated,
    "x.a2acp.set": Set,
    "x.a2acp.hinted": Hinted,
    "x.a2acp.forgotten": Forgotten,
}
