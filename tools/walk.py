"""How far a message travels inside the house: from a door to the first line of an agent's prompt.

Runs a real hub with the demo's agents, sends one message to one of them, and follows every call of the hub, of its
writer and of the agent's harness (all in this one process) until the prompt is made. Counted are the files entered and
the hops: calls whose caller stands in another file of the house. `python -m tools.walk [--house DIR]` prints both;
another checkout as DIR counts that one in the same way. `--all` prints every hop in its order, with the names
of the two functions.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tools.places import ROOT, sources

if TYPE_CHECKING:
    from types import FrameType

MESSAGE = "@rio which port does the staging database listen on?"
PROMPT = "harness/prompt.py"
QUIET_SECONDS = 0.4


class Walk:
    """The calls between files, while it is being followed."""

    def __init__(self) -> None:
        self.hops: Counter[tuple[str, str]] = Counter()
        self.steps: list[str] = []
        self.entered: dict[str, None] = {}
        self.follows = False
        self.last = time.monotonic()
        self._names: dict[str, str] = {}

    def _file(self, frame: FrameType | None) -> str:
        if frame is None:
            return ""
        given = frame.f_code.co_filename
        found = self._names.get(given)
        if found is None:
            _, mark, inside = given.rpartition("/tacit/")
            found = self._names[given] = inside if mark and inside.endswith(".py") else ""
        return found

    def profile(self, frame: FrameType, event: str, _argument: object) -> None:
        """Called by the interpreter for every call in every thread."""
        if event != "call":
            return
        into = self._file(frame)
        if not into:
            return
        self.last = time.monotonic()
        if not self.follows:
            return
        self.entered[into] = None
        # A call through the library (a task, a callback, an executor) has no caller of ours: it is no hop.
        come_from = self._file(frame.f_back)
        if come_from and come_from != into:
            self.hops[come_from, into] += 1
            assert frame.f_back is not None
            names = frame.f_back.f_code.co_qualname, frame.f_code.co_qualname
            self.steps.append(f"{come_from}: {names[0]} -> {into}: {names[1]}")
        if into == PROMPT:
            self.follows = False


def _serve(folder: str, report: str) -> None:
    """The hub's own process: follow after the first signal, report after the second."""
    walk = Walk()

    def start(_number: int, _frame: object) -> None:
        walk.follows = True

    def stop(_number: int, _frame: object) -> None:
        quiet = time.monotonic() - walk.last
        pairs = [[a, b, count] for (a, b), count in walk.hops.most_common()]
        found = {"files": list(walk.entered), "hops": pairs, "done": not walk.follows, "quiet": quiet}
        found["steps"] = walk.steps
        fresh = Path(report + ".new")
        fresh.write_text(json.dumps(found))
        fresh.replace(report)

    threading.setprofile(walk.profile)
    sys.setprofile(walk.profile)
    signal.signal(signal.SIGUSR1, start)
    signal.signal(signal.SIGUSR2, stop)
    from tacit.base.commands.main import main
    from tacit.cli.operation.up import up

    # A writer in another process would be out of sight.
    here = ["--writer", "thread"] if any(one.name == "writer" for one in up.params) else []
    sys.argv = ["tacit", "--json", "up", "--demo", "--data", folder, "--port", "0", *here]
    main()


def _call(url: str, token: str, path: str, body: dict[str, Any] | None = None) -> Any:
    data = json.dumps(body).encode() if body is not None else None
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
    request = urllib.request.Request(url + path, data=data, headers=headers)
    with urllib.request.urlopen(request, timeout=30) as answer:
        return json.load(answer)


def _asked(process: subprocess.Popen[bytes], report: Path) -> dict[str, Any]:
    """How far the walk is; asking makes no call inside the house."""
    report.unlink(missing_ok=True)
    process.send_signal(signal.SIGUSR2)
    while not report.exists():
        time.sleep(0.01)
    return json.loads(report.read_text())


def counted(house: Path) -> dict[str, Any]:
    """Files and hops of one message, in a checkout."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "walk.json"
        process = subprocess.Popen(
            [
                sys.executable,
                str(Path(__file__).resolve()),
                "--serve",
                str(Path(folder) / "data"),
                str(report),
            ],
            env={**os.environ, "PYTHONPATH": os.pathsep.join(map(str, sources(house)))},
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        try:
            assert process.stdout is not None
            url = json.loads(process.stdout.readline())["url"]
            token = (Path(folder) / "data" / "owner.token").read_text().strip()
            group = _call(url, token, "/v1/groups")["groups"][0]["group_id"]
            while not all(one["online"] for one in _call(url, token, f"/v1/groups/{group}/agents")["agents"]):
                pass
            # What agents do on arriving is no part of the way: wait until the house has been quiet.
            while _asked(process, report)["quiet"] < QUIET_SECONDS:
                pass
            process.send_signal(signal.SIGUSR1)
            _call(
                url, token, f"/v1/groups/{group}/events", {"kind": "chat.message", "data": {"text": MESSAGE}}
            )
            while not (found := _asked(process, report))["done"]:
                pass
            return found
        finally:
            process.terminate()
            process.wait(30)


def main() -> int:
    """Count, and say where most of it goes."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--house", type=Path, default=ROOT)
    parser.add_argument("--serve", nargs=2, metavar=("FOLDER", "REPORT"))
    parser.add_argument("--most", type=int, default=12)
    parser.add_argument("--all", action="store_true")
    given = parser.parse_args()
    if given.serve:
        _serve(*given.serve)
        return 0
    walked = counted(given.house.resolve())
    print(f"files entered: {len(walked['files'])}")
    print(f"hops between files: {sum(count for _, _, count in walked['hops'])}")
    print(f"different ways between two files: {len(walked['hops'])}")
    for a, b, count in walked["hops"][: given.most]:
        print(f"  {count:5}  {a} -> {b}")
    if given.all:
        print(*walked["steps"], sep="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
