"""Signing in by link: one click for whom it is for, and no way to put somebody else in a person's place."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

if TYPE_CHECKING:
    from playwright.sync_api import Page

    from tests.web.conftest import Visits
    from tests.web.stage import HubProcess


@pytest.fixture(scope="module")
def group(hub: HubProcess) -> str:
    group = hub.group("Lobby")
    hub.person(group, "ben")
    return group


def is_in(page: Page) -> None:
    expect(page.locator(".head h1")).to_have_text("Lobby")


LISTENS = """new MutationObserver(() => {
  const said = [...document.querySelectorAll(".toast")].map((one) => one.textContent).join();
  if (said) document.documentElement.dataset.said = said;
}).observe(document, { childList: true, subtree: true })"""
"""What the page says for a moment is kept for whoever looks later."""


def was_told(page: Page, words: str) -> None:
    expect(page.locator("html")).to_have_attribute("data-said", re.compile(words))


def kept(page: Page) -> str:
    (only,) = page.evaluate("JSON.parse(localStorage.getItem('tacit.sign-ins'))")
    return only["token"]


def test_the_printed_link_is_one_click_and_lasts_over_a_reload(
    visit: Visits, hub: HubProcess, group: str
) -> None:
    page = visit.profile().new_page()
    page.goto(hub.printed(r"http://\S+#sign-in=\S+"))
    is_in(page)
    assert "sign-in" not in page.url
    assert kept(page) != hub.owner
    page.reload()
    is_in(page)


def test_a_spent_link_says_what_to_do_and_a_new_one_opens_the_door(
    visit: Visits, hub: HubProcess, group: str
) -> None:
    link = hub.link()
    first = visit.profile().new_page()
    first.goto(link)
    is_in(first)
    second = visit.profile().new_page()
    second.goto(link)
    expect(second.get_by_role("alert")).to_contain_text("used already, or has run out: a link works once")
    expect(second.locator(".sign-in")).to_contain_text("tacit link")
    second.get_by_label("Sign-in link or token").fill(hub.link())
    second.keyboard.press("Enter")
    is_in(second)
    # Whoever is in stays in: the spent link is clicked again in the terminal.
    again = first.context.new_page()
    again.add_init_script(LISTENS)
    again.goto(link)
    is_in(again)
    was_told(again, "You are still signed in as the owner of this hub")


def ended(page: Page, hub: HubProcess, token: str) -> None:
    """The hub knows this token no more; the page says so while it goes away, and may need a moment."""
    page.wait_for_function(
        "token => fetch('/v1/whoami', { headers: { Authorization: `Bearer ${token}` } })"
        ".then((answer) => answer.status === 401)",
        arg=token,
        timeout=60_000,
    )
    assert hub.call_status("GET", "/v1/whoami", token) == 401


def test_signing_out_ends_the_token_that_a_link_made_for_this_browser(
    visit: Visits, hub: HubProcess, group: str
) -> None:
    page, beside = visit.profile().new_page(), visit.profile().new_page()
    for one in (page, beside):
        one.goto(hub.link())
        is_in(one)
    mine, other = kept(page), kept(beside)
    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_label("Sign-in link or token")).to_be_visible()
    ended(page, hub, mine)
    assert hub.call("GET", "/v1/whoami", token=other)["principal"] == "user"


def test_whoever_takes_a_browser_over_leaves_no_token_of_the_other_behind(
    visit: Visits, hub: HubProcess, group: str
) -> None:
    page = visit.profile().new_page()
    page.goto(hub.link())
    is_in(page)
    before = kept(page)
    link = hub.link(group_id=group, principal="usr:ben")
    page.evaluate("link => { location.href = link; }", link)
    page.get_by_role("button", name="Switch to ben").click()
    is_in(page)
    ended(page, hub, before)


def test_a_link_asks_before_it_puts_somebody_else_in_a_persons_place(
    visit: Visits, hub: HubProcess, group: str
) -> None:
    page = visit(group)
    link = hub.link(group_id=group, principal="usr:ben")
    other = page.context.new_page()
    other.goto(link)
    question = other.get_by_role("alert")
    expect(question).to_contain_text(
        "You are signed in as the owner of this hub. This link signs in as ben in Lobby."
    )
    other.reload()
    expect(question).to_contain_text("signs in as ben")
    other.get_by_role("button", name="Stay the owner of this hub").click()
    is_in(other)
    assert kept(other) == hub.owner
    # Nothing was spent: its person can still use it, here too if they say so.
    page.evaluate("link => { location.href = link; }", link)
    page.get_by_role("button", name="Switch to ben").click()
    is_in(page)
    assert hub.call("GET", "/v1/whoami", token=kept(page))["principal"] == "usr:ben"
    is_in(other)  # the tab beside it is his as well


def test_a_link_of_ones_own_changes_nothing_and_stays_good(
    visit: Visits, hub: HubProcess, group: str
) -> None:
    page = visit(group)
    link = hub.link()
    page.evaluate("link => { location.href = link; }", link)
    is_in(page)
    assert kept(page) == hub.owner
    elsewhere = visit.profile().new_page()
    elsewhere.goto(link)
    is_in(elsewhere)


def test_a_link_that_holds_a_token_signs_nobody_in(visit: Visits, hub: HubProcess, group: str) -> None:
    ben = hub.call("POST", f"/v1/groups/{group}/actors/usr:ben/tokens", {})["token"]
    fresh = visit.profile().new_page()
    fresh.goto(f"{hub.url}/#token={ben}")
    expect(fresh.get_by_role("alert")).to_contain_text("pages take none from an address any more")
    assert fresh.evaluate("localStorage.getItem('tacit.sign-ins')") is None
    assert ben not in fresh.url
    page = visit(group)
    page.evaluate(LISTENS)
    page.evaluate("link => { location.href = link; }", f"{hub.url}/#token={ben}")
    was_told(page, "Nothing has changed here")
    assert kept(page) == hub.owner
    is_in(page)


def test_a_sign_in_link_in_a_message_is_no_link(visit: Visits, hub: HubProcess, group: str) -> None:
    link = hub.link(group_id=group, principal="usr:ben")
    hub.say(group, f"look at [this]({link}) and at {link}, or https://example.org", format="markdown")
    page = visit(group)
    said = page.locator(".main article.message[data-event]", has_text="look at")
    expect(said.locator("a[href='https://example.org']")).to_have_count(1)
    expect(said.locator("a[href*='sign-in']")).to_have_count(0)


def test_whoever_was_shut_out_comes_in_by_a_new_link(visit: Visits, hub: HubProcess, group: str) -> None:
    hub.person(group, "eva")
    page = visit.profile().new_page()
    page.goto(hub.link(group_id=group, principal="usr:eva"))
    is_in(page)
    for token_id in hub.call("GET", f"/v1/groups/{group}/actors/usr:eva/tokens")["tokens"]:
        hub.call("DELETE", f"/v1/tokens/{token_id}")
    expect(page.get_by_role("alert")).to_contain_text("not valid any more")
    page.goto(hub.link(group_id=group, principal="usr:eva"))
    is_in(page)
