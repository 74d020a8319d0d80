"""People: an excuse, something urgent, a stranger, one evening for two wishes, an agent that was off."""

from __future__ import annotations

import asyncio

import msgspec
import pytest

from tacit.a2acp.packets.windows import read_windows
from tacit.agent import Agent
from tacit.agent.brain import port
from tacit.agent.brain.rules import Rules
from tacit.agent.consent import sending
from tacit.agent.consent.answering import Answer
from tacit.agent.scheduling import asking
from tacit.agent.scheduling.goal import Need
from tacit.agent.scheduling.view import view_of
from tacit.base.errors import Refused
from tacit.base.moment import parse_rfc3339
from tests.agent.arrangements import MONDAY, pair, registered, share
from tests.agent.scenarios.booking import YES, checkpoint, proposed, reopened, spoken, until
from tests.agent_support import INTENT, Person, cleared
from tests.relay_support import PATIENCE, Relay

HOUR = 3600 * 1_000_000
REASON = "she would rather stay at home with her cat"


def on_disk(folder, text: str) -> bool:
    """Whether a text lies anywhere in an agent's folder, as it is."""
    return any(text.encode() in path.read_bytes() for path in folder.rglob("*") if path.is_file())


@pytest.mark.spec("A2ACP-147", "A2ACP-148", "A2ACP-149", "A2ACP-052")
async def test_an_excuse_is_seen_before_it_goes_and_the_real_reason_is_nowhere(tmp_path):
    """Scenario 14; and 19: two threads, one free evening; six needs."""
    async with pair(tmp_path) as (both, anna, ben):
        thread = await proposed(both, anna, ben, "dinner with ben on Thursday or Friday evening")
        question = await checkpoint(both, ben, thread)
        before = question["proposal"]["details"]
        text = question["about"]["excuses"]["again"]
        await ben.answer(question["question_id"], Answer(excuse="again"))
        await both.settled()
        said = spoken(anna, ben, await anna.thread(thread), "them", "resolution_response")[-1]
        assert (said["message_to_other_agent"], said["reason_class"]) == (text, "scheduling_conflict")
        found = await checkpoint(both, ben, thread)
        assert found["proposal"]["details"] != before

        # A caller that says why says it to nobody.
        def decline(ws):
            standing = ws.thread(thread).proposal
            body = {
                "status": "declined",
                "in_reply_to": standing.packet_id,
                "reason_class": "user_declined",
                "actual_reason": REASON,
            }
            sending.send(ws, view_of(ws, ws.thread(thread)), "resolution_response", body)

        await ben.decide(decline)
        await both.settled()
        said = spoken(anna, ben, await anna.thread(thread), "them", "resolution_response")[-1]
        assert said.get("actual_reason") is None
        assert (await anna.thread(thread))["state"] == "DECLINED"
        await ben.stop(thread)
        for one in (anna, ben):
            assert not on_disk(one.folder, REASON)
            assert not on_disk(tmp_path / "relay", REASON)

        # One evening, two wishes: while the first stands, the second does not get its hours.
        first = await proposed(both, anna, ben, "dinner with ben on Saturday evening")
        slot = (await checkpoint(both, anna, first))["proposal"]["details"]
        second = (await ben.ask("dinner with anna on Saturday evening"))["thread_id"]
        asked = next(one for one in (await ben.pending())["questions"] if one["thread_id"] == second)
        windows = next(one["values"] for one in asked["fields"] if one["field"] == "time_windows")
        held = read_windows([slot], timezone=None, proposed_date=None, now=both.relay.clock.now()).spans[0]
        offered = read_windows(
            windows[0], timezone=None, proposed_date=None, now=both.relay.clock.now()
        ).spans
        assert offered
        assert all(one.end <= held.start or held.end <= one.start for one in offered)

        # Six needs: the five that matter most.
        fields = ["budget_range", "dress_code", "time_windows", "party_size", "music", "timezone"]
        ranks = ["nice_to_have", "helpful", "required", "helpful", "helpful", "required"]
        wants = tuple(Need(name, "to choose well", rank) for name, rank in zip(fields, ranks, strict=True))
        thought = await anna.mind.think(
            port.Task(
                port.READ_REQUEST, both.relay.clock.now(), "Europe/London", text="lunch with ben on Sunday"
            )
        )
        goal = msgspec.structs.replace(thought.goal, wants=wants)
        third = await anna.decide(lambda ws: asking.ask(ws, goal, ben.me))
        await anna.settle()
        gate = next(one for one in (await anna.pending())["questions"] if one["thread_id"] == third)
        await anna.answer(gate["question_id"], share(gate))
        await both.settled()
        # It is the third yes to the same fields: that offer waits, and holds nothing up.
        kinds = [one["kind"] for one in (await anna.pending())["questions"] if one["thread_id"] == third]
        assert set(kinds) == {"promotion"}
        sent = spoken(anna, ben, await anna.thread(third), "us", "context")[0]["needs"]
        assert {one["field"] for one in sent} == set(fields) - {"budget_range"}
        assert [one["priority"] for one in sent[:2]] == ["required", "required"]


