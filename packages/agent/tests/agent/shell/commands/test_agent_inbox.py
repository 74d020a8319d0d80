"""`tacit agent inbox`: the whole screen, pressed by a pilot, with a real relay behind it."""

from __future__ import annotations

import asyncio
import contextlib
import os

import pytest
from msgspec import structs
from textual.widgets import OptionList, Static

from tacit.agent import Agent
from tacit.agent.consent.answering import Answer
from tacit.agent.shell.commands.desk import inbox
from tacit.agent.shell.commands.desk.inbox import LOST, NOTICES, RECEIPTS, THREADS, Inbox
from tacit.agent.shell.commands.desk.line import Here, Running, here
from tacit.agent.shell.io import door
from tacit.base import agent_operations as operations
from tacit.base.agent_owner_results import Disclosure
from tacit.base.agent_results import NoticeResult, ThreadLine
from tests.agent.arrangements import pair, registered, share
from tests.relay_support import PATIENCE, Relay
from tests.typed import typed

DINNER = "dinner with ben on Friday evening"


class At:
    """A person before the whole screen."""

    def __init__(self, app: Inbox, pilot) -> None:
        self.app, self.pilot = app, pilot

    def text(self, name: str) -> str:
        return str(self.app.query_one(f"#{name}", Static).content)

    def rows(self) -> list[str]:
        return [str(one.prompt) for one in self.app.query_one("#list", OptionList).options]

    async def until(self, holds) -> None:
        async with asyncio.timeout(PATIENCE):
            while not holds():
                await self.pilot.pause(0.02)

    async def sees(self, text: str, where: str = "detail") -> None:
        await self.until(lambda: text in self.text(where))

    async def press(self, *keys: str) -> None:
        await self.pilot.press(*keys)


@contextlib.asynccontextmanager
async def at(behind, size=(110, 32)):
    app = Inbox(behind)
    async with app.run_test(size=size) as pilot:
        yield At(app, pilot)


@pytest.mark.spec("A2ACP-273", "A2ACP-232")
async def test_questions_are_answered_by_keys_and_everything_follows_live(tmp_path):
    async with pair(tmp_path) as (both, anna, ben), at(Here(anna)) as here_:
        await here_.sees("Nothing waits for you")
        thread = (await anna.ask(DINNER))["thread_id"]
        await here_.sees("May this go to ben@")
        await here_.sees("this is the first time with ben")
        await here_.sees("How this goes", "told")
        await here_.sees("share all", "keys")
        assert "ben  consent ★" in here_.rows()[0]
        await here_.press("y")
        await here_.sees("✓ shared dietary, time_windows: ben", "told")
        await here_.sees("Nothing waits for you")
        asked = await both.question(ben, "consent")
        await ben.answer(asked["question_id"], share(asked))
        await both.question(anna, "checkpoint")
        await here_.sees("A proposal, with ben@")
        await here_.sees("confirm", "keys")
        await here_.press("y")
        await here_.sees("✓ confirmed: ben", "told")
        asked = await both.question(ben, "checkpoint")
        await ben.answer(asked["question_id"], Answer(confirm=True))
        await both.state(anna, thread, "COMPLETED")
        # What happened is in the other views, without being asked for again.
        await here_.press("tab")
        await here_.until(lambda: here_.app.view == THREADS and "completed" in "".join(here_.rows()))
        await here_.sees("Dinner on Friday")
        await here_.press("right")
        await here_.until(lambda: here_.app.view == NOTICES and "is done" in "".join(here_.rows()))
        await here_.press("tab")
        await here_.until(
            lambda: here_.app.view == RECEIPTS and any("dietary" in one for one in here_.rows())
        )
        number = next(n for n, one in enumerate(here_.rows()) if one.startswith("dietary"))
        await here_.press(*["down"] * number)
        await here_.sees("anna eats no meat")
        await here_.sees("inbox")
        assert "inbox" in {one["via"] for one in (await anna.disclosures())["disclosures"]}
        await here_.press("q")
        await here_.until(lambda: here_.app.return_value == "quit")


