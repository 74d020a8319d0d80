"""A group over a real relay: sealed packets, journals, calendars."""

from __future__ import annotations

import pytest

from tacit.agent.consent.answering import Answer
from tests.agent.arrangements import people, share


@pytest.mark.spec("A2ACP-173")
@pytest.mark.spec("A2ACP-174")
async def test_three_people_find_an_evening_over_a_relay(tmp_path):
    async with people(tmp_path, "anna", "ben", "cleo") as (all_three, anna, ben, cleo):
        await ben.post.directory.refresh(cleo.me)
        begun = await anna.ask("game night on Friday evening", [ben.me, cleo.me])
        group_id = begun["thread_id"]
        for one in (ben, cleo):
            asked = await all_three.question(one, "consent")
            await one.answer(asked["question_id"], share(asked))
        asked = await all_three.question(anna, "consent")
        await anna.answer(asked["question_id"], share(asked))
        # Ben has Cleo's key, she has not his: both signed the same list, and who cannot tell says so.
        for one in (ben, cleo):
            await all_three.question(one, "checkpoint")
        assert (await ben.group(group_id))["unsigned"] == []
        assert (await cleo.group(group_id))["unsigned"] == [ben.me]
        assert len({(await one.group(group_id))["digest"] for one in (anna, ben, cleo)}) == 1
        for one in (anna, ben, cleo):
            proposed = await all_three.question(one, "checkpoint")
            await one.answer(proposed["question_id"], Answer(confirm=True))
        for one in (anna, ben, cleo):
            ended = await all_three.state(one, group_id, "COMPLETED")
            assert [each["status"] for each in ended["actions"] if each["executor"] == "us"] == ["done"]
        # What is over is not compared with everybody at each connect.
        assert [one.post.inbox.open_threads() for one in (anna, ben, cleo)] == [[], [], []]
        seen = await anna.group(group_id)
        assert seen["coordinator"] == anna.me
        assert seen["participants"][1] == {
            "agent": ben.me,
            "thread_id": f"{group_id}/{ben.me}",
            "status": "context_received",
            "confirmed": True,
            "state": "COMPLETED",
        }
        assert seen["windows"][0]["available_count"] == 3
        assert seen["binding"] is None
        sent = anna.post.store.rows("SELECT peer, packet_id FROM history WHERE direction='out'")
        assert len({packet_id for _, packet_id in sent}) == len(sent)
        assert all(one.thread_id == group_id for one in anna.post.inbox.unhandled()), (
            "one id on the wire for all"
        )


@pytest.mark.spec("A2ACP-174")
@pytest.mark.spec("A2ACP-184")
async def test_a_new_coordinator_is_no_outsider_to_the_others_post(tmp_path):
    async with people(tmp_path, "anna", "ben", "cleo") as (all_three, anna, ben, cleo):
        begun = await anna.ask("game night on Friday evening", [ben.me, cleo.me])
        group_id = begun["thread_id"]
        for one in (ben, cleo):
            assert (await all_three.question(one, "consent"))["counterpart"] == anna.me
        assert (await anna.group(group_id))["may_coordinate"] == [ben.me, cleo.me]
        with anna.post.store.transaction():
            # Ben's second packet overtook his first, which says what his agent can do.
            anna.post.store.run(
                "INSERT INTO history (direction, peer, packet_id, thread_id, seq, type, at, state, payload)"
                " VALUES ('in',?,'pkt_second',?,2,'context',?,'held',x'7b7d')",
                ben.me, group_id, int(anna.clock.now()),
            )  # fmt: skip
        assert (await anna.group(group_id))["may_coordinate"] == [ben.me, cleo.me]
        await anna.transfer(group_id, ben.me)
        await all_three.state(anna, group_id, "COMPLETED")
        # Its first packet as the coordinator is a new thread to each of the others, with the same id.
        for one in (anna, cleo):
            await all_three.state(one, f"{group_id}/{ben.me}" + "+" * (one is anna), "INITIATED")
            assert (await one.group(group_id))["coordinator"] == ben.me
        assert cleo.post.store.contact(ben.me).reputation.faults == ()
