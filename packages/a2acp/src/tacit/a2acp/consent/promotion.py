"""When to offer that a field be always shared with somebody (A2ACP-125, A2ACP-126).

One count for each field and counterpart: approvals of the owner's own since the last refusal. The third
makes an offer; dismissed, it returns after three more, and after two dismissals never. What never goes is
never offered (A2ACP-124), and what goes anyway need not be. Implicit approvals are none of the owner's and
are not counted. Taking the offer is `tiers.changed`. Knows nothing of how an offer is shown, nor whether
one is open.
"""

from __future__ import annotations

from typing import Final

import msgspec

from tacit.a2acp.consent.tiers import Tier

_APPROVALS: Final = 3
_DISMISSALS: Final = 2


class ApprovalCount(msgspec.Struct, frozen=True):
    """How often one field was approved for one counterpart."""

    approvals: int = 0
    """Since the last refusal, or the last offer that was dismissed."""
    dismissals: int = 0


def after_approval(count: ApprovalCount) -> ApprovalCount:
    """The owner shared the field once more."""
    return msgspec.structs.replace(count, approvals=count.approvals + 1)


def after_refusal(count: ApprovalCount) -> ApprovalCount:
    """The owner declined the field: counting begins anew."""
    return msgspec.structs.replace(count, approvals=0)


def after_dismissal(count: ApprovalCount) -> ApprovalCount:
    """The owner did not want the offer."""
    return ApprovalCount(approvals=0, dismissals=count.dismissals + 1)


def offer_due(count: ApprovalCount, tier: Tier) -> bool:
    """Whether to offer now, given the field's tier for this counterpart."""
    return tier is Tier.ASK and count.approvals >= _APPROVALS and count.dismissals < _DISMISSALS
