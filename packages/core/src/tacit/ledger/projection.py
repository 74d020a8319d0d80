"""Projection: what one event changes, as a value (CCCS-002: state is only ever a fold over events).

`project` is a pure function of the event, the group before it, and look-ups; the live writer and a rebuild
both use it, so that a rebuilt read model equals the live one. `fold` moves the group's own small state on.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final, cast

import msgspec

from tacit.ledger.kinds import CONCERNS, EXTENSION, HOUSE, KINDS, About
from tacit.ledger.references import blob_paths
from tacit.ledger.rules import notice_audience
from tacit.ledger.state import Actor, Audience, Person, audience_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from tacit.ledger import kinds
    from tacit.ledger.envelope import StoredEvent
    from tacit.ledger.ports import EventById, Lookup
    from tacit.ledger.state import Group


class Mark(msgspec.Struct, frozen=True, gc=False):
    """A lasting sign of one principal on one event: an ack, a notice's ack, a reaction."""

    mark: str
    target: int
    actor: str
    detail: str = ""
    holds: bool = True


@dataclass(frozen=True, slots=True)
class ContextChange:
    """One change of the shared context or the task store; `value` is None when it is deleted."""

    store: str
    key: str
    value: bytes | None


class Facts(msgspec.Struct, frozen=True, gc=False):
    """All that the read model must remember of one event."""

    audience: Audience = Audience()
    addressed: bool = False
    duty: str = ""
    owing: tuple[str, ...] = ()
    text: str = ""
    root: int = 0
    client_id: str | None = None
    mark: Mark | None = None
    read: tuple[str, int] | None = None
    blobs: tuple[str, ...] = ()
    changes: tuple[ContextChange, ...] = ()
    speech: tuple[str, str] | None = None
    left: str | None = None


VERSION: Final = 1
"""Of what is projected and how. Raise it with any change of what a table of the read model holds."""
NOTHING: Final = Facts()
NOBODY: Final = Facts(audience=Audience(private=True))
"""Of what concerns nobody: the owner reads it, and whoever wrote it."""


def project(
    kind: str, by: str, data: dict[str, Any], body: msgspec.Struct, group: Group, lookup: Lookup
) -> Facts:
    """What an admitted event changes."""
    maker = _MAKERS.get(kind)
    if maker is not None:
        facts = maker(body, by, data, group, lookup)
    else:
        facts = _of_the_house(kind, data, lookup) if kind.startswith(HOUSE) else NOTHING
    client_id = getattr(body, "client_id", None)
    if client_id is facts.client_id or not isinstance(client_id, str):
        return facts
    return msgspec.structs.replace(facts, client_id=client_id)


def body_of(kind: str, data: dict[str, Any]) -> msgspec.Struct:
    """The typed body of stored data."""
    return msgspec.convert(data, KINDS.get(kind, EXTENSION).model)


def _owing(audience: Audience, group: Group, sender: str) -> tuple[str, ...]:
    names = dict.fromkeys(audience.named)
    if audience.everyone:
        names.update(dict.fromkeys(actor.actor_id for actor in group.present()))
    names.pop(sender, None)
    # A service may be a party to a dm, yet only actors and humans acknowledge (CCCS-059).
    return tuple(name for name in names if group.is_addressable(name))


def _message(body: kinds.ChatMessage, by: str, data: dict[str, Any], group: Group, lookup: Lookup) -> Facts:
    replied = lookup.event(body.reply_to) if body.reply_to is not None else None
    audience = audience_of(body, group, by, replied)
    # A reply to an edit is in the thread of the message that was edited.
    above = replied
    if replied is not None and replied.kind == "x.c2a.edit":
        above = first_form(replied.event_id, lookup) or replied
    owed = body.priority == "attention"
    return Facts(
        audience=audience,
        addressed=True,
        duty="ack" if owed else "",
        owing=_owing(audience, group, by) if owed else (),
        text=body.text,
        root=(above.root or above.seq) if above else 0,
        client_id=body.client_id,
        blobs=tuple(dict.fromkeys(blob_paths(data))) if body.attachments or body.refs else (),
        speech=(body.clowl.mid, body.clowl.tid or "") if body.clowl else None,
    )


