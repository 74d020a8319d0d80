"""The packet vectors, written by `python -m tests.conformance.write_packet_vectors`."""

import json

from tacit.a2acp.io import data

FOLDER = data.vectors() / "a2acp-packets"
ALICE, BOB = "agent:alice@a2acp.io", "agent:bob@a2acp.io"
HEADER = {
    "protocol": "a2acp/0.2", "packet_id": "pkt_a1b2c3d4", "thread_id": "thr_x9y8z7", "from": ALICE, "to": BOB,
    "timestamp": "2026-03-21T14:30:00Z",
}  # fmt: skip
DELETED = object()
BOTH = ["received", "sent"]
NEED = {"field": "time_windows", "reason": "to find overlap", "priority": "required"}
INTENT = {"category": "scheduling", "summary": "Dinner on Friday", "urgency": "low"}
WINDOW = {"date": "2026-03-27", "time": "18:00+00:00/21:00+00:00"}


def permitted(*shared, withheld=(), level="user_approved"):
    return {"shared_fields": [*shared], "withheld_fields": [*withheld], "consent_level": level}


BODIES = {
    "context": {
        "intent": INTENT,
        "context": {"event_type": "dinner", "time_windows": [WINDOW], "flexibility": {"date": "flexible"}},
        "needs": [NEED],
        "permissions": permitted("event_type", "time_windows"),
        "_format_hints": {
            "dates": "ISO 8601 (YYYY-MM-DD)", "times": "24h format with timezone (HH:MM\u00b1HH:MM)",
            "currency": "ISO 4217 code + amount (GBP 30)", "coordinates": "decimal degrees (lat, lng)",
            "durations": "ISO 8601 duration (PT1H30M)",
        },
        "capabilities": {
            "supported_versions": ["0.1", "0.2"], "features": ["context_negotiation"],
            "max_context_size_bytes": 65536, "supported_encryption": ["x25519-xchacha20-poly1305"],
        },
    },
    "context_request": {
        "needs": [NEED], "context_provided": {"dietary": ["none"]}, "permissions": permitted("dietary"),
    },
    "context_response": {
        "context_provided": {"transport_mode": "driving"},
        "context_unavailable": [{"field": "cuisine_preference", "status": "declined", "hint": None}],
        "permissions": permitted("transport_mode", withheld=["cuisine_preference"]),
    },
    "intent_update": {
        "previous_intent": {"category": "scheduling", "summary": "Dinner"},
        "updated_intent": {"category": "scheduling", "summary": "Game night", "scope_change": "expanded"},
        "reason": "games were suggested",
        "additional_context_needed": [{**NEED, "field": "game_preferences"}],
    },
    "thread_fork": {
        "parent_thread_id": "thr_x9y8z7",
        "new_threads": [
            {"thread_id": "thr_dinner", "intent": {"category": "scheduling", "summary": "Dinner at 19:00"}},
            {"thread_id": "thr_games", "intent": {"category": "scheduling", "summary": "Games at 21:00"}},
        ],
        "shared_context": {"date": "2026-03-27"},
        "permissions": permitted("date", level="user_preauthorised"),
    },
    "resolution": {
        "proposal": {
            "summary": "Dinner, Friday 27 March, 19:00",
            "details": {"event_type": "dinner", "date": "2026-03-27", "time": "19:00+00:00/21:00+00:00"},
            "alternatives": [{"summary": "19:30 instead", "reason": "more tables"}],
            "reasoning": "both are free",
        },
        "requires_confirmation_from": [ALICE, BOB],
        "actions_on_confirm": [
            {"action": "add_calendar_event", "requires_user_approval": True, "reversible": True},
            {"action": "book_table", "service": "restaurant", "requires_user_approval": True, "reversible": False,
             "executor": "proposer"},
        ],
        "confirmation_timeout": "PT24H",
        "on_timeout": "remind_then_expire",
    },
    "resolution_response": {
        "status": "declined", "in_reply_to": "pkt_e5f6g7h8", "reason_class": "scheduling_conflict",
        "message_to_other_agent": "Friday does not work after all.", "actual_reason": None,
    },
    "processing_error": {"code": "generation_failed", "in_reply_to": "pkt_e5f6g7h8", "retry_expected": True},
    "thread_status": {
        "state": "COMPLETED", "closed_reason": "done",
        "action_results": [{"action_id": "act_1", "action": "book_table", "status": "failed", "reason": "full"}],
    },
    "thread_sync": {"state": "open", "sent_ids": ["pkt_a1b2c3d4"], "received_ids": [], "answer": False},
    "coordinator_transfer": {
        "from_coordinator": ALICE, "to_coordinator": BOB,
        "reason": "Bob's agent has calendar integration with all participants", "requires_acceptance": True,
        "confirmation": {"mode": "quorum", "quorum": 3},
    },
    "coordinator_transfer_response": {"in_reply_to": "pkt_e5f6g7h8", "accepted": True},
    "space_invite": {
        "space": {
            "space_id": "spc_project_alpha", "title": "Side Quests", "creator": "agent:alice@a2acp.io",
            "participants": ["agent:alice@a2acp.io"], "created": "2026-03-15T10:00:00Z", "version": 7,
            "conflict_resolution": "last_write_wins_per_field",
        },
        "write_level": "full-write",
    },
    "space_invite_response": {"space_id": "spc_project_alpha", "accepted": True},
    "space_update": {
        "space_id": "spc_project_alpha",
        "changes": [
            {"field": "status", "value": "active", "v": 2, "at": "2026-03-20T10:00:00Z", "mark": "00ff"},
            {"field": "decisions/itm_1", "deleted": True, "v": 3, "at": "2026-03-20T10:00:00Z"},
        ],
        "members": {"agent:bob@a2acp.io": {"level": "read-all", "v": 2, "status": "joined"}},
        "field_versions": {"phase": {"v": 1, "at": "2026-03-20T10:00:00Z", "by": "agent:bob@a2acp.io"}},
        "answer": False,
        "wanted": ["status"],
        "returned": [{"field": "phase", "value": "playtesting", "v": 1, "at": "2026-03-20T10:00:00Z"}],
    },
}  # fmt: skip


