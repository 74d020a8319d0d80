"""The rule of each standard kind: may this happen now, and what does the hub add to it?

A rule returns None (admit as sent), a position (it happened already), or the completed data; it refuses by
raising. Rows: chat 046-074, notices 075-083, groups and actors 008-012, context 118.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, cast

import msgspec

from tacit.ledger.codes import denied, invalid, missing
from tacit.ledger.ports import Lookup
from tacit.ledger.principal import SYSTEM, USER, PrincipalKind, kind_of, require_actor_id
from tacit.ledger.references import check_references, completed, require_blob
from tacit.ledger.state import Audience, Group, audience_of, scope_key

if TYPE_CHECKING:
    from collections.abc import Callable

    from tacit.ledger import kinds
    from tacit.ledger.envelope import StoredEvent

Outcome = dict[str, Any] | int | None


class Case(msgspec.Struct, frozen=True):
    """One submission before its rule."""

    by: str
    body: msgspec.Struct
    data: dict[str, Any]
    group: Group
    lookup: Lookup
    notice_kinds: frozenset[str] | None = None

    def event(self, event_id: str, row: str) -> StoredEvent:
        """An event that exists and that the writer may see; what it may not see does not exist for it."""
        found = self.lookup.event(event_id)
        if found is None or not found.visible_to(self.by):
            raise missing("event", "no such event in this group", row)
        return found

    def require_self(self, actor_id: str, row: str) -> None:
        """Refuse to speak for somebody else."""
        if not self.group.is_addressable(actor_id):
            raise missing("actor", "actor_id is not in this group", row)
        if self.by != actor_id:
            raise denied("nobody can do this on behalf of another", row)


def was_addressed(found: StoredEvent, principal: str, group: Group) -> bool:
    """Was this event addressed to the principal when it was appended? The sender is no recipient."""
    if found.by == principal:
        return False
    if principal in found.named:
        return True
    actor = group.actors.get(principal)
    return found.everyone and actor is not None and actor.joined < found.seq


def _message(case: Case) -> Outcome:
    body = cast("kinds.ChatMessage", case.body)
    if not body.text.strip() and not body.attachments:
        raise invalid("text may be empty only when attachments carry the message", "CCCS-047")
    if (body.src_group_id is None) != (body.src_event_id is None):
        raise invalid("src_group_id and src_event_id stand together or not at all", "CCCS-053")
    if "author" in case.data:
        _require_own_voice(case)
    replied = case.event(body.reply_to, "CCCS-051") if body.reply_to is not None else _parent(case, body)
    audience_of(body, case.group, case.by, replied)
    relayed = body.src_group_id is not None
    if body.src_group_id is not None and body.src_event_id is not None:
        case.lookup.require_source(body.src_group_id, body.src_event_id, case.by)
    if body.refs:
        check_references(body.refs, lookup=case.lookup, reader=case.by, relayed=relayed)
    linked = {"reply_to": replied.event_id} if replied is not None and body.reply_to is None else {}
    if not body.attachments:
        return {**case.data, **linked} if linked else None
    blobs = [
        require_blob(item.path, item.sha256, item.bytes, lookup=case.lookup, reader=case.by, row="CCCS-086")
        for item in body.attachments
    ]
    return {**case.data, **linked, "attachments": completed(case.data["attachments"], blobs)}


_OTHERS: Final = ("usr:", "svc:")


def _require_own_voice(case: Case) -> None:
    """A service speaks for itself and for people outside: never as somebody of the group (CCCS-042)."""
    given: object = case.data.get("author")
    if kind_of(case.by) is not PrincipalKind.SERVICE or not isinstance(given, dict):
        return
    said = cast("dict[str, object]", given)
    group = case.group
    taken = {USER, SYSTEM, *group.actors, *group.people}
    taken |= {one.title for one in (*group.actors.values(), *group.people.values()) if one.title}
    names = [said.get(name) for name in ("id", "displayName", "display_name")]
    own = {one.casefold() for one in taken}
    for name in names:
        if isinstance(name, str) and name != case.by and (name.casefold() in own or name.startswith(_OTHERS)):
            raise denied("a service does not speak as somebody of the group", "CCCS-042")
    if said.get("kind", "human") not in {"human", "tool"}:
        raise denied("a service stands for people outside, not for agents or the hub", "CCCS-042")


def _parent(case: Case, body: kinds.ChatMessage) -> StoredEvent | None:
    """A CLowl message answers the one that its `pid` names, when that is here and may be seen."""
    if body.clowl is None or body.clowl.pid is None:
        return None
    found = case.lookup.speech(body.clowl.pid)
    return found if found is not None and found.visible_to(case.by) else None


def _ack(case: Case) -> Outcome:
    body = cast("kinds.ChatAck", case.body)
    case.require_self(body.actor_id, "CCCS-060")
    found = case.event(body.event_id, "CCCS-059")
    if found.kind != "chat.message" or found.data.get("priority") != "attention":
        raise invalid(
            "only an attention message can be acknowledged", "CCCS-062", reason="not_an_attention_message"
        )
    if not was_addressed(found, body.actor_id, case.group):
        raise invalid("the message was not addressed to you", "CCCS-064", reason="not_addressed")
    mark = case.lookup.mark("ack", found.seq, body.actor_id)
    return mark[0] if mark else None


def _read(case: Case) -> Outcome:
    body = cast("kinds.ChatRead", case.body)
    if not case.group.is_addressable(body.actor_id):
        raise missing("actor", "actor_id is not in this group", "CCCS-070")
    if case.by not in {body.actor_id, USER}:
        raise denied("only the reader or the owner moves a read cursor", "CCCS-070")
    found = case.event(body.event_id, "CCCS-068")
    if not readable_mark(found, body.actor_id, case.group):
        raise invalid(
            "a read cursor stands at a message or notice addressed to its reader",
            "CCCS-069",
            reason="not_addressed",
        )
    position = case.lookup.read_position(body.actor_id)
    return position[1] if position is not None and position[0] >= found.seq else None


def readable_mark(found: StoredEvent, reader: str, group: Group) -> bool:
    """May the reader's cursor stand here? Humans see the whole room, so for them a broadcast counts too."""
    if found.kind not in {"chat.message", "system.notify"}:
        return False
    kind = kind_of(reader)
    human = kind is not None and kind.is_human
    return was_addressed(found, reader, group) or (human and found.everyone and found.by != reader)


