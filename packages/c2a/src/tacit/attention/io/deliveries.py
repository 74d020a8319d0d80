"""Deliveries as they go out, from the obligation and the event as they stand.

Rows: C2A-006, C2A-009, C2A-029, C2A-034, C2A-037, C2A-041, C2A-068, C2A-093, C2A-158, C2A-223. The same
whether an event is sent for the first time, again after a silence, or after a restart: all of it comes from
the ledger.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from tacit.attention.commands import DeliveryDraft
from tacit.attention.decide.delivery import content, thread_window
from tacit.attention.decide.delivery import delivered as made_of
from tacit.attention.read.conversation import MAIN
from tacit.attention.state.obligations import decision_in
from tacit.base.moment import Moment
from tacit.c2a.messages import Author, Delivered, Earlier, Part, encode, idempotency_key
from tacit.c2a.vocabulary import AuthorKind, ConversationKind, Mode, Policy, Reason
from tacit.ledger.envelope import StoredEvent, decode

if TYPE_CHECKING:
    from tacit.attention.io.recent_lines import LineSource, RecentLines
    from tacit.attention.io.state_store import Archive
    from tacit.attention.state.obligations import Obligation

LOOKED_AT: Final = 50
"""How many messages of a thread are read for its window."""
Thread = Callable[[str], Sequence[StoredEvent]]
"""The messages of an event's thread, as far as the receiving session may read them."""
_ANSWERABLE: Final = frozenset({Policy.MUST_RESPOND, Policy.MAY_RESPOND})


def drafted(source: LineSource, obligation: Obligation, lines: RecentLines) -> DeliveryDraft | None:
    """The delivery as the writer can make it; None when more has to be read than it has at hand."""
    archive = source.archive
    if obligation.session not in archive.attention.sessions or obligation.closed or obligation.accepted:
        return None
    made = delivered(archive, obligation, None)
    if made is None:
        return None
    made = with_lines(made, source, lines)
    return DeliveryDraft(obligation.session, obligation.event_id, obligation.request_id, made)


def with_lines(made: Delivered, source: LineSource, lines: RecentLines) -> Delivered:
    """Where something is asked in the open flow of a conversation the lines before it go along (C2A-223)."""
    if not _is_open_question(made):
        return made
    first = source.archive.past.first(made.event_id)
    at = first.seq if first is not None else made.sequence
    return replace(made, before=lines.before(made.conversation, at, source))


def _is_open_question(made: Delivered) -> bool:
    is_flat = made.thread is None and not made.audience and made.signal is None
    return is_flat and bool(made.content) and made.policy in _ANSWERABLE


def delivered(archive: Archive, obligation: Obligation, thread: Thread | None) -> Delivered | None:
    """What a session gets for an obligation; None when the event or its thread is not at hand."""
    said = archive.past.under(obligation.event_id)
    if said is None:
        found = archive.found(obligation.event_id)
        is_digest = found is not None and found.kind == "x.c2a.digest"
        return _digest(obligation, decode(found.raw).data, found.seq) if found and is_digest else None
    event, parsed = said
    if parsed is None or archive.attention.versions.is_superseded(obligation.event_id):
        return None
    decision = decision_in(obligation)
    windowed = decision.thread_window and parsed.conversation.thread is not None
    if windowed and thread is None:
        return None
    return made_of(
        event,
        parsed,
        decision,
        obligation.session,
        attempt=obligation.attempt,
        window=_window(thread, archive, obligation) if windowed and thread is not None else (),
        settings=archive.attention.settings,
    )


def in_full(
    archive: Archive, event_id: str, session: str, version: str, obligation: Obligation
) -> dict[str, Any] | None:
    """The whole event as a claimant gets it with the claim's result (C2A-158)."""
    event = archive.readable(event_id, session)
    parsed = archive.past.parsed(event) if event is not None else None
    if event is None or parsed is None:
        return None
    decision = replace(decision_in(obligation), mode=Mode.BUFFERED, needs_claim=False)
    return encode(made_of(event, parsed, decision, session, settings=archive.attention.settings), version)


def _window(thread: Thread, archive: Archive, obligation: Obligation) -> tuple[Earlier, ...]:
    """The messages before it, of those that everybody may read who will read the answer (C2A-203)."""
    first, about = archive.original(obligation.event_id), archive.found(obligation.event_id)
    earlier = [
        one
        for one in thread(first)
        if one.event_id != first
        and about is not None
        and one.is_known_to_readers_of(about)
        and not archive.attention.versions.is_deleted(one.event_id)
    ]
    events = [archive.readable(one.event_id, obligation.session) for one in earlier]
    texts = [str(event.data.get("text", "")) if event is not None else "" for event in events]
    found: list[Earlier] = []
    for place in thread_window(texts, archive.attention.settings):
        event = events[place]
        parsed = archive.past.parsed(event) if event is not None else None
        if event is not None and parsed is not None:
            found.append(Earlier(event.id, parsed.author, content(event.data), event.ts))
    return tuple(found)


def _digest(obligation: Obligation, data: dict[str, Any], seq: int) -> Delivered:
    return Delivered(
        event_id=obligation.event_id,
        conversation=str(data.get("scope", "")),
        kind=ConversationKind.CHANNEL,
        author=Author("system", AuthorKind.SYSTEM, "digest"),
        directedness=obligation.directedness,
        policy=obligation.policy,
        mode=Mode.DIGEST,
        reason=Reason.DIGEST.value,
        priority=obligation.priority,
        created_at=Moment(0),
        idempotency_key=idempotency_key(obligation.event_id, obligation.session),
        content=(Part(text=str(data.get("text", ""))),),
        sequence=seq,
        attempt=obligation.attempt,
        reply_target=f"conversation:{MAIN}",
    )
