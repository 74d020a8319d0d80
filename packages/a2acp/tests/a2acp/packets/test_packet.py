import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit.a2acp.packets import packet
from tacit.base.errors import Refused
from tacit.wire import version
from tests.post_support import ALICE, BOB, Repeatable


def fields(**changes):
    return {
        "protocol": "a2acp/0.2", "packet_id": "pkt_a1b2c3d4", "thread_id": "thr_x9y8z7", "from": ALICE, "to": BOB,
        "timestamp": "2026-03-21T14:30:00Z", "type": "context", "seq": 1,
        "intent": {"category": "scheduling", "summary": "dinner", "urgency": "low"}, "context": {"party_size": 2},
        **changes,
    }  # fmt: skip


def read(**changes):
    return packet.read(json.dumps(fields(**changes)).encode())


@pytest.mark.spec("A2ACP-025")
@pytest.mark.parametrize("name", packet.HEADER)
def test_a_packet_without_one_of_the_seven_header_fields_is_dropped_and_never_sent(name):
    without = {key: value for key, value in fields().items() if key != name}
    with pytest.raises(packet.MalformedPacket):
        packet.read(json.dumps(without).encode())
    with pytest.raises(Refused):
        packet.compose(without)


@pytest.mark.spec("A2ACP-026", "A2ACP-027", "A2ACP-028", "A2ACP-030", "A2ACP-033", "A2ACP-034", "A2ACP-035")
@pytest.mark.parametrize(
    "change",
    [
        {"protocol": "a2acp/x"},
        {"packet_id": "pkt_"},
        {"thread_id": "spc_project"},
        {"timestamp": "2026-03-21 14:30"},
        {"from": "alice"},
        {"seq": -1},
        {"seq": True},
        {"intent": "dinner"},
        {"intent": {"category": "x"}},
        {"intent": {"category": 1, "summary": "x"}},
        {"context": []},
        {"context": None},
        {"needs": {}},
        {"needs": [{"field": "x"}]},
        {"needs": [{"field": "x", "reason": " "}]},
        {"needs": [{"reason": "x"}]},
        {"needs": [{"field": " ", "reason": "x"}]},
        {"needs": ["x"]},
        {"needs": [{"field": "x", "reason": "x", "priority": 1}]},
        {"type": "context_request", "needs": []},
        {"type": "thread_sync", "state": "open", "sent_ids": [1], "received_ids": []},
        {"type": "processing_error", "code": "oops"},
        {"context": {"x": "y" * 65_536}},
    ],
)
def test_a_misshapen_packet_is_malformed(change):
    with pytest.raises(packet.MalformedPacket):
        read(**change)


@pytest.mark.spec("A2ACP-027")
def test_ids_are_26_base32_characters_and_other_forms_are_accepted():
    made = packet.identifier("pkt_", Repeatable().draw(17))
    assert len(made) == 30
    assert made[4:].isalnum()
    assert made == made.lower()
    assert read(packet_id="pkt_a1b2c3d4", thread_id="thr_gamenight").thread_id == "thr_gamenight"


@pytest.mark.spec("A2ACP-034", "A2ACP-241", "A2ACP-242", "A2ACP-227", "A2ACP-033")
def test_unknown_fields_types_and_categories_are_kept_and_never_a_fault():
    found = read(
        type="hologram", intent=None, later={"x": 1}, context={"anything": [1, {"deep": None}], "": 0.5}
    )
    assert found.fields["later"] == {"x": 1}
    assert found.fields["context"] == {"anything": [1, {"deep": None}], "": 0.5}
    assert (
        read(intent={"category": "\u2603", "summary": "", "urgency": "whenever", "mood": 3}).type == "context"
    )


@pytest.mark.spec("A2ACP-035")
def test_an_unknown_priority_is_no_fault():
    needs = [{"field": "f", "reason": "r", "priority": "vital"}]
    assert read(needs=needs).fields["needs"] == needs


@pytest.mark.spec("A2ACP-044")
def test_a_context_beyond_what_we_advertise_is_dropped():
    assert packet.capabilities()["max_context_size_bytes"] == 65_536
    assert read(context={"x": "y" * 65_000})


@pytest.mark.spec("A2ACP-106")
@pytest.mark.parametrize("kind", ["context", "context_request"])
def test_a_sixth_need_is_no_reason_to_drop_a_packet(kind):
    needs = [{"field": f"f{number}", "reason": "r", "priority": "helpful"} for number in range(6)]
    assert read(type=kind, needs=needs).fields["needs"] == needs


@pytest.mark.spec("A2ACP-235", "A2ACP-236")
def test_an_agent_announces_what_it_answers_to():
    said = packet.capabilities()
    assert said == {
        "supported_versions": ["0.1", "0.2"],
        "features": [
            "blackouts", "context_negotiation", "multi_party", "resolution_with_alternatives", "shared_context_spaces",
            "thread_forking", "thread_status", "thread_sync",
        ],
        "max_context_size_bytes": 65_536,
        "supported_encryption": ["x25519-xchacha20-poly1305"],
    }  # fmt: skip
    assert set(said["features"]) <= set(version.SINCE)
    assert packet.features_named({"capabilities": said}) == frozenset(said["features"])


@pytest.mark.spec("A2ACP-043")
@pytest.mark.parametrize(
    ("named", "limit"),
    [
        (1_000, 1_000),
        (65_536, 65_536),
        (10**9, 65_536),
        (0, 65_536),
        (-1, 65_536),
        (True, 65_536),
        ("9", 65_536),
        (None, 65_536),
    ],
)
def test_a_context_for_a_peer_is_limited_by_the_smaller_of_both_maxima(named, limit):
    assert packet.context_limit({"capabilities": {"max_context_size_bytes": named}}) == limit
    assert packet.context_limit({"capabilities": []}) == packet.context_limit({}) == 65_536


@pytest.mark.spec("A2ACP-057")
def test_types_beyond_the_draft_go_only_to_peers_that_name_them():
    none = frozenset[str]()
    assert packet.may_send("context", none)
    assert packet.may_send("processing_error", none)
    for kind in ("thread_sync", "thread_status", "space_update"):
        assert not packet.may_send(kind, none)
    named = packet.features_named({"capabilities": {"features": ["thread_sync", 3]}})
    assert packet.may_send("thread_sync", named)
    for odd in ({}, {"capabilities": []}, {"capabilities": {"features": "all"}}):
        assert packet.features_named(odd) == frozenset()
    assert read(type="processing_error", code="no_common_version")


@given(st.binary(max_size=200))
def test_noise_is_malformed_and_nothing_worse(data):
    with pytest.raises(packet.MalformedPacket):
        packet.read(data)


@pytest.mark.spec("A2ACP-148", "A2ACP-139")
@pytest.mark.parametrize(
    ("more", "gone"),
    [
        ({"type": "resolution_response", "status": "declined", "actual_reason": "MARK"}, True),
        ({"type": "never_heard_of", "actual_reason": {"why": "MARK"}}, True),
        ({"type": "context_response", "context_unavailable": [{"field": "f", "status": "declined", "hint": "MARK"}]}, True),
        ({"type": "never_heard_of", "note": "MARK"}, False),
    ],
)  # fmt: skip
def test_a_real_reason_and_a_hint_are_gone_before_anything_is_stored(more, gone):
    raw = json.dumps(fields(**more)).encode()
    inner = packet.read(raw)
    kept = packet.to_keep(inner)
    assert (b"MARK" not in kept) == gone
    assert packet.read(kept).packet_id == inner.packet_id
    assert gone or kept == raw
