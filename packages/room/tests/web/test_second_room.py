"""A person in several rooms: each link opens its room beside the others, and nobody's place is taken by it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest
from playwright.sync_api import expect

if TYPE_CHECKING:
    from collections.abc import Callable

    from playwright.sync_api import Page

    from tests.web.conftest import Visits
    from tests.web.stage import HubProcess


@pytest.fixture
def rooms(hub: HubProcess) -> tuple[str, str]:
    """Two rooms of this test alone, with ben in both."""
    lobby, importer = hub.group("Lobby"), hub.group("Importer")
    for room in (lobby, importer):
        hub.person(room, "ben")
    return lobby, importer


def is_in(page: Page, title: str) -> None:
    expect(page.locator(".head h1")).to_have_text(title)


def go_to(page: Page, room: str, title: str) -> None:
    page.locator(f".sidebar .entry[href='#/g/{room}']").click()
    is_in(page, title)


def lists(page: Page, *titles: str) -> None:
    """These rooms stand in the sidebar, and no others."""
    names = page.locator(".sidebar section", has=page.get_by_role("heading", name="Rooms"))
    expect(names.locator(".entry-name")).to_have_text(list(titles))


def entered(visit: Visits, hub: HubProcess, room: str, name: str, title: str) -> Page:
    """Somebody's page, after the link of their first room."""
    page = visit.profile().new_page()
    page.on("pageerror", lambda error: visit.faults.append(str(error)))
    page.goto(hub.link(group_id=room, principal=f"usr:{name}"))
    is_in(page, title)
    return page


def follow(page: Page, link: str) -> None:
    """Paste a link into the open page."""
    page.evaluate("link => { location.href = link; }", link)


def revoke(hub: HubProcess, room: str, name: str) -> None:
    """End every sign-in of somebody to a room."""
    for token_id in hub.call("GET", f"/v1/groups/{room}/actors/usr:{name}/tokens")["tokens"]:
        hub.call("DELETE", f"/v1/tokens/{token_id}")


def authors(hub: HubProcess, room: str) -> list[tuple[str, str]]:
    """Who said what in a room."""
    said: list[dict[str, Any]] = hub.events(room, kinds="chat.message")
    return [(event["by"], event["data"]["text"]) for event in said]


def test_the_link_of_a_second_room_opens_it_beside_the_first(
    visit: Visits, hub: HubProcess, rooms: tuple[str, str], write: Callable[..., None]
) -> None:
    lobby, importer = rooms
    first = entered(visit, hub, lobby, "ben", "Lobby")
    second = first.context.new_page()
    second.goto(hub.link(group_id=importer, principal="usr:ben"))
    is_in(second, "Importer")
    expect(second.locator(".toast")).to_have_text("You are now in Importer too.")
    assert "sign-in=" not in second.url
    is_in(first, "Lobby")
    for page in (first, second):
        lists(page, "Lobby", "Importer")
    write(second, "hello importer")
    go_to(second, lobby, "Lobby")
    write(second, "hello lobby")
    expect(first.locator(".main").get_by_text("hello lobby")).to_be_visible()
    second.reload()
    is_in(second, "Lobby")
    lists(second, "Lobby", "Importer")
    go_to(second, importer, "Importer")
    expect(second.locator(".main article.message", has_text="hello importer")).to_be_visible()
    assert authors(hub, lobby) == [("usr:ben", "hello lobby")]
    assert authors(hub, importer) == [("usr:ben", "hello importer")]


def test_what_is_said_in_one_room_is_counted_in_the_other(
    visit: Visits, hub: HubProcess, rooms: tuple[str, str]
) -> None:
    lobby, importer = rooms
    page = entered(visit, hub, lobby, "ben", "Lobby")
    follow(page, hub.link(group_id=importer, principal="usr:ben"))
    is_in(page, "Importer")
    hub.say(lobby, "is anybody there?")
    expect(page.locator(".sidebar").get_by_role("link", name="Lobby")).to_contain_text("1")
    expect(page).to_have_title("(1) Importer · Tacit")


def test_signing_out_of_one_room_keeps_the_other(
    visit: Visits, hub: HubProcess, rooms: tuple[str, str]
) -> None:
    lobby, importer = rooms
    page = entered(visit, hub, lobby, "ben", "Lobby")
    follow(page, hub.link(group_id=importer, principal="usr:ben"))
    is_in(page, "Importer")
    page.get_by_role("button", name="Sign out of Importer").click()
    is_in(page, "Lobby")
    lists(page, "Lobby")
    page.reload()
    lists(page, "Lobby")
    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_label("Sign-in link or token")).to_be_visible()


def test_a_sign_in_that_is_revoked_says_so_and_the_other_goes_on(
    visit: Visits, hub: HubProcess, rooms: tuple[str, str], write: Callable[..., None]
) -> None:
    lobby, importer = rooms
    visit.expected = "401 (Unauthorized)"
    page = entered(visit, hub, lobby, "ben", "Lobby")
    follow(page, hub.link(group_id=importer, principal="usr:ben"))
    is_in(page, "Importer")
    revoke(hub, importer, "ben")
    is_in(page, "Lobby")
    said = page.locator(".sidebar .ended")
    expect(said).to_contain_text("Your sign-in to Importer is not valid any more. Ask for a new link.")
    page.reload()
    is_in(page, "Lobby")
    expect(said).to_contain_text("Importer")
    write(page, "still here")
    expect(page.locator(".main article.message[data-event]", has_text="still here")).to_be_visible()
    # A new link takes its place.
    follow(page, hub.link(group_id=importer, principal="usr:ben"))
    is_in(page, "Importer")
    expect(said).to_have_count(0)
    lists(page, "Lobby", "Importer")


