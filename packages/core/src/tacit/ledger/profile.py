"""Capability discovery: what this hub can do, so that clients adapt.

Rows: CCCS-044, CCCS-109, CCCS-116, CCCS-117, CCCS-118, CCCS-119.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tacit.base.moment import SECOND
from tacit.ledger.codes import CODES
from tacit.ledger.cursor import DEFAULT_LIMIT, MAX_LIMIT
from tacit.ledger.envelope import MAX_EVENT_BYTES
from tacit.ledger.kinds import KINDS, PROFILES
from tacit.ledger.state import SELECTORS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tacit.ledger.admission import AdmissionSettings


def capabilities(
    settings: AdmissionSettings, *, auth: str, limits: dict[str, int], c2a_versions: Sequence[str] = ()
) -> dict[str, Any]:
    """The answer to `capabilities`; a ledger by itself speaks no C2A, whoever composes one does."""
    offered = [profile for profile in PROFILES if profile in settings.profiles]
    return {
        "cccs": 1,
        "profiles": offered,
        "kinds": [name for name, rule in KINDS.items() if rule.profile in settings.profiles],
        "recipients": list(SELECTORS),
        "cursors": ["since_seq", "since_event_id", "since_ts"],
        "filters": ["kinds", "limit"],
        "idempotency_window_s": settings.idempotency_window // SECOND,
        "auth": auth,
        "limits": {
            "event_bytes": MAX_EVENT_BYTES,
            "page": MAX_LIMIT,
            "default_page": DEFAULT_LIMIT,
            **limits,
        },
        "error_codes": list(CODES),
        "c2a_versions": list(c2a_versions),
    }
