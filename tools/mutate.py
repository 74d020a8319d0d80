"""Do the tests bite? One thing is changed in code that a row names, and the tests that name the row must notice.

python -m tools.mutate --count 400 --seed 1 --jobs 2      `make mutate`
python -m tools.mutate --again                            those that survived earlier, once more
python -m tools.mutate --report                           what .mutate/results.jsonl says

A mutant lives in a copy of the product (tools/overlay.py), never in the work tree. The rows of a function are those in
its docstring and comments, else its class's, else its module's, and those that spec/executed.json ties to it alone.
Results are lines of JSON in .mutate/; what was tried is not tried again while the lines around it are the same.

killed                 a test that names one of the rows failed, or did not end in time
killed_by_neighbours   only other tests of the module noticed
survived               nobody noticed
no_tests, red          the rows' tests are none, or fail without any change: nothing is proved
"""

from __future__ import annotations

import argparse
import compileall
import contextlib
import json
import os
import queue
import random
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from tools.mutants import Mutant, of_tree
from tools.source_tree import load

from tools import executed, overlay, reach, row_ids

ROOT: Final = Path(__file__).resolve().parent.parent
RESULTS: Final = ROOT / ".mutate" / "results.jsonl"
LIMIT: Final = 120.0
ROWS: Final = 40
_PROCESSES: Final = re.compile(
    r"subprocess|playwright|processes import|sys\.executable|house import|stage import|\bTACIT\b|StdioServer|def page"
)
_ENDED: Final = 0
_FAILED: Final = re.compile(r"^(?:FAILED|ERROR) (.*?)(?: - .*)?$", re.MULTILINE)


@dataclass(slots=True)
class Tests:
    """Which test files name which row, cheap ones known from those that start processes or browsers."""

    root: Path
    files: dict[Path, str] = field(default_factory=dict[Path, str])
    vectors: str = ""

    def __post_init__(self) -> None:
        for path in sorted((self.root / "tests").rglob("test_*.py")):
            self.files[path] = path.read_text(encoding="utf-8")
        self.vectors = "\n".join(
            path.read_text(encoding="utf-8")
            for path in sorted((self.root / "tests").rglob("vectors/**/*.json"))
        )

    def naming(self, rows: tuple[str, ...]) -> list[Path]:
        """Files with one of these rows in them."""
        wanted = re.compile("|".join(map(re.escape, rows)))
        by_vector = wanted.search(self.vectors) is not None
        return [
            path
            for path, text in self.files.items()
            if wanted.search(text) or (by_vector and path.parent.name == "conformance")
        ]

    def around(self, module: str) -> list[Path]:
        """Files that mirror a module: in its room's folder, and naming it."""
        parts = module.split(".")[1:]
        word = re.compile(rf"\b{re.escape(parts[-1])}\b")
        return [
            path
            for path, text in self.files.items()
            if path.relative_to(self.root / "tests").parts[0] == parts[0] and word.search(text)
        ]

    def is_cheap(self, path: Path) -> bool:
        """Does it stay in its process, as far as one can see?"""
        return not _PROCESSES.search(self.files[path])


@dataclass(frozen=True, slots=True)
class Ending:
    """How a run of tests ended: its exit status (None: not in time), and the first test that failed."""

    status: int | None
    failed: str = ""


def run(made: overlay.Overlay, root: Path, tests: list[str], rows: tuple[str, ...], *options: str) -> Ending:
    """Run tests until one fails."""
    command = [
        str(made.python),
        "-m",
        "pytest",
        "-x",
        "-q",
        "-rfE",
        "-p",
        "no:cacheprovider",
        "--no-header",
        "--tb=no",
    ]
    command += ["-m", "not soak", *options, *(["--spec", ",".join(rows)] if rows else []), *tests]
    environment = {**made.environment(), "PYTHONDONTWRITEBYTECODE": "1"}
    with (
        tempfile.TemporaryFile() as said,
        subprocess.Popen(
            command, cwd=root, env=environment, stdout=said, stderr=subprocess.DEVNULL, start_new_session=True
        ) as process,
    ):
        try:
            status: int | None = process.wait(LIMIT)
        except subprocess.TimeoutExpired:
            status = None
        finally:
            # What a test started and did not end ends with it.
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
        said.seek(0)
        failed = _FAILED.search(said.read().decode(errors="replace"))
    return Ending(status, failed[1] if failed else "")