@pytest.mark.spec("A2ACP-154", "A2ACP-155")
async def test_what_is_urgent_is_one_question_and_two_hours(tmp_path):
    """Scenario 17."""
    async with pair(tmp_path) as (both, anna, ben):
        await anna.profile({"general_location_area": None})
        thread = (await anna.ask("dinner with ben tonight", urgent=True))["thread_id"]
        gate = await both.question(anna, "consent")
        await anna.answer(gate["question_id"], share(gate))
        first = await both.question(ben, "consent")

        def more(ws):
            body = {"needs": [{"field": "budget_range", "reason": "to choose", "priority": "required"}]}
            sending.send(ws, view_of(ws, ws.thread(thread)), "context_request", body)

        await anna.decide(more)
        await both.settled()
        merged = await both.question(ben, "consent")
        names = {one["field"] for one in first["fields"]}
        assert {one["field"] for one in merged["fields"]} == names | {"budget_range"}
        assert merged["question_id"] != first["question_id"]
        with pytest.raises(Refused, match="no longer open"):
            await ben.answer(first["question_id"], share(first))
        values = dict.fromkeys(names) | {"budget_range": "20 to 30"}
        await ben.answer(merged["question_id"], Answer(share=values))
        await until(both, thread, "PROPOSED")
        assert (await anna.thread(thread))["flags"] == ["urgent"]
        for one in (anna, ben):
            await checkpoint(both, one, thread)
        both.relay.clock.ahead += 2 * HOUR - HOUR // 4
        await both.settled()
        assert [one["code"] for one in (await ben.notices())["notices"]].count("reminder") == 1
        both.relay.clock.ahead += HOUR // 4 + 1
        await both.settled()
        await until(both, thread, "EXPIRED")


class Counting(Rules):
    """The rules, and how often they were asked."""

    asked = 0

    async def think(self, task):
        self.asked += 1
        return await super().think(task)


