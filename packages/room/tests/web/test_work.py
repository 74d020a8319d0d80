"""Work on the page: place in the queue, what it waits for, why it failed and what now, under the question itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

from playwright.sync_api import expect

from tests.web.agent import Agent

if TYPE_CHECKING:
    from tests.web.conftest import Visits
    from tests.web.stage import HubProcess


def test_work_stands_under_its_question(hub: HubProcess, visit: Visits) -> None:
    group = hub.group("Work")
    token = hub.actor(group, "ada")
    with Agent(hub, token) as ada:
        page = visit(group)

        def ask(text: str) -> str:
            hub.say(group, f"@ada {text}")
            return ada.delivery()["eventId"]

        def under(text: str):
            return page.locator(".main article.message[data-event]", has_text=text).locator(".strip")

        first, second = ask("compile the tree"), ask("which port is it?")
        ada.note("notifications/work", eventId=first, state="working", turn="t1")
        ada.note("notifications/work", eventId=second, state="queued", position=1)
        expect(under("compile the tree")).to_contain_text("ada is working")
        expect(under("which port")).to_contain_text("ada has it in its queue, 1 before it")
        ada.note("notifications/work", eventId=first, state="waiting", message="May I run make?")
        expect(under("compile the tree")).to_contain_text("ada waits for a person")
        expect(under("compile the tree").locator(".work")).to_have_text("May I run make?")
        error = {"code": "not_logged_in", "message": "The program is not logged in."}
        ada.ask("chat/disposition", eventId=first, disposition="failed", error=error)
        card = under("compile the tree").locator(".work .failed")
        expect(under("compile the tree")).to_contain_text("ada failed")
        expect(card).to_contain_text("The program is not logged in. (not_logged_in)")
        expect(card).to_contain_text("give it to another agent")
        card.get_by_role("button", name="Give to another").click()
        expect(page.locator(".inspector .at-work.failed")).to_contain_text("not logged in")
        ada.note("notifications/work", eventId=second, state="working", turn="t2")
        expect(under("which port").locator(".work")).to_have_count(0)
        expect(under("which port")).to_contain_text("ada is working")
