"""Reading: every vector, every mode, all findings at once, and nothing but findings whatever arrives."""

from __future__ import annotations

import json
import re
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tacit.base.errors import Refused
from tacit.language import Invalid, encode, parse, parse_lines, read, read_value, to_value
from tacit.language import reading as reading_module
from tacit.language.findings import step
from tacit.language.message import ExtendedMessage, Message
from tacit.language.tables import MAX_BYTES
from tests.language.cast import START, message, text_of, value, vectors

VALID = vectors("valid")
INVALID = vectors("invalid")


def named(vector):
    return f"{vector['file']}: {vector['name']}"


def fenced(text):
    found = re.fullmatch(r"\s*```\w*\n(.*)\n```\s*", text, re.DOTALL)
    return found[1] if found else text


def both_ways(data, strict):
    """The outcome of the fast way and of the slow way."""
    slow = reading_module._read_slowly(data, strict=strict)
    try:
        return encode(parse(data, strict=strict)), slow.message and encode(slow.message)
    except Invalid as invalid:
        return invalid.faults, slow.faults


@pytest.mark.spec("CLOWL-066", "CLOWL-069")
def test_there_are_enough_vectors_and_each_invalid_one_names_its_layer():
    assert len(VALID) >= 80
    assert len(INVALID) >= 150
    assert {vector["layer"] for vector in INVALID} == {"text", "version", "shape", "data"}
    assert len({named(vector) for vector in VALID + INVALID}) == len(VALID) + len(INVALID)


@pytest.mark.spec(
    "CLOWL-001", "CLOWL-004", "CLOWL-005", "CLOWL-009", "CLOWL-010", "CLOWL-012", "CLOWL-015", "CLOWL-016",
    "CLOWL-019", "CLOWL-021", "CLOWL-022", "CLOWL-025", "CLOWL-044", "CLOWL-059", "CLOWL-061", "CLOWL-091",
)  # fmt: skip
@pytest.mark.parametrize("vector", VALID, ids=named)
def test_a_valid_message_is_taken_and_comes_back_as_the_same_json(vector):
    data = text_of(vector)
    expected = json.loads(fenced(vector["text"]))
    for mode in ("strict", "lenient"):
        strict = mode == "strict"
        if mode in vector["modes"]:
            message = parse(data, strict=strict)
            assert json.loads(encode(message)) == expected == to_value(message)
            assert read(data, strict=strict).message == message
            assert read_value(expected, strict=strict).message == message
        else:
            assert read(data, strict=strict).faults


@pytest.mark.spec(
    "CLOWL-001", "CLOWL-002", "CLOWL-003", "CLOWL-005", "CLOWL-006", "CLOWL-007", "CLOWL-009", "CLOWL-010",
    "CLOWL-011", "CLOWL-012", "CLOWL-013", "CLOWL-014", "CLOWL-015", "CLOWL-016", "CLOWL-017", "CLOWL-019",
    "CLOWL-021", "CLOWL-022", "CLOWL-023", "CLOWL-025", "CLOWL-044", "CLOWL-045", "CLOWL-047", "CLOWL-053",
    "CLOWL-056", "CLOWL-059", "CLOWL-061", "CLOWL-066", "CLOWL-068", "CLOWL-087", "CLOWL-088", "CLOWL-089",
    "CLOWL-090",
)  # fmt: skip
@pytest.mark.parametrize("vector", INVALID, ids=named)
def test_an_invalid_message_is_refused_for_its_one_fault(vector):
    data = text_of(vector)
    for strict in (True, False):
        reading = read(data, strict=strict)
        if vector["mode"] == "strict" and not strict:
            assert reading.message is not None
            continue
        assert reading.message is None
        assert [(fault.path, fault.code) for fault in reading.faults] == [(vector["path"], vector["code"])]
        assert reading.code == vector["code"]
        assert re.fullmatch(r"CLOWL-\d{3}", reading.faults[0].row)
        with pytest.raises(Invalid) as invalid:
            parse(data, strict=strict)
        assert invalid.value.faults == reading.faults


@pytest.mark.spec("CLOWL-067")
def test_all_faults_are_reported_at_once_each_with_path_code_and_reason():
    broken = value("DLGT", {"chain": 1}, ts="now", to=["a", "a"], mid=..., ctx={"hash": "x"}, from_="*")
    faults = {fault.path: fault for fault in read_value(broken).faults}
    assert set(faults) == {
        "$.mid", "$.from", "$.ts", "$.to[1]", "$.ctx.hash", "$.body.d.delegation_mode", "$.body.d.chain",
    }  # fmt: skip
    assert faults["$.ts"].reason == "must be an integer, seconds since 1970"
    assert faults["$.body.d.delegation_mode"].code == "E008"
    assert read_value(broken).code == "E001"


