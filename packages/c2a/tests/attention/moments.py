"""Moments of a room, played on a real ledger by a clock in hand: who has what was said within five seconds?

python -m tests.attention.moments FILE.jsonl          each moment that went another way, then the figure

A line of the file is one moment: `people` (the first is the room's owner), `agents` with their roles, `history`,
then who says (`by`) what (`text`), and whom somebody who has not read the code expected it to reach: `none`, `one`
agent (`best` names the fittest), `all`, or `named:<agent>`. The agents do as harnesses do: they take what they are
offered at once.
"""

from __future__ import annotations

import json
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.attention.io.house import GROUP, House

WITHIN = 5.0
STEP = 0.5
BEFORE = 20.0
"""Seconds between two lines of what was said before."""


@dataclass(frozen=True)
class Played:
    """What became of a moment."""

    moment: dict[str, Any]
    reached: list[str]

    @property
    def as_expected(self) -> bool:
        expected, agents = self.moment["expected"], [one["name"] for one in self.moment["agents"]]
        match expected:
            case "none":
                return not self.reached
            case "one":
                return len(self.reached) == 1
            case "all":
                return self.reached == sorted(agents)
            case _:
                return self.reached == [expected.removeprefix("named:")]

    @property
    def is_best(self) -> bool:
        """Did it reach the fittest, where one was named?"""
        return self.moment.get("best") in {None, *self.reached}

    def __str__(self) -> str:
        said = f"{self.moment['by']}: {self.moment['text']}"
        return f"{said!r} expected {self.moment['expected']}, reached {', '.join(self.reached) or 'nobody'}"


def play(moment: dict[str, Any], folder: Path) -> Played:
    """Play one moment in a house of its own."""
    house = House(folder)
    try:
        names = _furnish(house, moment)
        asked = ""
        for line in moment["history"]:
            by = names[line["by"]]
            more = {}
            if asked and line["by"] not in moment["people"]:
                house.call(by, "chat.claim", eventId=asked)
                more = {"reply_to": asked}
            event = house.say(GROUP, by, line["text"], **more)
            asked = event.id if line["by"] in moment["people"] else ""
            _pass(house, BEFORE)
        event = house.say(GROUP, names[moment["by"]], moment["text"])
        _pass(house, WITHIN)
        return Played(moment, sorted({one.data["session"] for one in _deliveries(house, event.id)}))
    finally:
        house.close()


def _furnish(house: House, moment: dict[str, Any]) -> dict[str, str]:
    """The room with its members; the principal behind each name."""
    owner, *others = moment["people"]
    house.group(GROUP)
    names = {owner: "user"}
    for person in others:
        names[person] = f"usr:{person}"
        house.do(GROUP, "user", "x.tacit.person.add", principal=names[person], title=person)
    for agent in moment["agents"]:
        names[agent["name"]] = agent["name"]
        house.do(GROUP, "user", "actor.add", actor_id=agent["name"], role="peer", roles=agent["roles"])
        house.connect(agent["name"])
    return names


def _pass(house: House, seconds: float) -> None:
    """Time passes; whoever is offered something takes it."""
    house.tick()
    for _ in range(int(seconds / STEP)):
        _take_offers(house)
        house.clock.move(STEP)
        house.tick()


def _take_offers(house: House) -> None:
    for record in (one.data for one in house.events(GROUP) if one.kind == "x.c2a.delivery"):
        if record.get("needs_claim"):
            house.call(record["session"], "chat.claim", eventId=record["event_id"])


def _deliveries(house: House, event_id: str) -> list[Any]:
    return [
        one
        for one in house.events(GROUP)
        if one.kind == "x.c2a.delivery" and one.data["event_id"] == event_id
    ]


def played(path: Path) -> list[Played]:
    """Every moment of a file."""
    moments = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
    with tempfile.TemporaryDirectory() as folder:
        return [play(moment, Path(folder) / str(number)) for number, moment in enumerate(moments)]


def figure(found: list[Played]) -> str:
    """In how many moments the expected thing happened, and how often the fittest had it."""
    fit = [one for one in found if one.as_expected and "best" in one.moment]
    return (
        f"{sum(one.as_expected for one in found)} of {len(found)} as expected within {WITHIN:g} s; "
        f"the fittest in {sum(one.is_best for one in fit)} of {len(fit)}"
    )


if __name__ == "__main__":
    PLAYED = played(Path(sys.argv[1]))
    OTHERWISE = [str(one) for one in PLAYED if not one.as_expected]
    sys.stdout.write("\n".join([*OTHERWISE, figure(PLAYED), ""]))
