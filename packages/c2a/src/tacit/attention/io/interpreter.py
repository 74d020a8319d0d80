"""What each command of attention does: from the command and the group as it stands to a plan.

Rows: C2A-017, C2A-139, C2A-158, C2A-176, C2A-185, C2A-187, C2A-189, C2A-190, C2A-194, C2A-201, C2A-206,
C2A-207. Tools of sessions are ruled by `attention.send`; what people do to steer is ruled here. A command
that is refused raises; a tool call that is refused is an answer, and leaves its audit record. Runs in the
writer, inside the transaction.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, cast

import msgspec

from tacit.attention.commands import (
    CallTool,
    ChangeRules,
    DeleteMessage,
    EditMessage,
    RecordSession,
    ReportWork,
    Steer,
    SteerAnswer,
    ToolAnswer,
    WorkHeard,
)
from tacit.attention.io.deliveries import in_full
from tacit.attention.read.conversation import MAIN, Conversation, is_dm
from tacit.attention.send import tools
from tacit.attention.send.askers import everybody_behind
from tacit.attention.send.draft import CallingSession
from tacit.attention.settings import accepted, warnings
from tacit.attention.state import absences, records
from tacit.attention.state import approvals as approving
from tacit.attention.state.claims import event_target
from tacit.attention.state.consequences import delivery, given_back, records_with
from tacit.attention.state.escalation import escalated
from tacit.attention.state.obligations import as_delivered
from tacit.attention.state.records import Written, submitted_to
from tacit.attention.state.versions import cancellations
from tacit.attention.state.work import is_news
from tacit.base.errors import Bug, Refused
from tacit.c2a.errors import Refusal
from tacit.c2a.signals import USUAL
from tacit.c2a.vocabulary import ConversationKind, Disposition, Mode, Policy, Reason
from tacit.ledger.codes import denied, invalid, missing
from tacit.ledger.commands import Duplicate
from tacit.ledger.engine import Plan
from tacit.ledger.principal import USER
from tacit.ledger.submission import Submission

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tacit.attention.io.state_store import Archive
    from tacit.attention.state.fold import Attention
    from tacit.ledger.commands import Committed, GroupCommand
    from tacit.ledger.engine import GroupSnapshot
    from tacit.ledger.envelope import StoredEvent


@dataclass(frozen=True, slots=True)
class CommandCase:
    """One command with everything that it is decided against."""

    command: GroupCommand
    snapshot: GroupSnapshot
    archive: Archive

    @property
    def attention(self) -> Attention:
        """The group's fold."""
        return self.archive.attention

    def event(self, event_id: str, principal: str) -> StoredEvent:
        """An event that the principal may see."""
        found = self.snapshot.lookup.event(event_id)
        if found is None or not found.visible_to(principal):
            raise missing("event", "no such event in this group", "CCCS-068")
        return found

    def message(self, event_id: str, principal: str) -> StoredEvent:
        """A message in its first form."""
        found = self.event(self.archive.original(event_id), principal)
        if found.kind != "chat.message":
            raise invalid("only a message can be changed", "C2A-189")
        return found

    def submitted(self, written: Sequence[Written]) -> list[Submission]:
        """Records and notices as events of this group."""
        group = self.snapshot.group
        return submitted_to(group, written)

    def answered(self, written: Sequence[Written], answer: dict[str, Any]) -> Plan:
        """Append these, and answer so with the first one's id."""

        def result(outcomes: Sequence[Committed | Duplicate]) -> SteerAnswer:
            return SteerAnswer({**answer, "event_id": outcomes[0].event.event_id} if outcomes else answer)

        return Plan(self.submitted(written), result)


def plan(case: CommandCase) -> Plan:
    """Decide a command; refuses by raising."""
    deciding = _PLANS.get(type(case.command))
    if deciding is None:
        raise Bug("no such command")
    return deciding(case, case.command)


# -- sessions and their tools


def _record_session(case: CommandCase, command: RecordSession) -> Plan:
    """Write down what was agreed with a harness, when it differs from what is known."""
    known = case.attention.sessions.get(command.session)
    modes = frozenset(Mode(mode) for mode in command.modes)
    if known is not None and (known.version, known.modes, known.interrupt) == (
        command.version,
        modes,
        command.interrupt,
    ):
        return Plan()
    record = records.SessionRecord(
        session=command.session,
        version=command.version,
        modes=sorted(command.modes),
        interrupt=command.interrupt,
    )
    return Plan(case.submitted([record]))


