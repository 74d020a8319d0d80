"""A message is edited while it is on its way: one message, its last text, whatever the hub had of it already."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from tests.web.stage import use_tool, wait_until_all_is_sent

if TYPE_CHECKING:
    from playwright.sync_api import Page

    from tests.web.conftest import Visits
    from tests.web.stage import HubProcess


@pytest.fixture
def group(hub: HubProcess) -> str:
    return hub.group("On its way")


def message(page: Page, text: str, where: str = ".main"):
    return page.locator(f"{where} article.message", has_text=text)


def committed(page: Page, text: str, where: str = ".main"):
    return page.locator(f"{where} article.message[data-event]", has_text=text)


def written(hub: HubProcess, group: str) -> tuple[list[str], list[str]]:
    """What was said and what was edited."""
    said = [event["data"]["text"] for event in hub.events(group, kinds="chat.message")]
    return said, [event["data"]["text"] for event in hub.events(group, kinds="x.c2a.edit")]


def test_arrow_up_edits_a_message_that_the_hub_has_not_confirmed(
    visit: Visits, hub: HubProcess, group: str, write
) -> None:
    page = visit(group)
    ben = visit(group, hub.person(group, "ben"))
    with hub.held():
        write(page, "we meet at nyne")
        expect(message(page, "we meet at nyne")).to_contain_text("sending")
        page.locator(".main .composer textarea").press("ArrowUp")
        expect(page.get_by_label("Edit message")).to_be_focused()
        page.keyboard.press("End")
        for _ in "yne":
            page.keyboard.press("Backspace")
        page.keyboard.type("ine")
        page.keyboard.press("Enter")
        expect(page.get_by_label("Edit message")).to_have_count(0)
        expect(message(page, "we meet at nine")).to_contain_text("sending")
        expect(page.locator(".main .composer textarea")).to_be_focused()
    for one in (page, ben):
        expect(committed(one, "we meet at nine").locator(".edited")).to_be_visible()
        expect(message(one, "we meet at")).to_have_count(1)
    wait_until_all_is_sent(page)
    assert written(hub, group) == (["we meet at nyne"], ["we meet at nine"])


def test_who_types_while_the_message_lands_types_on(
    visit: Visits, hub: HubProcess, group: str, write
) -> None:
    page = visit(group)
    with hub.held():
        write(page, "the first half")
        message(page, "the first half").get_by_role("button", name="Edit").click()
        page.keyboard.type(" and")
        page.keyboard.press("ArrowLeft")
        page.keyboard.press("ArrowLeft")
    field = page.locator(".main article.message[data-event]").get_by_label("Edit message")
    expect(field).to_be_focused()
    page.keyboard.type("…")
    expect(field).to_have_value("the first half a…nd")
    page.keyboard.press("Enter")
    expect(committed(page, "the first half a…nd").locator(".edited")).to_be_visible()
    assert written(hub, group) == (["the first half"], ["the first half a…nd"])


def test_in_a_thread_too(visit: Visits, hub: HubProcess, group: str, write) -> None:
    root = hub.say(group, "which branch?")
    page = visit(group)
    use_tool(committed(page, "which branch?"), "Reply in thread")
    expect(page.locator(".panel .history[aria-busy=false]")).to_be_visible()
    with hub.held():
        write(page, "the old one", ".panel")
        page.locator(".panel .composer textarea").press("ArrowUp")
        page.get_by_label("Edit message").fill("the new one")
    expect(page.locator(".panel article[data-event]").get_by_label("Edit message")).to_be_focused()
    expect(page.locator(".main").get_by_label("Edit message")).to_have_count(0)
    page.keyboard.press("Enter")
    expect(committed(page, "the new one", ".panel").locator(".edited")).to_be_visible()
    expect(committed(page, "the new one", ".main").locator(".edited")).to_be_visible()
    assert written(hub, group) == (["which branch?", "the old one"], ["the new one"])
    assert hub.events(group, kinds="chat.message")[-1]["data"]["reply_to"] == root["id"]


def test_what_never_left_is_sent_as_it_was_edited(visit: Visits, hub: HubProcess, group: str, write) -> None:
    visit.expects_faults = True  # the browser logs every refused connection
    page = visit(group)
    hub.kill()
    expect(page.locator(".sidebar .connection.away")).to_be_visible()
    write(page, "a first try")
    write(page, "another mesage")
    page.locator(".main .composer textarea").press("ArrowUp")
    page.get_by_label("Edit message").fill("another message")
    page.keyboard.press("Enter")
    expect(message(page, "another message")).to_contain_text("sending")
    hub.start()
    expect(committed(page, "another message")).to_be_visible(timeout=60_000)
    wait_until_all_is_sent(page)
    assert written(hub, group) == (["a first try", "another message"], [])


def test_an_edit_that_is_owed_survives_the_death_of_the_hub_and_a_reload(
    visit: Visits, hub: HubProcess, group: str, write
) -> None:
    visit.expects_faults = True
    profile = visit.profile()
    page = visit(group, profile=profile)
    with hub.held():
        write(page, "sent, and then?")
        page.locator(".main .composer textarea").press("ArrowUp")
        page.get_by_label("Edit message").fill("sent, and then edited")
        page.keyboard.press("Enter")
        expect(message(page, "sent, and then edited")).to_contain_text("sending")
        hub.kill()
    page.close()
    hub.start()
    again = visit(group, profile=profile)
    expect(committed(again, "sent, and then edited").locator(".edited")).to_be_visible(timeout=60_000)
    wait_until_all_is_sent(again)
    assert written(hub, group) == (["sent, and then?"], ["sent, and then edited"])


def test_a_refused_message_is_mended_and_sent_again(
    visit: Visits, hub: HubProcess, group: str, write
) -> None:
    page = visit(group)
    write(page, "x" * 300_000)
    refused = page.locator(".message.refused")
    expect(refused).to_contain_text("data is larger than 256 KiB")
    # By the keyboard: a message of many screens is still being laid out, and a pointer could miss what moves.
    refused.get_by_role("button", name="Edit").press("Enter")
    page.get_by_label("Edit message").fill("short enough")
    page.keyboard.press("Enter")
    expect(committed(page, "short enough")).to_be_visible()
    assert written(hub, group) == (["short enough"], [])
