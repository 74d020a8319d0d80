"""Runs chosen tests again and again, each time in a child that begins with the libraries imported and nothing else.

Started by tools/mutate.py with the Python of a changed copy (tools/overlay.py): pytest is configured once, then every
request is answered by a fork, which imports the product and the tests afresh. So a mutant costs its tests and no more.
A request and an answer are one line of JSON each. Knows nothing of mutants.
"""

from __future__ import annotations

import contextlib
import ctypes
import importlib
import json
import os
import select
import signal
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pytest

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator

PATIENCE: Final = 60.0
"""Seconds that importing the product and the tests may take."""
LEAST: Final = 10.0
FACTOR: Final = 8.0
SLOW: Final = 40.0
"""A test that takes FACTOR times as long as it did is late, but never before LEAST seconds (on a machine with more to do
than it has cores, up to half as many times later), and never more than SLOW seconds after twice its time."""
_LIBRARIES: Final = (
    "aiohttp",
    "aiohttp.web",
    "aiohttp.test_utils",
    "apsw",
    "cbor2",
    "click.testing",
    "cryptography.hazmat.primitives.asymmetric.ed25519",
    "cryptography.x509",
    "http_message_signatures",
    "hypothesis.stateful",
    "hypothesis.strategies",
    "jsonschema",
    "mcp",
    "msgspec",
    "nacl.bindings",
    "nacl.signing",
    "nacl.public",
    "opentelemetry.sdk.trace",
    "prometheus_client",
    "requests",
    "sqlite3",
    "uvloop",
    "websockets",
)
_BECOME_SUBREAPER: Final = 36


class Server:
    """A plugin that stands where collection begins: the parent never passes, each child goes on with its request."""

    def __init__(self, asked: int, answers: int) -> None:
        self._asked = os.fdopen(asked, "r", encoding="utf-8")
        self._answers = os.fdopen(answers, "w", encoding="utf-8")
        self._order: dict[str, int] = {}
        self._said = -1
        self._how = ""

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection(self, session: pytest.Session) -> None:
        """Answer requests; a child leaves this with its own."""
        for name in _LIBRARIES:
            with contextlib.suppress(ImportError):
                importlib.import_module(name)
        # Whatever a test leaves behind becomes this process's child, so that it is found.
        ctypes.CDLL(None).prctl(_BECOME_SUBREAPER, 1)
        for line in self._asked:
            request = json.loads(line)
            heard, said = os.pipe()
            child = os.fork()
            if not child:
                os.close(heard)
                os.setsid()
                self._said = said
                self._order = {name: number for number, name in enumerate(request["tests"])}
                files = dict.fromkeys(name.partition("::")[0] for name in request["tests"])
                session.config.args = list(files)
                return
            os.close(said)
            answer = _wait(heard, request["tests"])
            os.close(heard)
            _end(child)
            self._answers.write(json.dumps(answer) + "\n")
            self._answers.flush()
        os._exit(0)

    @pytest.hookimpl(wrapper=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> Generator[None, Any, Any]:
        """Only what was asked for, in the order asked for."""
        result = yield
        chosen = [item for item in items if item.nodeid in self._order]
        items[:] = sorted(chosen, key=lambda item: self._order[item.nodeid])
        return result

    def _say(self, **words: object) -> None:
        # Who has heard enough listens no more; and a parent whose asker is gone has nobody to tell.
        with contextlib.suppress(OSError):
            os.write(self._said, json.dumps(words).encode() + b"\n")

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """A file that cannot be imported has failed."""
        if report.failed:
            self._say(failed=report.nodeid, how="import")

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logstart(self, nodeid: str) -> None:
        """From here its time counts."""
        self._say(began=nodeid)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """The first failure is the answer."""
        if report.failed:
            self._say(failed=report.nodeid, how=self._how)

    def pytest_runtest_makereport(self, call: pytest.CallInfo[None]) -> None:
        """What the test said was wrong, or what went wrong on its way there."""
        if call.excinfo:
            said = call.excinfo.errisinstance((AssertionError, pytest.fail.Exception))
            self._how = "assertion" if said else "error"

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, exitstatus: int) -> None:
        """Nobody failed; or nothing was there to run."""
        self._say(status=int(exitstatus))
        os._exit(0)


def _wait(heard: int, tests: dict[str, float]) -> dict[str, Any]:
    """How the child fares: the first test that failed or was late, or its status at the end."""
    rest, now, limit = b"", "", PATIENCE * _crowding()
    while True:
        deadline = time.monotonic() + limit
        if not select.select([heard], [], [], max(0.0, deadline - time.monotonic()))[0]:
            return {"status": 1, "failed": now, "how": "late"}
        some = os.read(heard, 65536)
        if not some:
            # It died: a mutant may end its process.
            return {"status": 1, "failed": now, "how": "died"}
        *lines, rest = (rest + some).split(b"\n")
        for line in lines:
            said = json.loads(line)
            if "failed" in said:
                return {"status": 1, **said}
            if "status" in said:
                return {"failed": "", **said}
            now = said["began"]
            took = tests.get(now, 0.0)
            limit = max(LEAST * _crowding(), min(FACTOR * took, 2 * took + SLOW))


def _crowding() -> float:
    return max(1.0, os.getloadavg()[0] / (os.cpu_count() or 1) / 2)


def _descendants(pid: int) -> Iterator[int]:
    with contextlib.suppress(OSError):
        for task in Path("/proc", str(pid), "task").iterdir():
            for child in map(int, (task / "children").read_text(encoding="ascii").split()):
                yield child
                yield from _descendants(child)


def _end(child: int) -> None:
    """Let the child end by itself for a moment, then end whatever is still there."""
    ends = time.monotonic() + 3
    while time.monotonic() < ends:
        if os.waitpid(child, os.WNOHANG)[0]:
            break
        time.sleep(0.01)
    for _ in range(50):
        left = list(_descendants(os.getpid()))
        if not left:
            return
        for pid in left:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        with contextlib.suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        time.sleep(0.01)


def main() -> int:
    """Serve until the requests end."""
    # This folder's modules are tools; the tests' own come from where they stand.
    sys.path[0] = str(Path.cwd())
    asked, answers = map(int, sys.argv[1:3])
    options = ["-x", "-q", "--no-header", "--tb=line", "-p", "no:cacheprovider", "-m", "not soak"]
    return int(pytest.main([*options, "tests"], plugins=[Server(asked, answers)]))


if __name__ == "__main__":
    sys.exit(main())
