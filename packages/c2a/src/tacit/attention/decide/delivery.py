"""What a session gets of an event: a decision and a message, made one `Delivered`.

Rows: C2A-001, C2A-029, C2A-034, C2A-035, C2A-036, C2A-071, C2A-088, C2A-134, C2A-153, C2A-201, C2A-204,
C2A-223. Shows the content or knocks, as the mode says, and redacts on the way out. How a delivery is written
down in either draft is `tacit.c2a.messages`; nothing here knows a version.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, cast

from tacit.attention.decide.decision import content_shown
from tacit.attention.decide.knock import knock_of
from tacit.attention.decide.redaction import redacted
from tacit.attention.settings import DEFAULTS, Settings
from tacit.base.errors import Bug
from tacit.base.moment import Moment, parse_rfc3339
from tacit.c2a.attachments import read_attachments
from tacit.c2a.messages import Delivered, Part, idempotency_key
from tacit.c2a.vocabulary import ConversationKind, Mode

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tacit.attention.decide.decision import Decision
    from tacit.attention.read.conversation import Conversation
    from tacit.attention.read.parsed_message import ParsedMessage
    from tacit.c2a.attachments import Attached
    from tacit.c2a.messages import Earlier, Knock
    from tacit.ledger.envelope import Event


QUOTE_CHARS: Final = 1_000


def reply_target(conversation: Conversation) -> str:
    """Where an answer goes: the thread, else the conversation (C2A-096)."""
    return f"thread:{conversation.thread}" if conversation.thread else f"conversation:{conversation.id}"


def delivered(
    event: Event,
    parsed: ParsedMessage,
    decision: Decision,
    session: str,
    *,
    attempt: int = 1,
    window: tuple[Earlier, ...] = (),
    settings: Settings = DEFAULTS,
) -> Delivered:
    """What one session gets of an event."""
    if decision.escalate:
        raise Bug("an escalated event is not delivered to the harness that cannot take it")
    place = parsed.conversation
    content, knock = _body(event, parsed, decision, settings)
    return Delivered(
        event_id=event.id,
        conversation=place.id,
        kind=place.kind,
        author=parsed.author,
        directedness=decision.directedness,
        policy=decision.policy,
        mode=decision.mode,
        reason=decision.reason.value,
        priority=decision.priority,
        created_at=parse_rfc3339(event.ts) or Moment(0),
        idempotency_key=idempotency_key(event.id, session),
        content=content,
        thread=place.thread or None,
        stream=place.stream or None,
        deadline_ms=decision.deadline_ms,
        sequence=event.seq,
        attempt=attempt,
        supersedes=parsed.supersedes,
        signal=parsed.signal,
        knock=knock,
        mentions=tuple(f"agent:{name}" for name in sorted(parsed.target.agents)),
        recipient=f"agent:{session}" if place.kind is ConversationKind.DM else None,
        window=window if content is not None else (),
        in_thread=decision.thread_window,
        needs_claim=decision.needs_claim,
        reply_target=reply_target(place),
        parties=tuple(sorted(parsed.private or ())),
        attachments=_files(event.data) if content is not None and parsed.signal is None else (),
        group=event.group_id,
    )


def _body(
    event: Event, parsed: ParsedMessage, decision: Decision, settings: Settings
) -> tuple[tuple[Part, ...] | None, Knock | None]:
    """The content, or the knock in its place (C2A-036); a signal has neither words nor a knock."""
    if parsed.signal is not None:
        return (None if decision.mode is Mode.NOTIFY else ()), None
    if content_shown(decision.mode):
        return content(event.data), None
    text = event.data.get("text")
    knock, _ = knock_of(
        decision,
        sender=f"{parsed.author.kind.value}:{parsed.author.id}",
        conversation=parsed.conversation,
        intent=parsed.intent,
        body=text if isinstance(text, str) else "",
        settings=settings,
    )
    return None, knock


def _files(data: dict[str, Any]) -> tuple[Attached, ...]:
    """The files of a message that is shown, their titles redacted as in its content (C2A-204)."""
    given = data.get("attachments")
    return tuple(replace(one, title=redacted(one.title)) for one in read_attachments(given)) if given else ()


def content(data: dict[str, Any]) -> tuple[Part, ...]:
    """The message's parts, redacted: its text, and its attachments by kind and title (C2A-035, C2A-204)."""
    text = data.get("text", data.get("message", ""))
    parts = [Part(text=redacted(text if isinstance(text, str) else ""))]
    parts += [
        Part(str(item.get("kind", "file")), title=redacted(str(item.get("title") or "")))
        for item in cast("list[dict[str, Any]]", data.get("attachments") or [])
    ]
    quote = data.get("quote_text")
    if isinstance(quote, str) and quote:
        parts.append(Part("quote", title=redacted(quote[:QUOTE_CHARS])))
    return tuple(parts)


def thread_window(texts: Sequence[str], settings: Settings = DEFAULTS) -> list[int]:
    """Which messages of a thread go along: the root and the last ones, within count and characters (C2A-223).

    `texts` are the earlier messages that the session may read, the root first; gives their places.
    """
    if not texts:
        return []
    room = settings.thread_window_chars - len(texts[0])
    chosen: list[int] = []
    for place in range(len(texts) - 1, 0, -1):
        room -= len(texts[place])
        if room < 0 or len(chosen) == settings.thread_window_messages:
            break
        chosen.append(place)
    return [0, *reversed(chosen)]
