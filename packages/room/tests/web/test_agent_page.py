"""The personal agent's own page in a real browser: every kind of question, other faces, restarts, hostile words."""

from __future__ import annotations

import asyncio
import re
from typing import TYPE_CHECKING, Any

import pytest
from playwright.sync_api import expect

from tacit.agent.consent import consenting
from tacit.agent.consent.answering import Answer
from tacit.agent.scheduling.goal import Need
from tacit.base.moment import SECOND
from tests.web.agent_stage import AgentStage
from tests.web.conftest import PATIENCE
from tests.web.test_access import PHONE, faults

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser, BrowserContext, Locator, Page

pytestmark = pytest.mark.spec("A2ACP-274")
DINNER = "dinner with ben on Friday evening"
DAY = 24 * 3600 * SECOND


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[AgentStage]:
    with AgentStage(tmp_path_factory.mktemp("agents")) as opened:
        yield opened


class Looks:
    """Browsers of Anna's; each has a profile of its own unless one is given."""

    def __init__(self, browser: Browser, stage: AgentStage) -> None:
        self._browser = browser
        self._stage = stage
        self.contexts: list[BrowserContext] = []
        self.faults: list[str] = []
        self.expected = re.compile("^$")

    def profile(self, **given: Any) -> BrowserContext:
        given.setdefault("viewport", {"width": 1100, "height": 800})
        context = self._browser.new_context(
            reduced_motion="reduce", locale="en-GB", timezone_id="Europe/London", **given
        )
        context.set_default_timeout(PATIENCE)
        self.contexts.append(context)
        return context

    def __call__(self, question: str = "", *, profile: BrowserContext | None = None, **given: Any) -> Page:
        page = (profile or self.profile(**given)).new_page()
        page.on("pageerror", lambda error: self.faults.append(str(error)))
        page.on("console", lambda said: self.faults.append(said.text) if said.type == "error" else None)
        page.goto(self._stage.link(question))
        page.wait_for_selector(".own [aria-busy=false], .own .you form")
        return page


@pytest.fixture
def look(browser: Browser, stage: AgentStage) -> Iterator[Looks]:
    looks = Looks(browser, stage)
    yield looks
    for context in looks.contexts:
        context.close()
    assert [one for one in looks.faults if not looks.expected.search(one)] == []


@pytest.fixture(autouse=True)
def quiet(stage: AgentStage) -> Iterator[None]:
    """What a test has begun it does not leave to the next."""
    yield

    async def end() -> None:
        for who in (stage.anna, stage.ben):
            for one in (await who.threads())["threads"]:
                await who.stop(one["thread_id"])
            for one in (await who.pending())["questions"]:
                said = Answer(confirm=True) if one["kind"] == "first_contact" else Answer(dismiss=True)
                await who.answer(one["question_id"], said)
        await stage.both.settled()

    stage.do(end())


def card(page: Page, kind: str) -> Locator:
    return page.locator(f".ask.kind-{kind}")


def asked(stage: AgentStage, text: str = DINNER) -> tuple[str, dict[str, Any]]:
    """Anna wants something; the thread and the question for consent."""
    thread_id = stage.do(stage.anna.ask(text))["thread_id"]
    return thread_id, stage.question(stage.anna, "consent")


def shares_all(stage: AgentStage, who: Any) -> None:
    question = stage.question(who, "consent")
    given = {one["field"]: None if one["values"] else "something" for one in question["fields"]}
    stage.do(who.answer(question["question_id"], Answer(share=given)))


async def tried_to_undo(stage: AgentStage, thread_id: str, tries: int) -> None:
    """Wait until an action of Anna's was tried so often to be undone, and let the pause after that pass."""
    threads = stage.anna.journal.book.threads
    async with asyncio.timeout(PATIENCE / 1000):
        while all(action.undo_tries < tries for action in threads[thread_id].proposal.actions):
            await asyncio.sleep(0.02)
    stage.both.relay.clock.ahead += 31 * SECOND
    stage.anna.woken.set()


def proposed(stage: AgentStage, page: Page) -> str:
    """Up to the proposal; the thread."""
    thread_id, _ = asked(stage)
    shares_all(stage, stage.anna)
    shares_all(stage, stage.ben)
    expect(card(page, "checkpoint")).to_be_visible()
    return thread_id


