"""What several people have in common, and who stands in the way (A2ACP-176, A2ACP-177, A2ACP-179, A2ACP-180).

Theory of operation. A meeting of a length L may begin anywhere in a stretch of somebody's free time that is
left after its last L minutes are cut off. All beginnings and ends of such stretches are swept once, in order:
where one ends after another has begun, as many people as just then can be had, and no more around it; the
window is from the last beginning to the next end. So one sweep over sorted ends finds every window that a
ranking could want, at the cost of finding what all have in common.

`Overlap` keeps each person's ends by themselves, in order, so that adding an answer costs what that person
said, not what the others did; they are merged when the windows are asked for. Only those who have answered
are in it.

The one who binds is the one whose yes to everything would add most people to the best window, or to the area
that suits most; with equal gain times come before places, and the order of the list decides.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from heapq import nsmallest
from typing import TYPE_CHECKING, Final, cast

from tacit.base.errors import Bug
from tacit.base.moment import MINUTE, Moment, Span, merged

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

TIMES: Final = "time_windows"
PLACES: Final = "location_preference"
MOST_WINDOWS: Final = 12
_BITS: Final = 11
_ENDS: Final = 1 << 10
_WHO: Final = _ENDS - 1
_MOST_NAMES: Final = _ENDS


@dataclass(frozen=True, slots=True)
class Window:
    """A stretch, who can be there all along, and who of those who answered cannot."""

    span: Span
    available: tuple[str, ...]
    missing: tuple[str, ...]

    @property
    def count(self) -> int:
        """How many can be there."""
        return len(self.available)

    @property
    def length(self) -> int:
        """How long it is."""
        return self.span.end - self.span.start


@dataclass(frozen=True, slots=True)
class Binding:
    """The one, and the field, that keeps most others from meeting."""

    agent: str
    field: str
    gain: int


@dataclass(slots=True)
class Overlap:
    """The free time of those who have answered."""

    minutes: int
    names: list[str] = field(default_factory=list[str])
    _stops: list[list[int]] = field(default_factory=list[list[int]])
    """Of each: where the sweep stops, with whether it ends there and whose it is in the low bits."""

    def add(self, name: str, free: Iterable[Span]) -> None:
        """One more has answered; costs what this one has said, whatever the others did."""
        if name in self.names:
            raise Bug("somebody has answered twice")
        if len(self.names) >= _MOST_NAMES:
            raise Bug("too many have answered")
        number = len(self.names)
        self.names.append(name)
        length = self.minutes * MINUTE
        stops: list[int] = []
        for start, end in merged(free):
            if end - start >= length:
                # At the same place beginnings come first: who comes as another leaves has both there.
                stops.append(start << _BITS | number)
                stops.append((end - length) << _BITS | _ENDS | number)
        self._stops.append(stops)

    def windows(self, first: Collection[str] = (), most: int = MOST_WINDOWS) -> tuple[Window, ...]:
        """The best windows: by attendance, then without leaving out those named `first`, then by length."""
        stops = [one for run in self._stops for one in run]
        # Each run is in order by itself, which sorting makes use of.
        stops.sort()
        cared = sum(1 << number for number, name in enumerate(self.names) if name in first)
        length = self.minutes * MINUTE
        peaks: list[tuple[int, int, int, int, int]] = []
        inside = count = opened = 0
        rising = False
        for stop in stops:
            if stop & _ENDS:
                if rising:
                    start, end = opened >> _BITS, (stop >> _BITS) + length
                    left_out = (cared & ~inside).bit_count()
                    peaks.append((-count, left_out, start - end, start, inside))
                    rising = False
                inside ^= 1 << (stop & _WHO)
                count -= 1
            else:
                inside |= 1 << (stop & _WHO)
                count += 1
                opened, rising = stop, True
        return tuple(self._window(one) for one in nsmallest(most, peaks))

    def _window(self, peak: tuple[int, int, int, int, int]) -> Window:
        _, _, length, start, there = peak
        available = tuple(name for number, name in enumerate(self.names) if there >> number & 1)
        missing = tuple(name for number, name in enumerate(self.names) if not there >> number & 1)
        return Window(Span(Moment(start), Moment(start - length)), available, missing)


@dataclass(frozen=True, slots=True)
class Aggregate:
    """What the answers so far come to."""

    windows: tuple[Window, ...]
    binding: Binding | None
    areas: tuple[str, ...] = ()
    """The areas that suit most of those who named any, all of them if there are such."""
    dietary: tuple[str, ...] = ()
    """Everything that somebody needs, without whose it is."""


def aggregate(
    free: Mapping[str, Sequence[Span]],
    minutes: int,
    *,
    places: Mapping[str, object] | None = None,
    diets: Mapping[str, object] | None = None,
    first: Collection[str] = (),
) -> Aggregate:
    """What all who answered have in common, and who binds."""
    overlap = Overlap(minutes)
    for name, spans in free.items():
        overlap.add(name, spans)
    windows = overlap.windows(first)
    wanted = {name: _words(value) for name, value in (places or {}).items()}
    wanted = {name: words for name, words in wanted.items() if words}
    needs = {word for value in (diets or {}).values() for word in _words(value)}
    areas, most = _areas(wanted)
    found = _binding(tuple(free), windows, wanted, most)
    return Aggregate(windows, found, areas, tuple(sorted(needs)))


def _areas(wanted: Mapping[str, frozenset[str]]) -> tuple[tuple[str, ...], int]:
    counts: dict[str, int] = {}
    for words in wanted.values():
        for one in words:
            counts[one] = counts.get(one, 0) + 1
    most = max(counts.values(), default=0)
    return tuple(sorted(one for one, count in counts.items() if count == most)), most


def _binding(
    names: Sequence[str], windows: Sequence[Window], wanted: Mapping[str, frozenset[str]], most: int
) -> Binding | None:
    best = windows[0].count if windows else 0
    found: Binding | None = None
    for name in names:
        more = max((one.count + (name in one.missing) for one in windows), default=1)
        gain = more - best
        if gain > (found.gain if found else 0):
            found = Binding(name, TIMES, gain)
    for name in wanted:
        others = {one: words for one, words in wanted.items() if one != name}
        gain = _areas(others)[1] + 1 - most
        if gain > (found.gain if found else 0):
            found = Binding(name, PLACES, gain)
    return found


def _words(value: object) -> frozenset[str]:
    """What a field names: its texts, a list in one text taken apart."""
    if isinstance(value, str):
        parts = value.replace(";", ",").replace("/", ",").replace(" or ", ",").split(",")
        return frozenset(word for part in parts if (word := " ".join(part.casefold().split())))
    if isinstance(value, list):
        texts = [one for one in cast("list[object]", value) if isinstance(one, str)]
        return frozenset(word for one in texts for word in _words(one))
    return frozenset()
