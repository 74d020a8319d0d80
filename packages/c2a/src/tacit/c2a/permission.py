"""`chat/permission`: what an agent's own program wants to be allowed, asked of the room's people (C2A-207).

A method of the harness and no tool: no model can ask in its place. One value, its writer and its parser, with
every bound: what a person is shown is short enough to be read. Who may answer is not known here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, cast

from tacit.c2a.errors import Refusal, refusal

if TYPE_CHECKING:
    from collections.abc import Mapping

METHOD: Final = "chat/permission"
KINDS: Final = ("command", "edit", "other")
SCOPES: Final = ("once", "turn", "always")
KEY_CHARS: Final = 200
LIMITS: Final = {
    "eventId": 200,
    "turn": 200,
    "title": 20_000,
    "details": 10_000,
    "directory": 1_000,
    "covers": 22_000,
    "worktree": 200,
    "withdrawn": 300,
}
"""Bytes of each text; a longer one is refused, since what is cut may be what matters."""
PATTERN_BYTES: Final = 24_000
MOST_BESIDE: Final = 50


@dataclass(frozen=True, slots=True)
class PermissionAsked:
    """One question. With `withdrawn` it is taken back: nobody has to answer any more, and this is why."""

    key: str
    """Names the question; asked again under the same key it is the same one."""
    event_id: str = ""
    beside: tuple[str, ...] = ()
    """Further events that the turn works on: whoever wrote one of them asks for it too."""
    turn: str = ""
    kind: str = "other"
    title: str = ""
    details: str = ""
    directory: str = ""
    worktree: str = ""
    """The name of the agent's own working tree, where it has one."""
    pattern: Mapping[str, Any] | None = None
    """What "always" would cover, in the harness's own form; None where it cannot be said."""
    covers: str = ""
    """The same in words."""
    withdrawn: str = ""

    def members(self) -> dict[str, Any]:
        """As on the wire."""
        said: dict[str, Any] = {
            "eventId": self.event_id,
            "beside": list(self.beside),
            "turn": self.turn,
            "kind": self.kind,
            "title": self.title,
            "details": self.details,
            "directory": self.directory,
            "worktree": self.worktree,
            "pattern": self.pattern,
            "covers": self.covers,
            "withdrawn": self.withdrawn,
        }
        return {"key": self.key, **{name: value for name, value in said.items() if value}}


def read_permission(params: Mapping[str, Any]) -> PermissionAsked | Refusal:
    """The question in a request, or what is wrong with it."""
    key, kind, pattern = params.get("key"), params.get("kind", "other"), params.get("pattern")
    if not isinstance(key, str) or not 0 < len(key) <= KEY_CHARS:
        return _wrong("key names the question, in at most 200 characters")
    if kind not in KINDS:
        return _wrong(f"kind is one of {', '.join(KINDS)}")
    texts: dict[str, str] = {}
    for name, most in LIMITS.items():
        value: object = params.get(name, "")
        if not isinstance(value, str) or len(value.encode(errors="replace")) > most:
            return _wrong(f"{name} is a text of at most {most} bytes")
        texts[name] = value
    if pattern is not None and (
        not isinstance(pattern, dict) or len(str(cast("object", pattern))) > PATTERN_BYTES
    ):
        return _wrong("pattern is a small object")
    beside = params.get("beside", [])
    if not isinstance(beside, list) or len(cast("list[object]", beside)) > MOST_BESIDE:
        return _wrong(f"beside is a list of at most {MOST_BESIDE} events")
    others = [one for one in cast("list[object]", beside) if isinstance(one, str) and len(one) <= KEY_CHARS]
    if len(others) != len(cast("list[object]", beside)):
        return _wrong("beside names events")
    return PermissionAsked(
        key=key,
        event_id=texts["eventId"],
        beside=tuple(others),
        turn=texts["turn"],
        kind=cast("str", kind),
        title=texts["title"],
        details=texts["details"],
        directory=texts["directory"],
        worktree=texts["worktree"],
        pattern=cast("dict[str, Any] | None", pattern) if texts["covers"] else None,
        covers=texts["covers"],
        withdrawn=texts["withdrawn"],
    )


def _wrong(message: str) -> Refusal:
    return refusal("invalid_request", message, "C2A-207")
