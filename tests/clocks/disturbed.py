"""What can be wrong with the clock of one machine: by how much, and how it came to be."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tacit.base.io.time_service import TimeService
from tacit.base.moment import SECOND, Moment
from tests.two_clocks import DAY, START, TwoClocks

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

HOUR = 3600 * SECOND
OFFSETS = {
    "a year behind": -365 * DAY,
    "three days behind": -3 * DAY,
    "an hour behind": -HOUR,
    "an hour ahead": HOUR,
    "three days ahead": 3 * DAY,
    "sixty-one days ahead": 61 * DAY,
    "ninety-one days ahead": 91 * DAY,
    "a year ahead": 365 * DAY,
}
WAYS = ("jump", "drift", "jump and back", "restart")
STEPS = 40


class World:
    """Time passes for every machine alike; what their clocks say of it is another matter."""

    def __init__(self, *names: str) -> None:
        self.clocks = {name: TwoClocks() for name in names}
        self.truth = START
        self.on_hour: Callable[[], None] = lambda: None
        """What every machine does again and again."""

    def service(self, name: str) -> TimeService:
        """The time of a machine, as a process of it reads it. Another process begins without knowing more."""
        return TimeService(self.clocks[name].both, boot=lambda: "")

    def pass_time(self, span: int, *, hours: int = 1) -> None:
        """Time passes, and whoever runs watches it, every few hours."""
        while span > 0:
            step = min(span, hours * HOUR)
            span -= step
            self.truth = Moment(self.truth + step)
            for clock in self.clocks.values():
                clock.watch(step)
            self.on_hour()

    def disturb(self, name: str, by: int, way: str) -> Iterator[str]:
        """Put a clock wrong; what is said is what whoever runs the machine is to do then."""
        clock = self.clocks[name]
        match way:
            case "jump":
                clock.leap(by)
                yield "go on"
            case "drift":
                for _ in range(STEPS):
                    clock.leap(by // STEPS)
                    self.pass_time(HOUR)
                yield "go on"
            case "jump and back":
                clock.leap(by)
                yield "go on"
                clock.leap(-by)
                yield "go on"
            case _:
                yield "stop"
                clock.leap(by)
                yield "start"

    def put_right(self, name: str) -> None:
        """Its owner, or the network, sets the clock."""
        clock = self.clocks[name]
        clock.leap(self.truth - clock.wall)
