"""Do the tests bite? One thing is changed in code that a row names, and the tests that name the row must notice.

python -m tools.mutate --count 400 --seed 1 --jobs 2      `make mutate`
python -m tools.mutate --again                            of that sample, those that survived earlier, once more
python -m tools.mutate --again --ask tests/x.py           the same, by the tests of a file that was just written
python -m tools.mutate --report --seed 2                  what .mutate/results.jsonl says about another sample
python -m tools.mutate --report --first                   the same, by the first verdict on each

A mutant lives in a copy of the product (tools/overlay.py), never in the work tree. The rows of a function are those in
its docstring and comments, else its class's, else its module's, and those that spec/executed.json ties to it alone.
Results are lines of JSON in .mutate/; what was tried is not tried again while the lines around it are the same.

Which tests run a function is read from .mutate/ran.json (`python -m tools.recorded` writes it); a test that does not run
it is not asked. Tests run in forks of a server on the copy (tools/trial_server.py). A death counts only if the same test
passes without the change, and, where it is slow, fails twice.

killed                 a test that names one of the rows failed, or did not end in time; `how` it noticed is kept:
                       assertion, error, import (its file), late, died (its process)
killed_by_neighbours   only other tests that run the function noticed
survived               nobody noticed; spec/survivors.toml says why, where there is a reason
no_tests               the same, and no test that names a row runs the function at all
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import queue
import random
import subprocess
import sys
import tempfile
import threading
import time
import tomllib
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Final

from tools import executed, overlay, reach, row_ids
from tools import recorded as recording
from tools.mutants import Mutant, of_tree
from tools.places import ROOT, below_source, sources
from tools.recorded import Recorded, file_of
from tools.source_tree import load

RESULTS: Final = ROOT / ".mutate" / "results.jsonl"
SURVIVORS: Final = ROOT / "spec" / "survivors.toml"
PROVED: Final = frozenset({"killed", "killed_by_neighbours", "survived", "no_tests"})
SERVER: Final = ROOT / "tools" / "trial_server.py"
ROWS: Final = 40
OWN: Final = 25.0
NEAR: Final = 8.0
"""Seconds of tests that a mutant is given: of those that name its rows, and of the others."""
BATCHES: Final = (0, 8, 40)
"""Where the runs of a mutant's tests begin: the first few are mostly in one file, quick, and often enough."""
QUICK: Final = 0.5
NOTHING: Final = 0.03
"""Up to so many seconds a case of a test costs less than to leave it out: a row of a table is often the only one that notices."""


@dataclass(frozen=True, slots=True)
class Plan:
    """Tests for one mutant, cheapest first: those that name its rows, and the others that run its function."""

    naming: list[str]
    near: list[str]
    cut: bool
    """Were there more than the time allows?"""


@dataclass(slots=True)
class Tests:
    """Which tests could notice a change in a function: a test that does not run it cannot."""

    recorded: Recorded
    own: float = OWN
    near: float = NEAR
    files: frozenset[str] = frozenset()
    """Where it is given, only tests of these files are asked, and all of them."""
    red: set[str] = field(default_factory=set[str])
    by_function: dict[str, set[str]] = field(default_factory=dict[str, set[str]])

    def __post_init__(self) -> None:
        for name, test in self.recorded.tests.items():
            for function in test.ran:
                self.by_function.setdefault(function, set()).add(name)
                self.by_function.setdefault(function.partition(":")[0] + ":<module>", set()).add(name)

    def plan(self, mutant: Mutant) -> Plan:
        """Whom to ask about it."""
        place = f"{mutant.module}:{mutant.name}"
        rows = frozenset(mutant.rows[:ROWS])
        running = self.by_function.get(place, set())
        naming = {name for name, test in self.recorded.tests.items() if test.rows & rows}
        if self.files:
            inside = {name for name in self.recorded.tests if file_of(name) in self.files} - self.red
            return Plan(sorted(inside & naming), sorted(inside - naming), cut=True)
        if place not in self.recorded.imported and mutant.name != "<module>":
            # What a fixture ran for a whole file was noted with the file's first test.
            files = {file_of(name) for name in running}
            naming = {name for name in naming if name in running or file_of(name) in files}
        near, cut_near = self._within(running - naming, running, self.near, mutant.module)
        chosen, cut = self._within(naming, running, self.own, mutant.module)
        # What is cached runs once in a process, and what a helper module of the tests gained is not noted: the tests
        # that stand where the module stands are asked all the same, last.
        beside = _beside(mutant.module)
        others = (
            {name for name in self.recorded.tests if f"/{file_of(name)}".endswith(f"/{beside}")}
            - naming
            - running
        )
        last, cut_last = self._within(others, running, self.near, mutant.module)
        return Plan(chosen, near + last, cut or cut_near or cut_last)

    def _within(
        self, names: set[str], running: set[str], seconds: float, module: str
    ) -> tuple[list[str], bool]:
        tests = self.recorded.tests
        cheap = sorted(names - self.red, key=lambda name: (name not in running, tests[name].seconds, name))
        # A table is read by its own tests although they run no function of its module.
        own = {name for name in cheap if file_of(name).endswith(f"/test_{module.rpartition('.')[2]}.py")}
        # One case of each test before a second of any, for they are alike; but those of the module's own file, and
        # those that cost nothing, are all asked.
        cases = Counter[str]()
        ranks: dict[str, int] = {}
        for name in cheap:
            is_asked = name in own or tests[name].seconds <= NOTHING
            ranks[name] = 0 if is_asked else cases[name.partition("[")[0]]
            cases[name.partition("[")[0]] += 1
        asked = running | own
        ordered = sorted(
            cheap,
            key=lambda name: (
                name not in asked,
                ranks[name],
                name not in own,
                tests[name].seconds,
            ),
        )
        spent, kept = 0.0, list[str]()
        for name in ordered:
            spent += tests[name].seconds
            if kept and spent > seconds:
                return kept, True
            kept.append(name)
        return kept, False


