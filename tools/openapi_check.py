"""Is the hub's OpenAPI document valid, and does each of its references lead somewhere?

python -m tools.openapi_check   exit 1 if not, and say where

What is valid OpenAPI is said by the schema of version 3.1 that schemathesis brings along.
"""

from __future__ import annotations

import pathlib
import sys
from typing import TYPE_CHECKING, Any

import msgspec
from jsonschema import Draft202012Validator
from schemathesis.specs.openapi.definitions import OPENAPI_31

from tacit.hub.config import HubConfig
from tacit.hub.doors.openapi import describe

if TYPE_CHECKING:
    from collections.abc import Iterator


def document() -> dict[str, Any]:
    """The document as a hub serves it."""
    return msgspec.json.decode(msgspec.json.encode(describe(HubConfig(pathlib.Path("data")))))


def problems(described: dict[str, Any]) -> list[str]:
    """What is wrong with a document, each with its place; nothing for a valid one."""
    faults = Draft202012Validator(OPENAPI_31).iter_errors(described)
    return [
        *(f"{'/'.join(map(str, fault.absolute_path))}: {fault.message[:200]}" for fault in faults),
        *_lost_references(described, described, ""),
    ]


def _lost_references(part: Any, whole: dict[str, Any], place: str) -> Iterator[str]:
    members = part.items() if isinstance(part, dict) else enumerate(part) if isinstance(part, list) else ()
    for name, value in members:
        if name == "$ref" and isinstance(value, str) and not _leads_somewhere(value, whole):
            yield f"{place}: the reference {value} leads nowhere"
        yield from _lost_references(value, whole, f"{place}/{name}")


def _leads_somewhere(reference: str, whole: dict[str, Any]) -> bool:
    start, *names = reference.split("/")
    at: Any = whole if start == "#" else None
    for name in names:
        at = at.get(name.replace("~1", "/").replace("~0", "~")) if isinstance(at, dict) else None
    return at is not None


def main() -> int:
    """Say what is wrong."""
    found = problems(document())
    for problem in found:
        sys.stderr.write(f"OpenAPI: {problem}\n")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
