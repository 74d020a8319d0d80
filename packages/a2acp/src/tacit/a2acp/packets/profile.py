"""What is made of a packet for a peer that can do less, or takes less, than we do.

A2ACP-043, A2ACP-236, A2ACP-238, A2ACP-240, A2ACP-278.

A peer that names no features, or speaks 0.1, has plain negotiation: alternatives, a new intent and a fork
reach it as text, our added types not at all; the thread goes on. What comes out is sent like any other
packet, so this stands before the permission filter. Knows nothing of threads: what becomes of a fork's
children is for whoever forks.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, cast

from tacit.a2acp.packets import schemas
from tacit.a2acp.packets.formats import HINTS_FIELD
from tacit.base.errors import Refused
from tacit.base.strict_json import canonical
from tacit.wire import codes, version

if TYPE_CHECKING:
    from tacit.a2acp.packets.shapes import Fields

PROFILE_0_1: Final = frozenset(
    {
        schemas.CONTEXT,
        schemas.CONTEXT_REQUEST,
        schemas.CONTEXT_RESPONSE,
        schemas.RESOLUTION,
        schemas.RESOLUTION_RESPONSE,
    }
)
"""The types of version 0.1 (A2ACP-240)."""

_NEEDS_FEATURE: Final = {
    schemas.THREAD_FORK: version.THREAD_FORKING,
    schemas.THREAD_STATUS: version.THREAD_STATUS,
    schemas.THREAD_SYNC: version.THREAD_SYNC,
    schemas.COORDINATOR_TRANSFER: version.MULTI_PARTY,
    schemas.COORDINATOR_TRANSFER_RESPONSE: version.MULTI_PARTY,
}
_BESIDE: Final = ("permissions", "capabilities", HINTS_FIELD)


def downgraded(
    packet_type: str, body: Fields, features: frozenset[str], spoken: str
) -> tuple[str, Fields] | None:
    """A packet as a peer with these features takes it, in a thread of this version; None: not sent at all."""
    usable = version.usable_features(features, spoken)
    plain = not features or not version.usable_features(version.SINCE, spoken) > {version.CONTEXT_NEGOTIATION}
    if packet_type == schemas.RESOLUTION and version.RESOLUTION_WITH_ALTERNATIVES not in usable:
        return packet_type, _without_alternatives(body)
    understood = packet_type in PROFILE_0_1 if plain else _NEEDS_FEATURE.get(packet_type, "") in {"", *usable}
    if understood:
        return packet_type, body
    match packet_type:
        case schemas.INTENT_UPDATE:
            return schemas.CONTEXT, _update_as_context(body)
        case schemas.THREAD_FORK:
            return schemas.CONTEXT, _fork_as_context(body)
        case schemas.PROCESSING_ERROR:
            return schemas.CONTEXT, _error_as_context(body)
        case _:
            return None


def _without_alternatives(body: Fields) -> Fields:
    proposal = cast("dict[str, Any]", body["proposal"])
    others = cast("list[dict[str, str]]", proposal.get("alternatives") or [])
    kept = {name: value for name, value in proposal.items() if name != "alternatives"}
    if others:
        told = "; ".join(
            f"{one['summary']} ({one['reason']})" if one.get("reason") else one["summary"] for one in others
        )
        kept["reasoning"] = " ".join(filter(None, [kept.get("reasoning", ""), f"Also possible: {told}."]))
    return {**body, "proposal": kept}


def _context(body: Fields, intent: Fields, context: Fields, **more: object) -> Fields:
    beside = {name: body[name] for name in _BESIDE if name in body}
    return {"intent": intent, "context": context, **more, **beside}


def _intent(category: str, summary: str, urgency: str = "normal") -> Fields:
    return {"category": category, "summary": summary, "urgency": urgency}


def _update_as_context(body: Fields) -> Fields:
    new = body["updated_intent"]
    needs = body.get("additional_context_needed")
    more = {"needs": needs} if needs else {}
    intent = _intent(new["category"], new["summary"], new.get("urgency", "normal"))
    return _context(body, intent, {}, reason=body["reason"], **more)


def _fork_as_context(body: Fields) -> Fields:
    intents = [child["intent"] for child in body["new_threads"]]
    told = "To be arranged separately: " + "; ".join(intent["summary"] for intent in intents)
    return _context(body, _intent(intents[0]["category"], told), dict(body.get("shared_context", {})))


def _error_as_context(body: Fields) -> Fields:
    return _context(body, _intent(schemas.PROCESSING_ERROR, "This agent cannot go on at the moment."), {})


def trimmed(body: Fields, limit: int, keep: frozenset[str] = frozenset()) -> Fields:
    """A body whose serialised `context` has at most `limit` bytes, the largest optional fields left out.

    `Refused` with `too_large` when those to keep are too large by themselves. `permissions` still name
    exactly what is carried; what is left out for its size is not withheld.
    """
    context = cast("Fields", body.get("context", {}))
    spare = sorted(
        (name for name in context if name not in keep), key=lambda name: (-_size({name: context[name]}), name)
    )
    kept = dict(context)
    while _size(kept) > limit:
        if not spare:
            raise Refused(codes.TOO_LARGE, "the context is larger than the peer takes", row="A2ACP-043")
        del kept[spare.pop(0)]
    if len(kept) == len(context):
        return body
    found = {**body, "context": kept}
    if "permissions" in body:
        gone = context.keys() - kept.keys()
        shared = [name for name in body["permissions"]["shared_fields"] if name not in gone]
        found["permissions"] = {**body["permissions"], "shared_fields": shared}
    return found


def _size(value: Fields) -> int:
    return len(canonical(value))
