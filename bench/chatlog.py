"""Attention judged on other people's chats: `python -m bench.attention --log FILE`.

A log is JSON lines (`.gz` or plain): `file` (a day), `n` (its line), `at_s`, `by`, `text`, `annotated`, and
`reply_to`, the lines that people said it answers. The truth is that annotation and nothing else: a line is aimed
at X when X's own line is annotated as a reply to it, or it as a reply to a line of X's. The decider never sees
it. It sees a room in which one speaker is an agent and all others are people, one speaker after the other (the
fifteen most active of a day): texts, authors and times through the product's own fold. `flat` gives no reply
links at all, `threaded` those that the log has to earlier lines.

"Recognised" also counts lines that are known to be the agent's and that a rule gives it without turn or knock: thanks
and receipts (C2A-067), and what an author adds to a question of their own which has no answer yet, of which the agent is
told that there is more and which it reads with the question (C2A-083).

Recall is over lines aimed at X; precision over delivered lines that the annotation aims at anybody, since people
left most small remarks unlabelled; `of all` counts those too.
"""

from __future__ import annotations

import gzip
import json
import re
import sys
from collections import Counter, defaultdict
from typing import TYPE_CHECKING, Any

from tacit.attention import Roster, RosterAgent, RosterPerson
from tacit.attention.read.calls import CallStrength, calls
from tacit.attention.read.form import prose
from tacit.attention.settings import Settings
from tacit.attention.state.fold import Attention
from tacit.base.moment import SECOND, Moment, rfc3339
from tacit.c2a.vocabulary import Directedness, Mode
from tacit.ledger.envelope import Event

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from typing import TextIO

    from tacit.attention.decide.decision import Decision

LISTENERS = 15
BEGINS = 1_700_000_000 * SECOND
TURNS = frozenset({Mode.IMMEDIATE, Mode.BUFFERED})
REACHES = TURNS | {Mode.NOTIFY}
WORD = re.compile(r"[\w\[\]\\`^{|}-]+")
WAYS = ("attention", "recognised", "mention only", "name anywhere", "everything")


def read_log(path: Path) -> list[dict[str, Any]]:
    """The rows of a log; one that lacks what every line has ends the run with its number."""
    found: list[dict[str, Any]] = []
    with (
        gzip.open(path, "rt", encoding="utf-8")
        if path.suffix == ".gz"
        else path.open(encoding="utf-8") as lines
    ):
        for number, raw in enumerate(lines, 1):
            if not raw.strip():
                continue
            try:
                row = json.loads(raw)
                row["by"], row["text"], row["at_s"] = str(row["by"]), str(row["text"]), float(row["at_s"])
            except (ValueError, KeyError, TypeError) as fault:
                sys.exit(f"{path.name}, line {number}: needs by, text and at_s ({type(fault).__name__})")
            row.setdefault("n", number)
            row.setdefault("file", "")
            above = row.get("reply_to") or []
            row["reply_to"] = above if isinstance(above, list) else [above]
            row.setdefault("annotated", bool(row["reply_to"]))
            found.append(row)
    return found


def days_of(rows: list[dict[str, Any]]) -> list[list[dict[str, Any]]]:
    """The rows by day, in the log's order."""
    found: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for row in rows:
        found[str(row["file"])].append(row)
    return list(found.values())


def aims(day: list[dict[str, Any]]) -> dict[int, set[str]]:
    """Whom the annotation aims each line at."""
    by_n = {row["n"]: row for row in day}
    found: dict[int, set[str]] = defaultdict(set)
    for row in day:
        for above in row["reply_to"] if row["annotated"] else ():
            other = by_n.get(above)
            if other is not None and other["by"] != row["by"]:
                found[row["n"]].add(other["by"])
                found[above].add(row["by"])
    return found


def listeners(day: list[dict[str, Any]]) -> list[str]:
    """The most active speakers of a day."""
    return [name for name, _ in Counter(row["by"] for row in day if row["annotated"]).most_common(LISTENERS)]


def agent_id(name: str) -> str:
    """A name as the id of an agent."""
    return (re.sub(r"[^A-Za-z0-9._-]", "_", name).lstrip("._-") or "x")[:60]


def person_id(name: str) -> str:
    """A name as the id of a person."""
    return "usr:" + (re.sub(r"[^a-z0-9._-]", "_", name.lower()).lstrip("._-") or "x")[:60]


class Room:
    """A day with one speaker as its agent."""

    def __init__(self, day: list[dict[str, Any]], agent: str, *, threaded: bool) -> None:
        self.agent, self.id = agent, agent_id(agent)
        speakers = sorted({row["by"] for row in day})
        people = [RosterPerson(person_id(one), (one,)) for one in speakers if one != agent]
        self.roster = Roster.of([RosterAgent(self.id, (agent,))], people)
        # Two speakers of a log are no agents in a loop, whatever they say.
        self.attention = Attention(Settings(exchange_limit=sys.maxsize))
        self.threaded = threaded
        self.days_lines = {row["n"] for row in day}
        self.confidence = 1.0
        """How sure it is that the last line was the agent's: certain when it is named, nothing when it is not its."""

    def take(self, row: dict[str, Any]) -> Decision | None:
        """What the agent gets for a line; None for its own."""
        own = row["by"] == self.agent
        data: dict[str, Any] = {"text": row["text"]}
        if own:
            called = calls(prose(row["text"]), self.roster)
            data["mentions"] = [one.name for one in called if one.strength is not CallStrength.DOUBTFUL]
        earlier = [one for one in row["reply_to"] if one < row["n"] and one in self.days_lines]
        if self.threaded and earlier:
            data["reply_to"] = f"e{earlier[-1]}"
        at = Moment(BEGINS + int(row["at_s"] * SECOND))
        event = Event(
            v=1, id=f"e{row['n']}", ts=rfc3339(at), seq=int(row["n"]), kind="chat.message", group_id="g",
            scope_key="", by=self.id if own else person_id(row["by"]), data=data,
        )  # fmt: skip
        decisions, _ = self.attention.take(event, at, self.roster)
        if own:
            return None
        decision = decisions[self.id]
        self.confidence = 1.0 if decision.directedness is Directedness.TO_ME else 0.0
        for one in decisions.parsed.follows if decisions.parsed is not None else ():
            if one.who == self.id:
                self.confidence = one.confidence
        return decision