async def test_a_strangers_first_packet_reaches_no_brain_and_gets_no_reply_until_it_is_let_in(tmp_path):
    """Scenario 18."""
    async with Relay(tmp_path / "relay") as relay:
        relay.clock.ahead += parse_rfc3339(MONDAY) - relay.clock.now()
        await registered(relay, tmp_path / "ben", "ben")
        await registered(relay, tmp_path / "eve", "eve", "ben")
        eve = Person(tmp_path / "eve", relay, "eve")
        brain = Counting(read_windows)
        async with eve.post, Agent(tmp_path / "ben", clock=relay.clock, brain=brain) as ben:
            await ben.profile({"timezone": "Europe/London"})
            await eve.online()
            needs = [{"field": "timezone", "reason": "to plan", "priority": "required"}]
            fields = {"intent": INTENT, "context": {"timezone": "Europe/Paris"}, "needs": needs}
            thread = "thr_" + "a" * 26
            eve.post.outbox.post(cleared(ben.me, "context", fields, thread_id=thread, at=relay.clock.now()))
            eve.connection.wake()
            ben.connect()
            async with asyncio.timeout(PATIENCE):
                while not (questions := (await ben.pending())["questions"]):
                    await asyncio.sleep(0.02)
            assert [(one["kind"], one["counterpart"]) for one in questions] == [
                ("first_contact", eve.address)
            ]
            assert brain.asked == 0
            assert list(ben.journal.records("x.a2acp.sent")) == []
            assert ben.post.outbox.waiting(limit=1) == []
            assert thread not in ben.journal.book.threads
            await ben.answer(questions[0]["question_id"], YES)
            async with asyncio.timeout(PATIENCE):
                while not list(ben.journal.records("x.a2acp.sent")):
                    await ben.settle()
                    await asyncio.sleep(0.02)
            assert brain.asked > 0
            assert ben.journal.book.threads[thread].state == "NEGOTIATING"
            await eve.offline()
        eve.post.store.close()


@pytest.mark.spec("A2ACP-216", "A2ACP-217", "A2ACP-211", "A2ACP-155")
async def test_an_agent_that_was_off_asks_again_what_it_had_asked_and_says_nothing_twice(tmp_path):
    """Stopped and started at every stage: the same questions, timers that ran out, no packet twice."""
    async with pair(tmp_path) as (both, anna, ben):
        thread = (await anna.ask("dinner with ben on Friday evening"))["thread_id"]
        asked = await both.question(anna, "consent")
        async with reopened(both, anna) as anna_again:
            assert await both.question(anna_again, "consent") == asked
            await anna_again.answer(asked["question_id"], share(asked))
            with pytest.raises(Refused, match="no longer open"):
                await anna_again.answer(asked["question_id"], share(asked))
            wanted = await both.question(ben, "consent")
            async with reopened(both, ben) as ben_again:
                assert await both.question(ben_again, "consent") == wanted
                await ben_again.answer(wanted["question_id"], share(wanted))
                await until(both, thread, "PROPOSED")
                shown = await checkpoint(both, ben_again, thread)
                await _off_for_a_while(both, anna_again, ben_again, thread, shown)


async def _off_for_a_while(both, anna, ben, thread, shown):
    yes = await checkpoint(both, anna, thread)
    await anna.answer(yes["question_id"], YES)
    await both.settled()
    await ben.__aexit__(None, None, None)
    both.relay.clock.ahead += 20 * HOUR
    async with Agent(ben.folder, clock=both.relay.clock) as again:
        await again.settle()
        # The reminder's moment came while it was off: it is given at once, and once.
        assert [one["code"] for one in (await again.notices())["notices"]].count("reminder") == 1
        assert (await again.pending())["questions"] == [shown]
        sent = [one.packet_id for one, _ in again.journal.records("x.a2acp.sent")]
        assert len(sent) == len(set(sent))
        # The relay is out of reach for longer than the thread waits.
        other = (await again.ask("lunch with anna on Sunday"))["thread_id"]
        gate = next(one for one in (await again.pending())["questions"] if one["thread_id"] == other)
        await again.answer(gate["question_id"], share(gate))
        again.connect()
        await asyncio.wait_for(again.connection.connected.wait(), PATIENCE)
        await again.settle()
        await again.answer(shown["question_id"], YES)
        both.agents = (both.agents[0], again)
        await until(both, thread, "COMPLETED")
        again.connection.connected.clear()
        await again.settle()
        both.relay.clock.ahead += 49 * HOUR
        await again.settle()
        codes = [(one["thread_id"], one["code"]) for one in (await again.notices())["notices"]]
        assert codes.count((other, "relay_out_of_reach")) == 1
        assert (thread, "relay_out_of_reach") not in codes
        again.connection.connected.set()
