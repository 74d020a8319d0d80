"""Everyone: keyboard alone, a phone's width, dark colours, a screen reader's rules (axe-core)."""

from __future__ import annotations

import json
import re
from importlib import resources
from typing import TYPE_CHECKING, Any

import pytest
from playwright.sync_api import expect

from tacit.base.io.system import SystemEntropy
from tacit.base.io.time_service import TimeService
from tacit.language import Author, to_value

if TYPE_CHECKING:
    from playwright.sync_api import Page

    from tests.web.conftest import Visits
    from tests.web.stage import HubProcess

AXE = resources.files("axe_playwright_python").joinpath("axe.min.js").read_text(encoding="utf-8")
PHONE = {"viewport": {"width": 390, "height": 780}, "has_touch": True, "is_mobile": True}


@pytest.fixture(scope="module")
def snapshot(hub: HubProcess) -> dict[str, Any]:
    group = hub.group("Release")
    hub.group("Design")
    ada = hub.actor(group, "ada", title="Ada", roles=["backend"], role="foreman")
    ben = hub.person(group, "ben", "Ben Okafor")
    first = hub.say(group, "Which branch? See `main` or https://example.org.", format="markdown")
    hub.say(
        group,
        "- one\n- two\n\n```py\nprint(1)\n```\n\n| a | b |\n|---|---|\n| 1 | 2 |",
        ada,
        format="markdown",
        reply_to=first["id"],
    )
    hub.append(
        group, "chat.reaction", {"event_id": first["id"], "actor_id": "ada", "emoji": "\U0001f440"}, ada
    )
    hub.say(
        group,
        "Please acknowledge",
        ben,
        priority="attention",
        to=["@all", "user"],
        conversation={"kind": "channel"},
    )
    hub.say(group, "in private", ada, to=["user"])
    hub.append(group, "system.notify", {"kind": "deploy", "title": "Deployed", "priority": "high"})
    asker = Author("ada", TimeService(), SystemEntropy())
    spoken = to_value(asker.req("bob", "count:words", {"path": "report.txt"}))
    hub.actor(group, "bob")
    hub.call("POST", f"/v1/groups/{group}/clowl", {"message": spoken}, ada)
    hub.say(group, "and this is mine, to be edited")
    return {"group": group, "ada": ada, "ben": ben}


def faults(page: Page) -> list[str]:
    """Whatever axe-core finds, by all of its rules, of any weight."""
    if not page.evaluate("'axe' in window"):
        page.evaluate(AXE)
    found = page.evaluate(
        "async () => (await axe.run(document, {resultTypes: ['violations']})).violations",
    )
    return [
        f"{one['impact']} {one['id']}: {node['html'][:160]} ({node.get('failureSummary', '')[:200]})"
        for one in found
        for node in one["nodes"]
    ]


