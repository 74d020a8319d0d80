"""What a coordinator asks for, and when: first what cannot be, and the rest of whom it still concerns.

A2ACP-057, A2ACP-105, A2ACP-109, A2ACP-173, A2ACP-176, A2ACP-181, A2ACP-238.

Theory of operation. What is told cannot be taken back, so a group asks in two steps. The first question to a
participant is for blackouts alone (`group.blackouts`): no reasons, no other field, and nothing of our own
owner's goes with it. When all have answered, or the owner went on without who did not, code knows which
windows can be at all. With none left nobody is asked for anything more: whoever binds is asked to bend, or
the owner which it shall be, as ever. With one left the rest of what is wanted (what they eat, which area) is
asked for, of those who could be there in a window that is left: what the others would say no longer matters,
and never leaves. Where nothing else is wanted, or all of it is remembered, there is no second question.

The second question names no time: what is left is made of everybody's calendars, our owner's among them, and
is told in the proposal, when the owner has agreed to that.

Where a participant stands is said by its thread's goal, which wants blackouts until the rest was asked for;
so a restart knows it, and a new coordinator, whose threads are its own, begins with the first step. An agent
that has not said that it knows blackouts is asked for everything at once. Two people are never asked in
steps: there what one tells is needed by the other, and a packet more is a day more.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

import msgspec

from tacit.a2acp.consent.tiers import canonical
from tacit.agent.consent import sending
from tacit.agent.consent.consenting import note_wants
from tacit.agent.groups import blackouts, confirmation
from tacit.agent.groups.fold import AWAITING
from tacit.agent.groups.members import fanout_id, legs_of, regroup
from tacit.agent.scheduling import asking, limits
from tacit.agent.scheduling.goal import REQUIRED, Need
from tacit.agent.scheduling.view import AVAILABILITY, view_of
from tacit.wire import version

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tacit.a2acp.packets.packet import Fields
    from tacit.agent.groups.aggregation import Window
    from tacit.agent.groups.fold import Group
    from tacit.agent.kernel.state import Thread
    from tacit.agent.kernel.workspace import Workspace
    from tacit.agent.scheduling.goal import Goal
    from tacit.agent.scheduling.view import View


_CANNOT_BE: Final = Need(blackouts.FIELD, blackouts.REASON, REQUIRED)


def first_wants(ws: Workspace, peer: str, goal: Goal) -> tuple[Need, ...]:
    """What a participant is asked for first: blackouts alone, where its agent knows them and times matter."""
    known = ws.peer_of(peer)
    able = known.heard and version.BLACKOUTS in version.usable_features(known.features, known.version)
    timely = any(canonical(ws.policy, one.field) == AVAILABILITY for one in goal.wants)
    return (_CANNOT_BE,) if able and timely else goal.wants


def possible(group: Group, windows: Sequence[Window]) -> tuple[Window, ...]:
    """The windows that can be at all, by what is known so far."""
    return blackouts.left(windows, group.quorum if group.mode == confirmation.QUORUM else 0)


def ask_for_the_rest(ws: Workspace, hub: View, group: Group, left: Sequence[Window]) -> bool:
    """Ask those whom it still concerns for the rest; whether anybody was asked."""
    goal = hub.known_goal
    rest = tuple(one for one in goal.wants if canonical(ws.policy, one.field) != AVAILABILITY)
    waiting = [one for one in legs_of(ws, group) if _has_more_to_say(ws, one)]
    waiting = [one for one in waiting if blackouts.concerns(one.peer, left)]
    fanout = fanout_id(ws) if waiting else ""
    asked = [one.peer for one in waiting if _ask(ws, one, rest, fanout)]
    if asked:
        regroup(ws, group, members={**group.members, **dict.fromkeys(asked, AWAITING)})
    return bool(asked)


def _has_more_to_say(ws: Workspace, leg: Thread) -> bool:
    """Whether a participant was asked for nothing but blackouts so far."""
    goal = view_of(ws, leg).goal
    return goal is not None and blackouts.come_first(one.field for one in goal.wants)


def _ask(ws: Workspace, leg: Thread, rest: tuple[Need, ...], fanout: str) -> bool:
    view = view_of(ws, leg)
    goal = msgspec.structs.replace(view.known_goal, wants=rest)
    needs = asking.first_needs(ws, replace(view, goal=goal), None)
    needs = limits.askable(needs, frozenset(leg.wants), lambda name: canonical(ws.policy, name))
    body: Fields = {
        "needs": [{"field": one.field, "reason": one.reason, "priority": one.priority} for one in needs]
    }
    if not needs or not sending.send(ws, view, "context_request", body, fanout=fanout):
        return False
    ws.change(leg.thread_id, goal=ws.keep(leg.peer, msgspec.to_builtins(goal)))
    note_wants(ws, leg.thread_id, needs)
    return True