@pytest.mark.spec("A2ACP-128", "A2ACP-129", "A2ACP-143")
def test_without_any_hub_the_page_alone_does_everything(stage: AgentStage, look: Looks) -> None:
    stage.do(stage.anna.profile({"timezone": None, "dietary": "no meat"}))
    page = look()
    # The first minute: a name, and the zone that the browser knows.
    expect(page.get_by_role("heading", name=re.compile("Hello"))).to_be_visible()
    page.get_by_label("What are you called?").fill("Anna")
    expect(page.get_by_label("Your time zone")).to_have_value("Europe/London")
    page.get_by_role("radiogroup", name="What you would spend").get_by_text("Never").click()
    page.get_by_role("button", name="Begin").click()
    page.get_by_label("What should your agent arrange?").fill(DINNER)
    page.get_by_role("button", name="Arrange it").click()
    consent = card(page, "consent")
    expect(consent.get_by_role("heading")).to_have_text("May this go to Ben?")
    consent.get_by_role("button", name=re.compile("^Change what is shared for: What you eat")).click()
    consent.get_by_label("What to share: What you eat").fill("vegetarian, no nuts")
    for switch in consent.get_by_role("switch").all():
        switch.set_checked(True, force=True)
    consent.get_by_role("button", name=re.compile("^Share (all of )?it")).click()
    expect(consent).to_have_count(0)
    shares_all(stage, stage.ben)
    checkpoint = card(page, "checkpoint")
    expect(checkpoint.locator(".when").first).to_contain_text("27 Mar")
    checkpoint.get_by_role("button", name="Yes, agreed").click()
    expect(checkpoint).to_have_count(0)
    theirs = stage.question(stage.ben, "checkpoint")
    stage.do(stage.ben.answer(theirs["question_id"], Answer(confirm=True)))
    stage.thread_in(stage.anna, theirs["thread_id"], "COMPLETED")
    page.get_by_role("link", name="Threads").click()
    page.get_by_role("button", name="Also what is over").click()
    page.locator(".thread-row").first.click()
    expect(page.locator(".thread-head .state-tag")).to_have_text("done")
    expect(page.locator(".facts")).to_contain_text("vegetarian, no nuts")
    page.get_by_role("link", name="Receipts").click()
    receipt = page.locator(".receipt", has_text="vegetarian, no nuts")
    expect(receipt).to_contain_text("you said yes on its own page")
    page.get_by_role("link", name="Permissions").click()
    expect(page.get_by_role("radiogroup", name="What you would spend").locator(".on")).to_have_text("Never")
    assert stage.do(stage.anna.permissions())["never_share"].count("budget_range") == 1


@pytest.mark.spec("A2ACP-144", "A2ACP-146", "A2ACP-149")
def test_a_checkpoint_takes_a_counter_an_excuse_shown_before_it_goes_and_a_plain_no(
    stage: AgentStage, look: Looks
) -> None:
    page = look()
    thread_id = proposed(stage, page)
    page.get_by_role("button", name="Something else…").click()
    page.get_by_role("textbox", name="Another time").fill("Saturday 28 March 19:00")
    page.get_by_role("button", name="Propose this").click()
    expect(card(page, "checkpoint")).to_have_count(0)
    said = [one for one, _ in stage.anna.journal.records("x.a2acp.answered")][-1]
    assert (said.choice, said.fields, said.via) == ("counter", ("time",), "page")
    stage.do(stage.anna.stop(thread_id))
    stage.do(stage.both.settled())
    proposed(stage, page)
    question = stage.question(stage.anna, "checkpoint")
    page.get_by_role("button", name="An excuse…").click()
    expect(page.locator(".excuse q").first).to_have_text(question["about"]["excuses"]["again"])
    page.get_by_role("button", name="Send, and leave it").click()
    expect(card(page, "checkpoint")).to_have_count(0)
    assert [one for one, _ in stage.anna.journal.records("x.a2acp.answered")][-1].choice == "excuse leave"


def _ask(stage: AgentStage, thread_id: str, kind: str, content: dict[str, Any], subject: str = "") -> None:
    """Ask Anna as the engine asks."""
    stage.do(
        stage.anna.decide(lambda ws: ws.ask(ws.thread(thread_id), kind, content, subject=subject)),
    )


