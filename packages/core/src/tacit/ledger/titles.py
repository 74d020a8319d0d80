"""Titles and display names: one line of text that nobody can take for a mention.

A title is shown in lists, in prompts and in sentences. One with a line break would begin a line of its own
there, and one that is a mention would be taken for one; a name may have none in it. Asked when an event
is admitted, and so of every door; events from before stay as they are, and names that another platform gave
its authors and places are that platform's.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final, cast

from tacit.ledger.codes import invalid

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

BROADCAST: Final = frozenset({"all", "everyone", "here", "channel"})
"""Names that call everybody."""
RESERVED: Final = BROADCAST | {"foreman", "peers", "user", "system"}
"""Names that are somebody's already: whoever had one would be called in their place."""
_CONTROL: Final = re.compile("[\\x00-\\x1f\\x7f-\\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")
_MENTION: Final = re.compile(r"(?<!\w)[@＠]\w")  # noqa: RUF001 - the wide sign is read as a mention too
_ONLY_A_MENTION: Final = re.compile(r"\s*[@＠][\w.-]+\s*")  # noqa: RUF001


def require_titles(kind: str, data: Mapping[str, Any]) -> None:
    """Refuse a submission that gives a group, a conversation, a task or somebody such a title."""
    for what, row, title in _titles(kind, data):
        if not isinstance(title, str):
            continue
        if _CONTROL.search(title):
            raise invalid(f"{what} is one line of text, without control characters", row, reason="bad_title")
        if _is_name_of_another(title) if what == _NAME else _ONLY_A_MENTION.fullmatch(title):
            raise invalid(
                f"{what} cannot be one that reads as a mention, such as @all", row, reason="bad_title"
            )


_NAME: Final = "a display name"


def _is_name_of_another(name: str) -> bool:
    return _MENTION.search(name) is not None or name.strip().casefold() in RESERVED


def _titles(kind: str, data: Mapping[str, Any]) -> Iterator[tuple[str, str, object]]:
    match kind:
        case "group.create" | "group.update":
            yield "the title of a group", "CCCS-117", data.get("title")
        case "actor.add" | "actor.update":
            yield _NAME, "CCCS-011", data.get("title")
        case "x.tacit.person.add":
            yield _NAME, "CCCS-039", data.get("title")
        case "context.sync":
            for change in data["ops"]:
                yield "the title of a task or a stream", "CCCS-118", _member(change.get("value"), "title")
        case _:
            return


def _member(value: object, name: str) -> object:
    return cast("dict[str, object]", value).get(name) if isinstance(value, dict) else None