def _report_work(case: CommandCase, command: ReportWork) -> Plan:
    """Write down a change in the work on an event that is the session's; a sign of life is no change.

    What is over, or never was the session's, is no work of it: nothing is written, as nobody asked.
    """
    attention, event_id, session = case.attention, command.event_id, command.session
    obligation = attention.obligations.get(event_id, session)
    if obligation is None:
        held = attention.claims.holder(event_target(event_id), None, case.snapshot.now)
        is_its_own = held is not None and held.session == session
    else:
        answers = obligation.policy in {Policy.MUST_RESPOND, Policy.MAY_RESPOND}
        is_its_own = answers and not obligation.closed
    if not is_its_own:
        return Plan((), lambda _outcomes: WorkHeard(own=False))
    record = records.WorkRecord(
        event_id=event_id,
        session=session,
        state=command.state,
        turn=command.turn,
        position=command.position,
        code=command.code,
        message=command.message,
        retry_at=command.retry_at,
    )
    news = is_news(attention.work.get(event_id, session), record)
    return Plan(case.submitted([record]) if news else (), lambda _outcomes: WorkHeard(own=True))


def _call_tool(case: CommandCase, command: CallTool) -> Plan:
    """Run a writing tool; every call leaves a record, refused ones included (C2A-206).

    One that is only asked again while a person has not answered has left its record before, and so has a
    question to people that is looked at again.
    """
    name, session, archive = command.name, command.session, case.archive
    caller = CallingSession(
        session, case.attention, archive, archive.roster, case.snapshot.now, signals=command.signals or USUAL
    )
    outcome = tools.call(name, command.arguments, caller)
    if isinstance(outcome, Refusal):
        refused = outcome
        audit = case.submitted(tools.audited(name, command.arguments, refused, caller))
        return Plan(audit, lambda _outcomes: ToolAnswer(refusal=refused))
    found = case.submitted(outcome.written)
    if outcome.chat is not None:
        kind, data = outcome.chat
        found.append(Submission(command.group_id, session, kind, data, msgspec.json.encode(data)))
    elif not outcome.written and name not in tools.LOOKS:
        found += case.submitted([records.AuditRecord(what=name, session=session, for_=[session])])
    result: dict[str, Any] = {"ok": True, **outcome.result}
    if outcome.event is not None and (event := archive.readable(outcome.event, session)) is not None:
        obligation = tools.obligation_towards(event, caller)
        result["event"] = in_full(archive, outcome.event, session, command.version, obligation)
        result["untrusted"] = True
    ephemeral = outcome.ephemeral
    says = ephemeral is not None or (outcome.chat is not None and outcome.chat[0] == "chat.message")

    def answer(outcomes: Sequence[Committed | Duplicate]) -> ToolAnswer:
        if not says:
            return ToolAnswer(result)
        last = outcomes[-1]
        said = {**result, "eventId": last.event.event_id, "duplicate": isinstance(last, Duplicate)}
        return ToolAnswer(said, ephemeral=ephemeral)

    return Plan(found, answer)


# -- what people do


def _key(principal: str, client_id: str) -> str:
    """The hub writes everybody's edits: whose key it is goes into the key, and no two of them meet."""
    return hashlib.sha256(f"{len(principal)}:{principal}:{client_id}".encode()).hexdigest()


def _edit(case: CommandCase, command: EditMessage) -> Plan:
    """Put a new text in the place of one's own message; the ledger keeps the first one."""
    found = case.message(command.event_id, command.principal)
    if found.by != command.principal:
        raise denied("only its author edits a message", "C2A-185")
    if case.attention.versions.is_deleted(found.event_id):
        raise invalid("the message was deleted", "C2A-187", reason="deleted")
    if "clowl" in found.data:
        raise invalid("a CLowl message is corrected by another one", "C2A-185", reason="clowl")
    latest = case.attention.versions.latest(found.event_id)
    key = _key(command.principal, command.client_id) if command.client_id else None
    earlier = case.snapshot.lookup.event(latest) if latest != found.event_id else None
    # Whom an earlier edit named stays named: a form is made of the first one and its own edit alone.
    named = command.mentions or (earlier.data.get("mentions", []) if earlier is not None else [])
    record = records.EditRecord(
        supersedes=latest,
        text=command.text,
        original=found.event_id if earlier is not None else None,
        by=command.principal,
        client_id=key,
        mentions=list(named),
    )
    return Plan(case.submitted([record]))


