"""How far a message and a packet travel inside the house, counted in files and in hops between them.

A message: a real hub with the demo's agents is sent one, and every call of the hub, of its writer and of the agent's
harness (all in one process) is followed from the door to the first line of that agent's prompt. A packet, with
`--packet`: two personal agents stand on a real relay, and every call of the recipient's is followed from the frame that
the relay hands to its connection, through unsealing, decision and consent, until the answer is handed to its outbox.

Counted are the files entered and the hops: calls whose caller stands in another file of the house.
`python -m tools.walk [--packet] [--house DIR]` prints both; another checkout as DIR counts that one in the same way.
`--all` prints every hop in its order, with the names of the two functions.
"""

from __future__ import annotations

import argparse
import asyncio
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
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from tools.places import ROOT, packages, sources

if TYPE_CHECKING:
    from types import FrameType

    from tacit.agent import Agent

MESSAGE: Final = "@rio which port does the staging database listen on?"
QUIET_SECONDS: Final = 0.4
QUIET_LINE_SECONDS: Final = 2.0
"""How long no frame comes before a packet is followed: soon after a login two posts compare what they have."""
PATIENCE: Final = 60.0


class Place(NamedTuple):
    """A function of a file of the house, or any of that file's."""

    file: str
    function: str = ""


PROMPT: Final = Place("harness/prompt.py")
FRAME: Final = Place("wire/frames.py", "decode")
ANSWER: Final = Place("a2acp/post/io/outbox.py", "Outbox.post")


class Walk:
    """The calls between files, from the first call of one place to the first call of another after it."""

    def __init__(self, end: Place, begin: Place | None = None) -> None:
        self.hops: Counter[tuple[str, str]] = Counter()
        self.steps: list[str] = []
        self.entered: dict[str, None] = {}
        self.is_awaited = False
        """Whether it begins as soon as its first place is called."""
        self.follows = False
        self.is_done = False
        self.last = time.monotonic()
        """When something was called; where the walk has a first place, when that was."""
        self._begin = begin
        self._end = end
        self._names: dict[str, str] = {}

    def _file(self, frame: FrameType | None) -> str:
        if frame is None:
            return ""
        path = frame.f_code.co_filename
        name = self._names.get(path)
        if name is None:
            _, mark, inside = path.rpartition("/tacit/")
            name = self._names[path] = inside if mark and inside.endswith(".py") else ""
        return name

    def profile(self, frame: FrameType, event: str, _argument: object) -> None:
        """Called by the interpreter for every call in every thread that is followed."""
        if event != "call":
            return
        into = self._file(frame)
        if not into:
            return
        function = frame.f_code.co_qualname
        if self._begin is None or (into, function) == self._begin:
            self.last = time.monotonic()
            self.follows = self.follows or (self.is_awaited and not self.is_done)
        if not self.follows:
            return
        self.entered[into] = None
        # A call through the library (a task, a callback, an executor) has no caller of ours: it is no hop.
        come_from = self._file(frame.f_back)
        if come_from and come_from != into:
            self.hops[come_from, into] += 1
            assert frame.f_back is not None
            self.steps.append(f"{come_from}: {frame.f_back.f_code.co_qualname} -> {into}: {function}")
        if into == self._end.file and self._end.function in ("", function):
            self.follows, self.is_done = False, True

    def as_report(self) -> dict[str, Any]:
        """What was counted."""
        pairs = [[source, target, count] for (source, target), count in self.hops.most_common()]
        return {"files": list(self.entered), "hops": pairs, "steps": self.steps, "done": self.is_done}


# A message.


def _serve(folder: str, report: str) -> None:
    """The hub's own process: follow after the first signal, report after the second."""
    walk = Walk(PROMPT)

    def start(_number: int, _frame: object) -> None:
        walk.is_awaited = True

    def stop(_number: int, _frame: object) -> None:
        quiet = time.monotonic() - walk.last
        fresh = Path(report + ".new")
        fresh.write_text(json.dumps({**walk.as_report(), "quiet": quiet}))
        fresh.replace(report)

    threading.setprofile(walk.profile)
    sys.setprofile(walk.profile)
    signal.signal(signal.SIGUSR1, start)
    signal.signal(signal.SIGUSR2, stop)
    from tacit.base.commands.main import main
    from tacit.cli.operation.up import up

    # A writer in another process would be out of sight.
    here = ["--writer", "thread"] if any(option.name == "writer" for option in up.params) else []
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


def _own_process(house: Path, *arguments: str) -> subprocess.Popen[bytes]:
    """This program, with the modules of a checkout."""
    paths = [*sources(house), house, *packages(house)]
    return subprocess.Popen(
        [sys.executable, str(Path(__file__).resolve()), *arguments],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(map(str, paths))},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )


def of_message(house: Path) -> dict[str, Any]:
    """Files and hops of one message, in a checkout."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "walk.json"
        process = _own_process(house, "--serve", str(Path(folder) / "data"), str(report))
        try:
            assert process.stdout is not None
            url = json.loads(process.stdout.readline())["url"]
            token = (Path(folder) / "data" / "owner.token").read_text().strip()
            group = _call(url, token, "/v1/groups")["groups"][0]["group_id"]
            agents = f"/v1/groups/{group}/agents"
            while not all(agent["online"] for agent in _call(url, token, agents)["agents"]):
                pass
            # What agents do on arriving is no part of the way: wait until the house has been quiet.
            while _asked(process, report)["quiet"] < QUIET_SECONDS:
                pass
            process.send_signal(signal.SIGUSR1)
            _call(
                url, token, f"/v1/groups/{group}/events", {"kind": "chat.message", "data": {"text": MESSAGE}}
            )
            while not (walked := _asked(process, report))["done"]:
                pass
            return walked
        finally:
            process.terminate()
            process.communicate(timeout=30)


# A packet.


async def _open_handed(agent: Agent) -> None:
    """Let an agent answer without its owner: whatever it may be asked for, it may share."""
    await agent.profile(
        {"timezone": "Europe/London", "general_location_area": "Reading", "dietary": "vegetarian"}
    )
    for name in (await agent.permissions())["ask_first"]:
        await agent.permissions(name, "always")


async def _proposed(agent: Agent, count: int) -> None:
    """Until so many proposals wait for the owner's word, and nothing is on its way."""
    async with asyncio.timeout(PATIENCE):
        while True:
            questions = (await agent.pending())["questions"]
            proposals = [question for question in questions if question["kind"] == "checkpoint"]
            if len(proposals) == count and not agent.post.outbox.waiting(limit=1):
                return
            await asyncio.sleep(0.05)


class _Recipient:
    """An agent on a thread of its own, which is followed, and so is every thread that it starts."""

    def __init__(self, folder: Path, walk: Walk) -> None:
        self._folder = folder
        self._walk = walk
        self._stopped = asyncio.Event()
        self.is_settled = threading.Event()
        self.address = ""
        _follow_started_threads(walk)
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def _run(self) -> None:
        sys.setprofile(self._walk.profile)
        asyncio.run(self._live())

    async def _live(self) -> None:
        from tacit.agent import Agent

        async with Agent(self._folder) as agent:
            await _open_handed(agent)
            self._loop = asyncio.get_running_loop()
            running = asyncio.create_task(agent.run(self._stopped))
            await _proposed(agent, 1)
            self.is_settled.set()
            await running

    def stop(self) -> None:
        """End the agent and its thread."""
        self._loop.call_soon_threadsafe(self._stopped.set)
        self._thread.join()


def _follow_started_threads(walk: Walk) -> None:
    start = threading.Thread.start

    def started(thread: threading.Thread) -> None:
        if sys.getprofile() is not None:
            run = thread.run

            def followed() -> None:
                sys.setprofile(walk.profile)
                run()

            thread.run = followed
        start(thread)

    threading.Thread.start = started


async def _exchange(folder: Path, walk: Walk) -> None:
    """Anna writes to Ben twice; the second time, Ben is followed until his agent has its answer."""
    from tacit.agent import Agent
    from tests.agent.arrangements import registered
    from tests.relay_support import Relay

    async with Relay(folder / "relay") as relay:
        for name, friend in (("anna", "ben"), ("ben", "anna")):
            await registered(relay, folder / name, name, friend)
        recipient = _Recipient(folder / "ben", walk)
        async with Agent(folder / "anna") as anna:
            await _open_handed(anna)
            stopped = asyncio.Event()
            running = asyncio.create_task(anna.run(stopped))
            await anna.ask("dinner with ben on Friday evening")
            # What is done for the first packet alone, such as agreeing on keys, is no part of the way.
            await _proposed(anna, 1)
            await asyncio.to_thread(recipient.is_settled.wait, PATIENCE)
            while time.monotonic() - walk.last < QUIET_LINE_SECONDS:  # noqa: ASYNC110 - it waits for no event
                await asyncio.sleep(QUIET_SECONDS)
            walk.is_awaited = True
            await anna.ask("lunch with ben on Saturday")
            async with asyncio.timeout(PATIENCE):
                while not walk.is_done:  # noqa: ASYNC110 - the followed thread may wake nobody
                    await asyncio.sleep(0.05)
            stopped.set()
            await running
        recipient.stop()


def of_packet(house: Path) -> dict[str, Any]:
    """Files and hops of one packet, in a checkout."""
    with tempfile.TemporaryDirectory() as folder:
        process = _own_process(house, "--exchange", folder)
        output, _ = process.communicate(timeout=3 * PATIENCE)
        return json.loads(output)


def main() -> int:
    """Count, and say where most of it goes."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--packet", action="store_true")
    parser.add_argument("--house", type=Path, default=ROOT)
    parser.add_argument("--serve", nargs=2, metavar=("FOLDER", "REPORT"))
    parser.add_argument("--exchange", type=Path, metavar="FOLDER")
    parser.add_argument("--most", type=int, default=12)
    parser.add_argument("--all", action="store_true")
    arguments = parser.parse_args()
    if arguments.serve:
        _serve(*arguments.serve)
        return 0
    if arguments.exchange:
        walk = Walk(ANSWER, FRAME)
        asyncio.run(_exchange(arguments.exchange, walk))
        print(json.dumps(walk.as_report()))
        return 0
    walked = (of_packet if arguments.packet else of_message)(arguments.house.resolve())
    print(f"files entered: {len(walked['files'])}")
    print(f"hops between files: {sum(count for _, _, count in walked['hops'])}")
    print(f"different ways between two files: {len(walked['hops'])}")
    for source, target, count in walked["hops"][: arguments.most]:
        print(f"  {count:5}  {source} -> {target}")
    if arguments.all:
        print(*walked["steps"], sep="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