def test_the_other_kinds_of_question_are_shown_and_answered(stage: AgentStage, look: Looks) -> None:
    page = look()
    thread_id, _ = asked(stage)
    _ask(stage, thread_id, "promotion", {"field": "dietary", "choices": ["confirm", "dismiss"]}, "dietary")
    offered = card(page, "promotion")
    expect(offered).to_contain_text("what you eat")
    offered.get_by_role("button", name="Share it from now on").click()
    expect(offered).to_have_count(0)
    overrides = stage.do(stage.anna.permissions())["overrides"]
    assert overrides[stage.ben.me]["promote_to_always_share"] == ["dietary"]
    stage.do(stage.anna.permissions("dietary", "ask", counterpart=stage.ben.me))
    content = {
        "reason": "no common time",
        "tried": [{"try": "other_days", "why": "nobody is free"}],
        "alternatives": [{"option": "Sunday"}, {"option": "a call"}],
        "choices": ["Sunday", "a call", "keep trying", "stop"],
    }
    _ask(stage, thread_id, "escalation", content)
    stuck = card(page, "escalation")
    expect(stuck.get_by_role("button", name="Choose this")).to_be_disabled()
    stuck.get_by_text("a call").click()
    stuck.get_by_role("button", name="Choose this").click()
    expect(stuck).to_have_count(0)
    assert [one for one, _ in stage.anna.journal.records("x.a2acp.answered")][-1].choice == "choose 1"
    shares_all(stage, stage.anna)
    stage.do(stage.both.settled())
    stage.do(stage.ben.change(thread_id, "a game night with anna on Friday evening"))
    scope = card(page, "scope")
    expect(scope).to_contain_text("wants")
    scope.get_by_role("button", name="Stop").click()
    expect(scope).to_have_count(0)
    stage.thread_in(stage.anna, thread_id, "DECLINED")


def test_what_could_not_be_undone_waits_until_the_owner_has_seen_to_it(
    stage: AgentStage, look: Looks
) -> None:
    done_but_not_undone = ["sh", "-c", 'test "$0" = do']
    handlers = {"book": done_but_not_undone, "pay": ["sh", "-c", "exit 1"]}
    for name, argv in handlers.items():
        definition = {"kind": "command", "argv": argv, "for": [], "reversible": True}
        stage.do(stage.anna.add_handler(name, definition))
    page = look()
    thread_id = proposed(stage, page)
    expect(card(page, "checkpoint").locator(".deeds")).to_contain_text("your agent does “book”")
    card(page, "checkpoint").get_by_role("button", name="Yes, agreed").click()
    theirs = stage.question(stage.ben, "checkpoint")
    stage.do(stage.ben.answer(theirs["question_id"], Answer(confirm=True)))
    for tries in (1, 2):
        stage.do(tried_to_undo(stage, thread_id, tries))
    failure = card(page, "failure")
    expect(failure).to_contain_text("could not be undone")
    failure.get_by_role("button", name="I have seen to it").click()
    expect(failure).to_have_count(0)
    said = [one for one, _ in stage.anna.journal.records("x.a2acp.answered")]
    assert said[-1].choice == "dismiss"
    stage.do(stage.anna.set_to("handlers", {}))


@pytest.mark.spec("A2ACP-131")
def test_a_stranger_is_let_in_or_blocked_and_a_card_can_be_put_aside(stage: AgentStage, look: Looks) -> None:
    page = look()
    stage.stranger("eve", "dinner with anna on Friday evening")
    met = card(page, "first_contact")
    expect(met.get_by_role("heading")).to_have_text("Eve writes for the first time")
    met.get_by_role("button", name="Later").click()
    expect(met.get_by_role("button", name="Block")).to_have_count(0)
    page.reload()
    expect(met.get_by_role("button", name="Block")).to_have_count(0)
    met.get_by_role("button", name="Open").click()
    met.get_by_role("button", name="Block").click()
    expect(met).to_have_count(0)
    page.get_by_role("link", name="People").click()
    expect(page.locator(".thread-row", has_text="eve@")).to_contain_text("blocked")


