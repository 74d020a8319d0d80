"""The operations of people on attention: look, preview, edit, delete, steer (C2A-185 to 194, 199, 206, 207).

Each takes the caller's credential and typed parameters, like every operation of the hub. What they change is
an `x.c2a.*` event that names who asked for it.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any, cast

from tacit.attention.io.archive import Archive
from tacit.attention.io.engine import submitted
from tacit.attention.io.views import agents_view, approval_view, decisions_view, preview
from tacit.attention.read.conversation import MAIN, Conversation, is_dm
from tacit.attention.settings import NAMES, accepted, warnings
from tacit.attention.state import absences, records
from tacit.attention.state import approvals as approving
from tacit.attention.state.consequences import Written, delivery, given_back, records_with
from tacit.attention.state.escalation import escalated
from tacit.attention.state.obligations import as_delivered
from tacit.attention.state.versions import cancellations
from tacit.base.errors import Refused
from tacit.base.moment import rfc3339
from tacit.c2a.errors import Refusal
from tacit.c2a.vocabulary import ConversationKind, Disposition, Reason
from tacit.hub import views
from tacit.ledger.codes import denied, invalid, missing
from tacit.ledger.envelope import Event
from tacit.ledger.io.writer import Plan
from tacit.ledger.principal import kind_of

if TYPE_CHECKING:
    from tacit.attention.io.engine import GroupAttention
    from tacit.hub import requests
    from tacit.hub.credentials import Credential
    from tacit.hub.hub import Hub
    from tacit.ledger.io.reader import Reader
    from tacit.ledger.io.writer import Snapshot
    from tacit.ledger.ports import StoredEvent
    from tacit.ledger.state import Group


async def _group(hub: Hub, credential: Credential, group_id: str) -> Group:
    credential.require_group(group_id)
    return await hub.ledger.read(lambda reader: reader.group(group_id))


async def show_decisions(hub: Hub, credential: Credential, request: requests.OneEvent) -> object:
    """Who saw an event, how, and why."""
    group = await _group(hub, credential, request.group_id)
    now = hub.store.options.clock.now()

    def query(reader: Reader) -> dict[str, Any] | None:
        reader.event(group, request.event_id, credential.principal)
        archive = Archive.on(reader, group, hub.host.online(request.group_id))
        return decisions_view(archive, request.event_id, now)

    found = await hub.ledger.read(query)
    if found is None:
        raise invalid("only what is said to somebody has decisions", "C2A-206", reason="not_said")
    return found


async def show_preview(hub: Hub, credential: Credential, request: requests.Preview) -> object:
    """What a message would do if it were sent now."""
    group = await _group(hub, credential, request.group_id)
    now = hub.store.options.clock.now()
    event = Event(
        v=1, id="", ts=rfc3339(now), seq=group.last_seq + 1, kind=request.kind, group_id=request.group_id,
        scope_key="", by=credential.principal, data=request.data,
    )  # fmt: skip
    above = request.data.get("reply_to")

    def query(reader: Reader) -> dict[str, Any]:
        if isinstance(above, str):
            reader.event(group, above, credential.principal)
        return preview(Archive.on(reader, group, hub.host.online(request.group_id)), event)

    if request.kind != "chat.message":
        raise invalid("only a chat.message can be previewed", "C2A-207")
    return await hub.ledger.read(query)


async def list_agents(hub: Hub, credential: Credential, request: requests.OneGroup) -> object:
    """Who is online, busy, owing what, spending what; and what waits for a person."""
    group = await _group(hub, credential, request.group_id)
    statuses = {link.session: (link.status, link.detail) for link in hub.host.links(request.group_id)}
    now = hub.store.options.clock.now()

    def query(reader: Reader) -> dict[str, Any]:
        archive = Archive.on(reader, group, hub.host.online(request.group_id))
        return {
            "agents": agents_view(archive, statuses, credential.principal),
            "approvals": [
                approval_view(one)
                for one in archive.attention.approvals.waiting(now)
                if _is_human(credential) and _may_answer(one, credential)
            ],
        }

    return await hub.ledger.read(query)


def _is_human(credential: Credential) -> bool:
    kind = kind_of(credential.principal)
    return kind is not None and kind.is_human


def _require_human(credential: Credential) -> None:
    if not _is_human(credential):
        raise denied("only a person may do this", "C2A-207")


class _Case:
    """One steering act in the writer: the room, and events as the caller may see them."""

    def __init__(self, hub: Hub, credential: Credential, snapshot: Snapshot) -> None:
        self.hub = hub
        self.credential = credential
        self.snapshot = snapshot
        self.room: GroupAttention = hub.host.engine.room(snapshot.group, snapshot.lookup)
        self.attention = self.room.attention

    def event(self, event_id: str) -> StoredEvent:
        """An event that the caller may see."""
        found = self.snapshot.lookup.event(event_id)
        if found is None or not found.visible_to(self.credential.principal):
            raise missing("event", "no such event in this group", "CCCS-068")
        return found

    def message(self, event_id: str) -> StoredEvent:
        """A message in its first form."""
        found = self.event(self.room.past.original(event_id))
        if found.kind != "chat.message":
            raise invalid("only a message can be changed", "C2A-189")
        return found

    def appended(self, written: list[Written]) -> Plan:
        """Append these and answer with the first of them."""
        submissions = submitted(self.snapshot.group.group_id, written)
        return Plan(submissions, lambda committed: views.appended(committed[0]))

    def plan(self, written: list[Written], answer: dict[str, Any]) -> Plan:
        """Append these and answer so."""
        submissions = submitted(self.snapshot.group.group_id, written)
        return Plan(
            submissions,
            lambda committed: {**answer, "event_id": committed[0].found.event_id} if committed else answer,
        )


def _key(principal: str, client_id: str) -> str:
    """The house writes everybody's edits: whose key it is goes into the key, and no two of them meet."""
    return hashlib.sha256(f"{len(principal)}:{principal}:{client_id}".encode()).hexdigest()


