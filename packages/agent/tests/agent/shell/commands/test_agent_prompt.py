"""`tacit agent` alone at a terminal: what waits, one key an answer, in step with every other face."""

from __future__ import annotations

import asyncio
import contextlib
import io
import os
import re

import pytest
from prompt_toolkit.data_structures import Size
from prompt_toolkit.input import create_pipe_input
from prompt_toolkit.output.vt100 import Vt100_Output

from tacit.a2acp.consent.tiers import canonical
from tacit.agent import Agent
from tacit.agent.consent.answering import Answer
from tacit.agent.shell.commands.desk.line import Here, Running, here, line
from tacit.agent.shell.commands.desk.prompt import LOST, Screen
from tacit.agent.shell.io import door
from tacit.base import agent_operations as operations
from tacit.base.errors import Refused
from tacit.base.moment import SECOND
from tests.agent.arrangements import pair, registered, share
from tests.relay_support import PATIENCE, Relay

DINNER = "dinner with ben on Friday evening"
CODES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


class At:
    """A person at a terminal: keys go in by a pipe, what is drawn is kept."""

    def __init__(self, screen, keys, drawn, running) -> None:
        self.screen, self._keys, self._drawn, self._running = screen, keys, drawn, running

    def type(self, text: str) -> None:
        self._keys.send_text(text)

    def drawn(self) -> str:
        """All that was ever drawn, without colours and movements."""
        return CODES.sub("", self._drawn.getvalue())

    async def sees(self, text: str) -> None:
        async with asyncio.timeout(PATIENCE):
            while text not in self.drawn():
                assert not self._running.done(), self._running
                await asyncio.sleep(0.01)

    async def until(self, holds) -> None:
        async with asyncio.timeout(PATIENCE):
            while not holds():
                assert not self._running.done(), self._running
                await asyncio.sleep(0.01)

    async def card(self, kind: str) -> None:
        await self.until(
            lambda: self.screen.desk.card is not None and self.screen.desk.card.question.kind == kind
        )

    async def ends(self) -> str:
        return await asyncio.wait_for(self._running, PATIENCE)


@contextlib.asynccontextmanager
async def at(behind, columns: int = 100):
    drawn = io.StringIO()
    with create_pipe_input() as keys:
        screen = Screen(
            behind, keys=keys, output=Vt100_Output(drawn, lambda: Size(40, columns), term="xterm")
        )
        running = asyncio.ensure_future(screen.run())
        try:
            yield At(screen, keys, drawn, running)
        finally:
            running.cancel()
            await asyncio.gather(running, return_exceptions=True)


@pytest.mark.spec("A2ACP-273", "A2ACP-232", "A2ACP-234", "A2ACP-143")
async def test_a_dinner_is_arranged_by_keys_at_two_terminals(tmp_path):
    async with pair(tmp_path) as (both, anna, ben):
        thread = (await anna.ask(DINNER))["thread_id"]
        async with at(Here(anna)) as left, at(Here(ben)) as right:
            await left.card("consent")
            # The first day: how it goes, and that this is the first time with Ben (scenario 8).
            await left.sees("How this goes:")
            await left.sees("this is the first time with ben")
            assert (await anna.pending())["questions"]
            left.type("y")
            await left.sees("✓ shared dietary, time_windows: ben")
            await both.question(ben, "consent")
            await right.card("consent")
            # Field by field: no to what is first, yes to the rest.
            fields = [one.field for one in right.screen.desk.card.question.fields]
            right.type(str(fields.index("time_windows") + 1) + "\r")
            await right.sees("✓ shared time_windows: anna")
            await both.question(anna, "checkpoint")
            await left.card("checkpoint")
            left.type("y")
            await left.sees("✓ confirmed: ben")
            await both.question(ben, "checkpoint")
            await right.card("checkpoint")
            right.type("y")
            await both.state(anna, thread, "COMPLETED")
            # What happened is told without being asked for.
            await left.sees("is done")
            left.type("q")
            assert await left.ends() == "quit"
        told = [one["via"] for one in (await anna.disclosures())["disclosures"] if one["via"]]
        assert set(told) == {"terminal"}
        ben_told = {one["field"] for one in (await ben.disclosures())["disclosures"]}
        assert "dietary" not in ben_told


