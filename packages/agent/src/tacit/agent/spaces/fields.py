"""The fields of a space: how one is named, what it may hold, and the document that they are together.

A2ACP-197, A2ACP-200. A path is names joined by `/`. An item of a list is a field of its own, `list/id`: a
list that is set becomes its items, each with an id, and the document shows them as a list again. No field
holds a list, so that two who add to one at once both stay.
"""

from __future__ import annotations

import unicodedata
from typing import TYPE_CHECKING, Any, Final, cast

from tacit.base.errors import Refused
from tacit.base.strict_json import Malformed, canonical

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

LONGEST_PATH: Final = 120
"""Bytes; with the most fields, all their names and versions still fit into one packet."""
DEEPEST: Final = 6
LARGEST_VALUE: Final = 8192
MOST_FIELDS: Final = 500
"""Of one space, deleted ones included."""
MOST_MEMBERS: Final = 20
LONGEST_TITLE: Final = 200
ITEM: Final = "itm_"
_HIDDEN: Final = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})


def is_path(text: object) -> bool:
    """Whether a text names a field."""
    if not isinstance(text, str) or not text or len(text.encode(errors="replace")) > LONGEST_PATH:
        return False
    names = text.split("/")
    if len(names) > DEEPEST or any(not name.strip() or name != name.strip() for name in names):
        return False
    return not any(unicodedata.category(sign) in _HIDDEN for sign in text) and (
        unicodedata.normalize("NFC", text) == text
    )


def is_value(value: object) -> bool:
    """Whether a field may hold it: plain JSON, not too large, no list of its own and no object of fields."""
    if value is None or isinstance(value, list):
        return False
    try:
        return len(canonical(value)) <= LARGEST_VALUE
    except (Malformed, TypeError, ValueError, RecursionError):
        return False


def checked_path(text: str) -> str:
    """The path, or `Refused`."""
    plain = unicodedata.normalize("NFC", text.strip())
    if not is_path(plain):
        raise Refused(
            "bad_field",
            f"a field is named by at most {DEEPEST} names with / between them, {LONGEST_PATH} bytes in all",
            row="A2ACP-200",
        )
    return plain


def written(path: str, value: Any, new_id: Callable[[], str]) -> Iterator[tuple[str, Any]]:
    """What setting a field writes: the field, or for a list its items, each as a field with its id."""
    if isinstance(value, list):
        for item in cast("list[Any]", value):
            given: object = cast("dict[str, Any]", item).get("id") if isinstance(item, dict) else None
            name = str(given) if isinstance(given, str | int) and not isinstance(given, bool) else new_id()
            yield checked_path(f"{path}/{name}"), item
        return
    if not is_value(value):
        raise Refused(
            "bad_value", f"a field holds plain JSON of at most {LARGEST_VALUE} bytes", row="A2ACP-200"
        )
    yield path, value


def document(fields: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    """The free object that the fields are together (A2ACP-197); lists from their items, in order of ids."""
    root: dict[str, Any] = {}
    for path, value in sorted(fields, key=lambda one: one[0]):
        *above, last = path.split("/")
        at = root
        for name in above:
            below: object = at.get(name)
            if not isinstance(below, dict):
                # A field that has a value and others below it: its own stands under the empty name.
                below = {} if below is None else {"": below}
                at[name] = below
            at = cast("dict[str, Any]", below)
        known: object = at.get(last)
        if isinstance(known, dict):
            cast("dict[str, Any]", known)[""] = value
        else:
            at[last] = value
    return {name: _listed(value) for name, value in root.items()}


def _listed(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    fields = cast("dict[str, Any]", value)
    if fields and all(name.startswith(ITEM) for name in fields):
        return list(fields.values())
    return {name: _listed(inner) for name, inner in fields.items()}
