"""Members of a peer's JSON, read without trusting its shape: what is amiss reads as missing. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from collections.abc import Mapping


def object_in(value: Mapping[str, Any], name: str) -> dict[str, Any]:
    """The object under this name; empty when there is none."""
    found = value.get(name)
    return cast("dict[str, Any]", found) if isinstance(found, dict) else {}


def objects(value: object) -> list[dict[str, Any]]:
    """The objects in a list."""
    rows = cast("list[object]", value) if isinstance(value, list) else []
    return [cast("dict[str, Any]", row) for row in rows if isinstance(row, dict)]


def words_in(value: object) -> list[str]:
    """The texts in a list, each once, in order."""
    given = cast("list[object]", value) if isinstance(value, list) else []
    return sorted({one for one in given if isinstance(one, str) and one})


def text_in(value: Mapping[str, Any], name: str) -> str:
    """The text under this name; empty when there is none."""
    found = value.get(name)
    return found if isinstance(found, str) else ""


def text_or_none(value: Mapping[str, Any], name: str) -> str | None:
    """The text under this name; None when there is none."""
    found = value.get(name)
    return found if isinstance(found, str) else None


def number_in(value: Mapping[str, Any], name: str) -> int:
    """A whole number of this name; 0 where there is none."""
    found = value.get(name)
    return found if isinstance(found, int) and not isinstance(found, bool) else 0