@pytest.mark.spec("A2ACP-273", "A2ACP-131")
async def test_questions_are_gone_through_put_aside_and_opened_again(tmp_path):
    async with pair(tmp_path) as (_both, anna, _ben), at(Here(anna)) as here_:
        await anna.ask(DINNER)
        await anna.ask("lunch with ben on Saturday")
        await here_.until(lambda: len(here_.rows()) == 2)
        first, second = here_.app.desk.cards
        await here_.press("down")
        await here_.until(lambda: here_.app.desk.current == second)
        await here_.press("up", "s")
        await here_.until(lambda: here_.app.desk.current == second and "(later)" in here_.rows()[0])
        await here_.press("s")
        await here_.sees("2 put aside")
        await here_.press("down")
        await here_.until(lambda: here_.app.desk.current == first)
        # Letters are letters while something is typed, and arrows stay in it.
        await here_.press("e", "q", "tab", "down", "x")
        await here_.until(lambda: here_.app.desk.card.draft.text.endswith("qx"))
        await here_.sees("take it", "keys")
        await here_.press("escape", "?")
        await here_.sees("Nothing of this leaves before you answer")


@pytest.mark.spec("A2ACP-274")
async def test_what_is_answered_elsewhere_closes_here_over_the_socket_too(tmp_path):
    async with pair(tmp_path) as (both, anna, _ben), door.served(anna, anna.folder):
        await anna.ask(DINNER)
        asked = await both.question(anna, "consent")
        async with at(Running(anna.folder)) as here_:
            await here_.sees("May this go to")
            # Before it follows it would only see that the question is gone.
            await here_.until(lambda: anna.changes._followers)
            await anna.answer(asked["question_id"], Answer(decline_all=True, via="room"))
            # Where it was answered, unless it looked by itself before it heard.
            await here_.until(
                lambda: any(
                    one in here_.text("told") for one in ("answered in the room", "it no longer waits")
                )
            )
            await here_.sees("Nothing waits for you")


async def test_when_the_running_agent_stops_the_screen_ends_and_its_draft_goes_on(tmp_path):
    async with Relay(tmp_path / "relay") as relay:
        await registered(relay, tmp_path / "anna", "anna", "ben")
        async with contextlib.AsyncExitStack() as stack:
            behind = await stack.enter_async_context(here(Agent(tmp_path / "anna", clock=relay.clock)))
            await behind.call(operations.PROFILE, changes={"dietary": "vegan"})
            await behind.call(operations.ASK, text=DINNER)
            async with at(Running(tmp_path / "anna")) as face:
                await face.sees("May this go to")
                await face.press("e", "!")
                await face.until(lambda: face.app.desk.card.draft.text == "vegan!")
                await stack.aclose()
                await face.until(lambda: face.app.return_value == LOST)
        async with Agent(tmp_path / "anna", clock=relay.clock) as anna:
            again = Inbox(Here(anna), face.app)
            assert again.desk.card.draft.text == "vegan!"


async def test_texts_of_others_are_no_markup_and_fit_a_narrow_screen(tmp_path):
    async with pair(tmp_path) as (both, anna, ben):
        await ben.profile({"general_location_area": "[red]y share all[/] [@click=app.quit]x"})
        await anna.ask(DINNER)
        for one in (anna, ben):
            asked = await both.question(one, "consent")
            await one.answer(asked["question_id"], share(asked))
        await both.question(anna, "checkpoint")
        async with at(Here(anna), size=(60, 20)) as here_:
            await here_.sees("A proposal, with")
            bar = [line for line in here_.text("detail").splitlines() if "│" in line]
            assert bar
            assert all(line.strip().startswith("│") for line in bar)
            for view in range(4):
                await here_.press("tab")
                await here_.pilot.pause(0.1)
                assert here_.app.is_running, view


