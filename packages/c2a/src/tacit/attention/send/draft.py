"""The draft of a message: where a send goes, what it answers, and all that the rules must know about it.

Rows: C2A-064, C2A-111, C2A-142, C2A-147, C2A-148, C2A-149, C2A-150, C2A-151, C2A-174, C2A-205, C2A-207,
C2A-213. A call's arguments are read by `tacit.c2a.tools.read_send`; the surroundings of the send are gathered
from the fold here. `rules.may_send` decides; `message` is the `chat.message` that a permitted send becomes.
No platform syntax comes from the agent: the host writes recipients, mentions and the reply link.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Protocol, cast

from tacit.attention.read.conversation import MAIN, Conversation
from tacit.attention.send import askers
from tacit.attention.send.surroundings import AnsweredEvent, EarlierSend, Surroundings
from tacit.attention.state import approvals, records
from tacit.attention.state.claims import event_target
from tacit.attention.state.obligations import MS, as_delivered
from tacit.base.moment import Moment, parse_rfc3339
from tacit.c2a.signals import USUAL, AgreedSignals
from tacit.c2a.tools import body_of, read_destination
from tacit.c2a.vocabulary import ConversationKind

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tacit.attention.decide.decision import Decision
    from tacit.attention.read.parsed_message import ParsedMessage
    from tacit.attention.read.roster import Roster
    from tacit.attention.state.claims import HeldClaim
    from tacit.attention.state.fold import Attention
    from tacit.c2a.tools import Send
    from tacit.ledger.envelope import Event, StoredEvent


class DraftArchive(Protocol):
    """What a draft is checked against in the ledger, as the session may see it."""

    def readable(self, event_id: str, session: str) -> Event | None:
        """A message in its form under this id, if the session may read it."""
        ...

    def found(self, event_id: str) -> StoredEvent | None:
        """An event by its id, whoever asks."""
        ...

    def original(self, event_id: str) -> str:
        """The id of a message's first form."""
        ...

    def keyed(self, session: str, key: str) -> Event | None:
        """The session's message under this idempotency key, however old."""
        ...

    def decision(self, event: Event, session: str) -> Decision:
        """What the session got for this event, as it was decided then."""
        ...


@dataclass(frozen=True, slots=True)
class CallingSession:
    """One session that calls a tool, and all that is known at this moment."""

    session: str
    attention: Attention
    archive: DraftArchive
    roster: Roster
    now: Moment
    ephemeral: bool = True
    signals: AgreedSignals = USUAL


@dataclass(frozen=True, slots=True)
class SendPlace:
    """Where a send goes."""

    conversation: Conversation
    to: tuple[str, ...] = ()
    root: str | None = None
    known: bool = True


NOWHERE: Final = SendPlace(Conversation(), known=False)


def place_for(target: str, caller: CallingSession) -> SendPlace:
    """The place behind a send's target, as the session knows it; unknown when there is none."""
    there = read_destination(target)
    if there is None:
        return NOWHERE
    if there.kind is ConversationKind.THREAD:
        return _thread(there.name, caller)
    if there.is_private:
        return _dm(tuple(sorted(there.parties - {caller.session})), caller)
    found = caller.attention.ownership.titled(Conversation(there.name, ConversationKind.CHANNEL))
    return SendPlace(found, known=there.name == MAIN or _is_channel(there.name, caller))


def _is_channel(name: str, caller: CallingSession) -> bool:
    known = caller.attention.ownership.knows_channel(name)
    return known or any(one.place == f"channel:{name}" for one in caller.attention.sent[caller.session])


def _thread(root: str, caller: CallingSession) -> SendPlace:
    first = caller.archive.original(root)
    said = caller.attention.past.get(first) if caller.archive.readable(first, caller.session) else None
    if said is None:
        return NOWHERE
    top = said.conversation.thread or first
    private = said.conversation.kind is ConversationKind.DM or said.private is not None
    kind = ConversationKind.DM if private else ConversationKind.THREAD
    return SendPlace(Conversation(said.conversation.id, kind, top, said.conversation.stream), root=top)


def _dm(names: tuple[str, ...], caller: CallingSession) -> SendPlace:
    known = {*caller.roster.agents, *caller.roster.people, caller.roster.owner}
    found = tuple(found for name in names if (found := caller.roster.principal(name)) in known)
    if not names or len(found) != len(names):
        return NOWHERE
    name = "dm:" + "+".join(sorted({caller.session, *cast("tuple[str, ...]", found)}))
    return SendPlace(Conversation(name, ConversationKind.DM), to=cast("tuple[str, ...]", found))


