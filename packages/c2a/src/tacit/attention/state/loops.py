"""Loops: two agents can talk for ever, and are not let to.

Rows: C2A-195, C2A-198, C2A-199, C2A-200. Counts the messages that agents send one another in a conversation.
A resolve, a `done` or an attachment is progress and starts the count anew; once an exchange is stopped only a
person's message opens it again. A circle of more than two agents has the same allowance for each. Folded from
events; the limits are settings.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from tacit.attention.settings import DEFAULTS, Settings

if TYPE_CHECKING:
    from collections.abc import MutableMapping

    from tacit.attention.state.absences import Place


@dataclass(frozen=True, slots=True)
class Exchange:
    """How long agents have been among themselves in one place."""

    agents: frozenset[str] = frozenset()
    count: int = 0
    duplicates: int = 0
    last: tuple[str, ...] = ()
    stopped: bool = False


def agent_spoke(exchange: Exchange, agent: str, event_id: str, settings: Settings = DEFAULTS) -> Exchange:
    """An agent addressed another one, or wrote into a thread with others."""
    agents = exchange.agents | {agent}
    count = exchange.count + 1 if len(agents) > 1 else 1
    limit = settings.exchange_limit * max(len(agents), 2) / 2
    return Exchange(
        agents,
        count,
        exchange.duplicates,
        (*exchange.last, event_id)[-2:],
        exchange.stopped or count >= limit,
    )


def duplicate_refused(exchange: Exchange, agent: str, settings: Settings = DEFAULTS) -> Exchange:
    """A send was refused because it said nothing new."""
    duplicates = exchange.duplicates + 1
    return replace(
        exchange,
        agents=exchange.agents | {agent},
        duplicates=duplicates,
        stopped=exchange.stopped or duplicates >= settings.duplicate_limit,
    )


def progressed(exchange: Exchange) -> Exchange:
    """A resolve, a `done` signal or a new attachment: the count starts anew, unless it is too late."""
    return exchange if exchange.stopped else Exchange()


class Exchanges:
    """The exchanges of a group by place."""

    __slots__ = ("_exchanges",)

    def __init__(self, exchanges: MutableMapping[Place, Exchange] | None = None) -> None:
        self._exchanges: MutableMapping[Place, Exchange] = {} if exchanges is None else exchanges

    def at(self, place: Place) -> Exchange:
        """The exchange in one place."""
        return self._exchanges.get(place, QUIET)

    def put(self, place: Place, before: Exchange, exchange: Exchange) -> bool:
        """Keep what became of it; True when this stopped it, so that a person is told once (C2A-199)."""
        if exchange == before:
            return False
        if exchange == QUIET:
            self._exchanges.pop(place, None)
        else:
            self._exchanges[place] = exchange
        return exchange.stopped and not before.stopped

    def person_spoke(self, place: Place) -> None:
        """A person's message opens it again, whatever was."""
        if place in self._exchanges:
            del self._exchanges[place]

    def progressed(self, place: Place) -> None:
        """Something was achieved there."""
        before = self.at(place)
        self.put(place, before, progressed(before))

    def stopped(self, place: Place) -> frozenset[str]:
        """The agents that may not answer one another there any more."""
        exchange = self.at(place)
        return exchange.agents if exchange.stopped else frozenset()


QUIET: Final = Exchange()
"""Nobody has spoken, or a person just did: everything starts anew."""
