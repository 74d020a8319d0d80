import json

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.post_support import ALICE, BOB

from tacit.base.errors import Refused
from tacit.wire import buckets, envelope, frames, records, version
from tacit.wire.encoding import b64, canonical, canonical_object, unb64

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
        ({"hint": 0.5}, "bad_envelope"),
    ],
)
def test_a_misshapen_field_names_its_code(change, code):
    assert refusal(canonical({**header(), "body": BODY, **change})) == code


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


@pytest.mark.spec("A2ACP-252")
def test_a_body_has_the_length_of_a_bucket_or_is_refused():
    assert all(size % 256 == 0 for size in buckets.BUCKETS)
    assert refusal(canonical({**header(), "body": b64(bytes(1000))})) == "bad_envelope"
    with pytest.raises(Refused):
        buckets.bucket_for(buckets.LARGEST + 1)


@given(st.integers(1, buckets.LARGEST))
def test_a_bucket_is_the_smallest_that_holds(length):
    size = buckets.bucket_for(length)
    assert size >= length
    assert size in buckets.BUCKETS
    assert all(other < length for other in buckets.BUCKETS if other < size)


@given(st.binary(max_size=300))
def test_base64url_comes_back_and_has_one_spelling(data):
    text = b64(data)
    assert unb64(text) == data
    assert unb64(text + "=") is None


@given(st.binary(max_size=400))
def test_noise_is_refused_with_a_documented_code(data):
    assert refusal(data) in {"bad_envelope", "bad_address", "too_large"}


@given(
    st.dictionaries(
        st.text(max_size=5), st.one_of(st.integers(-(2**53), 2**53), st.text(max_size=9), st.booleans())
    )
)
def test_canonical_bytes_come_back_as_themselves(value):
    assert canonical_object(canonical(value)) == value


@pytest.mark.spec("A2ACP-006")
def test_a_packet_frame_carries_the_envelope_untouched():
    raw = envelope.compose(header(), BODY)
    frame = frames.decode(frames.packet_bytes(raw, "c2ln", 12))
    assert isinstance(frame, frames.Packet)
    assert (bytes(frame.envelope), frame.sig, frame.delivery) == (raw, "c2ln", 12)


@pytest.mark.spec("A2ACP-006")
def test_an_unknown_frame_is_ignored_and_a_broken_one_is_the_peers_fault():
    assert frames.decode('{"frame":"hologram","x":1}') is None
    for text in (
        "",
        "[]",
        "{}",
        '{"frame":1}',
        '{"frame":"packet"}',
        '{"frame":"received","deliveries":"x"}',
        "[" * 9999,
    ):
        with pytest.raises(frames.PeerFault):
            frames.decode(text)


@pytest.mark.spec("A2ACP-006")
def test_every_frame_of_the_list_survives_the_wire():
    for frame in (
        frames.Challenge("c", "a.example"), frames.Auth(ALICE, "c", "s"), frames.AuthOk(ALICE),
        frames.Accepted(["pkt_a1b2"]), frames.Received([1]), frames.Error("rate_limited", "pkt_a1b2", 3),
        frames.QueueOverflow("q_x", 100, BOB, "pkt_a1b2"), frames.Superseded(), frames.Report(BOB),
        frames.PrekeysOk(3), frames.Notice("recovery"), frames.Prekeys(),
    ):  # fmt: skip
        assert frames.decode(frames.encode(frame)) == frame


@pytest.mark.spec("A2ACP-017")
def test_the_login_string_binds_relay_address_and_challenge():
    assert frames.auth_bytes(relay="a.example", address=ALICE, challenge="xyz") == (
        b"a2acp-auth-v1\na.example\nagent:alice@a.example\nxyz"
    )


