"""The schema of an answer: which ones a model can be held to.

Model servers hold a model to a schema in the strict form alone; a schema in another form is a wish there, and
Codex knows no wishes. Pure.
"""

from __future__ import annotations

from typing import cast

from tacit.harness.drivers.reading import part


def is_strict(schema: object) -> bool:
    """Has it the form that servers hold a model to: every object closed, and all that it names required?"""
    if isinstance(schema, list):
        return all(is_strict(one) for one in cast("list[object]", schema))
    if not isinstance(schema, dict):
        return True
    known = cast("dict[str, object]", schema)
    if known.get("type") == "object" or "properties" in known:
        named = part(known, "properties")
        required = known.get("required")
        listed = cast("list[object]", required) if isinstance(required, list) else []
        if known.get("additionalProperties") is not False or set(named) != set(listed):
            return False
    return all(is_strict(one) for one in known.values())
