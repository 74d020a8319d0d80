"""Leaving: an agent that is asked to go says goodbye once and is quiet until it is named again.

Rows: C2A-190 to C2A-194. Leaving a channel covers its threads; a dm cannot be left; a name in a thread of a
left channel brings the agent back for that thread alone. Folded from `x.c2a.membership` and from what the
agent posts afterwards.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tacit.attention import records
from tacit.attention.codes import Refusal, refusal
from tacit.attention.values import ConversationKind

if TYPE_CHECKING:
    from tacit.attention.conversation import Conversation
    from tacit.attention.decide import Decisions

Place = tuple[str, str | None]


def place_of(conversation: Conversation) -> Place:
    """A conversation and, inside it, a thread."""
    return conversation.id, conversation.thread


class Absences:
    """Who has left what."""

    __slots__ = ("_back", "_goodbyes", "_left")

    def __init__(self) -> None:
        self._left: dict[str, set[Place]] = {}
        self._back: dict[str, set[Place]] = {}
        self._goodbyes: dict[tuple[str, Place], str | None] = {}

    def apply(self, record: records.Membership) -> None:
        """Fold a record."""
        place = (record.conversation, record.thread)
        left = self._left.setdefault(record.session, set())
        back = self._back.setdefault(record.session, set())
        if record.action == "leave":
            left.add(place)
            back.discard(place)
            if record.thread is None:
                back.difference_update({one for one in back if one[0] == record.conversation})
            self._goodbyes[record.session, place] = record.event_id
        else:
            left.discard(place)
            if record.thread is not None and (record.conversation, None) in left:
                back.add(place)
            self._goodbyes.pop((record.session, place), None)

    def posted(self, session: str, conversation: Conversation) -> None:
        """Fold a post of the session: its one goodbye is said."""
        for place in (place_of(conversation), (conversation.id, None)):
            self._goodbyes.pop((session, place), None)

    def has_left(self, session: str, conversation: Conversation) -> bool:
        """Is the session gone from there?"""
        if conversation.kind is ConversationKind.DM or session not in self._left:
            return False
        left, place = self._left[session], place_of(conversation)
        return place in left or ((conversation.id, None) in left and place not in self._back[session])

    def leavers(self, conversation: Conversation) -> frozenset[str]:
        """Everyone who is gone from there."""
        if not self._left:
            return frozenset()
        return frozenset(one for one in self._left if self.has_left(one, conversation))

    def goodbye_for(self, session: str, conversation: Conversation) -> str | None:
        """The event that asked the session to leave, while its goodbye is still unsaid."""
        for place in (place_of(conversation), (conversation.id, None)):
            if (found := self._goodbyes.get((session, place))) is not None:
                return found
        return None


def leave(
    session: str, conversation: Conversation, event_id: str | None = None
) -> records.Membership | Refusal:
    """The record of leaving; `event_id` is the message that asked for it."""
    if conversation.kind is ConversationKind.DM:
        return refusal("invalid_request", "a dm cannot be left", "C2A-194")
    return records.Membership(
        session=session,
        conversation=conversation.id,
        thread=conversation.thread,
        action="leave",
        event_id=event_id,
    )


def returns(decisions: Decisions, absences: Absences) -> list[records.Membership]:
    """Who comes back because this event names them (C2A-193)."""
    heard = decisions.heard
    if heard is None or heard.kind not in {"chat.message", "x.c2a.edit"}:
        return []
    place = heard.conversation
    return [
        records.Membership(session=agent, conversation=place.id, thread=place.thread, action="return")
        for agent in sorted(heard.target.agents)
        if absences.has_left(agent, place)
    ]
