"""What is left of a message that was taken back: where it stood and to whom, none of what it said (C2A-187).

The journal keeps the event, and an export has it; whoever reads through the hub gets this instead.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import msgspec

from tacit.ledger.envelope import decode

if TYPE_CHECKING:
    from tacit.ledger.ports import StoredEvent

KEPT: Final = frozenset({"to", "reply_to", "conversation", "priority", "supersedes", "original", "by"})
SAYING: Final = frozenset({"chat.message", "x.c2a.edit"})
"""The kinds that hold a message's words: its first form, and each that replaced one."""


def emptied(found: StoredEvent) -> dict[str, Any]:
    """The event without its words and files."""
    event = decode(found.raw)
    whole = {name: getattr(event, name) for name in event.__struct_fields__}
    kept = {name: value for name, value in event.data.items() if name in KEPT}
    return {**whole, "data": {**kept, "text": "", "deleted": True}}


def without_words(found: StoredEvent) -> StoredEvent:
    """The same as a stored event, for whoever passes its bytes on."""
    return msgspec.structs.replace(found, raw=msgspec.json.encode(emptied(found)))
