"""Tasks: their states, the table of transitions, and what can be held against a message (CLOWL-035, Annex A).

One task for each REQ or DLGT and recipient (CLOWL-037, CLOWL-046). This module is values and the table;
which message is which trigger for which task is `lifecycle`'s business.
"""

from __future__ import annotations

from enum import StrEnum
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, NamedTuple

import msgspec

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tacit.language.tables import DelegationMode


class TaskState(StrEnum):
    """Where a task stands."""

    REQUESTED = "requested"
    ACCEPTED = "accepted"
    RUNNING = "running"
    CANCELLING = "cancelling"
    TRANSFERRED = "transferred"
    COMPLETED = "completed"
    FAILED = "failed"
    CANCELLED = "cancelled"


class Trigger(StrEnum):
    """What can move a task, all from its owner unless the name says otherwise."""

    ACK = "ACK"
    ACK_STOPPED = "ACK with status cancelled"
    PROG = "PROG"
    DONE = "DONE"
    ERR = "ERR"
    ERR_CANCELLED = "ERR E013"
    CNCL = "CNCL by the requester"
    DELEGATE_ACCEPTS = "the delegate of a transfer sends ACK, PROG or DONE"
    CHILD_COMPLETED = "the delegate's task is completed"
    CHILD_FAILED = "the delegate's task has failed"
    CHILD_CANCELLED = "the delegate's task is cancelled"
    DEADLINE = "the deadline passes"


TERMINAL: Final = frozenset({TaskState.COMPLETED, TaskState.FAILED, TaskState.CANCELLED})
_WORKING: Final = (TaskState.REQUESTED, TaskState.ACCEPTED, TaskState.RUNNING)

TRANSITIONS: Final[Mapping[tuple[TaskState, Trigger], TaskState]] = MappingProxyType(
    {
        (TaskState.REQUESTED, Trigger.ACK): TaskState.ACCEPTED,
        **{(state, Trigger.PROG): TaskState.RUNNING for state in _WORKING},
        **{(state, Trigger.DONE): TaskState.COMPLETED for state in _WORKING},
        **{(state, Trigger.ERR): TaskState.FAILED for state in _WORKING},
        **{(state, Trigger.ERR_CANCELLED): TaskState.FAILED for state in _WORKING},
        **{(state, Trigger.DELEGATE_ACCEPTS): TaskState.TRANSFERRED for state in _WORKING},
        **{(state, Trigger.CNCL): TaskState.CANCELLING for state in _WORKING},
        (TaskState.CANCELLING, Trigger.ACK): TaskState.CANCELLING,
        (TaskState.CANCELLING, Trigger.ACK_STOPPED): TaskState.CANCELLED,
        (TaskState.CANCELLING, Trigger.ERR_CANCELLED): TaskState.CANCELLED,
        (TaskState.CANCELLING, Trigger.DONE): TaskState.COMPLETED,
        (TaskState.CANCELLING, Trigger.ERR): TaskState.FAILED,
        (TaskState.TRANSFERRED, Trigger.CHILD_COMPLETED): TaskState.COMPLETED,
        (TaskState.TRANSFERRED, Trigger.CHILD_FAILED): TaskState.FAILED,
        (TaskState.TRANSFERRED, Trigger.CHILD_CANCELLED): TaskState.CANCELLED,
        **{
            (state, Trigger.DEADLINE): TaskState.FAILED
            for state in (*_WORKING, TaskState.CANCELLING, TaskState.TRANSFERRED)
        },
    }
)
"""What is not in the table changes nothing and is held against the message."""

CHILD_TRIGGERS: Final = MappingProxyType(
    {
        TaskState.COMPLETED: Trigger.CHILD_COMPLETED,
        TaskState.FAILED: Trigger.CHILD_FAILED,
        TaskState.CANCELLED: Trigger.CHILD_CANCELLED,
    }
)


class TaskKey(NamedTuple):
    """A task's name: the `mid` that asked, and whom it asked."""

    mid: str
    agent: str


class Task(msgspec.Struct, frozen=True, kw_only=True):
    """One task as it stands after the messages so far."""

    key: TaskKey
    name: str
    cid: str
    tid: str | None
    requester: str
    owner: str
    """Who answers for it now; after a transfer, the delegate."""
    reports_to: str
    mode: DelegationMode | None = None
    state: TaskState = TaskState.REQUESTED
    opened: int
    changed: int
    deadline: int | None = None
    delegated_from: TaskKey | None = None
    retry_of: TaskKey | None = None
    attempt: int = 1
    code: str = ""
    """The error code of a failed or cancelled task."""
    owners: tuple[tuple[int, str], ...] = ()
    """Who owned it from when on."""

    @property
    def is_open(self) -> bool:
        """Whether something is still owed."""
        return self.state not in TERMINAL

    @property
    def duration(self) -> int | None:
        """Seconds from opening to the end; None while open."""
        return None if self.is_open else max(0, self.changed - self.opened)


class Violation(msgspec.Struct, frozen=True):
    """A message that was out of place: kept, flagged, without effect on any task."""

    kind: str
    mid: str
    reason: str
    row: str


class Advice(msgspec.Struct, frozen=True):
    """A message that the rules ask for now; a runtime writes and sends it, a tracer only shows it."""

    p: str
    sender: str
    to: str
    pid: str
    row: str
    code: str = ""
    status: str = ""


class Obligation(msgspec.Struct, frozen=True):
    """Who owes what to whom at this moment, and since when."""

    debtor: str
    creditor: str
    owes: str
    task: str
    about: str
    since: int


class Step(msgspec.Struct, frozen=True):
    """What one message did."""

    changed: tuple[Task, ...] = ()
    violations: tuple[Violation, ...] = ()
    advice: tuple[Advice, ...] = ()
    duplicate: bool = False