@pytest.mark.spec("CLOWL-067")
def test_the_error_carries_every_fault_and_none_of_the_content():
    broken = json.dumps(value(ts="topsecret", auth=5, p="topsecret")).encode()
    with pytest.raises(Refused) as refused:
        parse(broken)
    assert refused.value.code == "E001"
    assert len(refused.value.details["faults"]) == 3
    assert "topsecret" not in str(refused.value) + json.dumps(refused.value.details)


@pytest.mark.spec("CLOWL-006")
def test_milliseconds_are_named_as_the_likely_mistake():
    (fault,) = read_value(value(ts=START * 1000)).faults
    assert "seconds, not milliseconds" in fault.reason


@pytest.mark.spec("CLOWL-004", "CLOWL-006", "CLOWL-020", "CLOWL-025", "CLOWL-085")
@pytest.mark.parametrize(
    ("member", "path", "row"),
    [
        ({"mid": "m004"}, "$.mid", "CLOWL-004"),
        ({"mid": "01890a5d-ac96-474b-bcce-b302099a8057"}, "$.mid", "CLOWL-004"),
        ({"mid": "01890a5d-ac96-774b-ccce-b302099a8057"}, "$.mid", "CLOWL-004"),
        ({"ts": START + 301}, "$.ts", "CLOWL-006"),
        ({"det": True}, "$.det", "CLOWL-020"),
        ({"ctx": {"hash": "0" * 64}}, "$.ctx.hash", "CLOWL-025"),
        ({"d": {"a": {"b": {"c": 1}}}}, "$.body.d", "CLOWL-085"),
        ({"d": {"a": "x" * 501}}, "$.body.d", "CLOWL-085"),
    ],
)
def test_what_is_odd_but_allowed_is_a_warning_in_both_modes(member, path, row):
    usual = {"mid": "01890a5d-ac96-774b-bcce-b302099a8057"}
    assert read_value(value(**usual), now=START).warnings == ()
    for strict in (True, False):
        reading = read_value(value(**{**usual, **member}), strict=strict, now=START)
        assert reading.message is not None
        assert [(warning.path, warning.row) for warning in reading.warnings] == [(path, row)]
    assert read_value(value(ts=START + 300, **usual), now=START).warnings == ()


@pytest.mark.spec("CLOWL-020")
@pytest.mark.parametrize("p", ["DONE", "INF", "PROG"])
def test_det_means_something_on_results(p):
    reading = read_value(value(p, det=True, pid="m0", mid="01890a5d-ac96-774b-bcce-b302099a8057"))
    assert reading.warnings == ()
    assert reading.message.is_reproducible
    assert not read_value(value(p, pid="m0")).message.is_reproducible


@pytest.mark.spec("CLOWL-021", "CLOWL-066")
def test_lenient_says_what_it_forgave():
    odd = value("ERR", {"code": "E005", "msg": "x", "retry": True}, auth=None, prio=1, pid=None)
    odd["body"]["y"] = 2
    reading = read_value(odd)
    assert isinstance(reading.message, ExtendedMessage)
    assert to_value(reading.message) == odd
    forgiven = {warning.path for warning in reading.warnings if warning.row != "CLOWL-004"}
    assert forgiven == {"$.prio", "$.auth", "$.body.y", "$.body.d.retry"}
    assert len(read_value(odd, strict=True).faults) == 5


@pytest.mark.spec("CLOWL-009", "CLOWL-012", "CLOWL-013")
def test_null_and_absent_parents_are_roots_and_one_recipient_is_one_recipient():
    assert read_value(value(pid=None)).message.parent is None
    assert read_value(value()).message.parent is None
    assert read_value(value(pid="m0")).message.parent == "m0"
    assert read_value(value(to=["radar"])).message.recipients == read_value(value()).message.recipients
    assert read_value(value(to="*")).message.is_broadcast


@pytest.mark.spec("CLOWL-025")
def test_three_nulls_are_no_context_and_an_upper_case_hash_is_read_in_lower_case():
    assert read_value(value(ctx={"ref": None, "inline": None, "hash": None})).message.context is None
    assert read_value(value(ctx={})).message.context is None
    context = read_value(value(ctx={"ref": "a", "hash": "AB" * 32})).message.context
    assert context.digest == "ab" * 32


