"""What a packet of each type has besides fields of its owner: the keys that its type defines (A2ACP-072).

Whatever a draft has beyond them is left out, at every depth, so that nothing can hide in a key that no
filter reads. Where fields stand, the mark AREA hands them to the filter. Which of the keys must be there,
and in what form, is the schemas' matter. Knows nothing of tiers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, cast

AREA: Final = "area"
"""Fields of the owner stand here."""
TEXT: Final = "text"
"""One text, number or truth value; texts are searched for values that may not go."""
TEXTS: Final = "texts"

Shape = str | Mapping[str, Any] | list[Any]
"""AREA, TEXT, TEXTS, the keys of an object, or a list whose only element is the shape of each entry."""

_INTENT: Final = {"category": TEXT, "summary": TEXT, "urgency": TEXT}
_NEEDS: Final = [{"field": TEXT, "reason": TEXT, "priority": TEXT}]
_GROUP: Final = {
    "fanout_id": TEXT,
    "participants": TEXTS,
    "participants_digest": TEXT,
    "participants_signature": TEXT,
}
_CONFIRMATION: Final = {"mode": TEXT, "quorum": TEXT, "order": TEXTS}
_COMMON: Final = {
    "_format_hints": {"dates": TEXT, "times": TEXT, "currency": TEXT, "coordinates": TEXT, "durations": TEXT},
    "capabilities": {
        "supported_versions": TEXTS,
        "features": TEXTS,
        "max_context_size_bytes": TEXT,
        "supported_encryption": TEXTS,
    },
    **_GROUP,
}
_OPTION: Final = {"summary": TEXT, "reason": TEXT, "details": AREA}
_ACTION: Final = {
    "action": TEXT,
    "service": TEXT,
    "requires_user_approval": TEXT,
    "reversible": TEXT,
    "executor": TEXT,
    "action_id": TEXT,
}

SHAPES: Final[Mapping[str, Mapping[str, Any]]] = {
    "context": {
        **_COMMON,
        "intent": _INTENT,
        "context": AREA,
        "needs": _NEEDS,
        "escalation": {"recommend": TEXT, "reason": TEXT, "suggested_prompt": TEXT},
        "aggregated_context": AREA,
        "coordinator_recommendation": TEXT,
        "reason": TEXT,
    },
    "context_request": {**_COMMON, "intent": _INTENT, "needs": _NEEDS, "context_provided": AREA},
    "context_response": {
        **_COMMON,
        "context_provided": AREA,
        "context_unavailable": [{"field": TEXT, "status": TEXT, "hint": TEXT}],
    },
    "intent_update": {
        **_COMMON,
        "previous_intent": _INTENT,
        "updated_intent": {**_INTENT, "scope_change": TEXT},
        "reason": TEXT,
        "additional_context_needed": _NEEDS,
    },
    "thread_fork": {
        **_COMMON,
        "parent_thread_id": TEXT,
        "new_threads": [{"thread_id": TEXT, "intent": _INTENT}],
        "shared_context": AREA,
    },
    "resolution": {
        **_COMMON,
        "proposal": {"summary": TEXT, "details": AREA, "alternatives": [_OPTION], "reasoning": TEXT},
        "requires_confirmation_from": TEXTS,
        "actions_on_confirm": [_ACTION],
        "confirmation_timeout": TEXT,
        "on_timeout": TEXT,
        "confirmation": _CONFIRMATION,
        "participants_signatures": [{"agent": TEXT, "signature": TEXT}],
    },
    "resolution_response": {
        **_COMMON,
        "status": TEXT,
        "in_reply_to": TEXT,
        "selected_alternative": TEXT,
        "change_request": AREA,
        "reason_class": TEXT,
        "message_to_other_agent": TEXT,
        "actual_reason": TEXT,
    },
    "coordinator_transfer": {
        **_COMMON,
        "from_coordinator": TEXT,
        "to_coordinator": TEXT,
        "reason": TEXT,
        "requires_acceptance": TEXT,
        "aggregated_context": AREA,
        "confirmation": _CONFIRMATION,
    },
    "coordinator_transfer_response": {**_GROUP, "in_reply_to": TEXT, "accepted": TEXT, "reason": TEXT},
    "processing_error": {"code": TEXT, "in_reply_to": TEXT, "retry_expected": TEXT},
    "thread_status": {
        **_GROUP,
        "state": TEXT,
        "closed_reason": TEXT,
        "action_results": [
            {"action": TEXT, "action_id": TEXT, "status": TEXT, "executor": TEXT, "reason": TEXT}
        ],
    },
    "space_invite": {
        "space": {
            "space_id": TEXT,
            "title": TEXT,
            "creator": TEXT,
            "participants": TEXTS,
            "created": TEXT,
            "version": TEXT,
            "last_modified_by": TEXT,
            "conflict_resolution": TEXT,
        },
        "write_level": TEXT,
    },
    "space_invite_response": {"space_id": TEXT, "accepted": TEXT},
    "space_update": {
        "space_id": TEXT,
        "changes": [AREA],
        "members": AREA,
        "field_versions": AREA,
        "answer": TEXT,
        "wanted": TEXTS,
        "returned": [AREA],
        "left": TEXT,
    },
    "thread_sync": {"state": TEXT, "sent_ids": TEXTS, "received_ids": TEXTS, "answer": TEXT},
}

NOTHING: Final = object()
"""What stands for a value that was left out."""

Reader = Callable[[dict[str, object], str], object]
"""What is kept of an area, given with its path; NOTHING for none of it."""


def trimmed(shape: Shape, value: object, path: str, area: Reader) -> object:
    """The value with only what its shape defines; fields are handed to `area`."""
    if shape == AREA:
        return area(cast("dict[str, object]", value), path) if isinstance(value, dict) else NOTHING
    if shape == TEXT:
        return value if not isinstance(value, dict | list) else NOTHING
    if shape == TEXTS:
        entries = cast("list[object]", value) if isinstance(value, list) else None
        return NOTHING if entries is None else [one for one in entries if not isinstance(one, dict | list)]
    if isinstance(shape, list):
        if not isinstance(value, list):
            return NOTHING
        inner = (
            trimmed(shape[0], one, f"{path}[{place}]", area)
            for place, one in enumerate(cast("list[object]", value))
        )
        return [one for one in inner if one is not NOTHING]
    if not isinstance(value, dict):
        return NOTHING
    fields = cast("dict[str, object]", value)
    kept: dict[str, object] = {}
    for key, below in cast("Mapping[str, Shape]", shape).items():
        if key in fields:
            inner = trimmed(below, fields[key], f"{path}.{key}" if path else key, area)
            if inner is not NOTHING:
                kept[key] = inner
    return kept