def changed(value, path, new):
    """A copy with one place set, or deleted."""
    head, *rest = path
    copy = list(value) if isinstance(value, list) else dict(value)
    if rest:
        copy[head] = changed(copy[head], rest, new)
    elif new is DELETED:
        del copy[head]
    else:
        copy[head] = new
    return copy


def packet(kind, *changes):
    found = {**HEADER, "type": kind, **BODIES.get(kind, {})}
    for path, new in changes:
        found = changed(found, path.split(".") if isinstance(path, str) else path, new)
    return found


def valid():
    yield from (
        vector(f"a {kind} with all it may have", ["A2ACP-025"], packet(kind), BOTH) for kind in BODIES
    )
    taken = [
        ("an intent without urgency", "A2ACP-036", "context", [("intent.urgency", DELETED)]),
        ("an urgency nobody knows", "A2ACP-036", "context", [("intent.urgency", "yesterday")]),
        ("a need without priority", "A2ACP-036", "context", [(("needs", 0, "priority"), DELETED)]),
        ("a priority nobody knows", "A2ACP-036", "context", [(("needs", 0, "priority"), "vital")]),
        ("a flexibility nobody knows", "A2ACP-036", "context", [("context.flexibility", {"date": "a bit"})]),
        ("a consent level nobody knows", "A2ACP-036", "context", [("permissions.consent_level", "sure")]),
        ("a context of anything", "A2ACP-034", "context", [("context", {"": [None, {"deep": 0.5}], "flexibility": 3})]),
        ("no permissions", "A2ACP-039", "context", [("permissions", DELETED)]),
        ("permissions that name too little", "A2ACP-039", "context", [("permissions.shared_fields", [])]),
        ("permissions of no known shape", "A2ACP-242", "context", [("permissions", "all")]),
        ("unknown members", "A2ACP-242", "context", [("mood", "fine"), ("intent.mood", 3)]),
        ("an optional member that is null", "A2ACP-242", "context", [("needs", None)]),
        ("a sixth need", "A2ACP-106", "context", [("needs", [NEED] * 6)]),
        ("a sixth need in a request", "A2ACP-106", "context_request", [("needs", [NEED] * 6)]),
        ("a hint", "A2ACP-139", "context_response", [(("context_unavailable", 0, "hint"), "ask my wife")]),
        ("a scope change nobody knows", "A2ACP-036", "intent_update", [("updated_intent.scope_change", "moved")]),
        ("a timeout that is no duration", "A2ACP-075", "resolution", [("confirmation_timeout", "a day")]),
        ("an end of time nobody knows", "A2ACP-050", "resolution", [("on_timeout", "panic")]),
        ("an alternative without reason", "A2ACP-050", "resolution", [(("proposal", "alternatives", 0, "reason"), DELETED)]),
        ("a decline without its class", "A2ACP-052", "resolution_response", [("reason_class", DELETED)]),
        ("a decline that names no proposal", "A2ACP-053", "resolution_response", [("in_reply_to", DELETED)]),
        ("an answer nobody knows", "A2ACP-036", "resolution_response", [("status", "perhaps")]),
        ("a real reason", "A2ACP-148", "resolution_response", [("actual_reason", "I am tired")]),
        ("a state nobody knows", "A2ACP-036", "thread_status", [("state", "DREAMING")]),
    ]  # fmt: skip
    for name, row, kind, changes in taken:
        yield vector(name, [row], packet(kind, *changes), ["received"])
    sendable = [
        ("a confirmation", "A2ACP-053", {"status": "confirmed", "in_reply_to": "pkt_e5f6g7h8", "selected_alternative": 0}),
        ("a counter-proposal", "A2ACP-053", {"status": "counter", "in_reply_to": "pkt_e5f6g7h8", "change_request": {"field": "time", "suggestion": "20:00+00:00/22:00+00:00"}}),
    ]  # fmt: skip
    for name, row, body in sendable:
        yield vector(name, [row], {**HEADER, "type": "resolution_response", **body}, BOTH)
    refused = {"context_unavailable": [{"field": "dietary", "status": "not_available", "hint": None}]}
    yield vector("only refusals", ["A2ACP-047"], {**HEADER, "type": "context_response", **refused}, BOTH)
    yield vector(
        "an empty context", ["A2ACP-039"], packet("context", ("context", {}), ("permissions", DELETED)), BOTH
    )
    unknown = {**HEADER, "type": "hologram", "depth": 3}
    yield vector("a type nobody knows", ["A2ACP-058"], unknown, ["received"])
    yield vector("its intent of no known shape", ["A2ACP-058"], {**unknown, "intent": "dinner"}, ["received"])


