"""What a thread remembers of proposals that came to nothing, and what was asked for in their place.

A2ACP-146, A2ACP-169, A2ACP-170, A2ACP-171. What failed, was turned down or turned out to be taken is not
proposed again; after a failure only what was offered beside it is left, until a person says otherwise. What
a counterpart asks for instead is read as data: what cannot be read for certain is nobody's wish.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tacit.a2acp.packets import formats, windows
from tacit.a2acp.packets.dates import zone_named, zone_of_owner
from tacit.agent.consent.consenting import zone_of
from tacit.base.moment import Moment, Span
from tacit.base.strict_json import as_list, as_object, as_objects

if TYPE_CHECKING:
    from tacit.agent.kernel.state import Thread
    from tacit.agent.kernel.workspace import Workspace
    from tacit.agent.scheduling.view import View
    from tacit.base.strict_json import Json, JsonObject

FAILED: Final = "failed"
CHOSEN: Final = "chosen"
PLACES: Final = ("place", "location")
TIMES: Final = ("time", "date", "time_windows", "start")


def remembered(ws: Workspace, thread: Thread) -> list[JsonObject]:
    """What the thread remembers of proposals that came to nothing, oldest first."""
    return as_objects([ws.read(value_id) for value_id in thread.ruled_out])


def _span(value: Json) -> Span | None:
    """A slot as it is kept: two moments; None for anything else."""
    match value:
        case [int(start), int(end)]:
            return Span(Moment(start), Moment(end))
        case _:
            return None


def _spans(values: list[Json]) -> list[Span]:
    return [span for span in map(_span, values) if span is not None]


def ruled_out_slots(ws: Workspace, thread: Thread) -> tuple[Span, ...]:
    """Slots that failed, were declined or turned out to be taken: not proposed again (A2ACP-169)."""
    return tuple(sorted(_spans([value.get("slot") for value in remembered(ws, thread)])))


def remaining_alternatives(ws: Workspace, view: View) -> tuple[Span, ...] | None:
    """After a failed action only what was offered beside what failed (A2ACP-170); else None.

    What a person chose after that is beyond it: then everything is looked at again.
    """
    found: list[Span] | None = None
    for value in remembered(ws, view.thread):
        if value.get("kind") == CHOSEN:
            found = None
        elif value.get("kind") == FAILED:
            found = [*(found or ()), *_spans(as_list(value.get("beside")))]
    if found is None:
        return None
    gone = ruled_out_slots(ws, view.thread)
    return tuple(dict.fromkeys(one for one in found if one not in gone))


def chosen_by_people(ws: Workspace, thread: Thread) -> Thread:
    """Our owner has said how to go on after what failed: it is not held to what was offered before."""
    return ws.change(thread, ruled_out=(*thread.ruled_out, ws.keep(thread.peer, {"kind": CHOSEN})))


def why_it_failed(ws: Workspace, thread: Thread) -> str:
    """Why what stood last could not be carried out, for our owner; empty when that is not what came last."""
    reasons: list[str] = []
    for value in reversed(remembered(ws, thread)):
        if value.get("kind") != FAILED:
            break
        reasons.append(str(value.get("reason") or "It could not be carried out."))
    return " ".join(dict.fromkeys(reasons))


def try_again(ws: Workspace, thread: Thread) -> Thread:
    """Our owner wants what failed tried once more: it may be proposed as it was."""
    left = tuple(value_id for value_id in thread.ruled_out if _kind(ws, value_id) != FAILED)
    return chosen_by_people(ws, ws.change(thread, ruled_out=left))


def _kind(ws: Workspace, value_id: str) -> Json:
    return as_object(ws.read(value_id)).get("kind")


def wish(ws: Workspace, thread: Thread, *names: str) -> Json:
    """What was last asked for in place of a proposal, for one of these fields; None when nothing was."""
    for value in reversed(remembered(ws, thread)):
        asked = as_object(value.get("wish"))
        if asked.get("field") in names:
            return asked.get("suggestion")
    return None


def wished_slot(ws: Workspace, view: View) -> Span | None:
    """The slot that was last asked for in place of a proposal, as far as it can be read."""
    thread = view.thread
    values = remembered(ws, thread)
    for value in reversed(values):
        wanted = _span(value.get("slot_wanted"))
        if wanted is not None:
            return wanted
    suggestion = wish(ws, thread, *TIMES)
    countered = _spans([value.get("slot") for value in values])
    if not isinstance(suggestion, str) or view.goal is None or not countered:
        return None
    said = view.theirs.get("timezone")
    zone = said if isinstance(said, str) and zone_named(said) is not None else zone_of(ws)
    day = formats.write_date(countered[-1].start, zone_of_owner(zone))
    asked = {"date": day, "time": suggestion, "timezone": zone}
    reading = windows.read_slot(asked, timezone=zone, minutes=view.goal.minutes, now=ws.now)
    if not reading.spans:
        reading = windows.read_windows(suggestion, timezone=zone, proposed_date=day, now=ws.now)
    return reading.spans[0] if len(reading.spans) == 1 else None
