"""Rooms and threads: what people do all day (issue part 1)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest
from playwright.sync_api import expect

from tests.web.stage import use_tool

if TYPE_CHECKING:
    from tests.web.conftest import Visits
    from tests.web.stage import HubProcess


@pytest.fixture(scope="module")
def room(hub: HubProcess) -> dict[str, Any]:
    group = hub.group("Release")
    return {
        "group": group,
        "other": hub.group("Design"),
        "ada": hub.actor(group, "ada", title="Ada", roles=["backend"]),
        "bob": hub.actor(group, "bob", roles=["backend", "docs"]),
        "ben": hub.person(group, "ben", "Ben Okafor"),
    }


def message(page, text: str, where: str = ".main"):
    """A message that the hub has confirmed: one on its way cannot be answered, reacted to or deleted yet."""
    return page.locator(f"{where} article.message[data-event]", has_text=text)


def test_signing_in_takes_the_token_out_of_the_address_and_keeps_it_out(visit: Visits, room) -> None:
    page = visit(room["group"])
    assert "token" not in page.url
    page.reload()
    expect(page.locator(".head h1")).to_have_text("Release")
    assert "tct_" not in page.url
    assert all(
        "tct_" not in entry
        for entry in page.evaluate("performance.getEntriesByType('resource').map(e => e.name)")
    )


def test_a_person_opens_a_room_and_says_the_first_words(visit: Visits, hub: HubProcess, write) -> None:
    page = visit()
    page.get_by_role("button", name="Open a room").first.click()
    page.get_by_label("What is it about?").fill("Fresh start")
    page.keyboard.press("Enter")
    expect(page.locator(".head h1")).to_have_text("Fresh start")
    expect(page.get_by_text("Welcome to Fresh start")).to_be_visible()
    write(page, "the very first words")
    expect(message(page, "the very first words")).to_be_visible()
    assert any(group["title"] == "Fresh start" for group in hub.call("GET", "/v1/groups")["groups"])


def test_two_people_and_an_agent_talk_and_each_sees_the_other_at_once(
    visit: Visits, hub: HubProcess, room, write
) -> None:
    owner, ben = visit(room["group"]), visit(room["group"], room["ben"])
    write(owner, "can you see **this**?")
    expect(message(ben, "can you see this?").locator("strong")).to_have_text("this")
    write(ben, "I can")
    expect(message(owner, "I can")).to_contain_text("Ben Okafor")
    hub.say(room["group"], "so can I", room["ada"])
    said = message(owner, "so can I")
    expect(said.locator(".tag.agent")).to_have_text("agent")
    assert "agent" in said.get_attribute("class")
    assert "person" in message(owner, "I can").get_attribute("class")


def test_typing_is_seen_by_the_others_until_the_message_comes(visit: Visits, room, write) -> None:
    owner, ben = visit(room["group"]), visit(room["group"], room["ben"])
    ben.locator(".composer textarea").press_sequentially("I am wri")
    expect(owner.locator(".main .typing")).to_have_text("Ben Okafor is typing")
    write(ben, "I am writing")
    expect(message(owner, "I am writing")).to_be_visible()
    expect(owner.locator(".main .typing")).to_have_text("")


def test_names_people_agents_and_roles_are_completed(visit: Visits, hub: HubProcess, room) -> None:
    page = visit(room["group"])
    area = page.locator(".main .composer textarea")
    area.press_sequentially("@a")
    names = page.get_by_role("listbox", name="Names")
    expect(names.get_by_role("option").first).to_contain_text("@ada")
    area.press("Tab")
    area.press_sequentially("and @back")
    expect(names.get_by_role("option").first).to_contain_text("2 agents with this role")
    area.press("Enter")
    area.press_sequentially("and @be")
    area.press("Enter")
    area.press_sequentially("look please")
    area.press("Enter")
    said = message(page, "look please")
    expect(said.locator(".mention")).to_have_text(["@ada", "@backend", "@ben"])


def test_a_thread_opens_beside_the_room_and_its_answers_show_in_both(
    visit: Visits, hub: HubProcess, room, write
) -> None:
    page = visit(room["group"])
    write(page, "which branch?")
    use_tool(message(page, "which branch?"), "Reply in thread")
    write(page, "the release one", ".panel")
    expect(message(page, "the release one", ".panel")).to_be_visible()
    reply = message(page, "the release one", ".main")
    expect(reply.locator(".quote")).to_contain_text("which branch?")
    root = (
        page.locator(".main article.message")
        .filter(has=page.locator(".replies"))
        .filter(has_text="which branch?")
    )
    expect(root.locator(".replies")).to_have_text("1 reply")
    event = hub.events(room["group"], kinds="chat.message")[-1]
    hub.say(room["group"], "agreed", room["ada"], reply_to=event["id"])
    expect(message(page, "agreed", ".panel")).to_be_visible()
    expect(root.locator(".replies")).to_have_text("2 replies")


def test_private_talk_has_its_own_place_and_nobody_else_sees_it(
    visit: Visits, hub: HubProcess, room, write
) -> None:
    owner, ben = visit(room["group"]), visit(room["group"], room["ben"])
    owner.locator(".sidebar").get_by_role("button", name="Ada").click()
    expect(owner.locator(".head h1")).to_have_text("Ada")
    write(owner, "between the two of us")
    expect(message(owner, "between the two of us")).to_be_visible()
    hub.say(room["group"], "of course", room["ada"], to=["user"])
    expect(message(owner, "of course")).to_be_visible()
    hub.say(room["group"], "a public word", room["ada"])
    expect(message(ben, "a public word")).to_be_visible()
    expect(message(ben, "between the two of us")).to_have_count(0)
    owner.get_by_role("link", name="Release").click()
    expect(message(owner, "a public word")).to_be_visible()
    expect(message(owner, "between the two of us")).to_have_count(0)
    hub.say(room["group"], "psst", room["ada"], to=["user"])
    talk = owner.locator(".sidebar section", has_text="Direct messages")
    expect(talk.locator(".badge")).to_have_text("1")
    talk.get_by_role("link", name="Ada").click()
    expect(talk.locator(".badge")).to_have_count(0)


def test_unread_counts_rise_elsewhere_and_fall_when_the_room_is_read(
    visit: Visits, hub: HubProcess, room
) -> None:
    page = visit(room["group"])
    other = page.get_by_role("link", name="Design")
    hub.actor(room["other"], "eve")
    eve = hub.call("POST", f"/v1/groups/{room['other']}/actors/eve/tokens", {})["token"]
    for number in range(3):
        hub.say(room["other"], f"news {number}", eve)
    expect(other.locator(".badge")).to_contain_text("3")
    # A private word of an earlier test is unread in a browser that never showed it.
    expect(page).to_have_title(re.compile(r"^\([34]\) Release · Tacit$"))
    other.click()
    expect(message(page, "news 2")).to_be_visible()
    expect(other.locator(".badge")).to_have_count(0)
    inbox = hub.call("GET", f"/v1/groups/{room['other']}/inbox")
    assert inbox["unread_count"] == 0


def test_an_acknowledgement_is_asked_for_seen_and_given_with_one_click(
    visit: Visits, hub: HubProcess, room, write
) -> None:
    owner, ben = visit(room["group"]), visit(room["group"], room["ben"])
    owner.get_by_role("button", name="Ask for acknowledgement").first.click()
    write(owner, "@ben freeze at noon")
    asked = message(ben, "freeze at noon")
    expect(ben.locator(".head-tools .badge.asks")).to_have_text("1")
    expect(message(owner, "freeze at noon").locator(".acks .open")).to_contain_text("Ben Okafor")
    asked.get_by_role("button", name="Acknowledge").click()
    expect(message(owner, "freeze at noon").locator(".acks .done")).to_contain_text("Ben Okafor")
    expect(ben.locator(".head-tools .badge.asks")).to_have_count(0)


def test_reactions_are_named_signals_that_can_be_taken_back(
    visit: Visits, hub: HubProcess, room, write
) -> None:
    page = visit(room["group"])
    write(page, "react to me")
    said = message(page, "react to me")
    use_tool(said, "React with a signal")
    page.get_by_role("menuitem", name="agree").click()
    mine = said.get_by_role("button", name="agree, You")
    expect(mine).to_have_attribute("aria-pressed", "true")
    event = hub.events(room["group"], kinds="chat.reaction")[-1]
    assert (event["data"]["emoji"], event["data"]["signal"]) == ("\U0001f44d", "agree")
    mine.click()
    expect(mine).to_have_count(0)


def test_ones_own_message_is_edited_and_deleted_and_others_are_not(
    visit: Visits, hub: HubProcess, room, write
) -> None:
    owner, ben = visit(room["group"]), visit(room["group"], room["ben"])
    write(ben, "we meet at nyne")
    said = message(ben, "we meet at nyne")
    expect(said).to_be_visible()
    ben.locator(".main .composer textarea").press("ArrowUp")
    ben.get_by_label("Edit message").fill("we meet at nine")
    ben.keyboard.press("Enter")
    expect(message(owner, "we meet at nine").locator(".edited")).to_be_visible()
    hub.say(room["group"], "not yours", room["ada"])
    use_tool(message(ben, "not yours"), "More")
    expect(ben.get_by_role("menuitem", name="Edit")).to_have_count(0)
    ben.keyboard.press("Escape")
    use_tool(message(ben, "we meet at nine"), "More")
    ben.get_by_role("menuitem", name="Delete").click()
    expect(owner.get_by_text("This message was deleted.").last).to_be_visible()
    expect(message(owner, "we meet at nine")).to_have_count(0)


def test_a_file_is_dropped_shown_and_fetched_again(visit: Visits, hub: HubProcess, room) -> None:
    page = visit(room["group"])
    page.locator(".main .composer input[type=file]").set_input_files(
        [
            {"name": "notes.txt", "mimeType": "text/plain", "buffer": b"forty-two"},
            {"name": "dot.png", "mimeType": "image/png", "buffer": PNG},
        ]
    )
    expect(page.locator(".carried li")).to_have_count(2)
    page.get_by_role("button", name="Send").click()
    last = page.locator(".main article.message").last
    expect(last.locator("img")).to_be_visible()
    with page.expect_download() as download:
        last.get_by_role("button", name="notes.txt").click()
    assert download.value.path().read_bytes() == b"forty-two"
    page.evaluate(
        """() => {
        const data = new DataTransfer();
        data.items.add(new File(["dragged"], "dragged.txt", {type: "text/plain"}));
        document.querySelector(".main .composer").dispatchEvent(new DragEvent("drop", {dataTransfer: data, bubbles: true, cancelable: true}));
    }"""
    )
    expect(page.locator(".carried li")).to_contain_text("dragged.txt")
    page.get_by_role("button", name="Remove dragged.txt").click()


PNG = bytes.fromhex(
    "89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c4890000000d49444154789c6360f8cfc0f01f0005000"
    "1ff56c7e2d90000000049454e44ae426082"
)


def test_search_finds_by_beginnings_and_jumps_to_the_message(visit: Visits, hub: HubProcess, room) -> None:
    for number in range(120):
        hub.say(room["other"], f"filler {number}" + (" the walrus sings" if number == 7 else ""))
    page = visit(room["other"])
    expect(message(page, "walrus")).to_have_count(0)
    page.keyboard.press("Escape")
    page.keyboard.press("/")
    page.get_by_role("searchbox").fill("walr sing")
    expect(page.get_by_role("option")).to_have_count(1)
    page.keyboard.press("Enter")
    expect(message(page, "the walrus sings").first).to_be_in_viewport()
    expect(page.locator(".main article.selected")).to_contain_text("walrus")
    page.get_by_role("button", name="To the newest").click()
    expect(message(page, "filler 119")).to_be_in_viewport()


def test_typing_a_long_draft_leaves_the_history_at_its_end(visit: Visits, hub: HubProcess, room) -> None:
    for number in range(40):
        hub.say(room["other"], f"line {number}")
    page = visit(room["other"])
    area = page.locator(".main .composer textarea")
    area.fill("words enough for more than one line " * 12)
    for key in ("a", "b", "Backspace", "Shift+Enter"):
        area.press(key)
    # Two drawings: the page would have noticed by then that its history was moved.
    page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    away = page.locator(".main .history").evaluate("(e) => e.scrollHeight - e.scrollTop - e.clientHeight")
    assert away < 2
    expect(page.get_by_role("button", name="To the newest")).to_have_count(0)
    expect(message(page, "line 39")).to_be_in_viewport()
    area.fill("")


def test_a_draft_is_kept_for_each_room_and_over_a_reload(visit: Visits, hub: HubProcess, room) -> None:
    page = visit(room["group"])
    area = page.locator(".main .composer textarea")
    area.fill("half a thought")
    page.get_by_role("link", name="Design").click()
    expect(page.locator(".head h1")).to_have_text("Design")
    expect(area).to_have_value("")
    page.get_by_role("link", name="Release").click()
    expect(area).to_have_value("half a thought")
    page.reload()
    expect(area).to_have_value("half a thought")
    area.fill("")


def test_a_relayed_message_opens_its_source_or_says_that_it_is_not_there(
    visit: Visits, hub: HubProcess, room, write
) -> None:
    page = visit(room["group"])
    write(page, "worth telling the others")
    use_tool(message(page, "worth telling"), "More")
    page.get_by_role("menuitem", name="Relay to another room").click()
    page.get_by_role("combobox", name="To").select_option(label="Design")
    page.get_by_role("button", name="Relay", exact=True).click()
    page.get_by_role("link", name="Design").click()
    relayed = message(page, "worth telling the others")
    expect(relayed).to_contain_text("Relayed from Release")
    relayed.get_by_role("button", name="Open source message").click()
    expect(page.locator(".head h1")).to_have_text("Release")
    expect(page.locator(".main article.selected")).to_contain_text("worth telling the others")
    zoe = hub.person(room["other"], "zoe")
    stranger = visit(room["other"], zoe)
    message(stranger, "worth telling the others").get_by_role("button", name="Open source message").click()
    expect(message(stranger, "worth telling the others")).to_contain_text("Source unavailable")


def test_days_are_told_apart_and_the_first_line_names_the_room(visit: Visits, hub: HubProcess) -> None:
    group = hub.group("Calendar")
    hub.say(group, "today")
    page = visit(group)
    expect(page.locator(".day").first).to_have_text("Today")
    expect(page.get_by_text("The room “Calendar” was opened")).to_be_visible()