def surroundings(send: Send, place: SendPlace, caller: CallingSession) -> Surroundings:
    """Everything that the rules want to know about a send."""
    attention, now, session = caller.attention, caller.now, caller.session
    answered = _answered(send, caller) if send.in_reply_to is not None else None
    conversation = place.conversation
    here = conversation.place
    sends = attention.sent[session]
    root = conversation.thread
    said = attention.past.get(answered.event_id) if answered is not None else None
    thread = said.conversation.thread if said is not None else root
    holder = _holder(answered.event_id, thread, caller) if answered is not None else None
    owners = attention.ownership.owners(conversation, ())
    owner = attention.owner_of(thread) if thread is not None else None
    reveals = revealed(send, place, caller) is not None
    return Surroundings(
        kind=conversation.kind,
        known_target=place.known or _is_where(said, place),
        found=send.in_reply_to is None or answered is not None,
        ephemeral=caller.ephemeral,
        answered=answered,
        holder=holder,
        owns=session in owners or owner == session,
        thread_owned=owner is not None,
        agents_in_thread=len(attention.participants(thread)) if thread is not None else 0,
        left=attention.absences.has_left(session, conversation),
        goodbye_for=attention.absences.goodbye_for(session, conversation),
        stopped=attention.exchanges.stopped(conversation.key),
        recent=tuple(_said(one.event_id, caller) for one in sends[-attention.settings.similar_window :]),
        sends=tuple(one.at for one in sends),
        sends_here=tuple(one.at for one in sends if one.place == here),
        sent_with_key=_keyed(send, caller),
        reveals_private=reveals,
        approval=approvals.required(attention.approvals, session, _wanted(send, caller), now)
        if reveals
        else None,
    )


def at_work_on(send: Send) -> tuple[str, ...]:
    """The events that a send comes from."""
    return tuple(dict.fromkeys(one for one in (send.during, send.in_reply_to) if one))


def _wanted(send: Send, caller: CallingSession) -> str:
    """What an approval of the send is for: its words, its place, and those who asked for it."""
    asked = askers.everybody_behind(at_work_on(send), caller.session, caller.archive)
    return approvals.fingerprint("send", caller.session, send.target, send.body, askers.name_of(asked))


def _is_where(said: ParsedMessage | None, place: SendPlace) -> bool:
    """A channel that the session knows because it answers something there; nowhere is no such place."""
    return place is not NOWHERE and said is not None and said.conversation.id == place.conversation.id


def _holder(event_id: str, thread: str | None, caller: CallingSession) -> HeldClaim | None:
    """Who owns an event, by itself or with its thread, whose first message it may be."""
    root = thread or caller.archive.original(event_id)
    return caller.attention.claims.holder(event_target(event_id), root, caller.now)


def _said(event_id: str, caller: CallingSession) -> str:
    event = caller.archive.readable(event_id, caller.session)
    return body_of(event.data.get("text")) if event is not None else ""


def _keyed(send: Send, caller: CallingSession) -> EarlierSend | None:
    """A key is remembered for good (C2A-213)."""
    ephemeral_send = caller.attention.ephemeral_sends.get((caller.session, send.idempotency_key))
    if ephemeral_send is not None:
        same = ephemeral_send.sha256 == hashlib.sha256(send.body.encode()).hexdigest()
        return EarlierSend(ephemeral_send.event_id, send.body if same else "", send.target)
    event = caller.archive.keyed(caller.session, send.idempotency_key) if send.idempotency_key else None
    if event is None:
        return None
    given: object = event.data.get("c2a")
    kept = cast("dict[str, object]", given) if isinstance(given, dict) else {}
    return EarlierSend(event.id, body_of(event.data.get("text")), str(kept.get("target", send.target)))


def _answered(send: Send, caller: CallingSession) -> AnsweredEvent | None:
    event_id = send.in_reply_to or ""
    event = caller.archive.readable(event_id, caller.session)
    if event is None:
        return None
    attention, session = caller.attention, caller.session
    obligation = attention.obligations.get(event_id, session)
    given = attention.answers[event_id, session]
    said = attention.past.get(event_id)
    root = (said.conversation.thread if said is not None else None) or caller.archive.original(event_id)
    expired = expired_at(event, caller)
    return AnsweredEvent(
        event_id,
        event.by,
        said.by_agent if said is not None else False,
        body_of(event.data.get("text")),
        as_delivered(caller.archive.decision(event, session), obligation),
        obligation.disposition if obligation is not None else None,
        attention.versions.is_superseded(event_id),
        attention.versions.replaced_by(event_id),
        expired if expired is not None and expired <= caller.now else None,
        attention.looked.get((session, root)),
        len(given),
        tuple(
            EarlierSend(one.event_id, _said(one.event_id, caller), "", one.turn, one.attempt) for one in given
        ),
    )


