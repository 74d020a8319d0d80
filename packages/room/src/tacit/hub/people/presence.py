"""Who is there: online while somebody looks at one of their connections, away while at none, else offline.

Folded from connections alone and kept nowhere: it is gone with them. Knows nothing of time: when an absence
begins (a hidden page, idle hands) is the client's to say, and when others are told is `hub/live.py`'s.
"""

from __future__ import annotations

from collections import defaultdict
from typing import Literal, Protocol

Status = Literal["online", "away", "offline"]


class Attending(Protocol):
    """A connection that may be left open by somebody who looks elsewhere."""

    @property
    def is_away(self) -> bool:
        """Has its person said that they look elsewhere?"""
        ...


class Presence:
    """The connections of each principal in each place; one may be in a place several times."""

    def __init__(self) -> None:
        self._here: defaultdict[str, dict[str, dict[Attending, int]]] = defaultdict(dict)

    def enter(self, place: str, principal: str, connection: Attending) -> None:
        """A connection follows a place."""
        connections = self._here[place].setdefault(principal, {})
        connections[connection] = connections.get(connection, 0) + 1

    def leave(self, place: str, principal: str, connection: Attending) -> None:
        """It follows the place once less."""
        connections = self._here[place][principal]
        connections[connection] -= 1
        if connections[connection] == 0:
            del connections[connection]
        if not connections:
            del self._here[place][principal]
        if not self._here[place]:
            del self._here[place]

    def status(self, place: str, principal: str) -> Status:
        """How somebody is in a place now."""
        connections = self._here[place].get(principal) if place in self._here else None
        if not connections:
            return "offline"
        return "away" if all(one.is_away for one in connections) else "online"

    def present(self, place: str) -> dict[Status, list[str]]:
        """Everybody who is connected, by how they are."""
        found: dict[Status, list[str]] = {"online": [], "away": []}
        for principal in sorted(self._here[place]) if place in self._here else ():
            found[self.status(place, principal)].append(principal)
        return found
