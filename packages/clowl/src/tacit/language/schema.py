"""The JSON Schema (2020-12) of a message, made from the tables the validator uses (CLOWL-069).

Describes objects, not texts: duplicate keys, size and encoding are the parser's. A test holds schema and
validator together on every vector, in both modes.
"""

from __future__ import annotations

from typing import Any, Final

from tacit.language.tables import (
    BROADCAST,
    DELEGATION_MODES,
    ERROR_CODES,
    MAX_CHAIN,
    MAX_INLINE,
    MAX_NAME,
    MAX_TS,
    PARENTLESS_ERRORS,
    PERFORMATIVES,
    REPLIES_THAT_NEED_A_PARENT,
    REQUIRED,
    VERSION,
)

_ID: Final = "urn:tacit:clowl:{version}:{mode}"
_CONTROL: Final = "[\\u0000-\\u001f\\u007f-\\u009f]"


def schema(*, strict: bool = True) -> dict[str, Any]:
    """The schema of what may be sent (strict) or of what is accepted (lenient)."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": _ID.format(version=VERSION, mode="strict" if strict else "lenient"),
        "title": f"CLowl {VERSION} message, {'as sent' if strict else 'as accepted'}",
        "type": "object",
        "required": list(REQUIRED),
        "properties": _properties(strict=strict),
        **({"additionalProperties": False} if strict else {}),
        "allOf": [*_data_rules(strict=strict), *(_parent_rules() if strict else ())],
        "$defs": {"name": _name(), "agent": {"$ref": "#/$defs/name", "not": {"const": BROADCAST}}},
    }


def _name() -> dict[str, Any]:
    return {"type": "string", "minLength": 1, "maxLength": MAX_NAME, "not": {"pattern": _CONTROL}}


def _optional(rule: dict[str, Any], *, strict: bool) -> dict[str, Any]:
    return rule if strict else {"anyOf": [rule, {"type": "null"}]}


def _properties(*, strict: bool) -> dict[str, Any]:
    name = {"$ref": "#/$defs/name"}
    agent = {"$ref": "#/$defs/agent"}
    return {
        "clowl": {"const": VERSION},
        "mid": name,
        "ts": {"type": "integer", "minimum": 0, "maximum": MAX_TS},
        "tid": _optional(name, strict=strict),
        "pid": {"anyOf": [name, {"type": "null"}]},
        "p": {"enum": list(PERFORMATIVES)},
        "from": agent,
        "to": {"anyOf": [name, {"type": "array", "minItems": 1, "uniqueItems": True, "items": agent}]},
        "cid": name,
        "body": {
            "type": "object",
            "required": ["t", "d"],
            "properties": {"t": name, "d": {"type": "object"}},
            **({"additionalProperties": False} if strict else {}),
        },
        "ctx": _optional(_ctx(strict=strict), strict=strict),
        "auth": _optional({"type": "string"}, strict=strict),
        "det": _optional({"type": "boolean"}, strict=strict),
    }


def _ctx(*, strict: bool) -> dict[str, Any]:
    digits = "0-9a-f" if strict else "0-9a-fA-F"
    return {
        "type": "object",
        "properties": {
            "ref": {"type": ["string", "null"]},
            "inline": {"type": ["string", "null"], "maxLength": MAX_INLINE},
            "hash": {"type": ["string", "null"], "pattern": f"^[{digits}]{{64}}$", "maxLength": 64},
        },
        **({"additionalProperties": False} if strict else {}),
    }


def _when(performative: str, data: dict[str, Any]) -> dict[str, Any]:
    return {
        "if": {"properties": {"p": {"const": performative}}, "required": ["p"]},
        "then": {"properties": {"body": {"properties": {"d": data}}}},
    }


def _data_rules(*, strict: bool) -> list[dict[str, Any]]:
    name = {"$ref": "#/$defs/name"}
    chain = {"type": "array", "maxItems": MAX_CHAIN, "items": name}
    return [
        _when("ERR", _error(strict=strict)),
        _when(
            "DLGT",
            {
                "required": ["delegation_mode"],
                "properties": {
                    "delegation_mode": {"enum": list(DELEGATION_MODES)},
                    "reply_to": name,
                    "chain": chain,
                },
            },
        ),
        _when(
            "PROG",
            {
                "properties": {
                    "pct": {"type": "number", "minimum": 0, "maximum": 100},
                    "note": {"type": "string"},
                }
            },
        ),
        _when("ACK", {"properties": {"eta": {"type": "string"}}}),
        _when(
            "CAPS",
            {
                "required": ["supports", "clowl"],
                "properties": {
                    "supports": {"type": "array", "items": {"type": "string"}},
                    "clowl": {"const": VERSION},
                },
            },
        ),
    ]


def _error(*, strict: bool) -> dict[str, Any]:
    final = [code for code, row in ERROR_CODES.items() if not row.retryable]
    rule: dict[str, Any] = {
        "required": ["code", "msg", "retry"] if strict else ["code", "msg"],
        "properties": {
            "code": {"enum": list(ERROR_CODES)}
            if strict
            else {"type": "string", "pattern": "^E[0-9]{3}$", "maxLength": 4},
            "msg": {"type": "string", "minLength": 1},
            "retry": {"type": "boolean"},
        },
    }
    if strict:
        rule |= {
            "if": {"properties": {"code": {"enum": final}}, "required": ["code"]},
            "then": {"properties": {"retry": {"const": False}}},
        }
    return rule


def _parent_rules() -> list[dict[str, Any]]:
    """Replies name their parent, except an error about something that could not be read (CLOWL-045)."""
    named = {"properties": {"pid": {"type": "string"}}, "required": ["pid"]}
    excused = {
        "properties": {
            "p": {"const": "ERR"},
            "body": {"properties": {"d": {"properties": {"code": {"enum": sorted(PARENTLESS_ERRORS)}}}}},
        },
        "required": ["p"],
    }
    replies = {"properties": {"p": {"enum": sorted(REPLIES_THAT_NEED_A_PARENT)}}, "required": ["p"]}
    return [{"if": replies, "then": {"anyOf": [named, excused]}}]
