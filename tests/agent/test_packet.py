import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.post_support import ALICE, BOB, Repeatable

from tacit.agent import ordering, packet, reputation, sync, timing
from tacit.base.errors import Refused
from tacit.base.moment import SECOND, Moment

NOW = Moment(10**15)
DAY = 24 * 3600 * SECOND


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
        {"type": "context_request", "needs": []},
        {"type": "context_request", "needs": [{"field": "f", "reason": "r"}] * 6},
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


@pytest.mark.spec("A2ACP-228", "A2ACP-229", "A2ACP-261")
def test_five_faults_in_a_day_raise_a_flag_and_blocking_stays_a_choice():
    one = reputation.Reputation()
    for number in range(4):
        one = reputation.after_fault(one, Moment(NOW + number))
    assert not one.flagged
    spread = reputation.after_fault(one, Moment(NOW + DAY + 10))
    assert not spread.flagged
    flagged = reputation.after_fault(one, Moment(NOW + 5))
    assert (flagged.flagged, flagged.blocked, flagged.score) == (True, False, 25)
    many = reputation.Reputation()
    for number in range(20):
        many = reputation.after_fault(many, Moment(NOW + number), auto_block=True)
    assert many.blocked
    assert many.score == 0
    assert many.low


@pytest.mark.spec("A2ACP-260", "A2ACP-261")
def test_a_score_starts_at_fifty_and_rises_with_valid_threads():
    assert reputation.Reputation().score == 50
    best = reputation.Reputation()
    for _ in range(80):
        best = reputation.after_thread(best)
    assert best.score == 100
    assert not best.low


@pytest.mark.spec("A2ACP-030")
def test_a_gap_is_held_for_thirty_seconds_then_passed():
    held = {3: NOW, 4: Moment(NOW + SECOND)}
    assert ordering.releasable(1, held, Moment(NOW + 29 * SECOND)) == ([], 1, False)
    assert ordering.releasable(1, held, Moment(NOW + 30 * SECOND)) == ([3, 4], 5, True)
    assert ordering.releasable(3, held, NOW) == ([3, 4], 5, False)
    assert ordering.releasable(9, {2: NOW}, NOW) == ([2], 9, False)


@given(st.permutations(range(1, 9)))
def test_whatever_the_arrival_order_is_the_numbers_come_out_rising(arrival):
    expected, held, out = 1, {}, []
    for number in arrival:
        held[number] = NOW
        ready, expected, _ = ordering.releasable(expected, held, NOW)
        for one in ready:
            del held[one]
        out += ready
    assert out == list(range(1, 9))


@pytest.mark.spec("A2ACP-213", "A2ACP-214")
def test_a_summary_names_the_last_200_ids_and_what_is_lacking_goes_again_in_order():
    sent = [f"pkt_{n:04d}" for n in range(250)]
    body = sync.summary("open", sent, [], answer=False)
    assert body["sent_ids"] == sent[50:]
    assert sync.lacking(sent, [*sent[:100], *sent[102:]]) == sent[100:102]
    assert sync.due(None, NOW)
    assert not sync.due(NOW, Moment(NOW + 59 * SECOND))
    assert sync.due(NOW, Moment(NOW + 60 * SECOND))


@pytest.mark.spec("A2ACP-207", "A2ACP-208")
def test_reconnection_waits_one_two_four_to_sixty_seconds_with_jitter():
    assert [timing.RECONNECT.pause(attempt, 0.999999) for attempt in range(8)] == pytest.approx(
        [1, 2, 4, 8, 16, 32, 60, 60], rel=1e-3
    )
    assert timing.RECONNECT.pause(3, 0.0) == 4
    assert (timing.PING_SECONDS, timing.PONG_SECONDS) == (30, 10)
