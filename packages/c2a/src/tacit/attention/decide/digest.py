"""Digests: what went on in a stream or channel, rolled up.

Rows: C2A-076, C2A-092, C2A-093, C2A-110, C2A-183, C2A-227. Made by counting and by the last words of status
reports; no model. Asks for nothing: what names or assigns somebody is delivered to it on its own and never
waits for a digest, so a digest holds nothing that obliges its reader.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from tacit.attention.decide.knock import TOPICS
from tacit.attention.decide.redaction import redacted
from tacit.attention.settings import DEFAULTS, Settings
from tacit.base.moment import Moment
from tacit.c2a.vocabulary import Intent, Policy

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


LINE_CHARS: Final = 120
MS: Final = 1000


@dataclass(frozen=True, slots=True)
class DigestItem:
    """One event as a digest counts it."""

    event_id: str
    scope: str
    author: str
    intent: Intent
    text: str = ""


@dataclass(frozen=True, slots=True)
class Digest:
    """A digest for one session."""

    scope: str
    text: str
    policy: Policy
    event_ids: tuple[str, ...]


def scope_of(conversation_id: str, stream: str | None) -> str:
    """What a digest covers: a stream, or a channel without one (C2A-227)."""
    return f"stream:{stream}" if stream else f"channel:{conversation_id}"


def digest_of(items: Sequence[DigestItem], settings: Settings = DEFAULTS) -> Digest | None:
    """The digest of what gathered since the last one; None when nothing did. A section for each scope."""
    if not items:
        return None
    scopes = list(dict.fromkeys(item.scope for item in items))
    room = settings.digest_chars // len(scopes)
    sections = [_section(scope, [one for one in items if one.scope == scope], room) for scope in scopes]
    return Digest(
        scopes[0] if len(scopes) == 1 else "streams",
        "\n\n".join(sections)[: settings.digest_chars],
        Policy.MUST_NOT_RESPOND,
        tuple(item.event_id for item in items),
    )


def _section(scope: str, items: Sequence[DigestItem], room: int) -> str:
    kinds = Counter(TOPICS[item.intent] for item in items)
    counted = ", ".join(
        f"{count} {kind}" for kind, count in sorted(kinds.items(), key=lambda one: (-one[1], one[0]))
    )
    people = len({item.author for item in items})
    lines = [f"{scope}: {len(items)} messages by {people} ({counted})"]
    lines += [f"- {item.author}: {_short(item.text)}" for item in _latest(items)]
    while len("\n".join(lines)) > room and len(lines) > 1:
        lines.pop(1)
    return "\n".join(lines)[:room]


def _latest(items: Iterable[DigestItem]) -> list[DigestItem]:
    """The last status report of each author."""
    last: dict[str, DigestItem] = {}
    for item in items:
        if item.intent is Intent.STATUS and item.text:
            last.pop(item.author, None)
            last[item.author] = item
    return list(last.values())


def _short(text: str) -> str:
    line = " ".join(redacted(text).split())
    return line if len(line) <= LINE_CHARS else line[: LINE_CHARS - 1] + "…"


def next_at(last: Moment, settings: Settings = DEFAULTS) -> Moment:
    """When the next digest is due."""
    return Moment(last + settings.digest_every_ms * MS)


@dataclass(frozen=True, slots=True)
class PendingDigest:
    """What the next digest of a session will tell, and when the last one went out."""

    event_ids: tuple[str, ...] = ()
    since: Moment = Moment(0)
