"""Who is online, who is away, who is gone: people as the others see them (issue part 3)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page

    from tests.web.conftest import Visits
    from tests.web.stage import HubProcess

TURN = """to => {
    Object.defineProperty(document, "visibilityState", {configurable: true, get: () => to});
    document.dispatchEvent(new Event("visibilitychange"));
}"""


@pytest.fixture
def snapshot(hub: HubProcess) -> tuple[str, str]:
    group = hub.group("Presence")
    return group, hub.person(group, "ben", "Ben Okafor")


def shown(page: Page) -> Locator:
    """Ben in the owner's list of people."""
    return page.locator(".sidebar .entry", has_text="Ben Okafor")


def test_a_hidden_page_makes_its_person_away_and_looking_again_brings_them_back(
    visit: Visits, snapshot: tuple[str, str]
) -> None:
    group, token = snapshot
    owner = visit(group)
    expect(shown(owner)).to_contain_text("offline")
    ben = visit(group, token)
    expect(shown(owner).locator(".dot.online")).to_be_visible()
    ben.evaluate(TURN, "hidden")
    expect(shown(owner).locator(".dot.away")).to_be_visible()
    expect(shown(owner)).to_contain_text("away")
    owner.get_by_role("link", name="People").click()
    expect(owner.locator(".card", has_text="@ben").locator(".word.away")).to_have_text("away")
    ben.evaluate(TURN, "visible")
    expect(shown(owner).locator(".dot.online")).to_be_visible()
    expect(owner.locator(".card", has_text="@ben").locator(".word.online")).to_have_text("online")
    ben.close()
    expect(shown(owner).locator(".dot.off")).to_be_visible()


def test_hands_that_rest_for_five_minutes_are_away_until_the_next_touch(
    visit: Visits, snapshot: tuple[str, str]
) -> None:
    group, token = snapshot
    owner = visit(group)
    profile = visit.profile()
    profile.clock.install()
    ben = visit(group, token, profile=profile)
    expect(shown(owner).locator(".dot.online")).to_be_visible()
    ben.clock.fast_forward("05:01")
    expect(shown(owner).locator(".dot.away")).to_be_visible()
    ben.mouse.move(300, 300)
    expect(shown(owner).locator(".dot.online")).to_be_visible()


def test_two_tabs_of_one_person_agree(visit: Visits, snapshot: tuple[str, str]) -> None:
    group, token = snapshot
    owner = visit(group)
    profile = visit.profile()
    first, second = visit(group, token, profile=profile), visit(group, token, profile=profile)
    expect(shown(owner).locator(".dot.online")).to_be_visible()
    for page in (first, second):
        page.get_by_role("link", name="People").click()
    mine = [page.locator(".card", has_text="@ben").locator(".word") for page in (first, second)]
    first.evaluate(TURN, "hidden")
    second.evaluate(TURN, "hidden")
    expect(shown(owner).locator(".dot.away")).to_be_visible()
    second.evaluate(TURN, "visible")
    expect(shown(owner).locator(".dot.online")).to_be_visible()
    first.evaluate(TURN, "visible")
    for word in mine:
        expect(word).to_have_text("online")


def test_who_was_away_is_away_after_the_hub_came_back(
    visit: Visits, hub: HubProcess, snapshot: tuple[str, str]
) -> None:
    visit.expects_faults = True  # the browser logs every refused connection
    group, token = snapshot
    owner, ben = visit(group), visit(group, token)
    ben.evaluate(TURN, "hidden")
    expect(shown(owner).locator(".dot.away")).to_be_visible()
    hub.kill()
    for page in (owner, ben):
        expect(page.locator(".sidebar .connection.away")).to_be_visible()
    hub.start()
    for page in (owner, ben):
        expect(page.locator(".sidebar .connection.online")).to_be_visible(timeout=60_000)
    # The page may still show what it knew before: the hub is asked until it has heard from ben's window again.
    for _ in range(600):
        if hub.call("GET", f"/v1/groups/{group}/presence")["away"] == ["usr:ben"]:
            break
        owner.wait_for_timeout(100)
    assert hub.call("GET", f"/v1/groups/{group}/presence")["away"] == ["usr:ben"]
    expect(shown(owner).locator(".dot.away")).to_be_visible()
