"""What a card's stream costs: the page's processor time while agents tell 200 updates a second, and the ledger's events.

python -m bench.cards [--seconds 10] [--json]

One hub process, one Chromium, this machine. `one` is an agent that tells of its turn 200 times a second (a harness
tells four times; the hub passes on twenty), `many` are 50 agents at four times a second each. The share is processor
time of the page's own process (`ProcessTime`), as a part of one core, less what the same page costs while nothing
happens; the card is open, so that all of it is drawn.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from tests.web.agent import Agent  # noqa: E402
from tests.web.stage import HubProcess, chromium  # noqa: E402

RATE = 200
LINES = 40


def told(agent: Agent, event_id: str, number: int) -> None:
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
        idle, _ = share(cdp, page, seconds / 2, None)
        told(open_agents[-1], asked[-1], 1)
        page.locator("details.activity.running summary").last.click()
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
        "page_idle_share": idle,
        "page_share": busy - idle,
        "ledger_events": after - before,
    }


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--seconds", type=float, default=10.0)
    options.add_argument("--json", action="store_true")
    given = options.parse_args()
    found = {"one": measured(given.seconds, 1), "many": measured(given.seconds, 50)}
    if given.json:
        print(json.dumps(found, indent=1))
    else:
        for name, values in found.items():
            print(name, ", ".join(f"{key} {value:.3f}" for key, value in values.items()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
