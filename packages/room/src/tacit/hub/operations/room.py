"""Every operation of the hub, once: the doors only translate to and from these.

An operation takes the caller's credential and typed parameters and returns a value to encode. It refuses by
raising. What it may show is decided by the credential (CCCS-045, CCCS-110).
"""

from __future__ import annotations

import asyncio
import base64
import hashlib
from typing import TYPE_CHECKING, Any, Final, cast

import msgspec

from tacit.attention.io.state_store import Archive
from tacit.attention.io.views import current, has_changed_messages
from tacit.attention.read.conversation import is_dm
from tacit.base import ids
from tacit.base.strict_json import Malformed, compact, parse
from tacit.base.version import version
from tacit.c2a.negotiation import VERSIONS
from tacit.hub.operations import requests, speech, views
from tacit.hub.people.sign_in_links import MARK
from tacit.hub.people.sign_in_links import PREFIX as LINK
from tacit.ledger.codes import denied, invalid, missing, oversized
from tacit.ledger.commands import BlobShare, Duplicate, RevokeCredential
from tacit.ledger.cursor import Selection, selection
from tacit.ledger.envelope import MAX_EVENT_BYTES, decode
from tacit.ledger.principal import USER, require_actor_id, require_service
from tacit.ledger.profile import capabilities
from tacit.ledger.provenance import record_data, relayed_data
from tacit.ledger.references import blob_paths
from tacit.ledger.submission import Submission

if TYPE_CHECKING:
    from collections.abc import Callable

    from tacit.hub.hub import RunningHub
    from tacit.hub.people.credentials import Credential
    from tacit.ledger.envelope import StoredEvent
    from tacit.ledger.io.reader import Reader
    from tacit.ledger.ports import Blob
    from tacit.ledger.state import Group


INVITED_MINUTES: Final = 24 * 60
"""How long an invitation by link may lie before it is opened."""


def submission(credential: Credential, request: requests.AppendRequest, raw: bytes) -> Submission:
    """What a caller wants appended; `by` is the credential's, a differing hint is refused (CCCS-042)."""
    credential.require_group(request.group_id)
    if request.by is not None and request.by != credential.principal:
        raise denied("`by` comes from the credential and cannot be chosen", "CCCS-042")
    data = request.data
    if request.kind == "chat.message" and speech.MEMBER in data:
        data = speech.spoken(data, credential.principal)
        raw = msgspec.json.encode(data)
    return Submission(request.group_id, credential.principal, request.kind, data, raw, request.scope_key)


async def append(
    hub: RunningHub, credential: Credential, request: requests.AppendRequest, raw: bytes | None = None
) -> object:
    """Append one event; `raw` is its data as the caller wrote it."""
    kept = raw if raw is not None else msgspec.json.encode(request.data)
    return views.appended(await hub.ledger.append(submission(credential, request, kept)))


async def show_capabilities(hub: RunningHub, _credential: Credential, _request: requests.Nothing) -> object:
    """What this hub can do (CCCS-109)."""
    limits = hub.config.limits
    return {
        **capabilities(
            hub.config.settings,
            auth="local_trust" if hub.config.local_trust else "authenticated",
            limits={"body_bytes": limits.body_bytes, "blob_bytes": limits.blob_bytes},
            c2a_versions=VERSIONS,
        ),
        "version": version(),
    }


async def whoami(_hub: RunningHub, credential: Credential, _request: requests.Nothing) -> object:
    """Whom the credential speaks for."""
    return {"principal": credential.principal, "group_id": credential.group_id}


async def create_group(hub: RunningHub, credential: Credential, request: requests.NewGroup) -> object:
    """Open a group."""
    credential.require_owner()
    data: dict[str, Any] = {"title": request.title}
    if request.scopes:
        data["scopes"] = [{"url": url} for url in request.scopes]
    group_id = hub.store.new_group_id()
    raw = msgspec.json.encode(data)
    await hub.ledger.append(
        Submission(group_id, credential.principal, "group.create", data, raw), creates=True
    )
    return views.group(await hub.ledger.read(lambda reader: reader.group(group_id)))


async def list_groups(hub: RunningHub, credential: Credential, _request: requests.Nothing) -> object:
    """The groups that the caller takes part in."""
    allowed = {credential.group_id} if credential.group_id is not None else credential.groups
    groups = await hub.ledger.read(lambda reader: reader.groups(allowed))
    return {"groups": [views.group(one) for one in groups]}


