"""Strict JSON: the fast path takes exactly what the slow one takes, and each refusal has its reason."""

from __future__ import annotations

import json

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tacit.base import strict_json
from tacit.base.strict_json import Malformed, parse

VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**64 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.sampled_from(["a", "b", ":", "é", '"', "a:b"]), inner, max_size=4)
    ),
    max_leaves=12,
)


def outcome(function, *arguments):
    try:
        return ("value", repr(function(*arguments)))
    except Malformed as fault:
        return ("fault", str(fault))


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (b'{"a":1,"a":1}', "repeats a key"),
        (b'{"a":1,"\\u0061":1}', "repeats a key"),
        (b'{"a":[{"b":1,"c":{"d":1,"d":2}}]}', "repeats a key"),
        (b'{"a":"x","a":"\\u003a"}', "repeats a key"),
        (b'{"a":"x","a":"\\u003A"}', "repeats a key"),
        (b"NaN", "NaN"),
        (b"[-Infinity]", "NaN"),
        (b"1e999", "too large"),
        (b"18446744073709551616", "64 bits"),
        (b"[-9223372036854775809]", "64 bits"),
        (b'{"a":100000000000000000000000}', "64 bits"),
        (b"\xef\xbb\xbf{}", "byte order mark"),
        (b'"\xff"', "UTF-8"),
        (b'"\xed\xa0\x80"', "UTF-8"),
        (b'"\\ud800"', "half a character"),
        (b"{} {}", "not JSON"),
        (b"{} x", "not JSON"),
        (b"", "not JSON"),
        (b"[1,]", "not JSON"),
        (b"{'a':1}", "not JSON"),
        (b'"a\nb"', "not JSON"),
        (b"01", "not JSON"),
        (b"[" * 65 + b"]" * 65, "nested deeper than 64"),
        (b'{"a":' * 65 + b"1" + b"}" * 65, "nested deeper than 64"),
        (b"[" * 200_000, "nested deeper"),
        ("\ud800", "Unicode"),
        ('"\ud800"', "Unicode"),
    ],
)
def test_what_is_not_strict_json_is_refused_with_its_reason(text, reason):
    with pytest.raises(Malformed, match=reason):
        parse(text)


@pytest.mark.parametrize(
    "text",
    [
        '{"a":{"b":1},"c":{"b":1}}',
        ' {"a" : "x:y:z" ,\n"b:c" : [":"] } ',
        '{"url":"https:\\/\\/x","n":"\\u003a"}',
        '{"e":"\\u00e9\\ud83d\\ude00"}',
        "[18446744073709551615,-9223372036854775808,1e5,-0.0,1E-400]",
        "[" * 64 + "]" * 64,
        '["' + "[" * 500 + '"]',
        "{}",
        '"\x7f"',
    ],
)
def test_what_is_strict_json_is_read_as_the_standard_library_reads_it(text):
    assert parse(text) == parse(text.encode()) == json.loads(text)


def test_depth_is_counted_by_levels_not_by_brackets():
    wide = b"[" + b"[]," * 5000 + b"[]]"
    assert len(parse(wide)) == 5001
    with pytest.raises(Malformed, match="deeper than 1 "):
        parse(wide, max_depth=1)
    assert parse(b"[[]]", max_depth=2) == [[]]
    assert parse(b"1", max_depth=0) == 1


@given(VALUES, st.sampled_from([(",", ":"), (", ", ": ")]), st.booleans())
@settings(max_examples=300)
def test_written_values_come_back_by_the_fast_way(value, separators, escaped):
    text = json.dumps(value, separators=separators, ensure_ascii=escaped)
    assert repr(parse(text)) == repr(json.loads(text))


@given(st.text(alphabet='{}[]":,\\u03aA1e- ', max_size=40).map(str.encode) | st.binary(max_size=40))
@example(b'{"a":":","a":"\\u003a"}')
@settings(max_examples=600)
def test_fast_and_slow_agree_on_everything(data):
    assert outcome(parse, data) == outcome(strict_json._slow, data, strict_json.MAX_DEPTH)


def test_the_fast_way_is_taken_for_ordinary_messages(monkeypatch):
    def never(data, max_depth):
        raise AssertionError("the slow parser was asked")

    monkeypatch.setattr(strict_json, "_slow", never)
    assert parse(b'{"a": "b:c", "d": [1, 2.5, {"e": null}], "f": "\\n\\u00e9"}')["a"] == "b:c"
