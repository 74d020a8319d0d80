"""Questions for consent: what is asked of an owner, in one go, and what the answer makes of it.

A2ACP-095, A2ACP-128, A2ACP-129, A2ACP-132, A2ACP-138, A2ACP-139, A2ACP-140.

A question has all that one counterpart would get in one thread and is answered as a whole. What the
owner does not choose to share is declined, as with "share selected"; an answer that chooses nothing at all
is none. The fingerprint binds an answer to exactly what would be sent: to whom, in which thread, which
values. Every refusal looks the same to the other side. Knows nothing of tiers, time or how a question is
shown.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any, Final

import msgspec

from tacit.a2acp.consent.disguises import name
from tacit.base.errors import Bug, Refused
from tacit.base.strict_json import canonical

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from tacit.a2acp.packets.packet import Fields

REQUIRED: Final = "required"
HELPFUL: Final = "helpful"
NICE_TO_HAVE: Final = "nice_to_have"
_PRIORITIES: Final = (REQUIRED, HELPFUL, NICE_TO_HAVE)


class ConsentField(msgspec.Struct, frozen=True, kw_only=True):
    """One field that an owner is asked for."""

    field: str
    reason: str
    """The counterpart's, quoted; ours where the owner began."""
    priority: str = HELPFUL
    values: tuple[Any, ...] = ()
    """What is known: the choices besides "other" and "don't share"."""
    own: bool = False
    """Whether the reason is in words of ours; else it is the counterpart's, and shown as a quotation."""


class ConsentQuestion(msgspec.Struct, frozen=True, kw_only=True):
    """What one counterpart would get in one thread."""

    to: str
    thread_id: str
    fields: tuple[ConsentField, ...]


class OwnerAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """What an owner said."""

    approved: dict[str, Any]
    declined: tuple[str, ...]


def merged(questions: Sequence[ConsentQuestion]) -> ConsentQuestion:
    """The open questions of one thread as one, when it is urgent (A2ACP-138)."""
    first, *others = questions
    fields: dict[str, ConsentField] = {}
    for each in (first, *others):
        if (each.to, each.thread_id) != (first.to, first.thread_id):
            raise Bug("questions of two threads or two counterparts are never one")
        for one in each.fields:
            _add(fields, one)
    return ConsentQuestion(to=first.to, thread_id=first.thread_id, fields=_by_priority(fields.values()))


def _add(fields: dict[str, ConsentField], new: ConsentField) -> None:
    at = name(new.field)
    old = fields.get(at)
    if old is None:
        fields[at] = new
        return
    stronger = old if _rank(old.priority) <= _rank(new.priority) else new
    values = (*old.values, *(value for value in new.values if value not in old.values))
    fields[at] = msgspec.structs.replace(stronger, field=old.field, values=values)


def _by_priority(fields: Iterable[ConsentField]) -> tuple[ConsentField, ...]:
    return tuple(sorted(fields, key=lambda one: _rank(one.priority)))


def _rank(priority: str) -> int:
    return _PRIORITIES.index(priority)


def shown(asked: ConsentQuestion) -> Fields:
    """The question as every surface shows it: who asks, for what, and why (A2ACP-129)."""
    return {
        "counterpart": asked.to,
        "thread_id": asked.thread_id,
        "fields": [msgspec.to_builtins(one) for one in asked.fields],
        "choices": ["share_selected", "decline_all"],
    }


def fingerprint(to: str, thread_id: str, fields_with_values: Mapping[str, object]) -> str:
    """What names exactly what would be sent; any other value, recipient or thread has another."""
    said = {"to": to, "thread_id": thread_id, "fields": dict(fields_with_values)}
    return hashlib.sha256(canonical(said)).hexdigest()


def apply_answer(
    asked: ConsentQuestion,
    share: Mapping[str, object | None],
    decline: frozenset[str] = frozenset(),
    *,
    decline_all: bool = False,
) -> OwnerAnswer:
    """What an answer approves and declines (A2ACP-132).

    `share` gives a value for a field, or None for the one that is known. What is not named is declined.
    """
    by_name = {name(one.field): one for one in asked.fields}
    sharing = {name(key): value for key, value in share.items()}
    declining = {name(key) for key in decline}
    if len(sharing) != len(share) or not declining.isdisjoint(sharing) or (decline_all and share):
        raise Refused("contradiction", "the answer says two things about one field", row="A2ACP-132")
    if not (declining | sharing.keys()) <= by_name.keys():
        raise Refused("unknown_field", "the answer names a field that was not asked for", row="A2ACP-132")
    if not (sharing or declining or decline_all):
        raise Refused("no_answer", "nothing was chosen", row="A2ACP-132")
    approved = {by_name[key].field: _value(by_name[key], value) for key, value in sharing.items()}
    declined = tuple(one.field for one in asked.fields if name(one.field) not in sharing)
    return OwnerAnswer(approved=approved, declined=declined)


def _value(asked: ConsentField, given: object | None) -> object:
    if given is not None:
        return given
    if len(asked.values) != 1:
        raise Refused("which_value", "the field has no value, or several: say which", row="A2ACP-128")
    return asked.values[0]


def answer_entries(declined: Iterable[str], not_available: Iterable[str] = ()) -> list[Fields]:
    """`context_unavailable`: every refusal alike, whatever its cause, with no hint (A2ACP-095, A2ACP-139).

    In order of their names, so that the order tells nothing either.
    """
    statuses = {**dict.fromkeys(not_available, "not_available"), **dict.fromkeys(declined, "declined")}
    return [{"field": field, "status": statuses[field], "hint": None} for field in sorted(statuses)]
