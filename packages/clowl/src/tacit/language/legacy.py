"""An adapter for v0.1 messages, off unless asked for (CLOWL-090).

Lifts `cl` to `clowl`, a string `ctx` to `ctx.ref`, and a missing `ts` to the time of receipt; what comes
out is read like any other message, and each change is reported.
"""

from __future__ import annotations

from typing import Any, cast

import msgspec

from tacit.base.strict_json import Malformed
from tacit.base.strict_json import parse as parse_json
from tacit.language.findings import Finding, Reading
from tacit.language.reading import read, read_value
from tacit.language.tables import MAX_BYTES, MAX_DEPTH, VERSION


def read_v01(data: bytes | str, *, received: int) -> Reading:
    """Read a message that may be v0.1; `received` in seconds. Other messages are read as always."""
    try:
        value = parse_json(data, max_depth=MAX_DEPTH) if len(data) <= MAX_BYTES else None
    except Malformed:
        value = None
    if not isinstance(value, dict) or "clowl" in value or value.get("cl") != "0.1":
        return read(data)
    lifted, changes = lift(cast("dict[str, Any]", value), received=received)
    reading = read_value(lifted)
    return msgspec.structs.replace(reading, warnings=changes + reading.warnings)


def lift(value: dict[str, Any], *, received: int) -> tuple[dict[str, Any], tuple[Finding, ...]]:
    """A v0.1 object as v0.2, and what was changed."""
    lifted = {("clowl" if name == "cl" else name): item for name, item in value.items()}
    lifted["clowl"] = VERSION
    changes = [Finding("$.cl", "", "lifted from v0.1", "CLOWL-090")]
    if isinstance(lifted.get("ctx"), str):
        ref = lifted.pop("ctx")
        if ref:
            lifted["ctx"] = {"ref": ref}
        changes.append(Finding("$.ctx", "", "a string became ctx.ref", "CLOWL-090"))
    if "ts" not in lifted:
        lifted["ts"] = received
        changes.append(Finding("$.ts", "", "set to the time of receipt", "CLOWL-090"))
    return lifted, tuple(changes)
