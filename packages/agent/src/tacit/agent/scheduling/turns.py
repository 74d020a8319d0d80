"""Our turn in a thread: the first packet of a thread of ours, or the next one of any.

The parts of a turn that need the outside, calendars and a brain, are asked for between its steps.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from tacit.a2acp.threads.states import State
from tacit.agent.groups import grouping
from tacit.agent.groups.fold import LEFT_OUT
from tacit.agent.groups.members import hub_of, is_hub
from tacit.agent.kernel import records
from tacit.agent.kernel.state import LEG
from tacit.agent.scheduling import asking, concluding, considering
from tacit.agent.scheduling.view import view_of
from tacit.base.moment import merged

if TYPE_CHECKING:
    from tacit.agent.brain.port import Thought
    from tacit.agent.kernel.state import Thread
    from tacit.agent.kernel.workspace import Workspace
    from tacit.agent.scheduling.calendars.busy import Busy
    from tacit.agent.scheduling.considering import Outlook


def outlook(ws: Workspace, thread: Thread, busy: Busy | None) -> Outlook:
    """What code can say before a brain writes a word."""
    view = view_of(ws, thread)
    if busy is not None and view.goal is not None:
        # What our owner ruled out is no time of ours, whatever the calendars say.
        busy = replace(busy, spans=merged((*busy.spans, *view.goal.excluded)))
    if asking.opens(thread) or is_hub(thread):
        # In a group the others are asked before anything of our own times is said.
        windows = None if thread.role == LEG else considering.our_windows(ws, view, busy)
        return considering.Outlook(thread.consider, view, considering.Answers(), (), windows, busy)
    return considering.outlook(ws, thread, busy)


def take(ws: Workspace, seen: Outlook, thought: Thought | None) -> None:
    """Take the turn, unless the thread has moved on since it was looked at."""
    thread = ws.book.threads.get(seen.view.thread.thread_id)
    if thread is None or thread.consider != seen.token or not thread.is_open or thread.paused:
        return
    if is_hub(thread):
        if thread.state is State.PROPOSED:
            concluding.next_in_order(ws, thread, seen.busy)
        else:
            grouping.take(ws, seen.view, seen.windows, seen.token)
        return
    if not asking.opens(thread):
        considering.decide(ws, seen, thought)
        return
    if ws.open_questions(thread.thread_id, "consent", "scope", "escalation"):
        # An offer to ask less in future holds nothing up.
        return
    outcome = asking.begin(ws, seen.view, seen.windows)
    steps = (("PARSE", "the owner's own wish"), ("CONSTRUCT", outcome))
    ws.say(records.Cycled(thread.thread_id, seen.token, steps))
    if thread.role == LEG and not ws.thread(thread.thread_id).is_open:
        # The owner wants nothing said to this one: the group goes on without it, and it hears of nothing.
        grouping.leave(ws, hub_of(ws, thread), [thread.peer], LEFT_OUT)
