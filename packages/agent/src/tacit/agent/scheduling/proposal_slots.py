"""The slots of proposals: what a proposal says of one, which it offers, which are held, which are ruled out.

A2ACP-042, A2ACP-144, A2ACP-169, A2ACP-170. A slot of a standing proposal is held: it is offered in no other
thread. Details are any JSON; a slot is read of them, or there is none. Knows nothing of who confirms what.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final
from zoneinfo import ZoneInfo

from tacit.a2acp.consent.aliases import GENERAL_LOCATION
from tacit.a2acp.packets import bodies, formats, windows
from tacit.agent.consent.consenting import zone_of
from tacit.agent.memory.relationship import TOLD
from tacit.agent.scheduling import recalling
from tacit.base.errors import Refused
from tacit.base.strict_json import as_object

if TYPE_CHECKING:
    from tacit.agent.kernel.state import Thread
    from tacit.agent.kernel.workspace import Workspace
    from tacit.agent.scheduling.view import View
    from tacit.base.moment import Span
    from tacit.base.strict_json import Json, JsonObject

MAIN: Final = -1
"""The proposal itself, not one of its alternatives."""
_NOTHING: Final = bodies.PacketProposal(summary="", details={})
"""What a proposal says whose content is gone."""


def details(ws: Workspace, view: View, slot: Span) -> JsonObject:
    """What a proposal for a slot says, by code alone."""
    goal = view.goal
    zone = zone_of(ws)
    window = formats.write_window(slot, ZoneInfo(zone))
    said: JsonObject = {"date": window["date"], "time": window["time"], "timezone": zone}
    if goal is not None and goal.event_type:
        said["event_type"] = goal.event_type
    place = recalling.wish(ws, view.thread, *recalling.PLACES) or (goal.place if goal is not None else "")
    place = place or view.theirs.get("location_preference") or _remembered_place(view)
    if isinstance(place, str) and place:
        said["place"] = place
    return said


def _remembered_place(view: View) -> Json:
    """Where they said that they like to be, in an earlier thread; what our owner noted goes nowhere."""
    known = view.remembered.get(GENERAL_LOCATION)
    return known.value if known is not None and known.source == TOLD else None


def slot_of(said: JsonObject, ws: Workspace) -> Span | None:
    """The slot that a proposal's details name; None when there is none, or none that can be read."""
    reading = windows.read_slot(said, timezone=None, minutes=None, now=ws.now)
    return reading.spans[0] if len(reading.spans) == 1 and not reading.unclear else None


def standing_proposal(ws: Workspace, thread: Thread) -> bodies.PacketProposal:
    """What the resolution that stands proposes; empty when its content is gone."""
    standing = thread.proposal
    body = ws.body(thread, standing.packet_id, standing.side, bodies.Resolution) if standing else None
    return body.proposal if body is not None else _NOTHING


def shown_proposal(ws: Workspace, thread: Thread) -> JsonObject:
    """The same as its packet has it, with members that we do not know; empty where nothing stands."""
    standing = thread.proposal
    fields = ws.packet(thread, standing.packet_id, standing.side) if standing else {}
    return as_object(fields.get("proposal"))


def chosen_details(ws: Workspace, thread: Thread, choice: int = MAIN) -> JsonObject:
    """The details of the standing proposal, or of one of its alternatives."""
    proposal = standing_proposal(ws, thread)
    if choice == MAIN:
        return {**proposal.details, "summary": proposal.summary}
    alternatives = proposal.alternatives or ()
    if not 0 <= choice < len(alternatives):
        raise Refused("unknown_alternative", "the proposal has no such alternative", row="A2ACP-144")
    other = alternatives[choice]
    return {**of_alternative(proposal, other), "summary": other.summary}


def of_alternative(proposal: bodies.PacketProposal, other: bodies.PacketAlternative) -> JsonObject:
    """The details of an alternative: its own over those of the proposal."""
    return {**proposal.details, **(other.details or {})}


def held_slots(ws: Workspace, besides: str) -> tuple[Span, ...]:
    """Slots that stand in proposals of other threads: not offered twice."""
    held: list[Span] = []
    for thread_id in ws.book.holds:
        if thread_id == besides:
            continue
        thread = ws.book.threads.get(thread_id)
        if thread is not None:
            slot = slot_of(chosen_details(ws, thread), ws)
            held.extend([slot] if slot is not None else [])
    return tuple(sorted(held))


def offered_slots(ws: Workspace, thread: Thread) -> list[Span]:
    """The slots of the standing proposal and of its alternatives."""
    count = len(standing_proposal(ws, thread).alternatives or ())
    slots = [slot_of(chosen_details(ws, thread, choice), ws) for choice in range(MAIN, count)]
    return [slot for slot in slots if slot is not None]


def rule_out(
    ws: Workspace, thread: Thread, kind: str, choice: int = MAIN, *, failed: JsonObject | None = None
) -> Thread:
    """Remember that the standing proposal is not to come again; `failed`: what of it could not be done."""
    slot = slot_of(chosen_details(ws, thread, choice), ws)
    if slot is None and not failed:
        return thread
    value: JsonObject = {"kind": kind, **(failed or {})}
    if kind == recalling.FAILED:
        others = [other for other in offered_slots(ws, thread) if other != slot]
        value["beside"] = [[int(other.start), int(other.end)] for other in others]
    if slot is not None:
        value["slot"] = [int(slot.start), int(slot.end)]
    return ws.change(thread, ruled_out=(*thread.ruled_out, ws.keep(thread.peer, value)))
