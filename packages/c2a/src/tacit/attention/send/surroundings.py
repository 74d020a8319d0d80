"""A send and its surroundings, as values: all that the rules on a send look at.

Rows: C2A-142, C2A-147, C2A-148, C2A-149, C2A-150, C2A-151. The host gathers them from folds and
look-ups; nothing here decides.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tacit.c2a.vocabulary import Directedness, Policy

if TYPE_CHECKING:
    from tacit.attention.decide.decision import Decision
    from tacit.attention.state.claims import HeldClaim
    from tacit.base.moment import Moment
    from tacit.c2a.errors import Refusal
    from tacit.c2a.tools import Send
    from tacit.c2a.vocabulary import ConversationKind, Disposition


@dataclass(frozen=True, slots=True)
class EarlierSend:
    """An earlier send of the session."""

    event_id: str
    body: str
    target: str
    turn: str = ""
    attempt: int = 1


@dataclass(frozen=True, slots=True)
class AnsweredEvent:
    """The event that a send answers, as it stands for the session now."""

    event_id: str
    author: str
    by_agent: bool
    text: str
    decision: Decision
    disposition: Disposition | None = None
    superseded: bool = False
    replaced_by: str | None = None
    expired_at: Moment | None = None
    read_at: Moment | None = None
    receipts: int = 0
    answers: tuple[EarlierSend, ...] = ()


@dataclass(frozen=True, slots=True)
class Surroundings:
    """Everything else that the rules of sending need to know."""

    kind: ConversationKind
    """Of the place that the send goes to."""
    known_target: bool = True
    found: bool = True
    """Does `in_reply_to` exist, where the session may read it?"""
    ephemeral: bool = False
    """Does the surface support ephemeral messages?"""
    answered: AnsweredEvent | None = None
    holder: HeldClaim | None = None
    owns: bool = False
    thread_owned: bool = False
    agents_in_thread: int = 0
    left: bool = False
    goodbye_for: str | None = None
    stopped: frozenset[str] = frozenset()
    recent: tuple[str, ...] = ()
    sends: tuple[Moment, ...] = ()
    sends_here: tuple[Moment, ...] = ()
    sent_with_key: EarlierSend | None = None
    reveals_private: bool = False
    approval: Refusal | None = None

    def holds(self, session: str) -> bool:
        """Does the session own what it answers?"""
        return self.holder is not None and self.holder.session == session

    def taken_by_other(self, session: str, decision: Decision) -> HeldClaim | None:
        """Somebody else's claim; one who is named keeps the right to answer (C2A-053, C2A-153)."""
        if self.holder is None or self.holder.session == session:
            return None
        named = decision.directedness is Directedness.TO_ME and decision.policy is not Policy.MUST_NOT_RESPOND
        return None if named else self.holder

    def says_goodbye(self, send: Send) -> bool:
        """Is this the one goodbye of a session that was asked to leave?"""
        return self.goodbye_for is not None and send.in_reply_to in {None, self.goodbye_for}
