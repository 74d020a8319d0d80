"""What is pushed into a live session of Claude Code (`claude/channel`): each thing that waits, once.

An MCP agent pulls; a session with a channel is woken instead, with the event that obliges or allows it to
answer, as the inbox shows it and in the same frame: quoted chat is data. It answers by the tools as ever, so
that all rules of the room hold. Rows: C2A-169, C2A-201. Values in, values out.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import Any, Final

from tacit.bridges.mcp.results import as_text, framed

_REMEMBERED: Final = 1000
_META: Final = {"event_id": "eventId", "thread_id": "threadId", "policy": "policy"}
HOW: Final = (
    "Answer with the tool chat_send_message and inReplyTo, or with chat_react; silence is an answer too."
)


class PushedEvents:
    """What was pushed already; an event is pushed once, however often it is listed."""

    def __init__(self) -> None:
        self._pushed: OrderedDict[str, None] = OrderedDict()

    def fresh(self, listed: dict[str, Any]) -> list[tuple[str, dict[str, str]]]:
        """The text and the attributes of each event in a list of open ones that was not pushed before."""
        found: list[tuple[str, dict[str, str]]] = []
        for event in listed.get("events", ()):
            event_id = str(event.get("eventId", ""))
            if not event_id or event_id in self._pushed:
                continue
            self._pushed[event_id] = None
            if len(self._pushed) > _REMEMBERED:
                self._pushed.popitem(last=False)
            found.append((_text(event), _attributes(event)))
        return found


def _text(event: dict[str, Any]) -> str:
    return as_text(framed({"event": event, "how": HOW, "untrusted": True}))


def _attributes(event: dict[str, Any]) -> dict[str, str]:
    """Attributes of the tag around the text: ids and the protocol's words, never what somebody wrote."""
    return {name: str(event[member]) for name, member in _META.items() if event.get(member)}
