"""Consequences: what the house writes because an event was appended.

Rows: C2A-027, C2A-056, C2A-123, C2A-155, C2A-176, C2A-177, C2A-185, C2A-187, C2A-190, C2A-192, C2A-193,
C2A-198, C2A-199, C2A-206. A function from the event, its decisions and the state after it to records and
notices; whoever holds the ledger appends them in the same transaction. Deliveries are written for sessions
that a harness speaks for; everyone else's decision is derived when somebody asks. Nothing here sends
anything.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final, cast

import msgspec

from tacit.attention.decide.decide import entry_of
from tacit.attention.decide.decision import PUSHED, Decision, Flow, Rule, inbound
from tacit.attention.decide.matrix import Situation
from tacit.attention.read.bursts import is_unheard
from tacit.attention.state import absences, acts, escalation, records, room_questions
from tacit.attention.state.asking import ANSWERS, called_back
from tacit.attention.state.claims import event_target, release, renewals, thread_target
from tacit.attention.state.holds import held_or_resumed
from tacit.attention.state.obligations import ReportedDisposition, change, decision_in, withdrawn
from tacit.attention.state.records import Notice, Written
from tacit.attention.state.versions import answered_in, cancellations
from tacit.attention.state.work import NO_LIVES, PERSON, TRANSFERRED, Lives, copies
from tacit.c2a.errors import Refusal
from tacit.c2a.signals import SIGNALS, signal_of
from tacit.c2a.vocabulary import OPEN, AuthorKind, Disposition, Intent, Mode, Policy, Priority

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from tacit.attention.decide.decide import Decisions
    from tacit.attention.read.conversation import Conversation
    from tacit.attention.read.parsed_message import ParsedMessage
    from tacit.attention.read.roster import Roster
    from tacit.attention.state.fold import Attention
    from tacit.attention.state.obligations import Obligation
    from tacit.base.moment import Moment
    from tacit.ledger.envelope import Event

_ANSWERABLE: Final = frozenset({Policy.MUST_RESPOND.value, Policy.MAY_RESPOND.value})
AGAIN: Final = Rule("claim.reoffered", "C2A-155", "whoever had taken it gave it up or let its time run out")


@dataclass(frozen=True, slots=True)
class Around:
    """What is known beside the fold: who is online and alive, and what reached each model lately."""

    roster: Roster
    now: Moment
    pushed: Mapping[str, Sequence[Moment]]
    lives: Lives = NO_LIVES


def consequences(
    event: Event, decisions: Decisions, attention: Attention, around: Around, *, stopped: bool
) -> list[Written]:
    """Everything that follows from an event that was said, edited, reacted or noticed."""
    parsed = decisions.parsed
    if parsed is None:
        return []
    found: list[Written] = [*absences.returns(decisions, attention.absences)]
    if event.kind == "x.c2a.edit":
        found += [one.record for one in cancellations(_open_before(event, attention), "edit")]
    if event.kind == "chat.message":
        found += _answer(event, parsed, attention, around.now)
        found += _spoken(event, parsed, attention)
        found += _by_a_person(event, parsed, attention)
        found += _thanked(event, parsed, attention)
        found += _unheard(event, parsed, attention, around.roster)
        found += held_or_resumed(event, decisions, parsed, attention, around.now)
    if event.kind == "chat.reaction":
        found += _reacted(event, attention, around)
    found += _leaving(event, decisions, attention, around.now)
    if not stopped:
        found += deliveries(event, decisions, attention, around)
    else:
        exchange = attention.exchanges.at(parsed.conversation.key)
        found += deliveries(event, decisions, attention, around, spared=exchange.agents)
        found += _ended(exchange.agents, event, parsed, attention)
        found.append(
            records.AuditRecord(
                what="loop_stopped",
                event_id=event.id,
                code="loop_stopped",
                row="C2A-198",
                details={"agents": sorted(exchange.agents), "last": list(exchange.last)},
            )
        )
        found.append(Notice(_with_last(escalation.human_notice(event.id, why="loop"), exchange.last)))
    return found


def _with_last(notice: Mapping[str, object], last: Sequence[str]) -> dict[str, object]:
    """Both sides' last messages, referenced and not quoted (C2A-199)."""
    return {**notice, "context": {"last_event_ids": list(last)}}