@dataclass(slots=True)
class Unchanged:
    """Runs without any change, each once: whatever fails here proves nothing about a mutant."""

    root: Path
    done: dict[tuple[str, ...], bool] = field(default_factory=dict[tuple[str, ...], bool])

    def passes(self, made: overlay.Overlay, tests: list[str], rows: tuple[str, ...], *options: str) -> bool:
        """Do these tests pass, in time?"""
        key = (*tests, *rows, *options)
        if key not in self.done:
            self.done[key] = run(made, self.root, tests, rows, *options).status == _ENDED
        return self.done[key]


@dataclass(slots=True)
class Trial:
    """One worker's copy, and how a mutant fares in it."""

    made: overlay.Overlay
    root: Path
    tests: Tests
    unchanged: Unchanged
    doubtful: bool = False
    """Did some of the last mutant's tests fail, or take too long, without any change? Then they were not heard."""

    def judge(self, mutant: Mutant) -> str:
        """What becomes of a mutant: tests that stay in their process are asked first, they are quick."""
        self.doubtful = False
        rows = mutant.rows[:ROWS]
        naming = self.tests.naming(rows)
        verdicts: set[str] = set()
        for cheap in (True, False):
            verdict = self._stage(
                mutant, [path for path in naming if self.tests.is_cheap(path) is cheap], rows
            )
            if verdict == "killed":
                return verdict
            verdicts.add(verdict)
        if "survived" not in verdicts:
            return "red" if "red" in verdicts else "no_tests"
        self.doubtful = "red" in verdicts
        near = [path for path in self.tests.around(mutant.module) if self.tests.is_cheap(path)]
        return "killed_by_neighbours" if self._stage(mutant, near, ()) == "killed" else "survived"

    def _stage(self, mutant: Mutant, files: list[Path], rows: tuple[str, ...]) -> str:
        if not files:
            return "no_tests"
        tests = [str(path.relative_to(self.root)) for path in files]
        target = self.made.source / mutant.path.relative_to(self.root / "src")
        original, times = target.read_bytes(), target.stat()
        target.write_bytes(mutant.applied(original))
        try:
            ending = run(self.made, self.root, tests, rows)
        finally:
            target.write_bytes(original)
            os.utime(target, ns=(times.st_atime_ns, times.st_mtime_ns))
        match ending.status:
            case 0:
                return "survived"
            case 5:
                return "no_tests"
            case 1 if ending.failed:
                green = self.unchanged.passes(self.made, [ending.failed], ())
            case None:
                green = self.unchanged.passes(self.made, tests, rows)
            case _:
                green = self.unchanged.passes(self.made, tests, rows, "--collect-only")
        return "killed" if green else "red"


def choose(found: dict[str, list[Mutant]], tried: set[str], count: int, seed: int) -> list[Mutant]:
    """Functions in a seeded order, one mutant of each, then a second of each, until there are enough."""
    chance = random.Random(seed)
    decks = {name: chance.sample(mutants, len(mutants)) for name, mutants in sorted(found.items())}
    order = chance.sample(sorted(decks), len(decks))
    chosen: list[Mutant] = []
    for depth in range(max(map(len, decks.values()), default=0)):
        chosen += [decks[name][depth] for name in order if len(decks[name]) > depth]
    return [mutant for mutant in chosen[:count] if mutant.key not in tried]


def tied(path: Path) -> dict[str, list[str]]:
    """Functions that at most three rows run, with those rows."""
    if not path.exists():
        return {}
    found: dict[str, list[str]] = {}
    for row, names in executed.read(path).items():
        for name in names:
            found.setdefault(name, []).append(row)
    return {name: rows for name, rows in found.items() if len(rows) <= 3}


def results(path: Path) -> dict[str, dict[str, str]]:
    """The last verdict on each mutant."""
    if not path.exists():
        return {}
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line]
    return {line["key"]: line for line in lines}


