"""JSON Schemas (2020-12) of packets, for other programs: as received and as sent, from the one table.

A2ACP-045, A2ACP-046, A2ACP-047, A2ACP-048, A2ACP-049, A2ACP-050, A2ACP-051, A2ACP-052, A2ACP-053, A2ACP-056,
A2ACP-057, A2ACP-262.

They describe objects, not texts: duplicate keys, sizes and the days of February are the reader's. A word
that we would read in our own way is any text in what is received, with the words that we know as examples.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tacit.a2acp.packets.schemas import HEADER, TYPES
from tacit.a2acp.packets.shapes import (
    Anything,
    Erased,
    Flag,
    ListOf,
    MapOf,
    NeededWith,
    OneOf,
    RecordMember,
    RecordShape,
    Text,
    Whole,
    Word,
    shape_of,
)

if TYPE_CHECKING:
    from tacit.a2acp.packets.shapes import Form, Shape


def json_schema(packet_type: str, *, sent: bool = False) -> dict[str, Any]:
    """The schema of a packet of a type with its header, as it may come or, `sent`, as it may leave."""
    own = TYPES[packet_type].record(sent=sent)
    members = (*HEADER.members, *own.members)
    if sent:
        members = (*members, RecordMember("consolidated", Flag(), needed=False))
    mode = "sent" if sent else "received"
    schema = shape_schema(RecordShape(members, own.rules), sent=sent)
    schema["properties"]["type"] = {"const": packet_type}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"urn:tacit:a2acp:0.2:{packet_type}:{mode}",
        "title": f"A2ACP packet of type {packet_type}, as {mode}",
        **schema,
    }


def shape_schema(shape: Shape, *, sent: bool) -> dict[str, Any]:
    """The schema of a shape, as it may come or as it may leave."""
    match shape:
        case Anything():
            return {}
        case Erased():
            return {"type": "null"} if sent else {}
        case Flag():
            return {"type": "boolean"}
        case Whole():
            return {"type": "integer", "minimum": shape.least, "maximum": shape.most}
        case Text():
            return _text(shape, sent=sent)
        case Word():
            exact = sent or shape.exact
            return {"enum": [*shape.words]} if exact else {"type": "string", "examples": [*shape.words]}
        case ListOf():
            return _list(shape, sent=sent)
        case MapOf():
            item = shape_schema(shape.item, sent=sent)
            return {"type": "object", **({"additionalProperties": item} if item else {})}
        case RecordShape():
            return _record(shape, sent=sent)


def _text(shape: Text, *, sent: bool) -> dict[str, Any]:
    form: Form | None = shape.form or (shape.sent_form if sent else None)
    if form is not None:
        # Some engines' `$` forgives a line's end.
        return {"type": "string", "pattern": rf"^(?:{form.pattern})(?![\s\S])"}
    return {"type": "string", **({} if shape.blank else {"pattern": r"\S"})}


def _list(shape: ListOf, *, sent: bool) -> dict[str, Any]:
    found: dict[str, Any] = {"type": "array", "items": shape_schema(shape.item, sent=sent)}
    least = max(shape.least, shape.sent_least if sent else 0)
    if least:
        found["minItems"] = least
    if sent and shape.most is not None:
        found["maxItems"] = shape.most
    if sent and shape.unique:
        found["uniqueItems"] = True
    return found


def _record(shape: RecordShape, *, sent: bool) -> dict[str, Any]:
    asked = [each.name for each in shape.members if each.needed or (sent and each.sent)]
    found: dict[str, Any] = {
        "type": "object",
        **({"required": asked} if asked else {}),
        "properties": {each.name: _member(each, sent=sent) for each in shape.members},
    }
    if sent and not shape.open:
        found["additionalProperties"] = False
    rules = [_rule(rule) for rule in shape.rules if sent or isinstance(rule, OneOf) or not rule.sent]
    return {**found, **({"allOf": rules} if rules else {})}


def _member(member: RecordMember, *, sent: bool) -> dict[str, Any]:
    if member.advisory and not sent:
        return {}
    found = shape_schema(shape_of(member, sent=sent), sent=sent)
    return found if sent or member.needed or not found else {"anyOf": [found, {"type": "null"}]}


def _present(*names: str) -> dict[str, Any]:
    return {"required": [*names], "properties": {name: {"not": {"type": "null"}} for name in names}}


def _rule(rule: OneOf | NeededWith) -> dict[str, Any]:
    match rule:
        case OneOf():
            return {"anyOf": [_present(name) for name in rule.names]}
        case NeededWith():
            asked = {"properties": {rule.name: {"const": rule.word}}, "required": [rule.name]}
            return {"if": asked, "then": _present(*rule.needs)}