def _beside(module: str) -> str:
    """How the path ends of the test file that stands where a module stands: tests/ledger/io/test_journal.py."""
    _, *rooms, last = module.split(".")
    return "/".join(("tests", *rooms, f"test_{last}.py"))


@dataclass(frozen=True, slots=True)
class Ending:
    """How a run of tests ended: the first test that failed, was late or took its process with it, if one did."""

    failed: str
    ran: bool = True
    how: str = ""
    """By what it was noticed: assertion, error, import, late, died."""


@dataclass(slots=True)
class Server:
    """A process that runs tests on the copy (tools/trial_server.py)."""

    made: overlay.Overlay
    root: Path
    recorded: Recorded
    process: subprocess.Popen[bytes] | None = None
    asks: IO[str] | None = None
    answers: IO[str] | None = None

    def run(self, tests: list[str]) -> Ending:
        """Run tests until one fails."""
        if self.asks is None or self.answers is None:
            self.asks, self.answers = self._start()
        known = self.recorded.tests
        wanted = {name: known[name].seconds if name in known else 0.0 for name in tests}
        self.asks.write(json.dumps({"tests": wanted}) + "\n")
        self.asks.flush()
        answer = json.loads(self.answers.readline())
        failed = answer["failed"] or ("" if answer["status"] in {0, 5} else tests[0])
        return Ending(failed, answer["status"] != 5, answer.get("how", ""))

    def _start(self) -> tuple[IO[str], IO[str]]:
        heard, ask = os.pipe()
        answers, answer = os.pipe()
        environment = {**self.made.environment(), "PYTHONDONTWRITEBYTECODE": "1"}
        command = [str(self.made.python), str(SERVER), str(heard), str(answer)]
        self.process = subprocess.Popen(
            command,
            cwd=self.root,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            pass_fds=(heard, answer),
        )
        os.close(heard)
        os.close(answer)
        return os.fdopen(ask, "w", encoding="utf-8"), os.fdopen(answers, "r", encoding="utf-8")

    def stop(self) -> None:
        """It ends when nobody can ask any more."""
        if self.asks and self.answers and self.process:
            self.asks.close()
            self.process.wait()
            self.answers.close()


@dataclass(slots=True)
class Trial:
    """One worker's copy, and how a mutant fares in it."""

    made: overlay.Overlay
    root: Path
    tests: Tests
    server: Server
    green: set[str] = field(default_factory=set[str])
    doubtful: bool = False
    """Were there more of the last mutant's tests than its time allowed? Then some were not heard."""
    killer: str = ""
    how: str = ""

    def judge(self, mutant: Mutant) -> str:
        """What becomes of a mutant."""
        plan = self.tests.plan(mutant)
        self.doubtful = plan.cut
        self.killer = self.how = ""
        if self._noticed(mutant, plan.naming):
            return "killed"
        if self._noticed(mutant, plan.near):
            return "killed_by_neighbours"
        return "survived" if plan.naming else "no_tests"

    def _noticed(self, mutant: Mutant, tests: list[str]) -> bool:
        """Does one of them fail with the change and pass without it?"""
        for begin, end in itertools.pairwise((*BATCHES, len(tests))):
            left = tests[begin:end]
            while left:
                ending = self._with(mutant, left)
                failed = ending.failed
                if not failed:
                    break
                # A flake is not a death: the test must fail a second time, and pass unchanged.
                hits = [failed] if "::" in failed else [name for name in left if file_of(name) == failed]
                is_sure = self._is_quick(hits) and ending.how != "late"
                if self._passes(hits) and (is_sure or self._with(mutant, hits).failed):
                    self.killer, self.how = failed, ending.how
                    return True
                self.tests.red.update(hits)
                left = [name for name in left if name not in hits]
        return False

    def _is_quick(self, tests: list[str]) -> bool:
        known = self.tests.recorded.tests
        return all(name in known and known[name].seconds < QUICK for name in tests)

    def _passes(self, tests: list[str]) -> bool:
        if not set(tests) <= self.green and not self.server.run(tests).failed:
            self.green.update(tests)
        return set(tests) <= self.green

    def _with(self, mutant: Mutant, tests: list[str]) -> Ending:
        target = self.made.source / below_source(mutant.path, self.root)
        original, times = target.read_bytes(), target.stat()
        target.write_bytes(mutant.applied(original))
        try:
            return self.server.run(tests)
        finally:
            target.write_bytes(original)
            os.utime(target, ns=(times.st_atime_ns, times.st_mtime_ns))


