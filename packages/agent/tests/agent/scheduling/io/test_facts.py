"""Facts of another program: in the place of our calendars, released like everything else, and a quiet tick."""

from __future__ import annotations

import json

import pytest

from tacit.a2acp.packets.windows import read_windows
from tacit.agent import Agent
from tacit.agent.brain.rules import Rules
from tacit.agent.consent.answering import Answer
from tacit.agent.shell.io import calls
from tacit.base.errors import Refused
from tests.agent.arrangements import pair, registered, share
from tests.agent.minds import minds
from tests.agent.scripted import Scripted
from tests.relay_support import Relay

FREE = {"start": "2026-03-27T18:00:00+00:00", "end": "2026-03-27T20:00:00+00:00"}


@pytest.mark.spec("A2ACP-268")
async def test_what_another_program_knows_of_the_calendar_is_used_and_nothing_beyond_it(tmp_path):
    async with pair(tmp_path) as (both, anna, _ben):
        facts = {"calendar": {"available": [FREE]}, "fields": {"dietary": "PERSIMMON"}}
        await anna.ask("dinner with ben on Friday evening", facts=facts)
        question = await both.question(anna, "consent")
        fields = {one["field"]: one["values"][0] for one in question["fields"]}
        assert fields["time_windows"] == [{"date": "2026-03-27", "time": "18:00+00:00/20:00+00:00"}]
        assert fields["dietary"] == "PERSIMMON"
        # Thursday was not looked at: it is not offered.
        other = await anna.ask("lunch with ben on Thursday", facts={"calendar": {"available": [FREE]}})
        asked = [one for one in (await anna.pending())["questions"] if one["thread_id"] == other["thread_id"]]
        assert not [field for one in asked for field in one["fields"] if field["field"] == "time_windows"]


@pytest.mark.spec("A2ACP-268", "A2ACP-071")
async def test_a_fact_that_was_not_released_leaves_in_no_other_words(tmp_path):
    async with pair(tmp_path) as (both, anna, ben):
        begun = await anna.ask(
            "dinner with ben on Friday evening to discuss PERSIMMON",
            facts={"calendar": {"available": [FREE]}, "fields": {"dietary": "PERSIMMON"}},
        )
        question = await both.question(anna, "consent")
        await anna.answer(question["question_id"], share={"time_windows": None}, decline={"dietary"})
        await both.settled()
        rows = ben.post.store.rows("SELECT payload FROM history WHERE direction='in'")
        assert "PERSIMMON" not in json.dumps([bytes(row[0]).decode() for row in rows])
        assert begun["thread_id"] in anna.journal.book.threads


def first_context(agent: Agent, peer: str) -> dict:
    """What the first packet of a thread told."""
    (first, *_), *_ = agent.journal.records("x.a2acp.sent")
    return agent.vault.packet(peer, first.packet_id, "us")["context"]


@pytest.mark.spec("A2ACP-268", "A2ACP-132")
async def test_facts_of_one_group_each_go_with_their_own_value(tmp_path):
    async with pair(tmp_path) as (both, anna, ben):
        fields = {"cuisine_preference": "thai", "venue_type": "quiet"}
        await anna.ask("dinner with ben on Friday evening", facts={"fields": fields})
        question = await both.question(anna, "consent")
        await anna.answer(question["question_id"], share(question))
        await both.settled()
        told = first_context(anna, ben.me)
        assert {name: told.get(name) for name in fields} == fields