def report(judged: dict[str, dict[str, str]]) -> str:
    """A table, those that nobody noticed, and the rate."""
    counts = Counter(line["verdict"] for line in judged.values())
    said = [
        f"{line['verdict']:<21} {line['path']}:{line['line']}  {line['name']}  {line['what']}: {line['before']!r} -> "
        f"{line['after']!r}  ({line['rows']})"
        + (" [some of the rows' tests are red or too slow unchanged]" if line.get("doubtful") else "")
        for line in sorted(
            judged.values(), key=lambda line: (line["verdict"], line["path"], int(line["line"]))
        )
        if line["verdict"] != "killed"
    ]
    said += [f"{counts[verdict]:>5}  {verdict}" for verdict in sorted(counts)]
    proved = counts["killed"] + counts["killed_by_neighbours"] + counts["survived"]
    if proved:
        loose = counts["killed_by_neighbours"] + counts["survived"]
        said.append(
            f"{proved} mutants: {counts['survived'] / proved:.1%} survive; {loose / proved:.1%} survive the tests that name the row"
        )
    return "\n".join(said)


def _short(text: str) -> str:
    words = " ".join(text.split())
    return words if len(words) <= 100 else words[:97] + "..."


def trials(mutants: list[Mutant], root: Path, out: Path, jobs: int, seconds: float) -> None:
    """Judge them all, `jobs` at a time, until the time is over; each verdict is written at once."""
    waiting: queue.SimpleQueue[Mutant] = queue.SimpleQueue()
    for mutant in mutants:
        waiting.put(mutant)
    tests, unchanged, ends = Tests(root), Unchanged(root), time.monotonic() + seconds
    writing = threading.Lock()
    out.parent.mkdir(exist_ok=True)

    def work(folder: Path) -> None:
        made = overlay.build(folder, root / "src")
        compileall.compile_dir(made.source, quiet=2)
        trial = Trial(made, root, tests, unchanged)
        while time.monotonic() < ends:
            try:
                mutant = waiting.get_nowait()
            except queue.Empty:
                return
            began = time.monotonic()
            verdict = trial.judge(mutant)
            line = {
                "key": mutant.key,
                "verdict": verdict,
                "path": str(mutant.path.relative_to(root)),
                "line": mutant.line,
                "name": mutant.name,
                "what": mutant.what,
                "before": _short(mutant.before),
                "after": _short(mutant.after),
                "rows": ", ".join(mutant.rows[:6]) + (", ..." if len(mutant.rows) > 6 else ""),
                "doubtful": trial.doubtful,
                "seconds": round(time.monotonic() - began, 1),
            }
            with writing, out.open("a", encoding="utf-8") as file:
                file.write(json.dumps(line) + "\n")
                print(f"{verdict:<21} {line['path']}:{line['line']} {line['what']}", flush=True)

    with tempfile.TemporaryDirectory(prefix="mutate-") as name:
        workers = [threading.Thread(target=work, args=(Path(name) / str(number),)) for number in range(jobs)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()


def main() -> int:
    """Choose, judge, and say how it stands; fails only when more survive than are allowed."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--count", type=int, default=400)
    parser.add_argument("--seconds", type=float, default=86_400)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--only", default="", help="only modules whose name contains this")
    parser.add_argument("--again", action="store_true", help="judge again what was not killed")
    parser.add_argument("--report", action="store_true", help="only say what was found")
    parser.add_argument("--at-most", type=float, default=100.0, help="per cent that may survive")
    given = parser.parse_args()
    rows = row_ids.known(ROOT)
    found = of_tree(load(ROOT / "src", reach.PACKAGE), rows, tied(executed.EXECUTED))
    every = {mutant.key: mutant for mutants in found.values() for mutant in mutants}
    judged = {key: line for key, line in results(RESULTS).items() if key in every}
    if given.again:
        chosen = [every[key] for key, line in judged.items() if line["verdict"] != "killed"]
    else:
        kept = {name: mutants for name, mutants in found.items() if given.only in name}
        chosen = choose(kept, set(judged), given.count, given.seed)
    if not given.report:
        print(f"{len(every)} mutants in {len(found)} functions; {len(chosen)} to judge", flush=True)
        trials(chosen, ROOT, RESULTS, given.jobs, given.seconds)
    judged = {key: line for key, line in results(RESULTS).items() if key in every}
    print(report(judged))
    proved = [
        line for line in judged.values() if line["verdict"] in {"killed", "killed_by_neighbours", "survived"}
    ]
    survived = sum(line["verdict"] == "survived" for line in proved)
    return 1 if proved and survived / len(proved) * 100 > given.at_most else 0


if __name__ == "__main__":
    sys.exit(main())
