"""What a service says of a deed, read without trust: a few short lines of text, or nothing.

The answer never decides whether something happened; that is said by a status or an exit code. Knows nothing
of how it came.
"""

from __future__ import annotations

from typing import Final

from tacit.base.strict_json import Malformed, parse

LARGEST: Final = 65_536
"""Bytes of a deed on its way out, and of an answer that is read."""
_LONGEST: Final = 200


def read_answer(raw: bytes) -> dict[str, str]:
    """The texts `action_id`, `reference` and `reason` of a JSON object, each one short printable line."""
    if not raw or len(raw) > LARGEST:
        return {}
    try:
        value = parse(raw)
    except Malformed:
        return {}
    if not isinstance(value, dict):
        return {}
    texts = {name: value.get(name) for name in ("action_id", "reference", "reason")}
    return {name: line(text) for name, text in texts.items() if isinstance(text, str)}


def line(text: str) -> str:
    """One line of printable characters, not too long."""
    return " ".join("".join(one if one.isprintable() else " " for one in text).split())[:_LONGEST]