def states(page: Page, *, phone: bool) -> list[tuple[str, Any]]:
    """Every state of the page that a person meets, and how to come to it."""

    def view(name: str):
        def enter() -> None:
            page.keyboard.press("Escape")
            page.get_by_role("link", name=name, exact=True).first.click()

        return enter

    def sidebar() -> None:
        page.keyboard.press("Escape")
        if phone:
            page.get_by_role("button", name="Open the sidebar").click()
            expect(page.locator(".sidebar")).to_be_in_viewport()

    def thread() -> None:
        page.keyboard.press("Escape")
        page.get_by_role("button", name=re.compile("1 reply|2 replies")).first.click()
        expect(page.locator(".panel article.message[data-event]").first).to_be_visible()

    def editor() -> None:
        page.keyboard.press("Escape")
        page.locator(".main .composer textarea").press("ArrowUp")
        expect(page.get_by_label("Edit message")).to_be_focused()

    def tools() -> None:
        page.keyboard.press("Escape")
        page.locator(".main article.message[data-event]").last.focus()
        page.keyboard.press("+")
        expect(page.get_by_role("menuitem").first).to_be_focused()

    def inspector() -> None:
        page.keyboard.press("Escape")
        page.locator(".strip-line").first.click()
        page.wait_for_selector(".inspector .sums")

    def search() -> None:
        page.keyboard.press("Escape")
        page.get_by_role("button", name="Search messages").click()
        page.get_by_role("searchbox").fill("branch")
        page.wait_for_selector("[role=option]")

    def palette() -> None:
        page.keyboard.press("Escape")
        page.keyboard.press("Control+k")
        expect(page.get_by_role("dialog", name="Jump to")).to_be_visible()

    def keys() -> None:
        sidebar()
        page.get_by_role("button", name="Keyboard shortcuts").click()
        expect(page.get_by_role("dialog", name="Keyboard")).to_be_visible()

    def people() -> None:
        page.keyboard.press("Escape")
        page.keyboard.press("Escape")
        view("People")()
        expect(page.locator(".card").first).to_be_visible()

    def agent() -> None:
        page.get_by_role("button", name="Add an agent").last.click()
        expect(page.get_by_role("dialog")).to_be_visible()

    def dashboard() -> None:
        view("Dashboard")()
        page.wait_for_selector(".plot")

    def ledger() -> None:
        view("Ledger")()
        page.wait_for_selector(".event-line .ek.chat")

    def traces() -> None:
        view("Traces")()
        expect(page.locator(".trace-entry").first).to_be_visible()

    return [
        ("talk", lambda: page.wait_for_selector(".strip-line")),
        ("sidebar", sidebar),
        ("thread", thread),
        ("editor", editor),
        ("tools", tools),
        ("inspector", inspector),
        ("search", search),
        ("palette", palette),
        ("keys", keys),
        ("people", people),
        ("agent", agent),
        ("traces", traces),
        ("ledger", ledger),
        ("dashboard", dashboard),
    ]


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", ["desk", "phone"])
def test_axe_finds_no_fault_in_any_state(visit: Visits, snapshot, scheme: str, width: str) -> None:
    phone = width == "phone"
    page = visit(snapshot["group"], color_scheme=scheme, **(PHONE if phone else {}))
    found = {}
    for name, enter in states(page, phone=phone):
        enter()
        if one := faults(page):
            found[name] = one
    assert not found, json.dumps(found, indent=1)


def test_axe_is_awake_and_finds_what_is_put_there(visit: Visits, snapshot) -> None:
    page = visit(snapshot["group"], color_scheme="dark", **PHONE)
    page.evaluate(
        """() => {
        const grey = document.createElement("button");
        grey.className = "link";
        grey.style.setProperty("color", "#222");
        grey.textContent = "hardly seen";
        document.querySelector(".main .composer").append(grey);
        document.querySelector(".composer textarea").removeAttribute("aria-label");
        document.querySelector(".composer textarea").removeAttribute("placeholder");
    }"""
    )
    assert {one.split(":")[0] for one in faults(page)} == {"serious color-contrast", "critical label"}


def test_the_sign_in_page_is_accessible_too(visit: Visits, hub: HubProcess) -> None:
    page = visit.profile().new_page()
    page.goto(hub.url)
    expect(page.get_by_label("Sign-in link or token")).to_be_visible()
    assert faults(page) == []


def test_a_whole_conversation_with_the_keyboard_alone(visit: Visits, hub: HubProcess, snapshot) -> None:
    page = visit(snapshot["group"])
    keys = page.keyboard
    expect(page.locator(".main .composer textarea")).to_be_focused()
    keys.type("typed without a mouse @ad")
    keys.press("Enter")
    keys.type("hello")
    keys.press("Enter")
    mine = page.locator(".main article.message[data-event]", has_text="typed without a mouse @ada hello")
    expect(mine).to_be_visible()
    keys.press("Escape")
    keys.press("k")
    expect(mine).to_be_focused()
    keys.press("+")
    expect(mine.get_by_role("menuitem").first).to_be_focused()
    keys.press("ArrowRight")
    keys.press("Enter")
    expect(mine.get_by_role("button", name="agree, You")).to_be_visible()
    keys.press("e")
    expect(page.get_by_label("Edit message")).to_be_focused()
    keys.press("End")
    keys.type(" and edited")
    keys.press("Enter")
    expect(mine.locator(".edited")).to_be_visible()
    expect(mine).to_be_focused()
    keys.press("t")
    expect(page.locator(".panel textarea")).to_be_focused()
    keys.type("from the keys")
    keys.press("Enter")
    expect(page.locator(".panel article.message[data-event]", has_text="from the keys")).to_be_visible()
    keys.press("Escape")
    keys.press("Escape")
    expect(page.locator(".panel")).to_have_count(0)
    keys.press("k")
    keys.press("k")
    expect(page.locator(".main article.selected")).to_be_focused()
    keys.press("i")
    expect(page.locator(".inspector .excerpt")).to_be_visible()
    keys.press("Escape")
    keys.press("/")
    expect(page.get_by_role("searchbox")).to_be_focused()
    keys.type("which branch")
    expect(page.get_by_role("option")).to_have_count(1)
    keys.press("Enter")
    expect(page.locator(".main article.selected")).to_contain_text("Which branch?")
    keys.press("Escape")
    keys.press("Control+k")
    expect(page.locator(".palette input")).to_be_focused()
    keys.type("desi")
    expect(page.locator(".palette [role=option]").first).to_contain_text("Design")
    keys.press("Enter")
    expect(page.locator(".head h1")).to_have_text("Design")
    keys.press("Alt+ArrowUp")
    expect(page.locator(".head h1")).to_have_text("Release")
    keys.press("Escape")
    keys.press("?")
    expect(page.get_by_role("dialog", name="Keyboard")).to_be_visible()
    keys.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)


