import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit.base.errors import Refused
from tacit.wire import buckets, envelope
from tacit.wire.encoding import b64, canonical, canonical_object
from tests.post_support import ALICE, BOB

BODY = b64(bytes(1024))


def header(**changes):
    return {
        **envelope.visible_header(
            protocol="a2acp/0.2",
            packet_id="pkt_a1b2c3d4",
            queue_tag="q_" + "A" * 22,
            sender=ALICE,
            recipient=BOB,
            timestamp="2026-03-21T14:30:00Z",
        ),
        **changes,
    }


def refusal(raw: bytes) -> str:
    with pytest.raises(Refused) as refused:
        envelope.read(raw)
    return refused.value.code


@pytest.mark.spec("A2ACP-025", "A2ACP-027", "A2ACP-244")
def test_an_envelope_keeps_the_bytes_it_was_read_from():
    raw = envelope.compose(header(), BODY)
    found = envelope.read(raw)
    assert found.raw == raw
    assert (found.sender, found.recipient, found.packet_id) == (ALICE, BOB, "pkt_a1b2c3d4")


@pytest.mark.spec("A2ACP-244")
def test_what_a_relay_may_see_is_this_and_nothing_else():
    assert set(json.loads(envelope.compose(header(), BODY))) == {
        "protocol", "packet_id", "queue_tag", "from", "to", "timestamp", "body",
    }  # fmt: skip


@pytest.mark.spec("A2ACP-025")
@pytest.mark.parametrize("field", ["protocol", "packet_id", "queue_tag", "from", "to", "timestamp", "body"])
def test_an_envelope_without_one_of_its_fields_is_refused(field):
    fields = {**header(), "body": BODY}
    del fields[field]
    assert refusal(canonical(fields)) == "bad_envelope"


@pytest.mark.spec("A2ACP-026", "A2ACP-027", "A2ACP-028")
@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"protocol": "a2acp/2"}, "bad_envelope"),
        ({"protocol": "http/1.1"}, "bad_envelope"),
        ({"protocol": "a2acp/0.2 "}, "bad_envelope"),
        ({"packet_id": "thr_a1b2c3d4"}, "bad_envelope"),
        ({"packet_id": "pkt_a"}, "bad_envelope"),
        ({"packet_id": "pkt_" + "a" * 65}, "bad_envelope"),
        ({"queue_tag": "thr_gamenight"}, "bad_envelope"),
        ({"timestamp": "2026-03-21T14:30:00+00:00"}, "bad_envelope"),
        ({"timestamp": "yesterday"}, "bad_envelope"),
        ({"timestamp": "2026-13-21T14:30:00Z"}, "bad_envelope"),
        ({"from": "alice"}, "bad_address"),
        ({"to": "agent:BOB@b.example"}, "bad_address"),
        ({"flags": "replace_queue"}, "bad_envelope"),
        ({"flags": [1]}, "bad_envelope"),
        ({"flags": ["Replace"]}, "bad_envelope"),
        ({"flags": [""]}, "bad_envelope"),
        ({"flags": ["a" * 33]}, "bad_envelope"),
        ({"hint": 0.5}, "bad_envelope"),
    ],
)
def test_a_misshapen_field_names_its_code(change, code):
    assert refusal(canonical({**header(), "body": BODY, **change})) == code


@pytest.mark.spec("A2ACP-025")
def test_flags_are_read_in_their_order():
    raw = canonical({**header(), "body": BODY, "flags": ["replace_queue", "a" * 32]})
    assert envelope.read(raw).flags == ("replace_queue", "a" * 32)
    assert envelope.read(canonical({**header(), "body": BODY})).flags == ()


@pytest.mark.spec("A2ACP-242")
def test_an_unknown_field_is_ignored_and_stays_bound():
    raw = canonical({**header(), "body": BODY, "later": {"deep": [1, "x", True, None]}})
    found = envelope.read(raw)
    assert envelope.header_of(found)["later"] == {"deep": [1, "x", True, None]}
    assert b"later" in envelope.associated_data(envelope.header_of(found))


