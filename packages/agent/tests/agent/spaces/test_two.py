"""Two agents keep one space over a real relay."""

from __future__ import annotations

import asyncio

import pytest

from tacit.a2acp.post.settings import HISTORY_DAYS
from tacit.agent.spaces.fold import SpaceTables
from tacit.base.errors import Refused
from tacit.base.moment import SECOND
from tests.agent.arrangements import people, share
from tests.agent.spaces.company import company
from tests.relay_support import PATIENCE


@pytest.mark.spec("A2ACP-197", "A2ACP-201")
async def test_an_invited_owner_is_asked_and_then_both_keep_the_same_document(tmp_path):
    async with company(tmp_path, "anna", "ben") as (both, anna, ben):
        made = await anna.space("new", title="Side Quests", invite=[ben.me])
        space_id = made["space_id"]
        asked = await both.question(ben, "space_invite")
        assert asked["about"]["space"] == "Side Quests"
        assert asked["about"]["level"] == "full-write"
        await anna.space("set", space_id=space_id, field="status", value="active")
        await both.settled()
        assert ben.journal.book.part(SpaceTables).spaces[space_id].status == "invited"
        assert not list(ben.journal.book.part(SpaceTables).space_cells), (
            "nothing arrives before the owner's yes"
        )
        await ben.answer(asked["question_id"], confirm=True)
        seen = await both.sees(ben, space_id, status="active")
        assert seen["participants"] == sorted([anna.me, ben.me])
        assert seen["conflict_resolution"] == "last_write_wins_per_field"
        assert seen["last_modified_by"] == anna.me
        await ben.space("set", space_id=space_id, field="phase", value="playtesting")
        mine = await both.sees(anna, space_id, phase="playtesting", status="active")
        assert mine["context"] == {"phase": "playtesting", "status": "active"}
        assert mine["version"] == 2
        assert mine["last_modified_by"] == ben.me
        told = [one for one in (await anna.disclosures(ben.me))["disclosures"] if one["basis"] == "space"]
        assert [(one["field"], one["value"]) for one in told] == [("status", "active")]


async def test_a_blocked_member_of_somebody_elses_space_is_told_nothing(tmp_path):
    async with company(tmp_path, "anna", "ben", "carl") as (three, anna, ben, carl):
        carl.post.inbox.block(ben.me)
        space_id = (await anna.space("new", title="Side Quests", invite=[ben.me]))["space_id"]
        await three.joined(ben)
        await anna.space("invite", space_id=space_id, who=carl.me)
        await three.joined(carl)
        assert carl.journal.book.part(SpaceTables).spaces[space_id].members[ben.me].silent
        await carl.space("set", space_id=space_id, field="notes", value="carl's own")
        await three.sees(anna, space_id, notes="carl's own")
        await three.settled()
        sent = carl.post.store.rows("SELECT 1 FROM history WHERE direction='out' AND peer=?", ben.me)
        assert sent == []


@pytest.mark.spec("A2ACP-197")
async def test_a_replica_outlasts_the_days_for_which_packets_are_kept(tmp_path):
    async with company(tmp_path, "anna", "ben") as (both, anna, ben):
        space_id = (await anna.space("new", title="Side Quests", invite=[ben.me]))["space_id"]
        await both.joined(ben)
        await anna.space("set", space_id=space_id, field="status", value="active")
        await ben.space("set", space_id=space_id, field="phase", value="design")
        await both.sees(ben, space_id, status="active", phase="design")
        with ben.post.store.transaction():
            ben.post.store.choose(HISTORY_DAYS, "7")
        both.relay.clock.ahead += 30 * 24 * 3600 * SECOND
        await ben.tidy()
        ben.post.inbox.forget_old()
        shown = await both.sees(ben, space_id, status="active", phase="design")
        assert shown["title"] == "Side Quests"


@pytest.mark.spec("A2ACP-057", "A2ACP-201")
async def test_an_invitation_waits_until_an_agent_that_was_never_heard_says_that_it_keeps_spaces(tmp_path):
    async with people(tmp_path, "anna", "ben") as (both, anna, ben):
        made = await anna.space("new", title="Side Quests", invite=[ben.me])
        space_id = made["space_id"]
        assert {one["agent"]: one["status"] for one in made["members"]}[ben.me] == "waiting"
        await both.settled()
        assert not ben.journal.book.part(SpaceTables).spaces
        # The first thing that they arrange brings it along, also when the agent was away in between.
        await anna.ask("call on Friday evening", [ben.me])
        for one in (anna, ben):
            asked = await both.question(one, "consent")
            await one.answer(asked["question_id"], share(asked))
        asked = await both.question(ben, "space_invite")
        await ben.answer(asked["question_id"], confirm=True)
        async with asyncio.timeout(PATIENCE):
            while ben.me not in anna.journal.book.part(SpaceTables).spaces[space_id].present():
                await both.settled()


@pytest.mark.spec("A2ACP-057")
async def test_an_agent_that_keeps_no_spaces_is_invited_into_none_and_the_owner_is_told(tmp_path):
    async with people(tmp_path, "anna", "ben", "carl") as (three, anna, ben, carl):
        made = await anna.space("new", title="Side Quests", invite=[ben.me])
        store = anna.post.store
        for one in (ben, carl):
            # What is left of an agent of another make: it has written, and names no spaces.
            with store.transaction():
                store.know(one.me, welcome=True)
                store.run("UPDATE contacts SET features='context_negotiation' WHERE address=?", one.me)
                store.run(
                    "INSERT INTO history (direction, peer, packet_id, thread_id, seq, type, at, state, payload)"
                    " VALUES ('in', ?, 'pkt_0000000000', 'thr_0000000000', 1, 'context', 0, 'handled', x'')",
                    one.me,
                )
        await three.settled()
        known = anna.journal.book.part(SpaceTables).spaces[made["space_id"]].members[ben.me]
        assert known.status == "left"
        assert "space_declined" in [one.code for one, _ in anna.journal.records("x.a2acp.noticed")]
        with pytest.raises(Refused, match="not_supported"):
            await anna.space("invite", space_id=made["space_id"], who=carl.me)