def choose(found: dict[str, list[Mutant]], count: int, seed: int) -> list[Mutant]:
    """Functions in a seeded order, one mutant of each, then a second of each, until there are enough.

    Each function draws its own place: what changes in one moves no other.
    """
    chances = {name: random.Random(f"{seed} {name}") for name in found}
    order = sorted(found, key=lambda name: (chances[name].random(), name))
    decks = {name: chances[name].sample(mutants, len(mutants)) for name, mutants in found.items()}
    chosen: list[Mutant] = []
    for depth in range(max(map(len, decks.values()), default=0)):
        chosen += [decks[name][depth] for name in order if len(decks[name]) > depth]
    return chosen[:count]


def left(sample: list[Mutant], judged: dict[str, dict[str, str]]) -> list[Mutant]:
    """What was not tried yet."""
    return [mutant for mutant in sample if mutant.key not in judged]


def alive(sample: list[Mutant], judged: dict[str, dict[str, str]], why: Reasons) -> list[Mutant]:
    """What was tried and not killed; first those that nobody noticed, and nobody excused."""
    found = [
        mutant for mutant in sample if judged.get(mutant.key, {"verdict": "killed"})["verdict"] != "killed"
    ]
    return sorted(
        found,
        key=lambda mutant: (
            judged[mutant.key]["verdict"] == "killed_by_neighbours",
            why.of(judged[mutant.key]) != "",
        ),
    )


def tied(path: Path) -> dict[str, list[str]]:
    """Functions that at most three rows run, with those rows."""
    if not path.exists():
        return {}
    found: dict[str, list[str]] = {}
    for row, names in executed.read(path).items():
        for name in names:
            found.setdefault(name, []).append(row)
    return {name: rows for name, rows in found.items() if len(rows) <= 3}


def results(path: Path, *, first: bool = False) -> dict[str, dict[str, str]]:
    """The last verdict on each mutant, or the first: how it stood before tests were written against survivors."""
    if not path.exists():
        return {}
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line]
    return {line["key"]: line for line in (reversed(lines) if first else lines)}


@dataclass(frozen=True, slots=True)
class Reasons:
    """Why some mutants live: spec/survivors.toml, by function, what it was and what it became."""

    known: dict[tuple[str, str, str], str]

    def of(self, line: dict[str, str]) -> str:
        """The reason for a mutant, or nothing."""
        return self.known.get((f"{line['path']}:{line['name']}", line["before"], line["after"]), "")


def reasons(path: Path = SURVIVORS) -> Reasons:
    """Those that are written down."""
    entries = tomllib.loads(path.read_text(encoding="utf-8"))["survivor"] if path.exists() else []
    return Reasons({(one["place"], one["before"], one["after"]): one["reason"] for one in entries})


def report(judged: dict[str, dict[str, str]], why: Reasons) -> str:
    """A table, those that nobody noticed with the reason if there is one, and the rate."""
    counts = Counter(line["verdict"] for line in judged.values())
    said: list[str] = []
    for line in sorted(judged.values(), key=lambda line: (line["verdict"], line["path"], int(line["line"]))):
        if line["verdict"] == "killed":
            continue
        said.append(
            f"{line['verdict']:<21} {line['path']}:{line['line']}  {line['name']}  {line['what']}: {line['before']!r} -> "
            f"{line['after']!r}  ({line['rows']})"
            + (" [there was no time for all of its tests]" if line.get("doubtful") else "")
        )
        if reason := why.of(line):
            said.append(f"{'':<21} because: {reason}")
    for verdict in sorted(counts):
        how = Counter(line.get("how", "") for line in judged.values() if line["verdict"] == verdict)
        by = ", ".join(f"{name} {number}" for name, number in how.most_common() if name)
        said.append(f"{counts[verdict]:>5}  {verdict}" + (f" ({by})" if by else ""))
    proved = [line for line in judged.values() if line["verdict"] in PROVED]
    if proved:
        alive = [line for line in proved if line["verdict"] in {"survived", "no_tests"}]
        excused = sum(why.of(line) != "" for line in alive)
        loose = len(alive) + counts["killed_by_neighbours"]
        said.append(
            f"{len(proved)} mutants: {len(alive) / len(proved):.1%} survive, {excused} of {len(alive)} with a reason written down; "
            f"{loose / len(proved):.1%} survive the tests that name the row"
        )
    return "\n".join(said)


