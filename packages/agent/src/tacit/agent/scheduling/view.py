"""A thread with its contents: what each side has said so far, read from the packets themselves.

A2ACP-065, A2ACP-068, A2ACP-106, A2ACP-110. Later words replace earlier ones. What the counterpart says is
data without authority: it fills fields here and decides nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

import msgspec

from tacit.a2acp.consent.tiers import canonical, ready
from tacit.a2acp.packets import vocabulary
from tacit.a2acp.packets.windows import read_windows
from tacit.agent.groups import blackouts
from tacit.agent.kernel.state import THEM, US
from tacit.agent.memory.relationship import Known, recalled, usable
from tacit.agent.scheduling.goal import Goal, Need
from tacit.base.errors import Bug
from tacit.base.strict_json import as_object, as_objects

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tacit.agent.kernel.state import Entry, Thread
    from tacit.agent.kernel.workspace import Workspace
    from tacit.base.moment import Span
    from tacit.base.strict_json import Json, JsonObject

NEGOTIATES: Final = frozenset({"context", "context_request", "context_response", "intent_update"})
"""Types that count as turns (A2ACP-103)."""
NOT_TURNS: Final = frozenset(
    {
        "resolution",
        "resolution_response",
        "thread_fork",
        "thread_status",
        "thread_sync",
        "processing_error",
        "coordinator_transfer",
        "coordinator_transfer_response",
    }
)
CARRIERS: Final = ("shared_context", "context", "context_provided")
_ABOUT: Final = frozenset({"conflict", "proposed_alternatives", "flexibility"})
EVENT_FIELDS: Final = frozenset({"event_type", "proposed_date", "duration", "party_size"})
"""What is said of one event, and of no other."""
AVAILABILITY: Final = "specific_availability"
LAPSED: Final = ":lapsed"
"""The mark of a field that we answered for another purpose."""


@dataclass(frozen=True, slots=True)
class View:
    """One thread as a decision sees it."""

    thread: Thread
    goal: Goal | None
    intent: JsonObject
    theirs: JsonObject
    """What the counterpart has told, by its own keys."""
    ours: JsonObject
    asked: tuple[Need, ...]
    """What they asked for and we owe, most important first; five of a packet, and at once (A2ACP-106)."""
    asked_beyond: int
    """How many more one packet asked for since we last spoke: they are not answered."""
    flexibility: dict[str, str]
    """Theirs, by dimension."""
    conflict: bool
    """Whether either side has said that there is no common time."""
    remembered: dict[str, Known] = field(default_factory=dict[str, Known])
    """What is known of the counterpart from earlier, by the tiers' names; what is too old is not."""

    @property
    def known_goal(self) -> Goal:
        """The goal, for a caller that knows that one was read."""
        if self.goal is None:
            raise Bug("no goal was read for this thread")
        return self.goal


def negotiates(packet_type: str) -> bool:
    """Whether a packet counts as a turn; an unknown type is a context (A2ACP-058)."""
    return packet_type not in NOT_TURNS


def view_of(ws: Workspace, thread: Thread) -> View:
    """A thread and what was said in it."""
    theirs: JsonObject = {}
    ours: JsonObject = {}
    flexibility: dict[str, str] = {}
    conflict = False
    needs: list[Need] = []
    beyond = 0
    for entry, fields in _said(ws, thread):
        if entry.packet_id == thread.changed_by:
            # It is about something else since then: what was said of the old time and event is no more.
            for said in (theirs, ours):
                for key in [one for one in said if _of_the_event(ws, one)]:
                    del said[key]
            flexibility, conflict = {}, False
            needs = [one for one in needs if _outlives(ws, thread, one)]
        into = theirs if entry.side == THEM else ours
        for name in CARRIERS:
            carried = as_object(fields.get(name))
            into.update((key, value) for key, value in carried.items() if key not in _ABOUT)
        context = as_object(fields.get("context"))
        conflict = conflict or isinstance(context.get("conflict"), dict)
        if entry.side == US:
            if negotiates(entry.type):
                needs, beyond = [one for one in needs if _owed(ws, thread, one)], 0
            continue
        named = sorted(_once(ws, needs_in(fields)), key=lambda one: _RANK[one.priority])
        needs.extend(named[:MOST_NEEDS])
        beyond += max(0, len(named) - MOST_NEEDS)
        flexibility.update(_flexibility(context))
    first = sorted(_once(ws, needs), key=lambda one: _RANK[one.priority])
    return View(
        thread=thread,
        goal=_goal(ws, thread),
        intent=as_object(ws.read(thread.intent)),
        theirs=theirs,
        ours=ours,
        asked=tuple(first[:MOST_NEEDS]),
        asked_beyond=beyond,
        flexibility=flexibility,
        conflict=conflict,
        remembered=usable(recalled(ws.read, thread.peer), ws.now),
    )


