"""Traces, the ledger and the dashboard (issue part 4)."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from playwright.sync_api import expect

from tacit.base.io.system import SystemEntropy
from tacit.base.io.time_service import TimeService
from tacit.language import Author, to_value

if TYPE_CHECKING:
    from tests.web.conftest import Visits
    from tests.web.stage import HubProcess


@pytest.fixture(scope="module")
def snapshot(hub: HubProcess) -> dict[str, Any]:
    group = hub.group("Audit")
    ada, bob = hub.actor(group, "ada"), hub.actor(group, "bob")
    for number in range(30):
        hub.say(group, f"line {number}")

    asker, worker = (Author(name, TimeService(), SystemEntropy()) for name in ("ada", "bob"))
    request = asker.req("bob", "count:words", {"path": "report.txt"})
    for token, spoken in ((ada, request), (bob, worker.done(request, {"words": 812}))):
        hub.call("POST", f"/v1/groups/{group}/clowl", {"message": to_value(spoken)}, token)
    return {"group": group, "mid": request.mid}


def test_a_clowl_message_reads_as_english_with_its_object_one_click_away(visit: Visits, snapshot) -> None:
    page = visit(snapshot["group"])
    page.get_by_role("link", name="ada · bob").click()
    said = page.locator("article.message", has_text="count").filter(has=page.locator(".tag.clowl")).first
    expect(said.locator(".tag.clowl")).to_have_text("REQ")
    expect(said.locator("pre")).to_have_count(0)
    said.get_by_role("button", name="CLowl object").click()
    assert json.loads(said.locator("pre").inner_text())["mid"] == snapshot["mid"]
    said.get_by_role("button", name="Trace").click()
    steps = page.locator(".panel .step")
    expect(steps).to_have_count(2)
    expect(steps.nth(1)).to_contain_text("DONE")
    expect(steps.nth(1).locator(".took")).to_contain_text("+")


def test_traces_are_listed_with_their_outcome_and_open_as_a_tree(visit: Visits, snapshot) -> None:
    page = visit(snapshot["group"])
    page.get_by_role("link", name="Traces").click()
    entry = page.locator(".trace-entry")
    expect(entry).to_contain_text("done")
    entry.click()
    expect(page.locator(".trace-detail .branch .branch .step")).to_contain_text("bob")
    page.locator(".trace-detail .step").first.click()
    expect(page.locator(".main article.selected .tag.clowl")).to_have_text("REQ")


def test_the_ledger_shows_every_event_goes_to_a_position_and_filters_by_kind(
    visit: Visits, hub: HubProcess, snapshot
) -> None:
    page = visit(snapshot["group"])
    page.get_by_role("link", name="Ledger").click()
    lines = page.locator(".event-line")
    expect(lines.last).to_contain_text("chat.message")
    hub.say(snapshot["group"], "a live line")
    expect(lines.last).to_contain_text("a live line")
    page.get_by_label("Position").fill("5")
    page.keyboard.press("Enter")
    expect(page.locator(".event-line", has_text="line 1").first).to_be_visible()
    page.get_by_label("Kinds").select_option("actor.*")
    expect(lines).to_have_count(2)
    lines.first.click()
    event = json.loads(page.locator(".panel pre").inner_text())
    assert event["kind"] == "actor.add"


def test_the_ledger_is_exported_as_lines_of_json(visit: Visits, hub: HubProcess, snapshot) -> None:
    page = visit(snapshot["group"])
    page.get_by_role("link", name="Ledger").click()
    with page.expect_download() as download:
        page.get_by_role("button", name="Export JSONL").click()
    kept = [json.loads(line) for line in download.value.path().read_text().splitlines()]
    assert kept == hub.events(snapshot["group"])


def test_the_dashboard_counts_and_plots_what_happened(visit: Visits, hub: HubProcess, snapshot) -> None:
    page = visit(snapshot["group"])
    page.get_by_role("link", name="Dashboard").click()
    tiles = page.locator(".tiles")
    count = len(hub.events(snapshot["group"], kinds="chat.message"))
    expect(tiles.locator(".tile", has_text="messages")).to_contain_text(str(count))
    expect(tiles.locator(".tile.good")).to_contain_text("turns avoided")
    expect(page.get_by_role("img", name="Messages: people")).to_be_visible()
    expect(page.locator(".plot")).to_have_count(5)
    page.get_by_role("button", name="Last week").click()
    expect(page.get_by_role("button", name="Last week")).to_have_attribute("aria-pressed", "true")