def vector(name, rows, found, modes):
    return {"name": name, "rows": rows, "modes": modes, "packet": found}


_HEADER_FAULTS = [
    *((f"no {name}", "A2ACP-025", name, DELETED) for name in (*HEADER, "type")),
    ("a protocol of another form", "A2ACP-026", "protocol", "a2acp/x"),
    ("a packet id without letters", "A2ACP-027", "packet_id", "pkt_"),
    ("a thread id with a line's end", "A2ACP-027", "thread_id", "thr_x9y8z7\n"),
    ("a timestamp without its Z", "A2ACP-028", "timestamp", "2026-03-21T14:30:00"),
    ("a sender who is no address", "A2ACP-025", "from", "alice"),
    ("a negative seq", "A2ACP-030", "seq", -1),
]
_SHAPE_FAULTS = [
    ("no intent", "A2ACP-045", "context", "intent", DELETED),
    ("an intent without category", "A2ACP-033", "context", "intent.category", DELETED),
    ("an intent without summary", "A2ACP-033", "context", "intent.summary", DELETED),
    ("an urgency that is no word", "A2ACP-033", "context", "intent.urgency", 3),
    ("no context", "A2ACP-045", "context", "context", DELETED),
    ("a context that is a list", "A2ACP-034", "context", "context", []),
    ("a need without field", "A2ACP-035", "context", ("needs", 0, "field"), DELETED),
    ("a need with a blank reason", "A2ACP-035", "context", ("needs", 0, "reason"), " "),
    ("an escalation without recommendation", "A2ACP-045", "context", "escalation", {"reason": "x", "suggested_prompt": "y"}),
    ("a request without needs", "A2ACP-046", "context_request", "needs", DELETED),
    ("a request with no need", "A2ACP-046", "context_request", "needs", []),
    ("provided context that is a list", "A2ACP-046", "context_request", "context_provided", []),
    ("an unavailable field without name", "A2ACP-047", "context_response", ("context_unavailable", 0, "field"), DELETED),
    ("an unavailable field without status", "A2ACP-047", "context_response", ("context_unavailable", 0, "status"), DELETED),
    ("an update without the former intent", "A2ACP-048", "intent_update", "previous_intent", DELETED),
    ("an update without the new intent", "A2ACP-048", "intent_update", "updated_intent", DELETED),
    ("an update without scope change", "A2ACP-048", "intent_update", "updated_intent.scope_change", DELETED),
    ("an update without reason", "A2ACP-048", "intent_update", "reason", DELETED),
    ("a further need without reason", "A2ACP-048", "intent_update", ("additional_context_needed", 0, "reason"), DELETED),
    ("a fork without parent", "A2ACP-049", "thread_fork", "parent_thread_id", DELETED),
    ("a fork without children", "A2ACP-049", "thread_fork", "new_threads", []),
    ("a child without intent", "A2ACP-049", "thread_fork", ("new_threads", 0, "intent"), DELETED),
    ("a child whose id is a packet's", "A2ACP-049", "thread_fork", ("new_threads", 0, "thread_id"), "pkt_dinner"),
    ("shared context that is text", "A2ACP-049", "thread_fork", "shared_context", "Friday"),
    ("a resolution without proposal", "A2ACP-050", "resolution", "proposal", DELETED),
    ("a proposal without summary", "A2ACP-050", "resolution", "proposal.summary", DELETED),
    ("a proposal without details", "A2ACP-050", "resolution", "proposal.details", DELETED),
    ("details that are text", "A2ACP-050", "resolution", "proposal.details", "Friday"),
    ("an alternative without summary", "A2ACP-050", "resolution", ("proposal", "alternatives", 0, "summary"), DELETED),
    ("nobody to confirm", "A2ACP-050", "resolution", "requires_confirmation_from", []),
    ("a confirmer who is no address", "A2ACP-050", "resolution", ("requires_confirmation_from", 0), "alice"),
    ("no time to confirm", "A2ACP-050", "resolution", "confirmation_timeout", DELETED),
    ("nothing said of its end", "A2ACP-050", "resolution", "on_timeout", DELETED),
    ("an action without name", "A2ACP-051", "resolution", ("actions_on_confirm", 0, "action"), DELETED),
    ("an action that may need approval", "A2ACP-051", "resolution", ("actions_on_confirm", 0, "requires_user_approval"), DELETED),
    ("an action that may be undone", "A2ACP-051", "resolution", ("actions_on_confirm", 0, "reversible"), DELETED),
    ("an action undone by a word", "A2ACP-051", "resolution", ("actions_on_confirm", 0, "reversible"), "yes"),
    ("an answer without status", "A2ACP-052", "resolution_response", "status", DELETED),
    ("an answer to something that is no packet", "A2ACP-053", "resolution_response", "in_reply_to", "thr_x9y8z7"),
    ("an alternative before the first", "A2ACP-053", "resolution_response", "selected_alternative", -1),
    ("a counter that says nothing", "A2ACP-053", "resolution_response", "status", "counter"),
    ("an error without code", "A2ACP-056", "processing_error", "code", DELETED),
    ("an error nobody knows", "A2ACP-057", "processing_error", "code", "oops"),
    ("a status without state", "A2ACP-057", "thread_status", "state", DELETED),
    ("a result without status", "A2ACP-057", "thread_status", ("action_results", 0, "status"), DELETED),
    ("a summary without what was sent", "A2ACP-057", "thread_sync", "sent_ids", DELETED),
    ("a summary of numbers", "A2ACP-057", "thread_sync", "received_ids", [1]),
    ("an invitation without its space", "A2ACP-201", "space_invite", "space", DELETED),
    ("a level nobody knows", "A2ACP-202", "space_invite", "write_level", "owner"),
    ("a space without its id", "A2ACP-201", "space_update", "space_id", DELETED),
    ("a space by another name", "A2ACP-201", "space_invite_response", "space_id", "project_alpha"),
    ("a change without its field", "A2ACP-201", "space_update", ("changes", 0, "field"), DELETED),
    ("a change without its count", "A2ACP-201", "space_update", ("changes", 0, "v"), DELETED),
    ("a change that was never made", "A2ACP-201", "space_update", ("changes", 0, "v"), 0),
    ("a change beyond any count", "A2ACP-201", "space_update", ("changes", 0, "v"), 2**63),
    ("versions as a list", "A2ACP-200", "space_update", "field_versions", []),
]  # fmt: skip
_SENT_FAULTS = [
    ("an urgency of our own", "A2ACP-036", "context", "intent.urgency", "high"),
    ("an intent without urgency", "A2ACP-033", "context", "intent.urgency", DELETED),
    ("a priority of our own", "A2ACP-036", "context", ("needs", 0, "priority"), "vital"),
    ("six needs", "A2ACP-046", "context", "needs", [{**NEED, "field": f"f{each}"} for each in range(6)]),
    ("six needs in a request", "A2ACP-046", "context_request", "needs", [{**NEED, "field": f"f{each}"} for each in range(6)]),
    ("a flexibility of our own", "A2ACP-041", "context", "context.flexibility", {"date": "a bit"}),
    ("a conflict without its values", "A2ACP-045", "context", "context.conflict", {"type": "no_overlap", "field": "time_windows"}),
    ("a member that the type does not have", "A2ACP-045", "context", "health_info", "none"),
    ("a member that a need does not have", "A2ACP-035", "context", ("needs", 0, "because"), "x"),
    ("hints without durations", "A2ACP-073", "context", ("_format_hints", "durations"), DELETED),
    ("capabilities without versions", "A2ACP-235", "context", "capabilities.supported_versions", DELETED),
    ("a recommendation of our own", "A2ACP-045", "context", "escalation", {"recommend": "shout", "reason": "x", "suggested_prompt": "y"}),
    ("a hint", "A2ACP-139", "context_response", ("context_unavailable", 0, "hint"), "ask my wife"),
    ("a refusal with its reason", "A2ACP-047", "context_response", ("context_unavailable", 0, "reason"), "private"),
    ("a scope change of our own", "A2ACP-036", "intent_update", "updated_intent.scope_change", "moved"),
    ("a fork into one", "A2ACP-049", "thread_fork", "new_threads", BODIES["thread_fork"]["new_threads"][:1]),
    ("a timeout that is no duration", "A2ACP-050", "resolution", "confirmation_timeout", "a day"),
    ("a timeout of no time", "A2ACP-050", "resolution", "confirmation_timeout", "PT0S"),
    ("an end of time of our own", "A2ACP-050", "resolution", "on_timeout", "panic"),
    ("a confirmer twice", "A2ACP-050", "resolution", "requires_confirmation_from", [ALICE, ALICE]),
    ("an executor who is nobody", "A2ACP-051", "resolution", ("actions_on_confirm", 0, "executor"), "somebody"),
    ("a status of our own", "A2ACP-053", "resolution_response", "status", "perhaps"),
    ("an answer to no proposal", "A2ACP-053", "resolution_response", "in_reply_to", DELETED),
    ("a decline without its class", "A2ACP-052", "resolution_response", "reason_class", DELETED),
    ("a class of our own", "A2ACP-052", "resolution_response", "reason_class", "tired"),
    ("a real reason", "A2ACP-148", "resolution_response", "actual_reason", "I am tired"),
    ("an error with the model's words", "A2ACP-057", "processing_error", "output", "Sorry, I"),
    ("a state of our own", "A2ACP-036", "thread_status", "state", "DREAMING"),
    ("a closing reason in a sentence", "A2ACP-057", "thread_status", "closed_reason", "She said no."),
]  # fmt: skip
_PERMISSION_FAULTS = [
    ("fields without permissions", "A2ACP-039", "context", "permissions", DELETED),
    ("a field that is not declared", "A2ACP-039", "context", "permissions.shared_fields", ["event_type"]),
    ("a field that is not there", "A2ACP-039", "context", "permissions.shared_fields", ["event_type", "time_windows", "dietary"]),
    ("a structural key declared", "A2ACP-039", "context", "permissions.shared_fields", ["event_type", "time_windows", "flexibility"]),
    ("a field both ways", "A2ACP-040", "context", "permissions.withheld_fields", ["time_windows"]),
]  # fmt: skip


