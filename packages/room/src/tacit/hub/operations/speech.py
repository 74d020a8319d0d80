"""CLowl in the room: a `chat.message` whose `data.clowl` is a message of the language (CLOWL-018, CLOWL-092).

Its text is the message's one English reading, its recipients are the message's own, its sender is the
credential's. A malformed message is refused with every fault at once. The performative is the declared intent
that attention reads. The token in `auth` is checked by whoever it is for and never stored.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import msgspec

from tacit.language import Message, declared_intent, english, read_value, reconstruct, to_value, without_auth
from tacit.language.carriage import from_authenticated
from tacit.language.trace_data import tree_value
from tacit.ledger.codes import invalid

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from tacit.ledger.envelope import StoredEvent

MEMBER: Final = "clowl"


def spoken(data: Mapping[str, Any], by: str) -> dict[str, Any]:
    """The data of the `chat.message` that carries a CLowl message, completed."""
    reading = from_authenticated(data[MEMBER], sender=by)
    if reading.message is None:
        raise invalid(
            "the CLowl message has faults",
            reading.faults[0].row,
            faults=[msgspec.to_builtins(fault) for fault in reading.faults],
            answer_with=reading.code,
        )
    message = without_auth(reading.message)
    text = english(message)
    to = [] if message.is_broadcast else list(message.recipients)
    _require_same(data, "text", text, "is left out, or is the message's English reading")
    _require_same(data, "to", to, "is left out, or names the message's own recipients")
    return {
        **data,
        "text": text,
        "to": to,
        "client_id": data.get("client_id") or message.mid,
        MEMBER: to_value(message),
    }


def _require_same(data: Mapping[str, Any], name: str, expected: object, rule: str) -> None:
    given = data.get(name)
    if given and given != expected:
        raise invalid(f"beside a CLowl message `{name}` {rule}", "CLOWL-092", reason=f"{name}_differs")


def message_in(event: StoredEvent) -> Message | None:
    """The CLowl message that an event carries."""
    return read_value(event.data.get(MEMBER)).message if event.kind == "chat.message" else None


def intent_of(event: StoredEvent) -> str | None:
    """What the sender declared to want; None for a message in plain words."""
    message = message_in(event)
    return declared_intent(message.p) if message is not None else None


def trace_of(events: Iterable[StoredEvent], tid: str) -> dict[str, Any] | None:
    """The trace that these events tell, as data; None when they tell none."""
    chronicle = reconstruct(message for event in events if (message := message_in(event)) is not None)
    tree = chronicle.traces.get(tid)
    return tree_value(tree) if tree is not None else None
