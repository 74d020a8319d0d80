"""Parting: what is open with a counterpart ends when it is blocked, removed or forgotten.

Rows: A2ACP-195, A2ACP-196.

Nothing leaves for the one who is let go. A group goes on without it, as if it had left.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import structs

from tacit.a2acp.threads.states import Cause, State
from tacit.agent.consent import answering
from tacit.agent.groups import grouping
from tacit.agent.groups.members import hub_of
from tacit.agent.kernel import records
from tacit.agent.kernel.state import LEG
from tacit.agent.scheduling import concluding

if TYPE_CHECKING:
    from tacit.agent.kernel.workspace import Workspace


def part(ws: Workspace, who: str) -> None:
    """End what is open with a counterpart; what it was allowed is its own no longer."""
    for name in list(ws.book.open_threads):
        thread = ws.book.threads.get(name)
        if thread is None or thread.peer != who:
            continue
        if thread.role == LEG and thread.state is State.CONFIRMED:
            # What is being carried out is the hub's: a leg has nothing to undo.
            ws.move(name, Cause.COUNTERED)
        if not ws.close(name, Cause.CLOSED, "blocked"):
            ws.notice(name, "not_undone")
        if thread.role == LEG and hub_of(ws, thread).is_open:
            grouping.withdrawn(ws, thread)
            concluding.goes_on_without(ws, hub_of(ws, thread).thread_id, who)
    for one in map(ws.book.questions.get, list(ws.book.questions)):
        if one is not None and one.is_open and one.peer == who:
            ws.say(records.Withdrawn(one.question_id, "blocked"))
    overrides = {one: found for one, found in ws.policy.overrides.items() if one != who}
    if len(overrides) != len(ws.policy.overrides):
        answering.set_policy(ws, structs.replace(ws.policy, overrides=overrides))
