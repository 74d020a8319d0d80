"""The whole suite, with a second look at the few tests that fail beside the others.

python -m tools.whole_run --jobs 4 --marks "not soak" --list second-look.txt [what pytest takes]

Where at most six tests fail, and nothing else went wrong, they are run once more, alone. If all of them pass then, the
run has passed, and each is named: it depends on how busy the machine is, which is a defect of the test or of a wait. A
steady failure, more than six, a worker that died, a file that cannot be collected or a run that ended early fails.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parent.parent
MOST: Final = 6
FAILED: Final = 1
"""How pytest ends when tests failed, and nothing worse happened."""


@dataclass(frozen=True, slots=True)
class Run:
    """How a run ended, as pytest says it and as tests/plugins/run_report.py wrote it down."""

    status: int
    failed: tuple[str, ...]
    passed: int
    troubles: tuple[str, ...]

    @property
    def deserves_another(self) -> bool:
        """Few failures, and nothing but failures."""
        return self.status == FAILED and not self.troubles and 0 < len(self.failed) <= MOST


def run(options: list[str]) -> Run:
    """Tests in a process of their own."""
    with tempfile.TemporaryDirectory(prefix="run-") as folder:
        report = Path(folder) / "report.json"
        paths = os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH"))))
        environment = {**os.environ, "TACIT_RUN_REPORT": str(report), "PYTHONPATH": paths}
        command = [sys.executable, "-m", "pytest", "-p", "tests.plugins.run_report", *options]
        status = subprocess.run(command, env=environment, check=False).returncode
        if not report.exists():
            return Run(status, (), 0, ("the run left no report",))
        said = json.loads(report.read_text(encoding="utf-8"))
    return Run(status, tuple(said["failed"]), said["passed"], tuple(said["troubles"]))


def block(tests: tuple[str, ...]) -> str:
    """What nobody shall overlook."""
    rule = "!" * 100
    names = "\n".join(f"!!  {test}" for test in tests)
    said = "failed beside the others and passed alone: a defect of the test or of a wait; mend it"
    return f"\n{rule}\n!!  {said}\n{names}\n{rule}\n"


def whole_run(jobs: str, marks: str, named: Path, options: list[str]) -> int:
    """The suite, and where it may help a second look; how the run counts."""
    named.unlink(missing_ok=True)
    first = run(["-n", jobs, "-m", marks, "--durations=40", "--durations-min=5", *options])
    if not first.deserves_another:
        return first.status
    print(f"\na second look at {len(first.failed)}, alone", flush=True)
    second = run(["-n", "0", "-m", marks, *first.failed])
    if second.status or second.passed != len(first.failed):
        return FAILED
    named.write_text("".join(f"{test}\n" for test in first.failed), encoding="utf-8")
    print(block(first.failed), flush=True)
    return 0


def main() -> int:
    """Read what is asked; what is not named here is pytest's."""
    parser = argparse.ArgumentParser(allow_abbrev=False, description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--jobs", default="4")
    parser.add_argument("--marks", default="not soak")
    parser.add_argument(
        "--list", type=Path, required=True, help="where the tests that passed alone are named"
    )
    asked, options = parser.parse_known_args()
    return whole_run(asked.jobs, asked.marks, asked.list, options)


if __name__ == "__main__":
    sys.exit(main())
