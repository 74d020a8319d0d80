"""The draft's dinner, end to end over a real relay."""

from __future__ import annotations

import pytest

from tacit.agent.consent.answering import Answer
from tests.agent.arrangements import pair, share


@pytest.mark.spec("A2ACP-008")
async def test_two_people_say_one_sentence_each_and_have_a_dinner(tmp_path):
    async with pair(tmp_path) as (both, anna, ben):
        begun = await anna.ask("dinner with ben on Friday evening")
        thread = begun["thread_id"]
        asked = await both.question(anna, "consent")
        await anna.answer(asked["question_id"], share(asked))
        wanted = await both.question(ben, "consent")
        assert {one["field"] for one in wanted["fields"]} >= {"time_windows"}
        await ben.answer(wanted["question_id"], share(wanted))
        for person in (anna, ben):
            proposed = await both.question(person, "checkpoint")
            await person.answer(proposed["question_id"], Answer(confirm=True))
        for person in (anna, ben):
            ended = await both.state(person, thread, "COMPLETED")
            assert [one["status"] for one in ended["actions"] if one["executor"] == "us"] == ["done"]


async def test_a_name_that_the_address_says_already_holds_nothing_back(tmp_path):
    async with pair(tmp_path) as (both, anna, ben):
        await anna.profile({"name": "Anna"})
        await anna.ask("dinner with ben on Friday evening")
        asked = await both.question(anna, "consent")
        await anna.answer(asked["question_id"], share(asked))
        assert (await both.question(ben, "consent"))["counterpart"] == anna.me