@pytest.mark.spec("A2ACP-066")
def test_words_of_others_stay_words_whatever_they_look_like(stage: AgentStage, look: Looks) -> None:
    page = look()
    thread_id, _ = asked(stage)
    hostile = (
        '"</blockquote><button>Share all of it</button>\u202egnihtyreve erahS\u202c ” [Share all of it] '
        + "x" * 900
    )
    held = [
        (Need("bank_pin\u202e\u0007", hostile, "required"), None),
        (Need("dietary", hostile, "helpful"), "no meat"),
    ]
    stage.do(
        stage.anna.decide(
            lambda ws: consenting.ask_consent(ws, ws.thread(thread_id), held, subject="hostile", own=False)
        )
    )
    consent = card(page, "consent").last
    said = consent.locator(".said", has_text="Share all of it")
    expect(said.first).to_be_visible()
    expect(said.first.locator("figcaption")).to_have_text("Ben's agent wrote:")
    words = said.first.locator("blockquote").inner_text()
    assert len(words) <= 280
    assert "\u202e" not in consent.inner_text()
    assert said.first.locator("button, a, input").count() == 0
    # The one button of that name is ours, and it is not pressed by being named.
    expect(consent.get_by_role("button", name="Share what is on")).to_be_disabled()
    assert page.evaluate(
        "[...document.querySelectorAll('.said')].every(one => one.querySelectorAll('*').length === 3)"
    )


def test_a_question_answered_at_the_terminal_closes_here_with_a_line_that_says_where(
    stage: AgentStage, look: Looks
) -> None:
    page, phone = look(), look(**PHONE)
    _, question = asked(stage)
    for one in (page, phone):
        expect(card(one, "consent")).to_be_visible()
    stage.do(stage.anna.answer(question["question_id"], Answer(decline_all=True, via="terminal")))
    for one in (page, phone):
        expect(one.locator(".gone")).to_contain_text("You answered this at the terminal.")
        expect(card(one, "consent")).to_have_count(0)
    page.locator(".gone").get_by_role("button").click()
    expect(page.locator(".gone")).to_have_count(0)


def test_two_pages_answer_in_the_same_moment_and_one_of_them_is_told(stage: AgentStage, look: Looks) -> None:
    pages = [look(), look()]
    look.expected = re.compile("409")
    asked(stage)
    buttons = []
    for one in pages:
        button = card(one, "consent").get_by_role("button", name="Share nothing")
        expect(button).to_be_enabled()
        buttons.append(button.element_handle())
    before = len(list(stage.anna.journal.records("x.a2acp.answered")))
    # Held beforehand: the second may have been told already.
    for button in buttons:
        button.evaluate("one => one.click()")
    for one in pages:
        expect(card(one, "consent")).to_have_count(0)
    assert len(list(stage.anna.journal.records("x.a2acp.answered"))) == before + 1
    assert sum(one.locator(".gone").count() for one in pages) == 1


def test_a_page_that_is_open_over_a_restart_keeps_its_draft_and_is_let_in_by_a_link(
    stage: AgentStage, look: Looks
) -> None:
    profile = look.profile()
    page = look(profile=profile)
    look.expected = re.compile("401|ERR_CONNECTION|ERR_INCOMPLETE|ERR_EMPTY")
    asked(stage)
    consent = card(page, "consent")
    consent.get_by_role("button", name=re.compile("Change what is shared for: What you eat")).click()
    consent.get_by_label("What to share: What you eat").fill("only what has no face")
    stage.served_anew()
    expect(page.get_by_role("alert")).to_contain_text("started anew")
    expect(consent.get_by_label("What to share: What you eat")).to_have_value("only what has no face")
    # A link in another tab brings this one back too.
    look(profile=profile)
    expect(page.get_by_role("alert")).to_have_count(0)
    expect(
        consent.locator(".value", has_text="only what has no face").or_(
            consent.get_by_label("What to share: What you eat")
        )
    ).to_be_visible()
    page.reload()
    expect(consent).to_contain_text("only what has no face")
    consent.get_by_role("button", name="Share nothing").click()
    expect(consent).to_have_count(0)


def test_a_question_of_monday_is_answered_on_wednesday_from_a_phone_and_the_thread_goes_on(
    stage: AgentStage, look: Looks
) -> None:
    thread_id, question = asked(stage, "dinner with ben on Saturday evening")
    stage.both.relay.clock.ahead += 2 * DAY
    stage.do(stage.both.settled())
    page = look(question["question_id"], **PHONE)
    consent = card(page, "consent")
    expect(consent).to_be_focused()
    consent.get_by_role("button", name=re.compile("^Share")).first.click()
    expect(consent).to_have_count(0)
    shares_all(stage, stage.ben)
    expect(card(page, "checkpoint")).to_be_visible()
    assert stage.thread_in(stage.anna, thread_id, "PROPOSED")["state"] == "PROPOSED"


