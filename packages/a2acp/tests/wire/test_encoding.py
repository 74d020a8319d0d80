import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit.wire.encoding import b64, canonical, canonical_object, unb64


@given(st.binary(max_size=300))
def test_base64url_comes_back_and_has_one_spelling(data):
    text = b64(data)
    assert unb64(text) == data
    assert unb64(text + "=") is None


@given(
    st.dictionaries(
        st.text(max_size=5), st.one_of(st.integers(-(2**53), 2**53), st.text(max_size=9), st.booleans())
    )
)
def test_canonical_bytes_come_back_as_themselves(value):
    assert canonical_object(canonical(value)) == value


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


@pytest.mark.parametrize("depth", [300, 600, 900, 100_000])
def test_an_object_that_nests_without_end_is_none_of_ours(depth):
    assert canonical_object(b'{"a":' + b"[" * depth + b"]" * depth + b"}") is None or depth < 400
