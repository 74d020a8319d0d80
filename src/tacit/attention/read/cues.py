"""Cues: what the last lines of a channel tell about whom a line without a name is for.

The floor is read once for a line, from the newest line back; then every candidate's cues are whole numbers
out of what was seen (`CUES` names them in order). They are all that the learnt table knows: distances in
lines and in seconds, who last spoke to whom, whose turn it is, how many others speak, how the line is
worded. Names, texts and languages are not among them. Knows nothing of confidence.
"""

from __future__ import annotations

from bisect import bisect_left
from typing import TYPE_CHECKING, Final, TypeAlias

import msgspec

from tacit.base.moment import SECOND, Moment

if TYPE_CHECKING:
    from collections.abc import Callable

    from tacit.attention.read.dialogue import Wording

KEPT: Final = 40
"""Lines of a channel that are remembered."""
FAR: Final = KEPT + 1
LONG: Final = 3_600
LAST_SPEAKERS: Final = 5
"""How many of those who spoke last are candidates, besides whoever had to do with the author."""
MOST: Final = 8
OWED_S: Final = 180
"""How long an unanswered question is waited for."""
_NEAR: Final = 10
_MINUTES: Final = 300

CUES: Final = (
    "lines since the author spoke to them", "seconds since the author spoke to them",
    "lines since they spoke to the author", "seconds since they spoke to the author",
    "lines since they spoke", "seconds since they spoke",
    "lines since the author spoke", "seconds since the author spoke",
    "the author's last addressee", "their last addressee", "who last spoke to the author",
    "lines since the author's newest exchange with another", "lines since another spoke to the author",
    "lines since their newest exchange with another", "how much newer than with another",
    "speakers in ten lines", "speakers in five minutes",
    "they spoke just before", "the author spoke just before", "the line before was to the author",
    "their name stands in it", "other names in it",
    "it asks", "length", "it says you", "it is social",
    "they asked last", "they asked the author last",
    "exchanges between the two", "lines of theirs", "lines of the author's",
    "author's lines since they spoke to the author", "the author asked last",
    "speakers since they spoke", "the author just thanked",
)  # fmt: skip


class SaidLine(msgspec.Struct, frozen=True, array_like=True):
    """One line of a channel: who spoke to whom, and when."""

    by: str
    to: tuple[str, ...]
    at: Moment
    asks: bool = False
    named: bool = False
    """Whether those it was spoken to were named, or answered by a reply."""
    social: bool = False


Floor: TypeAlias = tuple[SaidLine, ...]


class OtherSide:
    """What was seen of one other; places count back from the newest line, which is 1."""

    __slots__ = (
        "elsewhere", "from_author", "lines", "named", "rank", "spoke", "times",
        "to_author",
    )  # fmt: skip

    def __init__(self, rank: int) -> None:
        self.rank = rank
        """How many others spoke since."""
        self.spoke = self.to_author = self.from_author = 0
        self.named = 0
        """The newest line in which the author called them."""
        self.elsewhere = 0
        """Their newest exchange with somebody else."""
        self.times = self.lines = 0

    @property
    def newest(self) -> int:
        """The place of their newest exchange with the author; 0 for none."""
        return min(self.to_author or FAR, self.from_author or FAR) % FAR


