"""A group on its coordinator's own page, in a real browser: who takes part, which times suit how many, who takes over."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect
from tests.agent.arrangements import share
from tests.web.agent_stage import AgentStage
from tests.web.conftest import PATIENCE

from tacit.agent.engine.answering import Answer

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser, Page


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[AgentStage]:
    with AgentStage(tmp_path_factory.mktemp("agents"), "cleo", "diana") as opened:
        yield opened


def _opened(browser: Browser, stage: AgentStage, faults: list[str]) -> Page:
    context = browser.new_context(
        viewport={"width": 390, "height": 800}, reduced_motion="reduce", locale="en-GB", timezone_id="UTC"
    )
    context.set_default_timeout(PATIENCE)
    page = context.new_page()
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.goto(stage.link())
    return page


async def _taken(agent) -> None:
    """A calendar in which that Friday evening is taken."""
    path = agent.folder / "taken.ics"
    lines = [
        "BEGIN:VCALENDAR", "VERSION:2.0", "PRODID:-//test//EN", "BEGIN:VEVENT", "UID:taken",
        "DTSTAMP:20260301T000000Z", "DTSTART:20260327T160000Z", "DTEND:20260327T235900Z",
        "SUMMARY:a play", "END:VEVENT", "END:VCALENDAR", "",
    ]  # fmt: skip
    path.write_text("\r\n".join(lines), "utf-8")
    await agent.add_calendar("mine", {"kind": "ics", "path": str(path)})


@pytest.mark.spec("A2ACP-274")
def test_an_owner_sees_the_group_says_what_it_is_asked_and_hands_it_over(
    browser: Browser, stage: AgentStage
) -> None:
    cleo, diana = stage.friends
    stage.do(_taken(cleo))
    faults: list[str] = []
    page = _opened(browser, stage, faults)
    begun = stage.do(stage.anna.ask("game night on Friday evening", [stage.ben.me, cleo.me, diana.me]))
    page.get_by_role("link", name="Threads").click()
    row = page.get_by_role("list", name="Threads").get_by_role("link")
    expect(row).to_have_count(1)
    expect(row).to_contain_text("with Ben, Cleo and Diana")
    row.click()
    people = page.get_by_role("region", name="Who takes part")
    expect(people.get_by_text("not answered yet")).to_have_count(3)
    expect(people).to_contain_text("It stands once everybody has said yes.")
    for one in (stage.ben, cleo, diana):
        asked = stage.question(one, "consent")
        stage.do(one.answer(asked["question_id"], share(asked)))
    # Before anything of her own times is told to Cleo, who alone is to be asked, Anna is asked.
    times = page.get_by_role("region", name="Which times suit how many")
    expect(times).to_contain_text("3 of 4, without Cleo")
    expect(times).to_contain_text("more free time of Cleo")
    card = page.locator(".ask.kind-consent")
    expect(card).to_contain_text("May this go to Ben, Cleo and Diana?")
    for switch in card.get_by_role("switch").all():
        switch.set_checked(True, force=True)
    card.get_by_role("button", name="Share all of it").click()
    expect(people.get_by_text("asked to bend")).to_have_count(1)
    expect(times).to_contain_text("who alone was asked")
    # Cleo cannot: it is Anna's to choose, on the same page, and whom she goes on without is told.
    bend = stage.question(cleo, "escalation")
    stage.do(cleo.answer(bend["question_id"], Answer(choose=bend["choices"].index("keep trying"))))
    choice = page.locator(".ask.kind-escalation")
    choice.get_by_text("without cleo").first.click()
    choice.get_by_role("button", name="Choose this").click()
    expect(people).to_contain_text("it goes on without them")
    stage.do(stage.both.state(cleo, begun["thread_id"], "DECLINED"))
    # Behind each of the others stands what was said with that one.
    people.get_by_role("link", name="Ben").click()
    expect(page.get_by_role("heading", name="What Ben told")).to_be_visible()
    page.get_by_role("link", name="The group").click()
    proposed = page.locator(".ask.kind-checkpoint")
    proposed.get_by_role("button", name="Yes, agreed").click()
    for one in (stage.ben, diana):
        asked = stage.question(one, "checkpoint")
        stage.do(one.answer(asked["question_id"], Answer(confirm=True)))
    expect(people.get_by_text("said yes")).to_have_count(3)
    expect(page.locator(".thread-head .state-tag")).to_have_text("done")
    assert faults == []
    page.context.close()


@pytest.mark.spec("A2ACP-183")
def test_an_owner_hands_a_group_over_to_one_who_takes_part(browser: Browser, stage: AgentStage) -> None:
    _, diana = stage.friends
    faults: list[str] = []
    page = _opened(browser, stage, faults)
    stage.do(stage.anna.ask("lunch on Thursday", [stage.ben.me, diana.me]))
    for one in (stage.ben, diana):
        # Whoever has not heard of a group takes over nothing in it.
        stage.question(one, "consent")
    page.get_by_role("link", name="Threads").click()
    page.get_by_role("list", name="Threads").get_by_role("link").click()
    page.get_by_label("Somebody else could coordinate").select_option(label="Diana")
    page.get_by_role("button", name="Hand it over").click()
    expect(page.get_by_role("region", name="Who takes part")).to_contain_text("Diana coordinates")
    assert faults == []
    page.context.close()
