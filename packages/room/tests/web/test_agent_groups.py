"""A group on its coordinator's own page, in a real browser: who can when, who bends, who is silent, who takes over."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from playwright.sync_api import expect

from tacit.agent.consent.answering import Answer
from tacit.base.moment import SECOND
from tests.agent.arrangements import share
from tests.web.agent_stage import AgentStage
from tests.web.conftest import PATIENCE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser, Page

HOUR = 3600 * SECOND


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[AgentStage]:
    with AgentStage(tmp_path_factory.mktemp("agents"), "cleo", "diana") as opened:
        yield opened


@pytest.fixture
def page(browser: Browser, stage: AgentStage) -> Iterator[Page]:
    """Anna's page, on a phone."""
    faults: list[str] = []
    context = browser.new_context(
        viewport={"width": 390, "height": 800}, reduced_motion="reduce", locale="en-GB", timezone_id="UTC"
    )
    context.set_default_timeout(PATIENCE)
    opened = context.new_page()
    opened.on("pageerror", lambda error: faults.append(str(error)))
    opened.goto(stage.link())
    yield opened
    context.close()
    assert faults == []


def calendar_of(stage: AgentStage, who: Any, *events: str) -> None:
    """What somebody's calendar says from now on."""
    path = who.folder / "mine.ics"
    lines = ["BEGIN:VCALENDAR", "VERSION:2.0", "PRODID:-//test//EN", *events, "END:VCALENDAR", ""]
    path.write_text("\r\n".join(lines), "utf-8")
    stage.do(who.add_calendar("mine", {"kind": "ics", "path": str(path)}))


def shares(stage: AgentStage, *people: Any) -> None:
    """Their owners share what they are asked for."""
    for one in people:
        asked = stage.question(one, "consent")
        stage.do(one.answer(asked["question_id"], share(asked)))


def opened_group(page: Page) -> None:
    page.get_by_role("link", name="Threads").click()
    row = page.get_by_role("list", name="Threads").get_by_role("link")
    expect(row).to_have_count(1)
    row.click()


PLAY = (
    "BEGIN:VEVENT", "UID:play", "DTSTAMP:20260301T000000Z", "DTSTART:20260327T160000Z",
    "DTEND:20260327T235900Z", "SUMMARY:a play", "END:VEVENT",
)  # fmt: skip


@pytest.mark.spec("A2ACP-274")
@pytest.mark.spec("A2ACP-182")
def test_an_owner_sees_who_can_when_goes_on_without_the_silent_and_asks_one_to_bend(
    stage: AgentStage, page: Page
) -> None:
    cleo, diana = stage.friends
    calendar_of(stage, cleo, *PLAY)
    begun = stage.do(stage.anna.ask("game night on Friday evening", [stage.ben.me, cleo.me, diana.me]))
    opened_group(page)
    people = page.get_by_role("region", name="Who takes part")
    expect(people.locator(".state-tag", has_text="not answered yet")).to_have_count(3)
    expect(people).to_contain_text("It stands once everybody has said yes.")
    shares(stage, stage.ben, cleo)
    expect(people.locator(".state-tag", has_text="has answered")).to_have_count(2)
    # Diana says nothing for two days: it is Anna's to say how it goes on.
    stage.both.relay.clock.ahead += 49 * HOUR
    stage.question(stage.anna, "escalation")
    silent = page.locator(".ask.kind-escalation")
    expect(silent).to_contain_text("No answer from diana")
    silent.get_by_text("Go on without them").click()
    silent.get_by_role("button", name="Choose this").click()
    expect(people.locator("li", has_text="Diana")).to_contain_text("it goes on without them")
    # Her answer comes too late: she is told how it ended.
    shares(stage, diana)
    stage.do(stage.both.state(diana, begun["thread_id"], "DECLINED"))
    # Before anything of her own times is told to Cleo, who alone is to be asked, Anna is asked.
    times = page.get_by_role("region", name="Which times suit how many")
    expect(times).to_contain_text("2 of 3, without Cleo")
    expect(times).to_contain_text("more free time of Cleo")
    card = page.locator(".ask.kind-consent")
    expect(card).to_contain_text("May this go to Ben and Cleo?")
    for switch in card.get_by_role("switch").all():
        switch.set_checked(True, force=True)
    card.get_by_role("button", name="Share all of it").click()
    expect(people.locator("li", has_text="Cleo")).to_contain_text("asked to bend")
    expect(times).to_contain_text("who alone was asked")
    # She moves her play, and says so: the evening is for all three.
    bend = stage.question(cleo, "escalation")
    calendar_of(stage, cleo)
    friday = next(number for number, one in enumerate(bend["choices"]) if one.startswith("Friday"))
    stage.do(cleo.answer(bend["question_id"], Answer(choose=friday)))
    page.locator(".ask.kind-checkpoint").get_by_role("button", name="Yes, agreed").click()
    # Behind each of the others stands what was said with that one.
    people.get_by_role("link", name="Ben").click()
    expect(page.get_by_role("heading", name="What Ben told")).to_be_visible()
    page.get_by_role("link", name="The group").click()
    for one in (stage.ben, cleo):
        asked = stage.question(one, "checkpoint")
        stage.do(one.answer(asked["question_id"], Answer(confirm=True)))
    expect(people.locator(".state-tag", has_text="said yes")).to_have_count(3)
    expect(page.locator(".thread-head .state-tag")).to_have_text("done")


@pytest.mark.spec("A2ACP-183")
def test_an_owner_hands_a_group_over_to_one_who_takes_part(stage: AgentStage, page: Page) -> None:
    _, diana = stage.friends
    stage.do(stage.anna.ask("lunch on Thursday", [stage.ben.me, diana.me]))
    for one in (stage.ben, diana):
        # Whoever has not heard of a group takes over nothing in it.
        stage.question(one, "consent")
    opened_group(page)
    page.get_by_label("Somebody else could coordinate").select_option(label="Diana")
    page.get_by_role("button", name="Hand it over").click()
    expect(page.get_by_role("region", name="Who takes part")).to_contain_text("Diana coordinates")
    expect(page.get_by_role("button", name="Hand it over")).to_have_count(0)
