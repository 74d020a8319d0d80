"""What a card's stream costs: the page's processor time while agents tell 200 updates a second, and the ledger's events.

python -m bench.cards [--seconds 10] [--quick]

One hub process, one Chromium, this machine. `one` is an agent that tells of its turn 200 times a second (a harness
tells four times; the hub passes on twenty), `many` are 50 agents at four times a second each. The share is processor
time of the page's own process (`ProcessTime`), as a part of one core, less what the same page with the same cards
costs while nothing comes (`still`); the last card is open, so that all of it is drawn.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

PAGE = ROOT / "docs" / "benchmarks.md"
SAVED = ROOT / "bench" / "results" / "cards.json"
TITLE = "## A card's stream"
MOST = 0.10
SAYS = {
    "one": "one open card, one agent that tells 200 times a second",
    "many": "50 cards, each told of four times a second",
}
RATE = 200
LINES = 40


def told(agent: Any, event_id: str, number: int) -> None:
    """The next update of a turn: a command whose output grows, and words."""
    out = "\n".join(f"test_{n:03} passed" for n in range(max(0, number - LINES), number))
    items = [
        {"id": f"c{number // 50}", "kind": "command", "state": "running", "title": "make test", "text": out},
        {"id": "w", "kind": "text", "state": "running", "text": f"It is at step {number}."},
    ]
    agent.note(
        "notifications/activity", eventId=event_id, turn="t1", state="running", update=number, items=items
    )


def spent(cdp) -> float:
    """Seconds of processor time that the page's process has used."""
    metrics = {one["name"]: one["value"] for one in cdp.send("Performance.getMetrics")["metrics"]}
    return metrics["ProcessTime"]


def share(cdp, page, seconds: float, step) -> tuple[float, int]:
    """The part of a core that the page uses while `step` is called at the rate; how often it was called."""
    used, began, count = spent(cdp), time.perf_counter(), 0
    while (now := time.perf_counter() - began) < seconds:
        if step is not None and count < now * RATE:
            step(count + 1)
            count += 1
        else:
            page.wait_for_timeout(1)
    return (spent(cdp) - used) / (time.perf_counter() - began), count


def measured(seconds: float, agents: int) -> dict[str, float]:
    from tests.web.agent import Agent
    from tests.web.stage import HubProcess, chromium

    with tempfile.TemporaryDirectory() as scratch, chromium() as browser:
        hub = HubProcess(Path(scratch))
        hub.start()
        group = hub.group("Cards")
        names = [f"a{number}" for number in range(agents)]
        open_agents = [Agent(hub, hub.actor(group, name)) for name in names]
        page = browser.new_context(viewport={"width": 1280, "height": 800}).new_page()
        page.goto(hub.link())
        page.wait_for_selector(".connection.online", state="attached")
        asked = [hub.say(group, f"@{name} run the tests")["id"] for name in names]
        for agent in open_agents:
            while not agent.heard:
                agent.call("chat.members")
        cdp = page.context.new_cdp_session(page)
        cdp.send("Performance.enable")
        for agent, event_id in zip(open_agents, asked, strict=True):
            told(agent, event_id, 1)
        page.locator("details.activity.running summary").last.click()
        idle, _ = share(cdp, page, seconds / 2, None)
        before = hub.call("GET", f"/v1/groups/{group}")["last_seq"]

        def step(count: int) -> None:
            at = count % agents
            told(open_agents[at], asked[at], count // agents + 2)

        busy, count = share(cdp, page, seconds, step)
        after = hub.call("GET", f"/v1/groups/{group}")["last_seq"]
        for agent in open_agents:
            agent.__exit__()
        hub.stop()
    return {
        "updates_per_second": count / seconds,
        "page_still_share": idle,
        "page_share": busy - idle,
        "ledger_events": after - before,
    }


def section(found: dict[str, dict[str, float]]) -> str:
    """The part of the page that is about cards."""
    lines = [
        TITLE,
        "",
        "What the stream of agents' work costs an open page: processor time of the page's process as a part of one core,",
        "in Chromium without a graphics processor. Written by `python -m bench.cards`; do not edit by hand.",
        "",
        "| What | The cards, nothing coming | Added by 200 updates/s | Together | Target | Met | Events in the ledger |",
        "|---|---|---|---|---|---|---|",
    ]
    for name, row in found.items():
        still, added = row["page_still_share"], row["page_share"]
        target, met = (
            ("≤ 10 %", "yes" if still + added <= MOST else "**no**") if name == "one" else ("reported", "")
        )
        lines.append(
            f"| {SAYS[name]} | {still:.1%} | {added:.1%} | {still + added:.1%} | {target} | {met} "
            f"| {row['ledger_events']:g} |"
        )
    return "\n".join([*lines, ""])


def saved_section() -> str:
    """The part as it was last measured; nothing before the first time."""
    return "\n" + section(json.loads(SAVED.read_text(encoding="utf-8"))) if SAVED.exists() else ""


def main() -> int:
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--seconds", type=float, default=10.0)
    options.add_argument("--quick", action="store_true", help="two seconds, not for the docs")
    given = options.parse_args()
    seconds = 2.0 if given.quick else given.seconds
    found = {"one": measured(seconds, 1), "many": measured(seconds, 50)}
    print(section(found))
    if not given.quick:
        SAVED.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
        before, _, rest = PAGE.read_text(encoding="utf-8").partition("\n" + TITLE)
        after = rest[rest.index("\n## ") :] if "\n## " in rest else ""
        if not rest:
            at = before.find("\n## Starting a command")
            before, after = (before[:at], before[at:]) if at >= 0 else (before, "")
        PAGE.write_text(before.rstrip("\n") + "\n" + saved_section() + after, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
