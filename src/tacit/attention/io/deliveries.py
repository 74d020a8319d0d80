"""Deliveries as they go out: the params of `chat/deliver`, from the obligation and the event as they stand.

Rows: C2A-006, C2A-009, C2A-029, C2A-034, C2A-037, C2A-041, C2A-068, C2A-093, C2A-223. The same whether an
event is sent for the first time, again after a silence, or after a restart: all of it comes from the ledger.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from tacit.attention.commands import DeliveryDraft
from tacit.attention.decide.delivery import (
    Receiver,
    content,
    idempotency_key,
    params,
    thread_window,
    wire_policy,
)
from tacit.attention.state.obligations import decision_in
from tacit.c2a.vocabulary import ConversationKind, Mode
from tacit.ledger.envelope import decode
from tacit.ledger.ports import StoredEvent

if TYPE_CHECKING:
    from tacit.attention.io.archive import Archive
    from tacit.attention.read.conversation import Conversation
    from tacit.attention.state.obligations import Obligation

LOOKED_AT: Final = 50
"""How many messages of a thread are read for its window."""
Thread = Callable[[str], Sequence[StoredEvent]]
"""The messages of an event's thread, as far as the receiving session may read them."""


def reply_target(conversation: Conversation) -> str:
    """Where an answer goes: the thread, else the conversation (C2A-096)."""
    return f"thread:{conversation.thread}" if conversation.thread else f"conversation:{conversation.id}"


def drafted(archive: Archive, obligation: Obligation) -> DeliveryDraft | None:
    """The delivery as the writer can make it; None when more has to be read than it has at hand."""
    known = archive.attention.sessions.get(obligation.session)
    if known is None or obligation.closed or obligation.accepted:
        return None
    made = delivered(archive, obligation, known.version, None)
    if made is None:
        return None
    return DeliveryDraft(obligation.session, obligation.event_id, obligation.request_id, known.version, made)


def delivered(
    archive: Archive, obligation: Obligation, version: str, thread: Thread | None
) -> dict[str, Any] | None:
    """What `chat/deliver` carries for an obligation; None when the event or its thread is not at hand."""
    found = archive.found(obligation.event_id)
    if found is not None and found.kind == "x.c2a.digest":
        return _digest(obligation, version, decode(found.raw).data, found.seq)
    event = archive.past.form_of(found) if found is not None else None
    parsed = archive.past.parsed(event) if event is not None else None
    if event is None or parsed is None or archive.attention.versions.is_superseded(obligation.event_id):
        return None
    receiver = Receiver(obligation.session, version, obligation.session)
    decision = decision_in(obligation)
    windowed = decision.thread_window and parsed.conversation.thread is not None
    if windowed and thread is None:
        return None
    made = params(
        event, parsed, decision, receiver, attempt=obligation.attempt, settings=archive.attention.settings
    )
    made["replyTarget"] = reply_target(parsed.conversation)
    if windowed and thread is not None and "content" in made:
        made["threadWindow"] = _window(thread, archive, obligation, version)
    return made


def in_full(
    reader_less: Archive, event_id: str, session: str, version: str, obligation: Obligation
) -> dict[str, Any] | None:
    """The whole event as a claimant gets it with the claim's result (C2A-158)."""
    event = reader_less.readable(event_id, session)
    parsed = reader_less.past.parsed(event) if event is not None else None
    if event is None or parsed is None:
        return None
    decision = replace(decision_in(obligation), mode=Mode.BUFFERED, needs_claim=False)
    made = params(
        event, parsed, decision, Receiver(session, version, session), settings=reader_less.attention.settings
    )
    made["replyTarget"] = reply_target(parsed.conversation)
    return made


def _window(thread: Thread, archive: Archive, obligation: Obligation, version: str) -> list[dict[str, Any]]:
    first = archive.original(obligation.event_id)
    earlier = [
        one
        for one in thread(first)
        if one.event_id != first and not archive.attention.versions.is_deleted(one.event_id)
    ]
    events = [archive.readable(one.event_id, obligation.session) for one in earlier]
    texts = [str(event.data.get("text", "")) if event is not None else "" for event in events]
    found: list[dict[str, Any]] = []
    for place in thread_window(texts, archive.attention.settings):
        event = events[place]
        parsed = archive.past.parsed(event) if event is not None else None
        if event is None or parsed is None:
            continue
        author = parsed.author
        found.append(
            {
                "eventId": event.id,
                "author": {"id": author.id, "kind": author.kind.value, "displayName": author.display_name},
                "content": content(event.data, version),
                "createdAt": event.ts,
            }
        )
    return found


def _digest(obligation: Obligation, version: str, data: dict[str, Any], seq: int) -> dict[str, Any]:
    policy = wire_policy(obligation.policy, version)
    text = str(data.get("text", ""))
    return {
        "eventId": obligation.event_id,
        "source": {"platform": "cccs", "workspaceId": ""},
        "conversation": {"id": str(data.get("scope", "")), "kind": ConversationKind.CHANNEL.value},
        "author": {"id": "system", "kind": "system", "displayName": "digest"},
        "target": {"mentions": [], "directedness": obligation.directedness.value},
        "addressedToMe": False,
        "policy": policy,
        "content": text if version != "2026-06-02" else [{"type": "text", "text": text}],
        "timing": {"sequence": seq},
        "attention": {"policy": policy, "reason": "digest", "priority": obligation.priority.value},
        "injection": {"mode": "digest", "context": "none", "role": "user"},
        "reliability": {
            "attempt": obligation.attempt,
            "idempotencyKey": idempotency_key(obligation.event_id, obligation.session),
        },
        "replyTarget": "conversation:main",
    }
