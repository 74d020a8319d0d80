"""The words of C2A as values (C2A-032, C2A-033, C2A-039, C2A-045, C2A-054, C2A-055, C2A-079, C2A-116).

Three axes, kept apart: directedness, policy, mode; then priority, reason, intent, disposition, and the kinds
of authors and conversations, in the words that travel. Knows no rule.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Final

from tacit.base.enums import quick_members


@quick_members
class Directedness(StrEnum):
    """Is the event aimed at this agent?"""

    TO_ME = "to_me"
    TO_MY_ROLE = "to_my_role"
    TO_OTHER = "to_other"
    AMBIENT = "ambient"


@quick_members
class Policy(StrEnum):
    """Is the agent obliged, allowed or forbidden to answer?"""

    MUST_RESPOND = "must_respond"
    MAY_RESPOND = "may_respond"
    ACK_ONLY = "ack_only"
    MUST_NOT_RESPOND = "must_not_respond"


@quick_members
class Mode(StrEnum):
    """How much of the event reaches the model, and when."""

    IMMEDIATE = "immediate"
    BUFFERED = "buffered"
    NOTIFY = "notify"
    TOOL_MAILBOX = "tool_mailbox"
    DIGEST = "digest"
    SILENT = "silent"


@quick_members
class Priority(StrEnum):
    """How pressing an event is."""

    LOW = "low"
    NORMAL = "normal"
    HIGH = "high"
    URGENT = "urgent"


@quick_members
class Reason(StrEnum):
    """Why the event comes to this agent as it does (C2A-039)."""

    DIRECT_MESSAGE = "direct_message"
    DIRECT_MENTION = "direct_mention"
    ROLE_MENTION = "role_mention"
    ASSIGNMENT = "assignment"
    APPROVAL = "approval"
    BLOCKER = "blocker"
    THREAD_QUESTION = "thread_question"
    THREAD_PARTICIPATION = "thread_participation"
    TO_OTHER = "to_other"
    NO_TASK = "no_task"
    AMBIENT = "ambient"
    STATUS = "status"
    GRATITUDE = "gratitude"
    REACTION = "reaction"
    CANCELLATION = "cancellation"
    SAFETY = "safety"
    LEAVE_REQUEST = "leave_request"
    HOLD = "hold"
    EDITED_AFTER_RESPONSE = "edited_after_response"
    ESCALATION = "escalation"
    DIGEST = "digest"
    LOOP_STOPPED = "loop_stopped"
    ADDED = "added"


@quick_members
class Intent(StrEnum):
    """What a message wants, by declaration or by rule (C2A-054)."""

    LEAVE_REQUEST = "leave_request"
    SAFETY = "safety"
    CANCELLATION = "cancellation"
    HOLD = "hold"
    APPROVAL = "approval"
    BLOCKER = "blocker"
    ASSIGNMENT = "assignment"
    REQUEST = "request"
    QUESTION = "question"
    PLAIN = "plain"
    GREETING = "greeting"
    RESULT = "result"
    ERROR = "error"
    INFORM = "inform"
    STATUS = "status"
    RECEIPT = "receipt"
    WITHDRAWAL = "withdrawal"
    THANKS = "thanks"
    ACKNOWLEDGEMENT = "acknowledgement"
    FILLER = "filler"


SOCIAL: Final = frozenset({Intent.THANKS, Intent.ACKNOWLEDGEMENT, Intent.FILLER})
OBLIGES_NOBODY: Final = SOCIAL | {Intent.GREETING}
OPEN: Final = frozenset(
    {Intent.REQUEST, Intent.QUESTION, Intent.ASSIGNMENT, Intent.APPROVAL, Intent.BLOCKER, Intent.SAFETY}
)
OBLIGING: Final = OPEN | {Intent.LEAVE_REQUEST, Intent.CANCELLATION}


@quick_members
class ConversationKind(StrEnum):
    """Where something is said (C2A-032)."""

    DM = "dm"
    CHANNEL = "channel"
    THREAD = "thread"
    SYSTEM = "system"
    TOOL = "tool"


@quick_members
class AuthorKind(StrEnum):
    """Who says it (C2A-033)."""

    HUMAN = "human"
    AGENT = "agent"
    SYSTEM = "system"
    TOOL = "tool"


AIM: Final = (Directedness.AMBIENT, Directedness.TO_OTHER, Directedness.TO_MY_ROLE, Directedness.TO_ME)
"""From the weakest to the strongest aim (C2A-053)."""
STRENGTH: Final = (Policy.MUST_NOT_RESPOND, Policy.ACK_ONLY, Policy.MAY_RESPOND, Policy.MUST_RESPOND)
"""From the weakest to the strongest policy (C2A-087)."""
EXPOSURE: Final = (Mode.SILENT, Mode.DIGEST, Mode.TOOL_MAILBOX, Mode.NOTIFY, Mode.BUFFERED, Mode.IMMEDIATE)
"""From the least to the most that a model sees (C2A-026, C2A-079)."""


@quick_members
class Disposition(StrEnum):
    """The seven words for how an event ended or stands."""

    RESPONDED = "responded"
    ACKNOWLEDGED = "acknowledged"
    DEFERRED = "deferred"
    CLAIMED = "claimed"
    IGNORED = "ignored"
    SUPERSEDED = "superseded"
    FAILED = "failed"


OLDER: Final = "2026-06-02"
NEWER: Final = "2026-06-24"
