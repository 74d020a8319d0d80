"""Timers: what time alone brings to a group.

Rows: C2A-059, C2A-092, C2A-122, C2A-155, C2A-173, C2A-174, C2A-175, C2A-176, C2A-177, C2A-178, C2A-222.
Claims end, obligations are sent again and then move on, deferred events come back, offers that nobody took
are given to one, digests go out. A session that is at its work keeps it (`tacit.attention.state.work`), and a
hub that has just started waits for those whom it could not hear. One step at a time: each is appended and
folded before the next is looked for, so that a restarted hub goes on where it stopped. `now` is an argument;
nothing here waits.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

import msgspec

from tacit.attention.decide import digest
from tacit.attention.decide.decide import entry_of
from tacit.attention.decide.decision import Rule
from tacit.attention.decide.matrix import Situation
from tacit.attention.state import obligations, records, room_offers, room_questions
from tacit.attention.state.claims import (
    MS,
    OpenOffer,
    assign_at,
    assignee,
    event_target,
    has_room,
    may_renew,
    release,
    take,
)
from tacit.attention.state.consequences import (
    Around,
    delivery,
    records_with,
    reoffered,
    reroute,
)
from tacit.attention.state.escalation import human_notice
from tacit.attention.state.obligations import DeadlineStep, decision_in
from tacit.attention.state.records import Notice, Written
from tacit.attention.state.work import NO_LIVES, RECONNECT, Lives, alive_at, extension
from tacit.base.moment import Moment
from tacit.c2a.vocabulary import Directedness, Disposition, Intent, Mode, Policy, Reason

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from tacit.attention.decide.digest import PendingDigest
    from tacit.attention.state.fold import Attention
    from tacit.attention.state.obligations import Obligation
    from tacit.attention.state.room_questions import RoomQuestion
    from tacit.attention.state.work import PieceOfWork

ASSIGNED: Final = Rule("claim.assigned", "C2A-222", "nobody took it in time, so the hub chose one")


def next_due(attention: Attention, lives: Lives = NO_LIVES) -> Moment | None:
    """When time next brings something; None when nothing waits."""
    held_up = attention.approvals.held_up()
    span = attention.settings.claim_ttl_ms * MS
    times = [
        Moment(max(due.at, _excused(obligation, due.at, lives)))
        for obligation in attention.obligations
        if (obligation.event_id, obligation.session) not in held_up
        and (due := obligations.next_step(obligation, attention.settings))
    ]
    times += [
        Moment(max(held.expires_at, lives.excused_until(held.session, Moment(held.expires_at - span), span)))
        for held in attention.claims
    ]
    times += [_assigned_at(offer, attention, lives) for offer in attention.offers.values() if _open(offer)]
    times += [at for one in attention.room_questions if (at := _offer_at(one, attention, lives)) is not None]
    times += [
        digest.next_at(one.since, attention.settings)
        for one in attention.pending_digests.values()
        if one.event_ids
    ]
    return min(times, default=None)


def _open(offer: OpenOffer) -> bool:
    return not offer.held and not offer.assigned


def steps(
    attention: Attention, around: Around, item: Callable[[str], digest.DigestItem | None]
) -> Iterator[list[Written]]:
    """Every step that is due, each to be appended before the next is asked for.

    `item` reads an event for a digest.
    """
    now = around.now
    for record in attention.claims.ended(now):
        yield _ended(record, attention, around)
    for obligation in _due(attention, now):
        yield _step(obligation, attention, around)
    for offer in sorted(attention.offers.values(), key=lambda one: (one.at, one.event_id)):
        if _open(offer) and _assigned_at(offer, attention, around.lives) <= now:
            yield _assigned(offer, attention, around)
    for question in attention.room_questions:
        due = _offer_at(question, attention, around.lives)
        if due is not None and due <= now:
            yield _to_the_room(question, attention, around, item)
    for session, waiting in sorted(attention.pending_digests.items()):
        if waiting.event_ids and digest.next_at(waiting.since, attention.settings) <= now:
            yield _digested(session, waiting, attention, item)


def _due(attention: Attention, now: Moment) -> list[Obligation]:
    # While a person is asked for a permission, the time of what it is for stands still.
    held_up = attention.approvals.held_up()
    found = [
        obligation
        for obligation in attention.obligations
        if obligations.is_due(obligation, now, attention.settings)
        and (obligation.event_id, obligation.session) not in held_up
    ]
    return sorted(
        found, key=lambda obligation: (obligation.created_at, obligation.event_id, obligation.session)
    )


def _step(obligation: Obligation, attention: Attention, around: Around) -> list[Written]:
    current = attention.obligations.get(obligation.event_id, obligation.session)
    step = obligations.is_due(current, around.now, attention.settings) if current is not None else None
    if current is None or step is None:
        return []
    due = obligations.next_step(current, attention.settings)
    if due is not None and _excused(current, due.at, around.lives) > around.now:
        return []
    piece = attention.work.get(current.event_id, current.session)
    alive = alive_at(piece, around.lives)
    if piece is not None and current.is_longer_with(alive) and step is not DeadlineStep.RESURFACE:
        # It is at it, or was until then: its silence, if there is one, begins there (C2A-173).
        return [extension(piece, alive)]
    match step:
        case DeadlineStep.REDELIVER:
            return [obligations.redelivery(current)]
        case DeadlineStep.RESURFACE:
            again = obligations.redelivery(current)
            return [records_with(again, current.deadline_ms or attention.settings.deadline_ms, around.now)]
        case DeadlineStep.CLOSE:
            return [obligations.closing(current)]
        case DeadlineStep.ESCALATE:
            decision = decision_in(current)
            moved = reroute(current.event_id, decision, attention, around, {current.session}, declined=False)
            return [*moved, obligations.lowering(current)]


def _ended(ended: records.ClaimRecord, attention: Attention, around: Around) -> list[Written]:
    """A claim whose time is over: its holder is still at it, may yet come back, or has lost it (C2A-155)."""
    span = attention.settings.claim_ttl_ms * MS
    if around.lives.excused_until(ended.session, Moment(around.now - span), span) > around.now:
        return []
    held_up = attention.approvals.held_up()
    alive = max(
        (
            around.now if (piece.event_id, piece.session) in held_up else alive_at(piece, around.lives)
            for piece in _under(ended, attention)
        ),
        default=0,
    )
    renews = may_renew(attention.claims, ended.target, ended.session, around.now, attention.settings)
    if alive + span > around.now and renews:
        return [msgspec.structs.replace(ended, action="renew", expires_at=alive + span)]
    return [ended, *reoffered(ended, attention)]


def _under(claim: records.ClaimRecord, attention: Attention) -> list[PieceOfWork]:
    """The holder's open work that a claim covers."""
    kind, _, name = claim.target.partition(":")
    if kind == "event":
        piece = attention.work.get(name, claim.session)
        return [piece] if piece is not None else []
    return [
        piece
        for piece in attention.work
        if piece.session == claim.session
        and (
            piece.event_id == name
            or ((said := attention.past.get(piece.event_id)) is not None and said.conversation.thread == name)
        )
    ]


