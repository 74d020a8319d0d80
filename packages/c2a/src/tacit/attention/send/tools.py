"""Tools that write: what each one does, from its arguments to records, chat and a result.

Rows: C2A-058, C2A-113, C2A-123, C2A-136, C2A-142, C2A-143, C2A-144, C2A-145, C2A-146, C2A-155, C2A-158,
C2A-159, C2A-181, C2A-190, C2A-194, C2A-206. One function a tool: the caller with the state as it stands, the
arguments, and out comes all that is to be appended, or a refusal. Both are audited. Reading tools are
elsewhere; appending is for the host.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, cast

from tacit.attention.send import askers, draft, permissions
from tacit.attention.send.rules import Permit, may_send
from tacit.attention.state import absences, acts, approvals, loops, records
from tacit.attention.state.claims import event_target, path_target, release, renewals, take, thread_target
from tacit.attention.state.consequences import Around, given_back, reoffered, reroute
from tacit.attention.state.escalation import human_notice
from tacit.attention.state.obligations import Obligation, ReportedDisposition, as_delivered, change
from tacit.attention.state.records import Notice, Written
from tacit.base.moment import rfc3339
from tacit.c2a.errors import Refusal, refusal
from tacit.c2a.tools import DURING, body_of, read_send
from tacit.c2a.vocabulary import ConversationKind, Disposition, Policy

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from tacit.attention.send.draft import CallingSession
    from tacit.ledger.envelope import Event


@dataclass(frozen=True, slots=True)
class EphemeralWords:
    """An ephemeral message on its way to whoever is there."""

    text: str
    record: records.EphemeralRecord


@dataclass(frozen=True, slots=True)
class Done:
    """A call that was granted: records, the session's own chat, and the result."""

    result: dict[str, Any]
    written: list[Written] = field(default_factory=list[Written])
    chat: tuple[str, dict[str, Any]] | None = None
    """Kind and data of the event that the session itself appends."""
    ephemeral: EphemeralWords | None = None
    """Words for those who are there, once the record of them is durable."""
    event: str | None = None
    """An event that the result shows in full (C2A-158)."""


ToolOutcome = Done | Refusal


def call(name: str, arguments: Mapping[str, Any], caller: CallingSession) -> ToolOutcome:
    """Run a writing tool."""
    return WRITING[name](arguments, caller)


def audited(
    name: str, arguments: Mapping[str, Any], refused: Refusal, caller: CallingSession
) -> list[Written]:
    """The record of a refusal (C2A-206); a send that waits for a person asks that person.

    Asking again while they have not answered is no further refusal: it is on record already.
    """
    if refused.code == "approval_required" and refused.details.get("state") == "asked":
        return []
    about = next(
        (str(arguments[key]) for key in ("inReplyTo", "eventId") if isinstance(arguments.get(key), str)), None
    )
    event = caller.archive.readable(about, caller.session) if about is not None else None
    details: dict[str, Any] = {}
    target = arguments.get("target")
    if isinstance(target, str):
        there = draft.place_for(target, caller).conversation
        conversation, thread = there.key
        details = {"conversation": conversation, "thread": thread}
        message = caller.attention.past.get(event.id) if event is not None else None
        if there.kind is ConversationKind.DM and message is not None and message.private is None:
            event = None  # a record about a public event is public, and would tell of the dm
    found: list[Written] = [
        records.AuditRecord(
            what=name,
            session=caller.session,
            event_id=event.id if event is not None else None,
            code=refused.code,
            row=refused.row,
            details=details,
            for_=[] if event is not None else [caller.session],
        )
    ]
    if refused.code == "approval_required" and refused.details.get("state") not in {"asked", "denied"}:
        delayed = _delayed(name, arguments, event, caller)
        if delayed is not None:
            found += permissions.asking_for_time(refused, delayed, caller)
        else:
            found += _asking(str(refused.details["what"]), arguments, caller)
    if refused.code == "no_new_information" and details:
        found += _circling((details["conversation"], details["thread"]), caller)
    return found


def _delayed(
    name: str, arguments: Mapping[str, Any], event: Event | None, caller: CallingSession
) -> permissions.Delay | None:
    """The deferral that a call asks for, by the tool or by a signal."""
    if event is None or name not in {"chat.defer", "chat.react"}:
        return None
    eta, why = arguments.get("eta"), arguments.get("reason") or arguments.get("signal")
    return permissions.Delay(obligation_towards(event, caller), eta, str(why or ""))