def expired_at(event: Event, caller: CallingSession) -> Moment | None:
    """When an answer becomes late: an obligation by its deadline, anything else by the freshness window."""
    attention = caller.attention
    obligation = attention.obligations.get(event.id, caller.session)
    if obligation is not None and obligation.held and obligation.disposition is None:
        return Moment(
            obligation.quiet_since + (obligation.deadline_ms or attention.settings.deadline_ms) * MS
        )
    if obligation is not None and obligation.disposition is not None and not obligation.closed:
        return None
    at = obligation.quiet_since if obligation is not None else parse_rfc3339(event.ts)
    return Moment(at + attention.settings.freshness_ms * MS) if at is not None else None


def revealed(send: Send, place: SendPlace, caller: CallingSession) -> frozenset[str] | None:
    """Who reads the private talk that a send comes from, when it goes beyond them; None when it does not.

    Row C2A-207. It comes from the event that the session is at work on, and from the one that it answers. No
    words are compared: a model that works in the room has never seen what was said in private.
    """
    audience = frozenset({caller.session, *place.to})
    private = place.conversation.kind is ConversationKind.DM
    if private and place.root is not None:
        there = caller.attention.past.get(place.root)
        audience = there.private if there is not None and there.private is not None else audience
    knowing: frozenset[str] | None = None
    for event_id in at_work_on(send):
        readable = caller.archive.readable(event_id, caller.session) is not None
        said = caller.attention.past.get(event_id) if readable else None
        readers = said.private if said is not None else None
        if readers is not None and not (private and audience <= readers):
            knowing = readers if knowing is None else knowing & readers
    return knowing


def message(
    send: Send, place: SendPlace, caller: CallingSession, arguments: Mapping[str, Any]
) -> dict[str, Any]:
    """The `chat.message` of a permitted send: the host renders audience and visibility (C2A-111)."""
    kept: dict[str, Any] = {"target": send.target, "visibility": send.visibility}
    kept |= {"in_reply_to": send.in_reply_to} if send.in_reply_to else {}
    kept |= {"turn": send.turn, "attempt": send.attempt} if send.turn else {}
    kept |= {"justification": send.justification} if send.justification else {}
    data: dict[str, Any] = {
        "text": send.body,
        "client_id": send.idempotency_key,
        "directedness": send.directedness,
        "c2a": kept,
    }
    above = caller.archive.original(send.in_reply_to) if send.in_reply_to else place.root
    if above is not None:
        data["reply_to"] = above
    conversation = place.conversation
    if place.to and not _stays_inside(above, place, caller):
        data["to"] = list(place.to)
        data["conversation"] = {"id": conversation.id, "kind": "dm"}
    elif send.visibility == "channel":
        data["conversation"] = {"id": conversation.id, "kind": "channel"}
    names = [*send.mentions, *(["all"] if send.channel_wide else [])]
    data |= {"mentions": names} if names else {}
    data |= {"attachments": arguments["attachments"]} if arguments.get("attachments") else {}
    data |= {"format": arguments["format"]} if arguments.get("format") else {}
    return data


def ephemeral(send: Send, place: SendPlace, caller: CallingSession) -> records.EphemeralRecord:
    """What the ledger keeps of a message that is for those who are there: no word of it (C2A-217)."""
    body = send.body.encode()
    private = place.conversation.kind is ConversationKind.DM
    readers = {caller.session, *place.to}
    if place.root is not None and (said := caller.attention.past.get(place.root)) is not None:
        readers |= said.private or set()
    return records.EphemeralRecord(
        session=caller.session,
        key=send.idempotency_key,
        where=place.conversation.place,
        sha256=hashlib.sha256(body).hexdigest(),
        length=len(body),
        in_reply_to=send.in_reply_to,
        for_=sorted(readers) if private else [],
    )


def _stays_inside(above: str | None, place: SendPlace, caller: CallingSession) -> bool:
    """A reply to a private message without recipients stays among its parties by itself."""
    said = caller.attention.past.get(above) if above is not None else None
    return said is not None and said.private == frozenset({caller.session, *place.to})