def _delete(case: CommandCase, command: DeleteMessage) -> Plan:
    """Take a message back: its content goes for good, the ledger keeps its envelope."""
    found = case.message(command.event_id, command.principal)
    if command.principal not in {found.by, USER}:
        raise denied("only its author or the owner deletes a message", "C2A-187")
    if case.attention.versions.is_deleted(found.event_id):
        raise invalid("the message was deleted already", "C2A-187", reason="deleted")
    written: list[Written] = [
        records.DeleteRecord(event_id=found.event_id, by=command.principal, reason=command.reason)
    ]
    latest = case.attention.versions.latest(found.event_id)
    if latest != found.event_id:
        obligations = case.attention.obligations.of_event(latest)
        written += [one.record for one in cancellations(obligations, "delete")]
    return Plan(case.submitted(written))


def _required(value: str | None, name: str) -> str:
    if value is None:
        raise invalid(f"{name} is missing", "C2A-016", reason="missing")
    return value


def _steer(case: CommandCase, command: Steer) -> Plan:
    return _STEERING[command.op](case, command)


def _require_right(principal: str, asker: str | None) -> None:
    """Who asked calls it off, and the owner; nobody else does it to them (C2A-199)."""
    if principal not in {USER, asker}:
        raise denied("this is for whoever asked, and for the owner", "C2A-199")


def _cancel(case: CommandCase, command: Steer) -> Plan:
    """Call an event back from everyone, or from one agent."""
    found = case.event(_required(command.event_id, "event_id"), command.principal)
    _require_right(command.principal, found.by)
    latest = case.attention.versions.latest(found.event_id)
    obligations = [
        one
        for one in case.attention.obligations.of_event(latest)
        if command.agent is None or one.session == command.agent
    ]
    written: list[Written] = [one.record for one in cancellations(obligations, "stop")]
    written.append(records.AuditRecord(what="cancel", event_id=latest, details={"by": command.principal}))
    return case.answered(written, {"cancelled": [one.session for one in obligations if not one.closed]})


def _reassign(case: CommandCase, command: Steer) -> Plan:
    """The obligation goes to an agent of the person's choice; the others are called back (C2A-176)."""
    found = case.event(_required(command.event_id, "event_id"), command.principal)
    _require_right(command.principal, found.by)
    to = _required(command.to, "to")
    if to not in case.attention.sessions:
        raise missing("actor", "no harness speaks for this agent yet", "CCCS-011")
    if not found.visible_to(to):
        raise denied("this agent may not read that message", "C2A-203")
    if found.by == to:
        raise invalid("an agent does not answer itself", "C2A-195", reason="own")
    attention, past = case.attention, case.archive.past
    latest = attention.versions.latest(found.event_id)
    form = past.form(latest)
    if form is None:
        raise invalid("only a message can be reassigned", "C2A-176")
    obligation = attention.obligations.get(latest, to)
    decision = as_delivered(case.archive.decision(form, to), obligation)
    others = [
        one
        for one in attention.obligations.of_event(latest)
        if one.session != to and (one.owed or (one.held and not one.closed))
    ]
    attempt = obligation.attempt + 1 if obligation else 1
    record = delivery(latest, to, escalated(decision), past.parsed(form), attempt=attempt)
    given: list[Written] = [one.record for one in cancellations(others, "reassign")]
    given += [
        records.ClaimRecord(target=held.target, thread=held.thread, session=held.session, action="release")
        for held in attention.claims
        if held.target == f"event:{latest}" and held.session != to
    ]
    fresh = records_with(record, attention.settings.deadline_ms, case.snapshot.now)
    named = records.AuditRecord(what="reassign", event_id=latest, details={"by": command.principal, "to": to})
    return case.answered([*given, fresh, named], {"to": to, "reason": Reason.ESCALATION.value})


def _approve(case: CommandCase, command: Steer) -> Plan:
    approval_id = _required(command.approval_id, "approval_id")
    asked = case.attention.approvals.find(approval_id)
    if asked is not None and not approving.may_answer(asked, command.principal):
        raise missing("event", "there is no such request for approval", "C2A-207")
    gone = asked is not None and asked.event_id is not None and _was_called_off(case, asked)
    if gone:
        raise invalid("the turn was called off: the answer changes nothing", "C2A-207", reason="stale_event")
    answered = approving.answer(
        case.attention.approvals,
        approval_id,
        granted=command.op == "approve",
        by=command.principal,
        by_human=True,
        now=case.snapshot.now,
        scope=command.scope,
        reason=command.reason,
        askers=everybody_behind(asked.events, asked.session, case.archive) if asked is not None else (),
    )
    if isinstance(answered, Refusal):
        raise _refused(answered)
    return case.answered([answered], {"approval_id": approval_id, "state": answered.state})


