"""Cross-group relay: what the new message says and where it comes from.

Rows: CCCS-095, CCCS-096, CCCS-097, CCCS-098, CCCS-099, CCCS-100, CCCS-101, CCCS-102. The destination gets a
message of its own with its own envelope; the original's envelope, without its data, travels in
`data.src_envelope` (CCCS-097). The send record in the source group is a courtesy: nothing in the destination
depends on it (CCCS-102).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from tacit.ledger.codes import invalid
from tacit.ledger.envelope import decode

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tacit.ledger.envelope import StoredEvent

_ENVELOPE: Final = ("v", "id", "ts", "seq", "kind", "group_id", "scope_key", "by")
MARKS: Final = ("[summarized]", "[shortened]", "[truncated]", "[excerpt]")


def relayed_text(original: str, text: str | None) -> str:
    """The text to send: the original when none is given; refuses one that is neither verbatim nor marked."""
    if text is None:
        return original
    if (original and original in text) or text.lstrip().lower().startswith(MARKS):
        return text
    raise invalid(
        "a relayed text contains the original word for word, or begins with [Summarized]", "CCCS-096"
    )


def relayed_data(
    source: StoredEvent, group_id: str, *, text: str | None, to: Sequence[str] | None, priority: str | None
) -> dict[str, Any]:
    """The data of the destination's message."""
    if source.kind != "chat.message":
        raise invalid("only a message can be relayed", "CCCS-095")
    event = decode(source.raw)
    envelope = {name: getattr(event, name) for name in _ENVELOPE}
    said = event.data
    data: dict[str, Any] = {
        "text": relayed_text(said["text"], text),
        "src_group_id": group_id,
        "src_event_id": event.id,
        "src_envelope": envelope,
        "to": list(to) if to is not None else ["@all"],
    }
    if priority is not None:
        data["priority"] = priority
    if "format" in said:
        data["format"] = said["format"]
    if said.get("attachments"):
        data["attachments"] = said["attachments"]
    if said.get("refs"):
        data["refs"] = said["refs"]
    return data


def record_data(source_id: str, destination: str, to: Sequence[str] | None) -> dict[str, Any]:
    """The data of the send record in the source group; priority stays normal (CCCS-101)."""
    return {
        "text": "Relayed to another group.",
        "reply_to": source_id,
        "dst_group_id": destination,
        "dst_to": list(to) if to is not None else ["@all"],
    }
