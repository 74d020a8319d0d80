"""What attention is asked for, as values; what it answers; and the effects that follow from its events.

A command is decided in the writer against the group as it stands (`attention.io.interpreter`). Effects are
told to the outside once the event that caused them is durable, and may be told twice without harm. Rows:
C2A-006, C2A-158, C2A-173, C2A-217. Knows nothing of how any of them travels.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import msgspec

from tacit.attention.send.tools import EphemeralWords
from tacit.attention.state.work import SessionLife  # noqa: TC001 - msgspec reads this type
from tacit.base.moment import Moment
from tacit.c2a.errors import Refusal
from tacit.c2a.messages import Delivered
from tacit.c2a.signals import AgreedSignals  # noqa: TC001 - msgspec reads this type
from tacit.ledger.commands import GroupCommand


class CallTool(GroupCommand, frozen=True, tag=True, array_like=True):
    """A session calls a tool that writes."""

    session: str
    name: str
    arguments: dict[str, Any]
    version: str
    signals: AgreedSignals | None = None
    """The glyphs and own signals that its harness agreed on, where they are not the usual ones (C2A-135)."""


class RecordSession(GroupCommand, frozen=True, tag=True, array_like=True):
    """A harness speaks for a session, and this was agreed with it; written down when it is news."""

    session: str
    version: str
    modes: tuple[str, ...]
    interrupt: bool = False


class SetPresence(GroupCommand, frozen=True, tag=True, array_like=True):
    """These sessions of the group are connected, and no others. Changes nothing in the ledger."""

    sessions: tuple[str, ...]


class ReportWork(GroupCommand, frozen=True, tag=True, array_like=True):
    """A harness says how its session's work on an event stands; written down when that is news."""

    session: str
    event_id: str
    state: str
    turn: str = ""
    position: int = 0
    code: str = ""
    message: str = ""
    retry_at: Moment = Moment(0)


class RunDueTimers(GroupCommand, frozen=True, tag=True, array_like=True):
    """Take the next step that time has brought to a group.

    The host says what it knows and the ledger does not: each session's last sign of life, and from when on
    it could have heard one.
    """

    lives: tuple[SessionLife, ...] = ()
    since: Moment = Moment(0)
    is_unsure: bool = False
    """Whether nobody knows how much time had passed by then."""


class EditMessage(GroupCommand, frozen=True, tag=True, array_like=True):
    """Put a new text in the place of one's own message."""

    principal: str
    event_id: str
    text: str
    mentions: tuple[str, ...] | None = None
    client_id: str | None = None


class DeleteMessage(GroupCommand, frozen=True, tag=True, array_like=True):
    """Take a message back."""

    principal: str
    event_id: str
    reason: str = ""


class Steer(GroupCommand, frozen=True, tag=True, array_like=True):
    """What a person in charge does: cancel, reassign, approve, refuse, revoke, leave, return."""

    principal: str
    op: str
    event_id: str | None = None
    agent: str | None = None
    to: str | None = None
    approval_id: str | None = None
    conversation_id: str | None = None
    scope: str = "once"
    reason: str = ""


class ChangeRules(GroupCommand, frozen=True, tag=True, array_like=True):
    """Change numbers that attention goes by."""

    principal: str
    settings: dict[str, Any]


AttentionCommand: TypeAlias = (
    CallTool
    | RecordSession
    | SetPresence
    | ReportWork
    | RunDueTimers
    | EditMessage
    | DeleteMessage
    | Steer
    | ChangeRules
)


class ToolAnswer(msgspec.Struct, frozen=True, tag=True, array_like=True):
    """What a tool call came to: a result or a refusal, and words for whoever is there and nobody else."""

    result: dict[str, Any] | None = None
    refusal: Refusal | None = None
    ephemeral: EphemeralWords | None = None


class SteerAnswer(msgspec.Struct, frozen=True, tag=True, array_like=True):
    """What steering came to."""

    result: dict[str, Any]


class TimersRun(msgspec.Struct, frozen=True, tag=True, array_like=True):
    """One step of time: whether there was one, and when the next is due once there is none."""

    stepped: bool
    next_due: Moment | None = None


class WorkHeard(msgspec.Struct, frozen=True, tag=True, array_like=True):
    """Whether a report was of work that is the session's own; of anything else nothing is kept."""

    own: bool


Answer: TypeAlias = ToolAnswer | SteerAnswer | TimersRun | WorkHeard


class DeliveryDraft(msgspec.Struct, frozen=True, tag=True, array_like=True):
    """Effect: what a delivery will carry to its session, made where it was decided."""

    session: str
    event_id: str
    request_id: str
    delivered: Delivered


class TimerDue(msgspec.Struct, frozen=True, tag=True, array_like=True):
    """Effect: time will bring something to the group then."""

    at: Moment


class AuthorContinued(msgspec.Struct, frozen=True, tag=True, array_like=True):
    """Effect: the author of an event that a session has not answered said more there, to nobody by name."""

    session: str
    event_id: str


Effect: TypeAlias = DeliveryDraft | TimerDue | AuthorContinued