async def group_of(hub: RunningHub, credential: Credential, group_id: str) -> Group:
    """A group that the caller takes part in."""
    credential.require_group(group_id)
    return await hub.ledger.read(lambda reader: reader.group(group_id))


async def show_group(hub: RunningHub, credential: Credential, request: requests.OneGroup) -> object:
    """One group with its roster."""
    return views.group(await group_of(hub, credential, request.group_id))


async def list_actors(hub: RunningHub, credential: Credential, request: requests.OneGroup) -> object:
    """The actors of a group."""
    group = await group_of(hub, credential, request.group_id)
    return {"actors": [views.actor(one) for one in group.present()]}


async def _enrol(
    hub: RunningHub, credential: Credential, group_id: str, kind: str, data: dict[str, Any]
) -> str:
    """Let someone in, then store and return the new token."""
    principal = cast("str", data.get("actor_id") or data.get("principal"))
    await _admit(hub, credential, group_id, kind, data)
    return await token_for(hub, principal, group_id)


async def _admit(
    hub: RunningHub, credential: Credential, group_id: str, kind: str, data: dict[str, Any]
) -> None:
    """Append the event that lets someone in."""
    await hub.ledger.append(Submission(group_id, credential.principal, kind, data, msgspec.json.encode(data)))


async def token_for(
    hub: RunningHub,
    principal: str,
    group_id: str | None,
    groups: list[str] | None = None,
    *,
    is_browser: bool = False,
) -> str:
    """A new token, kept hashed; whoever calls has made sure of who asks."""
    issued = hub.registry.prepare(principal, group_id, groups, is_browser=is_browser)
    await hub.ledger.record(issued.record)
    hub.registry.admit(issued, hub.store.options.clock.now())
    # Somebody may have removed the actor meanwhile: then its newest token dies with the others.
    if group_id is not None and not await hub.ledger.read(
        lambda reader: reader.is_member(group_id, principal)
    ):
        hub.drop_tokens(actor=(group_id, principal))
        raise missing("actor", "no such actor in this group", "CCCS-011")
    return issued.token


async def add_actor(hub: RunningHub, credential: Credential, request: requests.NewActor) -> object:
    """Add an actor; the answer holds its token, for the only time."""
    credential.require_group(request.group_id)
    require_actor_id(request.actor_id)
    data: dict[str, Any] = {"actor_id": request.actor_id}
    data |= {"role": request.role} if request.role else {}
    data |= {"title": request.title} if request.title else {}
    data |= {"roles": request.roles} if request.roles else {}
    token = await _enrol(hub, credential, request.group_id, "actor.add", data)
    return {**data, "group_id": request.group_id, "token": token}


async def add_person(hub: RunningHub, credential: Credential, request: requests.NewPerson) -> object:
    """Add a further human; the answer holds the token, for the only time."""
    credential.require_owner()
    data: dict[str, Any] = {"principal": request.principal}
    data |= {"title": request.title} if request.title else {}
    if request.by_link:
        credential.require_owners_token()
        await _admit(hub, credential, request.group_id, "x.tacit.person.add", data)
        return {**data, **_link(hub, credential, request.principal, request.group_id, INVITED_MINUTES)}
    token = await _enrol(hub, credential, request.group_id, "x.tacit.person.add", data)
    return {**data, "group_id": request.group_id, "token": token}


async def sign_in_link(hub: RunningHub, credential: Credential, request: requests.NewLink) -> object:
    """A link for the owner's next browser, or for a person who is in a group."""
    credential.require_owners_token()
    principal = request.principal or USER
    if (principal == USER) != (request.group_id is None):
        raise invalid("a link is for the owner, or for a person of a group", "CCCS-042")
    if request.group_id is not None:
        group = await group_of(hub, credential, request.group_id)
        if principal not in group.people:
            raise missing("actor", "no such person in this group", "CCCS-011")
    return _link(hub, credential, principal, request.group_id, request.minutes)


def _link(
    hub: RunningHub, credential: Credential, principal: str, group_id: str | None, minutes: int
) -> dict[str, Any]:
    if credential.token_id not in hub.registry.ids():
        raise denied("this token was revoked meanwhile", "CCCS-042")
    until = asyncio.get_running_loop().time() + 60 * minutes
    code = hub.links.make(principal, group_id, maker=credential.token_id, until=until)
    return {
        "principal": principal,
        "group_id": group_id,
        "code": code,
        "path": MARK + code,
        "minutes": minutes,
        "public_url": hub.config.public_url.rstrip("/"),
    }