@pytest.mark.spec("A2ACP-244")
@pytest.mark.parametrize("twist", ["space", "order", "repeat", "escape", "trailing"])
def test_bytes_that_could_be_read_two_ways_are_refused(twist):
    raw = envelope.compose(header(), BODY)
    twisted = {
        "space": raw.replace(b'":"', b'": "', 1),
        "order": json.dumps({"to": BOB, **header(), "body": BODY}, separators=(",", ":")).encode(),
        "repeat": raw[:-1] + b',"to":"agent:mallory@b.example"}',
        "escape": raw.replace(b"agent:bob", b"agent:\\u0062ob"),
        "trailing": raw + b" ",
    }[twist]
    assert twisted != raw
    assert refusal(twisted) == "bad_envelope"


@pytest.mark.spec("A2ACP-044")
def test_an_envelope_over_its_limit_is_too_large():
    assert refusal(b"x" * (envelope.MAX_BYTES + 1)) == "too_large"
    assert len(envelope.compose(header(), b64(bytes(buckets.LARGEST)))) <= envelope.MAX_BYTES


@given(st.binary(max_size=400))
def test_noise_is_refused_with_a_documented_code(data):
    assert refusal(data) in {"bad_envelope", "bad_address", "too_large"}


def the_long_way(raw):
    """As `read` without its short cut: what a plain reader of canonical JSON makes of the bytes."""
    try:
        found = canonical_object(raw)
        if found is None:
            return "bad_envelope"
        return envelope._from_fields(found, raw)
    except Refused as refused:
        return refused.code


def as_read(raw):
    try:
        return envelope.read(raw)
    except Refused as refused:
        return refused.code


SMALL = b64(bytes(256))


odd = st.sampled_from(
    ["", "x", '"', "\\", "\n", "\u00e9", "agent:", "agent:a@b", "agent:A@b", "agent:a@b:0", "agent:a@b:99999",
     "a2acp/0.2", "a2acp/00.2", "a2acp/0.12345", "pkt_", "pkt_abcd", "pkt_ab cd", "q_" + "A" * 21, "q_" + "A" * 23,
     "2026-02-30T00:00:00Z", "2026-03-21T24:00:00Z", "2026-03-21T14:30:60Z", "0000-03-21T14:30:00Z",
     "2026-03-21T14:30:00.1234567Z", "2026-03-21t14:30:00Z", "2026-03-21T14:30:00.5Z", SMALL, SMALL + "A", SMALL[:-1] + "+"]
)  # fmt: skip


@pytest.mark.spec("A2ACP-244", "A2ACP-026", "A2ACP-028")
@given(st.dictionaries(st.sampled_from([*header(), "body", "flags", "later"]), odd, max_size=3))
def test_the_short_way_to_read_an_envelope_comes_to_the_same_as_the_long_one(changes):
    raw = canonical({**header(), "body": SMALL, **changes})
    assert as_read(raw) == the_long_way(raw)


@pytest.mark.spec("A2ACP-244")
@given(st.integers(0, 700), st.integers(0, 2), st.binary(max_size=2))
def test_bytes_changed_anywhere_are_read_alike_by_the_short_way_and_the_long_one(place, drop, put):
    raw = envelope.compose(header(), SMALL)
    changed = raw[:place] + put + raw[place + drop :]
    assert as_read(changed) == the_long_way(changed)


@pytest.mark.spec("A2ACP-244")
@pytest.mark.parametrize(
    "more",
    [{f"{number:05d}": [] for number in range(22_000)}, {"a": [[]] * 5_000}, {"a": [1] * 5_000}],
    ids=["names", "lists", "numbers"],
)
def test_an_envelope_of_very_many_members_is_no_envelope(more):
    assert refusal(canonical({**header(), **more, "body": BODY})) == "bad_envelope"
    few = {name: value[:20] for name, value in list(more.items())[:20]}
    assert envelope.read(canonical({**header(), **few, "body": BODY}))


@pytest.mark.spec("A2ACP-025", "A2ACP-026", "A2ACP-044")
def test_a_byte_too_many_is_too_large_and_one_less_is_judged_by_what_it_says():
    raw = envelope.compose(header(), BODY)
    assert refusal(raw + b" " * (262_145 - len(raw))) == "too_large"
    assert refusal(raw + b" " * (262_144 - len(raw))) == "bad_envelope"