def invalid():
    for name, row, path, new in _HEADER_FAULTS:
        yield fault(name, row, "both", "header", packet("context", (path, new)))
    for name, row, kind, path, new in _SHAPE_FAULTS:
        yield fault(name, row, "both", "shape", packet(kind, (path, new)))
    both_parts = (("context_provided", DELETED), ("context_unavailable", DELETED), ("permissions", DELETED))
    yield fault(
        "a response with neither part", "A2ACP-047", "both", "shape", packet("context_response", *both_parts)
    )
    blind = {**HEADER, "type": "resolution_response", "status": "confirmed"}
    yield fault("a confirmation of nothing", "A2ACP-053", "both", "shape", blind)
    for name, row, kind, path, new in _SENT_FAULTS:
        yield fault(name, row, "sent", "shape", packet(kind, (path, new)))
    for name, row, kind, path, new in _PERMISSION_FAULTS:
        yield fault(name, row, "sent", "permissions", packet(kind, (path, new)))
    text = json.dumps(packet("context"))
    for name, row, written in (
        ("a member twice", "A2ACP-025", text[:-1] + ', "type": "context"}'),
        ("no JSON", "A2ACP-025", text[:-1]),
        ("a list", "A2ACP-025", f"[{text}]"),
    ):
        yield {"name": name, "rows": [row], "mode": "received", "layer": "text", "text": written}


def fault(name, row, mode, layer, found):
    return {"name": name, "rows": [row], "mode": mode, "layer": layer, "packet": found}


def files():
    return {"valid": [*valid()], "invalid": [*invalid()]}


def main():
    for name, vectors in files().items():
        lines = ",\n".join(json.dumps(one, ensure_ascii=False) for one in vectors)
        (FOLDER / f"{name}.json").write_text(f"[\n{lines}\n]\n", encoding="utf-8")


if __name__ == "__main__":
    main()
