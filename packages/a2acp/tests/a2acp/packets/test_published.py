"""What is published for other programs says what our own reader asks: shape by shape, as received and as sent."""

from __future__ import annotations

from typing import Any

import pytest
from jsonschema import Draft202012Validator

from tacit.a2acp.packets import published, schemas
from tacit.a2acp.packets.shapes import (
    Anything,
    Erased,
    Flag,
    Form,
    ListOf,
    MapOf,
    NeededWith,
    OneOf,
    RecordMember,
    RecordShape,
    Text,
    Whole,
    Word,
)
from tacit.a2acp.packets.tools import TOOLS
from tacit.base.errors import Refused

pytestmark = pytest.mark.spec("A2ACP-045", "A2ACP-262")
FORM = Form("two letters", "[a-z]{2}", lambda text: len(text) == 2)
BOTH = {"received": True, "sent": True}
NONE = {"received": False, "sent": False}
OURS = {"received": True, "sent": False}
"""Taken from others, and not to be sent by us."""


def record(*members: RecordMember, rules: tuple[Any, ...] = (), **more: Any) -> RecordShape:
    return RecordShape(members, rules, **more)


CASES = [
    (Anything(), None, BOTH),
    (Erased(), None, BOTH),
    (Erased(), "why", OURS),
    (Flag(), True, BOTH),
    (Flag(), 1, NONE),
    (Whole(1, 3), 0, NONE),
    (Whole(1, 3), 1, BOTH),
    (Whole(1, 3), 3, BOTH),
    (Whole(1, 3), 4, NONE),
    (Text(), "", BOTH),
    (Text(blank=False), " ", NONE),
    (Text(blank=False), "x", BOTH),
    (Text(form=FORM), "ab", BOTH),
    (Text(form=FORM), "ab\n", NONE),
    (Text(form=FORM), "abc", NONE),
    (Text(sent_form=FORM), "abc", OURS),
    (Word(("yes", "no")), "perhaps", OURS),
    (Word(("yes", "no"), exact=True), "perhaps", NONE),
    (Word(("yes", "no")), "no", BOTH),
    (ListOf(Flag()), [], BOTH),
    (ListOf(Flag()), [1], NONE),
    (ListOf(Flag(), least=1), [], NONE),
    (ListOf(Flag(), sent_least=1), [], OURS),
    (ListOf(Flag(), least=1), [True], BOTH),
    (ListOf(Flag(), most=1), [True, False], OURS),
    (ListOf(Flag(), most=2), [True, False], BOTH),
    (ListOf(Flag(), unique=True), [True, True], OURS),
    (MapOf(Anything()), {"a": 1}, BOTH),
    (MapOf(Anything()), [], NONE),
    (MapOf(Flag()), {"a": 1}, NONE),
    (record(RecordMember("a", Flag())), {"a": True}, BOTH),
    (record(RecordMember("a", Flag())), {}, NONE),
    (record(RecordMember("a", Flag())), {"a": None}, NONE),
    (record(RecordMember("a", Flag(), needed=False)), {}, BOTH),
    (record(RecordMember("a", Flag(), needed=False)), {"a": None}, OURS),
    (record(RecordMember("a", Flag(), needed=False, sent=True)), {}, OURS),
    (record(RecordMember("a", Flag(), needed=False, advisory=True)), {"a": 1}, OURS),
    (record(RecordMember("a", Flag())), {"a": True, "b": 1}, OURS),
    (record(RecordMember("a", Flag(), needed=False), rules=(OneOf(("a",)),)), {}, NONE),
    (record(RecordMember("a", Flag(), needed=False), rules=(OneOf(("a", "b")),)), {"a": True}, BOTH),
    (record(RecordMember("a", Text()), rules=(NeededWith("a", "x", ("b",)),)), {"a": "x"}, NONE),
    (record(RecordMember("a", Text()), rules=(NeededWith("a", "x", ("b",)),)), {"a": "y"}, BOTH),
    (record(RecordMember("a", Text()), rules=(NeededWith("a", "x", ("b",), sent=True),)), {"a": "x"}, OURS),
]


@pytest.mark.parametrize(("shape", "value", "fits"), CASES)
def test_a_published_shape_takes_what_ours_takes(shape: Any, value: Any, fits: dict[str, bool]) -> None:
    for mode, yes in fits.items():
        schema = published.shape_schema(shape, sent=mode == "sent")
        Draft202012Validator.check_schema(schema)
        assert Draft202012Validator(schema).is_valid(value) is yes, mode


@pytest.mark.parametrize("sent", [False, True])
@pytest.mark.parametrize("kind", sorted(schemas.TYPES))
def test_every_type_is_published_by_its_own_name(kind: str, *, sent: bool) -> None:
    schema = published.json_schema(kind, sent=sent)
    Draft202012Validator.check_schema(schema)
    mode = "sent" if sent else "received"
    assert schema["$id"] == f"urn:tacit:a2acp:0.2:{kind}:{mode}"
    assert schema["title"] == f"A2ACP packet of type {kind}, as {mode}"
    assert schema["properties"]["type"] == {"const": kind}
    assert ("consolidated" in schema["properties"]) is sent
    assert schema.get("additionalProperties", True) is not sent
    assert set(schema["required"]) >= {"protocol", "packet_id", "thread_id", "from", "to"}


@pytest.mark.spec("A2ACP-265")
@pytest.mark.parametrize("name", sorted(TOOLS))
def test_a_tool_takes_what_its_schema_names_and_nothing_else(name: str) -> None:
    tool = TOOLS[name]
    schema = tool.schema()
    Draft202012Validator.check_schema(schema)
    assert schema["additionalProperties"] is False
    assert schema["required"] == [one.name for one in tool.takes.members if one.needed or one.sent]
    with pytest.raises(Refused) as found:
        tool.check({"nobody_asked": 1})
    assert (found.value.code, "nobody_asked" in str(found.value)) == ("invalid_request", False)