async def add_service(hub: RunningHub, credential: Credential, request: requests.NewService) -> object:
    """Register a service once (CCCS-005); the answer holds its token."""
    credential.require_owner()
    require_service(request.name, allowed=hub.config.allow_services)
    token = await token_for(hub, request.name, None, request.groups)
    return {"name": request.name, "groups": request.groups, "token": token}


async def issue_token(hub: RunningHub, credential: Credential, request: requests.NewToken) -> object:
    """A further token for someone who is in the group."""
    credential.require_owner()
    group = await group_of(hub, credential, request.group_id)
    if group.actor(request.actor_id) is None and request.actor_id not in group.people:
        raise missing("actor", "no such actor in this group", "CCCS-011")
    token = await token_for(hub, request.actor_id, request.group_id)
    return {"actor_id": request.actor_id, "group_id": request.group_id, "token": token}


async def list_tokens(hub: RunningHub, credential: Credential, request: requests.NewToken) -> object:
    """The public ids of a principal's live tokens, and of the sign-in links that still work."""
    credential.require_owner()
    await group_of(hub, credential, request.group_id)
    links = await hub.all_links.ids(request.group_id, request.actor_id)
    found = hub.registry.of(request.group_id, request.actor_id) + links
    if not found:
        raise missing("actor", "no token of such a principal", "CCCS-011")
    return {"tokens": found}


async def revoke_token(hub: RunningHub, credential: Credential, request: requests.OldToken) -> object:
    """Make a token, or a sign-in link, worthless at once."""
    credential.require_owner()
    if request.token_id.startswith(LINK):
        dead = await hub.all_links.end(request.token_id)
        if dead is None:
            raise invalid("no such link: it was used, or has run out", "CCCS-042", reason="no_token")
        return {"token_id": request.token_id, "principal": dead.principal, "revoked": True}
    revoked = await hub.ledger.record(RevokeCredential(request.token_id))
    hub.drop_tokens(token_id=request.token_id)
    return {"token_id": request.token_id, "principal": revoked.principal, "revoked": True}


async def read_events(hub: RunningHub, credential: Credential, request: requests.EventsRequest) -> object:
    """A page of a ledger."""
    wanted = chosen(request)
    group = await group_of(hub, credential, request.group_id)
    return views.page(await hub.ledger.read(lambda reader: reader.page(group, credential.principal, wanted)))


def chosen(request: requests.EventsRequest) -> Selection:
    """The checked selection of a request."""
    return selection(
        since_seq=request.since_seq,
        since_event_id=request.since_event_id,
        since_ts=request.since_ts,
        kinds=request.kinds,
        limit=request.limit,
    )


async def show_event(hub: RunningHub, credential: Credential, request: requests.OneEvent) -> object:
    """One event with who acknowledged it, who still owes it, and its reactions."""
    group = await group_of(hub, credential, request.group_id)

    def query(
        reader: Reader,
    ) -> tuple[StoredEvent, dict[str, list[str]], list[dict[str, str]], dict[str, Any] | None]:
        event = reader.event(group, request.event_id, credential.principal)
        now = current(Archive.on(reader, group), event)
        return event, reader.acks(group, event), reader.reactions(group, event), now

    event, acks, reactions, now = await hub.ledger.read(query)
    shown: dict[str, Any] = {"event": now or views.raw(event), **acks, "reactions": reactions}
    shown |= {"parties": sorted(event.parties())} if event.private else {}
    intent = speech.intent_of(event)
    return {**shown, "intent": intent} if intent is not None else shown


async def speak(hub: RunningHub, credential: Credential, request: requests.SpeakRequest) -> object:
    """Append a CLowl message; its English becomes the text."""
    wanted = requests.AppendRequest(
        group_id=request.group_id, kind="chat.message", data={speech.MEMBER: request.message}
    )
    return await append(hub, credential, wanted)


