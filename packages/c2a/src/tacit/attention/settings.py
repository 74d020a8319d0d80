"""Settings of a group or a conversation, with the rows' values as defaults.

Rows: C2A-085, C2A-086, C2A-155, C2A-173, C2A-178, C2A-197, C2A-200, C2A-205, C2A-221, C2A-222, C2A-223. A
limit that refuses names itself: `LIMITS` says for each one how an owner changes it. Knows nothing of where
settings are kept.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any, Final, cast

from tacit.c2a.errors import Refusal, refusal

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


@dataclass(frozen=True, slots=True)
class Settings:
    """Every number that a rule of attention uses. Times are milliseconds."""

    compose_quiet_ms: int = 3_000
    compose_cap_ms: int = 30_000
    compose_restarts: int = 2
    compose_slow: bool = False
    compose_adapts: bool = True
    """Is a question that looks whole asked at once, and an unfinished one waited for longer?"""
    deadline_ms: int = 300_000
    redeliver_at: tuple[float, ...] = (0.5, 0.8)
    freshness_ms: int = 3_600_000
    claim_ttl_ms: int = 600_000
    claim_ttl_min_ms: int = 30_000
    claim_ttl_max_ms: int = 3_600_000
    claims_per_session: int = 20
    leases_per_session: int = 200
    assign_after_ms: int = 30_000
    room_silence_ms: int = 3_000
    """How long a question to the room is the other people's before it is offered to an agent; 0: it never is.

    Set by an owner, it is the time before every offer, also where its author is alone with agents."""
    defer_ms: int = 3_600_000
    clarify_ms: int = 3_600_000
    hold_ms: int = 600_000
    """How long work rests whose asker said to wait, if they say nothing more."""
    receipt_chars: int = 140
    farewell_chars: int = 200
    similarity: float = 0.9
    similar_window: int = 5
    exchange_limit: int = 6
    duplicate_limit: int = 3
    injected_per_minute: int = 60
    sends_per_minute: int = 20
    sends_per_conversation: int = 6
    thread_window_messages: int = 10
    thread_window_chars: int = 8_000
    lines_before: int = 24
    """How many lines before a question in the open flow go along with it; 0: who wants them reads them."""
    lines_before_chars: int = 6_000
    digest_every_ms: int = 900_000
    digest_chars: int = 2_000
    topic_chars: int = 80
    vocatives: bool = True
    dialogue: bool = True
    """Does a line without a name go on with the dialogue it continues? False: by names only."""
    channel_mentions_by_agents: bool = False
    show_gratitude: bool = False
    people_permit: bool = False
    """May the room's people, beside the owner, allow what an agent's own program asks?"""


DEFAULTS: Final = Settings()
NAMES: Final = frozenset(one.name for one in fields(Settings))
_KINDS: Final = {name: type(getattr(DEFAULTS, name)).__name__ for name in NAMES}
_GIVEN: Final = {"int": {"int"}, "float": {"int", "float"}, "bool": {"bool"}, "tuple": {"list", "tuple"}}

LIMITS: Final[dict[str, str]] = {
    "similarity": "how alike two messages may be, 0 to 1",
    "similar_window": "how many of its own last messages a send is compared with",
    "exchange_limit": "how many messages two agents may exchange without progress",
    "duplicate_limit": "how many refused near-duplicates end an exchange",
    "sends_per_minute": "how many messages a session may send in a minute",
    "sends_per_conversation": "how many of them into one conversation",
    "injected_per_minute": "how many events may reach a session's model in a minute",
    "channel_mentions_by_agents": "whether an agent may mention a whole channel",
    "claims_per_session": "how many questions and threads a session may hold at once",
    "leases_per_session": "how many files a session may hold at once",
    "defer_ms": "how long an answer may be put off without a person's yes",
}


_MINUTE: Final = 60_000
_DAY: Final = 86_400_000
RANGES: Final[dict[str, tuple[float, float]]] = {
    "compose_restarts": (0, 10),
    "deadline_ms": (1_000, 30 * _DAY),
    "freshness_ms": (_MINUTE, 30 * _DAY),
    "claim_ttl_min_ms": (1_000, _DAY),
    "claim_ttl_ms": (1_000, _DAY),
    "claim_ttl_max_ms": (1_000, _DAY),
    "claims_per_session": (1, 1_000),
    "leases_per_session": (1, 10_000),
    "assign_after_ms": (0, _DAY),
    "room_silence_ms": (0, _DAY),
    "defer_ms": (_MINUTE, 30 * _DAY),
    "clarify_ms": (_MINUTE, 30 * _DAY),
    "hold_ms": (_MINUTE, _DAY),
    "receipt_chars": (1, 2_000),
    "farewell_chars": (1, 2_000),
    "similarity": (0.1, 1),
    "similar_window": (0, 40),
    "exchange_limit": (2, 1_000),
    "duplicate_limit": (1, 1_000),
    "injected_per_minute": (1, 100_000),
    "sends_per_minute": (1, 1_000),
    "sends_per_conversation": (1, 1_000),
    "thread_window_messages": (0, 49),
    "thread_window_chars": (0, 100_000),
    "lines_before": (0, 50),
    "lines_before_chars": (0, 100_000),
    "digest_every_ms": (_MINUTE, 7 * _DAY),
    "digest_chars": (100, 20_000),
    "topic_chars": (10, 80),
}
"""The least and the most of each number; the others have a rule of their own below."""


def how_to_change(limit: str) -> str:
    """What an owner does to move a limit."""
    return f"an owner can change the group's attention setting `{limit}` ({LIMITS[limit]})"


def with_values(settings: Settings, values: Mapping[str, object]) -> Settings:
    """The settings with an owner's values; names that are not settings are left out."""
    known = {name: value for name, value in values.items() if name in NAMES}
    if isinstance(shares := known.get("redeliver_at"), list):
        known["redeliver_at"] = tuple(cast("list[float]", shares))
    return replace(settings, **cast("dict[str, Any]", known)) if known else settings