def test_the_focus_is_always_visible(visit: Visits, snapshot) -> None:
    page = visit(snapshot["group"])
    page.keyboard.press("Escape")
    for _ in range(25):
        page.keyboard.press("Tab")
        seen = page.evaluate(
            """() => {
            const at = document.activeElement;
            const style = getComputedStyle(at);
            const ring = getComputedStyle(at.closest(".write, .field") ?? at);
            return at === document.body || style.outlineStyle !== "none" || ring.boxShadow !== "none" || ring.outlineStyle !== "none";
        }"""
        )
        assert seen, page.evaluate("document.activeElement.outerHTML.slice(0, 200)")


def test_on_a_phone_the_sidebar_and_the_panel_are_drawers_and_nothing_overflows(
    visit: Visits, hub: HubProcess, snapshot
) -> None:
    page = visit(snapshot["group"], **PHONE)

    def fits() -> bool:
        return page.evaluate(
            "document.documentElement.scrollWidth <= innerWidth && document.body.scrollWidth <= innerWidth"
        )

    assert fits()
    expect(page.locator(".sidebar")).not_to_be_in_viewport()
    page.get_by_role("button", name="Open the sidebar").tap()
    expect(page.locator(".sidebar")).to_be_in_viewport()
    page.get_by_role("link", name="Design").tap()
    expect(page.locator(".head h1")).to_have_text("Design")
    expect(page.locator(".sidebar")).not_to_be_in_viewport()
    page.get_by_role("button", name="Open the sidebar").tap()
    page.get_by_role("link", name="Release").tap()
    said = page.locator("article.message", has_text="Please acknowledge")
    said.get_by_role("button", name="Acknowledge").tap()
    expect(said.locator(".acks .done")).to_contain_text("You")
    page.get_by_role("button", name=re.compile("1 reply|2 replies")).first.tap()
    expect(page.locator(".panel")).to_be_in_viewport(ratio=0.99)
    page.locator(".panel textarea").fill("from the phone")
    page.locator(".panel").get_by_role("button", name="Send").tap()
    expect(page.locator(".panel article.message", has_text="from the phone")).to_be_visible()
    page.get_by_role("button", name="Close Thread").tap()
    for name in ("People", "Traces", "Ledger", "Dashboard"):
        page.get_by_role("link", name=name).tap()
        page.wait_for_timeout(80)
        assert fits(), name


def test_colours_follow_the_system_and_the_switch(visit: Visits, snapshot) -> None:
    page = visit(snapshot["group"], color_scheme="dark")
    paper = "getComputedStyle(document.body).backgroundColor"
    assert page.evaluate(paper) == "rgb(23, 24, 26)"
    switch = page.get_by_role("button", name=re.compile("Colours"))
    switch.click()
    assert page.evaluate(paper) == "rgb(255, 255, 255)"
    page.reload()
    page.wait_for_selector(".head")
    assert page.evaluate(paper) == "rgb(255, 255, 255)"
    switch.click()
    assert page.evaluate(paper) == "rgb(23, 24, 26)"
