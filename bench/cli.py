"""How long a command takes beside the bare interpreter.

    python -m bench.cli [--rounds N] [--quick]

Each round starts `python -c pass` and every command once, in alternating order; what counts is how much longer a
command takes than the interpreter beside it (the median of the rounds' differences), since that is what is ours:

send    `tacit send ROOM hello` to a running hub, from the start of the process to its end.
mcp     `tacit mcp` from the start of the process to its answer to `initialize`, and to `tools/list` after it.

The results go into bench/results/cli.json, and from there into the last part of docs/benchmarks.md. Quick: few
rounds, printed only.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, Final

from bench.spine.machine import describe

ROOT: Final = Path(__file__).resolve().parent.parent
SAVED: Final = ROOT / "bench" / "results" / "cli.json"
PAGE: Final = ROOT / "docs" / "benchmarks.md"
TITLE: Final = "## Starting a command"
TACIT: Final = str(Path(sys.executable).parent / "tacit")
INITIALIZE: Final = {
    "jsonrpc": "2.0", "id": 1, "method": "initialize",
    "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}},
}  # fmt: skip
LIST: Final = {"jsonrpc": "2.0", "id": 2, "method": "tools/list"}
AT_MOST: Final = {"send": 150.0, "initialize": 300.0, "tools": None}
SAYS: Final = {
    "send": "`tacit send` to a running hub, to its end",
    "initialize": "`tacit mcp` until it has answered `initialize`",
    "tools": "`tacit mcp` until it has answered `tools/list`",
}


class HubProcess:
    """A hub of its own, with a room and an actor in it."""

    def __init__(self, folder: Path) -> None:
        # As a person's shell has it: compiled modules are kept.
        kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
        self.environment = {
            **{name: value for name, value in kept.items() if not name.startswith("TACIT")},
            "XDG_DATA_HOME": str(folder / "data"),
            "XDG_CONFIG_HOME": str(folder / "config"),
        }
        self._process = subprocess.Popen(
            [TACIT, "--json", "up", "--port", "0"],
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        assert self._process.stdout is not None
        self.environment["TACIT_URL"] = json.loads(self._process.stdout.readline())["url"]
        for words in (("group", "new", "Room"), ("actor", "add", "Room", "ada")):
            subprocess.run([TACIT, *words], env=self.environment, check=True, stdout=subprocess.DEVNULL)

    def stop(self) -> None:
        self._process.terminate()
        self._process.wait()


def whole(command: list[str], environment: dict[str, str]) -> float:
    """Milliseconds from the start of a process to its end."""
    start = time.perf_counter()
    subprocess.run(command, env=environment, check=True, stdout=subprocess.DEVNULL)
    return 1000 * (time.perf_counter() - start)


def answers(environment: dict[str, str]) -> tuple[float, float]:
    """Milliseconds from the start of `tacit mcp` to its first and to its second answer."""
    start = time.perf_counter()
    process = subprocess.Popen(
        [TACIT, "mcp", "--as", "ada"], env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert process.stdin is not None
    assert process.stdout is not None
    taken: list[float] = []
    for message in (INITIALIZE, LIST):
        process.stdin.write(json.dumps(message).encode() + b"\n")
        process.stdin.flush()
        if "result" not in json.loads(process.stdout.readline()):
            raise SystemExit("tacit mcp refused what it was asked")
        taken.append(1000 * (time.perf_counter() - start))
    process.stdin.close()
    process.wait()
    return taken[0], taken[1]


def one_round(environment: dict[str, str], *, backwards: bool) -> dict[str, float]:
    found: dict[str, float] = {}

    def bare() -> None:
        found["bare"] = whole([sys.executable, "-c", "pass"], environment)

    def send() -> None:
        found["send"] = whole([TACIT, "send", "Room", "hello"], environment)

    def mcp() -> None:
        found["initialize"], found["tools"] = answers(environment)

    parts = [bare, send, mcp]
    for part in reversed(parts) if backwards else parts:
        part()
    return found


def measure(rounds: int) -> dict[str, Any]:
    """Medians of so many rounds; a first one, which warms the file cache, does not count."""
    machine = describe()
    with tempfile.TemporaryDirectory() as folder:
        hub = HubProcess(Path(folder))
        try:
            one_round(hub.environment, backwards=False)
            found = [one_round(hub.environment, backwards=bool(number % 2)) for number in range(rounds)]
        finally:
            hub.stop()
    bare = statistics.median(one["bare"] for one in found)
    return {
        "measured": time.strftime("%Y-%m-%d", time.gmtime()),
        "machine": machine,
        "rounds": rounds,
        "bare_ms": round(bare, 1),
        "rows": {
            name: {
                "ms": round(statistics.median(one[name] for one in found), 1),
                "more_ms": round(statistics.median(one[name] - one["bare"] for one in found), 1),
                "ratio": round(statistics.median(one[name] / one["bare"] for one in found), 1),
                "at_most_ms": AT_MOST[name],
            }
            for name in SAYS
        },
    }


def section(results: dict[str, Any]) -> str:
    """The last part of the page."""
    busy = float(results["machine"]["load before"]) > float(results["machine"]["cores"]) / 2
    lines = [
        TITLE,
        "",
        "What a command adds to the bare interpreter (`python -c pass`), measured beside it in the same run: medians of",
        f"{results['rounds']} rounds in alternating order. Written by `python -m bench.cli`; do not edit by hand.",
        "",
        (
            f"Measured {results['measured']} with Python {results['machine']['Python']} on {results['machine']['cores']} "
            f"cores, load before {results['machine']['load before']}; the bare interpreter took {results['bare_ms']:g} ms."
        ),
        "",
        *(["**The machine was busy with other work**: times are long.", ""] if busy else []),
        "| What | Takes | More than the interpreter | Times the interpreter | Target | Met |",
        "|---|---|---|---|---|---|",
    ]
    for name, row in results["rows"].items():
        limit = row["at_most_ms"]
        target = "reported" if limit is None else f"≤ {limit:g} ms more"
        met = "" if limit is None else "yes" if row["more_ms"] <= limit else "**no**"
        lines.append(
            f"| {SAYS[name]} | {row['ms']:g} ms | {row['more_ms']:g} ms | {row['ratio']:g}x | {target} | {met} |"
        )
    return "\n".join([*lines, ""])


def saved_section() -> str:
    """The part as it was last measured; nothing before the first time."""
    return "\n" + section(json.loads(SAVED.read_text(encoding="utf-8"))) if SAVED.exists() else ""


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=21)
    parser.add_argument("--quick", action="store_true", help="three rounds, not for the docs")
    given = parser.parse_args()
    results = measure(3 if given.quick else given.rounds)
    print(section(results))
    if not given.quick:
        SAVED.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
        rest = PAGE.read_text(encoding="utf-8").partition("\n" + TITLE)[0]
        PAGE.write_text(rest.rstrip("\n") + "\n" + saved_section(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