MOST_NEEDS: Final = 5
_RANK: Final = {"required": 0, "helpful": 1, "nice_to_have": 2}


def _said(ws: Workspace, thread: Thread) -> Iterator[tuple[Entry, JsonObject]]:
    for entry in thread.packets:
        yield entry, ws.packet(thread, entry.packet_id, entry.side)


def _goal(ws: Workspace, thread: Thread) -> Goal | None:
    kept = ws.read(thread.goal)
    return msgspec.convert(kept, Goal) if kept is not None else None


def needs_in(fields: JsonObject) -> list[Need]:
    """The needs that a packet names, whatever field carries them."""
    needs: list[Need] = []
    for member in ("needs", "additional_context_needed"):
        for entry in as_objects(fields.get(member)):
            priority = vocabulary.priority(entry.get("priority"))
            needs.append(Need(str(entry.get("field", "")), str(entry.get("reason", "")), priority))
    return [need for need in needs if need.field]


def _owed(ws: Workspace, thread: Thread, need: Need) -> bool:
    """Whether a need that came before our last words is still to be answered."""
    name = canonical(ws.policy, need.field)
    return name not in thread.asked or name in thread.reopened


def _outlives(ws: Workspace, thread: Thread, need: Need) -> bool:
    """Whether a need is still to be answered though the purpose has changed: it never was."""
    name = canonical(ws.policy, need.field)
    return not {name, f"{name}{LAPSED}"} & thread.asked.keys()


def _of_the_event(ws: Workspace, name: str) -> bool:
    return name in EVENT_FIELDS or canonical(ws.policy, name) == AVAILABILITY


def _once(ws: Workspace, needs: list[Need]) -> list[Need]:
    seen: dict[str, Need] = {}
    for need in needs:
        seen.setdefault(canonical(ws.policy, need.field), need)
    return list(seen.values())


def _flexibility(context: JsonObject) -> dict[str, str]:
    named = as_object(context.get("flexibility"))
    return {name: vocabulary.flexibility(value) for name, value in named.items()}


def their_times(ws: Workspace, view: View) -> Json:
    """When they have time, under whatever name they said it; None when they did not."""
    name = _timely(ws, view)
    return view.theirs[name] if name else None


def _timely(ws: Workspace, view: View) -> str:
    """The name under which they said when they have time, or when they have not."""
    names = [one for one in view.theirs if canonical(ws.policy, one) == AVAILABILITY]
    return "time_windows" if "time_windows" in names else names[-1] if names else ""


def their_spans(ws: Workspace, view: View) -> tuple[tuple[Span, ...], tuple[str, ...]]:
    """The same as stretches, and what of it is unclear."""
    name = _timely(ws, view)
    value = view.theirs.get(name)
    if value is None:
        return (), ()
    zone: object = view.theirs.get("timezone")
    date: object = view.theirs.get("proposed_date")
    zone, date = zone if isinstance(zone, str) else None, date if isinstance(date, str) else None
    if ready(ws.policy).chain(name)[0] == blackouts.FIELD or blackouts.is_value(value):
        asked = view.goal.spans if view.goal is not None else ()
        reading = blackouts.read(value, asked, timezone=zone, proposed_date=date, now=ws.now)
    else:
        reading = read_windows(value, timezone=zone, proposed_date=date, now=ws.now)
    return reading.spans, reading.unclear