def _open_before(event: Event, attention: Attention) -> list[Obligation]:
    return attention.obligations.of_event(str(event.data.get("supersedes", "")))


def _ended(
    agents: frozenset[str], event: Event, parsed: ParsedMessage, attention: Attention
) -> list[Written]:
    """What the agents of a stopped exchange still owed each other there, they owe no more (C2A-198)."""
    found: list[Written] = []
    place, just_answered = parsed.conversation.key, (answered_in(event), parsed.by)
    for obligation in attention.obligations:
        open_here = obligation.session in agents and not obligation.closed
        open_here = open_here and (obligation.event_id, obligation.session) != just_answered
        message = attention.past.get(obligation.event_id) if open_here else None
        if message is not None and message.by_agent and message.conversation.key == place:
            found.append(
                records.DispositionRecord(
                    event_id=obligation.event_id,
                    session=obligation.session,
                    disposition=Disposition.SUPERSEDED.value,
                    closes=True,
                    reason="loop_stopped",
                )
            )
    return found


def deliveries(
    event: Event,
    decisions: Decisions,
    attention: Attention,
    around: Around,
    spared: frozenset[str] = frozenset(),
) -> list[Written]:
    """One record for each session that hears of the event now."""
    agents: Iterable[str] = decisions.exceptions
    if decisions.common.mode in PUSHED or decisions.common.escalate:
        agents = decisions
    found: list[Written] = []
    for agent in sorted(agents):
        decision = decisions.get(agent)
        if decision is None or agent in spared or agent not in attention.sessions:
            continue
        if decision.escalate:
            found += reroute(event.id, decision, attention, around, {agent}, declined=False)
            continue
        decision, flow = inbound(decision, around.pushed.get(agent, ()), around.now, attention.settings)
        if decision.mode in PUSHED and flow is not Flow.LOWERED:
            found.append(delivery(event.id, agent, decision, decisions.parsed))
    return found


def delivery(
    event_id: str, agent: str, decision: Decision, parsed: ParsedMessage | None, *, attempt: int = 1
) -> records.DeliveryRecord:
    """The record that puts an event before a session."""
    return records.DeliveryRecord(
        event_id=event_id,
        session=agent,
        policy=decision.policy.value,
        mode=decision.mode.value,
        directedness=decision.directedness.value,
        reason=decision.reason.value,
        intent=parsed.intent.value if parsed is not None else "plain",
        priority=decision.priority.value,
        deadline_ms=decision.deadline_ms,
        attempt=attempt,
        needs_claim=decision.needs_claim,
        thread_window=decision.thread_window,
        because={part: rule.name for part, rule in decision.because},
    )


def is_call(written: Written, event_id: str, parsed: ParsedMessage) -> bool:
    """Is this what puts a call before an agent that it names, to be read in full when its author is done?"""
    return (
        isinstance(written, records.DeliveryRecord)
        and written.event_id == event_id
        and written.session in parsed.target.agents
        and written.mode == Mode.BUFFERED.value
        and written.policy in _ANSWERABLE
    )


def pieces(event_id: str, calls: Iterable[Written], attention: Attention) -> list[Written]:
    """An earlier line of a call's author, put before those whom the call names and who have not had it."""
    decision = entry_of(Situation.ADDED, Priority.NORMAL, attention.settings.deadline_ms)
    to = [one.session for one in calls if isinstance(one, records.DeliveryRecord)]
    parsed = attention.past.get(event_id)
    return [
        delivery(event_id, session, decision, parsed)
        for session in to
        if attention.obligations.get(event_id, session) is None
    ]