@pytest.mark.spec("A2ACP-273", "A2ACP-274")
async def test_a_question_answered_on_the_page_closes_here_with_a_line_and_the_next_comes_up(tmp_path):
    async with pair(tmp_path) as (both, anna, _ben), door.served(anna, anna.folder):
        await anna.ask(DINNER)
        asked = await both.question(anna, "consent")
        # Over the socket of an agent that runs, as beside `tacit agent run`.
        async with at(Running(anna.folder)) as here_:
            await here_.card("consent")
            here_.type("e")
            await here_.until(lambda: here_.screen.desk.card.mode == "edit")
            here_.type(", no nuts")
            await here_.until(lambda: here_.screen.desk.card.draft.text.endswith("no nuts"))
            await anna.answer(asked["question_id"], Answer(share=share(asked).share, via="page"))
            await here_.sees("answered on the page")
            # What had been typed is not lost.
            await here_.sees("what you had typed: anna eats no meat, no nuts")
            await here_.sees("Nothing waits for you")
            await anna.ask("lunch with ben on Saturday")
            await here_.card("consent")


async def test_a_draft_outlives_other_things_that_happen(tmp_path):
    async with pair(tmp_path) as (both, anna, _ben):
        await anna.ask(DINNER)
        await both.question(anna, "consent")
        async with at(Here(anna)) as here_:
            await here_.card("consent")
            first = here_.screen.desk.card.question_id
            here_.type("e, no nuts")
            await here_.until(lambda: here_.screen.desk.card.draft.text.endswith("no nuts"))
            other = (await anna.ask("lunch with ben on Saturday"))["thread_id"]
            await here_.until(lambda: len(here_.screen.desk.cards) == 2)
            await anna.stop(other)
            await here_.until(lambda: len(here_.screen.desk.cards) == 1)
            assert here_.screen.desk.card.question_id == first
            here_.type("\ry")
            await here_.sees("✓ shared dietary")
        (told,) = [one for one in (await anna.disclosures())["disclosures"] if one["field"] == "dietary"]
        assert told["value"] == "anna eats no meat, no nuts"


@pytest.mark.spec("A2ACP-131")
async def test_a_question_waits_until_wednesday_when_it_is_put_aside_on_monday(tmp_path):
    async with pair(tmp_path) as (both, anna, ben):
        thread = (await anna.ask(DINNER))["thread_id"]
        await both.question(anna, "consent")
        async with at(Here(anna)) as monday:
            await monday.card("consent")
            monday.type("s")
            await monday.sees("1 for later")
            monday.type("q")
            assert await monday.ends() == "quit"
        both.relay.clock.ahead += 2 * 24 * 3600 * SECOND - 3600 * SECOND
        await both.settled()
        assert not (await ben.threads())["threads"]
        # In another face, by somebody on the way: the thread goes on as if it had been a minute.
        asked = await both.question(anna, "consent")
        await anna.answer(asked["question_id"], Answer(share=share(asked).share, via="page"))
        await both.question(ben, "consent")
        assert (await anna.thread(thread))["state"] in {"INITIATED", "NEGOTIATING"}


async def test_two_that_answer_at_the_same_moment_are_told_who_was_first(tmp_path):
    async with pair(tmp_path) as (both, anna, _ben):
        await anna.ask(DINNER)
        await both.question(anna, "consent")

        class Slow(Here):
            async def call(self, operation, /, **given):
                if operation is operations.ANSWER:
                    await super().call(operation, **{**given, "via": "page"})
                return await super().call(operation, **given)

        async with at(Slow(anna)) as here_:
            await here_.card("consent")
            here_.type("n")
            await here_.sees("it was answered elsewhere first")
            await here_.sees("Nothing waits for you")


