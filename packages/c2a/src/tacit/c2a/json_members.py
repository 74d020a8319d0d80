"""Members of a peer's JSON, read without trusting its shape: what is amiss reads as missing. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from collections.abc import Mapping


def shaped(value: object, shape: Mapping[str, Any]) -> dict[str, Any]:
    """The members that a shape names, each of the kind that it says.

    Kinds: `str`, `int` (no boolean), `object` (as it is), `[str]` (words), or a shape of its own. What is
    missing or amiss is empty there: a text "", a number 0, an object with all of its members empty.
    """
    given = cast("dict[str, Any]", value) if isinstance(value, dict) else {}
    found: dict[str, Any] = {}
    for name, kind in shape.items():
        member = given.get(name)
        if kind is str:
            found[name] = member if isinstance(member, str) else ""
        elif kind is int:
            found[name] = member if isinstance(member, int) and not isinstance(member, bool) else 0
        elif kind is object:
            found[name] = member
        elif isinstance(kind, list):
            found[name] = words_in(member)
        else:
            found[name] = shaped(member, kind)
    return found


def shaped_rows(value: object, shape: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The objects in a list, each as the shape says."""
    return [shaped(row, shape) for row in objects(value)]


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