def _excused(obligation: Obligation, due: Moment, lives: Lives) -> Moment:
    return lives.excused_until(obligation.session, obligation.created_at, due - obligation.quiet_since)


def _awaited_until(sessions: Iterable[str], since: Moment, due: Moment, lives: Lives) -> Moment:
    """A hub that has just started gives those who may take an offer the time to come back."""
    if since >= lives.since:
        return Moment(0)
    back = any((life := lives.sessions.get(session)) is not None and life.connected for session in sessions)
    return Moment(max(lives.begun_anew(due - since), 0 if back else lives.since + RECONNECT))


def _assigned_at(offer: OpenOffer, attention: Attention, lives: Lives) -> Moment:
    """When an offer that nobody took is given to one."""
    at = assign_at(offer.at, attention.settings)
    return Moment(max(at, _awaited_until(offer.members, offer.at, at, lives)))


def _offer_at(question: RoomQuestion, attention: Attention, lives: Lives) -> Moment | None:
    """When a question to the room is next offered; agents have time to come back before."""
    due = room_questions.offer_at(question, attention.settings)
    if due is None:
        return None
    return Moment(max(due, _awaited_until(attention.sessions, question.at, due, lives)))


def _assigned(offer: OpenOffer, attention: Attention, around: Around) -> list[Written]:
    """One of the online members gets it: the stream's owner, else the least loaded (C2A-222)."""
    if any(obligation.owed for obligation in attention.obligations.of_event(offer.event_id)):
        # A person or an earlier deadline gave it to one already: there is never a second (C2A-177).
        return [records.AuditRecord(what="unassigned", event_id=offer.event_id, row="C2A-177")]
    message = attention.past.get(offer.event_id)
    owners = attention.ownership.owners(message.conversation, ()) if message is not None else frozenset[str]()
    online = [
        agent
        for agent in offer.members
        if (entry := around.roster.agents.get(agent)) is not None
        and entry.online
        and agent in attention.sessions
        and _could_take(attention.obligations.get(offer.event_id, agent))
        and has_room(attention.claims, event_target(offer.event_id), agent, around.now, attention.settings)
    ]
    load = {agent: attention.obligations.open_of(agent) for agent in online}
    chosen = assignee(online, owners, load)
    if chosen is None:
        # Nobody is there who could take it: a person should know, once.
        return [
            records.AuditRecord(what="unassigned", event_id=offer.event_id, row="C2A-222"),
            Notice(human_notice(offer.event_id, why="unanswered")),
        ]
    root = (message.conversation.thread if message is not None else None) or offer.event_id
    claim = take(
        attention.claims, event_target(offer.event_id), chosen, around.now, thread=root, assigned=True,
        settings=attention.settings,
    )  # fmt: skip
    obligation = attention.obligations.get(offer.event_id, chosen)
    if not isinstance(claim, records.ClaimRecord) or obligation is None:
        return [records.AuditRecord(what="unassigned", event_id=offer.event_id, row="C2A-222")]
    modes = attention.sessions[chosen].modes
    decision = replace(
        decision_in(obligation),
        directedness=Directedness.TO_ME,
        policy=Policy.MUST_RESPOND,
        reason=Reason.ASSIGNMENT,
        mode=next((mode for mode in (Mode.BUFFERED, Mode.IMMEDIATE) if mode in modes), Mode.NOTIFY),
        needs_claim=False,
        thread_window=True,
        because=tuple((part, ASSIGNED) for part in ("directedness", "policy", "mode", "reason", "priority")),
    )
    record = delivery(offer.event_id, chosen, decision, None, attempt=obligation.attempt + 1)
    return [claim, records_with(record, attention.settings.deadline_ms, around.now)]


