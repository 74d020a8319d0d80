from __future__ import annotations

import json

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit.base.strict_json import MAX_DEPTH, Malformed, canonical, compact, parse

SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**64 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"]))
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.text(st.characters(exclude_categories=["Cs"]), max_size=8), inner, max_size=4)
    ),
    max_leaves=20,
)


@given(VALUES, st.booleans(), st.sampled_from([None, 2]))
def test_what_is_json_comes_back_as_it_was(value: object, ascii_only: bool, indent: int | None) -> None:
    text = json.dumps(value, ensure_ascii=ascii_only, indent=indent)
    assert parse(text.encode()) == parse(text) == value


@given(VALUES)
def test_compact_changes_white_space_alone(value: object) -> None:
    loose = json.dumps(value, ensure_ascii=False, indent=3).encode()
    tight = json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()
    assert compact(loose) == tight


@given(VALUES)
def test_canonical_form_does_not_depend_on_the_order_of_keys(value: object) -> None:
    turned = _turned(value)
    assert canonical(turned) == canonical(value)
    assert parse(canonical(value)) == value


def _turned(value: object) -> object:
    if isinstance(value, dict):
        return {key: _turned(inner) for key, inner in reversed(value.items())}
    return [_turned(inner) for inner in value] if isinstance(value, list) else value


@given(
    st.binary(max_size=200) | st.text(max_size=200).map(lambda text: text.encode("utf-8", "surrogatepass"))
)
def test_any_bytes_are_taken_or_refused_with_a_reason(data: bytes) -> None:
    try:
        value = parse(data)
    except Malformed:
        return
    assert msgspec.json.decode(msgspec.json.encode(value)) == value


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (b'{"a":1,"a":2}', "repeats a key"),
        (b'{"a":1,"\\u0061":2}', "repeats a key"),
        (b"NaN", "NaN"),
        (b"[-Infinity]", "NaN"),
        (b"1e400", "too large"),
        (b"18446744073709551616", "64 bits"),
        (b"-9223372036854775809", "64 bits"),
        (b"1" * 5000, "64 bits"),
        (b'"\xff"', "UTF-8"),
        (b'"\xed\xa0\x80"', "UTF-8"),
        (b'"\\ud800"', "half a character"),
        (b'{"\\uDFFF":1}', "half a character"),
        (b"\xef\xbb\xbf{}", "byte order mark"),
        (b"[" * (MAX_DEPTH + 1) + b"]" * (MAX_DEPTH + 1), "deeper"),
        (b"[" * 200_000, "deeper"),
        (b'{"a":' * 100_000, "deeper"),
        (b"", "not JSON"),
        (b"{} {}", "not JSON"),
        (b"{'a':1}", "not JSON"),
        (b"[1,]", "not JSON"),
        (b'"\n"', "not JSON"),
        (b"01", "not JSON"),
    ],
)
def test_each_fault_is_refused_by_its_name(text: bytes, reason: str) -> None:
    with pytest.raises(Malformed, match=reason):
        parse(text)


def test_brackets_inside_strings_are_no_depth() -> None:
    text = json.dumps(["[" * 500 + '\\"{' * 50])
    assert parse(text) == json.loads(text)


def test_depth_up_to_the_limit_is_taken() -> None:
    text = b"[" * MAX_DEPTH + b"]" * MAX_DEPTH
    assert parse(text) == json.loads(text)


@given(st.text(min_size=6, alphabet=st.characters(min_codepoint=0x4E00, max_codepoint=0x4EFF)))
def test_a_refusal_never_quotes_its_input(secret: str) -> None:
    with pytest.raises(Malformed) as caught:
        parse(f'{{"{secret}":1,"{secret}":2}}')
    assert secret not in str(caught.value)