def _circling(place: absences.Place, caller: CallingSession) -> list[Written]:
    """A refused repetition may be the one that ends an exchange: then a person is told (C2A-199, C2A-200)."""
    before = caller.attention.exchanges.at(place)
    after = loops.duplicate_refused(before, caller.session, caller.attention.settings)
    if before.stopped or not after.stopped or len(after.agents) < 2 or not after.last:
        return []
    notice = human_notice(after.last[-1], why="loop")
    return [Notice({**notice, "context": {"last_event_ids": list(after.last)}})]


def _asking(what: str, arguments: Mapping[str, Any], caller: CallingSession) -> list[Written]:
    """Ask those who may know what would be told: the people of that private conversation, and the owner."""
    send = read_send(arguments, caller.session)
    knowing: frozenset[str] | None = None
    about: tuple[str, ...] = ()
    if not isinstance(send, Refusal):
        knowing = draft.revealed(send, draft.place_for(send.target, caller), caller)
        about = draft.at_work_on(send)
    asked = approvals.ask(f"{caller.session}:{what[:12]}:{caller.now}", caller.session, what)
    says = (
        f"{caller.session} wants to tell {arguments.get('target', '')} something that was said in private: "
        f"{body_of(arguments.get('content'))[:500]}"
    )
    record = records.ApprovalRecord(
        approval_id=asked.approval_id,
        session=asked.session,
        what=what,
        state=asked.state,
        says=says,
        event_id=about[0] if about else None,
        beside=list(about[1:]),
        asked_by=list(askers.authors(about, caller.archive)),
        for_=[caller.session, *sorted((knowing or frozenset()) & set(caller.roster.people))],
    )
    notice = {
        "kind": "attention.approval",
        "priority": "high",
        "title": "An agent asks for your approval.",
        "context": {"approval_id": asked.approval_id, "session": caller.session},
        "requires_ack": True,
    }
    return [record, Notice(notice)]


def send_message(arguments: Mapping[str, Any], caller: CallingSession) -> ToolOutcome:
    """Send one message (C2A-142)."""
    send = read_send(arguments, caller.session)
    if isinstance(send, Refusal):
        return send
    place = draft.place_for(send.target, caller)
    answer = may_send(send, draft.surroundings(send, place, caller), caller.now, caller.attention.settings)
    if not isinstance(answer, Permit):
        return answer
    result: dict[str, Any] = {"status": "delivered", "duplicate": False, "warnings": list(answer.warnings)}
    if answer.duplicate_of is not None:
        return Done({**result, "eventId": answer.duplicate_of, "duplicate": True})
    if send.visibility == "ephemeral":
        record = draft.ephemeral(send, place, caller)
        return Done({**result, "ephemeral": True}, [record], ephemeral=EphemeralWords(send.body, record))
    return Done(result, chat=("chat.message", draft.message(send, place, caller, arguments)))


def _named(
    arguments: Mapping[str, Any], caller: CallingSession, row: str, name: str = "eventId"
) -> Event | Refusal:
    given = arguments.get(name)
    if not isinstance(given, str) or not given:
        return refusal("invalid_request", f"{name} is missing", row, missing=[name])
    event = caller.archive.readable(given, caller.session)
    return event if event is not None else refusal("event_not_found", "there is no such event here", row)


def _root(event: Event, caller: CallingSession) -> str:
    """The first message of an event's thread; the first one belongs to it like every other."""
    message = caller.attention.past.get(event.id)
    return (message.conversation.thread if message is not None else None) or caller.archive.original(event.id)


def obligation_towards(event: Event, caller: CallingSession) -> Obligation:
    """How the session stands to an event, also when it found it by itself."""
    known = caller.attention.obligations.get(event.id, caller.session)
    if known is not None:
        return known
    decision = caller.archive.decision(event, caller.session)
    return Obligation(event.id, caller.session, decision.policy, decision.mode, records.moment_of(event))