def cue_of(row: dict[str, Any], agent: str, room: Room, seen: dict[str, str]) -> str:
    """What in a line could have told that it is aimed at the agent; for the table alone."""
    named = [
        one for one in calls(prose(row["text"]), room.roster) if room.roster.principal(one.name) == room.id
    ]
    if any(one.strength is CallStrength.SIGNED for one in named):
        return "name with a sign"
    if named:
        return "name at the start or end"
    if agent.casefold() in {word.casefold() for word in WORD.findall(row["text"])}:
        return "name inside"
    return "running dialogue" if seen.get(row["by"]) == agent else "first contact"


def judged(
    days: list[list[dict[str, Any]]], *, threaded: bool, out: TextIO | None
) -> Iterator[tuple[str, bool, bool, dict[str, bool], bool]]:
    """For each line and listener: the cue, is it aimed at the listener, at anybody, what delivers it, a turn?"""
    for day in days:
        truth = aims(day)
        for agent in listeners(day):
            room, seen = Room(day, agent, threaded=threaded), {}
            for row in day:
                decision = room.take(row)
                cue = cue_of(row, agent, room, seen)
                for other in truth[row["n"]]:
                    seen[row["by"]], seen[other] = other, row["by"]
                if decision is None:
                    continue
                if out is not None:
                    out.write(json.dumps(_said(row, agent, decision, room.confidence)) + "\n")
                if not row["annotated"]:
                    continue
                reach = {
                    "attention": decision.mode in REACHES,
                    "recognised": decision.mode in REACHES or decision.directedness is Directedness.TO_ME,
                    "mention only": cue == "name with a sign",
                    "name anywhere": cue.startswith("name"),
                    "everything": True,
                }
                aimed = truth[row["n"]]
                yield cue, agent in aimed, bool(aimed), reach, decision.mode in TURNS


def _said(row: dict[str, Any], agent: str, decision: Decision, confidence: float) -> dict[str, Any]:
    return {
        "file": row["file"], "n": row["n"], "agent": agent, "mode": decision.mode.value,
        "policy": decision.policy.value, "confidence": confidence, "rule": decision.rule("policy").name,
    }  # fmt: skip


def table(path: Path, *, threaded: bool, first: int, every: int, out: TextIO | None) -> dict[str, Any]:
    """The whole judgement of a log, or of every so-many-th of its days, as numbers."""
    days = days_of(read_log(path))[first::every]
    ways = {name: Counter[str]() for name in WAYS}
    cues: dict[str, Counter[str]] = defaultdict(Counter)
    pairs = turns = 0
    for cue, mine, anybodys, reach, turn in judged(days, threaded=threaded, out=out):
        pairs += 1
        turns += turn
        for name, hit in reach.items():
            kind = "aimed" if mine else "other" if anybodys else "nobody"
            ways[name][f"{kind} {'got' if hit else 'missed'}"] += 1
        if mine:
            cues[cue]["got" if reach["attention"] else "missed"] += 1
    return {
        "messages": sum(map(len, days)), "pairs": pairs, "turns_of_everything": _share(turns, pairs),
        "ways": {name: _rates(counted) for name, counted in ways.items()},
        "cues": {
            cue: {"aimed": counted.total(), "recall": _share(counted["got"], counted.total())}
            for cue, counted in sorted(cues.items(), key=lambda one: -one[1].total())
        },
    }  # fmt: skip


def _rates(counted: Counter[str]) -> dict[str, float]:
    got, missed = counted["aimed got"], counted["aimed missed"]
    wrong, idle = counted["other got"], counted["nobody got"]
    return {
        "recall": _share(got, got + missed),
        "precision": _share(got, got + wrong),
        "of_all": _share(got, got + wrong + idle),
        "delivered": got + wrong + idle,
    }


def _share(part: int, whole: int) -> float:
    return round(part / whole, 3) if whole else 0.0


def show(found: dict[str, Any]) -> None:
    """The table as text."""
    print(f"{found['messages']} messages, {found['pairs']} labelled pairs of line and listener")
    print(f"  {'':20}{'recall':>9}{'precision':>11}{'of all':>9}{'delivered':>11}")
    for name, row in found["ways"].items():
        print(
            f"  {name:20}{row['recall']:>9.3f}{row['precision']:>11.3f}{row['of_all']:>9.3f}{row['delivered']:>11}"
        )
    print(f"  turns: {found['turns_of_everything']:.1%} of those of everything")
    for cue, row in found["cues"].items():
        print(f"  {cue:26}{row['aimed']:>7} aimed, {row['recall']:.3f} of them delivered")
