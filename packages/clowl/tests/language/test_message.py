"""Building and describing messages: ids, times, traces, parents, tables, English, schema, prompt."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.base import ids
from tacit.language import (
    Context,
    Invalid,
    encode,
    english,
    english_of,
    parse,
    prompt,
    read,
    read_value,
    schema,
)
from tacit.language.lint import is_uuid7
from tacit.language.prompt import MAX_TOKENS
from tacit.language.tables import DELEGATION_MODES, ERROR_CODES, PERFORMATIVES, declared_intent, retryable
from tests.language.cast import START, Clock, author, message, text_of, value, vectors

GOLDEN = Path(__file__).parent / "golden_english.json"


def all_ten(clock=None):
    oscar, radar = author("oscar", clock), author("radar", clock)
    request = oscar.req("radar", "search", {"q": "x"})
    return [
        request,
        oscar.inf("radar", "weather", {"sky": "blue"}),
        radar.ack(request),
        radar.err(request, "E003", "No such file"),
        radar.dlgt("muse", "search", "fork", parent=request),
        radar.done(request, {"found": 3}),
        oscar.cncl(request),
        oscar.qry("radar", "status"),
        radar.prog(request, pct=40, note="halfway"),
        radar.caps(["search:web"]),
    ]


@pytest.mark.spec("CLOWL-002", "CLOWL-003", "CLOWL-034", "CLOWL-066")
def test_builders_of_all_ten_make_strict_messages_with_rising_uuid7_ids():
    built = all_ten()
    assert {one.p for one in built} == set(PERFORMATIVES)
    assert all(parse(encode(one), strict=True) == one for one in built)
    assert all(one.clowl == "0.2" and is_uuid7(one.mid) and one.ts == START for one in built)
    oscar = author("oscar")
    mids = [oscar.new_id() for _ in range(500)]
    assert mids == sorted(set(mids))
    assert int.from_bytes(ids.raw(mids[0])[:6], "big") == START * 1000


@pytest.mark.spec("CLOWL-021")
def test_builders_write_no_nulls_and_no_unknown_members():
    for one in all_ten():
        assert None not in json.loads(encode(one)).values()
        assert not read(encode(one), strict=True).faults


@pytest.mark.spec("CLOWL-007", "CLOWL-008", "CLOWL-014")
def test_roots_start_a_trace_and_replies_take_trace_conversation_and_parent():
    oscar, radar = author("oscar"), author("radar")
    for root in (oscar.req("radar", "a"), oscar.qry("radar", "a"), oscar.dlgt("radar", "a", "assist")):
        assert root.trace is not None
        assert root.parent is None
        reply = radar.inf("oscar", "a", parent=root)
        assert (reply.trace, reply.cid, reply.parent) == (root.trace, root.cid, root.mid)
    untraced = oscar.inf("radar", "a")
    assert untraced.trace is None
    assert radar.qry("oscar", "a", parent=untraced).trace is None
    elsewhere = radar.dlgt("muse", "a", "fork", parent=root, cid="other")
    assert (elsewhere.trace, elsewhere.cid) == (root.trace, "other")


@pytest.mark.spec("CLOWL-059", "CLOWL-060", "CLOWL-061")
def test_err_takes_retry_from_the_table_and_may_only_lower_it():
    radar, request = author("radar"), message()
    for code in ERROR_CODES:
        assert radar.err(request, code, "x").data["retry"] is retryable(code)
    assert radar.err(request, "E004", "x", retry=False).data["retry"] is False
    for code, msg, retry in (("E005", "x", True), ("E004", "", None), ("E099", "x", None), ("x", "x", None)):
        with pytest.raises(Invalid):
            radar.err(request, code, msg, retry=retry)
    assert radar.err(request, "E004", "x").task == "error"


@pytest.mark.spec("CLOWL-060")
def test_the_sixteen_codes_are_the_drafts():
    table = {code: (row.category, row.retryable) for code, row in ERROR_CODES.items()}
    assert table == {
        "E001": ("Parse", True), "E002": ("Auth", False), "E003": ("Context", True), "E004": ("Capacity", True),
        "E005": ("Task", False), "E006": ("Timeout", True), "E007": ("Dependency", True),
        "E008": ("Validation", True), "E009": ("Internal", True), "E010": ("Delegation", False),
        "E011": ("Conflict", True), "E012": ("Budget", False), "E013": ("Cancelled", False),
        "E014": ("Version", False), "E015": ("Cycle", False), "E016": ("Security", False),
    }  # fmt: skip


@pytest.mark.spec("CLOWL-034")
def test_the_ten_performatives_have_the_drafts_names():
    assert {code: row.name for code, row in PERFORMATIVES.items()} == {
        "REQ": "Request", "INF": "Inform", "ACK": "Acknowledge", "ERR": "Error", "DLGT": "Delegate",
        "DONE": "Complete", "CNCL": "Cancel", "QRY": "Query", "PROG": "Progress", "CAPS": "Capabilities",
    }  # fmt: skip


@pytest.mark.spec("CLOWL-092", "CLOWL-038", "CLOWL-042")
def test_the_performative_is_the_declared_intent():
    intents = {p: declared_intent(p) for p in PERFORMATIVES}
    assert {p for p, intent in intents.items() if intent == "obliges"} == {"REQ", "QRY", "DLGT"}
    assert {p for p, intent in intents.items() if intent == "cancels"} == {"CNCL"}
    assert {p for p, intent in intents.items() if intent == "informs"} == {
        "INF",
        "DONE",
        "ACK",
        "PROG",
        "CAPS",
        "ERR",
    }


@pytest.mark.spec("CLOWL-047")
def test_delegation_needs_one_of_three_modes():
    oscar = author("oscar")
    assert set(DELEGATION_MODES) == {"transfer", "fork", "assist"}
    for mode in DELEGATION_MODES:
        assert oscar.dlgt("muse", "a", mode).data["delegation_mode"] == mode
    with pytest.raises(Invalid) as invalid:
        oscar.dlgt("muse", "a", "give")
    assert invalid.value.code == "E008"


@pytest.mark.spec("CLOWL-055")
def test_caps_is_announced_to_everyone_in_the_system_conversation():
    caps = author("radar").caps(["search:web", "analyze"])
    assert (caps.to, caps.cid, caps.task) == ("*", "system", "capabilities")
    assert caps.data == {"supports": ["search:web", "analyze"], "clowl": "0.2"}


@pytest.mark.spec("CLOWL-071", "CLOWL-072", "CLOWL-073", "CLOWL-074", "CLOWL-075")
@pytest.mark.parametrize(
    "golden", json.loads(GOLDEN.read_text(encoding="utf-8")), ids=lambda golden: golden["name"]
)
def test_the_english_is_exactly_this(golden):
    data = json.dumps(golden["message"]).encode()
    assert english_of(read(data)) == golden["english"]
    if "verbose" in golden:
        assert english_of(read(data), verbose=True) == golden["verbose"]


@pytest.mark.spec("CLOWL-073")
def test_a_value_of_200_characters_is_whole_and_a_longer_one_is_cut_there():
    oscar = author("oscar")
    whole, longer = (english(oscar.req("radar", "search", {"q": "x" * size})) for size in (198, 199))
    assert f'(q="{"x" * 198}")' in whole
    assert f'(q="{"x" * 199}…)' in longer


@pytest.mark.spec("CLOWL-071", "CLOWL-075", "CLOWL-018")
@given(
    st.sampled_from(vectors("valid")),
    st.text(max_size=20),
    st.dictionaries(
        st.text(max_size=5), st.text(max_size=9) | st.floats(allow_nan=False, allow_infinity=False)
    ),
)
@settings(max_examples=300, deadline=None)
def test_english_is_one_line_with_no_way_to_forge_another(vector, text, more):
    reading = read(text_of(vector))
    data = json.loads(encode(reading.message))
    data["body"]["d"] |= {**more, "zz": text}
    data["auth"] = "tok-3n"
    data["from"] = (text or "x")[:100]
    again = read_value(data)
    for found in (again, reading):
        line = english_of(found, verbose=True)
        assert len(line.splitlines()) == 1
        assert not any(char in line for char in "\u202e\u2066\u200f\x1b\x00\u061c")
        assert "tok-3n" not in line
    if again.message:
        shuffled = dict(reversed(data.items()))
        shuffled["body"] = dict(reversed(data["body"].items()))
        shuffled["body"]["d"] = dict(reversed(data["body"]["d"].items()))
        assert english(read_value(shuffled).message) == english(again.message)


@pytest.mark.spec("CLOWL-075")
@pytest.mark.parametrize("vector", vectors("invalid"), ids=lambda vector: vector["name"])
def test_invalid_messages_have_a_reading_too(vector):
    line = english_of(read(text_of(vector), strict=True))
    assert line.startswith(f"Invalid CLowl message: {vector['code']} ")
    assert line.endswith(".")
    assert len(line.splitlines()) == 1


@pytest.mark.spec("CLOWL-069")
@pytest.mark.parametrize("strict", [True, False])
def test_schema_and_validator_agree_on_every_vector(strict):
    validator = jsonschema.Draft202012Validator(schema(strict=strict))
    jsonschema.Draft202012Validator.check_schema(schema(strict=strict))
    mode = "strict" if strict else "lenient"
    checked = 0
    for vector in vectors("valid"):
        if "```" not in vector["text"]:
            assert validator.is_valid(json.loads(vector["text"])) is (mode in vector["modes"]), vector["name"]
            checked += 1
    for vector in vectors("invalid"):
        if vector["layer"] != "text":
            refused = vector["mode"] == "both" or strict
            assert validator.is_valid(json.loads(vector["text"])) is not refused, vector["name"]
            checked += 1
    assert checked > 280


@pytest.mark.spec("CLOWL-069")
def test_the_drafts_two_examples_are_valid_in_strict_mode():
    examples = [vector for vector in vectors("valid") if vector["file"] == "examples"]
    assert [parse(text_of(vector), strict=True).mid for vector in examples] == ["m004", "caps-001"]


@pytest.mark.spec("CLOWL-080", "CLOWL-081", "CLOWL-084")
@pytest.mark.filterwarnings("ignore:open_binary is deprecated:DeprecationWarning")
@pytest.mark.parametrize("form", ["semantic", "full"])
def test_the_prompt_is_v02_complete_and_short(form):
    text = prompt(form)
    assert "0.2" in text
    for stale in ('"cl"', "0.1", "x-"):
        assert stale not in text
    for word in (
        *PERFORMATIVES,
        *DELEGATION_MODES,
        "delegation_mode",
        "E001-E016",
        "msg",
        "retry",
        '"ctx":{"ref"',
    ):
        assert word in text
    assert "RAW JSON only" in text
    assert "no markdown" in text
    assert "Natural language only for humans" in text
    assert ('"mid"' in text) is (form == "full")
    import bpe_openai

    for encoding in ("o200k_base", "cl100k_base"):
        assert len(bpe_openai.get_encoding(encoding).encode(text)) <= MAX_TOKENS == 200


@pytest.mark.spec("CLOWL-018")
def test_a_token_is_not_in_what_is_written_for_people():
    one = message(auth="tok-3n")
    assert "tok-3n" not in english(one, verbose=True)
    assert "auth=present" in english(one, verbose=True)


@pytest.mark.spec("CLOWL-040", "CLOWL-046")
@pytest.mark.parametrize("to", ["radar", ["radar", "muse"], "*"])
def test_a_cancellation_goes_to_whoever_was_asked(to):
    oscar = author("oscar")
    request = oscar.req(to, "search")
    cancel = oscar.cncl(request)
    assert (cancel.to, cancel.parent, cancel.cid) == (request.to, request.mid, request.cid)


def test_context_is_given_as_a_value():
    one = author("oscar").req("radar", "a", ctx=Context(ref="a.md", hash="0" * 64))
    assert json.loads(encode(one))["ctx"] == {"ref": "a.md", "hash": "0" * 64}
    with pytest.raises(Invalid):
        author("oscar").req("radar", "a", ctx=Context(inline="x" * 2001))
    assert value()["p"] == "REQ"
    assert Clock(5).now() == 5_000_000


@pytest.mark.spec("CLOWL-002", "CLOWL-047")
def test_progress_says_what_it_was_given_and_nothing_else():
    radar, request = author("radar"), message(mid="r")
    assert radar.prog(request).data == {}
    assert radar.prog(request, pct=0).data == {"pct": 0}
    assert radar.prog(request, note="half").data == {"note": "half"}
    assert radar.prog(request, pct=50, note="half", data={"eta": 3}).data == {
        "eta": 3,
        "pct": 50,
        "note": "half",
    }
