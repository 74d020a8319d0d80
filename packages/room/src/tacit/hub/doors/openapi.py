"""The OpenAPI description, made from the table of operations and the types of their parameters."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final, cast

import msgspec

from tacit.base.version import version
from tacit.hub.doors.routes import OPERATIONS, Operation
from tacit.ledger.codes import CODES

if TYPE_CHECKING:
    from tacit.hub.config import HubConfig

_EVENT: Final = {
    "type": "object",
    "description": "A CCCS event. The envelope's meaning is fixed; `data` depends on the kind.",
    "required": ["v", "id", "ts", "seq", "kind", "group_id", "scope_key", "by", "data"],
    "properties": {
        "v": {"const": 1},
        "id": {"type": "string"},
        "ts": {"type": "string", "format": "date-time"},
        "seq": {"type": "integer", "minimum": 1},
        "kind": {"type": "string"},
        "group_id": {"type": "string"},
        "scope_key": {"type": "string"},
        "by": {"type": "string"},
        "data": {"type": "object"},
    },
}
_ERROR: Final = {
    "type": "object",
    "required": ["code", "message"],
    "properties": {
        "code": {"type": "string", "enum": list(CODES)},
        "message": {"type": "string"},
        "details": {"type": "object"},
    },
}
_EVENT_REF: Final = {"$ref": "#/components/schemas/Event"}
_EVENTS: Final = {"type": "array", "items": _EVENT_REF}
_OBJECT: Final = {"type": "object"}
_DAMAGED: Final = {
    "type": "array",
    "items": {"type": "integer"},
    "description": "Positions whose events are damaged on the hub's disk, and were left out.",
}
_SOME_EVENTS: Final = {"type": "object", "properties": {"events": _EVENTS, "damaged": _DAMAGED}}
_GROUP: Final = {
    "type": "object",
    "required": ["group_id", "title", "last_seq", "actors"],
    "properties": {
        "group_id": {"type": "string"},
        "title": {"type": "string"},
        "last_seq": {"type": "integer"},
        "actors": {"type": "array", "items": _OBJECT},
        "people": {"type": "array", "items": _OBJECT},
        "scopes": {"type": "array", "items": _OBJECT},
    },
}
_PAGE: Final = {
    "type": "object",
    "required": ["events", "next_cursor"],
    "properties": {
        "events": _EVENTS,
        "next_cursor": {"type": "integer"},
        "last_seq": {"type": "integer"},
        "damaged": _DAMAGED,
    },
}
_INBOX: Final = {
    "type": "object",
    "required": ["unread", "attention", "cursor"],
    "properties": {
        "actor_id": {"type": "string"},
        "unread": _EVENTS,
        "unread_count": {"type": "integer"},
        "attention": _EVENTS,
        "attention_count": {"type": "integer"},
        "notices": _EVENTS,
        "cursor": {"type": "integer"},
        "damaged": _DAMAGED,
    },
}
_TOKEN: Final = {"type": "object", "required": ["token"], "properties": {"token": {"type": "string"}}}
_LINK: Final = {
    "type": "object",
    "required": ["code", "path"],
    "properties": {"code": {"type": "string"}, "path": {"type": "string"}, "minutes": {"type": "integer"}},
}
ANSWERS: Final[dict[str, dict[str, Any]]] = {
    "create_group": _GROUP,
    "group": _GROUP,
    "groups": {"type": "object", "properties": {"groups": {"type": "array", "items": _GROUP}}},
    "add_actor": _TOKEN,
    "add_person": {"anyOf": [_TOKEN, _LINK]},
    "sign_in_link": _LINK,
    "add_service": _TOKEN,
    "issue_token": _TOKEN,
    "append": _EVENT_REF,
    "relay": _EVENT_REF,
    "speak": _EVENT_REF,
    "events": _PAGE,
    "event": {"type": "object", "properties": {"event": _EVENT_REF}},
    "thread": _SOME_EVENTS,
    "window": _SOME_EVENTS,
    "search": _SOME_EVENTS,
    "inbox": _INBOX,
}
_FAULTS: Final = ("400", "401", "403", "404", "413", "429", "503")


def _answer(schema: dict[str, Any], text: str) -> dict[str, Any]:
    return {"description": text, "content": {"application/json": {"schema": schema}}}


def _error(text: str) -> dict[str, Any]:
    return _answer({"$ref": "#/components/schemas/Error"}, text)


def _errors() -> dict[str, Any]:
    texts = {"401": "no valid token", "413": "too large", "429": "too many requests"}
    for code in CODES.values():
        texts.setdefault(str(code.http), code.meaning)
    return {status: _error(texts[status]) for status in _FAULTS}


def _schemas_of(operation: Operation) -> tuple[dict[str, Any], dict[str, Any]]:
    """The schema of the parameters, and by their names those that it refers to."""
    (_,), components = msgspec.json.schema_components(
        [operation.params], ref_template="#/components/schemas/{name}"
    )
    return cast("dict[str, Any]", components.pop(operation.params.__name__)), components


def _operation(operation: Operation, schema: dict[str, Any]) -> dict[str, Any]:
    properties: dict[str, Any] = schema.get("properties", {})
    required = set(schema.get("required", ()))
    in_path = re.findall(r"{(\w+)}", operation.path)
    parameters = [
        {"name": name, "in": "path", "required": True, "schema": properties[name]} for name in in_path
    ]
    answer = _answer(ANSWERS.get(operation.name, _OBJECT), operation.summary)
    described: dict[str, Any] = {
        "operationId": operation.name,
        "summary": operation.summary,
        "parameters": parameters,
        "responses": {str(operation.status): answer, **_errors()},
    }
    if operation.may_repeat:
        described["responses"]["200"] = _answer(
            _EVENT_REF, "A repeat: the first event, with `duplicate: true`"
        )
    rest = {name: value for name, value in properties.items() if name not in in_path}
    if operation.method == "GET":
        parameters += [
            {
                "name": name,
                "in": "query",
                "required": name in required,
                "schema": _plain(value),
                **({"style": "form", "explode": False} if _is_list(value) else {}),
            }
            for name, value in rest.items()
        ]
    elif operation.method == "POST" and rest:
        body = {"type": "object", "properties": rest, "required": sorted(required - set(in_path))}
        described["requestBody"] = {"required": True, "content": {"application/json": {"schema": body}}}
    elif operation.method == "POST":
        described["requestBody"] = {
            "required": True,
            "content": {"application/json": {"schema": {"type": "object"}}},
        }
    return described


def _is_list(schema: dict[str, Any]) -> bool:
    return schema.get("type") == "array" or any(_is_list(one) for one in schema.get("anyOf", ()))


def _plain(schema: dict[str, Any]) -> dict[str, Any]:
    """A query parameter is absent rather than null."""
    choices = [one for one in schema.get("anyOf", ()) if one.get("type") != "null"]
    return choices[0] if len(choices) == 1 else {k: v for k, v in schema.items() if k != "default"}


def _blob_paths() -> dict[str, Any]:
    group = {"name": "group_id", "in": "path", "required": True, "schema": {"type": "string", "minLength": 1}}
    path = {"name": "path", "in": "path", "required": True, "schema": {"type": "string", "minLength": 1}}
    stored = {
        "type": "object",
        "required": ["path", "sha256", "bytes"],
        "properties": {
            "path": {"type": "string"},
            "sha256": {"type": "string"},
            "bytes": {"type": "integer"},
        },
    }
    anything = {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}}
    return {
        "/v1/groups/{group_id}/blobs": {
            "post": {
                "operationId": "upload_blob",
                "summary": "Store a blob; its path is its sha256",
                "parameters": [group],
                "requestBody": {"required": True, "content": anything},
                "responses": {"201": _answer(stored, "Stored"), **_errors()},
            }
        },
        "/v1/groups/{group_id}/blobs/{path}": {
            "get": {
                "operationId": "fetch_blob",
                "summary": "A blob's bytes",
                "parameters": [group, path],
                "responses": {
                    "200": {
                        "description": "The bytes, under the blob's own type when that is safe to show",
                        "content": {"*/*": {"schema": {"type": "string", "format": "binary"}}},
                    },
                    **_errors(),
                },
            }
        },
    }


def describe(config: HubConfig) -> dict[str, Any]:
    """The whole description."""
    paths: dict[str, Any] = {}
    schemas: dict[str, Any] = {"Event": _EVENT, "Error": _ERROR}
    for operation in OPERATIONS:
        schema, parts = _schemas_of(operation)
        schemas |= parts
        paths.setdefault(operation.path, {})[operation.method.lower()] = _operation(operation, schema)
    events = paths["/v1/groups/{group_id}/events"]["get"]
    events["responses"]["200"]["content"]["text/event-stream"] = {"schema": {"type": "string"}}
    healthy = {"type": "object", "properties": {"status": {"const": "ok"}}}
    paths["/healthz"] = {
        "get": {
            "operationId": "healthz",
            "summary": "Is the hub up?",
            "security": [],
            "responses": {"200": _answer(healthy, "It is")},
        }
    }
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Tacit hub",
            "version": version(),
            "description": "The same operations are methods of JSON-RPC 2.0 on the WebSocket `/v1/ws`.",
        },
        "security": [] if config.local_trust else [{"token": []}],
        "paths": {**paths, **_blob_paths()},
        "components": {
            "schemas": schemas,
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
    }