def _notice(body: kinds.SystemNotify, by: str, _data: dict[str, Any], group: Group, lookup: Lookup) -> Facts:
    audience = notice_audience(body, by)
    about = lookup.event(body.related_event_id) if body.related_event_id is not None else None
    if about is not None and about.private:
        # A notice about a private event is for its recipient, or for the event's own parties.
        audience = Audience(named=audience.named or tuple(sorted(about.parties())), private=True)
    return Facts(
        audience=audience,
        addressed=True,
        duty="notice" if body.requires_ack else "",
        owing=_owing(audience, group, by) if body.requires_ack else (),
    )


def _among(found: StoredEvent | None) -> Audience:
    """A sign on a private event is as private as the event."""
    if found is None or not found.private:
        return Audience()
    return Audience(named=tuple(sorted(found.parties())), private=True)


def _target(lookup: Lookup, event_id: str) -> tuple[int, Audience]:
    found = lookup.event(event_id)
    return (found.seq if found else 0), _among(found)


def _ack(body: kinds.ChatAck, _by: str, _data: dict[str, Any], _group: Group, lookup: Lookup) -> Facts:
    seq, audience = _target(lookup, body.event_id)
    return Facts(audience=audience, mark=Mark("ack", seq, body.actor_id))


def _notice_ack(
    body: kinds.SystemNotifyAck, _by: str, _data: dict[str, Any], _group: Group, lookup: Lookup
) -> Facts:
    seq, audience = _target(lookup, body.notify_event_id)
    return Facts(audience=audience, mark=Mark("notice", seq, body.actor_id))


def _read(body: kinds.ChatRead, _by: str, _data: dict[str, Any], _group: Group, lookup: Lookup) -> Facts:
    seq, audience = _target(lookup, body.event_id)
    return Facts(audience=audience, read=(body.actor_id, seq))


def _reaction(
    body: kinds.ChatReaction, _by: str, _data: dict[str, Any], _group: Group, lookup: Lookup
) -> Facts:
    seq, audience = _target(lookup, body.event_id)
    return Facts(
        audience=audience, mark=Mark("reaction", seq, body.actor_id, body.emoji, holds=not body.removed)
    )


def _edit(_body: object, _by: str, data: dict[str, Any], _group: Group, lookup: Lookup) -> Facts:
    """An edit is as private as its message, can be searched for, and hangs on the message's first form."""
    found = first_form(before(data), lookup)
    if found is None:
        return NOBODY
    text = data.get("text")
    return Facts(
        audience=_among(found),
        text=text if isinstance(text, str) else "",
        mark=Mark("edit", found.seq, ""),
    )


def _delete(_body: object, _by: str, data: dict[str, Any], _group: Group, lookup: Lookup) -> Facts:
    found = first_form(str(data.get("event_id")), lookup)
    return Facts(audience=_among(found), mark=Mark("delete", found.seq, "")) if found is not None else NOBODY


def _withdrawal(_body: object, _by: str, data: dict[str, Any], _group: Group, lookup: Lookup) -> Facts:
    """A notice that was taken back asks for no acknowledgement any more, and nobody has given one."""
    found = lookup.event(str(data.get("notice_id")))
    if found is None:
        return NOBODY
    return Facts(audience=_among(found), mark=Mark("withdrawn", found.seq, str(data.get("actor_id"))))


def before(edit: dict[str, Any]) -> str:
    """Where a message's first form is looked for: where the edit says, else at the form that it replaced."""
    return str(edit.get("original") or edit.get("supersedes"))


def first_form(event_id: str, lookup: EventById) -> StoredEvent | None:
    """The message that an edit, or a chain of them, began with; an edit is later than what it changes."""
    found = lookup.event(event_id)
    while found is not None and found.kind == "x.c2a.edit":
        earlier = lookup.event(before(found.data))
        found = earlier if earlier is not None and earlier.seq < found.seq else None
    return found


