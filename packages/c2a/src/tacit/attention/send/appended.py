"""What an agent appends by itself, a message or a signal, judged as if it had called the tool.

Rows: C2A-061, C2A-136, C2A-153, C2A-191, C2A-197, C2A-198.
Whoever comes by the ledger's own door keeps the same manners: what the message says of its place and of what
it answers is read as the fold will read it, and goes through the same table of checks with the same refusals.
What only a send must have (a key, a declared visibility) the ledger leaves free, and so does this. A message
that goes on in the agent's own thread answers nobody.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from tacit.attention.read.conversation import recipients
from tacit.attention.send.draft import SendPlace, surroundings
from tacit.attention.send.rules import may_append
from tacit.attention.state.consequences import signalled
from tacit.c2a.errors import Refusal
from tacit.c2a.signals import SIGNALS, signal_of
from tacit.c2a.tools import Send, body_of, read_mentions
from tacit.c2a.vocabulary import ConversationKind, Directedness

if TYPE_CHECKING:
    from tacit.attention.read.conversation import Conversation
    from tacit.attention.send.draft import CallingSession
    from tacit.ledger.envelope import Event

_SEEN_IN = {ConversationKind.DM: "dm", ConversationKind.THREAD: "thread"}


def refused(event: Event, caller: CallingSession) -> Refusal | None:
    """Why the agent may not append this now; None when it may."""
    return _signal_refused(event, caller) if event.kind == "chat.reaction" else _said_refused(event, caller)


def _signal_refused(event: Event, caller: CallingSession) -> Refusal | None:
    """A signal that claims or puts off goes by the rules of `chat.react`; what changes nothing is free."""
    on, signal = event.data.get("event_id"), signal_of(event.data)
    if not isinstance(on, str) or signal not in SIGNALS or event.data.get("removed"):
        return None
    obligation = caller.attention.obligations.get(caller.attention.versions.latest(on), caller.session)
    if obligation is None or obligation.closed or obligation.signal == signal:
        return None
    act = signalled(event, obligation, signal, caller.attention, caller.now)
    return act if isinstance(act, Refusal) else None


def _said_refused(event: Event, caller: CallingSession) -> Refusal | None:
    conversation = caller.attention.state_for(event, caller.now).conversation
    if conversation is None:
        return None
    send = _send(event, conversation, caller)
    to = tuple(found for token in recipients(event.data) if (found := caller.roster.principal(token)))
    place = SendPlace(conversation, to=to, root=conversation.thread)
    return may_append(send, surroundings(send, place, caller), caller.now, caller.attention.settings)


def _send(event: Event, conversation: Conversation, caller: CallingSession) -> Send:
    data = event.data
    given: object = data.get("c2a")
    said = cast("dict[str, object]", given) if isinstance(given, dict) else {}
    named: object = data.get("mentions")
    mentions = read_mentions(
        one
        for one in (cast("list[object]", named) if isinstance(named, list) else [])
        if isinstance(one, str)
    )
    declared, attempt = data.get("directedness"), said.get("attempt")
    return Send(
        event.by,
        target=conversation.place,
        body=body_of(data.get("text")),
        idempotency_key="",
        visibility=_SEEN_IN.get(conversation.kind, "channel"),
        directedness=declared if isinstance(declared, str) else Directedness.TO_ME.value,
        in_reply_to=_answers(said.get("in_reply_to", data.get("reply_to")), caller),
        mentions=mentions.names,
        channel_wide=mentions.channel_wide,
        attachments=bool(data.get("attachments")),
        turn=str(said.get("turn") or ""),
        attempt=attempt if isinstance(attempt, int) else 1,
    )


def _answers(event_id: object, caller: CallingSession) -> str | None:
    event = caller.archive.readable(event_id, caller.session) if isinstance(event_id, str) else None
    return event.id if event is not None and event.by != caller.session else None
