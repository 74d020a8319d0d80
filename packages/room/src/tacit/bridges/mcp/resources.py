"""What an agent can look at by address: its inbox and threads (C2A-140, C2A-141, C2A-201).

`tacit://inbox` is what waits for the agent, obligations first; `tacit://thread/{event_id}` a thread, by any
of its messages. Both are read with the chat tools, so that permission and redaction are the host's.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, cast

from tacit.c2a.vocabulary import STRENGTH

INBOX: Final = "tacit://inbox"
_THREAD: Final = "tacit://thread/"
THREAD_TEMPLATE: Final = _THREAD + "{event_id}"
MIME: Final = "application/json"
INBOX_SAYS: Final = "What waits for you, obligations first, then oldest first."
THREAD_SAYS: Final = "A thread, by the id of any message in it."
_LIMIT: Final = 200
_WEIGHT: Final = {policy.value: place for place, policy in enumerate(STRENGTH)}


@dataclass(frozen=True, slots=True)
class Look:
    """The tool call behind an address."""

    tool: str
    arguments: dict[str, Any]


def look_for(uri: str) -> Look | None:
    """How to read an address; None when there is nothing like it."""
    if uri == INBOX:
        return Look("chat.list_events", {"openOnly": True, "limit": _LIMIT})
    event_id = uri.removeprefix(_THREAD)
    if uri.startswith(_THREAD) and event_id and "/" not in event_id:
        return Look("chat.read_thread", {"eventId": event_id, "limit": _LIMIT})
    return None


def arranged(uri: str, result: dict[str, Any]) -> dict[str, Any]:
    """A result as the address shows it: the inbox puts the strongest obligations first."""
    if uri != INBOX:
        return result
    events = cast("list[dict[str, Any]]", result["events"])
    ordered = sorted(events, key=lambda event: (-_weight(event), event.get("sequence", 0)))
    owed = sum(event.get("policy") == STRENGTH[-1].value for event in events)
    return {**result, "events": ordered, "obligations": owed, "waiting": len(events)}


def _weight(event: dict[str, Any]) -> int:
    return _WEIGHT.get(str(event.get("policy")), -1)
