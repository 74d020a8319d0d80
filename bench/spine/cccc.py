"""(b) The daemon of `cccc-pair`, driven by 8 clients of `cccc-sdk`, beside the hub with 8 clients.

Both are installed in a virtual environment of the benchmark. The daemon gets a home of its own and is ended
with the case.
"""

from __future__ import annotations

import asyncio
import json
import os
import platform
import subprocess
import sys
from typing import TYPE_CHECKING, Any, Final

from bench.spine.appends import CLIENTS, IN_FLIGHT, appenders, press
from bench.spine.plan import Case, Plan, Row, in_turn, middle, ratio
from bench.spine.processes import ROOT, hub, scratch

if TYPE_CHECKING:
    from pathlib import Path

ENVIRONMENT: Final = ROOT / "bench" / ".venv-cccc"
WANTED: Final = "0.4.45"
SDK: Final = "0.4.41"

# Runs inside that environment, where nothing of ours is installed.
DRIVER: Final = """
import json, multiprocessing, sys, time
from cccc_sdk import CCCCClient
home, seconds, count, texts = sys.argv[1], float(sys.argv[2]), int(sys.argv[3]), json.load(sys.stdin)
first = CCCCClient(cccc_home=home)
group = first.group_create(title="bench")["group_id"]
def client(number):
    own, turn, took = CCCCClient(cccc_home=home), 0, []
    started = time.perf_counter()
    while time.perf_counter() - started < seconds:
        before = time.perf_counter()
        own.send(group_id=group, text=texts[(turn * count + number) % len(texts)], by="user", to=["user"],
                 message_mode="send", client_id=f"{number}-{turn}")
        took.append(time.perf_counter() - before)
        turn += 1
    return took, len(took) / (time.perf_counter() - started)
with multiprocessing.get_context("fork").Pool(count) as pool:
    found = pool.map(client, range(count), chunksize=1)
took = sorted(each for one, _ in found for each in one)
ping = first.ping()
print(json.dumps({"per_second": sum(rate for _, rate in found), "p50_ms": took[len(took) // 2] * 1e3,
                  "version": ping["version"], "implementation": ping.get("implementation", "")}))
"""


def install() -> str | None:
    """Make the environment; returns why not when it cannot be made."""
    python = ENVIRONMENT / "bin" / "python"
    if (ENVIRONMENT / "bin" / "cccc").exists():
        return None
    subprocess.run([sys.executable, "-m", "venv", str(ENVIRONMENT)], check=True, capture_output=True)
    for wanted in (f"cccc-pair=={WANTED}", "cccc-pair"):
        command = [
            str(python),
            "-m",
            "pip",
            "install",
            "--quiet",
            "--only-binary=:all:",
            wanted,
            f"cccc-sdk=={SDK}",
        ]
        if subprocess.run(command, check=False, capture_output=True).returncode == 0:
            return None
    return "cccc-pair cannot be installed here"


async def _ready(home: Path) -> None:
    for _ in range(300):
        if (home / "daemon" / "ccccd.addr.json").exists() or (home / "daemon" / "ccccd.sock").exists():
            await asyncio.sleep(1.0)
            return
        await asyncio.sleep(0.1)
    raise RuntimeError("the daemon did not start")


async def _drive(home: Path, seconds: float) -> dict[str, Any]:
    from bench.spine.texts import messages

    process = await asyncio.create_subprocess_exec(
        str(ENVIRONMENT / "bin" / "python"), "-c", DRIVER, str(home), str(seconds), str(CLIENTS),
        stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE,
    )  # fmt: skip
    out, _ = await process.communicate(json.dumps(messages()).encode())
    if process.returncode:
        raise RuntimeError("the daemon refused sends")
    return json.loads(out)


async def beside(plan: Plan) -> Case:
    """Sends a second, each client waiting for its answer on their side, as their SDK does."""
    why_not = install()
    if why_not:
        return Case("CCCC", [], {}, [f"Not measured: {why_not}."])
    rounds = min(plan.rounds, 3)
    with scratch() as folder:
        home = folder / "cccc"
        home.mkdir()
        daemon = await asyncio.create_subprocess_exec(
            str(ENVIRONMENT / "bin" / "cccc"), "daemon", "run",
            env={**os.environ, "CCCC_HOME": str(home), "HOME": str(home)}, cwd=home,
            stdout=asyncio.subprocess.DEVNULL, stderr=asyncio.subprocess.DEVNULL,
        )  # fmt: skip
        try:
            await _ready(home)
            async with hub(folder / "hub") as running:
                group_id = await running.open_group("beside", CLIENTS)
                load = await appenders(running, group_id, CLIENTS)
                found = await in_turn(
                    rounds,
                    {
                        "hub": lambda: press(load, plan.seconds, IN_FLIGHT),
                        "single": lambda: press(load, plan.seconds, 1),
                        "cccc": lambda: _drive(home, plan.seconds),
                    },
                )
        finally:
            daemon.terminate()
            try:
                async with asyncio.timeout(20):
                    await daemon.wait()
            except TimeoutError:
                daemon.kill()
                await daemon.wait()
    return _case(found)


def _case(found: dict[str, list[dict[str, Any]]]) -> Case:
    version = str(found["cccc"][0]["version"])
    name = f"`cccc-pair` {version} ({found['cccc'][0]['implementation'] or 'daemon'}), 8 clients of `cccc-sdk` {SDK}"
    rows = [
        Row(
            f"Durable append, 8 clients, {what}",
            middle(found[key], "per_second"),
            "events/s",
            name,
            middle(found["cccc"], "per_second"),
            ratio(found, (key, "per_second"), ("cccc", "per_second")),
            # The target names a version; another one is reported without a verdict.
            at_least=6.0 if key == "hub" and version == WANTED else None,
            note=f"p50 {middle(found[key], 'p50_ms'):.1f} ms; theirs {middle(found['cccc'], 'p50_ms'):.0f} ms",
        )
        for key, what in (("hub", "16 in flight each"), ("single", "one at a time each"))
    ]
    notes = [
        "CCCC's SDK opens a connection for each message and has no pipelining; *one at a time each* waits likewise."
    ]
    if version != WANTED:
        notes.append(
            f"The target, at least 6 times, is against `cccc-pair` {WANTED}, a native program without a build for "
            f"this machine ({platform.machine()}) and without published sources. {version} is the newest that "
            "installs here; it is another implementation, so no verdict is given."
        )
    return Case("CCCC", rows, found, notes)
