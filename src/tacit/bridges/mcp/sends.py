"""Sends by MCP: what the protocol requires and a model need not say (C2A-147 to C2A-151, C2A-159, C2A-168).

An answer goes to the thread of the event that it answers. The key follows from the message, so that a call
that a client repeats does not post twice: for an answer for good, for a fresh post within the hour (the same
words may be news again tomorrow; across the hour's edge the host's own look at repeated words holds). Who
may send what is the host's to say.
"""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING, Any, Final

from tacit.base.strict_json import canonical
from tacit.c2a.errors import Refusal, refusal
from tacit.c2a.vocabulary import Directedness

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tacit.base.moment import Moment

HOUR: Final = 3_600_000_000
_KEY_DIGITS: Final = 40
_PRIVATE: Final = ("dm:", "conversation:dm:", "channel:dm:")


def filled(given: Mapping[str, Any], now: Moment) -> dict[str, Any] | Refusal:
    """The whole arguments of a send; whatever the caller said itself stays as it is."""
    arguments = {name: value for name, value in given.items() if value is not None}
    answered = arguments.get("inReplyTo")
    if "target" not in arguments:
        if answered is None:
            return refusal(
                "invalid_request",
                "a message answers an event or goes to a target",
                "C2A-147",
                remedy="give inReplyTo (an eventId), or a target such as channel:main",
                missing=["inReplyTo", "target"],
            )
        arguments["target"] = f"thread:{answered}"
    arguments.setdefault("visibility", visibility_of(str(arguments["target"])))
    arguments.setdefault("directedness", directedness_of(arguments).value)
    arguments.setdefault("idempotencyKey", key_of(arguments, now))
    return arguments


def visibility_of(target: str) -> str:
    """How widely a message shows, by where it goes (C2A-150)."""
    if target.startswith(_PRIVATE):
        return "dm"
    return "thread" if target.startswith("thread:") else "channel"


def directedness_of(arguments: Mapping[str, Any]) -> Directedness:
    """Whom it obliges (C2A-151); the host lowers it to what the address really says (C2A-115)."""
    target = str(arguments["target"])
    if arguments.get("mentions") or arguments.get("inReplyTo") or target.startswith(_PRIVATE):
        return Directedness.TO_ME
    return Directedness.TO_MY_ROLE if target.startswith("thread:") else Directedness.AMBIENT


def key_of(arguments: Mapping[str, Any], now: Moment) -> str:
    """The same for the same message: its words, what it answers, where it goes and whom it names."""
    answered = arguments.get("inReplyTo")
    parts = [
        answered,
        None if answered is not None else now // HOUR,
        arguments["target"],
        arguments.get("content"),
        arguments.get("mentions"),
    ]
    return "mcp:" + sha256(canonical(parts)).hexdigest()[:_KEY_DIGITS]
