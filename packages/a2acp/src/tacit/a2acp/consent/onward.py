"""Fields that a coordinator may pass on: whoever would learn them is asked about, and the strictest wins.

A2ACP-181. What an owner tells a coordinator stays with it, unless the owner listed the field as one to pass
on. Then everybody in the group would learn it, so it goes only as far as the permissions for each of them
allow: asked for if it has to be for one of them, withheld if it is from one. Knows nothing of threads.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from tacit.a2acp.consent.disguises import name
from tacit.a2acp.consent.tiers import Override, PolicyLookup, Tier, ready
from tacit.base.errors import Refused

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tacit.a2acp.consent.tiers import Policy


def listed(policy: Policy, field: str) -> bool:
    """Whether an owner lets a coordinator pass a field on."""
    return not {name(one) for one in policy.onward_fields}.isdisjoint(ready(policy).chain(field))


def strictest(policy: Policy, coordinator: str, others: Iterable[str]) -> Policy:
    """The permissions for a coordinator, with those of everybody it may pass fields on to."""
    others = tuple(others)
    if not policy.onward_fields or not others:
        return policy
    lists = PolicyLookup(policy)
    before = policy.overrides.get(coordinator, Override())
    promoted, restricted = before.promote_to_always_share, before.restrict_to_never_share
    for field in policy.onward_fields:
        names = lists.chain(field)
        tiers = {lists.tier(names, one) for one in others}
        if Tier.NEVER in tiers:
            restricted = (*restricted, names[0])
        if tiers != {Tier.ALWAYS}:
            promoted = tuple(one for one in promoted if name(one) not in names)
    if (promoted, restricted) == (before.promote_to_always_share, before.restrict_to_never_share):
        return policy
    after = msgspec.structs.replace(
        before, promote_to_always_share=promoted, restrict_to_never_share=restricted
    )
    return msgspec.structs.replace(policy, overrides={**policy.overrides, coordinator: after})


def changed(policy: Policy, field: str, *, on: bool) -> Policy:
    """The policy after the owner's word on whether a field may be passed on; secrets never are."""
    lists = PolicyLookup(policy)
    names = lists.chain(field)
    if on and lists.locked(names):
        raise Refused("never_released", "this field is shared with nobody", row="A2ACP-124")
    others = tuple(one for one in policy.onward_fields if name(one) != names[0])
    return msgspec.structs.replace(policy, onward_fields=(*others, names[0]) if on else others)