async def show_trace(hub: RunningHub, credential: Credential, request: requests.TraceRequest) -> object:
    """A CLowl trace as the ledger tells it: tree, tasks, who owes what, broken links."""
    group = await group_of(hub, credential, request.group_id)

    def query(reader: Reader) -> dict[str, Any]:
        versions = Archive.on(reader, group).attention.versions
        messages = reader.trace(
            group,
            credential.principal,
            request.tid,
            request.limit,
            lambda event: not versions.is_deleted(event.event_id),
        )
        trace = speech.trace_of(messages, request.tid)
        if trace is None:
            raise missing("event", "no message of this trace in this group", "CLOWL-079")
        return {"tid": request.tid, "trace": trace, "events": views.events(messages)}

    return await hub.ledger.read(views.naming_damage(query))


async def show_thread(hub: RunningHub, credential: Credential, request: requests.ThreadRequest) -> object:
    """A message and its newest replies, oldest first."""
    group = await group_of(hub, credential, request.group_id)

    def query(reader: Reader) -> dict[str, Any]:
        messages = reader.thread(group, credential.principal, request.event_id, request.limit)
        return {"events": as_they_stand(reader, group, messages)}

    return await hub.ledger.read(views.naming_damage(query))


async def show_window(hub: RunningHub, credential: Credential, request: requests.WindowRequest) -> object:
    """The messages just before a position, oldest first: what a screen shows."""
    group = await group_of(hub, credential, request.group_id)
    before = request.before_seq if request.before_seq is not None else group.last_seq + 1

    def query(reader: Reader) -> dict[str, Any]:
        messages = reader.window(group, credential.principal, before, request.limit)
        return {"events": as_they_stand(reader, group, messages), "last_seq": group.last_seq}

    return await hub.ledger.read(views.naming_damage(query))


def as_they_stand(reader: Reader, group: Group, found: list[StoredEvent]) -> list[object]:
    """Messages with their newest text, and without the text of those that were taken back (C2A-187)."""
    if not found or not has_changed_messages(reader.connection, group.number):
        return list(views.events(found))
    archive = Archive.on(reader, group)
    return [current(archive, event) or views.raw(event) for event in found]


async def show_inbox(hub: RunningHub, credential: Credential, request: requests.InboxRequest) -> object:
    """What waits for the caller, or for somebody else when the owner asks."""
    principal = request.actor_id or credential.principal
    if principal != credential.principal and not credential.is_owner:
        raise denied("an inbox is for its owner's eyes", "CCCS-110")
    group = await group_of(hub, credential, request.group_id)

    def query(reader: Reader) -> dict[str, Any]:
        read = reader.inbox(group, principal, request.limit)
        return views.inbox(read, principal, lambda found: as_they_stand(reader, group, found))

    return await hub.ledger.read(views.naming_damage(query))


async def show_context(hub: RunningHub, credential: Credential, request: requests.OneGroup) -> object:
    """The shared context and the task store (CCCS-118)."""
    if "context" not in hub.config.settings.profiles:
        raise unknown("this hub does not offer the context profile")
    group = await group_of(hub, credential, request.group_id)
    return await hub.ledger.read(
        lambda reader: {store: reader.context(group, store) for store in ("context", "tasks")}
    )


def unknown(message: str) -> Exception:
    """An operation that this hub does not know (CCCS-119)."""
    from tacit.base.errors import Refused

    return Refused("unknown_op", message, row="CCCS-112")


async def relay(hub: RunningHub, credential: Credential, request: requests.RelayRequest) -> object:
    """Bring a message from another group into this one, with its blobs.

    Rows: CCCS-095, CCCS-096, CCCS-097, CCCS-098, CCCS-099, CCCS-100, CCCS-101, CCCS-102.
    """
    credential.require_group(request.group_id)
    credential.require_group(request.src_group_id)
    source = await _source(hub, credential, request)
    if decode(source.raw).redacted is not None:
        return await _relayed_before(hub, credential, request)
    data = relayed_data(
        source, request.src_group_id, text=request.text, to=request.to, priority=request.priority
    )
    if request.client_id is not None:
        data["client_id"] = request.client_id
    raw = msgspec.json.encode(data)
    principal = credential.principal
    wanted = [Submission(request.group_id, principal, "chat.message", data, raw)]
    if request.record:
        record = record_data(source.event_id, request.group_id, request.to)
        if request.client_id is not None:
            record["client_id"] = "record:" + hashlib.sha256(request.client_id.encode()).hexdigest()
        wanted.append(
            Submission(request.src_group_id, principal, "chat.message", record, msgspec.json.encode(record))
        )

    share = BlobShare(request.src_group_id, request.group_id, tuple(blob_paths(source.data)), principal)
    outcomes = await hub.ledger.together(wanted, share)
    return views.appended(outcomes[0])


