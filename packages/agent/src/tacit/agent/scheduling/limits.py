"""What two agents may still ask each other before people take over: needs, repeated questions.

A2ACP-091, A2ACP-092, A2ACP-105, A2ACP-106, A2ACP-109, A2ACP-110.

What was answered is not asked again, whether with a value, with a no or with "not available". Fields are
compared by the name that `canonical` gives them. Knows nothing of values; how many round trips there are is
the protocol's (`tacit.a2acp.threads.states`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tacit.agent.scheduling.goal import HELPFUL, NICE_TO_HAVE, REQUIRED

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable

    from tacit.agent.scheduling.goal import Need

MOST_NEEDS: Final = 5
_ORDER: Final = {REQUIRED: 0, HELPFUL: 1, NICE_TO_HAVE: 2}


def by_priority(needs: Iterable[Need]) -> tuple[Need, ...]:
    """The most important first, otherwise as they came; an unknown priority is the lowest."""
    return tuple(sorted(needs, key=lambda need: _ORDER.get(need.priority, _ORDER[NICE_TO_HAVE])))


def five(needs: Iterable[Need]) -> tuple[tuple[Need, ...], tuple[Need, ...]]:
    """The needs of one packet, and those that are kept for a later one, or ignored in somebody else's."""
    ordered = by_priority(needs)
    return ordered[:MOST_NEEDS], ordered[MOST_NEEDS:]


def askable(
    needs: Iterable[Need], answered: Collection[str], canonical: Callable[[str], str]
) -> tuple[Need, ...]:
    """The needs that were not answered in this thread, each field once; with none left nothing is sent."""
    return fresh_and_repeated(needs, answered, canonical)[0]


def fresh_and_repeated(
    needs: Iterable[Need], answered: Collection[str], canonical: Callable[[str], str]
) -> tuple[tuple[Need, ...], tuple[Need, ...]]:
    """What is new in a packet, and what is answered from the record, each a violation (A2ACP-110)."""
    known = {_same(field, canonical) for field in answered}
    fresh: dict[str, Need] = {}
    repeated: list[Need] = []
    for need in by_priority(needs):
        name = _same(need.field, canonical)
        if name in known or name in fresh:
            repeated.append(need)
        else:
            fresh[name] = need
    return tuple(fresh.values()), tuple(repeated)


def may_propose(wants: Iterable[Need], answered: Collection[str], canonical: Callable[[str], str]) -> bool:
    """Whether no required field is still open; a no is an answer too (A2ACP-091, A2ACP-092)."""
    known = {_same(field, canonical) for field in answered}
    return all(need.priority != REQUIRED or _same(need.field, canonical) in known for need in wants)


def _same(field: str, canonical: Callable[[str], str]) -> str:
    return canonical(field.lower()).lower()