def react(arguments: Mapping[str, Any], caller: CallingSession) -> ToolOutcome:
    """A signal instead of a message (C2A-143)."""
    event = _named(arguments, caller, "C2A-143", "inReplyTo")
    signal, eta = arguments.get("signal"), arguments.get("eta")
    if isinstance(event, Refusal):
        return event
    if not isinstance(signal, str) or not isinstance(eta, (str, type(None))):
        return refusal("invalid_request", "signal is a word, eta a text", "C2A-143")
    if event.by == caller.session:
        return refusal("policy_forbids", "an agent does not answer itself", "C2A-195")
    if caller.attention.versions.is_superseded(event.id):
        return refusal("event_superseded", "the message was edited or deleted", "C2A-104")
    obligation = obligation_towards(event, caller)
    delay = permissions.Delay(obligation, eta, signal)
    act = acts.react(
        obligation,
        signal,
        caller.attention.claims,
        caller.now,
        eta=eta,
        thread=_root(event, caller),
        own=caller.signals.own,
        agreed=permissions.is_agreed(delay, caller),
        settings=caller.attention.settings,
    )
    if isinstance(act, Refusal):
        return permissions.for_more_time(act, delay, caller)
    written: list[Written] = [*act.records]
    if act.reroute:
        decision = as_delivered(caller.archive.decision(event, caller.session), obligation)
        around = Around(caller.roster, caller.now, {})
        written += reroute(event.id, decision, caller.attention, around, {caller.session}, declined=True)
    first, glyph = caller.archive.original(event.id), caller.signals.glyphs[signal]
    reaction = {**(act.reaction or {}), "event_id": first, "emoji": glyph}
    closed = any(isinstance(one, records.DispositionRecord) and one.closes for one in act.records)
    return Done({"signal": signal, "closed": closed}, written, ("chat.reaction", reaction))


def claim(arguments: Mapping[str, Any], caller: CallingSession) -> ToolOutcome:
    """Take responsibility for an event, a thread or a file, or give it back (C2A-144)."""
    if "path" in arguments:
        return _lease(arguments, caller)
    name = "threadId" if "threadId" in arguments else "eventId"
    event = _named(arguments, caller, "C2A-144", name)
    if isinstance(event, Refusal):
        return event
    ttl = arguments.get("ttlMs")
    if ttl is not None and (not isinstance(ttl, int) or isinstance(ttl, bool)):
        return refusal("invalid_request", "ttlMs is a number of milliseconds", "C2A-155")
    attention = caller.attention
    root = _root(event, caller)
    target = thread_target(root) if name == "threadId" else event_target(event.id)
    if arguments.get("release") is True:
        given = release(attention.claims, target, caller.session, caller.now)
        if isinstance(given, Refusal):
            return given
        again = [given, *reoffered(given, attention)] if given is not None else []
        return Done({"claimed": False, "owner": None}, again)
    if attention.versions.is_superseded(event.id):
        return refusal("event_superseded", "the message was edited or deleted", "C2A-104")
    obligation = obligation_towards(event, caller)
    forbidden = obligation.policy in {Policy.MUST_NOT_RESPOND, Policy.ACK_ONLY}
    if forbidden and not (name == "threadId" and _takes_part(caller, root)):
        return refusal(
            "policy_forbids", "there is nothing to take on: no answer is wanted from this agent", "C2A-063"
        )
    taken = take(
        attention.claims, target, caller.session, caller.now, thread=root, ttl_ms=ttl,
        settings=attention.settings,
    )  # fmt: skip
    if isinstance(taken, Refusal):
        return taken
    written: list[Written] = [taken]
    if (
        not obligation.closed
        and not forbidden
        and attention.obligations.get(event.id, caller.session) is not None
    ):
        changed = change(obligation, ReportedDisposition(Disposition.CLAIMED), caller.now, attention.settings)
        written += [changed] if isinstance(changed, records.DispositionRecord) else []
    until = rfc3339(draft.Moment(taken.expires_at))
    return Done({"claimed": True, "owner": caller.session, "expiresAt": until}, written, event=event.id)


