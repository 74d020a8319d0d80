"""What a thread keeps when its purpose is another one, and what threads that it splits into begin with.

A2ACP-113, A2ACP-116, A2ACP-117.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tacit.a2acp.consent.tiers import canonical
from tacit.a2acp.packets import vocabulary
from tacit.a2acp.threads.states import Cause
from tacit.agent.consent.consenting import facts_name
from tacit.agent.kernel import records
from tacit.agent.kernel.state import GIVEN, THEM
from tacit.agent.owner import hints
from tacit.agent.scheduling import escalating
from tacit.agent.scheduling.view import AVAILABILITY, EVENT_FIELDS, LAPSED
from tacit.base.strict_json import as_object

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tacit.a2acp.packets.packet import Fields
    from tacit.agent.kernel.state import Thread
    from tacit.agent.kernel.workspace import Workspace

MOST_CHILDREN: Final = 5
DEEPEST: Final = 2


def lapse(ws: Workspace, thread_id: str, packet_id: str) -> Thread:
    """What was released, given and asked for another purpose (A2ACP-113).

    Consents lapse, so what was given under them has to be released again before it is said again. When
    somebody has time is another question for another event: it counts as neither asked nor answered.
    """
    thread = ws.thread(thread_id)
    gone = {name for name, status in thread.asked.items() if ":" not in name and status == GIVEN}
    gone |= {AVAILABILITY} & thread.asked.keys()
    asked = {name: status for name, status in thread.asked.items() if name not in gone}
    asked |= {f"{name}{LAPSED}": GIVEN for name in sorted(gone)}
    wants = outlasting(thread.wants)
    refused = tuple(one for one in thread.refused if one != AVAILABILITY)
    return ws.change(
        thread, approved={}, asked=asked, wants=wants, refused=refused, ruled_out=(), changed_by=packet_id
    )


def outlasting(wants: Mapping[str, str]) -> dict[str, str]:
    """What we have asked for that holds for another purpose too."""
    gone = {AVAILABILITY, f"{AVAILABILITY}:clarified", escalating.WIDENED}
    return {name: status for name, status in wants.items() if name not in gone}


def for_children(fields: Fields, ws: Workspace, *, timely: bool) -> Fields:
    """What was told in a parent and holds for each of its children."""
    return {
        name: value
        for name, value in fields.items()
        if name not in EVENT_FIELDS and (timely or canonical(ws.policy, name) != AVAILABILITY)
    }


def fork(
    ws: Workspace, thread: Thread, packet_id: str, side: str, children: list[tuple[str, Fields, str]]
) -> None:
    """Begin the children and close the parent; answers and consents carry over (A2ACP-116, A2ACP-117)."""
    ids = tuple(one for one, _, _ in children)
    shared = as_object(ws.packet(thread, packet_id, side).get("shared_context"))
    # Whoever has told no times for the children is asked for them: those of the parent were another matter.
    timely = any(canonical(ws.policy, one) == AVAILABILITY for one in shared)
    for child, intent, goal in children:
        urgent = vocabulary.urgency(intent.get("urgency")) == "urgent" or thread.urgent
        ws.say(
            records.Began(
                child,
                thread.peer,
                ours=side != THEM,
                urgent=urgent,
                goal=goal,
                intent=ws.keep(thread.peer, {"urgency": "normal", **intent}),
                parent=thread.thread_id,
                siblings=tuple(one for one in ids if one != child),
                depth=thread.depth + 1,
                approved=_carried(thread.approved, timely=timely),
                asked=_carried(thread.asked, timely=timely),
                wants=_carried(thread.wants, timely=timely),
                project=intent.get("category") == hints.PROJECT,
            )
        )
        ws.change(child, refused=tuple(one for one in thread.refused if one != AVAILABILITY))
        if (facts := ws.read(facts_name(thread.thread_id))) is not None:
            ws.keep(thread.peer, facts, name=facts_name(child))
        ws.say(records.Entered(child, packet_id, side, "thread_fork"))
        if side == THEM:
            ws.change(child, consider=packet_id)
    ws.close(thread.thread_id, Cause.FORKED, "forked")


def _carried(known: dict[str, str], *, timely: bool) -> dict[str, str]:
    """What of a parent's answers or consents holds in its children (A2ACP-117)."""
    return {
        name: value
        for name, value in known.items()
        if name != escalating.WIDENED and (timely or name.partition(":")[0] != AVAILABILITY)
    }