async def edit_message(hub: Hub, credential: Credential, request: requests.Edit) -> object:
    """Put a new text in the place of one's own message; the ledger keeps the first one."""
    credential.require_group(request.group_id)

    def rule(snapshot: Snapshot) -> Plan:
        case = _Case(hub, credential, snapshot)
        found = case.message(request.event_id)
        if found.by != credential.principal:
            raise denied("only its author edits a message", "C2A-185")
        if case.attention.versions.is_deleted(found.event_id):
            raise invalid("the message was deleted", "C2A-187", reason="deleted")
        if "clowl" in found.data:
            raise invalid("a CLowl message is corrected by another one", "C2A-185", reason="clowl")
        latest = case.attention.versions.latest(found.event_id)
        key = _key(credential.principal, request.client_id) if request.client_id else None
        earlier = snapshot.lookup.event(latest) if latest != found.event_id else None
        record = records.Edit(
            supersedes=latest,
            text=request.text,
            original=found.event_id if earlier is not None else None,
            by=credential.principal,
            client_id=key,
            # Whom an earlier edit named stays named: a form is made of the first one and its own edit alone.
            mentions=request.mentions or (earlier.data.get("mentions", []) if earlier is not None else []),
        )
        return case.appended([record])

    if not request.text.strip():
        raise invalid("an edited message says something", "CCCS-047")
    return await hub.ledger.act(request.group_id, rule)


async def delete_message(hub: Hub, credential: Credential, request: requests.OneEvent) -> object:
    """Take a message back: every view and tool hides its text, the ledger keeps the event."""
    credential.require_group(request.group_id)

    def rule(snapshot: Snapshot) -> Plan:
        case = _Case(hub, credential, snapshot)
        found = case.message(request.event_id)
        if found.by != credential.principal and not credential.is_owner:
            raise denied("only its author or the owner deletes a message", "C2A-187")
        if case.attention.versions.is_deleted(found.event_id):
            raise invalid("the message was deleted already", "C2A-187", reason="deleted")
        written: list[Written] = []
        latest = case.attention.versions.latest(found.event_id)
        if latest != found.event_id:
            written += [
                one.record for one in cancellations(case.attention.obligations.of_event(latest), "delete")
            ]
        record = records.Delete(event_id=found.event_id, by=credential.principal)
        return case.appended([record, *written])

    return await hub.ledger.act(request.group_id, rule)


