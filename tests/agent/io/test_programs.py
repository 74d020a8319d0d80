"""What a program of the owner's can have done: wishes, judged like the agent's own packets, and no answer."""

from __future__ import annotations

import asyncio
import json

import pytest
from tests.agent.arrangements import pair, share

from tacit.agent.engine.answering import Answer
from tacit.agent.io import calls
from tacit.base.errors import Refused

DINNER = {"category": "scheduling", "summary": "dinner on Friday evening", "urgency": "normal"}
PLAIN = {"category": "message", "summary": "about the trip", "urgency": "normal"}


async def asked(agent, tool: str, **given):
    return await calls.call(agent, "program", {"tool": tool, "arguments": given})


async def refused(agent, tool: str, **given) -> Refused:
    with pytest.raises(Refused) as found:
        await asked(agent, tool, **given)
    return found.value


@pytest.mark.spec("A2ACP-264", "A2ACP-265", "A2ACP-266")
async def test_a_programs_wish_for_a_dinner_is_arranged_and_each_word_of_it_is_the_owners(tmp_path):
    async with pair(tmp_path) as (both, anna, ben):
        # Even an owner who lets its own wishes go unasked has said nothing here.
        await anna.choose("implicit_consent", "auto")
        await anna.choose("autonomy", "high")
        begun = await asked(anna, "send_context", to=ben.me, intent=DINNER, context={})
        thread_id = begun["thread_id"]
        question = begun["questions"][0]
        assert question["kind"] == "consent"
        assert {one["field"] for one in question["fields"]} == {"time_windows", "dietary"}
        assert all(set(one) == {"field", "reason", "priority"} for one in question["fields"])
        assert "eats no meat" not in json.dumps(begun)
        owners = await both.question(anna, "consent")
        assert not any(one.get("ticked") for one in owners["fields"])
        assert anna.journal.book.threads[thread_id].packets == ()
        # The same wish again is the same thread; nothing more is asked.
        again = await asked(anna, "send_context", to=ben.me, intent=DINNER, context={})
        assert again["thread_id"] == thread_id
        assert len((await anna.pending())["questions"]) == 1
        early = await refused(
            anna, "send_context", thread_id=thread_id, context={"timezone": "Europe/London"}
        )
        assert (early.code, early.details["question_id"]) == ("owner_is_asked", question["question_id"])
        await anna.answer(question["question_id"], share(owners))
        theirs = await both.question(ben, "consent")
        await ben.answer(theirs["question_id"], share(theirs))
        checkpoint = await both.question(anna, "checkpoint")
        seen = await asked(anna, "list_pending")
        assert [(one["kind"], one["fields"]) for one in seen["questions"] if one["kind"] == "checkpoint"] == [
            ("checkpoint", [])
        ]
        late = await refused(anna, "request_context", thread_id=thread_id, needs=[NEED])
        assert late.code == "too_late"
        await anna.answer(checkpoint["question_id"], Answer(confirm=True))
        await ben.answer((await both.question(ben, "checkpoint"))["question_id"], Answer(confirm=True))
        await both.state(anna, thread_id, "COMPLETED")


NEED = {"field": "favourite_colour", "reason": "to paint the fence", "priority": "required"}


@pytest.mark.spec("A2ACP-265", "A2ACP-266", "A2ACP-072")
async def test_a_yes_to_one_value_is_no_yes_to_another(tmp_path):
    async with pair(tmp_path) as (both, anna, ben):
        begun = await asked(
            anna, "send_context", to=ben.me, intent=PLAIN, context={"timezone": "Europe/London"}, needs=[NEED]
        )
        thread_id = begun["thread_id"]
        assert begun["questions"] == []
        await both.question(ben, "consent")
        given = {"thread_id": thread_id, "context": {"dietary": "anna eats no meat"}}
        first = await refused(anna, "send_context", **given)
        assert (first.code, first.details["fields"]) == ("consent_needed", ["dietary"])
        # The same again asks nobody twice; another value does not either while the question stands.
        repeated = await refused(anna, "send_context", **given)
        assert repeated.details["question_id"] == first.details["question_id"]
        assert len((await anna.pending())["questions"]) == 1
        owners = await both.question(anna, "consent")
        await anna.answer(owners["question_id"], share(owners))
        other = {"thread_id": thread_id, "context": {"dietary": "anna has an allergy"}}
        swapped = await refused(anna, "send_context", **other)
        assert swapped.code == "consent_needed"
        await anna.answer((await both.question(anna, "consent"))["question_id"], Answer(decline_all=True))
        no = await refused(anna, "send_context", **other)
        assert no.code == "declined_by_owner"
        sent = [one for one, _ in anna.journal.records("x.a2acp.sent")]
        bodies = json.dumps([anna.vault.packet(ben.me, one.packet_id, "us") for one in sent])
        assert "allergy" not in bodies


