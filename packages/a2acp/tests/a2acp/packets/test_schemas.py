import copy

import pytest

from tacit.a2acp.packets import formats, packet, schemas
from tacit.a2acp.packets.shapes import MalformedPacket
from tacit.base.errors import Refused
from tests.conformance.write_packet_vectors import BODIES, NEED


def refused(kind, body):
    with pytest.raises(Refused) as found:
        schemas.check_out(kind, body)
    assert found.value.code == "bad_packet"
    return found.value


@pytest.mark.spec("A2ACP-058")
def test_an_unknown_type_is_a_context_with_an_empty_intent_and_an_empty_context():
    found = schemas.normalised("hologram", {"type": "hologram", "depth": 3})
    assert found == {
        "type": "context", "depth": 3, "intent": {"category": "", "summary": "", "urgency": "normal"}, "context": {},
    }  # fmt: skip
    assert schemas.known_type("hologram") == "context"
    assert schemas.known_type("resolution") == "resolution"


@pytest.mark.spec("A2ACP-058")
@pytest.mark.parametrize("odd", ["dinner", {"category": 1}, None, []])
def test_an_unknown_type_keeps_what_it_says_and_loses_an_intent_of_no_known_shape(odd):
    said = {"intent": {"category": "x", "summary": "y"}, "context": {"a": 1}}
    assert schemas.normalised("hologram", said) == {
        "intent": {"category": "x", "summary": "y", "urgency": "normal"}, "context": {"a": 1},
    }  # fmt: skip
    assert schemas.normalised("hologram", {"intent": odd})["intent"]["summary"] == ""


@pytest.mark.spec("A2ACP-148")
@pytest.mark.parametrize("kind", ["resolution_response", "context", "hologram"])
def test_a_real_reason_that_came_is_erased(kind):
    body = {**BODIES.get(kind, {}), "actual_reason": "I am tired"}
    assert schemas.normalised(kind, body)["actual_reason"] is None
    assert "tired" not in str(schemas.normalised(kind, body))
    assert body["actual_reason"] == "I am tired"


@pytest.mark.spec("A2ACP-139")
@pytest.mark.parametrize("kind", ["context_response", "hologram"])
def test_a_hint_that_came_is_discarded(kind):
    body = {
        "context_unavailable": [{"field": "dietary", "status": "declined", "hint": {"ask": "her doctor"}}]
    }
    kept = schemas.normalised(kind, body)["context_unavailable"]
    assert kept == [{"field": "dietary", "status": "declined", "hint": None}]


@pytest.mark.spec("A2ACP-197")
@pytest.mark.parametrize("rule", ["first_write_wins", "Last_Write_Wins", ""])
def test_a_space_whose_conflicts_end_in_another_way_is_not_entered(rule):
    invited = copy.deepcopy(BODIES["space_invite"])
    schemas.check_in("space_invite", invited)
    invited["space"]["conflict_resolution"] = rule
    with pytest.raises(MalformedPacket, match="conflict_resolution"):
        schemas.check_in("space_invite", invited)


@pytest.mark.spec("A2ACP-036")
def test_words_are_read_absent_ones_filled_in_and_everything_else_kept():
    body = {
        "intent": {"category": "c", "summary": "s", "urgency": "yesterday", "mood": 3},
        "context": {"flexibility": {"date": "a bit"}, "x": [1]},
        "needs": [
            {"field": "f", "reason": "r"},
            {"field": "g", "reason": "r", "priority": "vital", "why": 0},
        ],
        "escalation": None,
        "permissions": "all",
        "mood": "fine",
    }
    before = copy.deepcopy(body)
    assert schemas.normalised("context", body) == {
        "intent": {"category": "c", "summary": "s", "urgency": "normal", "mood": 3},
        "context": {"flexibility": {"date": "a bit"}, "x": [1]},
        "needs": [
            {"field": "f", "reason": "r", "priority": "nice_to_have"},
            {"field": "g", "reason": "r", "priority": "nice_to_have", "why": 0},
        ],
        "mood": "fine",
    }
    assert body == before


