"""Two agents keep one space over a real relay."""

from __future__ import annotations

import pytest
from tests.agent.spaces.company import company


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
        assert ben.journal.book.spaces[space_id].status == "invited"
        assert not list(ben.journal.book.space_cells), "nothing arrives before the owner's yes"
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
        assert carl.journal.book.spaces[space_id].members[ben.me].silent
        await carl.space("set", space_id=space_id, field="notes", value="carl's own")
        await three.sees(anna, space_id, notes="carl's own")
        await three.settled()
        sent = carl.post.store.rows("SELECT 1 FROM history WHERE direction='out' AND peer=?", ben.me)
        assert sent == []
