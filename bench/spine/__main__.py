"""`python -m bench.spine [--only a,b] [--quick] [--seconds N]`: measure, save, draw, write the table."""

from __future__ import annotations

import argparse
import json
import re
import time
from typing import TYPE_CHECKING, Any, Final

import uvloop

from bench.spine import appends, cccc, fanout, growth, latency, memory
from bench.spine.machine import describe
from bench.spine.plan import Case, Plan
from bench.spine.processes import CACHE, ROOT, raise_open_files
from bench.spine.report import OWN_PARTS, markdown

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from pathlib import Path

CASES: Final[dict[str, Callable[[Plan], Awaitable[Case]]]] = {
    "a": appends.pipelined,
    "b": cccc.beside,
    "c": appends.over_http,
    "d": appends.one_by_one,
    "e": latency.receipts,
    "f": growth.flat,
    "g": fanout.broadcast,
    "h": memory.resident,
}


def places(*, quick: bool) -> tuple[Path, Path, Path]:
    """Results, page and picture; a quick look stays out of the documentation."""
    if quick:
        return CACHE / "spine.json", CACHE / "benchmarks.md", CACHE / "images" / "bench-spine.png"
    return (
        ROOT / "bench" / "results" / "spine.json",
        ROOT / "docs" / "benchmarks.md",
        ROOT / "docs" / "images" / "bench-spine.png",
    )


def show(letter: str, case: Case) -> None:
    """A case on the terminal, as soon as it is known."""
    for row in case.rows:
        beside = f"  beside {row.beside_value:,.2f} = {row.ratio:.2f}x" if row.ratio is not None else ""
        met = {True: "  met", False: "  NOT MET", None: ""}[row.met]
        print(f"({letter}) {row.what}: {row.value:,.2f} {row.unit}{beside}{met}  {row.note}", flush=True)
    for note in case.notes:
        print(f"({letter}) {note}", flush=True)


def _parts_of_others(page: Path) -> str:
    """What other benches have put on the page."""
    text = page.read_text(encoding="utf-8") if page.exists() else ""
    sections = re.split(r"(?m)^(?=## )", text)[1:]
    return "".join(section for section in sections if section.partition("\n")[0] not in OWN_PARTS)


def write(results: dict[str, Any], *, quick: bool) -> None:
    """The results file, then what is made from it."""
    saved, page, picture = places(quick=quick)
    for path in (saved, page):
        path.parent.mkdir(parents=True, exist_ok=True)
    saved.write_text(json.dumps(results, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    page.write_text(markdown(results) + "\n" + _parts_of_others(page), encoding="utf-8")
    try:
        from bench.spine.plot import draw
    except ImportError:
        print("no picture: install the extra `bench`")
        return
    draw(results, picture)


def main() -> None:
    """Measure what was asked for; parts that were not keep their last results."""
    parser = argparse.ArgumentParser(prog="python -m bench.spine", description=__doc__)
    parser.add_argument("--only", default=",".join(CASES), help="letters, as in a,b")
    parser.add_argument("--quick", action="store_true", help="short rounds, 100,000 events; not for the docs")
    parser.add_argument("--seconds", type=float, help="length of a round")
    parser.add_argument("--rounds", type=int, help="rounds of each pair")
    parser.add_argument("--redraw", action="store_true", help="measure nothing; page and picture anew")
    given = parser.parse_args()
    letters = [letter for letter in CASES if letter in given.only.split(",")]
    if not letters:
        parser.error(f"--only knows {', '.join(CASES)}")
    plan = Plan(
        seconds=given.seconds or (1.0 if given.quick else 5.0),
        rounds=given.rounds or (3 if given.quick else 5),
        large=100_000 if given.quick else 1_000_000,
        quick=given.quick,
    )
    saved = places(quick=given.quick)[0]
    cases = json.loads(saved.read_text(encoding="utf-8"))["cases"] if saved.exists() else {}
    results: dict[str, Any] = {"cases": cases}
    here = {"measured": time.strftime("%Y-%m-%d", time.gmtime()), "machine": describe()}
    raise_open_files()
    for letter in [] if given.redraw else letters:
        case = uvloop.run(CASES[letter](plan))
        show(letter, case)
        cases[letter] = case.as_json(plan) | here
        write(results, quick=given.quick)
    if given.redraw:
        write(json.loads(saved.read_text(encoding="utf-8")), quick=given.quick)


if __name__ == "__main__":
    main()
