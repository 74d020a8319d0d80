"""The words that packets choose from, and how a word is read that is none of them.

A2ACP-036, A2ACP-041, A2ACP-095, A2ACP-113, A2ACP-149, A2ACP-155, A2ACP-163.

What we send is one of these words exactly. What we receive may be anything: each reader has one answer for
what it does not know, the one that promises, tells and closes least, so that no word drops a packet. Knows
nothing of where in a packet a word stands.
"""

from __future__ import annotations

from typing import Final

URGENCIES: Final = ("low", "normal", "urgent")
FLEXIBLE: Final = "flexible"
SOMEWHAT_FLEXIBLE: Final = "somewhat_flexible"
NOT_FLEXIBLE: Final = "not_flexible"
FLEXIBILITIES: Final = (FLEXIBLE, SOMEWHAT_FLEXIBLE, NOT_FLEXIBLE)
PRIORITIES: Final = ("required", "helpful", "nice_to_have")
"""Most important first."""

PREAUTHORISED: Final = "user_preauthorised"
APPROVED: Final = "user_approved"
IMPLICIT: Final = "implicit"
MIXED: Final = "mixed"
NO_CONSENT: Final = "none"
CONSENT_LEVELS: Final = (PREAUTHORISED, APPROVED, IMPLICIT, MIXED, NO_CONSENT)
"""Strongest first."""

SCOPE_CHANGES: Final = ("expanded", "narrowed", "changed")
CONFIRMED: Final = "confirmed"
DECLINED: Final = "declined"
COUNTER: Final = "counter"
RESOLUTION_STATUSES: Final = (CONFIRMED, DECLINED, COUNTER)
USER_DECLINED: Final = "user_declined"
REASON_CLASSES: Final = ("scheduling_conflict", "location_conflict", "budget_conflict", USER_DECLINED)
REMIND_THEN_EXPIRE: Final = "remind_then_expire"
EXPIRE: Final = "expire"
ON_TIMEOUTS: Final = (REMIND_THEN_EXPIRE, EXPIRE)
UNAVAILABLE_STATUSES: Final = (DECLINED, "not_available")
CONFLICT_TYPES: Final = ("no_overlap", "constraint_clash")
SURFACE_TO_USERS: Final = "surface_to_users"
ACTION_STATUSES: Final = ("done", "failed", "unknown", "undone", "not_started")
ERROR_CODES: Final = ("generation_failed", "model_unavailable", "no_common_version")
THREAD_STATES: Final = (
    "INITIATED", "NEGOTIATING", "PROPOSED", "CONFIRMED", "EXECUTING", "COMPLETED", "DECLINED", "FAILED",
    "ROLLBACK", "STALLED", "EXPIRED",
)  # fmt: skip
WRITE_LEVELS: Final = ("read-all", "write-own-fields", "full-write")
"""What a member of a space may write (A2ACP-202)."""
MEMBER_STATES: Final = ("invited", "joined", "left")
LAST_WRITE_WINS: Final = "last_write_wins_per_field"


def _one_of(words: tuple[str, ...], value: object, otherwise: str) -> str:
    return value if isinstance(value, str) and value in words else otherwise


def urgency(value: object) -> str:
    """`low`, `normal` or `urgent`; normal unless said otherwise, so that no typing error hurries anybody."""
    return _one_of(URGENCIES, value, "normal")


def flexibility(value: object) -> str:
    """How far a dimension may be varied; `somewhat_flexible` unless said otherwise."""
    return _one_of(FLEXIBILITIES, value, SOMEWHAT_FLEXIBLE)


def priority(value: object) -> str:
    """How much a need matters; what nobody knows bothers nobody: `nice_to_have`."""
    return _one_of(PRIORITIES, value, "nice_to_have")


def scope_change(value: object) -> str:
    """What became of a thread's scope; an unknown word is `changed`, which its owner is asked about."""
    return _one_of(SCOPE_CHANGES, value, "changed")


def resolution_status(value: object) -> str:
    """The answer to a proposal; an unknown one is a `counter`: nobody is made to say yes, nobody no."""
    return _one_of(RESOLUTION_STATUSES, value, COUNTER)


def reason_class(value: object) -> str:
    """Why a proposal was declined; unless it invites another it is `user_declined`, and we do not push."""
    return _one_of(REASON_CLASSES, value, USER_DECLINED)


def on_timeout(value: object) -> str:
    """What happens when nobody has confirmed in time: a reminder first if nothing is said, else `expire`."""
    return REMIND_THEN_EXPIRE if value is None else _one_of(ON_TIMEOUTS, value, EXPIRE)


def unavailable_status(value: object) -> str:
    """Why a field was not given; whatever it is, it counts as an answer."""
    return _one_of(UNAVAILABLE_STATUSES, value, DECLINED)


def action_status(value: object) -> str:
    """What became of an action; what cannot be read is not known to have happened."""
    return _one_of(ACTION_STATUSES, value, "unknown")


def thread_state(value: object) -> str:
    """A state of the thread's life; the empty text for one that moves nothing as nobody knows it."""
    return _one_of(THREAD_STATES, value, "")
