"""A personal agent whose disk is full, whose relay is away, whose calendar is away, whose clock was set back."""

from __future__ import annotations

import asyncio
import contextlib

import pytest

from tacit.agent.consent.answering import Answer
from tacit.agent.features import FOLD
from tacit.agent.shell.io.agent import Agent
from tacit.base.errors import Unavailable
from tacit.base.io.system import SystemEntropy
from tacit.base.moment import SECOND, parse_rfc3339
from tests.agent.arrangements import MONDAY, pair, registered, share
from tests.agent.scheduling.calendars.radicale import USER, RadicaleProcess
from tests.faults.test_faults import FailingDisk
from tests.relay_support import Relay, free_port

HOUR = 3600 * SECOND
DINNER = "dinner on Friday evening"


def state(agent: Agent) -> dict:
    return {name: dict(agent.journal.book.by_name()[name]) for name in FOLD.always_loaded}


def questions(agent: Agent) -> list[str]:
    return [name for name in agent.journal.book.questions if agent.journal.book.questions[name].is_open]


@pytest.mark.spec("A2ACP-006", "A2ACP-215", "A2ACP-216")
async def test_whichever_write_fails_nothing_is_half_done_and_the_agent_goes_on(tmp_path):
    disk = FailingDisk("arranging-disk")
    failed = asked_whole = 0
    async with Relay(tmp_path / "relay") as relay:
        relay.clock.ahead += parse_rfc3339(MONDAY) - relay.clock.now()
        await registered(relay, tmp_path / "anna", "anna", "ben")
        ben = f"agent:ben@{relay.domain}"
        async with Agent(
            tmp_path / "anna", clock=relay.clock, entropy=SystemEntropy(), vfs=disk.name
        ) as anna:
            await anna.profile({"timezone": "Europe/London", "dietary": "no meat"})
            # How many writes a wish takes depends on the pages it touches: on until some come through whole.
            for writes in range(400):
                threads, asked = len(anna.journal.book.open_threads), len(questions(anna))
                disk.full, disk.writes_left = False, writes
                try:
                    await anna.ask(DINNER, [ben])
                    asked_whole += 1
                except Unavailable:
                    failed += 1
                disk.full, disk.writes_left = False, -1
                await anna.settle()
                # All of it or nothing: a thread that began has asked its question, once.
                begun = len(anna.journal.book.open_threads) - threads
                assert begun in {0, 1}
                assert len(questions(anna)) - asked == begun
                if asked_whole == 3:
                    break
            assert failed >= 5
            assert asked_whole == 3
            open_question = questions(anna)[0]
            disk.writes_left = 1
            with contextlib.suppress(Unavailable):
                await anna.answer(open_question, Answer(decline_all=True))
            disk.full, disk.writes_left = False, -1
            still_open = open_question in questions(anna)
            await anna.settle()
            live = state(anna)
        async with Agent(tmp_path / "anna", clock=relay.clock) as again:
            # What the disk has is what the agent believed.
            assert state(again) == live
            assert (open_question in questions(again)) == still_open
            if still_open:
                await again.answer(open_question, Answer(decline_all=True))
            assert open_question not in questions(again)
    disk.unregister()


@pytest.mark.spec("A2ACP-211", "A2ACP-107", "A2ACP-131")
async def test_a_relay_away_for_49_hours_is_told_and_what_waited_arrives_afterwards(tmp_path):
    async with pair(tmp_path) as (both, anna, ben):
        await ben.disconnect()
        begun = await anna.ask("dinner with ben on Friday evening")
        thread = begun["thread_id"]
        asked = await both.question(anna, "consent")
        url = anna.post.store.me().relay_url
        await anna.disconnect()
        anna.post.store.run("UPDATE identity SET relay_url=?", f"http://127.0.0.1:{free_port()}")
        anna.connect()
        await anna.answer(asked["question_id"], share(asked))
        await anna.settle()
        both.relay.clock.ahead += 49 * HOUR
        await anna.settle()
        told = [one["code"] for one in (await anna.notices())["notices"]]
        assert "relay_out_of_reach" in told or "stalled" in told, told
        assert anna.journal.book.threads[thread].is_open
        # Back again: the packet that waited arrives, once.
        await anna.disconnect()
        anna.post.store.run("UPDATE identity SET relay_url=?", url)
        anna.connect()
        ben.connect()
        wanted = await both.question(ben, "consent")
        assert wanted["thread_id"] == thread
        came = [one for one in ben.journal.book.threads[thread].packets if one.side == "them"]
        assert [one.type for one in came] == ["context"]

        # A clock that was set back changes nothing that was decided, and stops nothing.
        both.relay.clock.ahead -= 30 * 24 * HOUR
        before = ben.journal.book.threads[thread]
        await ben.settle()
        assert ben.journal.book.threads[thread] == before
        await ben.answer(wanted["question_id"], Answer(decline_all=True))
        assert await both.state(ben, thread, "INITIATED", "NEGOTIATING", "PROPOSED", "STALLED")


@pytest.mark.spec("A2ACP-077")
async def test_a_calendar_that_is_away_or_refuses_its_password_offers_no_time(tmp_path):
    async with Relay(tmp_path / "relay") as relay:
        relay.clock.ahead += parse_rfc3339(MONDAY) - relay.clock.now()
        await registered(relay, tmp_path / "anna", "anna", "ben")
        (tmp_path / "radicale").mkdir()
        server = RadicaleProcess(tmp_path / "radicale")
        server.start()
        try:
            url = await asyncio.to_thread(server.calendar, "home")
            async with Agent(tmp_path / "anna", clock=relay.clock) as anna:
                await anna.profile({"timezone": "Europe/London"})

                password = server.password_file.read_text("utf-8")
                file = str(server.password_file)
                definition = {"kind": "caldav", "url": url, "user": USER, "password_file": file}
                await anna.add_calendar("home", definition)

                async def offered() -> bool:
                    """Whether a dinner asked for now would offer times."""
                    thread = (await anna.ask(DINNER, [f"ben@{relay.domain}"]))["thread_id"]
                    shown = [one for one in (await anna.pending())["questions"] if one["thread_id"] == thread]
                    assert anna.journal.book.threads[thread].is_open
                    return "time_windows" in [field["field"] for one in shown for field in one["fields"]]

                server.password_file.write_text("wrong\n", "utf-8")
                assert not await offered()
                server.password_file.write_text(password, "utf-8")
                assert await offered()
                server.stop()
                assert not await offered()
                server.start()
                assert await offered()
        finally:
            server.stop()