@pytest.mark.spec("A2ACP-265", "A2ACP-109", "A2ACP-047")
async def test_turns_needs_and_answers_of_a_program_keep_the_rules_of_a_thread(tmp_path):
    async with pair(tmp_path) as (both, anna, ben):
        begun = await asked(anna, "request_context", to=ben.me, intent=PLAIN, needs=[NEED])
        thread_id, cursor = begun["thread_id"], begun["cursor"]
        again = await refused(anna, "request_context", thread_id=thread_id, needs=[NEED])
        assert again.code == "already_asked"
        unasked = await refused(
            anna, "respond_context", thread_id=thread_id, context_provided={"timezone": "Europe/London"}
        )
        assert (unasked.code, unasked.details["fields"]) == ("not_asked", ["timezone"])
        waiting = asyncio.ensure_future(asked(anna, "wait_for_packet", cursor=cursor, timeout_seconds=20))
        # Ben's own program answers what it was asked: Ben is asked, with the value that it found.
        await both.question(ben, "consent")
        answer = {"thread_id": thread_id, "context_provided": {"favourite_colour": "green"}}
        held = await refused(ben, "respond_context", **answer)
        assert held.code == "consent_needed"
        question = await both.question(ben, "consent")
        assert [one["values"] for one in question["fields"]] == [["green"]]
        assert question["question_id"] == held.details["question_id"]
        await ben.answer(question["question_id"], Answer(share={"favourite_colour": None}))
        await both.settled()
        arrived = await waiting
        assert arrived["untrusted"] is True
        assert [(one["type"], one["fields"].get("context_provided")) for one in arrived["packets"]] == [
            ("context_response", {"favourite_colour": "green"})
        ]
        nothing = await asked(anna, "wait_for_packet", cursor=arrived["cursor"], timeout_seconds=0)
        assert (nothing["packets"], nothing["timed_out"]) == ([], True)
        seen = await asked(anna, "get_thread", thread_id=thread_id)
        assert seen["received"] == {"favourite_colour": "green"}


@pytest.mark.spec("A2ACP-265", "A2ACP-145", "A2ACP-266")
async def test_a_program_proposes_no_time_that_its_owner_did_not_release(tmp_path):
    async with pair(tmp_path) as (both, anna, ben):
        helpful = {**NEED, "priority": "helpful"}
        begun = await asked(anna, "request_context", to=ben.me, intent=PLAIN, needs=[NEED])
        required = begun["thread_id"]
        friday = {"date": "2026-03-27", "time": "15:00-15:30", "timezone": "Europe/London"}
        proposal = {"summary": "A call on Friday at three", "details": friday}
        early = await refused(anna, "propose_resolution", thread_id=required, proposal=proposal)
        assert early.code == "too_early"
        other = {**PLAIN, "summary": "about the fence"}
        begun = await asked(anna, "request_context", to=ben.me, intent=other, needs=[helpful])
        thread_id = begun["thread_id"]
        past = {**proposal, "details": {**friday, "date": "2026-03-20"}}
        gone = await refused(anna, "propose_resolution", thread_id=thread_id, proposal=past)
        assert gone.code == "past"
        # To name a time is to say that one has it: the owner is asked first, about these very times.
        held = await refused(anna, "propose_resolution", thread_id=thread_id, proposal=proposal)
        assert (held.code, held.details["fields"]) == ("consent_needed", ["time_windows"])
        owners = await both.question(anna, "consent")
        await anna.answer(owners["question_id"], share(owners))
        later = {**proposal, "details": {**friday, "time": "16:00-16:30"}}
        swapped = await refused(anna, "propose_resolution", thread_id=thread_id, proposal=later)
        assert swapped.code == "consent_needed"
        await anna.answer((await both.question(anna, "consent"))["question_id"], Answer(decline_all=True))
        no = await refused(anna, "propose_resolution", thread_id=thread_id, proposal=later)
        assert no.code == "declined_by_owner"


@pytest.mark.spec("A2ACP-266", "A2ACP-145")
async def test_a_programs_proposal_stands_until_both_owners_have_confirmed_it(tmp_path):
    async with pair(tmp_path) as (both, anna, ben):
        begun = await asked(
            anna, "request_context", to=ben.me, intent=PLAIN, needs=[{**NEED, "priority": "helpful"}]
        )
        thread_id = begun["thread_id"]
        friday = {"date": "2026-03-27", "time": "15:00-15:30", "timezone": "Europe/London"}
        proposal = {"summary": "A call on Friday at three", "details": friday}
        await refused(anna, "propose_resolution", thread_id=thread_id, proposal=proposal)
        owners = await both.question(anna, "consent")
        await anna.answer(owners["question_id"], share(owners))
        sent = await asked(anna, "propose_resolution", thread_id=thread_id, proposal=proposal)
        assert sent["state"] == "PROPOSED"
        mine = await both.question(anna, "checkpoint")
        assert mine["proposal"]["details"]["date"] == "2026-03-27"
        theirs = await both.question(ben, "checkpoint")
        await ben.answer(theirs["question_id"], Answer(confirm=True))
        await both.settled()
        assert anna.journal.book.threads[thread_id].state == "PROPOSED"
        await anna.answer(mine["question_id"], Answer(confirm=True))
        await both.state(anna, thread_id, "COMPLETED")


@pytest.mark.spec("A2ACP-265")
async def test_there_are_no_spaces_yet_and_the_tools_say_so(tmp_path):
    async with pair(tmp_path) as (_, anna, _ben):
        assert await asked(anna, "list_spaces") == {"spaces": []}
        no = await refused(anna, "update_space", space_id="spc_1", changes={"name": "x"})
        assert no.code == "not_supported"
