"""Guests on the agent's own page: a link is made, the answer comes by itself, a reply is pasted, a link is taken back."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from tests.web.agent_stage import AgentStage
from tests.web.conftest import PATIENCE
from tests.web.test_access import faults

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser

pytestmark = pytest.mark.spec("A2ACP-275", "A2ACP-276")


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[AgentStage]:
    with AgentStage(tmp_path_factory.mktemp("agents")) as opened:
        yield opened


def test_an_owner_asks_grandma_and_sees_every_answer_and_which_one_counts(
    browser: Browser, stage: AgentStage
) -> None:
    context = browser.new_context(reduced_motion="reduce", locale="en-GB")
    context.set_default_timeout(PATIENCE)
    page, wrong = context.new_page(), []
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.goto(stage.link())
    page.wait_for_selector(".own [aria-busy=false], .own .you form")
    page.goto(page.url.partition("#")[0] + "#/agent/people")
    page.get_by_label("Who is asked").fill("Grandma")
    page.get_by_label("What to ask").fill("Lunch on Sunday at 12:30 at ours?")
    page.get_by_role("button", name="Make a link").click()
    text = page.locator(".guest-text").inner_text()
    link = next(word for word in text.split() if "/g/" in word)

    guest = browser.new_context(locale="en-GB").new_page()
    guest.set_default_timeout(PATIENCE)
    guest.goto(link)
    guest.check("input[value=suggest]")
    guest.fill("#suggestion", "<b>One o'clock</b> is better")
    guest.click("#send")
    guest.wait_for_selector("#done:not([hidden])")
    guest.context.close()

    # It comes by itself, as words in a frame, whatever they look like.
    expect(page.locator(".guest-answer .state-tag")).to_have_text("suggests something else")
    expect(page.locator(".guest-answer blockquote")).to_have_text("<b>One o'clock</b> is better")
    assert faults(page) == []
    page.get_by_label("Their reply, pasted").fill("Yes, lovely")
    page.get_by_role("button", name="Read it").click()
    expect(page.get_by_label("What it says")).to_have_value("confirm")
    page.get_by_role("button", name="Yes, keep it so").click()
    expect(page.locator(".guest-answer", has_text="as you told it, counts")).to_have_count(1)
    page.get_by_role("button", name="Take it back…").click()
    page.get_by_role("button", name="Take it back: no answer").click()
    expect(page.locator(".guest-answer", has_text="by the link, counts for nothing")).to_have_count(1)
    expect(page.locator(".guest-text")).to_have_count(0)
    assert wrong == []
    context.close()
