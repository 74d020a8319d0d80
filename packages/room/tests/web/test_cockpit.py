"""The cockpit: what agents do and what they ask leave for, on a screen and on a phone."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from playwright.sync_api import expect

from tests.web.agent import Agent

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.web.conftest import Visits
    from tests.web.stage import HubProcess

PHONE = {"viewport": {"width": 390, "height": 780}, "has_touch": True, "is_mobile": True}
DIFF = "--- src/importer.py\n+++ src/importer.py\n@@ -10,3 +10,4 @@\n def load(path):\n-    return parse(path)\n+    with open(path) as file:\n+        return parse(file)"


@pytest.fixture
def cast(hub: HubProcess) -> Iterator[dict[str, Any]]:
    group = hub.group("Cockpit")
    token = hub.actor(group, "ada")
    with Agent(hub, token) as ada:
        yield {"group": group, "ada": ada}


def shot(page, name: str) -> None:
    """A picture for whoever wants to look, where the environment says so."""
    if folder := os.environ.get("TACIT_SHOTS"):
        page.screenshot(path=str(Path(folder) / f"{name}.png"))


def asks(ada: Agent, event_id: str, key: str = "k1", **more: Any) -> dict[str, Any]:
    given = {
        "kind": "command",
        "title": "npm run build -- --production",
        "details": "The bundle has to be rebuilt before the tests can see the change.",
        "directory": "/srv/project",
        "pattern": {"kind": "command", "value": "npm run build -- --production", "directory": "/srv/project"},
        "covers": "commands that begin with `npm run build -- --production` in /srv/project",
        "withinMs": 600_000,
        **more,
    }
    return ada.ask("chat/permission", key=key, eventId=event_id, turn="t1", **given)


def told(ada: Agent) -> dict[str, Any]:
    """The next word of the hub about a permission."""
    while True:
        message = ada._take()
        if message.get("method") == "notifications/permission":
            return message["params"]


@pytest.mark.parametrize("given", [{}, PHONE], ids=["desktop", "phone"])
def test_a_permission_is_a_card_that_can_be_answered(visit: Visits, cast, write, given, request) -> None:
    ada = cast["ada"]
    page = visit(cast["group"], **given)
    write(page, "@ada please rebuild the bundle")
    event_id = ada.delivery()["eventId"]
    asked = asks(ada, event_id)
    card = page.locator(".approval.permission")
    expect(card).to_contain_text("wants to run a command")
    expect(card.locator(".wanted")).to_have_text("npm run build -- --production")
    expect(card.locator(".covers")).to_contain_text("nothing wider")
    box = card.bounding_box()
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= page.viewport_size["width"]
    shot(page, f"permission-{request.node.callspec.id}")
    card.get_by_role("button", name="Always").click()
    expect(card).to_have_count(0)
    answer = told(ada)
    assert (answer["approvalId"], answer["state"], answer["scope"]) == (
        asked["approvalId"],
        "granted",
        "always",
    )


@pytest.mark.spec("C2A-207")
def test_of_two_permissions_a_phone_shows_one_whole_and_says_what_the_other_is(
    visit: Visits, cast, write
) -> None:
    ada = cast["ada"]
    page = visit(cast["group"], **PHONE)
    write(page, "@ada please rebuild the bundle")
    event_id = ada.delivery()["eventId"]
    deep = "/srv/projects/the-importer-of-the-northern-branch/worktrees/ada-second-session/packages/web"
    for number in (1, 2):
        command = f"npm run build{number} -- --production"
        asks(
            ada,
            event_id,
            key=f"k{number}",
            title=command,
            directory=deep,
            pattern={"kind": "command", "value": command, "directory": deep},
            covers=f"commands that begin with `{command}` in {deep}",
        )
    first, second = page.locator(".approval.permission").nth(0), page.locator(".approval.permission").nth(1)
    expect(second).to_contain_text("wants to run a command")
    shot(page, "permission-two-on-a-phone")
    area = page.locator(".approvals").bounding_box()
    for card in (first, second):
        box = card.bounding_box()
        assert box["y"] + box["height"] <= area["y"] + area["height"] + 1, "no card is cut"
    said = first.locator(".covers")
    assert said.evaluate("one => one.scrollHeight <= one.clientHeight + 1"), "what is covered is shown whole"
    expect(second.locator(".choices")).to_be_hidden()
    second.get_by_role("button", name="Show").click()
    expect(second.get_by_role("button", name="Allow once")).to_be_visible()
    first.get_by_role("button", name="Allow once").click()
    expect(page.locator(".approval.permission")).to_have_count(1)
    expect(page.locator(".choices")).to_be_visible()


def test_an_edit_shows_its_diff_and_a_no_takes_a_reason(visit: Visits, cast, write) -> None:
    ada = cast["ada"]
    page = visit(cast["group"])
    write(page, "@ada please fix the importer")
    event_id = ada.delivery()["eventId"]
    asks(ada, event_id, kind="edit", title="src/importer.py", details=DIFF, covers="")
    card = page.locator(".approval.permission")
    expect(card.locator(".diff .added")).to_have_count(2)
    expect(card.locator(".diff .removed")).to_have_text("-    return parse(path)")
    expect(card.get_by_role("button", name="Always")).to_have_count(0)
    shot(page, "permission-edit")
    card.get_by_role("button", name="No", exact=True).click()
    card.get_by_label("Why not").fill("not before the release")
    card.get_by_role("button", name="Refuse").click()
    answer = told(ada)
    assert (answer["state"], answer["reason"]) == ("denied", "not before the release")


@pytest.mark.parametrize("given", [{}, PHONE], ids=["desktop", "phone"])
def test_work_is_seen_while_it_runs_and_summed_up_afterwards(
    visit: Visits, cast, write, given, request
) -> None:
    ada = cast["ada"]
    page = visit(cast["group"], **given)
    write(page, "@ada please fix the importer")
    event_id = ada.delivery()["eventId"]
    plan = {"id": "plan", "kind": "plan", "state": "running", "text": "[x] read\n[>] fix\n[ ] test"}
    words = {
        "id": "text-1",
        "kind": "text",
        "state": "done",
        "text": "The importer reads the whole file at once.",
    }
    edit = {"id": "e1", "kind": "edit", "state": "done", "title": "src/importer.py", "text": DIFF}
    run = {"id": "c1", "kind": "command", "state": "running", "title": "pytest -q", "text": "..F\n1 failed"}
    update = {"eventId": event_id, "turn": "t1", "state": "running"}
    ada.note("notifications/activity", **update, update=1, items=[plan, words])
    ada.note("notifications/activity", **update, update=2, items=[edit, run])
    card = page.locator(".activity.running")
    expect(card.locator("summary")).to_contain_text("runs pytest -q")
    card.locator("summary").click()
    expect(card.locator(".diff .added")).to_have_count(2)
    expect(card.locator(".output")).to_contain_text("1 failed")
    shot(page, f"activity-{request.node.callspec.id}")

    late = visit(cast["group"], **given)
    write(page, "How is it going?")
    expect(late.locator(".history")).to_contain_text("How is it going?")  # it hears what happens from here on
    ada.note("notifications/activity", **update, update=3, items=[{**run, "state": "failed", "exitCode": 1}])
    expect(late.locator(".activity.running summary")).to_contain_text("ada")
    late.locator(".activity.running summary").click()
    _answered(ada, event_id)
    expect(late.locator(".activity.running .item.edit .diff")).to_be_visible()

    summary = {
        "files": ["src/importer.py"],
        "file_count": 1,
        "added": 2,
        "removed": 1,
        "commands": [{"command": "pytest -q", "ok": False}],
        "command_count": 1,
        "tests": [{"command": "pytest -q", "ok": False}],
        "duration_ms": 130_000,
        "cost_usd": 0.12,
        "ended": "done",
    }
    ada.note("notifications/activity", **{**update, "state": "ended"}, summary=summary)
    past = page.locator(".activity:not(.running) summary")
    expect(past).to_contain_text("1 file · +2 -1 · 1 command · tests fail · $0.12")
    shot(page, f"activity-past-{request.node.callspec.id}")


def _answered(ada: Agent, event_id: str) -> None:
    """The harness says what it kept: nothing, as the turn still runs."""
    while True:
        message = ada._take()
        if message.get("method") == "notifications/activity_wanted":
            request = message["params"]["request"]
            ada.note("notifications/activity", eventId=event_id, answers=request)
            return
