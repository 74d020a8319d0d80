"""The personal agent's own page in Debian's Chromium: how long until it is there, with little and with much.

python -m bench.agent_page [--threads 1000] [--questions 50] [--rounds 7] [--json]

Two agents of the same making in one process, one with ten threads and ten questions, one with many; a fresh
browser profile for each opening, in turns. First paint is the page's own `first-contentful-paint`; "cards"
is when the first question stands there whole, "list" when the list of threads does.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from tacit.a2acp.packets import packet  # noqa: E402
from tacit.agent.consent import consenting  # noqa: E402
from tacit.agent.kernel import records  # noqa: E402
from tacit.agent.scheduling.goal import Need  # noqa: E402
from tests.web.agent_stage import AgentStage  # noqa: E402
from tests.web.stage import chromium  # noqa: E402

if TYPE_CHECKING:
    from playwright.sync_api import Browser

    from tacit.agent.kernel.workspace import Workspace

FEW = 10
A_DECISION = 100
PAINT = "performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? 0"
NEEDS = (("dietary", "no meat"), ("budget_range", "GBP 20-40"), ("general_availability", "evenings"))


def fill(stage: AgentStage, threads: int, questions: int) -> None:
    """So many open threads with Ben, the first of them with a question each."""

    def begin(ws: Workspace, first: int, last: int) -> None:
        for number in range(first, last):
            thread_id = packet.identifier("thr_", ws.draw(17))
            summary = {"category": "scheduling", "summary": f"Dinner number {number} with an old friend"}
            ws.say(records.Began(thread_id, stage.ben.me, ours=True, intent=ws.keep(stage.ben.me, summary)))
            if number < questions:
                held = [(Need(field, "To find a place", "helpful"), value) for field, value in NEEDS]
                consenting.ask_consent(ws, ws.thread(thread_id), held, subject=thread_id)

    for first in range(0, threads, A_DECISION):
        last = min(threads, first + A_DECISION)
        stage.do(stage.anna.decide(lambda ws, first=first, last=last: begin(ws, first, last)))


def opened(browser: Browser, stage: AgentStage) -> dict[str, float]:
    """One opening by a link, milliseconds."""
    context = browser.new_context(viewport={"width": 1280, "height": 800})
    try:
        page = context.new_page()
        began = time.perf_counter()
        page.goto(stage.link())
        page.wait_for_selector(".ask")
        cards = (time.perf_counter() - began) * 1000
        paint = page.evaluate(PAINT)
        began = time.perf_counter()
        page.get_by_role("link", name="Threads").click()
        page.wait_for_selector(".thread-row")
        listed = (time.perf_counter() - began) * 1000
        return {"first_paint_ms": paint, "cards_ms": cards, "list_ms": listed, "nodes": _nodes(page)}
    finally:
        context.close()


def _nodes(page: Any) -> float:
    return float(page.evaluate("document.querySelectorAll('*').length"))


def measured(threads: int, questions: int, rounds: int) -> dict[str, dict[str, float]]:
    """Medians of both, and what the many cost beside the few."""
    found: dict[str, list[dict[str, float]]] = {"few": [], "many": []}
    with (
        tempfile.TemporaryDirectory() as scratch,
        AgentStage(Path(scratch) / "few") as few,
        AgentStage(Path(scratch) / "many") as many,
        chromium() as browser,
    ):
        fill(few, FEW, FEW)
        fill(many, threads, questions)
        for round_number in range(rounds + 1):
            for name, stage in (("few", few), ("many", many)):
                one = opened(browser, stage)
                if round_number:
                    found[name].append(one)
    medians = {
        name: {key: statistics.median(one[key] for one in all_of) for key in all_of[0]}
        for name, all_of in found.items()
    }
    medians["ratio"] = {key: medians["many"][key] / medians["few"][key] for key in medians["few"]}
    return medians


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--threads", type=int, default=1000)
    parser.add_argument("--questions", type=int, default=50)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    found = measured(given.threads, given.questions, given.rounds)
    if given.json:
        print(json.dumps(found))
        return 0
    print(f"{'':<16}{FEW:>9} of each{given.threads:>9} threads, {given.questions} questions   ratio")
    for key, small in found["few"].items():
        print(f"{key:<16}{small:>17.0f}{found['many'][key]:>17.0f}{found['ratio'][key]:>21.2f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
