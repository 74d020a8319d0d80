"""The packet vectors and the published schemas, against our own reader and against an independent judge."""

import json

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.a2acp.packets import packet, schemas
from tacit.a2acp.packets.published import json_schema
from tacit.base.errors import Refused
from tests.conformance.write_packet_vectors import BODIES, FOLDER, HEADER, changed, files
from tools import a2acp_schemas

VALID = json.loads((FOLDER / "valid.json").read_text())
DRAFT = json.loads((FOLDER / "draft.json").read_text())
INVALID = json.loads((FOLDER / "invalid.json").read_text())
PERMISSION_ROWS = {"A2ACP-039", "A2ACP-040"}
JUDGES = {
    (kind, sent): jsonschema.Draft202012Validator(json_schema(kind, sent=sent))
    for kind in schemas.TYPES
    for sent in (False, True)
}


def named(vector):
    return vector["name"]


def text_of(vector):
    return vector.get("text") or json.dumps(vector["packet"])


def body_of(found):
    return {name: value for name, value in found.items() if name not in {*packet.HEADER, "seq"}}


def taken(found):
    try:
        packet.read(json.dumps(found).encode())
    except packet.MalformedPacket:
        return False
    return True


def sent(found):
    """The row that refuses it, or nothing."""
    try:
        schemas.check_out(found["type"], body_of(found))
    except Refused as refused:
        return refused.row if refused.code == "bad_packet" else refused.code
    return ""


@pytest.mark.spec("A2ACP-045", "A2ACP-046", "A2ACP-047", "A2ACP-048", "A2ACP-049", "A2ACP-050", "A2ACP-051")
@pytest.mark.spec("A2ACP-052", "A2ACP-053", "A2ACP-056", "A2ACP-058", "A2ACP-036", "A2ACP-039", "A2ACP-041")
@pytest.mark.parametrize("vector", VALID, ids=named)
def test_a_valid_packet_is_taken_and_what_may_leave_leaves(vector):
    found = vector["packet"]
    assert packet.read(text_of(vector).encode()).fields == found
    assert ("sent" in vector["modes"]) == (found["type"] in schemas.TYPES and not sent(found))


@pytest.mark.parametrize("vector", DRAFT, ids=named)
def test_each_packet_that_the_draft_prints_is_taken(vector):
    assert packet.read(text_of(vector).encode()).fields == vector["packet"]


@pytest.mark.spec("A2ACP-045", "A2ACP-046", "A2ACP-047", "A2ACP-048", "A2ACP-049", "A2ACP-050", "A2ACP-051")
@pytest.mark.spec("A2ACP-052", "A2ACP-053", "A2ACP-056", "A2ACP-036", "A2ACP-039", "A2ACP-040", "A2ACP-041")
@pytest.mark.parametrize("vector", INVALID, ids=named)
def test_a_packet_with_one_fault_is_refused_by_the_layer_that_is_named(vector):
    if vector["mode"] != "sent":
        with pytest.raises(packet.MalformedPacket):
            packet.read(text_of(vector).encode())
    if vector["layer"] in {"text", "header"}:
        return
    found = vector["packet"]
    assert taken(found) == (vector["mode"] == "sent")
    row = sent(found)
    assert (row in PERMISSION_ROWS) == (vector["layer"] == "permissions")
    assert row


@pytest.mark.parametrize(
    "row", ["A2ACP-139", "A2ACP-148", "A2ACP-051", "A2ACP-036", "A2ACP-073", "A2ACP-235"]
)
def test_a_refusal_names_the_row_behind_it(row):
    assert any(sent(one["packet"]) == row for one in INVALID if one["layer"] == "shape")


@pytest.mark.parametrize("vector", [*VALID, *DRAFT, *INVALID], ids=named)
def test_the_published_schemas_judge_every_vector_as_we_do(vector):
    found = vector.get("packet", {})
    if found.get("type") not in schemas.TYPES:
        return
    kind = found["type"]
    assert JUDGES[kind, False].is_valid(found) == taken(found)
    if vector.get("layer") not in {"header", "permissions"}:
        assert JUDGES[kind, True].is_valid(found) == (sent(found) in {"", *PERMISSION_ROWS})


def test_each_schema_is_one_and_the_files_are_current():
    for judge in JUDGES.values():
        jsonschema.Draft202012Validator.check_schema(judge.schema)
    there = {path.name: path.read_text() for path in a2acp_schemas.FOLDER.glob("*.json")}
    assert there == a2acp_schemas.files()


def test_the_vectors_are_what_the_generator_writes_and_all_types_are_among_them():
    for name, vectors in files().items():
        assert json.loads((FOLDER / f"{name}.json").read_text()) == json.loads(json.dumps(vectors))
    assert {one["packet"]["type"] for one in VALID if one["modes"] == ["received", "sent"]} == {
        *schemas.TYPES
    }


# Whole numbers written as fractions are left out: a schema cannot tell 1.0 from 1, and we do.
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-2, 9)
    | st.sampled_from(["", " ", "urgent", "confirmed", "counter", "x"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abc"), inner, max_size=2),
    max_leaves=5,
)


def places(value, path=()):
    yield path
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, one in inside:
        yield from places(one, (*path, key))


@given(data=st.data(), kind=st.sampled_from(sorted(schemas.TYPES)))
@settings(max_examples=100, deadline=None)
def test_whatever_stands_anywhere_schemas_and_reader_agree_and_nothing_worse_than_a_refusal_comes(data, kind):
    found = {**HEADER, "type": kind, **BODIES[kind]}
    for _ in range(data.draw(st.integers(1, 2))):
        body = [path for path in places(found) if path and path != ("type",)]
        found = changed(found, data.draw(st.sampled_from(body)), data.draw(JSON))
    assert JUDGES[kind, False].is_valid(found) == taken(found)
    if taken(found):
        row = sent(found)
        assert JUDGES[kind, True].is_valid(found) == (not row or row in PERMISSION_ROWS)
        kept = schemas.normalised(kind, found)
        assert taken(kept)
        assert schemas.normalised(kind, kept) == kept
