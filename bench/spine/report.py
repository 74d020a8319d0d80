"""The table of the documentation, written from the saved results and from nothing else."""

from __future__ import annotations

from typing import Any, Final

HEAD: Final = """# Benchmarks

How fast the ledger, the hub and its doors are. Every number stands beside a bare counterpart measured in the same run, so
read the **ratio**; absolute numbers depend on the machine. This part is written by `python -m bench.spine`; do not edit it
by hand.

![Ratios and growth](images/bench-spine.png)
"""

OWN_PARTS: Final = (
    "## What is missed or near its limit, and why",
    "## How it is measured",
    "## How to repeat it",
)

METHOD: Final = """## What is missed or near its limit, and why

- **Durable append (a)** is near its goal of 0.5 with a writer process (0.47 to 0.48 over several runs, 0.44 to 0.54 on a busy
  machine) and far from it with a thread (0.33), where hub and writer share Python's global lock. The writer is the bound:
  some 75 µs of processor time an event in batches of 64 (admission and staging 25, rows and hash chain 20, COMMIT 17,
  idempotency keys 5, decoding and answering 6), beside the hub's 41 µs. Tried: position in the event's id instead of an
  index saves 3 %, full-text rows behind the commit at most 11 %, randomness in blocks 1 %; no garbage collection during a
  batch and reading ahead during COMMIT save nothing.
- **What withstanding guests costs an append**: a salted chain, words indexed by audience, quotas and judged appends added
  some 12 % of processor time (commit 69835e9; the goal was 5 %). After savings elsewhere an append takes 249,400
  instructions (cachegrind) where it took 248,800 before them: 0.2 % more.
- **One append at a time (d)** writes twelve pages: beside a bare commit of the same rows it is within its goal, beside a
  commit of one row it cannot be. Some 100 µs are hand-overs between threads, and a process adds two trips over a socket.
  `--writer thread` is better for one client that waits for every answer.
- **Fan-out (g)** (0.54 to 0.63) is bound by one `write` call a follower, as the bare loop is; the rest of the gap is the
  durable commit before each event.

## How it is measured

- The hub runs in its own process with default settings, the load in another, on loopback. Messages are `chat.message` of
  about 80 characters, each with a random `client_id`.
- *Durable*: an answer leaves after `fsync` (SQLite, WAL, `synchronous=FULL`), projections and full-text search included.
- The **bare writer** is one thread fed by an asyncio queue; it writes the same rows with the same group commit and does
  nothing else. The **bare broadcast loop** and **bare handler** are aiohttp on uvloop with nothing behind them. The **bare
  commit** is one row, or all rows of one event, in one transaction.
- Compared parts run in turn, in alternating order; figures are medians over rounds, ratios medians of neighbouring rounds.
- Growth is measured through the store itself, on two ledgers open in one process and both in the file cache.
- Memory is the hub's resident memory (`VmRSS`).

## How to repeat it

```console
$ make bench                      # all of it, about fifteen minutes; the first run fills a ledger
$ make bench ARGS="--only a,g"    # some parts, the others keep their last results
$ make bench ARGS=--quick         # a look, saved beside but not into these pages
```

Letters: {letters}. `--seconds` sets the length of a round. Raw results are in `bench/results/spine.json`. The
comparison with CCCC installs `cccc-pair` and `cccc-sdk` into `bench/.venv-cccc`; they are no dependency.
"""


def _number(value: float | None, unit: str) -> str:
    if value is None:
        return ""
    digits = 0 if abs(value) >= 100 else 1 if abs(value) >= 10 else 2
    return f"{value:,.{digits}f} {unit}"


def _target(row: dict[str, Any]) -> str:
    if row["at_least"] is not None:
        return f"≥ {row['at_least']:g}x"
    if row["at_most"] is not None:
        return f"≤ {row['at_most']:g}x"
    if row["at_most_value"] is not None:
        return f"≤ {_number(row['at_most_value'], row['unit'])}"
    return "reported"


def _line(row: dict[str, Any]) -> str:
    beside = f"{row['beside']}: {_number(row['beside_value'], row['unit'])}" if row["beside"] else ""
    ratio = "" if row["ratio"] is None else f"{row['ratio']:.2f}x"
    met = {True: "yes", False: "**no**", None: ""}[row["met"]]
    cells = (row["what"], _number(row["value"], row["unit"]), beside, ratio, _target(row), met, row["note"])
    return "| " + " | ".join(cells) + " |"


def _measured(cases: dict[str, dict[str, Any]]) -> list[str]:
    """When and where which parts were measured."""
    letters: dict[str, list[str]] = {}
    for letter, case in sorted(cases.items()):
        machine = ", ".join(f"{name} {value}" for name, value in case["machine"].items())
        letters.setdefault(f"{case['measured']} on: {machine}", []).append(f"({letter})")
    return [f"- {', '.join(parts)}: measured {where}." for where, parts in letters.items()]


def markdown(results: dict[str, Any]) -> str:
    """The page."""
    cases = results["cases"]
    lines = [HEAD, *_measured(cases), ""]
    if any(
        float(case["machine"]["load before"]) > float(case["machine"]["cores"]) / 2 for case in cases.values()
    ):
        lines += [
            "**The machine was busy with other work**: times are long, and latencies are not to be trusted.",
            "",
        ]
    if any(case["plan"]["quick"] for case in cases.values()):
        lines += ["**Some parts come from a quick look and are rough.**", ""]
    lines += ["| What | Tacit | Beside it | Ratio | Target | Met | Also |", "|---|---|---|---|---|---|---|"]
    lines += [_line(row) for letter in sorted(cases) for row in cases[letter]["rows"]]
    notes = [note for letter in sorted(cases) for note in cases[letter]["notes"]]
    lines += ["", *[f"- {note}" for note in notes], "", ""] if notes else [""]
    letters = ", ".join(f"`{letter}` {case['title'].lower()}" for letter, case in sorted(cases.items()))
    return "\n".join(lines) + METHOD.replace("{letters}", letters)
