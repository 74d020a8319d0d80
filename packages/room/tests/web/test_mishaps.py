"""What went wrong for people once: ghosts, oversize words, replies in the wrong room, lost focus."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from playwright.sync_api import expect

from tests.web.agent import Agent
from tests.web.stage import use_tool

if TYPE_CHECKING:
    from tests.web.conftest import Visits
    from tests.web.stage import HubProcess


@pytest.fixture(scope="module")
def snapshot(hub: HubProcess) -> dict[str, Any]:
    group = hub.group("Alpha")
    return {
        "group": group,
        "other": hub.group("Beta"),
        "maya": hub.actor(group, "maya"),
        "mayall": hub.actor(group, "mayall"),
        "ben": hub.person(group, "ben", "Ben Okafor"),
    }


def message(page, text: str, where: str = ".main"):
    return page.locator(f"{where} article.message[data-event]", has_text=text)


def wait(page, data: dict[str, Any], group: str) -> None:
    """Put a message into the outbox, as if the hub had been away when it was written."""
    parcel = {
        "client_id": "22222222-2222-4222-8222-222222222222",
        "group_id": group,
        "data": data,
        "created": 0,
    }
    page.evaluate("one => localStorage.setItem('tacit.outbox.user', JSON.stringify([one]))", parcel)


def test_what_was_delivered_never_comes_back_as_being_sent(
    visit: Visits, hub: HubProcess, snapshot, write
) -> None:
    page = visit(snapshot["group"])
    for number in range(6):
        write(page, f"mine {number}")
        expect(message(page, f"mine {number}")).to_be_visible()
    use_tool(message(page, "mine 5"), "More")
    page.get_by_role("menuitem", name="Delete").click()
    expect(page.locator(".main .deleted")).to_be_visible()
    expect(page.locator(".outgoing")).to_have_count(0)
    for number in range(75):
        hub.say(snapshot["group"], f"theirs {number}", snapshot["ben"])
    expect(message(page, "theirs 74")).to_be_visible()
    expect(page.locator(".outgoing")).to_have_count(0)


def test_a_message_that_no_hub_takes_is_refused_at_once_and_blocks_nothing(
    visit: Visits, hub: HubProcess, snapshot, write
) -> None:
    page = visit(snapshot["group"])
    wait(page, {"text": "x" * 1_100_000, "format": "plain"}, snapshot["group"])
    lines: list[str] = []
    page.on("websocket", lambda line: lines.append(line.url))
    page.reload()
    refused = page.locator(".message.refused")
    expect(refused).to_contain_text("larger than 1 MiB")
    write(page, "short and welcome")
    expect(message(page, "short and welcome")).to_be_visible()
    assert len(lines) == 1
    # The text is longer than the screen: the keyboard needs no place to click at.
    refused.get_by_role("button", name="Discard").press("Enter")
    expect(refused).to_have_count(0)


def test_a_thread_stays_in_its_room_and_a_refused_reply_is_seen_there(
    visit: Visits, hub: HubProcess, snapshot, write
) -> None:
    page = visit(snapshot["group"])
    write(page, "who reviews it?")
    use_tool(message(page, "who reviews it?"), "Reply in thread")
    expect(page.locator(".panel .composer textarea")).to_be_focused()
    page.keyboard.press("Alt+ArrowDown")
    expect(page.locator(".head h1")).to_have_text("Beta")
    expect(page.locator(".panel")).to_have_count(0)
    lost = {"text": "a reply to nothing", "format": "plain", "reply_to": "0" * 32}
    wait(page, lost, snapshot["group"])
    page.keyboard.press("Alt+ArrowUp")
    page.reload()
    refused = page.locator(".main .message.refused")
    expect(refused).to_contain_text("a reply to nothing")
    refused.get_by_role("button", name="Discard").click()
    expect(refused).to_have_count(0)


def test_the_skip_link_leads_to_the_conversation_and_leaves_the_page_as_it_is(
    visit: Visits, snapshot
) -> None:
    page = visit(snapshot["group"])
    before = page.url
    link = page.get_by_role("link", name="To the conversation")
    link.focus()
    link.press("Enter")
    expect(page.locator("#main")).to_be_focused()
    expect(page.locator(".head h1")).to_have_text("Alpha")
    assert page.url == before


def test_many_long_approvals_leave_room_for_the_conversation_on_a_phone(
    visit: Visits, hub: HubProcess
) -> None:
    group = hub.group("Leave")
    token = hub.actor(group, "ada")
    with Agent(hub, token) as ada:
        for number in range(4):
            secret = f"the budget number {number} for the second quarter is four hundred thousand and not a cent more"
            hub.say(group, f"@ada {secret}, is that enough for the plan?", to=["ada"])
            ada.call(
                "chat.send_message",
                target="conversation:main",
                content=f"I was told that {secret}",
                idempotencyKey=f"leak {number}",
                visibility="channel",
                directedness="ambient",
                inReplyTo=ada.delivery()["eventId"],
            )
        page = visit(group, viewport={"width": 360, "height": 640}, has_touch=True, is_mobile=True)
        expect(page.locator(".approval")).to_have_count(4)
        sizes = page.evaluate(
            """() => ({
                history: document.querySelector('.history').clientHeight,
                composer: document.querySelector('.composer').getBoundingClientRect().bottom,
                words: document.querySelector('.approval > div').clientWidth,
                page: document.documentElement.scrollWidth,
            })"""
        )
        assert sizes["history"] > 100
        assert sizes["composer"] <= 640
        assert sizes["words"] > 200
        assert sizes["page"] <= 360
        page.locator(".approval").last.get_by_role("button", name="Refuse").click()
        expect(page.locator(".approval")).to_have_count(3)
        expect(page.locator(".main .composer textarea")).to_be_focused()


def test_a_private_word_is_counted_in_the_title_and_at_its_room(
    visit: Visits, hub: HubProcess, snapshot
) -> None:
    group = hub.group("Gamma")
    maya = hub.actor(group, "maya")
    owner, cara = visit(snapshot["other"]), visit(group, hub.person(group, "cara"))
    hub.say(group, "only for the owner", maya, to=["user"])
    expect(owner.get_by_role("link", name="Gamma").locator(".badge")).to_contain_text("1")
    expect(cara).to_have_title("Gamma · Tacit")
    hub.say(group, "only for cara", maya, to=["usr:cara"])
    expect(cara).to_have_title("(1) Gamma · Tacit")
    cara.locator(".sidebar section", has_text="Direct messages").get_by_role("link", name="maya").click()
    said = message(cara, "only for cara")
    expect(said).to_be_visible()
    expect(cara).to_have_title("Gamma · Tacit")
    use_tool(said, "More")
    cara.get_by_role("menuitem", name="Copy link").click()
    expect(cara.locator(".toast")).to_have_text("Link copied.")
    assert cara.evaluate("navigator.clipboard.readText()") == cara.url


def test_enter_sends_a_name_that_is_typed_in_full(visit: Visits, snapshot) -> None:
    page = visit(snapshot["group"])
    area = page.locator(".main .composer textarea")
    area.press_sequentially("thanks @maya")
    expect(page.get_by_role("option", name="@maya", exact=False).first).to_be_visible()
    area.press("Enter")
    expect(message(page, "thanks @maya")).to_be_visible()
    expect(area).to_have_value("")


def test_an_edited_message_is_relayed_as_it_reads_now(
    visit: Visits, hub: HubProcess, snapshot, write
) -> None:
    page = visit(snapshot["group"])
    write(page, "the frist words")
    expect(message(page, "the frist words")).to_be_visible()
    page.locator(".main .composer textarea").press("ArrowUp")
    page.get_by_label("Edit message").fill("the corrected words")
    page.keyboard.press("Enter")
    said = message(page, "the corrected words")
    expect(said.locator(".edited")).to_be_visible()
    use_tool(said, "More")
    page.get_by_role("menuitem", name="Relay").click()
    expect(page.locator(".modal blockquote")).to_have_text("the corrected words")
    page.get_by_label("To", exact=True).select_option(snapshot["other"])
    page.get_by_label("A word before it").fill("for you")
    page.keyboard.press("Enter")
    expect(page.locator(".toast")).to_have_text("Relayed.")
    relayed = hub.events(snapshot["other"], kinds="chat.message")[-1]["data"]["text"]
    assert "for you" in relayed
    assert "the corrected words" in relayed
    assert "frist" not in relayed


def test_the_focus_stays_with_the_message_whose_tools_were_used(visit: Visits, snapshot, write) -> None:
    page = visit(snapshot["group"])
    write(page, "worth a sign")
    said = message(page, "worth a sign")
    use_tool(said, "React with a signal")
    page.get_by_role("menuitem", name="agree").click()
    expect(said.locator(".reaction")).to_be_visible()
    expect(said).to_be_focused()
    page.keyboard.press("Control+k")
    expect(page.get_by_label("Jump to", exact=True).first).to_be_visible()
    page.keyboard.press("Escape")
    expect(said).to_be_focused()


def test_a_file_is_dropped_on_the_history_and_chosen_files_keep_their_order(
    visit: Visits, hub: HubProcess, snapshot
) -> None:
    page = visit(snapshot["group"])
    page.evaluate(
        """() => {
            const carried = new DataTransfer();
            carried.items.add(new File(['x'.repeat(200000)], 'one.txt', { type: 'text/plain' }));
            carried.items.add(new File(['2'], 'two.txt', { type: 'text/plain' }));
            const given = { bubbles: true, cancelable: true, dataTransfer: carried };
            document.querySelector('.main .history').dispatchEvent(new DragEvent('drop', given));
        }"""
    )
    expect(page.locator(".carried li")).to_have_count(2)
    expect(page.locator(".carried progress")).to_have_count(0)
    expect(page.locator(".carried li").first).to_contain_text("one.txt")
    page.get_by_role("button", name="Remove one.txt").click()
    chooser = page.locator(".main .composer input[type=file]")
    for count in (2, 3):
        chooser.set_input_files({"name": "same.txt", "mimeType": "text/plain", "buffer": b"same"})
        expect(page.locator(".carried li")).to_have_count(count)


def test_the_next_person_at_this_browser_finds_no_draft_and_the_first_finds_it_again(
    visit: Visits, hub: HubProcess, snapshot
) -> None:
    page = visit(snapshot["group"])
    area = page.locator(".main .composer textarea")
    area.fill("not for other eyes")
    for token, draft in ((snapshot["ben"], ""), (hub.owner, "not for other eyes")):
        page.get_by_role("button", name="Sign out").click()
        page.get_by_label("Sign-in link or token").fill(token)
        page.keyboard.press("Enter")
        expect(page.locator(".head h1")).to_have_text("Alpha")
        expect(area).to_have_value(draft)


def test_on_a_phone_a_found_message_is_not_covered_by_the_search(
    visit: Visits, hub: HubProcess, snapshot
) -> None:
    hub.say(snapshot["group"], "the needle is here", snapshot["ben"])
    page = visit(snapshot["group"], viewport={"width": 360, "height": 640}, has_touch=True, is_mobile=True)
    page.get_by_role("button", name="Search messages").tap()
    page.get_by_role("searchbox").fill("needle")
    page.get_by_role("option", name="needle").tap()
    expect(page.locator(".panel")).to_have_count(0)
    expect(message(page, "the needle is here")).to_be_in_viewport()
