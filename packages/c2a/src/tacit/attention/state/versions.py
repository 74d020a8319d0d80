"""Edits and deletes: messages change after they arrive.

Rows: C2A-185, C2A-186, C2A-187, C2A-188, C2A-189, C2A-214. The ledger keeps the original; an edit is a new
event that supersedes it, a delete a record. Before an answer the old event is cancelled; after it an edit may
be looked at again. Follows chains of edits. Knows nothing of turns.

What is remembered of a session's own messages: when, where, and what each one answered.

Rows: C2A-164, C2A-168, C2A-205, C2A-207, C2A-217. The rules on outbound chat compare a new send with these.
Of an ephemeral message only the hash of its text is kept.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, cast

import msgspec

from tacit.attention.state import records
from tacit.base.moment import Moment  # noqa: TC001 - the state store reads these types
from tacit.c2a.vocabulary import Disposition

if TYPE_CHECKING:
    from collections.abc import Iterable, MutableMapping

    from tacit.attention.state.obligations import Obligation
    from tacit.ledger.envelope import Event


REASSIGNED: Final = "A person gave it to another agent"
_REASONS: Final = {
    "edit": "Message was edited before response",
    "delete": "Message was deleted before response",
    "stop": "A person called it off",
    "reassign": REASSIGNED,
    "cancel": "The request was withdrawn before response",
}


@dataclass(frozen=True, slots=True)
class Cancellation:
    """A pending delivery to call back: `notifications/cancelled` and the record beside it.

    Rows: C2A-179, C2A-187.
    """

    session: str
    request_id: str
    reason: str
    record: records.DispositionRecord


_OF_THE_RECORD: Final = frozenset({"by", "client_id", "original"})


def edited(original: Event, edit: Event) -> Event:
    """The message as it stands after an edit: the original's address, the new text, the edit's id and time.

    `original` is the first form: edits between the two count no more. The author remains the original's; what
    the edit says explicitly replaces what the original said.
    """
    changed = {name: value for name, value in edit.data.items() if name not in _OF_THE_RECORD}
    data: dict[str, Any] = {**original.data, **changed}
    return msgspec.structs.replace(
        edit, kind="x.c2a.edit", by=original.by, scope_key=original.scope_key, data=data
    )


def cancellations(obligations: Iterable[Obligation], what: str) -> list[Cancellation]:
    """What an edit or a delete (`what`) calls back: every copy that nobody has answered."""
    return [
        Cancellation(
            obligation.session,
            obligation.request_id,
            _REASONS[what],
            records.DispositionRecord(
                event_id=obligation.event_id,
                session=obligation.session,
                disposition=Disposition.SUPERSEDED.value,
                closes=True,
                reason=_REASONS[what],
            ),
        )
        for obligation in obligations
        if not obligation.closed
    ]


def answered_by(obligations: Iterable[Obligation]) -> frozenset[str]:
    """The sessions that had answered: for them an edit is a new look, not a new question (C2A-186)."""
    return frozenset(
        obligation.session for obligation in obligations if obligation.disposition is Disposition.RESPONDED
    )


class MessageForm(msgspec.Struct, frozen=True, array_like=True, omit_defaults=True):
    """One form of a message that was edited or taken back."""

    first: str = ""
    """Its first form; empty when this is it."""
    following: str = ""
    """What replaced it; of a first form straight the newest one. Empty when this is the newest."""
    deleted: bool = False


_ONLY: Final = MessageForm()
"""What nothing is kept of was neither edited nor taken back."""


class Versions:
    """Which event replaced which, folded from edits and deletes.

    The first form leads straight to the newest one and each edit straight to the first form, however often a
    message was edited.
    """

    __slots__ = ("_forms",)

    def __init__(self, forms: MutableMapping[str, MessageForm] | None = None) -> None:
        self._forms: MutableMapping[str, MessageForm] = {} if forms is None else forms

    def edited(self, event_id: str, by: str) -> None:
        """Fold an edit; one that is known changes nothing (a first harness makes the house look back)."""
        first, edit = self.first(event_id), self._forms.get(by, _ONLY)
        if by == first or edit.first:
            return
        for one in dict.fromkeys((first, self.latest(first))):
            known = self._forms.get(one, _ONLY)
            self._forms[one] = msgspec.structs.replace(known, following=by)
        self._forms[by] = msgspec.structs.replace(edit, first=first)

    def deleted(self, event_id: str) -> None:
        """Fold a delete; it takes back the message in every form."""
        for one in dict.fromkeys((event_id, self.latest(event_id))):
            known = self._forms.get(one, _ONLY)
            self._forms[one] = msgspec.structs.replace(known, deleted=True)

    def first(self, event_id: str) -> str:
        """The id of the first form, as far as the fold knows it."""
        return self._forms.get(event_id, _ONLY).first or event_id

    def latest(self, event_id: str) -> str:
        """The id of the newest form."""
        form = self._forms.get(event_id, _ONLY)
        if form.first:
            event_id, form = form.first, self._forms.get(form.first, _ONLY)
        return form.following or event_id

    def replaced_by(self, event_id: str) -> str | None:
        """The newest form, if it is another one."""
        latest = self.latest(event_id)
        return latest if latest != event_id else None

    def is_deleted(self, event_id: str) -> bool:
        """Was the message taken back? Its text is then shown nowhere."""
        return self.shown(event_id) is None

    def shown(self, event_id: str) -> str | None:
        """The id of the newest form, in which the message is shown; None when it was taken back."""
        form = self._forms.get(event_id)
        if form is None:
            return event_id
        latest = self.latest(event_id)
        return None if form.deleted or self._forms.get(latest, _ONLY).deleted else latest

    def is_superseded(self, event_id: str) -> bool:
        """Can it no longer be answered?"""
        form = self._forms.get(event_id, _ONLY)
        return bool(form.following) or form.deleted


KEPT_SENDS: Final = 40


@dataclass(frozen=True, slots=True)
class Sending:
    """One message of a session: when, where, which."""

    at: Moment
    place: str
    event_id: str


@dataclass(frozen=True, slots=True)
class SentAnswer:
    """One message of a session that answers an event, and the turn that wrote it."""

    event_id: str
    turn: str = ""
    attempt: int = 1


@dataclass(frozen=True, slots=True)
class EphemeralSend:
    """An ephemeral message: which record stands for it, what its text hashes to, where it went."""

    event_id: str
    sha256: str
    where: str


def answered_in(event: Event) -> str | None:
    """The event that a message answers: the one that its sender names, else the one that it replies to.

    A send that asks others and names no event answers none: it asks in the place of the question.
    """
    given = event.data.get("c2a")
    named = cast("dict[str, object]", given).get("in_reply_to") if isinstance(given, dict) else None
    if isinstance(given, dict) and named is None and event.data.get("mentions"):
        return None
    replied = event.data.get("reply_to")
    found = named if isinstance(named, str) else replied
    return found if isinstance(found, str) else None