async def test_why_explains_and_a_refused_answer_keeps_the_card(tmp_path):
    async with pair(tmp_path) as (both, anna, _ben):
        await anna.ask(DINNER)
        await both.question(anna, "consent")
        async with at(Here(anna)) as here_:
            await here_.card("consent")
            here_.type("?")
            await here_.sees("Nothing of this leaves before you answer")
            number = [one.field for one in here_.screen.desk.card.question.fields].index("time_windows") + 1
            here_.type(f"{number}")
            here_.type("e\x15sometime\ry")
            await here_.until(lambda: bool(here_.screen.desk.card and here_.screen.desk.card.told))
            assert here_.screen.desk.card.values == {"time_windows": "sometime"}
            assert (await anna.pending())["questions"]


@pytest.mark.spec("A2ACP-273")
async def test_without_a_running_agent_the_terminal_is_the_agent_and_answers_at_its_socket(tmp_path):
    async with Relay(tmp_path / "relay") as relay:
        await registered(relay, tmp_path / "anna", "anna", "ben")
        async with line(tmp_path / "anna", lambda: Agent(tmp_path / "anna", clock=relay.clock)) as behind:
            assert isinstance(behind, Here)
            async with at(behind) as here_:
                await here_.sees("Nothing waits for you")
                await asyncio.wait_for(behind._agent.connection.connected.wait(), PATIENCE)
                # Another command finds this agent at the folder's socket; what it asks comes up here.
                async with line(tmp_path / "anna", lambda: None) as other:
                    assert isinstance(other, Running)
                    await other.call(operations.ASK, text=DINNER)
                await here_.card("consent")
                here_.type("\x03")
                assert await here_.ends() == "quit"
        async with Agent(tmp_path / "anna", clock=relay.clock) as anna:
            assert len((await anna.pending())["questions"]) == 1


async def test_when_the_running_agent_stops_the_face_says_so_and_its_draft_goes_on(tmp_path):
    async with Relay(tmp_path / "relay") as relay:
        await registered(relay, tmp_path / "anna", "anna", "ben")
        async with contextlib.AsyncExitStack() as stack:
            behind = await stack.enter_async_context(here(Agent(tmp_path / "anna", clock=relay.clock)))
            await behind.call(operations.PROFILE, changes={"dietary": "vegan"})
            await behind.call(operations.ASK, text=DINNER)
            async with at(Running(tmp_path / "anna")) as face:
                await face.card("consent")
                face.type("e!")
                await face.until(lambda: face.screen.desk.card.draft.text == "vegan!")
                await stack.aclose()
                assert await face.ends() == LOST
                former = face.screen
        async with Agent(tmp_path / "anna", clock=relay.clock) as anna:
            again = former.again(Here(anna))
            await again.desk.look()
            assert again.desk.card.draft.text == "vegan!"


def _open(agent) -> set[str]:
    book = agent.journal.book
    return {name for name in book.questions if book.questions[name].is_open}


@pytest.mark.spec("A2ACP-126")
async def test_always_share_is_offered_once_dismissed_twice_and_never_again(tmp_path):
    """Scenario 9: the third thread with Ben."""
    async with pair(tmp_path) as (_both, anna, _ben), at(Here(anna)) as here_:
        offers = []
        for number in range(9):
            await anna.ask(DINNER)
            await here_.card("consent")
            before = here_.screen.desk.card.question_id
            here_.type("y")
            await here_.until(lambda before=before: before not in here_.screen.desk.cards)
            # What followed from the answer is here too.
            await here_.until(lambda: set(here_.screen.desk.cards) == _open(anna))
            kinds = [one.question.kind for one in here_.screen.desk.cards.values()]
            while "promotion" in kinds:
                await here_.card("promotion")
                offers.append((number, here_.screen.desk.card.question.about["field"]))
                gone = here_.screen.desk.card.question_id
                here_.type("n")
                await here_.until(lambda gone=gone: gone not in here_.screen.desk.cards)
                kinds = [one.question.kind for one in here_.screen.desk.cards.values()]
        of_time = [number for number, name in offers if name == "specific_availability"]
        # After the third yes, after three more, and then no more.
        assert of_time == [2, 5]
        # The hint came with the third thread, once.
        assert here_.drawn().count("The third thing with ben") == 1


