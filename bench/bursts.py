"""Questions in several lines: do they reach the agent whole, and what does that cost?

python -m bench.bursts FILE [--every 5] [--thinks 15 60] [--write]

The log and its truth are those of `chatlog`: what X replied to is a question of its author's, together with the
lines that people said go on with it (or that it goes on with), two minutes from one to the next at most, none of
them behind X's own word to that author. X is the agent, of which the product decides every line; what it gets goes
to the product's own conduct, one for each asker, so that nobody waits for another's question. A model thinks for
`--thinks` seconds and then answers. A question is whole when one answered turn has all of its lines, but for those that
C2A-067 keeps silent ("ok", ":)"); the wait is from its last line to the beginning of that turn. "Within the cap" are
those that C2A-086 lets an agent wait for: all lines within half a minute. A line that is asked alone gives the wait of a one-liner, where the
agent had nothing else of its author's to do.

The clock is the log's. Where that says the minute and not the second, the figures are given twice: by the log's own
clock, on which the lines of a minute come at once and those of the next a whole minute later, and with its lines
spread evenly over the minute, which is further apart than people write. `--write` puts them into docs/benchmarks.md.
"""

from __future__ import annotations

import argparse
import json
import statistics
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bench.chatlog import BEGINS, Room, aims, days_of, listeners, person_id, read_log
from tacit.attention.decide.decide import entry_of, situation_in
from tacit.attention.decide.matrix import Situation
from tacit.attention.read import bursts
from tacit.attention.read.calls import CallStrength, calls
from tacit.attention.read.form import Ending, ending_of, prose
from tacit.attention.settings import DEFAULTS
from tacit.base.moment import SECOND, Moment, rfc3339
from tacit.c2a.messages import Delivered, Part
from tacit.c2a.vocabulary import Mode, Priority
from tacit.harness.conduct import Conduct, ConductOptions
from tacit.harness.drivers.port import TurnOutcome
from tacit.harness.effects import Abort, Begin
from tacit.ledger.envelope import Event

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tacit.attention.decide.decision import Decision
    from tacit.attention.read.parsed_message import ParsedMessage
    from tacit.harness.effects import Effect, ModelTurn

PAGE = Path(__file__).parent.parent / "docs" / "benchmarks.md"
BEGIN, END = "<!-- bursts -->", "<!-- end of bursts -->"
APART_S = 120
LOOKED_THROUGH = 16
TURNS = frozenset({Mode.BUFFERED, Mode.IMMEDIATE})


