"""What could not be carried out, whose it was and why: as packets say it, and as each owner reads it.

A2ACP-166, A2ACP-169. In packets it is one of the `action_results`: the action's id, the address of whoever
was to carry it out, and one word for why. What a calendar or a service answered is told to its own owner
alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from tacit.a2acp.packets.bodies import ActionResult
from tacit.agent.groups.members import members_of
from tacit.agent.kernel.state import MEMBER
from tacit.agent.scheduling import planning
from tacit.agent.scheduling.actions import plan, port
from tacit.base.quoting import shown

if TYPE_CHECKING:
    from tacit.a2acp.packets.bodies import ThreadStatus
    from tacit.agent.kernel.state import Planned, Thread
    from tacit.agent.kernel.workspace import Workspace

FAILED: Final = "failed"
CALLED_OFF: Final = "action_failed"
WITHOUT_ONE: Final = "part_failed"
TOLD_WITH_REASON: Final = frozenset({CALLED_OFF, WITHOUT_ONE})
"""Notices whose subject is a kept value with the reason."""
_WHY: Final = frozenset({port.REFUSED, port.TAKEN})


@dataclass(frozen=True, slots=True)
class FailedAction:
    """One action that could not be carried out."""

    action_id: str = ""
    action: str = ""
    executor: str = ""
    """The address of whoever was to carry it out; empty where nobody has said."""
    why: str = ""
    """`refused`, `taken`, or empty where nothing more is known."""
    own: str = ""
    """What our owner reads of an action of ours, with what the service answered."""

    @property
    def sentence(self) -> str:
        """What our owner is told."""
        if self.own:
            return self.own
        if not self.executor:
            return "Another agent could not carry out its part."
        name = name_of(self.executor)
        if not plan.is_calendar(self.action):
            return f'{name}\'s agent could not carry out "{shown(self.action)}".'
        if self.why == port.REFUSED:
            return f"{name}'s calendar refused the entry."
        if self.why == port.TAKEN:
            return f"{name} is no longer free at that time."
        return f"{name}'s agent could not make the calendar entry."


def name_of(address: str) -> str:
    """Somebody's name as a sentence begins with it."""
    name = address.removeprefix("agent:").partition("@")[0]
    return name[:1].upper() + name[1:]


def own(ws: Workspace, action: Planned, result: port.Result) -> FailedAction:
    """An action of ours that failed."""
    said = _said(action, "could not be carried out", result)
    return FailedAction(action.action_id, action.action, ws.me, result.code, said)


def not_undone(action: Planned, result: port.Result) -> str:
    """What our owner is told of an action of ours that could not be undone."""
    return _said(action, "could not be undone", result)


def _said(action: Planned, what: str, result: port.Result) -> str:
    if plan.is_calendar(action.action) and result.reason:
        return _whole(result.reason)
    detail = f": {result.reason}" if result.reason else ""
    return _whole(f'"{action.label or action.action}" {what}{detail}')


def _whole(text: str) -> str:
    """A sentence: it begins with a capital and ends."""
    return text[:1].upper() + text[1:] + ("" if text[-1:] in {".", "!", "?"} else ".")


# In packets.


def entry(failed: FailedAction) -> ActionResult:
    """The failure as one of the `action_results` of whoever passes it on."""
    return ActionResult(
        action_id=failed.action_id,
        action=failed.action,
        status=FAILED,
        executor=failed.executor,
        reason=failed.why or None,
    )


def reported(ws: Workspace, thread: Thread, status: ThreadStatus) -> FailedAction:
    """What a report says has failed: an action of its sender's, or what a coordinator says of another's."""
    coordinates = thread.role == MEMBER
    others = members_of(ws, thread) - {ws.me} if coordinates else {thread.peer}
    for result in status.action_results or ():
        if result.status != FAILED:
            continue
        named = thread.peer if result.executor is None else result.executor
        executor = named if named in others else ""
        code = result.reason if result.reason in _WHY else ""
        return FailedAction(result.action_id, result.action, executor, code or "")
    return FailedAction(executor="" if coordinates else thread.peer)


def is_about(ws: Workspace, thread: Thread, status: ThreadStatus) -> bool:
    """Whether a report can be about the proposal that stands: it names an action of it, or none at all.

    A report may cross with the next proposal, of which it says nothing.
    """
    named = {result.action_id for result in status.action_results or ()}
    return not named or bool(named & planning.ids_of(ws, thread))
