"""Within two minutes a newcomer has talked with the demo's agents and knows why the others were quiet."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from tests.web.stage import HubProcess

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Page

    from tests.web.conftest import Visits

SLOW = 45_000
"""Compose windows and three processes of agents, on a busy machine."""


@pytest.fixture(scope="module")
def hub(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HubProcess]:
    opened = HubProcess(tmp_path_factory.mktemp("demo"), None, "--demo")
    opened.start()
    try:
        yield opened
    finally:
        opened.stop()


def mine(page: Page, text: str):
    return page.locator(".main article.message.mine[data-event]", has_text=text)


def test_a_newcomer_asks_sees_one_answer_and_the_others_quiet_and_finds_out_why(
    visit: Visits, hub: HubProcess, write
) -> None:
    page = visit.profile().new_page()
    page.goto(hub.printed(r"http://\S+#sign-in=\S+"))
    agents = page.locator(".main article.message.agent")
    expect(agents.first).to_contain_text("Here is what to write", timeout=SLOW)
    for name in ("Maya", "Kit", "Rio"):
        entry = page.locator(".sidebar .entry", has_text=name)
        expect(entry.locator(".dot.online")).to_be_visible(timeout=SLOW)
    page.locator(".main .composer textarea").fill("@maya what is this place?")
    expect(page.locator(".will")).to_have_text("maya must reply; 2 others stay quiet")
    page.keyboard.press("Enter")
    strip = mine(page, "what is this place").locator(".strip")
    # She owes a reply first; how soon she gives it is her own affair.
    expect(strip).to_contain_text(re.compile("Maya (owes a reply|answered)"))
    expect(strip).to_contain_text("Maya answered", timeout=SLOW)
    expect(strip).to_contain_text("2 others stay quiet")
    expect(agents).to_have_count(2)
    expect(agents.nth(1).locator(".strip")).to_have_text("both agents stay quiet")
    strip.locator(".strip-line").click()
    why = page.locator(".inspector")
    expect(why.locator(".decision", has_text="Maya")).to_contain_text("it names the agent")
    expect(why.locator(".quiet-rest")).to_contain_text(
        "Every other agent must not answer: it is aimed at somebody else"
    )
    page.keyboard.press("Escape")
    # Whoever has thanked is done: what is said next is said to nobody in particular.
    write(page, "@maya thanks!")
    write(page, "nice weather today")
    quiet = mine(page, "nice weather").locator(".strip")
    expect(quiet).to_have_text("all 3 agents stay quiet")
    expect(quiet).to_have_css("opacity", "1")
    expect(agents).to_have_count(2)