def with_seconds(day: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The day with a moment for each line: as it is, or spread over the minute where only that is known."""
    if any(row["at_s"] % 60 for row in day):
        return day
    lines: Counter[float] = Counter(row["at_s"] for row in day)
    seen: Counter[float] = Counter()
    found: list[dict[str, Any]] = []
    for row in day:
        at = row["at_s"]
        found.append({**row, "at_s": at + 60 * (seen[at] + 0.5) / lines[at]})
        seen[at] += 1
    return found


def questions(day: list[dict[str, Any]], agent: str) -> list[tuple[int, ...]]:
    """The questions that the agent answered, each as its lines in order."""
    by_n = {row["n"]: row for row in day}
    replied = {row["n"]: [by_n[one] for one in row["reply_to"] if one in by_n] for row in day}
    later: dict[int, list[int]] = defaultdict(list)
    for row in day:
        for above in replied[row["n"]]:
            if above["by"] == row["by"]:
                later[above["n"]].append(row["n"])
    found: dict[tuple[int, ...], None] = {}
    for answer in day:
        if answer["by"] != agent or not answer["annotated"]:
            continue
        for asked in replied[answer["n"]]:
            if asked["by"] == agent:
                continue
            lines, open_lines = {asked["n"]}, [asked["n"]]
            while open_lines:
                one = open_lines.pop()
                near = [above["n"] for above in replied[one] if above["by"] == asked["by"]] + later[one]
                for other in near:
                    close = abs(by_n[other]["at_s"] - by_n[one]["at_s"]) <= APART_S
                    if other not in lines and other < answer["n"] and close:
                        lines.add(other)
                        open_lines.append(other)
            found[_unanswered(sorted(lines), replied, by_n, agent)] = None
    return list(found)


def _unanswered(lines: list[int], replied: Any, by_n: Any, agent: str) -> tuple[int, ...]:
    """Only what comes behind the agent's last word before the end of it."""
    own = [n for n, row in by_n.items() if row["by"] == agent and lines[0] < n < lines[-1]]
    spoken = [n for n in own if any(above["n"] in lines for above in replied[n])]
    return tuple(n for n in lines if not spoken or n > max(spoken))


@dataclass
class Asker:
    """One person's questions to the agent, and its turns about them."""

    conduct: Conduct
    ends: dict[str, Moment] = field(default_factory=dict)
    answered: list[tuple[frozenset[str], Moment]] = field(default_factory=list)
    turns: dict[str, tuple[ModelTurn, Moment]] = field(default_factory=dict)


class Simulation:
    """A day with one speaker as its agent, by the clock."""

    def __init__(self, day: list[dict[str, Any]], agent: str, thinks_s: float) -> None:
        self.room = Room(day, agent, threaded=False)
        self.agent, self.thinks = agent, int(thinks_s * SECOND)
        self.askers: dict[str, Asker] = {}
        self.recent: list[tuple[str, Moment, ParsedMessage, str]] = []
        self.silent: set[str] = set()
        """Lines that are thanks or a receipt, which no turn is made of."""
        self.free: set[str] = set()
        """Lines that came when nothing of their author's was asked or under way."""

    def take(self, row: dict[str, Any]) -> None:
        at = Moment(BEGINS + int(row["at_s"] * SECOND))
        own = row["by"] == self.agent
        data: dict[str, Any] = {"text": row["text"]}
        if own:
            called = calls(prose(row["text"]), self.room.roster)
            data["mentions"] = [one.name for one in called if one.strength is not CallStrength.DOUBTFUL]
        event = Event(
            v=1, id=f"e{row['n']}", ts=rfc3339(at), seq=int(row["n"]), kind="chat.message", group_id="g",
            scope_key="", by=self.room.id if own else person_id(row["by"]), data=data,
        )  # fmt: skip
        decisions, _ = self.room.attention.take(event, at, self.room.roster)
        said = decisions.parsed
        assert said is not None
        decision = decisions[self.room.id]
        if situation_in(decision) is Situation.GRATITUDE:
            self.silent.add(event.id)
        if not own and decision.mode in TURNS:
            if decision.mode is Mode.BUFFERED and self.room.id in said.target.agents and bursts.called(said):
                self._before(said, at)
            self._hear(event.id, at, said, row["text"], decision, at)
        self.recent = [*self.recent[1 - LOOKED_THROUGH :], (event.id, at, said, row["text"])]

    def _before(self, said: ParsedMessage, at: Moment) -> None:
        known = {one: (when, line, text) for one, when, line, text in self.recent}
        added = entry_of(Situation.ADDED, Priority.NORMAL, self.room.attention.settings.deadline_ms)
        for one in bursts.before(said, at, [row[:3] for row in reversed(self.recent)]):
            when, line, text = known[one]
            self._hear(one, when, line, text, added, at)

    def _hear(
        self, event_id: str, written: Moment, said: ParsedMessage, text: str, decision: Decision, now: Moment
    ) -> None:
        asker = self.askers.setdefault(
            said.author.id, Asker(Conduct(ConductOptions(boundaries=True), self.room.attention.settings))
        )
        self._run(asker, now)
        if not asker.conduct.owed:
            self.free.add(event_id)
        piece = Delivered(
            event_id, said.conversation.id, said.conversation.kind, said.author, decision.directedness,
            decision.policy, decision.mode, decision.reason.value, decision.priority, written,
            f"{event_id}:{self.room.id}", (Part(text=text),),
            mentions=tuple(f"agent:{one}" for one in said.target.agents),
        )  # fmt: skip
        self._did(asker, asker.conduct.heard(piece, now), now)

    def _run(self, asker: Asker, until: Moment | None) -> None:
        """Let the time pass: turns end, windows close."""
        while True:
            ends = min(asker.ends.items(), key=lambda one: one[1], default=None)
            due = asker.conduct.next_due
            times = [one for one in (ends[1] if ends else None, due) if one is not None]
            if not times or (until is not None and min(times) > until):
                return
            now = min(times)
            if ends is not None and ends[1] == now:
                del asker.ends[ends[0]]
                turn, began = asker.turns.pop(ends[0])
                running = asker.conduct.turn(ends[0])
                if running is not None and not running.is_ending:
                    asker.answered.append((frozenset(one.event_id for one in turn.events), began))
                self._did(asker, asker.conduct.ended(TurnOutcome(ends[0], "Done."), now), now)
            else:
                self._did(asker, asker.conduct.due(now), now)

    def _did(self, asker: Asker, effects: Iterable[Effect], now: Moment) -> None:
        for effect in effects:
            if isinstance(effect, Begin):
                asker.turns[effect.turn.id] = (effect.turn, now)
                asker.ends[effect.turn.id] = Moment(now + self.thinks)
            elif isinstance(effect, Abort):
                asker.ends[effect.turn_id] = now

    def finish(self) -> dict[frozenset[str], Moment]:
        """Every answered turn, with when it began."""
        for asker in self.askers.values():
            self._run(asker, None)
        return {lines: began for asker in self.askers.values() for lines, began in asker.answered}


def measured(rows: list[dict[str, Any]], *, every: int, thinks_s: float, spread: bool) -> dict[str, Any]:
    """The figures over the days of a log."""
    several: Counter[str] = Counter()
    waits: list[float] = []
    alone: dict[Ending, list[float]] = defaultdict(list)
    for plain in days_of(rows)[::every]:
        day = with_seconds(plain) if spread else plain
        at = {row["n"]: BEGINS + int(row["at_s"] * SECOND) for row in day}
        texts = {row["n"]: row["text"] for row in day}
        if not any(aims(day).values()):
            continue
        for agent in listeners(day):
            simulation = Simulation(day, agent, thinks_s)
            for row in day:
                simulation.take(row)
            turns = simulation.finish()
            for lines in questions(day, agent):
                ids = {f"e{n}" for n in lines} - simulation.silent
                whole = [began for turn, began in turns.items() if ids <= turn]
                wait = (min(whole) - at[lines[-1]]) / SECOND if whole else None
                if len(ids) > 1:
                    reached = any(ids & turn for turn in turns)
                    near = at[lines[-1]] - at[lines[0]] <= DEFAULTS.compose_cap_ms * 1000
                    several["all"] += 1
                    several["reached"] += reached
                    several["whole"] += wait is not None
                    several["near"] += near and reached
                    several["near_whole"] += near and wait is not None
                    waits += [] if wait is None else [max(0.0, wait)]
                elif wait is not None and len(lines) == 1 and ids <= simulation.free:
                    called = (simulation.room.id, agent)
                    alone[ending_of(texts[lines[0]], called)].append(max(0.0, wait))
    return {
        "thinks_s": thinks_s, "clock": "spread" if spread else "the log's", "questions": several["all"], "reached": several["reached"],
        "whole": several["whole"], "whole_of_reached": _share(several["whole"], several["reached"]),
        "near": several["near"], "near_whole": _share(several["near_whole"], several["near"]),
        "median_wait_s": _median(waits),
        "alone": {
            str(one): {"count": len(found), "median_s": _median(found), "most_s": round(max(found), 2)}
            for one, found in sorted(alone.items())
        },
    }  # fmt: skip


def _share(part: int, whole: int) -> float:
    return round(part / whole, 3) if whole else 0.0


def _median(found: list[float]) -> float:
    return round(statistics.median(found), 2) if found else 0.0


def page(found: list[dict[str, Any]], name: str, every: int) -> str:
    """The part of the page that these figures are."""
    rows = [
        f"| {one['clock']} | {one['thinks_s']:g} s | {one['questions']} | {one['reached']} | {one['whole']}"
        f" | {one['whole_of_reached']:.1%} | {one['near_whole']:.1%} of {one['near']} | {one['median_wait_s']} s |"
        for one in found
    ]
    alone = [
        f"| {kind} | {row['count']} | {row['median_s']} s | {row['most_s']} s |"
        for kind, row in found[0]["alone"].items()
    ]
    days = "every day" if every == 1 else f"every {every}th day"
    return "\n".join(
        [
            BEGIN, "### Questions in several lines", "",
            (f"`python -m bench.bursts {name}`, {days} of the log, each of its fifteen most active speakers as the agent in"
            " turn. The log's clock knows minutes: by it the lines of a minute come at once, those of the next a minute later;"
            " spread evenly over the minute they are further apart than people write. An agent may wait for half a minute in all"
            " (C2A-086), so what is further apart than that it cannot have whole."), "",
            ("| clock | a turn takes | questions in several lines | reached the agent | whole | of those that reached it"
            " | within the cap | median wait behind the last line |"),
            "|---|---|---|---|---|---|---|---|", *rows, "", "Lines that are a question alone, by how they end (the longest are turns that were begun anew, as their author went on):", "",
            "| ends | lines | median wait | longest |", "|---|---|---|---|", *alone, END,
        ]
    )  # fmt: skip


def write(part: str) -> None:
    """Put the part into the page, in the place of the last one."""
    text = PAGE.read_text(encoding="utf-8")
    if BEGIN in text:
        text = text[: text.index(BEGIN)] + part + text[text.index(END) + len(END) :]
    else:
        text = text.rstrip("\n") + "\n\n" + part + "\n"
    PAGE.write_text(text, encoding="utf-8")


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("log", type=Path)
    parser.add_argument("--every", type=int, default=1, help="only every so-many-th day")
    parser.add_argument("--thinks", type=float, nargs="+", default=[15.0, 30.0, 60.0])
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--write", action="store_true", help="put the figures into docs/benchmarks.md")
    options = parser.parse_args()
    rows = read_log(options.log)
    found = [
        measured(rows, every=options.every, thinks_s=one, spread=spread)
        for spread in (True, False)
        for one in options.thinks
    ]
    part = page(found, options.log.name, options.every)
    print(json.dumps(found) if options.json else part)
    if options.write:
        write(part)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