def reroute(
    event_id: str,
    decision: Decision,
    attention: Attention,
    around: Around,
    had: set[str],
    *,
    declined: bool,
) -> list[Written]:
    """The obligation goes to exactly one other, or to the person (C2A-123, C2A-176, C2A-177)."""
    message = attention.past.get(event_id)
    conversation = message.conversation if message is not None else None
    held = frozenset(
        had
        | {obligation.session for obligation in attention.obligations.of_event(event_id) if obligation.held}
    )
    eligible = message.private if message is not None else None
    load = {agent: attention.obligations.open_of(agent) for agent in attention.sessions}
    to = escalation.route(
        around.roster,
        held,
        author=message.by if message is not None else "",
        owners=_owners(attention, conversation),
        eligible=eligible if eligible is not None else frozenset(attention.sessions),
        load=load,
    )
    if to.human:
        why = "declined" if declined else "unanswered"
        return [Notice(escalation.human_notice(event_id, why=why, agent=min(had, default="")))]
    raised = escalation.escalated(decision, declined=declined)
    modes = attention.sessions[to.to].modes if to.to in attention.sessions else frozenset[Mode]()
    if raised.mode not in modes:
        raised = escalation.softened(raised, modes)
    record = msgspec.structs.replace(delivery(event_id, to.to, raised, None), instead_of=min(had, default=""))
    return [records_with(record, attention.settings.deadline_ms, around.now)]


def records_with(record: records.DeliveryRecord, deadline_ms: int, now: Moment) -> records.DeliveryRecord:
    """The delivery with a time of its own: whoever takes over gets the whole span."""
    return msgspec.structs.replace(record, deadline_ms=deadline_ms, created_at=now)


def _owners(attention: Attention, conversation: Conversation | None) -> frozenset[str]:
    if conversation is None:
        return frozenset()
    owners = attention.ownership.owners(conversation, ())
    owner = attention.owner_of(conversation.thread) if conversation.thread else None
    return owners | {owner} if owner else owners


def _answer(event: Event, parsed: ParsedMessage, attention: Attention, now: Moment) -> list[Written]:
    """An agent's reply satisfies what it owed, and its claims there last longer (C2A-117, C2A-155)."""
    answered = answered_in(event) if parsed.by_agent else None
    if answered is None:
        return []
    answered = attention.versions.latest(answered)
    obligation = attention.obligations.get(answered, parsed.by)
    found: list[Written] = []
    if obligation is not None and not obligation.closed and obligation.policy is not Policy.MUST_NOT_RESPOND:
        ends = _ends_in(event, obligation)
        changed = (
            change(obligation, ReportedDisposition(ends), now, attention.settings)
            if ends is not None
            else None
        )
        if isinstance(changed, records.DispositionRecord):
            found.append(changed)
    elif obligation is not None and obligation.disposition is Disposition.IGNORED:
        # Its window had closed; the answer is one all the same.
        found += withdrawn_copies(answered, parsed.by, attention)
    targets = [event_target(answered)]
    if parsed.conversation.thread:
        targets.append(thread_target(parsed.conversation.thread))
    return [*found, *renewals(attention.claims, parsed.by, targets, now, attention.settings)]


def withdrawn_copies(event_id: str, session: str, attention: Attention) -> list[Written]:
    """Somebody answered: the other copies of the same duty are called back, and people told that it is over.

    Rows: C2A-176, C2A-177, C2A-179.
    """
    others = copies(attention.obligations.of_event(event_id), session)
    return [*called_back(others, session), *_moot(event_id, session, attention)]


def _moot(event_id: str, by: str, attention: Attention) -> list[Written]:
    return [
        records.WithdrawalRecord(notice_id=notice, actor_id=PERSON, event_id=event_id, by=by)
        for notice in attention.notices[event_id]
    ]


def _by_a_person(event: Event, parsed: ParsedMessage, attention: Attention) -> list[Written]:
    """A person answers what no agent did: the question is settled, and nobody need be told of it any more.

    Only where the duty had to move already, or a person was told of it: a remark under a question that an
    agent is at does not take it away. Whoever asked goes on asking, and so does whoever asks back or names
    an agent; then only the notices are moot, as a person is at it.
    """
    above = event.data.get("reply_to")
    if parsed.by_agent or not isinstance(above, str) or parsed.author.kind is not AuthorKind.HUMAN:
        return []
    asked = attention.versions.latest(above)
    obligations, message = attention.obligations.of_event(asked), attention.past.get(asked)
    moved = [one for one in obligations if one.instead_of or (one.held and not one.owed and not one.closed)]
    found = _moot(asked, parsed.by, attention)
    settles = message is not None and message.by != parsed.by and not parsed.target.agents
    if settles and parsed.intent in ANSWERS and (moved or found):
        found = [*called_back((one for one in obligations if one.held), parsed.by), *found]
    return found


