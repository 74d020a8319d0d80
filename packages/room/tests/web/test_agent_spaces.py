"""Shared spaces on the agent's own page, in a real browser: fields, who wrote what, what is new, a question."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from tacit.wire.version import SHARED_CONTEXT_SPACES
from tests.web.agent_stage import AgentStage
from tests.web.conftest import PATIENCE
from tests.web.test_access import faults as axe_faults

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[AgentStage]:
    with AgentStage(tmp_path_factory.mktemp("agents")) as opened:
        yield opened


async def _acquainted(*agents) -> None:
    for one in agents:
        with one.post.store.transaction():
            one.post.store.run("UPDATE contacts SET features=?", SHARED_CONTEXT_SPACES)
        await one.permissions("status", "always")


@pytest.mark.spec("A2ACP-274")
def test_an_owner_joins_a_space_reads_what_changed_and_is_asked_before_a_field_is_written(
    browser: Browser, stage: AgentStage
) -> None:
    stage.do(_acquainted(stage.anna, stage.ben))
    made = stage.do(stage.ben.space("new", title="Side Quests", invite=[stage.anna.me]))
    stage.do(stage.ben.space("set", space_id=made["space_id"], field="status", value="active"))
    context = browser.new_context(
        viewport={"width": 390, "height": 800}, reduced_motion="reduce", locale="en-GB"
    )
    context.set_default_timeout(PATIENCE)
    faults: list[str] = []
    page = context.new_page()
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.goto(stage.link())
    invited = page.locator(".ask.kind-space_invite")
    expect(invited).to_contain_text("Side Quests")
    invited.get_by_role("button", name="Join").click()
    page.get_by_role("link", name="Spaces").click()
    page.get_by_role("link", name="Side Quests").click()
    fields = page.get_by_role("region", name="Fields")
    expect(fields).to_contain_text("active")
    expect(page.get_by_role("list", name="Changes").get_by_text("new")).to_be_visible()
    stage.do(stage.ben.space("set", space_id=made["space_id"], field="status", value="paused"))
    expect(fields).to_contain_text("paused")
    expect(page.get_by_role("list", name="Changes").locator("del").first).to_contain_text("active")
    assert axe_faults(page) == []
    fields.get_by_role("button", name="Change: status").click()
    expect(page.get_by_label("Value", exact=True)).to_have_value("paused")
    page.get_by_label("Field", exact=True).fill("budget")
    page.get_by_label("Value", exact=True).fill("40 pounds")
    page.get_by_role("button", name="Write").click()
    expect(page.get_by_role("status")).to_contain_text("Not written yet")
    page.get_by_role("link", name="For you").click()
    asked = page.locator(".ask.kind-space_write")
    expect(asked).to_contain_text("40 pounds")
    asked.get_by_role("button", name="Yes, tell them").click()
    page.get_by_role("link", name="Spaces").click()
    page.get_by_role("link", name="Side Quests").click()
    expect(page.get_by_role("region", name="Fields")).to_contain_text("40 pounds")
    assert faults == []
    context.close()
