"""The shipped table of names: which tier field a key stands for, and which keys need none (A2ACP-121).

Each name points at the next, wider one, so a chain leads from what a packet says to what the tiers say:
`date` → `time_windows` → `specific_availability`. Data only, all names as `folding.name` writes them.
Beyond the names of the draft the table has the plain words for what nobody should tell by accident
(`password`, `salary`, `diagnosis`) and for the parts of a place or a time: each of these makes a key
stricter than the unknown name it would be otherwise.

Three kinds of key need no consent of their own, each only while its value has the shape given here; in any
other shape it is an ordinary field:

- STRUCTURAL (A2ACP-039): what we say about fields, no field: how far a dimension may vary, where both sides
  clash, what might be done instead. Not among the shared fields; what stands inside is examined by itself.
- FREE: what is being arranged, which is the sentence that the owner wanted told: the kind of meeting, how
  many, how long, its subject (the same words as the intent's summary), until when an answer is of use,
  threads both sides know, a yes or no about booking, what failed before. Listed among the shared fields.
- PARTS: names inside a value that only build it (`low` and `high` of a range). They say as much as the
  field they stand in, and belong to it; at the top they are fields like any other.

Knows nothing of an owner's tiers.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, cast

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

SPECIFIC_AVAILABILITY: Final = "specific_availability"
GENERAL_AVAILABILITY: Final = "general_availability"
SPECIFIC_LOCATION: Final = "specific_location"
GENERAL_LOCATION: Final = "general_location_area"
TIMEZONE: Final = "timezone"
CREDENTIALS: Final = "passwords_or_credentials"
OTHER_PEOPLE: Final = "other_peoples_information"

_GROUPS: Final[Mapping[str, str]] = {
    SPECIFIC_AVAILABILITY: "time_windows availability_windows free_busy calendar availability_overlap",
    "time_windows": (
        "time_window window windows date dates time times start end day days slot slots proposed_date "
        "proposed_dates proposed_time proposed_times start_time end_time start_date end_date available_times "
        "available_dates availability agent_a_values agent_b_values values_by_agent best_window second_best "
        "blackouts"
    ),
    GENERAL_LOCATION: "location_preference location place area venue city town region neighbourhood",
    SPECIFIC_LOCATION: (
        "personal_location address home_address work_address home_location current_location postcode "
        "postal_code zip zip_code street street_address house_number coordinates gps lat latitude lng lon "
        "longitude geo what3words"
    ),
    "event_preferences": "cuisine_preference cuisine game_preferences venue_type",
    "dietary": "diet dietary_requirements dietary_preferences dietary_restrictions",
    "budget_range": "budget estimated_cost price price_range cost",
    "transport_mode": "transport transportation travel_mode",
    "contact_details": "contact email email_address phone phone_number telephone mobile",
    "project_details": "project project_name project_status",
    TIMEZONE: "time_zone tz",
    "party_size": "group_size group_size_update",
    "health_info": (
        "health medical medical_info medical_history diagnosis diagnoses medication medications disability "
        "illness mental_health"
    ),
    "financial_details_beyond_budget": (
        "financial_details finances salary income debt debts savings bank_account bank_details "
        "account_number iban sort_code card_number credit_card"
    ),
    "private_conversations": "private_conversation conversations chat_history messages",
    CREDENTIALS: (
        "password passwords passwd passphrase pwd pin_code credential credentials secret secrets api_key "
        "api_keys access_token auth_token private_key recovery_code login"
    ),
    OTHER_PEOPLE: "other_peoples_info third_party third_parties relationship_memory context_cache",
}
SHIPPED: Final[Mapping[str, str]] = {
    alias: target for target, names in _GROUPS.items() for alias in names.split()
}
PATTERNS: Final[tuple[tuple[str, str], ...]] = (("known_", OTHER_PEOPLE),)
"""Beginnings of names, and what every such name stands for."""

STRUCTURAL: Final = frozenset({"flexibility", "conflict", "proposed_alternatives"})
PARTS: Final = frozenset(
    {
        "from",
        "to",
        "min",
        "max",
        "low",
        "high",
        "amount",
        "currency",
        "unit",
        "per_person",
        "value",
        "values",
        "within",
        "blocked",
    }
)

_LABEL: Final = re.compile(r"[^\W\d_]+(?:[ _/-][^\W\d_]+){0,3}")
_DURATION: Final = re.compile(r"P(?=.)(?:\d{1,3}W)?(?:\d{1,3}D)?(?:T(?=.)(?:\d{1,3}H)?(?:\d{1,4}M)?)?")
_DATE: Final = re.compile(r"\d{4}-\d\d-\d\d")
_THREAD: Final = re.compile(r"thr_[A-Za-z0-9_-]{4,64}", re.ASCII)


def is_label(value: object) -> bool:
    """A kind of thing in at most four words without figures: `dinner`, `video call`."""
    return isinstance(value, str) and len(value) <= 40 and _LABEL.fullmatch(value) is not None


def _is_count(value: object) -> bool:
    return type(value) is int and 1 <= value <= 1000


def _is_subject(value: object) -> bool:
    return isinstance(value, str) and len(value) <= 200


def _is_duration(value: object) -> bool:
    return isinstance(value, str) and _DURATION.fullmatch(value) is not None


def _is_date(value: object) -> bool:
    return isinstance(value, str) and _DATE.fullmatch(value) is not None


def _is_threads(value: object) -> bool:
    return isinstance(value, list) and all(
        isinstance(one, str) and _THREAD.fullmatch(one) for one in cast("list[object]", value)
    )


def _is_yes_or_no(value: object) -> bool:
    return isinstance(value, bool)


FREE: Final[Mapping[str, Callable[[object], bool]]] = {
    "event_type": is_label,
    "format": is_label,
    "party_size": _is_count,
    "duration": _is_duration,
    "topic": _is_subject,
    "deadline": _is_date,
    "related_threads": _is_threads,
    "booking_required": _is_yes_or_no,
    "failed_action": is_label,
}
"""Keys that carry what is arranged and nothing of its owner, each while its value has this shape."""

WORDS: Final = frozenset(
    {*SHIPPED, *_GROUPS, *STRUCTURAL, *FREE, "work_schedule_internals", "participants", GENERAL_AVAILABILITY}
)
"""Every name of the draft and of this table: saying one tells nothing of an owner."""