def _short(text: str) -> str:
    words = " ".join(text.split())
    return words if len(words) <= 100 else words[:97] + "..."


def trials(mutants: list[Mutant], root: Path, out: Path, jobs: int, seconds: float, tests: Tests) -> None:
    """Judge them all, `jobs` at a time, until the time is over; each verdict is written at once."""
    waiting: queue.SimpleQueue[Mutant] = queue.SimpleQueue()
    for mutant in mutants:
        waiting.put(mutant)
    ends = time.monotonic() + seconds
    writing = threading.Lock()
    out.parent.mkdir(exist_ok=True)

    def work(folder: Path) -> None:
        made = overlay.build(folder, root)
        overlay.compile_modules(made)
        trial = Trial(made, root, tests, Server(made, root, tests.recorded))
        try:
            while time.monotonic() < ends:
                mutant = waiting.get_nowait()
                began = time.monotonic()
                line = _line(mutant, root, trial.judge(mutant), trial, time.monotonic() - began)
                with writing, out.open("a", encoding="utf-8") as file:
                    file.write(json.dumps(line) + "\n")
                    print(
                        f"{line['verdict']:<21} {line['path']}:{line['line']} {line['what']} {line['seconds']}",
                        flush=True,
                    )
        except queue.Empty:
            return
        finally:
            trial.server.stop()

    with tempfile.TemporaryDirectory(prefix="mutate-") as name:
        workers = [threading.Thread(target=work, args=(Path(name) / str(number),)) for number in range(jobs)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()


def _line(mutant: Mutant, root: Path, verdict: str, trial: Trial, seconds: float) -> dict[str, object]:
    return {
        "key": mutant.key,
        "verdict": verdict,
        "path": str(mutant.path.relative_to(root)),
        "line": mutant.line,
        "name": mutant.name,
        "what": mutant.what,
        "before": _short(mutant.before),
        "after": _short(mutant.after),
        "rows": ", ".join(mutant.rows[:6]) + (", ..." if len(mutant.rows) > 6 else ""),
        "killer": trial.killer,
        "how": trial.how,
        "doubtful": trial.doubtful,
        "seconds": round(seconds, 1),
    }


def main() -> int:
    """Choose, judge, and say how it stands; fails only when more survive than are allowed."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--count", type=int, default=400)
    parser.add_argument("--seconds", type=float, default=86_400)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument(
        "--only", default="", help="of the sample only modules whose name contains one of these, with commas"
    )
    parser.add_argument(
        "--share", type=float, default=1.0, help="of the time for a mutant's tests; --again asks the rest"
    )
    parser.add_argument("--again", action="store_true", help="judge again what was not killed")
    parser.add_argument(
        "--ask", default="", help="ask only tests of these files, with commas: those just written"
    )
    parser.add_argument("--report", action="store_true", help="only say what was found")
    parser.add_argument("--first", action="store_true", help="report the first verdict on each, not the last")
    parser.add_argument("--at-most", type=float, default=100.0, help="per cent that may survive")
    given = parser.parse_args()
    rows = row_ids.known(ROOT)
    mutants = of_tree(load(sources(), reach.PACKAGE), rows, tied(executed.EXECUTED))
    # The sample stays the same, whichever part of it is judged now.
    sample = choose(mutants, given.count, given.seed)
    keys = {mutant.key for mutant in sample}
    judged = {key: line for key, line in results(RESULTS).items() if key in keys}
    chosen = alive(sample, judged, reasons()) if given.again else left(sample, judged)
    chosen = [mutant for mutant in chosen if any(part in mutant.key for part in given.only.split(","))]
    if not given.report:
        print(
            f"{sum(map(len, mutants.values()))} mutants in {len(mutants)} functions; {len(chosen)} to judge",
            flush=True,
        )
        files = frozenset(filter(None, given.ask.split(",")))
        tests = Tests(recording.read(), OWN * given.share, NEAR * given.share, files)
        trials(chosen, ROOT, RESULTS, given.jobs, given.seconds, tests)
    judged = {key: line for key, line in results(RESULTS, first=given.first).items() if key in keys}
    print(report(judged, reasons()))
    proved = [line for line in judged.values() if line["verdict"] in PROVED]
    survived = sum(line["verdict"] in {"survived", "no_tests"} for line in proved)
    return 1 if proved and survived / len(proved) * 100 > given.at_most else 0


if __name__ == "__main__":
    sys.exit(main())
