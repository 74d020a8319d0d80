"""When time itself moves a thread or reminds its owner: moments, computed from the thread alone.

A2ACP-107, A2ACP-108, A2ACP-154, A2ACP-155, A2ACP-157. After a restart they are the same moments; one that
ran out meanwhile is due at once (A2ACP-216). Nobody is woken here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tacit.a2acp.threads.states import NEGOTIABLE, State
from tacit.agent.kernel.state import HUB
from tacit.base.moment import SECOND, Moment

if TYPE_CHECKING:
    from tacit.agent.kernel.state import Question, Thread

HOUR: Final = 3600 * SECOND
STALE: Final = 48 * HOUR
STALE_URGENT: Final = 2 * HOUR
EXPIRES: Final = 7 * 24 * HOUR
CONFIRMATION: Final = 24 * HOUR


def patience(thread: Thread) -> int:
    """How long a turn may stay unanswered (A2ACP-107)."""
    return STALE_URGENT if thread.urgent else STALE


def stale_at(thread: Thread) -> Moment | None:
    """When a thread that waits for a packet stands still; None while nothing is owed by anybody."""
    if thread.state not in NEGOTIABLE or thread.paused or thread.unanswered_since is None:
        return None
    return Moment(thread.unanswered_since + patience(thread))


def next_due(thread: Thread) -> Moment | None:
    """The next moment at which time brings something in a thread."""
    proposal = thread.proposal
    if thread.state is State.PROPOSED and proposal is not None:
        return min(proposal.expires, proposal.remind_at or proposal.expires)
    if thread.state is State.STALLED:
        return Moment(thread.since + EXPIRES)
    if lacks_owner(thread) and proposal is not None:
        return proposal.expires
    return stale_at(thread)


def lacks_owner(thread: Thread) -> bool:
    """Whether a group goes ahead without the word of its coordinator's owner, which may still come."""
    proposal = thread.proposal
    if thread.role != HUB or thread.state not in {State.CONFIRMED, State.EXECUTING} or proposal is None:
        return False
    return bool(proposal.question_id) and thread.peer not in proposal.confirmed


def reminder_of(thread: Thread, question_kind: str, now: Moment) -> Moment | None:
    """When the owner is reminded of a question: once, at half of the thread's patience (A2ACP-108).

    A checkpoint has its own reminder, at three quarters of its window.
    """
    if question_kind == "checkpoint":
        return thread.proposal.remind_at if thread.proposal is not None else None
    return Moment(now + patience(thread) // 2)


def question_due(question: Question) -> Moment | None:
    """When a question's reminder is due."""
    return question.remind_at if question.is_open else None