@pytest.mark.spec("A2ACP-124")
def test_what_was_never_shared_is_opened_on_the_page_of_oneself_only_by_its_name_typed(
    stage: AgentStage, look: Looks
) -> None:
    stage.do(stage.anna.profile({"timezone": "Europe/London"}))
    stage.do(stage.anna.permissions("budget_range", "never"))
    page = look()
    look.expected = re.compile("status of 4")
    page.get_by_role("link", name="You", exact=True).click()
    page.get_by_role("radiogroup", name="What you would spend").get_by_text("Always").click()
    page.get_by_role("button", name="Keep this").click()
    typed = page.get_by_label("This was never shared")
    expect(page.get_by_role("button", name="Change it")).to_be_disabled()
    assert "budget_range" in stage.do(stage.anna.permissions())["never_share"]
    typed.fill("budget_range")
    page.get_by_role("button", name="Change it").click()
    expect(page.get_by_text("Kept.")).to_be_visible()
    assert "budget_range" in stage.do(stage.anna.permissions())["always_share"]
    stage.do(stage.anna.permissions("budget_range", "ask"))


def test_a_pasted_link_of_another_page_is_opened_there_and_its_secret_stays_from_this_one(
    stage: AgentStage, look: Looks
) -> None:
    page = look.profile().new_page()
    posted: list[str] = []
    page.on("request", lambda one: posted.append(one.url) if one.method == "POST" else None)
    page.route(
        "http://other.example/**", lambda route: route.fulfill(body="<p>hello", content_type="text/html")
    )
    page.goto(stage.page.address)
    page.get_by_label("The link that the terminal printed").fill("http://other.example/q/secret")
    page.get_by_role("button", name="Let me in").click()
    page.wait_for_url("http://other.example/q/secret")
    assert posted == []


def test_a_link_that_was_used_and_a_page_of_another_origin_open_nothing(
    stage: AgentStage, look: Looks
) -> None:
    context = look.profile()
    link = stage.link()
    first = context.new_page()
    first.goto(link)
    first.wait_for_selector(".own [aria-busy=false]")
    look.contexts.append(other := look._browser.new_context())
    stranger = other.new_page()
    stranger.goto(link)
    expect(stranger.get_by_role("heading", name="Your agent")).to_be_visible()
    expect(stranger.get_by_role("button", name="Let me in")).to_be_visible()
    evil = context.new_page()
    evil.route("http://evil.example/", lambda route: route.fulfill(body="<p>hello", content_type="text/html"))
    evil.goto("http://evil.example/")
    call = '{"command":"profile","arguments":{"changes":{"dietary":"stolen"}}}'
    sent = evil.evaluate(
        """async ([url, body]) => {
            const tries = [{mode: "no-cors", body}, {mode: "cors", body, headers: {"Content-Type": "application/json"}}];
            const out = [];
            for (const one of tries) {
                try { out.push((await fetch(url, {method: "POST", credentials: "include", ...one})).type) }
                catch (error) { out.push("failed") }
            }
            return out;
        }""",
        [f"{stage.page.address}agent/call", call],
    )
    assert "failed" in sent
    assert "basic" not in sent
    evil.evaluate(
        """([url, body]) => { const form = document.createElement("form"); form.method = "POST"; form.action = url;
            form.enctype = "text/plain"; const field = document.createElement("input"); field.name = body; field.value = "";
            form.append(field); document.body.append(form); form.submit(); }""",
        [f"{stage.page.address}agent/call", call],
    )
    evil.wait_for_url("**/agent/call")
    expect(evil.locator("body")).to_contain_text("foreign_origin")
    assert stage.do(stage.anna.profile({}))["profile"].get("dietary") != "stolen"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_no_fault_in_any_view_wide_or_on_a_phone(
    stage: AgentStage, look: Looks, scheme: Any
) -> None:
    page = look(color_scheme=scheme)
    look.faults.clear()
    proposed(stage, page)
    page.get_by_role("button", name="Something else…").click()
    asked(stage, "lunch with ben on Sunday")
    expect(card(page, "consent")).to_be_visible()
    for width in (1100, 390):
        page.set_viewport_size({"width": width, "height": 800})
        for view in ("questions", "threads", "people", "permissions", "receipts", "you"):
            page.goto(f"{stage.page.address}#/agent/{view}")
            page.locator(".agent-page :is(article, li, form)").first.wait_for()
            assert faults(page) == [], (view, width)
        page.goto(f"{stage.page.address}#/agent/threads")
        page.locator(".thread-row", has_text="Dinner").first.click()
        page.locator(".thread-history li").first.wait_for()
        assert faults(page) == [], ("thread", width)
        assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth"), width