def _lease(arguments: Mapping[str, Any], caller: CallingSession) -> ToolOutcome:
    """Say that the session is at a file while its turn lasts; who else wants it is told who has it."""
    path, ttl, during = arguments["path"], arguments.get("ttlMs"), arguments.get(DURING)
    target = path_target(path) if isinstance(path, str) else None
    if target is None or (ttl is not None and (not isinstance(ttl, int) or isinstance(ttl, bool))):
        return refusal(
            "invalid_request",
            "a path is named from the root of the project, and ttlMs is a number of milliseconds",
            "C2A-155",
            remedy="name the file as `src/app.py`, without `..` and without a leading `/`",
        )
    attention = caller.attention
    if arguments.get("release") is True:
        given = release(attention.claims, target, caller.session, caller.now)
        if isinstance(given, Refusal):
            return given
        return Done({"claimed": False, "owner": None}, [given] if given is not None else [])
    taken = take(
        attention.claims, target, caller.session, caller.now, ttl_ms=ttl,
        during=during[:200] if isinstance(during, str) else None, settings=attention.settings,
    )  # fmt: skip
    if isinstance(taken, Refusal):
        return taken
    until = rfc3339(draft.Moment(taken.expires_at))
    return Done({"claimed": True, "owner": caller.session, "expiresAt": until}, [taken])


def _takes_part(caller: CallingSession, root: str) -> bool:
    return caller.session in caller.attention.participants(root)


def defer(arguments: Mapping[str, Any], caller: CallingSession) -> ToolOutcome:
    """Say that an obligation must wait, and why (C2A-145)."""
    event = _named(arguments, caller, "C2A-145")
    reason, eta = arguments.get("reason", ""), arguments.get("eta")
    if isinstance(event, Refusal):
        return event
    if not isinstance(reason, str) or not isinstance(eta, (str, type(None))):
        return refusal("invalid_request", "reason and eta are texts", "C2A-145")
    obligation = caller.attention.obligations.get(event.id, caller.session)
    delay = permissions.Delay(obligation, eta, reason) if obligation is not None else None
    act = acts.defer(
        obligation,
        reason,
        eta,
        caller.now,
        caller.attention.settings,
        agreed=delay is not None and permissions.is_agreed(delay, caller),
    )
    if isinstance(act, Refusal):
        return permissions.for_more_time(act, delay, caller) if delay is not None else act
    back = next(
        (one.resurfaces_at for one in act.records if isinstance(one, records.DispositionRecord)), None
    )
    return Done({"resurfacesAt": rfc3339(draft.Moment(back)) if back else None}, [*act.records])


def resolve(arguments: Mapping[str, Any], caller: CallingSession) -> ToolOutcome:
    """Mark an event, a thread or an assignment as resolved (C2A-146)."""
    names = [name for name in ("eventId", "threadId", "assignmentId") if name in arguments]
    if len(names) != 1:
        return refusal("invalid_request", "name one of eventId, threadId, assignmentId", "C2A-146")
    event = _named(arguments, caller, "C2A-146", names[0])
    if isinstance(event, Refusal):
        return event
    attention = caller.attention
    if names[0] == "threadId":
        root = _root(event, caller)
        obligations = [
            one for one in attention.obligations if one.session == caller.session and _in(one, root, caller)
        ]
        held = [one.target for one in attention.claims if one.thread == root]
        targets = [thread_target(root), event_target(root), *held]
    else:
        obligations = attention.obligations.of_event(event.id)
        targets = [event_target(event.id)]
    answered = [one.event_id for one in obligations if attention.answers[one.event_id, caller.session]]
    act = acts.resolve(obligations, attention.claims, caller.session, targets, caller.now, answered)
    if isinstance(act, Refusal):
        return act
    closed = [one.event_id for one in act.records if isinstance(one, records.DispositionRecord)]
    return Done({"resolved": closed}, [*act.records])


def _in(obligation: Obligation, root: str, caller: CallingSession) -> bool:
    message = caller.attention.past.get(obligation.event_id)
    return obligation.event_id == root or (message is not None and message.conversation.thread == root)


def leave(arguments: Mapping[str, Any], caller: CallingSession) -> ToolOutcome:
    """Leave a thread or a channel by oneself (C2A-190, C2A-194)."""
    thread, conversation = arguments.get("threadId"), arguments.get("conversationId", "main")
    target = f"thread:{thread}" if thread is not None else f"conversation:{conversation}"
    place = draft.place_for(target, caller)
    if not place.known:
        return refusal("event_not_found", "there is no such conversation here", "C2A-194")
    gone = absences.leave(caller.session, place.conversation)
    if isinstance(gone, Refusal):
        return gone
    back = given_back(caller.attention, caller.session, place.conversation, caller.now)
    return Done({"left": place.conversation.place}, [gone, *back])