async def steer(hub: Hub, credential: Credential, request: requests.Steer) -> object:
    """Cancel, reassign, answer an approval, ask an agent to leave: what a person in charge does."""
    credential.require_group(request.group_id)
    _require_human(credential)
    acts = {
        "cancel": _cancel,
        "reassign": _reassign,
        "approve": _approve,
        "refuse": _approve,
        "leave": _leave,
        "return": _leave,
    }
    act = acts[request.op]
    return await hub.ledger.act(
        request.group_id, lambda snapshot: act(_Case(hub, credential, snapshot), request)
    )


def _required(value: str | None, name: str) -> str:
    if value is None:
        raise invalid(f"{name} is missing", "C2A-016", reason="missing")
    return value


def _cancel(case: _Case, request: requests.Steer) -> Plan:
    """Call an event back from everyone, or from one agent."""
    found = case.event(_required(request.event_id, "event_id"))
    latest = case.attention.versions.latest(found.event_id)
    obligations = [
        obligation
        for obligation in case.attention.obligations.of_event(latest)
        if request.agent is None or obligation.session == request.agent
    ]
    written: list[Written] = [one.record for one in cancellations(obligations, "stop")]
    written.append(records.Audit(what="cancel", event_id=latest, details={"by": case.credential.principal}))
    return case.plan(
        written, {"cancelled": [obligation.session for obligation in obligations if not obligation.closed]}
    )


def _reassign(case: _Case, request: requests.Steer) -> Plan:
    """The obligation goes to an agent of the person's choice; the others are called back (C2A-176)."""
    found = case.event(_required(request.event_id, "event_id"))
    to = _required(request.to, "to")
    if to not in case.attention.sessions:
        raise missing("actor", "no harness speaks for this agent yet", "CCCS-011")
    if not found.visible_to(to):
        raise denied("this agent may not read that message", "C2A-203")
    if found.by == to:
        raise invalid("an agent does not answer itself", "C2A-195", reason="own")
    latest = case.attention.versions.latest(found.event_id)
    form = case.room.past.form(latest)
    if form is None:
        raise invalid("only a message can be reassigned", "C2A-176")
    archive = Archive(case.attention, case.room.past, case.snapshot.lookup, case.room.past.roster)
    obligation = case.attention.obligations.get(latest, to)
    decision = as_delivered(archive.decision(form, to), obligation)
    others = [one for one in case.attention.obligations.of_event(latest) if one.session != to and one.owed]
    moved = escalated(decision)
    record = delivery(
        latest, to, moved, case.room.past.parsed(form), attempt=obligation.attempt + 1 if obligation else 1
    )
    given: list[Written] = [one.record for one in cancellations(others, "reassign")]
    given += [
        records.Claim(target=held.target, thread=held.thread, session=held.session, action="release")
        for held in case.attention.claims
        if held.target == f"event:{latest}" and held.session != to
    ]
    fresh = records_with(record, case.attention.settings.deadline_ms, case.snapshot.now)
    named = records.Audit(
        what="reassign", event_id=latest, details={"by": case.credential.principal, "to": to}
    )
    return case.plan([*given, fresh, named], {"to": to, "reason": Reason.ESCALATION.value})


def _approve(case: _Case, request: requests.Steer) -> Plan:
    approval_id = _required(request.approval_id, "approval_id")
    asked = case.attention.approvals.find(approval_id)
    if asked is not None and not _may_answer(asked, case.credential):
        raise missing("event", "there is no such request for approval", "C2A-207")
    answered = approving.answer(
        case.attention.approvals,
        approval_id,
        granted=request.op == "approve",
        by=case.credential.principal,
        by_human=True,
        now=case.snapshot.now,
    )
    if isinstance(answered, Refusal):
        raise _refused(answered)
    record = records.Approval(
        approval_id=answered.approval_id,
        session=answered.session,
        state=answered.state,
        what=answered.what,
        answered_by=answered.answered_by,
        for_=list(asked.people) if asked is not None else [answered.session],
    )
    return case.plan([record], {"approval_id": approval_id, "state": answered.state})


def _may_answer(asked: approving.Asked, credential: Credential) -> bool:
    """What would be told was said in private: who may not know it is not asked about it."""
    return credential.is_owner or credential.principal in asked.people