@pytest.mark.spec("A2ACP-268", "A2ACP-132", "A2ACP-072")
async def test_a_declined_fact_goes_neither_itself_nor_with_the_value_of_a_shared_one(tmp_path):
    async with pair(tmp_path) as (both, anna, ben):
        fields = {"email": "anna@example.org", "phone": "0171 2345678"}
        begun = await anna.ask("dinner with ben on Friday evening", facts={"fields": fields})
        question = await both.question(anna, "consent")
        await anna.answer(
            question["question_id"],
            Answer(share={"email": None, "time_windows": None}, decline=frozenset({"phone"})),
        )
        await both.settled()
        told = first_context(anna, ben.me)
        assert (told.get("email"), "phone" in told) == ("anna@example.org", False)
        thread = anna.workspace().thread(begun["thread_id"])
        assert ("email" in thread.approved, "phone" in thread.refused) == (True, True)


@pytest.mark.spec("A2ACP-268", "A2ACP-071", "A2ACP-064")
async def test_facts_are_masked_in_the_prompt_that_reads_the_sentence_they_came_with(tmp_path):
    model = Scripted()
    async with minds(tmp_path, anna=model) as (_both, anna, ben):
        fields = {"dietary": "no pork please", "health_info": "epilepsy, migraine"}
        text = "dinner with ben on Friday evening, no pork please, no shellfish at all, as of my epilepsy"
        with pytest.raises(Refused, match="no shellfish at all"):
            # The owner is asked about what no goal carries; the model has read the sentence by then.
            await anna.ask(text, [ben.me], facts={"fields": fields})
        assert model.prompts
        for one in model.prompts:
            whole = (one.standing + one.words).casefold()
            # Neither the fact, nor the profile's own value of the same name.
            assert not [word for word in ("pork", "shellfish", "epilepsy") if word in whole]
        assert "⟨dietary⟩, ⟨dietary⟩, as of my ⟨health_info⟩" in model.prompts[0].words


@pytest.mark.spec("A2ACP-268")
async def test_standing_facts_are_for_threads_that_others_begin_and_hold_no_fields(tmp_path):
    async with pair(tmp_path) as (both, anna, ben):
        await anna.facts({"calendar": {"available": [FREE]}})
        with pytest.raises(Refused) as refused:
            await anna.facts({"fields": {"dietary": "x"}})
        assert refused.value.code == "bad_facts"
        await ben.ask("dinner with anna on Friday evening")
        theirs = await both.question(ben, "consent")
        await ben.answer(theirs["question_id"], share={one["field"]: None for one in theirs["fields"]})
        question = await both.question(anna, "consent")
        fields = {one["field"]: one["values"] for one in question["fields"]}
        assert fields["time_windows"] == [[{"date": "2026-03-27", "time": "18:00+00:00/20:00+00:00"}]]


class Counting(Rules):
    """The rules, and how often they were asked."""

    thoughts = 0

    async def think(self, task):
        self.thoughts += 1
        return await super().think(task)


@pytest.mark.spec("A2ACP-270")
async def test_a_tick_on_a_quiet_day_asks_no_brain_anything(tmp_path):
    async with Relay(tmp_path / "relay") as relay:
        await registered(relay, tmp_path / "anna", "anna")
        brain = Counting(read_windows)
        async with Agent(tmp_path / "anna", clock=relay.clock, brain=brain) as anna:
            for _ in range(3):
                assert await anna.tick(news=True) == {"open": 0, "pending": 0, "news": []}
            assert brain.thoughts == 0


@pytest.mark.spec("A2ACP-268")
async def test_facts_beyond_their_measure_are_refused_and_keep_nothing(tmp_path):
    async with pair(tmp_path) as (_, anna, ben):
        many = {"fields": {"dietary": "v" * 300_000}}
        with pytest.raises(Refused) as refused:
            await anna.ask("dinner with ben on Friday evening", facts=many)
        assert refused.value.code == "bad_facts"
        intent = {"category": "message", "summary": "about the trip", "urgency": "normal"}
        given = {"to": ben.me, "intent": intent, "context": many["fields"]}
        with pytest.raises(Refused) as refused:
            await calls.call(anna, "program", {"tool": "send_context", "arguments": given})
        assert refused.value.code == "bad_facts"
        assert list(anna.journal.book.open_threads) == []
