"""What is remembered of a session's own messages: when, where, and what each one answered.

Rows: C2A-164, C2A-168, C2A-205, C2A-207, C2A-217. The rules on outbound chat compare a new send with these.
Of an ephemeral message only the hash of its text is kept.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, cast

from tacit.base.moment import Moment  # noqa: TC001 - the state store reads these types

if TYPE_CHECKING:
    from tacit.ledger.envelope import Event


KEPT_SENDS: Final = 40


@dataclass(frozen=True, slots=True)
class Sending:
    """One message of a session: when, where, which."""

    at: Moment
    place: str
    event_id: str


@dataclass(frozen=True, slots=True)
class SentAnswer:
    """One message of a session that answers an event, and the turn that wrote it."""

    event_id: str
    turn: str = ""
    attempt: int = 1


@dataclass(frozen=True, slots=True)
class EphemeralSend:
    """An ephemeral message: which record stands for it, what its text hashes to, where it went."""

    event_id: str
    sha256: str
    where: str


def answered_in(event: Event) -> str | None:
    """The event that a message answers: the one that its sender names, else the one that it replies to.

    A send that asks others and names no event answers none: it asks in the place of the question.
    """
    given = event.data.get("c2a")
    named = cast("dict[str, object]", given).get("in_reply_to") if isinstance(given, dict) else None
    if isinstance(given, dict) and named is None and event.data.get("mentions"):
        return None
    replied = event.data.get("reply_to")
    found = named if isinstance(named, str) else replied
    return found if isinstance(found, str) else None
