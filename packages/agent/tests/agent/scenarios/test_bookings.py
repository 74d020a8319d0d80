"""Dinners with a table: carried out once, undone when refused, recognised after a lost answer or a stop."""

from __future__ import annotations

import asyncio

import pytest

from tacit.agent.consent import answering
from tacit.agent.scheduling import acting
from tacit.agent.shell.io.agent import PAUSE
from tacit.base.errors import Refused
from tests.agent.arrangements import pair
from tests.agent.scenarios.booking import (
    YES,
    checkpoint,
    entries,
    proposed,
    reopened,
    restaurant,
    spoken,
    until,
)
from tests.agent.scheduling.calendars.texts import calendar


@pytest.mark.spec("A2ACP-008", "A2ACP-136", "A2ACP-166")
async def test_the_drafts_dinner_with_one_question_each_both_calendars_and_one_booking(tmp_path):
    """Scenario 1: four flows, one question each, both calendars, one booking; and 5: a lost answer."""
    async with restaurant() as place, pair(tmp_path) as (both, anna, ben):
        for one in (anna, ben):
            await one.add_handler("table", {"kind": "webhook", "url": place.url})
            (tmp_path / f"{one.folder.name}.ics").write_bytes(calendar())
            await one.add_calendar(
                "home", {"kind": "ics", "path": str(tmp_path / f"{one.folder.name}.ics"), "write": True}
            )
        # Ben's agent misses something, and asks for it.
        await anna.profile({"general_location_area": None})
        thread = await proposed(both, anna, ben, "dinner with ben on Friday evening")
        # The server books, and the line is cut before it can say so (scenario 5).
        place.cuts = 1
        for one in (anna, ben):
            question = await checkpoint(both, one, thread)
            await one.answer(question["question_id"], YES)
        await until(both, thread, "COMPLETED")
        for one in (anna, ben):
            ended = await one.thread(thread)
            asked = one.journal.records("x.a2acp.asked")
            assert [said.question.kind for said, _ in asked] == ["consent", "checkpoint"]
            assert entries(tmp_path / f"{one.folder.name}.ics") == 1
            assert {action["status"] for action in ended["actions"]} == {"done"}
        types = {(said["side"], said["type"]) for said in ended["history"]}
        # Context delivered, more context asked for and given, an outcome proposed and approved by both.
        assert {("them", "context"), ("us", "context_request"), ("them", "context_response")} <= types
        assert {("us", "resolution"), ("us", "resolution_response"), ("them", "resolution_response")} <= types
        assert len(place.booked) == 1
        # It was asked for again under the same name, and known.
        assert len(place.requests) == 2
        assert len(set(place.requests)) == 1
        told = (await anna.disclosures())["disclosures"]
        gate = next(said.question.question_id for said, _ in anna.journal.records("x.a2acp.asked"))
        assert {one["question_id"] for one in told if one["basis"] == "user_approved"} <= {gate, None}


@pytest.mark.spec("A2ACP-162", "A2ACP-167", "A2ACP-170", "A2ACP-216")
async def test_a_refused_table_takes_the_entries_back_and_a_stop_between_two_actions_doubles_nothing(
    tmp_path,
):
    """Scenario 3: booking refused after the entry; and 4: stopped between action 1 and 2."""
    async with restaurant() as place, pair(tmp_path) as (both, anna, ben):
        await anna.add_handler("table", {"kind": "webhook", "url": place.url})
        thread = await proposed(both, anna, ben, "dinner with ben this week in the evening")
        first = (await checkpoint(both, anna, thread))["proposal"]
        place.refuses = 1
        old = {}
        for one in (anna, ben):
            question = await checkpoint(both, one, thread)
            old[one] = question["question_id"]
            await one.answer(question["question_id"], YES)
        for one in (anna, ben):
            found = await checkpoint(both, one, thread)
            assert found["proposal"]["details"] == first["alternatives"][0]["details"]
            assert found["question_id"] != old[one]
            with pytest.raises(Refused, match="no longer open"):
                await one.answer(old[one], YES)
            await both.settled()
            assert entries(one.folder / "calendar.ics") == 0
            states = [step["to"] for step in (await one.thread(thread))["steps"] if "to" in step]
            assert [one for one in states if one != "ROLLBACK"][-3:] == ["FAILED", "NEGOTIATING", "PROPOSED"]
            # Ben has nothing to take back where Anna's word comes before the entry in his calendar.
            assert one is ben or states[-3] == "ROLLBACK"
        constraint = spoken(ben, anna, await ben.thread(thread), "them", "context")[-1]["context"]["conflict"]
        assert constraint["failed_action"] == "table"
        assert place.booked == {}

        # Now it is confirmed anew, and Anna's agent stops when the entry is made and the table is begun.
        question = await checkpoint(both, ben, thread)
        await ben.answer(question["question_id"], YES)
        await both.settled()
        question = await checkpoint(both, anna, thread)
        await _confirm_and_stop_after_the_entry(anna, thread, question["question_id"])
        assert entries(anna.folder / "calendar.ics") == 1
        assert place.booked == {}
        async with reopened(both, anna) as again:
            await until(both, thread, "COMPLETED")
            for one in (again, ben):
                assert entries(one.folder / "calendar.ics") == 1
            assert len(place.booked) == 1


async def _confirm_and_stop_after_the_entry(agent, thread, question):
    """Turn the wheel only until the first action is done and the second is begun."""
    await agent.decide(lambda ws: answering.answer(ws, question, YES))
    for _ in range(20):
        standing = agent.journal.book.threads[thread].proposal
        status = {one.action: one.status for one in standing.actions if one.executor == "us"}
        if status["calendar"] == acting.DONE:
            break
        await agent._act(thread)
        await agent.any_deed()
    await agent._act(thread)
    standing = agent.journal.book.threads[thread].proposal
    assert [one.status for one in standing.actions if one.executor == "us"] == [acting.DONE, acting.STARTED]


@pytest.mark.spec("A2ACP-168")
@pytest.mark.parametrize(
    ("undo", "pauses"), [(75, range(16, 25)), (1, range(2, 4))], ids=["unknown", "failed"]
)
async def test_an_undoing_that_does_not_succeed_is_tried_again_after_a_pause_and_then_the_owners_matter(
    tmp_path, undo, pauses
):
    """A service that answers "cannot say" is not asked for ever, and one that says no is asked three times."""
    async with pair(tmp_path) as (both, anna, ben):
        for name, do in (("cab", 0), ("table", 1)):
            program = tmp_path / name
            program.write_text(f'#!/bin/sh\ncat >/dev/null\n[ "$1" = do ] && exit {do}\nexit {undo}\n')
            program.chmod(0o755)
            await anna.add_handler(name, {"kind": "command", "argv": [str(program)]})
        thread = await proposed(both, anna, ben, "dinner with ben this week in the evening")
        for one in (anna, ben):
            question = await checkpoint(both, one, thread)
            await one.answer(question["question_id"], YES)
        passed = 0
        async with asyncio.timeout(60):
            for _ in range(40):
                await both.settled()
                asked = [one for one in (await anna.pending())["questions"] if one["kind"] == "failure"]
                if asked:
                    break
                both.relay.clock.ahead += PAUSE
                passed += 1
        assert passed in pauses
        assert "cab" in asked[0]["about"]["reason"]
        await anna.answer(asked[0]["question_id"], dismiss=True)
        assert anna.journal.book.threads[thread].state in {"NEGOTIATING", "PROPOSED"}