def _unheard(event: Event, parsed: ParsedMessage, attention: Attention, roster: Roster) -> list[Written]:
    """Who asks somebody who is not here is told, where agents are listened to and all may read it."""
    if parsed.author.kind is not AuthorKind.HUMAN or parsed.private is not None or parsed.intent not in OPEN:
        return []
    unheard = attention.sessions and is_unheard(parsed, str(event.data.get("text", "")), roster)
    return [room_questions.nobody_there(event.id, parsed.by)] if unheard else []


def _thanked(event: Event, parsed: ParsedMessage, attention: Attention) -> list[Written]:
    """Whoever asked thanks a person who answered first: the agents need not answer any more (C2A-180)."""
    if parsed.intent is not Intent.THANKS:
        return []
    above = attention.past.get(str(event.data.get("reply_to") or ""))
    found: list[Written] = []
    for one in attention.asking.questions.settled(parsed, above):
        asked = attention.versions.latest(one.event_id)
        found += called_back(attention.obligations.of_event(asked), one.answered_by)
        found += _moot(asked, one.answered_by, attention)
    return found


def _ends_in(event: Event, obligation: Obligation) -> Disposition | None:
    """What a reply makes of the obligation it answers: words answer it, a CLowl message does as it says.

    A result, a failure or the facts that were asked for answer; a receipt is one; progress, a question back
    and a delegation leave the obligation where it is (CLOWL-092).
    """
    if obligation.policy is Policy.ACK_ONLY:
        return Disposition.ACKNOWLEDGED
    given = event.data.get("clowl")
    performative = cast("dict[str, object]", given).get("p") if isinstance(given, dict) else None
    if performative is None or performative in {"DONE", "ERR"}:
        return Disposition.RESPONDED
    if performative == "INF" and obligation.intent is Intent.QUESTION:
        return Disposition.RESPONDED
    return Disposition.ACKNOWLEDGED if performative == "ACK" else None


def _spoken(event: Event, parsed: ParsedMessage, attention: Attention) -> list[Written]:
    """CLowl: a CNCL calls deliveries back, a DLGT that transfers moves the obligation (CLOWL-092)."""
    given = event.data.get("clowl")
    above = event.data.get("reply_to")
    if not isinstance(given, dict) or not isinstance(above, str):
        return []
    message = cast("dict[str, Any]", given)
    obligations = attention.obligations.of_event(above)
    answered = attention.past.get(above)
    if message.get("p") == "CNCL" and answered is not None and answered.by == parsed.by:
        return [one.record for one in cancellations(obligations, "cancel")]
    body: object = message.get("body")
    inner = cast("dict[str, Any]", body).get("d") if isinstance(body, dict) else None
    mode = cast("dict[str, object]", inner).get("delegation_mode") if isinstance(inner, dict) else None
    if message.get("p") == "DLGT" and mode == "transfer":
        return [
            records.DispositionRecord(
                event_id=obligation.event_id,
                session=obligation.session,
                disposition=Disposition.SUPERSEDED.value,
                closes=True,
                reason=TRANSFERRED,
                reported=True,
            )
            for obligation in obligations
            if obligation.session == parsed.by and not obligation.closed
        ]
    return []


def _reacted(event: Event, attention: Attention, around: Around) -> list[Written]:
    """A signal does by every door what it does as a tool (C2A-136); taking it back reopens the event."""
    on, session = event.data.get("event_id"), event.by
    obligation = (
        attention.obligations.get(attention.versions.latest(on), session) if isinstance(on, str) else None
    )
    signal = signal_of(event.data)
    if obligation is None or signal is None or signal not in SIGNALS:
        return []
    if event.data.get("removed"):
        back = withdrawn(obligation, signal)
        return [back] if back is not None else []
    if obligation.signal == signal:
        return []
    act = signalled(event, obligation, signal, attention, around.now)
    if isinstance(act, Refusal):
        return []
    found: list[Written] = [*act.records]
    if act.reroute:
        declining = {event.by}
        found += reroute(
            obligation.event_id, decision_in(obligation), attention, around, declining, declined=True
        )
    return found