async def _relayed_before(hub: RunningHub, credential: Credential, request: requests.RelayRequest) -> object:
    """Of a message whose content is gone: what a relay under this key brought over while it was there."""

    def query(reader: Reader) -> StoredEvent | None:
        glance = reader.glance(reader.group(request.group_id))
        key = request.client_id
        earlier = glance.submission(credential.principal, key) if key is not None else None
        return glance.at(earlier.seq) if earlier is not None else None

    found = await hub.ledger.read(query)
    if found is None or found.data.get("src_event_id") != request.src_event_id:
        raise missing("event", "the source event was deleted", "C2A-187")
    return views.appended(Duplicate(found))


async def _source(hub: RunningHub, credential: Credential, request: requests.RelayRequest) -> StoredEvent:
    return await hub.ledger.read(
        lambda reader: reader.event(
            reader.group(request.src_group_id), request.src_event_id, credential.principal
        )
    )


async def blob_of(hub: RunningHub, credential: Credential, group_id: str, path: str) -> Blob:
    """A blob's record, if the caller may see it (CCCS-088)."""
    group = await group_of(hub, credential, group_id)
    return await hub.ledger.read(lambda reader: reader.blob(group, credential.principal, path))


async def read_blob(hub: RunningHub, credential: Credential, request: requests.OneBlob) -> object:
    """A blob's record and a stretch of its bytes."""
    blob = await blob_of(hub, credential, request.group_id, request.path)
    with await asyncio.to_thread(hub.store.blobs.open, blob.sha256) as file:
        file.seek(request.offset)
        content = file.read(request.length)
    return {
        "path": blob.path,
        "sha256": blob.sha256,
        "bytes": blob.size,
        "mime_type": blob.mime_type,
        "offset": request.offset,
        "content": base64.b64encode(content).decode(),
    }


async def typing(hub: RunningHub, credential: Credential, request: requests.TypingRequest) -> object:
    """Tell followers that the caller is writing; a signal, not an event."""
    credential.require_group(request.group_id)
    await type_in(hub, request.group_id, credential.principal, request.conversation_id)
    return {"ok": True}


async def type_in(hub: RunningHub, group_id: str, by: str, conversation_id: str | None) -> None:
    """Somebody of the group is writing in a conversation."""
    parties = await hub.ledger.read(
        lambda reader: _listeners(reader, reader.group(group_id), by, conversation_id)
    )
    hub.type_in(group_id, by, conversation_id, parties)


def _listeners(reader: Reader, group: Group, by: str, conversation_id: str | None) -> frozenset[str] | None:
    """Who may hear that something happens in a conversation: its parties, or None for the whole group.

    Nobody stirs where they may not read (CCCS-110).
    """
    if conversation_id is None:
        return None
    if is_dm(conversation_id):
        parties = frozenset(conversation_id[3:].split("+"))
        if by not in {USER, *parties}:
            raise denied("this is a conversation of others", "CCCS-110")
        return parties
    event_id = conversation_id.removeprefix("thread:")
    if ids.raw(event_id) is None:
        return None
    event = reader.event(group, event_id, by)
    return event.parties() if event.private else None


class _Body(msgspec.Struct, frozen=True):
    data: msgspec.Raw = msgspec.Raw(b"{}")


_as_sent: Final = msgspec.json.Decoder(_Body)


def data_as_sent(raw: bytes) -> bytes:
    """The `data` of a body that `body_of` accepted, without white space and otherwise as it was written."""
    return compact(bytes(_as_sent.decode(raw).data))


def require_fitting(length: int, data_of: Callable[[], bytes]) -> None:
    """Refuse a request of this length whose `data` no event can hold, before anything of it is made."""
    if length <= MAX_EVENT_BYTES:
        return
    try:
        size = len(data_of())
    except (msgspec.MsgspecError, RecursionError):
        return  # what is wrong with it says who reads it
    if size > MAX_EVENT_BYTES:
        raise oversized()


def body_of(raw: bytes) -> dict[str, Any]:
    """A request's JSON object, strictly parsed."""
    try:
        value = parse(raw)
    except Malformed as fault:
        raise invalid(str(fault), "CCCS-020", reason="malformed_json") from fault
    if not isinstance(value, dict):
        raise invalid("a request is a JSON object", "CCCS-020")
    return cast("dict[str, Any]", value)
