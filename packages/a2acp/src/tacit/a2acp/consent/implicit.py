"""What follows from the owner having begun a thread (A2ACP-134, A2ACP-135, A2ACP-062).

By default one question at the start lists the fields that the goal needs, already ticked. Only with `auto`
and high autonomy do these go unasked, as `implicit`. What the goal does not need is always asked, and not
ticked. Given only fields of the tier `ask`: what never goes is not looked at here. Knows nothing of
packets.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from tacit.a2acp.consent.tiers import Policy, Tier, ready
from tacit.a2acp.consent.walk import IMPLICIT

if TYPE_CHECKING:
    from collections.abc import Iterable

PROMPT_ONCE: Final = "prompt_once"
AUTO: Final = "auto"
HIGH: Final = "high"


@dataclass(frozen=True, slots=True)
class Start:
    """What a thread's start releases, asks, and suggests."""

    approved: dict[str, str]
    ask: tuple[str, ...]
    ticked: frozenset[str]


def at_start(
    policy: Policy,
    counterpart: str,
    fields: Iterable[str],
    relevant: frozenset[str],
    *,
    mode: str = PROMPT_ONCE,
    autonomy: str = "low",
) -> Start:
    """The fields of a thread that its owner began: each released, asked with a tick, or asked.

    `relevant` are the fields that the goal names; anything but `auto` with high autonomy is the default.
    """
    lists = ready(policy)
    needed = {lists.chain(one)[-1] for one in relevant}
    approved: dict[str, str] = {}
    ask: list[str] = []
    ticked: set[str] = set()
    for field in fields:
        names = lists.chain(field)
        if lists.tier(names, counterpart) is not Tier.ASK:
            continue
        if names[-1] in needed and mode == AUTO and autonomy == HIGH:
            approved[field] = IMPLICIT
            continue
        ask.append(field)
        if names[-1] in needed:
            ticked.add(field)
    return Start(approved, tuple(ask), frozenset(ticked))