def _leave(case: _Case, request: requests.Steer) -> Plan:
    """Send an agent out of a thread or channel, or call it back."""
    agent = _required(request.agent, "agent")
    conversation = _conversation(case, request)
    if case.snapshot.group.actor(agent) is None:
        raise missing("actor", "no such actor in this group", "CCCS-011")
    gone = absences.leave(agent, conversation)
    if isinstance(gone, Refusal):
        raise _refused(gone)
    if request.op == "return":
        gone = records.Membership(
            session=agent, conversation=conversation.id, thread=conversation.thread, action="return"
        )
        return case.plan([gone], {"agent": agent, "returned": conversation.place})
    back = given_back(case.attention, agent, conversation, case.snapshot.now)
    owed: list[Written] = [
        records.Disposition(
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
    return case.plan([gone, *back, *owed], {"agent": agent, "left": conversation.place})


def _is_in(case: _Case, event_id: str, conversation: Conversation) -> bool:
    said = case.attention.past.get(event_id)
    if said is None or said.conversation.id != conversation.id:
        return False
    return conversation.thread is None or said.conversation.thread == conversation.thread


def _conversation(case: _Case, request: requests.Steer) -> Conversation:
    if request.event_id is None:
        name = request.conversation_id or MAIN
        return Conversation(name, ConversationKind.DM if is_dm(name) else ConversationKind.CHANNEL)
    found = case.event(request.event_id)
    said = case.attention.past.get(found.event_id)
    if said is None:
        raise invalid("this event belongs to no conversation", "C2A-194")
    root = said.conversation.thread or found.event_id
    private = found.private or said.conversation.kind is ConversationKind.DM
    kind = ConversationKind.DM if private else ConversationKind.THREAD
    return Conversation(said.conversation.id, kind, root)


async def show_rules(hub: Hub, credential: Credential, request: requests.OneGroup) -> object:
    """The numbers that attention goes by in a group."""
    group = await _group(hub, credential, request.group_id)

    def query(reader: Reader) -> dict[str, Any]:
        settings = Archive.on(reader, group).attention.settings
        return {name: getattr(settings, name) for name in sorted(NAMES)}

    return {"settings": await hub.ledger.read(query)}


async def change_rules(hub: Hub, credential: Credential, request: requests.Rules) -> object:
    """Change them; only the owner does."""
    credential.require_owner()

    def rule(snapshot: Snapshot) -> Plan:
        case = _Case(hub, credential, snapshot)
        changed = accepted(case.attention.settings, request.settings)
        if isinstance(changed, Refusal):
            raise _refused(changed)
        record = records.Rules(values=request.settings, by=credential.principal)
        return case.plan([record], {"settings": request.settings, "warnings": list(warnings(changed))})

    answer = await hub.ledger.act(request.group_id, rule)
    if (limit := request.settings.get("injected_per_minute")) is not None:
        hub.host.pace(request.group_id, limit)
    return answer


def _refused(refused: Refusal) -> Refused:
    code = refused.code if refused.code in {"permission_denied", "event_not_found"} else "invalid_request"
    details = {
        **refused.details,
        "reason": refused.code,
        **({"remedy": refused.remedy} if refused.remedy else {}),
    }
    return Refused(code, refused.message, row=refused.row, details=cast("dict[str, Any]", details))


async def set_webhook(hub: Hub, credential: Credential, request: requests.Webhook) -> object:
    """Have an agent's events posted to an address; the answer holds the secret, for the only time."""
    credential.require_owner()
    group = await _group(hub, credential, request.group_id)
    if group.actor(request.actor_id) is None:
        raise missing("actor", "no such actor in this group", "CCCS-011")
    secret = await hub.hooks.set(request.group_id, request.actor_id, request.url, request.version)
    return {"actor_id": request.actor_id, "url": request.url, "secret": secret}


async def drop_webhook(hub: Hub, credential: Credential, request: requests.NewToken) -> object:
    """Post to that address no more."""
    credential.require_owner()
    credential.require_group(request.group_id)
    return {"removed": await hub.hooks.remove(request.group_id, request.actor_id)}