def test_without_textual_it_says_how_to_install_it(tmp_path):
    (tmp_path / "textual.py").write_text("raise ModuleNotFoundError('textual')\n")
    environment = {**os.environ, "PYTHONPATH": str(tmp_path), "HOME": str(tmp_path)}
    from tests.agent.shell.commands.test_agent_setup import Seat
    from tests.agent.shell.commands.test_arrange import Owner

    owner = Owner(tmp_path, "anna")
    owner.env |= {"PYTHONPATH": str(tmp_path)}
    seat = Seat(owner, "inbox")
    seat.sees("[inbox]'")
    assert seat.close() == 1
    done = typed(("agent", "--data", str(tmp_path / "anna"), "inbox"), environment)
    assert "no_terminal" in done.stderr


async def test_a_fault_of_ours_ends_the_screen_and_is_raised_behind_it_without_anybodys_values(
    tmp_path, capsys
):
    class Broken(Here):
        async def call(self, operation, /, **given):
            if operation is operations.PENDING:
                raise ZeroDivisionError("a fault")
            return await super().call(operation, **given)

    async with Relay(tmp_path / "relay") as relay:
        await registered(relay, tmp_path / "anna", "anna", "ben")
    async with Agent(tmp_path / "anna") as anna:
        await anna.profile({"dietary": "a secret dish"})
        app = Inbox(Broken(anna))
        async with app.run_test() as pilot:
            async with asyncio.timeout(PATIENCE):
                while app.return_value is None:
                    await pilot.pause(0.02)
        assert isinstance(app.fault, ZeroDivisionError)
    assert "secret" not in "".join(capsys.readouterr())


def test_lines_are_drawn_as_they_are():
    assert str(inbox.drawn([[("key", "y"), ("", " [b]yes[/b]")], []])) == "y [b]yes[/b]\n"


@pytest.mark.spec("A2ACP-273")
@pytest.mark.parametrize(
    ("state", "style"),
    [
        ("COMPLETED", "chosen"), ("DECLINED", "warn"), ("EXPIRED", "warn"), ("STALLED", "notice"),
        ("NEGOTIATING", "who"),
    ],
)  # fmt: skip
def test_how_a_thread_stands_is_seen_by_its_colour(state, style):
    one = ThreadLine(
        thread_id="thr_1", with_="agent:ben@relay.example", state=state, flags=[], summary="Dinner",
        began="2026-03-23T09:00:00Z",
    )  # fmt: skip
    assert inbox._thread_row(one) == [
        [("", "Dinner")],
        [(style, state.lower()), ("dim", "  ben")],
        [],
    ]


@pytest.mark.spec("A2ACP-232", "A2ACP-273")
def test_notices_and_receipts_are_rows_in_styles_that_there_are():
    at = "2026-03-23T09:00:00Z"
    told = Disclosure(
        to="agent:ben@relay.example", field="dietary", value="no meat", basis="user_approved",
        via="inbox", at=at, thread_id="thr_1", packet_id="pkt_1", question_id=None,
    )  # fmt: skip
    news = NoticeResult(thread_id="thr_1", code="completed", text="x" * 99, about=None, at=at)
    notice, receipt = inbox._notice_row(news), inbox._receipt_row(told)
    assert [style for line in notice for style, _ in line] == ["notice", "dim"]
    assert notice[0][0][1].endswith("…")
    assert receipt == [[("", f"{'dietary':<18} "), ("who", "ben")]]
    shown = inbox._receipt(told, 80)
    assert [line[0][1].strip() for line in shown] == [
        "to", "what", "value", "allowed by", "said at", "when", "thread",
    ]  # fmt: skip
    assert [line[1][1] for line in shown[:3]] == ["ben@relay.example", "dietary", "no meat"]
    assert inbox._receipt(structs.replace(told, value=None), 80)[2][1][1] == "forgotten"
    assert {style for line in (*notice, *receipt, *shown) for style, _ in line} <= {"", *inbox.STYLES}
