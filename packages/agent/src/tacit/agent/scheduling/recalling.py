"""What a thread remembers of proposals that came to nothing, and what was asked for in their place.

A2ACP-146, A2ACP-169, A2ACP-170, A2ACP-171. What failed, was turned down or turned out to be taken is not
proposed again; after a failure only what was offered beside it is left, until a person says otherwise. What
a counterpart asks for instead is read as data: what cannot be read for certain is nobody's wish.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, cast

from tacit.a2acp.packets import formats, windows
from tacit.a2acp.packets.zones import zone_named, zone_of_owner
from tacit.agent.consent.consenting import zone_of
from tacit.base.moment import Moment
from tacit.base.spans import Span

if TYPE_CHECKING:
    from tacit.a2acp.packets.packet import Fields
    from tacit.agent.kernel.state import Thread
    from tacit.agent.kernel.workspace import Workspace
    from tacit.agent.scheduling.view import View

FAILED: Final = "failed"
CHOSEN: Final = "chosen"
PLACES: Final = ("place", "location")
TIMES: Final = ("time", "date", "time_windows", "start")


def remembered(ws: Workspace, thread: Thread) -> list[Fields]:
    """What the thread remembers of proposals that came to nothing, oldest first."""
    found: list[Any] = [ws.read(one) for one in thread.ruled_out]
    return [cast("Fields", one) for one in found if isinstance(one, dict)]


def ruled_out_slots(ws: Workspace, thread: Thread) -> tuple[Span, ...]:
    """Slots that failed, were declined or turned out to be taken: not proposed again (A2ACP-169)."""
    found: list[Span] = []
    for value_id in thread.ruled_out:
        value: Any = ws.read(value_id)
        if isinstance(value, dict) and isinstance(cast("Fields", value).get("slot"), list):
            start, end = cast("Fields", value)["slot"]
            found.append(Span(Moment(start), Moment(end)))
    return tuple(sorted(found))


def remaining_alternatives(ws: Workspace, view: View) -> tuple[Span, ...] | None:
    """After a failed action only what was offered beside what failed (A2ACP-170); else None.

    What a person chose after that is beyond it: then everything is looked at again.
    """
    found: list[Span] | None = None
    for value in remembered(ws, view.thread):
        if value.get("kind") == CHOSEN:
            found = None
        elif value.get("kind") == FAILED:
            found = [*(found or ()), *(Span(Moment(a), Moment(b)) for a, b in value.get("beside", ()))]
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


def _kind(ws: Workspace, value_id: str) -> object:
    value: Any = ws.read(value_id)
    return cast("Fields", value).get("kind") if isinstance(value, dict) else None


def wish(ws: Workspace, thread: Thread, *names: str) -> Any:
    """What was last asked for in place of a proposal, for one of these fields; None when nothing was."""
    for value_id in reversed(thread.ruled_out):
        value: Any = ws.read(value_id)
        asked = cast("Fields", value).get("wish") if isinstance(value, dict) else None
        if isinstance(asked, dict) and cast("Fields", asked).get("field") in names:
            return cast("Fields", asked).get("suggestion")
    return None


def wished_slot(ws: Workspace, view: View) -> Span | None:
    """The slot that was last asked for in place of a proposal, as far as it can be read."""
    thread = view.thread
    for value_id in reversed(thread.ruled_out):
        value: Any = ws.read(value_id)
        wanted = cast("Fields", value).get("slot_wanted") if isinstance(value, dict) else None
        if isinstance(wanted, list):
            start, end = cast("list[int]", wanted)
            return Span(Moment(start), Moment(end))
    suggestion = wish(ws, thread, *TIMES)
    countered = [value["slot"] for value in remembered(ws, thread) if isinstance(value.get("slot"), list)]
    if not isinstance(suggestion, str) or view.goal is None or not countered:
        return None
    said: object = view.theirs.get("timezone")
    zone = said if isinstance(said, str) and zone_named(said) is not None else zone_of(ws)
    day = formats.write_date(Moment(countered[-1][0]), zone_of_owner(zone))
    asked = {"date": day, "time": suggestion, "timezone": zone}
    reading = windows.read_slot(asked, timezone=zone, minutes=view.goal.minutes, now=ws.now)
    if not reading.spans:
        reading = windows.read_windows(suggestion, timezone=zone, proposed_date=day, now=ws.now)
    return reading.spans[0] if len(reading.spans) == 1 else None
