"""What a counterpart knows of the owner: its receipts field by field, and what can still be called off.

What has left is with the other agent and cannot be taken back; a word that lets more leave can: a field that
goes without a question, a thread that is open. Made of receipts when it is asked for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from tacit.a2acp.consent.tiers import Override

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tacit.a2acp.consent.tiers import Policy

Receipt = dict[str, Any]
SPACE: Final = "space"
"""The basis of what stands in a shared space: there it can be taken out for all."""


def known_of(
    peer: str, receipts: Iterable[Receipt], policy: Policy, threads: Iterable[str]
) -> dict[str, Any]:
    """One page: what was told, and what can be called off."""
    told: dict[str, dict[str, Any]] = {}
    for one in sorted(receipts, key=lambda one: one["at"]):
        known = told.setdefault(one["field"], {"field": one["field"], "first": one["at"], "times": 0})
        known |= {
            "value": one["value"],
            "last": one["at"],
            "times": known["times"] + 1,
            "basis": one["basis"],
            "via": one["via"],
            "thread_id": one["thread_id"],
        }
    return {
        "agent": peer,
        "told": sorted(told.values(), key=lambda one: one["field"]),
        "can_be_undone": [
            *_standing(peer, policy),
            *({"what": "open", "thread_id": one} for one in threads),
            *(
                {"what": "space", "field": one["field"], "thread_id": one["thread_id"]}
                for one in told.values()
                if one["basis"] == SPACE
            ),
        ],
    }


def _standing(peer: str, policy: Policy) -> list[dict[str, Any]]:
    """Fields that go to it without a question, by a word for it alone or for everybody."""
    alone = policy.overrides.get(peer, Override()).promote_to_always_share
    return [
        *({"what": "always_share", "field": one, "for": "them"} for one in alone),
        *({"what": "always_share", "field": one, "for": "everybody"} for one in policy.always_share),
    ]