class LookBack:
    """The floor as one author sees it who is about to say something."""

    __slots__ = (
        "_best", "at", "author", "floor", "last_from", "last_to", "minutes", "near", "others",
        "own", "speakers", "wording",
    )  # fmt: skip

    def __init__(self, floor: Floor, author: str, wording: Wording, at: Moment) -> None:
        self.floor, self.author, self.wording, self.at = floor, author, wording, at
        self.others: dict[str, OtherSide] = {}
        """In the order in which they last mattered."""
        self.own: list[int] = []
        """Places of the author's lines."""
        self.last_to = self.last_from = ""
        self.speakers = 0
        near: set[str] = set()
        lately: set[str] = set()
        recent = at - _MINUTES * SECOND
        for place, line in enumerate(reversed(floor), 1):
            if place <= _NEAR:
                near.add(line.by)
            if line.at >= recent:
                lately.add(line.by)
            if line.by == author:
                self.own.append(place)
                self._spoke(line, place)
            else:
                self._was_heard(line, place)
        self.near, self.minutes = len(near), len(lately)
        self._best = tuple(
            sorted((cue(one), who) for who, one in self.others.items())[:2] for cue in _AGAINST_OTHERS
        )

    def _spoke(self, line: SaidLine, place: int) -> None:
        for one in line.to:
            seen = self._seen(one)
            seen.times += 1
            seen.from_author = seen.from_author or place
            if line.named:
                seen.named = seen.named or place
            self.last_to = self.last_to or one

    def _was_heard(self, line: SaidLine, place: int) -> None:
        seen = self._seen(line.by)
        if not seen.spoke:
            seen.spoke, seen.rank = place, self.speakers
            self.speakers += 1
        seen.lines += 1
        for one in line.to:
            if one == self.author:
                seen.times += 1
                seen.to_author = seen.to_author or place
                self.last_from = self.last_from or line.by
            else:
                seen.elsewhere = seen.elsewhere or place
                other = self._seen(one)
                other.elsewhere = other.elsewhere or place

    def _seen(self, who: str) -> OtherSide:
        seen = self.others.get(who)
        if seen is None:
            seen = self.others[who] = OtherSide(FAR)
        return seen

    def candidates(self) -> list[str]:
        """Whom a line of the author's could be for: their partners, the last speakers, whose name it has."""
        found = [who for who, seen in self.others.items() if seen.newest or seen.rank < LAST_SPEAKERS][:MOST]
        inside = self.wording.inside
        return [*found, *sorted(inside.difference(found, (self.author,)))] if inside else found

    def is_theirs(self, who: str) -> bool:
        """Did the other speak last of the two?"""
        seen = self.others.get(who)
        return seen is not None and 0 < seen.to_author < (seen.from_author or FAR)

    def is_owed(self, who: str) -> bool:
        """Did the author call them lately, has talked on to them since, and has had no word back?"""
        seen = self.others.get(who)
        if seen is None or not seen.named or 0 < seen.to_author < seen.named:
            return False
        return self.ago(seen.named) <= OWED_S and who in self.floor[-self.own[0]].to

    def has_turned_from(self, who: str) -> bool:
        """Did the author's last line call somebody else, after the last word between the two?"""
        line = self.floor[-self.own[0]] if self.own else None
        if line is None or not line.named or not line.to or who in line.to:
            return False
        seen = self.others.get(who)
        return seen is None or self.own[0] < (seen.newest or FAR)

    def has_thanked(self, who: str) -> bool:
        """Were thanks the author's last words, and has the other said nothing since?"""
        seen = self.others.get(who)
        spoke = seen.to_author if seen is not None else 0
        return bool(self.own) and self.floor[-self.own[0]].social and self.own[0] < (spoke or FAR)

    def ago(self, place: int) -> int:
        """The seconds since a line; the longest for none."""
        return min(LONG, (self.at - self.floor[-place].at) // SECOND) if place else LONG

    def cues(self, who: str) -> tuple[int, ...]:
        """The cues of one candidate, in the order of `CUES`."""
        seen = self.others.get(who) or OtherSide(FAR)
        floor, wording, before = self.floor, self.wording, self.floor[-1]
        own = self.own[0] if self.own else 0
        other, from_other = (self._of_others(who, one) for one in self._best)
        return (
            seen.from_author or FAR,
            self.ago(seen.from_author),
            seen.to_author or FAR,
            self.ago(seen.to_author),
            seen.spoke or FAR,
            self.ago(seen.spoke),
            own or FAR,
            self.ago(own),
            _is(self.last_to, who),
            self._last_addressee(seen),
            _is(self.last_from, who),
            other,
            from_other,
            seen.elsewhere or FAR,
            other - (seen.newest or FAR),
            self.near,
            self.minutes,
            before.by == who,
            before.by == self.author,
            self.author in before.to,
            who in wording.inside,
            len(wording.inside - {who}),
            wording.asks,
            wording.length,
            wording.you,
            wording.social,
            bool(seen.spoke) and floor[-seen.spoke].asks,
            bool(seen.to_author) and floor[-seen.to_author].asks,
            seen.times,
            seen.lines,
            len(self.own),
            bisect_left(self.own, seen.to_author) if seen.to_author else FAR,
            bool(own) and floor[-own].asks,
            seen.rank,
            bool(own) and floor[-own].social,
        )

    @staticmethod
    def _of_others(who: str, best: list[tuple[int, str]]) -> int:
        """The least of everybody but one."""
        for value, name in best:
            if name != who:
                return value
        return FAR

    def _last_addressee(self, seen: OtherSide) -> int:
        to = self.floor[-seen.spoke].to if seen.spoke else ()
        return 0 if not to else 1 if self.author in to else -1


_AGAINST_OTHERS: Final[tuple[Callable[[OtherSide], int], ...]] = (
    lambda seen: seen.newest or FAR,
    lambda seen: seen.to_author or FAR,
)
"""Newest exchange with the author, newest word to the author: asked of the others."""


def _is(last: str, who: str) -> int:
    return 0 if not last else 1 if last == who else -1
