"""Leaving: an agent that is asked to go says goodbye once and is quiet until it is named again.

Rows: C2A-190, C2A-191, C2A-192, C2A-193, C2A-194. Leaving a channel covers its threads; a dm cannot be left;
a name in a thread of a left channel brings the agent back for that thread alone. Folded from
`x.c2a.membership` and from what the agent posts afterwards.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from tacit.attention.state import records
from tacit.c2a.errors import Refusal, refusal
from tacit.c2a.vocabulary import ConversationKind

if TYPE_CHECKING:
    from collections.abc import Iterable, MutableMapping

    from tacit.attention.decide.decide import Decisions
    from tacit.attention.read.conversation import Conversation

Place = tuple[str, str | None]


@dataclass(frozen=True, slots=True)
class Absence:
    """What one session has left, where it came back inside, and the goodbyes that it may still say."""

    left: tuple[Place, ...] = ()
    back: tuple[Place, ...] = ()
    goodbyes: tuple[tuple[Place, str], ...] = ()


NOWHERE: Final = Absence()


def _places(places: Iterable[Place]) -> tuple[Place, ...]:
    """Each once, in an order that does not depend on how they came: a channel before its threads."""
    return tuple(sorted(set(places), key=lambda place: (place[0], place[1] or "")))


class Absences:
    """Who has left what."""

    __slots__ = ("_absent",)

    def __init__(self, absent: MutableMapping[str, Absence] | None = None) -> None:
        self._absent: MutableMapping[str, Absence] = {} if absent is None else absent

    def apply(self, record: records.MembershipRecord) -> None:
        """Fold a record."""
        place = (record.conversation, record.thread)
        known = self._absent.get(record.session, NOWHERE)
        unsaid = tuple(one for one in known.goodbyes if one[0] != place)
        if record.action == "leave":
            covered = {
                one for one in known.back if one == place or (record.thread is None and one[0] == place[0])
            }
            if record.event_id is not None:
                unsaid = (*unsaid, (place, record.event_id))
            back = _places(one for one in known.back if one not in covered)
            self._absent[record.session] = Absence(_places([*known.left, place]), back, unsaid)
            return
        left = _places(one for one in known.left if one != place)
        inside = record.thread is not None and (record.conversation, None) in left
        back = _places([*known.back, place]) if inside else known.back
        self._absent[record.session] = Absence(left, back, unsaid)

    def posted(self, session: str, conversation: Conversation) -> None:
        """Fold a post of the session: its one goodbye is said."""
        known = self._absent.get(session)
        if known is None or not known.goodbyes:
            return
        here = {conversation.key, (conversation.id, None)}
        unsaid = tuple(one for one in known.goodbyes if one[0] not in here)
        if unsaid != known.goodbyes:
            self._absent[session] = replace(known, goodbyes=unsaid)

    def has_left(self, session: str, conversation: Conversation) -> bool:
        """Is the session gone from there?"""
        known = self._absent.get(session)
        if conversation.kind is ConversationKind.DM or known is None:
            return False
        place = conversation.key
        return place in known.left or ((conversation.id, None) in known.left and place not in known.back)

    def leavers(self, conversation: Conversation) -> frozenset[str]:
        """Everyone who is gone from there."""
        if not self._absent:
            return frozenset()
        return frozenset(one for one in self._absent if self.has_left(one, conversation))

    def goodbye_for(self, session: str, conversation: Conversation) -> str | None:
        """The event that asked the session to leave, while its goodbye is still unsaid."""
        unsaid = dict(self._absent.get(session, NOWHERE).goodbyes)
        return unsaid.get(conversation.key) or unsaid.get((conversation.id, None))


def leave(
    session: str, conversation: Conversation, event_id: str | None = None
) -> records.MembershipRecord | Refusal:
    """The record of leaving; `event_id` is the message that asked for it."""
    if conversation.kind is ConversationKind.DM:
        return refusal("invalid_request", "a dm cannot be left", "C2A-194")
    return records.MembershipRecord(
        session=session,
        conversation=conversation.id,
        thread=conversation.thread,
        action="leave",
        event_id=event_id,
    )


def returns(decisions: Decisions, absences: Absences) -> list[records.MembershipRecord]:
    """Who comes back because this event names them (C2A-193)."""
    parsed = decisions.parsed
    if parsed is None or parsed.kind not in {"chat.message", "x.c2a.edit"}:
        return []
    place = parsed.conversation
    return [
        records.MembershipRecord(session=agent, conversation=place.id, thread=place.thread, action="return")
        for agent in sorted(parsed.target.agents)
        if absences.has_left(agent, place)
    ]
