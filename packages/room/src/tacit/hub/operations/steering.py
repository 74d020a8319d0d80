"""The operations of people on attention: look, preview, edit, delete, steer.

Rows: C2A-185, C2A-186, C2A-187, C2A-188, C2A-189, C2A-190, C2A-191, C2A-192, C2A-193, C2A-194, C2A-199,
C2A-206, C2A-207. Each takes the caller's credential and typed parameters, like every operation of the hub.
What they change is an `x.c2a.*` event that names who asked for it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tacit.attention.commands import ChangeRules, DeleteMessage, EditMessage, Steer
from tacit.attention.io.preview import preview
from tacit.attention.io.state_store import Archive
from tacit.attention.io.views import agents_view, approvals_view, decisions_view
from tacit.attention.io.work_view import AgentsNow, work_view
from tacit.attention.settings import NAMES
from tacit.base.moment import rfc3339
from tacit.hub.operations import views
from tacit.ledger.codes import denied, invalid, missing
from tacit.ledger.envelope import Event
from tacit.ledger.principal import kind_of

if TYPE_CHECKING:
    from tacit.hub.hub import RunningHub
    from tacit.hub.operations import requests
    from tacit.hub.people.credentials import Credential
    from tacit.ledger.io.reader import Reader
    from tacit.ledger.state import Group


async def _group(hub: RunningHub, credential: Credential, group_id: str) -> Group:
    credential.require_group(group_id)
    return await hub.ledger.read(lambda reader: reader.group(group_id))


async def show_decisions(hub: RunningHub, credential: Credential, request: requests.OneEvent) -> object:
    """Who saw an event, how, and why."""
    group = await _group(hub, credential, request.group_id)
    present = _present(hub, request.group_id)

    def query(reader: Reader) -> dict[str, Any] | None:
        reader.event(group, request.event_id, credential.principal)
        archive = Archive.on(reader, group, hub.host.online(request.group_id))
        return decisions_view(archive, request.event_id, present)

    found = await hub.ledger.read(query)
    if found is None:
        raise invalid("only what is said to somebody has decisions", "C2A-206", reason="not_said")
    return found


async def show_preview(hub: RunningHub, credential: Credential, request: requests.PreviewRequest) -> object:
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


async def list_agents(hub: RunningHub, credential: Credential, request: requests.OneGroup) -> object:
    """Who is online, busy, owing what, spending what; and what waits for a person."""
    group = await _group(hub, credential, request.group_id)
    statuses = hub.host.statuses(request.group_id)
    now = hub.store.options.clock.now()

    def query(reader: Reader) -> dict[str, Any]:
        archive = Archive.on(reader, group, hub.host.online(request.group_id))
        known, human = archive.attention.approvals, _is_human(credential)
        return {
            "agents": agents_view(archive, statuses, credential.principal, now),
            "approvals": approvals_view(archive, known.waiting(now) if human else (), credential.principal),
            "permissions": approvals_view(
                archive, known.standing_grants() if human else (), credential.principal
            ),
        }

    return await hub.ledger.read(query)


def _present(hub: RunningHub, group_id: str) -> AgentsNow:
    """Who is there at this moment, and the places in agents' queues, as their harnesses said last."""
    return AgentsNow(
        hub.store.options.clock.now(),
        hub.host.known_lives(group_id),
        lambda session, event_id: hub.host.position(group_id, session, event_id),
    )


async def list_work(hub: RunningHub, credential: Credential, request: requests.WorkRequest) -> object:
    """Which agent is at which question, how it stands, and what to do about it."""
    group = await _group(hub, credential, request.group_id)
    present = _present(hub, request.group_id)

    def query(reader: Reader) -> dict[str, Any]:
        return work_view(
            Archive.on(reader, group, hub.host.online(request.group_id)),
            credential.principal,
            present,
            agent=request.agent,
            state=request.state,
            ended=request.ended or request.state in {"answered", "failed", "handed_over", "called_off"},
            limit=request.limit,
        )

    return await hub.ledger.read(query)