@pytest.mark.spec("CLOWL-068")
def test_a_message_over_one_mebibyte_is_refused():
    around = len(json.dumps(value(d={"a": ""})))
    fits = json.dumps(value(d={"a": "x" * (MAX_BYTES - around)}))
    assert len(fits) == MAX_BYTES
    assert parse(fits.encode()) == parse(fits)
    for data in ((fits + " ").encode(), fits + " ", fits[:-20] + "é" * 11 + fits[-20:]):
        (fault,) = read(data).faults
        assert (fault.code, fault.reason) == ("E001", "is larger than 1 MiB")
        with pytest.raises(Invalid):
            parse(data)


@pytest.mark.spec("CLOWL-067", "CLOWL-068")
@pytest.mark.parametrize(
    "odd",
    [
        None, 1, [], "text", b"x", {1: 2}, {"clowl": float("nan")}, {"clowl": "0.2", "x": object()},
        {"clowl": "0.2", "mid": "\ud800"}, {"\ud800": 1}, {"clowl": "0.2", "x": 2**70}, {"a": {"b": (1,)}},
    ],
)  # fmt: skip
def test_values_that_json_cannot_give_are_faults(odd):
    assert [fault.code for fault in read_value(odd).faults][:1] == ["E001"]


@pytest.mark.spec("CLOWL-067")
@pytest.mark.parametrize("odd", [None, 5, object(), ["x"], memoryview(b"{}")])
def test_what_is_neither_bytes_nor_text_is_a_fault(odd):
    assert read(odd).code == "E001"
    with pytest.raises(Invalid):
        parse(odd)


@pytest.mark.spec("CLOWL-068")
@pytest.mark.parametrize(
    ("number", "is_read"), [(-(2**63), True), (-(2**63) - 1, False), (2**64 - 1, True), (2**64, False)]
)
def test_an_integer_over_64_bits_is_refused_parsed_or_not(number, is_read):
    given = value(d={"n": number})
    assert (read_value(given).message is not None) == is_read
    assert (read(json.dumps(given)).message is not None) == is_read


def test_too_deep_a_value_is_a_fault():
    deep: object = {}
    for _ in range(40):
        deep = {"a": deep}
    assert "deeper" in read_value(value(d={"a": deep})).faults[0].reason


MEMBERS = st.sampled_from(
    ["clowl", "mid", "ts", "p", "from", "to", "cid", "body", "tid", "pid", "ctx", "auth", "det", "x", "cl"]
)
SCALARS = st.sampled_from(
    [
        "0.2", "0.1", "REQ", "ERR", "DLGT", "CAPS", "PROG", "*", "a", "", "é", "\x85", "\n", 0, 1, -1, 2**63, 2**65,
        1.5, 1e300, True, False, None, "x" * 129, "a:b", "\u202e", "0" * 64, "A" * 64,
    ]
)  # fmt: skip
THINGS = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["t", "d", "ref", "inline", "hash", "code", "msg", "retry", "supports", "clowl", "chain"]
            ),
            inner,
            max_size=3,
        )
    ),
    max_leaves=5,
)


@given(st.dictionaries(MEMBERS, THINGS, max_size=3), st.sampled_from(VALID), st.booleans(), st.booleans())
@settings(max_examples=500, deadline=None)
def test_the_fast_way_and_the_rules_agree_on_mutated_messages(changes, vector, strict, ascii_only):
    base = json.loads(fenced(vector["text"]))
    data = json.dumps({**base, **changes}, ensure_ascii=ascii_only).encode("utf-8", "replace")
    fast, slow = both_ways(data, strict)
    assert fast == slow


@given(st.binary(max_size=60) | st.text(max_size=60))
@example(b'{"clowl":"0.2"}')
@example("```json\n{}\n```")
@example("[" * 5000)
@settings(max_examples=300)
@pytest.mark.spec("CLOWL-067")
def test_no_input_raises_anything_but_the_documented_error(data):
    assert read(data).faults
    with pytest.raises(Invalid):
        parse(data)


@pytest.mark.parametrize("spaced", [False, True])
@pytest.mark.parametrize(
    ("data", "old", "new"),
    [
        ({"q": "x"}, b'"cid"', b'"mid":"m9","cid"'),
        ({"q": "x"}, b'"search"', b'"a\\u003ab","t":"a\\u003ab"'),
        ({"q": "x"}, b'"search"', b'"a:b","t":"search"'),
        ({"q": "x"}, b'"search"', b'"search","t":"a:b"'),
        ({"q": {"r": 1}}, b'"r"', b'"r":2,"r"'),
        ({"q": {"r": "https://example.org"}}, b'"q"', b'"q":2,"q"'),
        ({"q": "a:b"}, b'"a:b"', b'"a\\u003ab","q":"a\\u003ab"'),
        ({"q": "a:b:c"}, b'"a:b:c"', b'"a:b","q":"a:c"'),
    ],
)
@pytest.mark.spec("CLOWL-068")
def test_no_colon_in_a_string_hides_a_member_that_was_lost(data, old, new, spaced):
    body = {"t": "search", "d": data}
    text = json.dumps(value() | {"body": body}, separators=(", ", ": ") if spaced else (",", ":")).encode()
    parse(text)
    assert old in text
    with pytest.raises(Invalid):
        parse(text.replace(old, new, 1))


