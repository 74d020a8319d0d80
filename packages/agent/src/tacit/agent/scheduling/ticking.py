"""What time brings: threads that stand still, windows that close, reminders.

A2ACP-107, A2ACP-108, A2ACP-154, A2ACP-155, A2ACP-157, A2ACP-211, A2ACP-216.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from tacit.a2acp.threads.states import NEGOTIABLE, Cause, State
from tacit.agent.groups import fold as groups
from tacit.agent.groups import grouping, transferring
from tacit.agent.groups.fold import GroupTables
from tacit.agent.kernel import records, timers
from tacit.agent.kernel.state import HUB, LEG
from tacit.agent.scheduling import acting, concluding, proposing

if TYPE_CHECKING:
    from tacit.agent.kernel.state import Thread
    from tacit.agent.kernel.workspace import Workspace

MOST_AT_ONCE: Final = 200


def due_now(ws: Workspace) -> list[str]:
    """The names of threads and questions whose moment has come, earliest first."""
    found = [(at, name) for name, at in ws.book.due.items() if at <= ws.now]
    return [name for _, name in sorted(found)[:MOST_AT_ONCE]]


def tick(ws: Workspace) -> int:
    """Do what is due; how much that was."""
    names = due_now(ws)
    for name in names:
        question = ws.book.questions.get(name)
        if question is not None:
            if question.is_open and question.remind_at is not None:
                ws.say(records.Reminded(name))
                ws.notice(question.thread_id, "reminder", name)
            continue
        thread = ws.book.threads.get(name)
        if thread is not None:
            _moved(ws, thread)
        elif (group_id := groups.offer_of(name)) in ws.book.part(GroupTables).groups:
            transferring.lapsed(ws, group_id)
    return len(names)


def _moved(ws: Workspace, thread: Thread) -> None:
    standing = thread.proposal
    if thread.state is State.PROPOSED and standing is not None:
        if standing.expires <= ws.now and thread.role == HUB:
            concluding.expire(ws, thread)
        elif standing.expires <= ws.now:
            proposing.expire(ws, thread)
            acting.tell(ws, ws.thread(thread.thread_id), State.EXPIRED)
        elif standing.remind_at is not None:
            ws.change(thread, proposal=replace(standing, remind_at=None))
        return
    if thread.state is State.STALLED:
        proposing.expire(ws, thread)
        return
    if timers.lacks_owner(thread):
        concluding.without_us(ws, thread)
        return
    if thread.role == LEG and not grouping.is_awaited(ws, thread):
        # It has told what it was asked: the coordinator's turn is nobody's silence.
        ws.change(thread, unanswered_since=None)
        return
    stale = timers.stale_at(thread)
    if stale is not None and stale <= ws.now and ws.move(thread.thread_id, Cause.STALE):
        # Silence is no answer: an open question stays open (A2ACP-131).
        ws.notice(thread.thread_id, "stalled")
        if thread.role == LEG:
            grouping.silent(ws, ws.thread(thread.thread_id))


def held_up(ws: Workspace, lost: int) -> list[str]:
    """Threads that wait for answers and whose patience a lost line has outlasted (A2ACP-211)."""
    found = [ws.book.threads.get(name) for name in ws.book.open_threads] if lost > timers.STALE_URGENT else []
    waits = NEGOTIABLE | {State.STALLED}
    return [
        one.thread_id
        for one in found
        if one is not None and not one.reminded and lost > timers.patience(one) and one.state in waits
    ]


def outage(ws: Workspace, thread_id: str) -> None:
    """The relay has been out of reach for longer than this thread waits (A2ACP-211)."""
    if not ws.thread(thread_id).reminded:
        ws.change(thread_id, reminded=True)
        ws.notice(thread_id, "relay_out_of_reach")
