"""How far two agents go before people take over: rounds, needs, repeated questions.

A2ACP-091, A2ACP-092, A2ACP-102, A2ACP-103, A2ACP-105, A2ACP-106, A2ACP-109, A2ACP-110.

Packets of one side in a row are one turn, two turns a round trip, eight of those are enough; a resolution is
none and may always be sent. What was answered is not asked again, whether with a value, with a no or with
"not available". Fields are compared by the name that `canonical` gives them. Knows nothing of values.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from tacit.agent.negotiation.goal import HELPFUL, NICE_TO_HAVE, REQUIRED

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable

    from tacit.agent.negotiation.goal import Need

MOST_ROUNDS: Final = 8
MOST_NEEDS: Final = 5
COUNTED: Final = frozenset({"context", "context_request", "context_response", "intent_update"})
_ORDER: Final = {REQUIRED: 0, HELPFUL: 1, NICE_TO_HAVE: 2}


@dataclass(frozen=True, slots=True)
class Turns:
    """The turns of a thread between two sides."""

    count: int = 0
    last: str = ""
    """Whose turn it is: an address, or nobody's before the first packet."""
    granted: int = MOST_ROUNDS
    """Round trips that this side's owner allows."""

    def after(self, side: str, packet_type: str) -> Turns:
        """The same with a packet of one side, sent or received."""
        if packet_type not in COUNTED or side == self.last:
            return self
        return replace(self, count=self.count + 1, last=side)

    @property
    def round_trips(self) -> int:
        """How many there were."""
        return self.count // 2

    @property
    def exhausted(self) -> bool:
        """Whether it is time to ask the owner (A2ACP-102)."""
        return self.round_trips >= self.granted

    def may_send(self, side: str, packet_type: str) -> bool:
        """Whether a packet of this side stays within the limit."""
        return packet_type not in COUNTED or self.after(side, packet_type).count <= 2 * self.granted


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
