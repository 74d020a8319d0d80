"""The owner's personal agent in the room: cards above the talk for the owner alone, views, restarts of the hub."""

from __future__ import annotations

import re
import time
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from tests.days import weekday
from tests.web.agent_stage import RelayStage
from tests.web.stage import HubProcess
from tests.web.test_access import faults

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Page

    from tests.web.conftest import Visits

pytestmark = pytest.mark.spec("A2ACP-274")


@pytest.fixture(scope="module")
def relay(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RelayStage]:
    with RelayStage(tmp_path_factory.mktemp("relay")) as opened:
        yield opened


@pytest.fixture(scope="module")
def hub(relay: RelayStage, tmp_path_factory: pytest.TempPathFactory) -> Iterator[HubProcess]:
    opened = HubProcess(tmp_path_factory.mktemp("hub"), None, "--agent", str(relay.folder / "anna"))
    opened.start()
    try:
        yield opened
    finally:
        opened.stop()


def runs(page: Page, hub: HubProcess) -> None:
    """Wait until the agent does: a wish is refused while it is being started."""
    end = time.monotonic() + 60
    while hub.call("GET", "/v1/agent")["state"] not in {"running", "elsewhere"}:
        assert time.monotonic() < end, "the agent does not start"
        page.wait_for_timeout(50)


@pytest.mark.spec("A2ACP-128", "A2ACP-143")
def test_the_owner_is_asked_above_the_talk_and_answers_there_and_a_member_sees_nothing_of_it(
    visit: Visits, hub: HubProcess, relay: RelayStage
) -> None:
    group = hub.group("Kitchen")
    hub.say(group, "Who cooks?")
    ben = hub.person(group, "ben", "Ben")
    page, member = visit(group), visit(group, ben)
    page.get_by_role("link", name="Your agent").click()
    runs(page, hub)
    expect(page.get_by_text("Your agent is not running")).to_have_count(0)
    ask = page.get_by_label("What should your agent arrange?")
    ask.fill(f"dinner with ben on {weekday(3)} evening")
    page.get_by_role("button", name="Arrange it").click()
    expect(page.locator(".ask.kind-consent")).to_be_visible()
    assert faults(page) == []
    page.get_by_role("link", name="Kitchen").click()
    strip = page.get_by_role("region", name="Your agent asks you")
    expect(strip.get_by_role("heading")).to_have_text("May this go to Ben?")
    assert faults(page) == []
    expect(member.get_by_role("link", name="Your agent")).to_have_count(0)
    expect(member.locator(".agent-strip")).to_have_count(0)
    # A draft is there after the hub was killed, on the same open page.
    strip.get_by_role("button", name=re.compile("Change what is shared for: What you eat")).click()
    strip.get_by_label("What to share: What you eat").fill("anything but liver")
    visit.expects_faults = True
    hub.kill()
    hub.start()
    expect(page.locator(".connection.online").first).to_be_attached()
    expect(strip.get_by_label("What to share: What you eat")).to_have_value("anything but liver")
    runs(page, hub)
    share = strip.get_by_role("button", name=re.compile("^Share all of it"))
    expect(share).to_be_enabled()
    share.click()
    expect(page.locator(".agent-strip")).to_have_count(0)
    relay.answer("consent")
    expect(strip.get_by_role("heading")).to_have_text("Do you agree, with Ben?")
    strip.get_by_role("button", name="Yes, agreed").click()
    relay.answer("checkpoint", confirm=True)
    page.get_by_role("link", name="Your agent").click()
    page.get_by_role("link", name="Receipts").click()
    expect(page.locator(".receipt", has_text="anything but liver")).to_contain_text(
        "you said yes in the room"
    )
    page.get_by_role("link", name="Threads").click()
    page.get_by_role("button", name="Also what is over").click()
    expect(page.locator(".thread-row .state-tag")).to_have_text("done")
    told = hub.call("GET", f"/v1/groups/{group}/events?limit=1000")["events"]
    assert "liver" not in str(told)
    assert "dinner" not in str(told)