def _to_the_room(
    question: RoomQuestion,
    attention: Attention,
    around: Around,
    item: Callable[[str], digest.DigestItem | None],
) -> list[Written]:
    """A question that nobody has taken goes to the next that fits, else back to its author."""
    said, message = item(question.event_id), attention.past.get(question.event_id)
    before = [*_given_up(question, attention, around), *_offers_over(question, attention)]
    if said is None or message is None:
        return [*before, *room_questions.unanswered(question)[:1]]
    place, roster = message.conversation, around.roster
    free = room_offers.candidates(attention, roster, place, question.offered)
    if not free:
        if around.now < question.told_at:
            left = records.AuditRecord(
                what=room_questions.LEFT_TO_PEOPLE, event_id=question.event_id, row="C2A-077"
            )
            return [*before, left]
        # A room of people alone is none of attention's business: there it only ends.
        return [*before, *room_questions.unanswered(question)[: None if attention.sessions else 1]]
    fitness = room_offers.fitness(attention, roster, place, said.text)
    chosen = min(free, key=fitness.rank)
    noted = attention.decided.get(question.event_id)
    situation = noted.situation(chosen) if noted is not None else Situation.OPEN_REQUEST
    usual = entry_of(situation, message.priority, attention.settings.deadline_ms)
    offer = room_offers.offered(usual, attention.sessions[chosen].modes, fitness.why(chosen))
    return [*before, delivery(question.event_id, chosen, offer, message)]


def _offers_over(question: RoomQuestion, attention: Attention) -> list[Written]:
    """The offers that nobody took: there are never two at a time. Who comes late may still claim it."""
    offers = [attention.obligations.get(question.event_id, session) for session in question.offered]
    return [obligations.closing(offer) for offer in offers if offer is not None and not offer.closed]


def _given_up(question: RoomQuestion, attention: Attention, around: Around) -> list[Written]:
    """The claim of somebody who had taken it and will not answer: without it the next can take it."""
    target = event_target(question.event_id)
    held = attention.claims.holder(target, None, around.now)
    given = release(attention.claims, target, held.session, around.now) if held is not None else None
    return [given] if isinstance(given, records.ClaimRecord) else []


def _could_take(obligation: Obligation | None) -> bool:
    return (
        obligation is not None
        and not obligation.declined
        and obligation.disposition is not Disposition.SUPERSEDED
    )


def _digested(
    session: str,
    waiting: PendingDigest,
    attention: Attention,
    item: Callable[[str], digest.DigestItem | None],
) -> list[Written]:
    items = [found for event_id in waiting.event_ids if (found := item(event_id)) is not None]
    made = digest.digest_of(items, attention.settings)
    if made is None or session not in attention.sessions:
        return [
            records.DigestRecord(
                session=session, scope="", policy="must_not_respond", text="", for_=[session]
            )
        ]
    return [
        records.DigestRecord(
            session=session,
            scope=made.scope,
            policy=made.policy.value,
            text=made.text,
            event_ids=list(made.event_ids),
            for_=[session],
        )
    ]


def item_of(event_id: str, scope: str, author: str, intent: Intent, text: str) -> digest.DigestItem:
    """One event as a digest counts it."""
    return digest.DigestItem(event_id, scope, author, intent, text)
