"""Permission tiers: what may be shared with whom, always, after asking or never (A2ACP-119, A2ACP-263).

`examined` says of a packet's body what may go, what its owner has to be asked, and what stays; `Line.send`
applies the same rules and cannot be talked out of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tacit.a2acp.consent.filter import Examined, examine
from tacit.a2acp.consent.tiers import DEFAULT, Override, Policy, Tier, canonical, changed, tier

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tacit.a2acp.packets.shapes import Fields

__all__ = [
    "DEFAULT",
    "Examined",
    "Override",
    "Policy",
    "Tier",
    "canonical",
    "changed",
    "examined",
    "tier",
]


def examined(
    packet_type: str,
    body: Fields,
    *,
    to: str,
    policy: Policy = DEFAULT,
    approved: Mapping[str, str] | None = None,
) -> Examined:
    """A body by an owner's permissions; `approved` are fields that the owner released, with their basis."""
    return examine(body, packet_type, policy, to, approved or {})