def progress(arguments: Mapping[str, Any], caller: CallingSession) -> ToolOutcome:
    """Report how far something is; never chat (C2A-181, C2A-182). A claim lasts longer by it (C2A-155)."""
    token = arguments.get("progressToken") or arguments.get("eventId")
    value, total = arguments.get("progress"), arguments.get("total")
    if not isinstance(token, str) or not _is_number(value) or not (total is None or _is_number(total)):
        return refusal(
            "invalid_request", "a progress report has a progressToken and numbers", "C2A-181",
            missing=[name for name in ("progressToken", "progress") if arguments.get(name) is None],
        )  # fmt: skip
    text = arguments.get("message")
    event = caller.archive.readable(token, caller.session)
    record = records.ProgressRecord(
        session=caller.session,
        token=token[:200],
        progress=float(value or 0),
        total=float(total) if total is not None else None,
        message=text[:500] if isinstance(text, str) else None,
        event_id=event.id if event is not None else None,
        for_=[] if event is not None else [caller.session],
    )
    targets = [event_target(event.id)] if event is not None else []
    longer = renewals(caller.attention.claims, caller.session, targets, caller.now, caller.attention.settings)
    return Done({}, [record, *longer])


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and value == value  # noqa: PLR0124


def dispose(arguments: Mapping[str, Any], caller: CallingSession) -> ToolOutcome:
    """How a harness reports an end that no tool reports: merged, ignored, failed.

    Rows: C2A-087, C2A-117, C2A-163.
    """
    event = _named(arguments, caller, "C2A-117")
    if isinstance(event, Refusal):
        return event
    obligation = caller.attention.obligations.get(event.id, caller.session)
    if obligation is None:
        return refusal("event_not_found", "this event was not delivered to the session", "C2A-117")
    word, error = arguments.get("disposition"), arguments.get("error")
    if not isinstance(word, str) or word not in REPORTED:
        return refusal("invalid_request", f"disposition is one of {', '.join(sorted(REPORTED))}", "C2A-117")
    if word == Disposition.RESPONDED.value and not caller.attention.answers[event.id, caller.session]:
        return refusal(
            "invalid_request",
            "nothing was answered: an answer is a message",
            "C2A-117",
            remedy="send the answer; it closes the event by itself",
            reason="not_answered",
        )
    reason = arguments.get("reason") or arguments.get("mergedInto") or ""
    changed = change(
        obligation,
        ReportedDisposition(Disposition(word), reason=str(reason)),
        caller.now,
        caller.attention.settings,
    )
    if isinstance(changed, Refusal):
        return changed
    failed = word == Disposition.FAILED.value
    details = cast("dict[str, Any]", error) if isinstance(error, dict) else None
    record = records.DispositionRecord(
        event_id=changed.event_id,
        session=changed.session,
        disposition=changed.disposition,
        closes=changed.closes,
        reason=changed.reason,
        error=details,
        reported=True,
    )
    if not (failed and obligation.owed):
        return Done({}, [record])
    said = details or {}
    words = str(said.get("message") or record.reason or "")[:SENTENCE]
    notice = human_notice(
        event.id, why="failed", agent=caller.session, code=str(said.get("code") or "")[:CODE], says=words
    )
    return Done({}, [record, Notice(notice)])


def ask_permission(arguments: Mapping[str, Any], caller: CallingSession) -> ToolOutcome:
    """What the agent's own program asks a person (C2A-207); no tool of any model."""
    found = permissions.permission(arguments, caller)
    return found if isinstance(found, Refusal) else Done(found[0], [*found[1]])


SENTENCE: Final = 500
"""How much of a driver's own words a notice repeats."""
CODE: Final = 100
"""And of its code."""
LOOKS: Final = frozenset({"chat/permission"})
"""Calls that are made again and again to see how something stands: what changes nothing leaves no record."""
REPORTED: Final = frozenset({"superseded", "ignored", "failed", "acknowledged", "responded"})
WRITING: Final[dict[str, Callable[[Mapping[str, Any], CallingSession], ToolOutcome]]] = {
    "chat.send_message": send_message,
    "chat.react": react,
    "chat.claim": claim,
    "chat.defer": defer,
    "chat.resolve": resolve,
    "chat.leave": leave,
    "chat.progress": progress,
    "chat/disposition": dispose,
    "chat/permission": ask_permission,
}