def signalled(
    event: Event, obligation: Obligation, signal: str, attention: Attention, now: Moment
) -> acts.Act | Refusal:
    """What a reaction that was appended as it is makes of what the session holds."""
    eta = event.data.get("eta")
    message = attention.past.get(obligation.event_id)
    return acts.react(
        obligation,
        signal,
        attention.claims,
        now,
        eta=eta if isinstance(eta, str) else None,
        thread=(message.conversation.thread if message is not None else None) or obligation.event_id,
        settings=attention.settings,
    )


def _leaving(event: Event, decisions: Decisions, attention: Attention, now: Moment) -> list[Written]:
    """Who is asked to go is gone, has one goodbye, and gives back what it held there.

    Rows: C2A-190, C2A-191, C2A-192.
    """
    parsed = decisions.parsed
    found: list[Written] = []
    if parsed is None:
        return found
    for agent, decision in sorted(decisions.exceptions.items()):
        if decision.situation is not Situation.LEAVE:
            continue
        gone = absences.leave(agent, parsed.conversation, event.id)
        if isinstance(gone, records.MembershipRecord):
            found += [gone, *given_back(attention, agent, parsed.conversation, now)]
    return found


def reoffered(ended: records.ClaimRecord, attention: Attention) -> list[Written]:
    """A claim ended without an answer: what it covered is open again, and the others hear of it once more.

    Rows: C2A-122, C2A-155.
    """
    found: list[Written] = [
        records.DispositionRecord(event_id=obligation.event_id, session=obligation.session)
        for obligation in _covered(ended, attention)
        if obligation.disposition is Disposition.CLAIMED and not obligation.closed
    ]
    given_up = ended.session if ended.action == "release" else None
    for offer in attention.offered(ended.target):
        for agent in offer.members:
            obligation = attention.obligations.get(offer.event_id, agent)
            if (
                agent not in attention.sessions
                or agent == given_up
                or obligation is None
                or obligation.closed
            ):
                continue
            decision = replace(decision_in(obligation), because=(("policy", AGAIN),))
            found.append(delivery(offer.event_id, agent, decision, None, attempt=obligation.attempt + 1))
    return found


def _covered(ended: records.ClaimRecord, attention: Attention) -> list[Obligation]:
    """The obligations of the session that held the claim."""
    kind, _, name = ended.target.partition(":")
    if kind == "event":
        obligation = attention.obligations.get(name, ended.session)
        return [obligation] if obligation is not None else []
    found: list[Obligation] = []
    for obligation in attention.obligations:
        message = attention.past.get(obligation.event_id) if obligation.session == ended.session else None
        if message is not None and name in {obligation.event_id, message.conversation.thread}:
            found.append(obligation)
    return found


def given_back(
    attention: Attention, agent: str, conversation: Conversation, now: Moment
) -> list[records.ClaimRecord]:
    """The claims of a session in a conversation that it leaves, released."""
    found: list[records.ClaimRecord] = []
    for held in attention.claims.of_session(agent, now):
        name = held.target.partition(":")[2]
        root = held.thread or name
        message = attention.past.get(name) or attention.past.get(root)
        if message is None or message.conversation.id != conversation.id:
            continue
        # The first message of a thread says of itself that it is in none, and yet it is in its own.
        if conversation.thread is not None and conversation.thread not in {message.conversation.thread, root}:
            continue
        released = release(attention.claims, held.target, agent, now)
        if isinstance(released, records.ClaimRecord):
            found.append(released)
    return found


def deleted(event_id: str, attention: Attention) -> list[records.DispositionRecord]:
    """What a delete calls back (C2A-187)."""
    return [one.record for one in cancellations(attention.obligations.of_event(event_id), "delete")]