async def show_activity(hub: RunningHub, credential: Credential, request: requests.ActivityRequest) -> object:
    """What agents did about an event: the turns that run, and those that their harnesses kept."""
    group = await _group(hub, credential, request.group_id)
    await hub.ledger.read(lambda reader: reader.event(group, request.event_id, credential.principal))
    _require_human(credential)
    if request.forget:
        credential.require_owner()
        return await hub.activities.forget(request.group_id, request.event_id)
    return await hub.activities.cards(request.group_id, request.event_id)


def _is_human(credential: Credential) -> bool:
    kind = kind_of(credential.principal)
    return kind is not None and kind.is_human


def _require_human(credential: Credential) -> None:
    if not _is_human(credential):
        raise denied("only a person may do this", "C2A-207")


async def edit_message(hub: RunningHub, credential: Credential, request: requests.EditRequest) -> object:
    """Put a new text in the place of one's own message; the ledger keeps the first one."""
    credential.require_group(request.group_id)
    if not request.text.strip():
        raise invalid("an edited message says something", "CCCS-047")
    mentions = tuple(request.mentions) if request.mentions is not None else None
    command = EditMessage(
        request.group_id,
        credential.principal,
        request.event_id,
        request.text,
        mentions,
        request.client_id,
    )
    return views.appended((await hub.ledger.decide(command)).outcomes[0])


async def delete_message(hub: RunningHub, credential: Credential, request: requests.OneEvent) -> object:
    """Take a message back: its content goes for good, the ledger keeps its envelope."""
    credential.require_group(request.group_id)
    command = DeleteMessage(request.group_id, credential.principal, request.event_id)
    done = views.appended((await hub.ledger.decide(command)).outcomes[0])
    # What agents did about it may quote it: they forget that too, also of an answer long given.
    hub.host.spawn(hub.activities.forget(request.group_id, request.event_id))
    return done


async def steer(hub: RunningHub, credential: Credential, request: requests.SteerRequest) -> object:
    """Cancel, reassign, answer an approval, ask an agent to leave: what a person in charge does."""
    credential.require_group(request.group_id)
    _require_human(credential)
    command = Steer(
        request.group_id,
        credential.principal,
        request.op,
        request.event_id,
        request.agent,
        request.to,
        request.approval_id,
        request.conversation_id,
        request.scope,
        request.reason,
    )
    return (await hub.ledger.decide(command)).answer.result


async def show_rules(hub: RunningHub, credential: Credential, request: requests.OneGroup) -> object:
    """The numbers that attention goes by in a group."""
    group = await _group(hub, credential, request.group_id)

    def query(reader: Reader) -> dict[str, Any]:
        settings = Archive.on(reader, group).attention.settings
        return {name: getattr(settings, name) for name in sorted(NAMES)}

    return {"settings": await hub.ledger.read(query)}


async def change_rules(hub: RunningHub, credential: Credential, request: requests.RulesRequest) -> object:
    """Change them; only the owner does."""
    credential.require_owner()
    command = ChangeRules(request.group_id, credential.principal, request.settings)
    return (await hub.ledger.decide(command)).answer.result


async def set_webhook(hub: RunningHub, credential: Credential, request: requests.WebhookRequest) -> object:
    """Have an agent's events posted to an address; the answer holds the secret, for the only time."""
    credential.require_owner()
    group = await _group(hub, credential, request.group_id)
    if group.actor(request.actor_id) is None:
        raise missing("actor", "no such actor in this group", "CCCS-011")
    secret = await hub.hooks.set(request.group_id, request.actor_id, request.url, request.version)
    return {"actor_id": request.actor_id, "url": request.url, "secret": secret}


async def drop_webhook(hub: RunningHub, credential: Credential, request: requests.NewToken) -> object:
    """Post to that address no more."""
    credential.require_owner()
    credential.require_group(request.group_id)
    return {"removed": await hub.hooks.remove(request.group_id, request.actor_id)}