@pytest.mark.spec("A2ACP-237", "A2ACP-238", "A2ACP-240")
def test_two_sides_agree_on_the_highest_common_version_and_drop_what_it_lacks():
    both = version.agree(
        ours=["0.1", "0.2"],
        theirs=["0.2", "0.3", "junk"],
        our_features=version.SINCE,
        their_features=["thread_forking", "telepathy"],
    )
    assert both == version.Agreement("a2acp/0.2", frozenset({"thread_forking"}))
    older = version.agree(
        ours=["0.1", "0.2"], theirs=["0.1"], our_features=version.SINCE, their_features=list(version.SINCE)
    )
    assert older == version.Agreement("a2acp/0.1", frozenset({"context_negotiation"}))
    assert version.common_version(["0.9", "0.10"], ["0.10", "0.9"]) == "a2acp/0.10"


@pytest.mark.spec("A2ACP-236")
def test_the_five_features_of_the_draft_are_known_and_used_only_when_both_list_them():
    named = {
        "context_negotiation",
        "resolution_with_alternatives",
        "thread_forking",
        "shared_context_spaces",
        "multi_party",
    }
    assert named <= set(version.SINCE)
    both = version.agree(ours=["0.2"], theirs=["0.2"], our_features=named, their_features=["multi_party"])
    assert both is not None
    assert both.features == {"multi_party"}


@pytest.mark.spec("A2ACP-239")
def test_the_first_packet_speaks_the_last_version_used_and_nothing_in_common_is_said_plainly():
    assert version.opening_version("a2acp/0.1") == "a2acp/0.1"
    assert version.opening_version(None) == "a2acp/0.2"
    assert version.agree(ours=["0.2"], theirs=["1.0"], our_features=[], their_features=[]) is None


@pytest.mark.spec("A2ACP-253")
def test_without_common_encryption_there_is_none_and_never_plaintext():
    assert version.common_encryption(["plaintext", "rot13"]) is None
    assert version.common_encryption([]) is None
    assert version.common_encryption([version.STATELESS]) == version.STATELESS
    assert version.common_encryption([version.STATELESS, version.RATCHET]) == version.RATCHET


@pytest.mark.spec("A2ACP-021")
@pytest.mark.parametrize("field", ["signing_key", "agreement_key"])
def test_a_key_statement_with_a_short_key_is_refused(field):
    good = records.Statement(ALICE, b64(bytes(32)), b64(bytes(32)), 1)
    assert records.read_statement(records.statement_bytes(good)) == good
    with pytest.raises(Refused):
        records.read_statement(
            records.statement_bytes(msgspec.structs.replace(good, **{field: b64(bytes(31))}))
        )


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


@given(st.text(alphabet="AQgwBz09-_+/=\u00e9 ", max_size=12))
def test_only_the_one_spelling_of_base64url_is_read(text):
    found = unb64(text)
    assert (found is None) or b64(found) == text
    assert (found is not None) == (text in {b64(data) for data in spellings(text)})


def spellings(text):
    """What a lenient reader would make of the text."""
    import base64
    import binascii

    try:
        return [base64.urlsafe_b64decode(text.encode("ascii") + b"=" * (-len(text) % 4))]
    except (binascii.Error, ValueError):
        return []


@pytest.mark.spec("A2ACP-245")
@pytest.mark.parametrize("field", ["signed", "one_time", "last_resort"])
@pytest.mark.parametrize("identifier", [-1, 2**53, 2**70])
def test_a_bundle_whose_prekey_has_a_number_no_file_holds_is_refused(field, identifier):
    record = {"statement": {}, "sig": ""}
    good = {"record": record, field: {"id": 2**53 - 1, "key": "", "sig": ""}}
    assert records.read_bundle(json.dumps(good).encode())
    good[field]["id"] = identifier
    with pytest.raises(Refused) as refused:
        records.read_bundle(json.dumps(good).encode())
    assert refused.value.code == "bad_envelope"


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


@pytest.mark.parametrize("depth", [300, 600, 900, 100_000])
def test_an_object_that_nests_without_end_is_none_of_ours(depth):
    assert canonical_object(b'{"a":' + b"[" * depth + b"]" * depth + b"}") is None or depth < 400
