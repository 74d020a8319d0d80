"""What attention costs and saves.

python -m bench.attention                                   speed, then a generated busy channel
python -m bench.attention --only speed|replay
python -m bench.attention --log FILE [--links threaded] [--first 2] [--every 3] [--decisions OUT.jsonl]     a real chat log

The last judges attention on other people's words: see `chatlog`.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import random
import sys
import time
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path

from bench import chatlog
from tacit.attention import Decision, Roster, RosterAgent, RosterPerson, decide
from tacit.attention.decide.explain import sentence
from tacit.attention.decide.knock import knock_of
from tacit.attention.read.form import prose
from tacit.attention.read.mentions import in_text
from tacit.attention.settings import DEFAULTS, Settings
from tacit.attention.state.fold import Attention
from tacit.attention.state.records import moment_of
from tacit.base.moment import Moment, rfc3339
from tacit.c2a.messages import Delivered, Part
from tacit.c2a.vocabulary import SOCIAL, Mode
from tacit.harness.question import TurnQuestion, added, begun, takes
from tacit.ledger.envelope import Event

HEADER = len(
    "C2A EVENT 5f3a9c1e\nevent_id: e123456\nconversation: channel main\nthread: e123456\nauthor: human:somebody\n"
    "directedness: to_me\nresponse_policy: must_respond\nreason: direct_mention\nreply_target: thread:e123456\n\nMESSAGE 5f3a9c1e\n| "
)
START = 1_780_000_000_000_000


def as_row(decision: Decision) -> dict[str, object]:
    """A decision as data, with the rule behind each part."""
    return {
        "directedness": decision.directedness.value,
        "policy": decision.policy.value,
        "mode": decision.mode.value,
        "reason": decision.reason.value,
        "priority": decision.priority.value,
        "deadlineMs": decision.deadline_ms,
        "needsClaim": decision.needs_claim,
        "escalate": decision.escalate,
        "because": {
            part: {"rule": rule.name, "row": rule.row, "says": rule.says} for part, rule in decision.because
        },
    }


@dataclass
class Line:
    """One message, and whom it is truly meant for (`meant`), where that is known."""

    by: str
    text: str
    at_s: float
    data: dict = field(default_factory=dict)
    meant: frozenset = frozenset()
    pool: frozenset = frozenset()
    n: object = None
    room: str = ""
    name: str = ""


@dataclass
class Tally:
    """What one way of handling the room costs."""

    obligations: int = 0
    knocks: int = 0
    turns: int = 0
    bytes: int = 0
    missed: int = 0


def event_of(line: Line, number: int) -> Event:
    return Event(
        v=1, id=f"e{number}", ts=rfc3339(Moment(START + int(line.at_s * 1e6))), seq=number, kind="chat.message", group_id="g",
        scope_key="", by=line.by, data={"text": line.text, **line.data},
    )  # fmt: skip


class Replay:
    """Three ways through the same messages: attention, every agent sees everything, mention only."""

    def __init__(self, roster: Roster, out=None, settings: Settings = DEFAULTS) -> None:
        self.roster = roster
        self.settings = settings
        self.out = out
        self.rooms: defaultdict[str, Attention] = defaultdict(lambda: Attention(settings))
        self.windows: dict[tuple, TurnQuestion] = {}
        self.attention, self.everything, self.mention = Tally(), Tally(), Tally()
        self.messages = self.directed = self.social = 0

    def take(self, line: Line, number: int) -> None:
        event = event_of(line, number)
        state = self.rooms[line.room]
        decisions = decide(event, self.roster, state.state_for(event, moment_of(event)), self.settings)
        parsed = decisions.parsed
        assert parsed is not None
        state.apply(event, moment_of(event), parsed)
        self.messages += 1
        size = HEADER + len(line.text.encode())
        words = set(in_text(prose(line.text), self.roster))
        named = {self.roster.principal(word) for word in words}
        for agent in self.roster.agents:
            decision = decisions[agent]
            meant = agent in line.meant
            self.directed += meant
            if self.out is not None:
                row = {
                    "n": line.n if line.n is not None else number,
                    "by": line.name or line.by,
                    "agent": (self.roster.agents[agent].names or (agent,))[0],
                    "meant": meant,
                }
                self.out.write(json.dumps(row | as_row(decision) | {"why": sentence(agent, decision)}) + "\n")
            if agent == line.by:
                continue
            self.everything.turns += 1
            self.everything.bytes += size
            self.everything.obligations += 1
            if agent in named:
                self.mention.turns += 1
                self.mention.bytes += size
                self.mention.obligations += 1
            elif meant or agent in line.pool:
                self.mention.missed += parsed.intent not in SOCIAL
            self._count(agent, decision, parsed, line, event, size, meant=meant)

    def _count(self, agent, decision, parsed, line, event, size, *, meant) -> None:
        tally = self.attention
        tally.obligations += decision.obliges
        reached = decision.mode in {Mode.IMMEDIATE, Mode.BUFFERED, Mode.NOTIFY}
        if (meant or agent in line.pool) and not reached:
            if parsed.intent in SOCIAL:
                self.social += 1
            else:
                tally.missed += 1
        if decision.mode is Mode.NOTIFY:
            knock, _ = knock_of(
                decision,
                sender=line.by,
                conversation=parsed.conversation,
                intent=parsed.intent,
                body=line.text,
            )
            tally.knocks += 1
            tally.bytes += len(json.dumps(knock.members()))
        key = (agent, line.by, parsed.conversation.id, line.room)
        at = Moment(START + int(line.at_s * 1e6))
        piece = Delivered(
            event.id,
            parsed.conversation.id,
            parsed.conversation.kind,
            parsed.author,
            decision.directedness,
            decision.policy,
            decision.mode,
            decision.reason.value,
            decision.priority,
            at,
            f"{event.id}:{agent}",
            (Part(text=line.text),),
        )
        window = self.windows.get(key)
        joins = window is not None and takes(window, piece, at, self.settings)
        if joins and window is not None and decision.mode is not Mode.IMMEDIATE:
            self.windows[key] = added(window, piece, at)
            tally.bytes += len(line.text.encode()) + 1
        elif decision.mode in {Mode.IMMEDIATE, Mode.BUFFERED}:
            tally.turns += 1
            tally.bytes += size
            self.windows[key] = begun(piece, at)

    def table(self) -> dict:
        rows = {
            "attention": self.attention,
            "every agent sees every message": self.everything,
            "mention only": self.mention,
        }
        return {
            "messages": self.messages, "agents": len(self.roster.agents), "directed": self.directed,
            "directed_small_talk_left_silent": self.social,
            "ways": {name: vars(tally) for name, tally in rows.items()},
        }  # fmt: skip


# ------------------------------------------------------------------ a generated busy channel

PEOPLE = ["user", "usr:ann", "usr:bob", "usr:cem", "usr:dee"]
AGENTS = ["atlas", "beacon", "cedar", "delta", "ember", "flint", "grove", "harbor"]
ROLES = {"backend": {"atlas", "beacon", "cedar"}, "qa": {"delta", "ember"}, "docs": {"flint"}}
TOPICS = [
    "the importer",
    "the login page",
    "the nightly job",
    "the schema",
    "the parser",
    "the billing sync",
    "the search index",
]
ASKS = [
    "can you look at {t}",
    "could you check {t} please",
    "why is {t} slow",
    "what is left to do on {t}",
    "please fix {t}",
    "I'm blocked on {t}",
    "ok to merge the change to {t}?",
    "I'm assigning {t} to you",
]
CHATTER = [
    "{t} looks better today",
    "I moved {t} to the new cluster last week",
    "{t} again...",
    "my money is on {t}",
    "the numbers for {t} are in the sheet",
    "lunch anyone",
    "rainy day here",
]
THANKS = ["thanks!", "got it", "thank you so much", "ok cool", "nice one", "👍"]
REPORTS = [
    "build {n} passed",
    "deploy of {t} finished",
    "status: {t} at {p}%",
    "tests are green",
    "merged the change to {t}",
]
ANSWERS = [
    "{t} waits on a lock for most of the time, I will shorten it",
    "I found the cause in {t}: a missing index",
    "{t} is fine, the proxy was slow",
]


def generated(count: int, seed: int):
    """Messages of a busy channel with their true addressees; agents answer some of them."""
    rng = random.Random(seed)
    now, number, pending = 0.0, 0, []
    said: list[tuple[int, str]] = []

    def fill(text: str) -> str:
        return text.format(t=rng.choice(TOPICS), n=rng.randint(100, 999), p=rng.randint(1, 99))

    while number < count:
        now += rng.choice([0.4, 2, 8, 40, 120])
        if pending and rng.random() < 0.7:
            agent, root = pending.pop(0)
            line = Line(
                agent, fill(rng.choice(ANSWERS)), now, {"reply_to": f"e{root}", "directedness": "to_my_role"}
            )
            said.append((number, agent))
            yield line
            number += 1
            continue
        who, agent = rng.choice(PEOPLE), rng.choice(AGENTS)
        kind = rng.choices(
            ["mention", "dm", "role", "reply", "thanks", "fragments", "report", "chatter", "other", "open"],
            [9, 4, 3, 8, 6, 4, 12, 38, 10, 6],
        )[0]
        made: list[Line] = []
        if kind == "mention":
            made = [Line(who, f"@{agent} {fill(rng.choice(ASKS))}", now, meant=frozenset({agent}))]
        elif kind == "dm":
            made = [Line(who, fill(rng.choice(ASKS)), now, {"to": [agent]}, frozenset({agent}))]
        elif kind == "role":
            role = rng.choice(list(ROLES))
            made = [Line(who, f"@{role} {fill(rng.choice(ASKS))}", now, pool=frozenset(ROLES[role]))]
        elif kind == "reply" and said:
            root, author = said[rng.randint(max(0, len(said) - 30), len(said) - 1)]
            made = [Line(who, fill(rng.choice(ASKS[:5])), now, {"reply_to": f"e{root}"}, frozenset({author}))]
        elif kind == "thanks" and said:
            root, author = said[-1]
            made = [Line(who, rng.choice(THANKS), now, {"reply_to": f"e{root}"}, frozenset({author}))]
        elif kind == "fragments":
            parts = ["hey", fill("so about {t}"), "since this morning it is slow", fill(rng.choice(ASKS))]
            made = [Line(who, f"@{agent} {parts[0]}", now, meant=frozenset({agent}))]
            made += [Line(who, part, now + 1 + place) for place, part in enumerate(parts[1:])]
            now += 4
        elif kind == "report":
            made = [Line(rng.choice(["svc:ci", agent]), fill(rng.choice(REPORTS)), now)]
        elif kind == "other":
            made = [Line(who, f"@{rng.choice(['ann', 'bob', 'cem'])} {fill(rng.choice(ASKS))}", now)]
        elif kind == "open":
            made = [Line(who, fill("does anyone know why {t} is slow"), now)]
        else:
            made = [Line(who, fill(rng.choice(CHATTER)), now)]
        for line in made:
            if number >= count:
                return
            yield line
            if line.meant and kind != "thanks" and rng.random() < 0.8:
                pending.append((next(iter(line.meant)), number))
            number += 1


def busy_roster() -> Roster:
    agents = [
        RosterAgent(name, roles=frozenset(role for role, members in ROLES.items() if name in members))
        for name in AGENTS
    ]
    return Roster.of(agents, [RosterPerson(name) for name in PEOPLE])


def replay(count: int, seed: int) -> dict:
    run = Replay(busy_roster())
    started = time.perf_counter()
    for number, line in enumerate(generated(count, seed)):
        run.take(line, number)
    return run.table() | {"seconds": round(time.perf_counter() - started, 2), "seed": seed}


# ------------------------------------------------------------------ speed


def ambient(count: int) -> list[Event]:
    rng = random.Random(7)
    return [
        event_of(
            Line(
                rng.choice(PEOPLE), rng.choice(CHATTER).format(t=rng.choice(TOPICS)) + f" ({number})", number
            ),
            number,
        )
        for number in range(count)
    ]


def best(run, events, rounds: int = 5) -> float:
    found = []
    for _ in range(rounds):
        started = time.perf_counter()
        for event in events:
            run(event)
        found.append(time.perf_counter() - started)
    return len(events) / min(found)


def speed(count: int) -> dict:
    """Ambient events a second; every round sees texts that the rules have not cached."""
    small, large = (
        Roster.of([RosterAgent("a0")]),
        Roster.of([RosterAgent(f"a{number}") for number in range(100)]),
    )
    rounds = [ambient_round(count, one) for one in range(5)]
    bare = best(lambda event: event.data["text"], rounds[0])
    one = max(best(lambda event: decide(event, small), events, 1) for events in rounds)
    rounds = [ambient_round(count, 10 + number) for number in range(5)]
    hundred = max(best(lambda event: decide(event, large), events, 1) for events in rounds)
    return {
        "ambient_per_s_100_agents": round(hundred), "ambient_per_s_1_agent": round(one),
        "cost_100_to_1": round(one / hundred, 2), "bare_loop_per_s": round(bare), "bare_to_decide": round(bare / hundred, 1),
    }  # fmt: skip


def ambient_round(count: int, salt: int) -> list[Event]:
    events = ambient(count)
    for event in events:
        event.data["text"] += f" {salt}"
    return events


# ------------------------------------------------------------------ the command


def show(title: str, table: dict) -> None:
    print(f"\n{title}")
    ways = table.pop("ways", None)
    print("  " + ", ".join(f"{name} {value}" for name, value in table.items()))
    if ways:
        print(f"  {'':32}{'obligations':>12}{'knocks':>9}{'turns':>9}{'prompt bytes':>14}{'missed':>8}")
        for name, row in ways.items():
            print(
                f"  {name:32}{row['obligations']:>12}{row['knocks']:>9}{row['turns']:>9}{row['bytes']:>14}{row['missed']:>8}"
            )


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", choices=["speed", "replay"])
    parser.add_argument("--messages", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=4)
    parser.add_argument("--log", type=Path, help="a chat log, one JSON object a line")
    parser.add_argument("--links", choices=["flat", "threaded"], default="flat", help="reply links of a log")
    parser.add_argument("--every", type=int, default=1, help="of a log only every so-many-th day")
    parser.add_argument("--first", type=int, default=0, help="of a log begin with this day, counted from 0")
    parser.add_argument("--decisions", type=Path, help="write every decision here, one JSON object a line")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    if options.log:
        with contextlib.ExitStack() as stack:
            out = options.decisions and stack.enter_context(options.decisions.open("w", encoding="utf-8"))
            found = chatlog.table(
                options.log,
                threaded=options.links == "threaded",
                first=options.first,
                every=options.every,
                out=out,
            )
        if options.json:
            print(json.dumps({"log": found}))
        else:
            chatlog.show(found)
        return 0
    results: dict[str, dict] = {}
    if options.only != "replay":
        results["speed"] = speed(4_000)
    if options.only != "speed":
        results["replay"] = replay(options.messages, options.seed)
    missed = any(one.get("ways", {}).get("attention", {}).get("missed") for one in results.values())
    if options.json:
        print(json.dumps(results))
    else:
        for title, table in results.items():
            show(title, table)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
