"""What each test runs, by test, kept beside the work: how the mutants' tests are chosen.

python -m tools.recorded -n 2                   test files that are new or changed since they were recorded
python -m tools.recorded -n 2 packages/core     only those below these paths

One file, .mutate/ran.json. A test is in it only if it passed, unchanged, when it was recorded. The product may have
moved since: a function that was renamed is known again once the tests that run it are recorded again (`--anew`).
"""

from __future__ import annotations

import hashlib
import json
import sys
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from tools import executed
from tools.executed import RunOfTest
from tools.places import ROOT, folders_of_tests

if TYPE_CHECKING:
    from pathlib import Path

RAN: Final = ROOT / ".mutate" / "ran.json"


@dataclass(slots=True)
class Recorded:
    """Tests that passed, what ran while modules were imported, and the text of each test file as it was then."""

    tests: dict[str, RunOfTest] = field(default_factory=dict[str, RunOfTest])
    imported: set[str] = field(default_factory=set[str])
    files: dict[str, str] = field(default_factory=dict[str, str])

    def add(self, recording: executed.Recording, files: dict[str, str]) -> None:
        """Take what these files' tests did; what was known of them goes."""
        kept = {name: test for name, test in self.tests.items() if file_of(name) not in files}
        self.tests = kept | recording.tests
        self.imported |= recording.imported
        self.files |= files


def file_of(test: str) -> str:
    """The file that a test is in."""
    return test.partition("::")[0]


def read(path: Path = RAN) -> Recorded:
    """What was kept; nothing, if there is no file."""
    if not path.exists():
        return Recorded()
    kept = json.loads(path.read_text(encoding="utf-8"))
    names = kept["functions"]
    tests = {
        name: RunOfTest(
            frozenset(said["rows"]), said["seconds"], frozenset(names[number] for number in said["ran"])
        )
        for name, said in kept["tests"].items()
    }
    return Recorded(tests, set(kept["imported"]), kept["files"])


def write(recorded: Recorded, path: Path = RAN) -> None:
    """Keep it, each function's name once."""
    names = sorted({name for test in recorded.tests.values() for name in test.ran})
    numbers = {name: number for number, name in enumerate(names)}
    tests = {
        name: {
            "rows": sorted(test.rows),
            "seconds": test.seconds,
            "ran": sorted(numbers[one] for one in test.ran),
        }
        for name, test in recorded.tests.items()
    }
    kept = {
        "functions": names,
        "files": recorded.files,
        "imported": sorted(recorded.imported),
        "tests": tests,
    }
    path.parent.mkdir(exist_ok=True)
    fresh = path.with_suffix(".new")
    fresh.write_text(json.dumps(kept), encoding="utf-8")
    fresh.replace(path)


def texts(root: Path, below: list[str]) -> dict[str, str]:
    """Test files with a digest of their text."""
    modules = [path for folder in folders_of_tests(root) for path in sorted(folder.rglob("test_*.py"))]
    names = {str(path.relative_to(root)): path for path in modules}
    return {
        name: hashlib.sha256(path.read_bytes()).hexdigest()[:16]
        for name, path in names.items()
        if not below or any(name == one or name.startswith(one.rstrip("/") + "/") for one in below)
    }


def main() -> int:
    """Record what is new; a failing test is reported as the suite reports it."""
    options = [one for one in sys.argv[1:] if one != "--anew"]
    below = [one for one in options if (ROOT / one).exists()]
    recorded = read()
    files = texts(ROOT, below)
    if "--anew" not in sys.argv:
        files = {name: text for name, text in files.items() if recorded.files.get(name) != text}
    if not files:
        print(f"{len(recorded.tests)} tests recorded; nothing is new")
        return 0
    recording = executed.record([*(one for one in options if one not in below), *sorted(files)])
    if recording.tests and not any(test.ran for test in recording.tests.values()):
        print("the tests ran, but not the copy that notes what runs", file=sys.stderr)
        return 1
    # Another run may have written meanwhile.
    recorded = read()
    recorded.add(recording, files)
    write(recorded)
    print(f"{len(recording.tests)} tests recorded, {len(recorded.tests)} in all")
    return recording.status


if __name__ == "__main__":
    sys.exit(main())
