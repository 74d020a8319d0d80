"""What is left of a message that was taken back: where it stood and to whom, none of what it said (C2A-187).

Whoever reads through the hub gets this from the moment of the deletion on; the journal keeps no more of it
either (`redaction`), unless it was taken back before the content went along.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, cast

import msgspec

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tacit.ledger.stored_event import StoredEvent

KEPT: Final = frozenset({"to", "reply_to", "priority", "supersedes", "original", "by"})
_PLACE: Final = frozenset({"kind", "id", "stream"})
SAYING: Final = frozenset({"chat.message", "x.c2a.edit"})
"""The kinds that hold a message's words: its first form, and each that replaced one."""
QUOTING: Final = "x.c2a.digest"
"""The hub's own kind that repeats words of the messages that it lists."""


def kept_of(data: Mapping[str, Any]) -> dict[str, Any]:
    """Of a message's data: where it stood and to whom."""
    kept = {name: value for name, value in data.items() if name in KEPT}
    place = data.get("conversation")
    if isinstance(place, dict):
        named = cast("dict[str, Any]", place).items()
        kept["conversation"] = {name: value for name, value in named if name in _PLACE}
    return kept


def emptied(found: StoredEvent) -> dict[str, Any]:
    """The event without its words and files."""
    whole: dict[str, Any] = msgspec.json.decode(found.raw)
    if "redacted" in whole:
        return whole
    return {**whole, "data": {**kept_of(whole["data"]), "text": "", "deleted": True}}


def without_words(found: StoredEvent) -> StoredEvent:
    """The same as a stored event, for whoever passes its bytes on."""
    return msgspec.structs.replace(found, raw=msgspec.json.encode(emptied(found)))