@pytest.mark.spec("A2ACP-125", "A2ACP-130")
async def test_ten_threads_in_a_day_ask_at_most_ten_questions_and_none_for_what_was_promoted(tmp_path):
    """Scenario 6: approvals fatigue."""
    async with pair(tmp_path) as (_both, anna, _ben), at(Here(anna)) as here_:
        asked, promoted = [], set()
        for _ in range(10):
            await anna.ask(DINNER)
            await anna.settle()
            await here_.screen.desk.look()
            while (card := here_.screen.desk.card) is not None:
                asked.append(card.question.kind)
                # What was promoted is in no question any more.
                assert promoted.isdisjoint(canonical(anna.outside.policy(), one.field) for one in card.fields)
                if card.question.kind == "promotion":
                    promoted.add(card.question.about["field"])
                here_.type("y")
                await here_.until(lambda gone=card.question_id: gone not in here_.screen.desk.cards)
        assert promoted == {"dietary", "specific_availability"}
        # Three times what may go, once for each field whether it may go for good, and then nothing.
        assert asked == ["consent", "consent", "consent", "promotion", "promotion"]
        assert len((await anna.threads())["threads"]) == 10


def test_without_a_terminal_it_prints_what_waits_and_ends(tmp_path):
    from tests.typed import typed

    environment = {**os.environ, "XDG_DATA_HOME": str(tmp_path), "HOME": str(tmp_path), "NO_COLOR": "1"}
    none = typed(("agent", "--data", str(tmp_path / "none")), environment)
    assert none.returncode == 2
    assert "tacit agent demo" in none.stdout
    asyncio.run(_with_a_question(tmp_path))
    told = typed(("agent", "--data", str(tmp_path / "anna")), environment)
    assert told.returncode == 0, told
    assert "May this go to ben@" in told.stdout
    assert "tacit agent answer qst_" in told.stdout
    # The whole screen says what it needs, too.
    whole = typed(("agent", "--data", str(tmp_path / "anna"), "inbox"), environment)
    assert whole.returncode == 1
    assert "no_terminal" in whole.stderr


async def _with_a_question(tmp_path) -> None:
    async with Relay(tmp_path / "relay") as relay:
        await registered(relay, tmp_path / "anna", "anna", "ben")
    async with Agent(tmp_path / "anna") as anna:
        await anna.ask(DINNER)


async def test_what_ends_the_agent_in_this_process_ends_the_face_with_its_reason(tmp_path):
    async with Relay(tmp_path / "relay") as relay:
        await registered(relay, tmp_path / "anna", "anna", "ben")
        with pytest.raises(Refused, match="another device"):
            await _superseded(relay, tmp_path / "anna")


async def _superseded(relay, folder) -> None:
    """A face whose agent's line ends by itself, as when another device speaks for the address."""
    async with here(Agent(folder, clock=relay.clock)) as behind, at(behind) as face:
        await face.sees("Nothing waits for you")
        agent = behind._agent
        agent._line.cancel()
        await asyncio.gather(agent._line, return_exceptions=True)
        agent._line = asyncio.get_running_loop().create_future()
        agent._line.set_exception(Refused("superseded", "another device speaks for this address"))
        agent.woken.set()
        await face.ends()


@pytest.mark.spec("A2ACP-133")
async def test_a_key_that_was_pressed_for_one_question_answers_no_other(tmp_path):
    async with pair(tmp_path) as (_both, anna, _ben), at(Here(anna)) as person:
        for day in ("Friday", "Saturday"):
            await anna.ask(f"dinner with ben on {day} evening")
        await person.card("consent")
        await person.until(lambda: len(person.screen.desk.cards) == 2)
        first = person.screen.desk.current
        # Twice, in one breath: the second is still about the first question.
        person.type("yy")
        await person.until(lambda: person.screen.desk.current not in {"", first})
        await anna.settle()
        answered = [one.question_id for one, _ in anna.journal.records("x.a2acp.answered")]
        assert answered == [first]
        person.type("q")
        await person.ends()