@pytest.mark.parametrize(
    ("name", "odd"), [("cid", "c\x7f1"), ("mid", "m\x851"), ("from", "a\n"), ("to", ["a", "b\x9f"])]
)
@pytest.mark.parametrize("ascii_only", [False, True])
@pytest.mark.spec("CLOWL-013")
def test_control_characters_in_names_are_found_however_they_are_written(name, odd, ascii_only):
    text = json.dumps(value() | {name: odd}, ensure_ascii=ascii_only).encode()
    with pytest.raises(Invalid):
        parse(text)
    assert parse_lines(text + b"\n") is None


def test_a_log_is_read_in_one_go_when_every_line_is_valid():
    texts = [
        text_of(vector) for vector in VALID if "strict" in vector["modes"] and b"\n" not in text_of(vector)
    ]
    chunk = b"\n".join(texts) + b"\n"
    alone = [parse(text, strict=True) for text in texts]
    quick = [text for text in texts if parse_lines(text + b"\n", strict=True) is not None]
    assert parse_lines(b"\n".join(quick) + b"\n") == [parse(text) for text in quick]
    assert len(quick) > len(texts) * 0.9
    found = parse_lines(chunk, strict=True)
    assert found is None or found == alone


@pytest.mark.parametrize(
    "chunk",
    [
        lambda one: one + one + b"\n",
        lambda one: one + b" " + one + b"\n",
        lambda one: one.replace(b",", b",\n", 1) + b"\n",
        lambda one: one[:-1] + b',"mid":"m9"}\n',
        lambda one: one + b"\n{}\n",
        lambda one: one.replace(b'"c1"', b'"c\\u0001"') + b"\n",
        lambda one: one.replace(b"REQ", b"DONE") + b"\n",
        lambda one: one.replace(b",", b",\n", 1) + one + b"\n" + one + b"\n",
    ],
)
def test_a_log_with_anything_in_doubt_is_left_to_be_read_line_by_line(chunk):
    one = json.dumps(value()).encode()
    assert parse_lines(one + b"\n") == [parse(one)]
    assert parse_lines(chunk(one), strict=True) is None


@pytest.mark.parametrize("end", [b"", b"\n"])
@pytest.mark.parametrize("first", [(",", ":"), (", ", ": ")])
@pytest.mark.parametrize("second", [(",", ":"), (", ", ": ")])
def test_the_lines_of_a_log_may_be_written_in_any_way(first, second, end):
    texts = [
        json.dumps(value() | {"mid": f"m{turn}"}, separators=separators).encode()
        for turn, separators in enumerate((first, second, first))
    ]
    assert parse_lines(b"\n".join(texts) + end) == [parse(text) for text in texts]


def test_a_buffer_is_read_like_bytes():
    data = bytearray(json.dumps(value()).encode())
    assert parse(data) == read(data).message == parse(bytes(data))


def test_messages_read_by_many_threads_are_each_their_own():
    texts = [encode(message(mid=f"m{n}", d={"q": "x" * (n % 50)})) for n in range(400)]
    doubled = [text[:-1] + b',"mid":"other"}' for text in texts]
    with ThreadPoolExecutor(4) as pool:
        assert [one.mid for one in pool.map(parse, texts * 5)] == [f"m{n}" for n in range(400)] * 5
        assert all(pool.map(lambda text: read(text).faults, doubled))


def test_messages_are_frozen_values():
    first, second = read_value(value()).message, read_value(value()).message
    assert first == second
    assert isinstance(first, Message)
    with pytest.raises(AttributeError):
        first.mid = "other"


@pytest.mark.spec("CLOWL-067")
def test_a_path_grows_no_longer_than_a_hundred_and_sixty():
    assert step("$" * 158, "a") == "$" * 158 + ".a"
    assert step("$" * 159, "a") == "$" * 159
    assert step("$", "two words") == '$["two words"]'
    assert step("$", "\u00e4" * 41) == '$["' + "\u00e4" * 40 + '"]'