@pytest.mark.spec("A2ACP-036", "A2ACP-053", "A2ACP-155")
@pytest.mark.parametrize(
    ("kind", "changes", "kept"),
    [
        ("resolution", {"confirmation_timeout": "a day", "on_timeout": "panic"}, {"confirmation_timeout": "PT24H", "on_timeout": "expire"}),
        ("resolution", {"confirmation_timeout": "PT2H"}, {"confirmation_timeout": "PT2H"}),
        ("resolution_response", {"status": "perhaps"}, {"status": "counter", "change_request": {"field": "", "suggestion": None}}),
        ("resolution_response", {"reason_class": None}, {"reason_class": "user_declined"}),
        ("resolution_response", {"reason_class": "tired"}, {"reason_class": "user_declined"}),
        ("resolution_response", {"reason_class": "budget_conflict"}, {"reason_class": "budget_conflict"}),
        ("intent_update", {"updated_intent": {"category": "", "summary": "", "scope_change": "moved"}}, {"updated_intent": {"category": "", "summary": "", "scope_change": "changed"}}),
        ("thread_status", {"state": "DREAMING"}, {"state": ""}),
    ],
)  # fmt: skip
def test_what_cannot_be_read_becomes_what_is_safe(kind, changes, kept):
    body = {**BODIES[kind], **changes}
    schemas.check_in(kind, body)
    assert {name: schemas.normalised(kind, body)[name] for name in kept} == kept


@pytest.mark.spec("A2ACP-045")
def test_a_coordinator_s_context_may_hold_what_was_gathered_in_place_of_a_context():
    body = {"intent": {"category": "", "summary": ""}, "aggregated_context": {"participants": []}}
    schemas.check_in("context", body)
    assert schemas.normalised("context", body)["context"] == {}
    refused("context", body)


@pytest.mark.spec("A2ACP-053")
def test_a_confirmation_names_the_proposal_it_confirms():
    with pytest.raises(packet.MalformedPacket):
        schemas.check_in("resolution_response", {"status": "confirmed"})
    schemas.check_in("resolution_response", {"status": "declined"})


def test_a_type_that_is_not_built_is_not_sent():
    assert refused("telepathy", {}).row == "A2ACP-057"


def test_a_refusal_names_no_value_and_no_name_that_was_passed():
    for body in (
        {**BODIES["context"], "secret_name": "secret value"},
        {**BODIES["context"], "needs": "secret"},
    ):
        assert "secret" not in str(refused("context", body))
    with pytest.raises(packet.MalformedPacket) as found:
        schemas.check_in("context", {**BODIES["context"], "needs": [{"field": "secret", "reason": " "}]})
    assert "secret" not in str(found.value)


@pytest.mark.spec("A2ACP-235", "A2ACP-073")
def test_what_opens_a_thread_passes_and_half_of_it_does_not():
    body = {**BODIES["context"], "capabilities": packet.capabilities()}
    body = formats.hinted(body, first=True)
    schemas.check_out("context", body)
    for block in ("capabilities", "_format_hints"):
        for name in body[block]:
            without = {key: value for key, value in body[block].items() if key != name}
            assert refused("context", {**body, block: without}).row in {"A2ACP-235", "A2ACP-073"}


@pytest.mark.spec("A2ACP-039")
def test_shared_fields_are_the_keys_that_are_sent_less_the_structural_ones():
    body = {
        "context": {
            "dietary": 1,
            "flexibility": {},
            "conflict": {},
            "proposed_alternatives": [],
            "budget_range": 2,
        },
        "context_provided": {"dietary": 3, "transport_mode": 4},
        "shared_context": {"date": 5},
        "proposal": {"details": {"venue": 6}},
    }
    assert schemas.shared_fields(body) == ("dietary", "budget_range", "transport_mode", "date")
    assert schemas.shared_fields({"context": []}) == ()


@pytest.mark.spec("A2ACP-039", "A2ACP-040")
def test_what_is_shared_is_said_and_what_is_withheld_is_a_name_alone():
    body = {"needs": [NEED], "context_provided": {"dietary": ["none"]}}
    said = {"shared_fields": ["dietary"], "withheld_fields": ["health_info"], "consent_level": "implicit"}
    schemas.check_out("context_request", {**body, "permissions": said})
    assert refused("context_request", body).row == "A2ACP-039"
    told = {**said, "withheld_fields": [{"field": "health_info", "tier": "never_share"}]}
    assert refused("context_request", {**body, "permissions": told})
    both = {**said, "withheld_fields": ["dietary"]}
    assert refused("context_request", {**body, "permissions": both}).row == "A2ACP-040"
