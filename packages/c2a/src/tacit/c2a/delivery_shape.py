"""Which members a delivery has, and what of it a receiver must refuse.

Rows: C2A-030, C2A-036, C2A-040, C2A-042, C2A-044. The shapes are for `json_members.shaped`: they say what is
read. Members that nobody knows are ignored.

Members of a peer's JSON, read without trusting its shape: what is amiss reads as missing. Pure.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, cast

from tacit.c2a.vocabulary import ConversationKind, Directedness, Mode, Policy

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


AUTHOR: Final = {"id": str, "kind": str, "displayName": str}
LINE: Final = {"eventId": str, "author": AUTHOR, "content": object, "createdAt": str, "sequence": int}
PLACE: Final = {"injection": {"context": str}, "conversation": {"threadId": str}}
PART: Final = {"type": str, "text": object, "title": str}
KNOCK: Final = {
    **dict.fromkeys(("from", "where", "directedness", "policy", "priority", "topic", "pullWith"), str),
    "count": object,
}
DELIVERY: Final = {
    "conversation": {"id": str, "kind": str, "threadId": str, "streamId": str, "parties": [str]},
    "author": AUTHOR,
    "target": {"directedness": str, "mentions": object, "recipient": str},
    "attention": {
        "policy": str,
        "reason": str,
        **dict.fromkeys(("priority", "deadlineMs", "needsClaim"), object),
    },
    "timing": {"createdAt": str, "sequence": object, "late": object},
    "injection": {"mode": str, "context": object},
    "reliability": {"idempotencyKey": object, "attempt": object},
    "source": {"workspaceId": str},
    "knock": object,
    **dict.fromkeys(("supersedes", "signal", "replyTarget"), str),
}

_REQUIRED: Final = (
    "eventId",
    "conversation.kind",
    "target.directedness",
    "attention.policy",
    "injection.mode",
    "reliability.idempotencyKey",
)
_WORDS: Final[tuple[tuple[str, frozenset[str]], ...]] = (
    ("conversation.kind", frozenset(ConversationKind)),
    ("target.directedness", frozenset(Directedness)),
    ("injection.mode", frozenset(Mode)),
    ("attention.policy", frozenset(Policy)),
)
_NUMBERS: Final = ("timing.sequence", "reliability.attempt")


def _at(params: Mapping[str, Any], path: str) -> object:
    """What stands at the end of this path; None when nothing does."""
    found: Any = params
    for name in path.split("."):
        if not isinstance(found, dict):
            return None
        found = cast("dict[str, Any]", found).get(name)
    return cast("object", found)


def _is_word(value: object, words: frozenset[str]) -> bool:
    return isinstance(value, str) and value in words


def faults(params: Mapping[str, Any]) -> list[str]:
    """What a receiver must refuse: the paths of members that are missing, unknown or contradictory.

    Rows: C2A-030, C2A-036, C2A-040, C2A-042, C2A-044. Members that nobody knows are ignored.
    """
    wrong = unreadable(params)
    policy = params.get("policy")
    if not _is_word(policy, frozenset(Policy)) or policy != _at(params, "attention.policy"):
        wrong.append("policy")
    mode = _at(params, "injection.mode")
    if mode == "notify" and "content" in params:
        wrong.append("content")
    if mode == "notify" and "knock" not in params and "signal" not in params:
        wrong.append("knock")
    if mode in ("immediate", "buffered") and "content" not in params:
        wrong.append("content")
    if _at(params, "injection.role") not in (None, "user"):
        wrong.append("injection.role")
    return list(dict.fromkeys(wrong))


def unreadable(params: Mapping[str, Any]) -> list[str]:
    """The members without which, or in the form of which, nothing can be made of a delivery."""
    wrong = [path for path in _REQUIRED if _at(params, path) is None]
    wrong += [path for path, words in _WORDS if path not in wrong and not _is_word(_at(params, path), words)]
    wrong += [path for path in _NUMBERS if not isinstance(_at(params, path), (int, type(None)))]
    if not isinstance(_at(params, "target.mentions"), (list, type(None))):
        wrong.append("target.mentions")
    return wrong
