"""What a run came to, for the one who started it: written to the file that TACIT_RUN_REPORT names.

The tests that failed, how many passed, and what went wrong beside the tests: a file that could not be collected, a worker
that died, a run that ended early. Only the process that hands out the tests writes.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest


class RunReport:
    """Outcomes as they come in, and the file at the end."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._failed: dict[str, None] = {}
        self._passed: set[str] = set()
        self._troubles: list[str] = []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            self._failed[report.nodeid] = None
        elif report.passed and report.when == "call":
            self._passed.add(report.nodeid)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            self._troubles.append(f"{report.nodeid} could not be collected")

    def pytest_internalerror(self) -> None:
        self._troubles.append("pytest itself failed")

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: object, error: object) -> None:
        if error:
            self._troubles.append("a worker died")

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        if session.shouldfail or session.shouldstop:
            self._troubles.append("the run ended early")
        said = {
            "failed": list(self._failed),
            "passed": len(self._passed - self._failed.keys()),
            "troubles": self._troubles,
        }
        self._path.write_text(json.dumps(said), encoding="utf-8")


def pytest_configure(config: pytest.Config) -> None:
    path = os.environ.get("TACIT_RUN_REPORT")
    if path and not hasattr(config, "workerinput"):
        config.pluginmanager.register(RunReport(Path(path)))