def _was_called_off(case: CommandCase, asked: approving.ApprovalRequest) -> bool:
    """Was the work that the question is about taken from the agent, whether it has heard of it or not?"""
    latest = case.attention.versions.latest(asked.event_id or "")
    obligation = case.attention.obligations.get(latest, asked.session)
    if case.attention.versions.is_deleted(asked.event_id or ""):
        return True
    return obligation is not None and obligation.closed and obligation.disposition is Disposition.SUPERSEDED


def _revoke(case: CommandCase, command: Steer) -> Plan:
    """Take back what was allowed an agent for good; whoever could grant it may."""
    approval_id = _required(command.approval_id, "approval_id")
    asked = case.attention.approvals.find(approval_id)
    if asked is None or not approving.may_answer(asked, command.principal):
        raise missing("event", "there is no such request for approval", "C2A-207")
    revoked = approving.revoke(case.attention.approvals, approval_id, command.principal)
    if isinstance(revoked, Refusal):
        raise _refused(revoked)
    return case.answered([revoked], {"approval_id": approval_id, "state": revoked.state})


def _leave(case: CommandCase, command: Steer) -> Plan:
    """Send an agent out of a thread or channel, or call it back."""
    agent = _required(command.agent, "agent")
    conversation = _conversation(case, command)
    opened = case.snapshot.lookup.event(conversation.thread) if conversation.thread is not None else None
    _require_right(command.principal, opened.by if opened is not None else None)
    if case.snapshot.group.actor(agent) is None:
        raise missing("actor", "no such actor in this group", "CCCS-011")
    gone = absences.leave(agent, conversation)
    if isinstance(gone, Refusal):
        raise _refused(gone)
    if command.op == "return":
        back = records.MembershipRecord(
            session=agent, conversation=conversation.id, thread=conversation.thread, action="return"
        )
        return case.answered([back], {"agent": agent, "returned": conversation.place})
    claims = given_back(case.attention, agent, conversation, case.snapshot.now)
    owed: list[Written] = [
        records.DispositionRecord(
            event_id=obligation.event_id,
            session=agent,
            disposition=Disposition.SUPERSEDED.value,
            closes=True,
            reason="asked to leave",
        )
        for obligation in case.attention.obligations
        if obligation.session == agent
        and not obligation.closed
        and _is_in(case, obligation.event_id, conversation)
    ]
    return case.answered([gone, *claims, *owed], {"agent": agent, "left": conversation.place})


def _is_in(case: CommandCase, event_id: str, conversation: Conversation) -> bool:
    said = case.attention.past.get(event_id)
    if said is None or said.conversation.id != conversation.id:
        return False
    return conversation.thread is None or said.conversation.thread == conversation.thread


def _conversation(case: CommandCase, command: Steer) -> Conversation:
    if command.event_id is None:
        name = command.conversation_id or MAIN
        return Conversation(name, ConversationKind.DM if is_dm(name) else ConversationKind.CHANNEL)
    found = case.event(command.event_id, command.principal)
    said = case.attention.past.get(found.event_id)
    if said is None:
        raise invalid("this event belongs to no conversation", "C2A-194")
    root = said.conversation.thread or found.event_id
    private = found.private or said.conversation.kind is ConversationKind.DM
    kind = ConversationKind.DM if private else ConversationKind.THREAD
    return Conversation(said.conversation.id, kind, root)


def _change_rules(case: CommandCase, command: ChangeRules) -> Plan:
    changed = accepted(case.attention.settings, command.settings)
    if isinstance(changed, Refusal):
        raise _refused(changed)
    record = records.RulesRecord(values=command.settings, by=command.principal)
    return case.answered([record], {"settings": command.settings, "warnings": list(warnings(changed))})


def _refused(refused: Refusal) -> Refused:
    code = refused.code if refused.code in {"permission_denied", "event_not_found"} else "invalid_request"
    details = {
        **refused.details,
        "reason": refused.code,
        **({"remedy": refused.remedy} if refused.remedy else {}),
    }
    return Refused(code, refused.message, row=refused.row, details=details)


_STEERING: Final[dict[str, Callable[[CommandCase, Steer], Plan]]] = {
    "cancel": _cancel,
    "reassign": _reassign,
    "approve": _approve,
    "refuse": _approve,
    "revoke": _revoke,
    "leave": _leave,
    "return": _leave,
}
_PLANS: Final = cast(
    "dict[type[GroupCommand], Callable[[CommandCase, GroupCommand], Plan]]",
    {
        CallTool: _call_tool,
        RecordSession: _record_session,
        ReportWork: _report_work,
        EditMessage: _edit,
        DeleteMessage: _delete,
        Steer: _steer,
        ChangeRules: _change_rules,
    },
)
