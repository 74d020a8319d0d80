import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit.seal import session
from tacit.seal.primitives import CannotOpen


@given(st.binary(max_size=500), st.integers(1, 300))
def test_padding_comes_off_as_it_went_on(payload, more):
    padded = session.pad(payload, len(payload) + more)
    assert len(padded) == len(payload) + more
    assert session.unpad(padded) == payload


def test_what_is_no_padding_is_refused():
    for bad in (b"", b"\x00\x00", b"abc", b"abc\x00"):
        with pytest.raises(CannotOpen):
            session.unpad(bad)