def accepted(settings: Settings, values: Mapping[str, object]) -> Settings | Refusal:
    """The settings that an owner asks for, or why not: an unknown name, a value of another type or range."""
    unknown = sorted(set(values) - NAMES)
    if unknown:
        return refusal(
            "invalid_request", f"there is no setting {unknown[0]}", "C2A-085", remedy=", ".join(sorted(NAMES))
        )
    for name, value in values.items():
        if type(value).__name__ not in _GIVEN[_KINDS[name]]:
            return refusal("invalid_request", f"{name} is a {_KINDS[name]}", "C2A-085")
        low, high = RANGES.get(name, (float("-inf"), float("inf")))
        if isinstance(value, (int, float)) and not low <= value <= high:
            return refusal("invalid_request", f"{name} is between {low:g} and {high:g}", "C2A-085")
    if not _are_shares(values.get("redeliver_at", settings.redeliver_at)):
        return refusal(
            "invalid_request", "redeliver_at holds rising shares between 0 and 1, at most ten", "C2A-178"
        )
    changed = with_values(settings, values)
    return checked(changed) or changed


def _are_shares(value: object) -> bool:
    shares = list(cast("Sequence[object]", value))
    numbers = [one for one in shares if isinstance(one, (int, float)) and not isinstance(one, bool)]
    return len(numbers) == len(shares) <= 10 and numbers == sorted(set(numbers))


def checked(settings: Settings) -> Refusal | None:
    """A refusal when a setting is outside its range; looked at when a hub or a conversation starts.

    Row C2A-085.
    """
    highest = 30_000 if settings.compose_slow else 5_000
    if not 2_000 <= settings.compose_quiet_ms <= highest:
        return refusal(
            "invalid_request",
            f"compose_quiet_ms is between 2000 and {highest}",
            "C2A-085",
            remedy="set compose_slow to allow up to 30000 ms for people who type slowly",
        )
    if not settings.compose_quiet_ms <= settings.compose_cap_ms <= 30_000:
        return refusal("invalid_request", "compose_cap_ms is between compose_quiet_ms and 30000", "C2A-086")
    if not 0 < settings.claim_ttl_min_ms <= settings.claim_ttl_ms <= settings.claim_ttl_max_ms:
        return refusal("invalid_request", "a claim's time lies between its least and its most", "C2A-155")
    if not all(0 < share < 1 for share in settings.redeliver_at):
        return refusal("invalid_request", "a redelivery comes at a share between 0 and 1", "C2A-178")
    return None


def warnings(settings: Settings) -> tuple[str, ...]:
    """What an owner should know about settings that are allowed and unusual."""
    slow = settings.compose_quiet_ms > 5_000
    return ("compose_window_above_5s: answers come later",) if slow else ()