def test_a_sign_in_that_has_ended_is_dismissed(
    visit: Visits, hub: HubProcess, rooms: tuple[str, str]
) -> None:
    lobby, importer = rooms
    page = entered(visit, hub, lobby, "ben", "Lobby")
    follow(page, hub.link(group_id=importer, principal="usr:ben"))
    is_in(page, "Importer")
    revoke(hub, importer, "ben")
    page.get_by_role("button", name="Dismiss").click()
    page.reload()
    is_in(page, "Lobby")
    expect(page.locator(".sidebar .ended")).to_have_count(0)


def test_the_owner_comes_in_as_somebody_else_in_one_room_and_stays_the_owner_in_the_others(
    visit: Visits, hub: HubProcess, rooms: tuple[str, str], write: Callable[..., None]
) -> None:
    lobby, importer = rooms
    page = visit(lobby)
    follow(page, hub.link(group_id=importer, principal="usr:ben"))
    expect(page.get_by_role("alert")).to_contain_text("This link signs in as ben in Importer")
    page.get_by_role("button", name="Be ben too").click()
    is_in(page, "Importer")
    write(page, "said by ben")
    expect(page.locator(".main article.message[data-event]", has_text="said by ben")).to_be_visible()
    go_to(page, lobby, "Lobby")
    write(page, "said by the owner")
    expect(page.locator(".main article.message[data-event]", has_text="said by the owner")).to_be_visible()
    assert authors(hub, importer) == [("usr:ben", "said by ben")]
    assert authors(hub, lobby) == [("user", "said by the owner")]
    go_to(page, importer, "Importer")
    page.reload()
    is_in(page, "Importer")
    page.get_by_role("button", name="Sign out of Importer").click()
    go_to(page, importer, "Importer")
    write(page, "said by the owner again")
    expect(page.locator(".main article.message[data-event]", has_text="owner again")).to_be_visible()
    assert authors(hub, importer)[-1] == ("user", "said by the owner again")


def test_whose_sign_in_ends_does_not_come_to_speak_as_the_owner(
    visit: Visits, hub: HubProcess, rooms: tuple[str, str], write: Callable[..., None]
) -> None:
    lobby, importer = rooms
    visit.expected = "401 (Unauthorized)"
    page = visit(lobby)
    follow(page, hub.link(group_id=importer, principal="usr:ben"))
    page.get_by_role("button", name="Be ben too").click()
    is_in(page, "Importer")
    revoke(hub, importer, "ben")
    expect(page.locator(".sidebar .ended")).to_contain_text("Your sign-in to Importer")
    for _ in range(2):
        expect(page).not_to_have_url(re.compile(importer))
        expect(page.locator(f".sidebar .entry[href='#/g/{importer}']")).to_have_count(0)
        page.reload()
        expect(page.locator(".sidebar .ended")).to_contain_text("Your sign-in to Importer")
    page.get_by_role("button", name="Dismiss").click()
    go_to(page, importer, "Importer")
    write(page, "the owner, who has said so")
    expect(page.locator(".main article.message[data-event]", has_text="has said so")).to_be_visible()
    assert authors(hub, importer) == [("user", "the owner, who has said so")]


def test_a_strangers_link_to_another_room_asks_and_who_stays_loses_nothing(
    visit: Visits, hub: HubProcess, rooms: tuple[str, str]
) -> None:
    lobby, importer = rooms
    hub.person(importer, "eva")
    page = entered(visit, hub, lobby, "ben", "Lobby")
    link = hub.link(group_id=importer, principal="usr:eva")
    follow(page, link)
    expect(page.get_by_role("alert")).to_contain_text(
        "You are signed in as ben. This link signs in as eva in Importer."
    )
    page.get_by_role("button", name="Stay ben").click()
    is_in(page, "Lobby")
    lists(page, "Lobby")
    elsewhere = visit.profile().new_page()
    elsewhere.goto(link)  # nothing was spent
    is_in(elsewhere, "Importer")


def test_nobody_speaks_as_two_in_one_room(
    visit: Visits, hub: HubProcess, rooms: tuple[str, str], write: Callable[..., None]
) -> None:
    lobby, importer = rooms
    hub.person(importer, "eva")
    page = entered(visit, hub, lobby, "ben", "Lobby")
    follow(page, hub.link(group_id=importer, principal="usr:eva"))
    page.get_by_role("button", name="Be eva too").click()
    is_in(page, "Importer")
    expect(page.locator(".sidebar").get_by_role("link", name="Lobby")).to_contain_text("as ben")
    # Ben's own link to that room would put him in eva's place there: he is asked, and both is no choice.
    follow(page, hub.link(group_id=importer, principal="usr:ben"))
    expect(page.get_by_role("alert")).to_contain_text("You are signed in as ben and eva.")
    expect(page.get_by_role("button", name="Be ben too")).to_have_count(0)
    page.get_by_role("button", name="Switch to ben").click()
    is_in(page, "Importer")
    lists(page, "Lobby", "Importer")
    write(page, "ben again")
    expect(page.locator(".main article.message[data-event]", has_text="ben again")).to_be_visible()
    assert authors(hub, importer) == [("usr:ben", "ben again")]
