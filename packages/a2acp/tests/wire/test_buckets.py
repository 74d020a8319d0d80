import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit.base.errors import Refused
from tacit.wire import buckets, envelope
from tacit.wire.encoding import b64, canonical
from tests.post_support import ALICE, BOB


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
