"""Cues: what the last lines of a channel tell about whom a line without a name is for.

The floor is read once for a line, from the newest line back, and only what concerns its author and the agents
is noted; then every candidate's cues are whole numbers out of that (`CUES` names them in order). They are all
that the learnt table knows: distances in lines and in seconds, who last spoke to whom, whose turn it is, how
many others speak, whose names stand in the line. Texts and languages are not among them. Knows nothing of
confidence.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, TypeAlias

import msgspec

from tacit.base.moment import SECOND, Moment

if TYPE_CHECKING:
    from collections.abc import Collection, Container, Iterable

KEPT: Final = 20
"""Lines of a channel that are remembered."""
FAR: Final = KEPT + 1
LONG: Final = 3_600
JUST: Final = 5
"""How near somebody must have spoken to be a candidate who had no word with the author."""
MOST: Final = 3
"""How many agents that spoke with the author are candidates, and how many that did not."""
_NEAR: Final = 10

CUES: Final = (
    "lines since they spoke to the author", "lines since the author spoke to them",
    "lines since they spoke", "seconds since they spoke",
    "the author's last addressee", "their last addressee", "who last spoke to the author",
    "lines since the author's newest exchange with another", "how much newer than with another",
    "speakers in ten lines", "their name stands in it", "other names in it",
    "author's lines since they spoke to the author", "lines since the author spoke",
    "lines since they asked the room",
)  # fmt: skip


class SaidLine(msgspec.Struct, frozen=True, array_like=True):
    """One line of a channel: who spoke to whom, and when."""

    by: str
    to: tuple[str, ...]
    at: Moment
    asks: bool = False
    named: bool = False
    """Whether those it was spoken to were named, or answered by a reply."""
    ends: bool = False
    """Whether its author was done with whom they had spoken to: thanks, or a question to the whole room."""


Floor: TypeAlias = tuple[SaidLine, ...]


class OtherSide:
    """What was seen of one agent; places count back from the newest line, which is 1, and 0 is none."""

    __slots__ = ("asked_room", "from_author", "last_to", "own_since", "spoke", "to_author")

    def __init__(self) -> None:
        self.spoke = self.to_author = self.from_author = self.own_since = self.asked_room = 0
        self.last_to: tuple[str, ...] = ()

    @property
    def newest(self) -> int:
        """The place of their newest exchange with the author."""
        if self.to_author and self.from_author:
            return min(self.to_author, self.from_author)
        return self.to_author or self.from_author


class LookBack:
    """The floor as one author sees it who is about to say something."""

    __slots__ = (
        "_near", "at", "author", "exchanges", "floor", "last_from", "last_to", "others", "own",
    )  # fmt: skip

    def __init__(self, floor: Floor, author: str, agents: Container[str], at: Moment) -> None:
        self.floor, self.author, self.at = floor, author, at
        self.others: dict[str, OtherSide] = {}
        """The agents, in the order in which they last mattered."""
        self.exchanges: dict[str, int] = {}
        """Where the author's newest exchange with anybody was, the newest first."""
        self.own = owns = 0
        self.last_to: tuple[str, ...] = ()
        self.last_from = ""
        self._near = 0
        for place, line in enumerate(reversed(floor), 1):
            if line.by == author:
                owns += 1
                self.own = self.own or place
                if line.to:
                    self._spoke(line, place, agents)
            elif author in line.to:
                self.exchanges.setdefault(line.by, place)
                self.last_from = self.last_from or line.by
                if line.by in agents:
                    seen = self._heard(line, place)
                    if not seen.to_author:
                        seen.to_author, seen.own_since = place, owns
            elif line.by in agents:
                self._heard(line, place)

    def _spoke(self, line: SaidLine, place: int, agents: Container[str]) -> None:
        self.last_to = self.last_to or line.to
        for one in line.to:
            self.exchanges.setdefault(one, place)
            if one in agents:
                seen = self.others.get(one)
                if seen is None:
                    seen = self.others[one] = OtherSide()
                seen.from_author = seen.from_author or place

    def _heard(self, line: SaidLine, place: int) -> OtherSide:
        seen = self.others.get(line.by)
        if seen is None:
            seen = self.others[line.by] = OtherSide()
        if not seen.spoke:
            seen.spoke, seen.last_to = place, line.to
        if line.asks and not (line.to or seen.asked_room):
            seen.asked_room = place
        return seen

    def candidates(self, inside: Iterable[str]) -> list[str]:
        """Which agents a line of the author's could be for: who spoke with them or just now, who is in it."""
        partners = [who for who in self.exchanges if who in self.others][:MOST]
        just = [who for who, one in self.others.items() if not one.newest and one.spoke <= JUST]
        return list(dict.fromkeys((*partners, *just, *inside)))

    def is_theirs(self, seen: OtherSide) -> bool:
        """Did the other speak last of the two?"""
        return 0 < seen.to_author < (seen.from_author or FAR)

    def has_turned_from(self, who: str, seen: OtherSide) -> bool:
        """Did the author's last line call somebody else, after the last word between the two?"""
        line = self.floor[-self.own] if self.own else None
        if line is None or not line.named or not line.to or who in line.to:
            return False
        return self.own < (seen.newest or FAR)

    def has_ended(self, seen: OtherSide) -> bool:
        """Did the author's last words end it, and has the other said nothing to them since?"""
        return bool(self.own) and self.floor[-self.own].ends and self.own < (seen.to_author or FAR)

    def has_asked(self, seen: OtherSide) -> bool:
        """Was the other's last word to the author a question?"""
        return bool(seen.to_author) and self.floor[-seen.to_author].asks

    def ago(self, place: int) -> int:
        """The seconds since a line; the longest for none."""
        return min(LONG, (self.at - self.floor[-place].at) // SECOND) if place else LONG

    def cues(self, who: str, seen: OtherSide, inside: Collection[str]) -> tuple[int, ...]:
        """The cues of one candidate, in the order of `CUES`."""
        other = FAR
        for one, place in self.exchanges.items():
            if one != who:
                other = place
                break
        if not self._near:
            self._near = len({line.by for line in self.floor[-_NEAR:]})
        named = who in inside
        return (
            seen.to_author or FAR,
            seen.from_author or FAR,
            seen.spoke or FAR,
            self.ago(seen.spoke),
            0 if not self.last_to else 1 if who in self.last_to else -1,
            0 if not seen.last_to else 1 if self.author in seen.last_to else -1,
            0 if not self.last_from else 1 if self.last_from == who else -1,
            other,
            other - (seen.newest or FAR),
            self._near,
            named,
            len(inside) - named,
            seen.own_since if seen.to_author else FAR,
            self.own or FAR,
            seen.asked_room or FAR,
        )
