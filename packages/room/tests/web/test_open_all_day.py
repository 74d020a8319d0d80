"""A tab that stays open: what it holds in memory follows what it shows, not what has been said since it was opened."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from playwright.sync_api import expect
from websockets.sync.client import connect

if TYPE_CHECKING:
    from collections.abc import Sequence

    from playwright.sync_api import CDPSession

    from tests.web.conftest import Visits
    from tests.web.stage import HubProcess

MESSAGES = 3_000
WINDOW = 60
"""Messages on their way at a time: enough to be quick, few enough that the page draws between them."""


@dataclass(frozen=True)
class Held:
    """What a page holds once everything that nobody refers to has been collected."""

    bytes: int
    nodes: int
    listeners: int


def held(devtools: CDPSession) -> Held:
    devtools.send("HeapProfiler.collectGarbage")
    metrics = {
        metric["name"]: int(metric["value"]) for metric in devtools.send("Performance.getMetrics")["metrics"]
    }
    return Held(metrics["JSHeapUsedSize"], metrics["Nodes"], metrics["JSEventListeners"])


def send(hub: HubProcess, group: str, texts: Sequence[str]) -> None:
    """Say many things over one socket, some at a time."""
    with connect(f"{hub.url.replace('http', 'ws', 1)}/v1/ws") as socket:

        def ask(method: str, params: dict[str, object]) -> None:
            socket.send(json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}))

        def wait_for_an_answer() -> None:
            assert "error" not in json.loads(socket.recv(timeout=60))

        ask("authenticate", {"token": hub.owner})
        wait_for_an_answer()
        for number, text in enumerate(texts):
            if number >= WINDOW:
                wait_for_an_answer()
            ask("append", {"group_id": group, "kind": "chat.message", "data": {"text": text}})
        for _ in range(min(WINDOW, len(texts))):
            wait_for_an_answer()


def test_three_thousand_live_messages_leave_a_tab_about_as_large_as_it_was(
    visit: Visits, hub: HubProcess
) -> None:
    group = hub.group("Busy")
    hub.actor(group, "ada")
    page = visit(group, hub.person(group, "ben"))
    devtools = page.context.new_cdp_session(page)
    devtools.send("Performance.enable")
    send(hub, group, [f"before {number}" for number in range(100)])
    expect(page.get_by_text("before 99", exact=True)).to_be_in_viewport()
    start = held(devtools)
    send(hub, group, [f"said meanwhile {number}" for number in range(MESSAGES)])
    expect(page.get_by_text(f"said meanwhile {MESSAGES - 1}", exact=True)).to_be_in_viewport()
    # What is still on its way (answers of the hub, rows that have just left) is let go of within moments.
    patience = time.monotonic() + 30
    while (end := held(devtools)).bytes > 1.5 * start.bytes and time.monotonic() < patience:
        page.wait_for_timeout(200)
    assert end.bytes <= 1.5 * start.bytes, (start, end)
    # A closure may keep one earlier drawing; of thousands there are dozens of times as many nodes.
    assert end.nodes <= 4 * start.nodes, (start, end)
    assert end.listeners <= 4 * start.listeners, (start, end)
