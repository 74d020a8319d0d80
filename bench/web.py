"""The web room measured in Debian's Chromium: first paint, scrolling, memory, sending, weight.

python -m bench.web [--messages 100000] [--json]

One hub process, one browser, this machine. First paint is the page's own `first-contentful-paint`; "talk is
there" is when the newest messages stand on the screen. Frames are counted by the page while the wheel turns.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from tacit.base.io.built_page import built_files  # noqa: E402
from tests.web.stage import HubProcess, chromium, fill  # noqa: E402

FRAMES = """() => {
  const times = [];
  let last = performance.now(), on = true;
  const tick = (now) => { times.push(now - last); last = now; if (on) requestAnimationFrame(tick); };
  requestAnimationFrame(tick);
  window.stopFrames = () => { on = false; return times.slice(1); };
}"""


def opening(browser, hub: HubProcess, group: str, rounds: int) -> dict[str, float]:
    """Fresh profiles, cold cache."""
    paints, talks = [], []
    for _ in range(rounds):
        context = browser.new_context(viewport={"width": 1280, "height": 800})
        page = context.new_page()
        page.goto(hub.link())
        page.wait_for_selector(".connection.online", state="attached")
        context.storage_state()
        page.goto("about:blank")
        began = time.perf_counter()
        page.goto(f"{hub.url}/#/g/{group}")
        page.wait_for_selector(".main article.message")
        talks.append((time.perf_counter() - began) * 1000)
        paints.append(
            page.evaluate("performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? 0")
        )
        context.close()
    return {"first_paint_ms": statistics.median(paints), "talk_is_there_ms": statistics.median(talks)}


def memory(page) -> float:
    """Megabytes of script heap after a collection."""
    session = page.context.new_cdp_session(page)
    session.send("HeapProfiler.collectGarbage")
    session.send("Performance.enable")
    metrics = {one["name"]: one["value"] for one in session.send("Performance.getMetrics")["metrics"]}
    session.detach()
    return metrics["JSHeapUsedSize"] / 1e6


def scrolling(page, steps: int) -> dict[str, float]:
    """Turn the wheel backwards through the history."""
    page.locator(".main .history").hover()
    page.evaluate(FRAMES)
    for _ in range(steps):
        page.mouse.wheel(0, -400)
        page.wait_for_timeout(16)
    times = sorted(page.evaluate("window.stopFrames()"))
    return {
        "frames": len(times),
        "frame_median_ms": statistics.median(times),
        "frame_p95_ms": times[int(len(times) * 0.95)],
        "frame_worst_ms": times[-1],
        "over_50_ms": sum(one > 50 for one in times),
    }


def sending(page, count: int) -> dict[str, float]:
    """From the key to the message standing in the ledger and on the screen."""
    area = page.locator(".main .composer textarea")
    times = []
    for number in range(count):
        area.fill(f"measured {number}")
        began = time.perf_counter()
        area.press("Enter")
        page.locator(".main article.message:not(.waiting)", has_text=f"measured {number}").wait_for()
        times.append((time.perf_counter() - began) * 1000)
    return {"send_median_ms": statistics.median(times), "send_worst_ms": max(times)}


def measured(messages: int) -> dict[str, object]:
    page_files = built_files()
    first = [name for name in page_files if name.endswith(".js") and name in page_files[""].body.decode()]
    found: dict[str, object] = {
        "messages": messages,
        "script_first_paint_gzip_bytes": sum(len(page_files[name].packed) for name in first),
        "script_all_gzip_bytes": sum(
            len(file.packed) for name, file in page_files.items() if name.endswith(".js")
        ),
        "style_gzip_bytes": sum(
            len(file.packed) for name, file in page_files.items() if name.endswith(".css")
        ),
    }
    with tempfile.TemporaryDirectory() as scratch:
        hub = HubProcess(Path(scratch))
        hub.start()
        group = hub.group("Long")
        hub.stop()
        fill(hub.folder, group, messages)
        hub.start()
        try:
            with chromium() as browser:
                found |= opening(browser, hub, group, 5)
                page = browser.new_context(viewport={"width": 1280, "height": 800}).new_page()
                page.goto(hub.link())
                page.wait_for_selector(".main article.message")
                page.wait_for_timeout(500)
                found["heap_after_open_mb"] = memory(page)
                found |= scrolling(page, 300)
                for share in (0.9, 0.5, 0.1, 0.3, 0.7, 0.0, 1.0):
                    page.evaluate(
                        "s => { const h = document.querySelector('.main .history'); h.scrollTop = h.scrollHeight * s; }",
                        share,
                    )
                    page.wait_for_timeout(250)
                found["heap_after_scrolling_mb"] = memory(page)
                found["rows_in_the_page"] = page.locator(".main .row").count()
                page.get_by_role("button", name="To the newest").or_(
                    page.locator(".main .composer textarea")
                ).first.click()
                found |= sending(page, 20)
        finally:
            hub.stop()
    return found


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--messages", type=int, default=100_000)
    options.add_argument("--json", action="store_true")
    given = options.parse_args()
    found = measured(given.messages)
    if given.json:
        print(json.dumps(found, indent=1))
    else:
        for name, value in found.items():
            print(f"{name:32} {value:,.1f}" if isinstance(value, float) else f"{name:32} {value:,}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
