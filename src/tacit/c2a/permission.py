"""`chat/permission`: what an agent's own program wants to be allowed, asked of the room's people (C2A-207).

A method of the harness and no tool: no model can ask in its place. One value, its writer and its parser, with
every bound: what a person is shown is short enough to be read. Who may answer and for how long is not known
here.
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
    "title": 2_000,
    "details": 8_000,
    "directory": 1_000,
    "covers": 2_500,
    "withdrawn": 300,
}
"""Bytes of each text; a longer one is refused, since what is cut may be what matters."""
PATTERN_BYTES: Final = 3_500
LEAST_MS: Final = 1_000
MOST_MS: Final = 3_600_000


@dataclass(frozen=True, slots=True)
class PermissionAsked:
    """One question. With `withdrawn` it is taken back: nobody has to answer any more, and this is why."""

    key: str
    """Names the question; asked again under the same key it is the same one."""
    event_id: str = ""
    turn: str = ""
    kind: str = "other"
    title: str = ""
    details: str = ""
    directory: str = ""
    pattern: Mapping[str, Any] | None = None
    """What "always" would cover, in the harness's own form; None where it cannot be said."""
    covers: str = ""
    """The same in words."""
    within_ms: int = 0
    withdrawn: str = ""

    def members(self) -> dict[str, Any]:
        """As on the wire."""
        said: dict[str, Any] = {
            "eventId": self.event_id,
            "turn": self.turn,
            "kind": self.kind,
            "title": self.title,
            "details": self.details,
            "directory": self.directory,
            "pattern": self.pattern,
            "covers": self.covers,
            "withinMs": self.within_ms,
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
    within = params.get("withinMs", 0)
    if not isinstance(within, int) or isinstance(within, bool):
        return _wrong("withinMs is a number of milliseconds")
    return PermissionAsked(
        key=key,
        event_id=texts["eventId"],
        turn=texts["turn"],
        kind=cast("str", kind),
        title=texts["title"],
        details=texts["details"],
        directory=texts["directory"],
        pattern=cast("dict[str, Any] | None", pattern) if texts["covers"] else None,
        covers=texts["covers"],
        within_ms=min(max(within, LEAST_MS), MOST_MS),
        withdrawn=texts["withdrawn"],
    )


def _wrong(message: str) -> Refusal:
    return refusal("invalid_request", message, "C2A-207")