def _context(body: kinds.ContextSync, _by: str, _data: dict[str, Any], _group: Group, _: Lookup) -> Facts:
    return Facts(
        changes=tuple(
            ContextChange(op.store, op.key, msgspec.json.encode(op.value) if op.op == "set" else None)
            for op in body.ops
        )
    )


def _of_the_house(kind: str, data: dict[str, Any], lookup: Lookup) -> Facts:
    """Whom a record of the house concerns, as the table of kinds says; when it says nothing, nobody.

    A record that names an event which is not here is about something unknown: it is never for everyone.
    """
    lost = False
    for concern in CONCERNS.get(kind, ()):
        if concern.about is About.EVERYONE:
            if not lost:
                return NOTHING
            continue
        given = data.get(concern.member)
        if given is None:
            continue
        if concern.about is About.PEOPLE:
            return Facts(audience=Audience(named=tuple(map(str, given)), private=True))
        named = str(given).partition(":")[2] if concern.about is About.TARGET else str(given)
        found = lookup.event(named)
        if found is not None:
            return Facts(audience=_among(found))
        lost = True
    return NOBODY


def _removal(body: kinds.ActorRemove, _by: str, _data: dict[str, Any], _group: Group, _: Lookup) -> Facts:
    return Facts(left=body.actor_id)


_MAKERS: Final = cast(
    "dict[str, Callable[[object, str, dict[str, Any], Group, Lookup], Facts]]",
    {
        "chat.message": _message,
        "chat.ack": _ack,
        "chat.read": _read,
        "chat.reaction": _reaction,
        "system.notify": _notice,
        "system.notify_ack": _notice_ack,
        "context.sync": _context,
        "actor.remove": _removal,
        "x.c2a.edit": _edit,
        "x.c2a.delete": _delete,
        "x.c2a.withdrawal": _withdrawal,
    },
)


def fold(group: Group, kind: str, seq: int, ts: str, data: dict[str, Any]) -> bool:
    """Move the group's own state past an event; True when more than its end changed."""
    group.last_seq = seq
    folder = _FOLDERS.get(kind)
    if folder is None:
        return False
    if kind == "group.create":
        group.created = ts
    folder(group, seq, msgspec.convert(data, KINDS[kind].model))
    return True


def _created(group: Group, _seq: int, body: kinds.GroupCreate) -> None:
    group.title = body.title
    group.scopes = {scope.scope_key: scope.url for scope in body.scopes if scope.scope_key}


def _updated(group: Group, _seq: int, body: kinds.GroupUpdate) -> None:
    group.title = body.title or group.title


def _scoped(group: Group, _seq: int, body: kinds.GroupAttachScope) -> None:
    if body.scope_key:
        group.scopes[body.scope_key] = body.url


def _joined(group: Group, seq: int, body: kinds.ActorAdd) -> None:
    group.actors[body.actor_id] = Actor(body.actor_id, body.role, body.title, tuple(body.roles), seq)


def _changed(group: Group, _seq: int, body: kinds.ActorUpdate) -> None:
    actor = group.actors[body.actor_id]
    if body.role is not msgspec.UNSET:
        actor = replace(actor, role=body.role)
    if body.title is not msgspec.UNSET:
        actor = replace(actor, title=body.title)
    if body.roles is not msgspec.UNSET:
        actor = replace(actor, roles=tuple(body.roles))
    group.actors[body.actor_id] = actor


def _left(group: Group, seq: int, body: kinds.ActorRemove) -> None:
    group.actors[body.actor_id] = replace(group.actors[body.actor_id], removed=seq)


def _person(group: Group, seq: int, body: kinds.PersonAdd) -> None:
    group.people[body.principal] = Person(body.principal, body.title, seq)


_FOLDERS: Final = cast(
    "dict[str, Callable[[Group, int, object], None]]",
    {
        "group.create": _created,
        "group.update": _updated,
        "group.attach_scope": _scoped,
        "actor.add": _joined,
        "actor.update": _changed,
        "actor.remove": _left,
        "x.tacit.person.add": _person,
    },
)