def _reaction(case: Case) -> Outcome:
    body = cast("kinds.ChatReaction", case.body)
    found = case.event(body.event_id, "CCCS-073")
    if body.actor_id != case.by:
        raise denied("a reaction is always one's own", "CCCS-074")
    if found.kind != "chat.message":
        raise invalid("only a message can be reacted to", "CCCS-074")
    mark = case.lookup.mark("reaction", found.seq, body.actor_id, body.emoji)
    if mark is None and body.removed:
        raise invalid("there is no such reaction to take back", "CCCS-074")
    if mark is not None and mark[1] is not body.removed:
        return mark[0]
    return None


def _notify(case: Case) -> Outcome:
    body = cast("kinds.SystemNotify", case.body)
    if case.notice_kinds is not None and body.kind not in case.notice_kinds:
        raise invalid("this hub does not allow this kind of notice", "CCCS-077")
    if body.target_actor_id is not None and not case.group.is_addressable(body.target_actor_id):
        raise missing("actor", "target_actor_id is not in this group", "CCCS-079")
    if body.related_event_id is not None and case.by != SYSTEM:
        case.event(body.related_event_id, "CCCS-080")
    elif body.related_event_id is not None and case.lookup.event(body.related_event_id) is None:
        raise missing("event", "no such event in this group", "CCCS-080")
    return None


def notice_audience(body: kinds.SystemNotify, sender: str) -> Audience:
    """One recipient, or everyone; the sender is never its own recipient."""
    if body.target_actor_id is None:
        return Audience(everyone=True)
    return Audience(named=() if body.target_actor_id == sender else (body.target_actor_id,))


def _notify_ack(case: Case) -> Outcome:
    body = cast("kinds.SystemNotifyAck", case.body)
    case.require_self(body.actor_id, "CCCS-082")
    found = case.event(body.notify_event_id, "CCCS-081")
    if found.kind != "system.notify":
        raise invalid("only a notice can be acknowledged this way", "CCCS-083", reason="not_a_notice")
    if not readable_mark(found, body.actor_id, case.group):
        raise invalid("the notice was not addressed to you", "CCCS-083", reason="not_addressed")
    mark = case.lookup.mark("notice", found.seq, body.actor_id)
    return mark[0] if mark else None


def _group_create(case: Case) -> Outcome:
    if case.group.last_seq:
        raise invalid("the group exists already; group.create is its first event", "CCCS-117")
    body = cast("kinds.GroupCreate", case.body)
    if not body.scopes:
        return None
    keys = [
        {**scope, "scope_key": scope_key(case.group.group_id, cast("str", scope["url"]))}
        for scope in cast("list[dict[str, Any]]", case.data["scopes"])
    ]
    return {**case.data, "scopes": keys}


def _as_sent(_case: Case) -> Outcome:
    return None


def _attach_scope(case: Case) -> Outcome:
    body = cast("kinds.GroupAttachScope", case.body)
    return {**case.data, "scope_key": scope_key(case.group.group_id, body.url)}


def _actor_add(case: Case) -> Outcome:
    body = cast("kinds.ActorAdd", case.body)
    require_actor_id(body.actor_id)
    known = case.group.actors.get(body.actor_id)
    if known is not None:
        why = (
            "is in the group already" if known.removed is None else "was used before and is never given again"
        )
        raise invalid(f"this actor id {why}", "CCCS-011", reason="actor_exists")
    return None


def _actor_known(case: Case) -> Outcome:
    actor_id = cast("kinds.ActorRemove", case.body).actor_id
    if case.group.actor(actor_id) is None:
        raise missing("actor", "no such actor in this group", "CCCS-011")
    return None


def _context_sync(case: Case) -> Outcome:
    for op in cast("kinds.ContextSync", case.body).ops:
        if op.store == "tasks" and op.op == "set" and not isinstance(op.value, dict):
            raise invalid("a task is an object", "CCCS-118")
    return None


def _person_add(case: Case) -> Outcome:
    body = cast("kinds.PersonAdd", case.body)
    if kind_of(body.principal) is not PrincipalKind.PERSON:
        raise invalid("a person is named usr:<id>", "CCCS-039")
    if body.principal in case.group.people:
        raise invalid("this person is in the group already", "CCCS-039", reason="person_exists")
    return None


RULES: Final[dict[str, Callable[[Case], Outcome]]] = {
    "chat.message": _message,
    "chat.ack": _ack,
    "chat.read": _read,
    "chat.reaction": _reaction,
    "system.notify": _notify,
    "system.notify_ack": _notify_ack,
    "group.create": _group_create,
    "group.update": _as_sent,
    "group.attach_scope": _attach_scope,
    "actor.add": _actor_add,
    "actor.update": _actor_known,
    "actor.remove": _actor_known,
    "context.sync": _context_sync,
    "x.tacit.person.add": _person_add,
}
