"""Spaces among two and three over a real relay: offline edits, levels, consent, links, a backup, forgetting."""

from __future__ import annotations

import asyncio
import shutil
import sys

import pytest

from tacit.agent.kernel.io.journal import FOLDER
from tacit.agent.shell.io import calls
from tacit.agent.shell.io.journal import journal_engine
from tacit.agent.spaces import sending as space_sending
from tacit.agent.spaces.fold import SpaceTables
from tacit.base.errors import Refused
from tacit.base.io.system import SystemEntropy
from tacit.base.moment import SECOND
from tacit.ledger.admission import AdmissionSettings
from tacit.ledger.io import upkeep
from tests.agent.spaces.company import Company, company, opened
from tests.relay_support import PATIENCE

DAY = 24 * 3600 * SECOND


async def _space(both: Company, creator, *others, **fields) -> str:
    space_id = (await creator.space("new", title="Side Quests"))["space_id"]
    for one in others:
        await creator.space("invite", space_id=space_id, who=one.me)
        await both.joined(one)
    for name, value in fields.items():
        await creator.space("set", space_id=space_id, field=name, value=value)
    for one in (creator, *others):
        await both.sees(one, space_id, **fields)
    return space_id


async def _line(both: Company, *agents, on: bool) -> None:
    for agent in agents:
        if on:
            agent.connect()
            await asyncio.wait_for(agent.connection.connected.wait(), PATIENCE)
        else:
            await agent.disconnect()
            await agent.settle()


def _value(shown, field: str):
    return next((one["value"] for one in shown["fields"] if one["field"] == field), None)


async def _notices(agent) -> list[str]:
    return [one["code"] for one in (await agent.notices())["notices"]]


@pytest.mark.spec("A2ACP-198", "A2ACP-199", "A2ACP-200")
async def test_a_day_apart_different_fields_both_stay_and_of_the_same_field_one_stands_everywhere(tmp_path):
    async with company(tmp_path, "anna", "ben") as (both, anna, ben):
        space_id = await _space(both, anna, ben, status="active")
        await _line(both, anna, ben, on=False)
        await anna.space("set", space_id=space_id, field="phase", value="design")
        await ben.space("set", space_id=space_id, field="notes", value="bring dice")
        await anna.space("set", space_id=space_id, field="status", value="first try")
        await anna.space("set", space_id=space_id, field="status", value="paused")
        both.relay.clock.ahead += DAY
        await ben.space("set", space_id=space_id, field="status", value="done")
        await _line(both, anna, ben, on=True)
        for agent in (anna, ben):
            shown = await both.sees(agent, space_id, phase="design", notes="bring dice", status="done")
            versions = {name: one["v"] for name, one in shown["field_versions"].items()}
            assert versions == {"phase": 1, "notes": 1, "status": 2}, "edits while away are one update"
        await both.until(lambda: _told(anna, "space_lost"))
        assert "space_lost" not in await _notices(ben)
        lost = [
            one
            for one in (await anna.space("show", space_id=space_id))["changes"]
            if one["value"] == "paused"
        ]
        assert lost, "what did not stand is in the list"


async def _told(agent, code: str) -> bool:
    return code in await _notices(agent)


@pytest.mark.spec("A2ACP-202", "A2ACP-203")
async def test_who_may_only_read_sees_the_refusal_before_anything_is_sent(tmp_path):
    async with company(tmp_path, "anna", "ben") as (both, anna, ben):
        space_id = await _space(both, anna, ben, status="active")
        await anna.space("level", space_id=space_id, who=ben.me, level="read-all")
        await both.until(
            lambda: ben.journal.book.part(SpaceTables).spaces[space_id].members[ben.me].level == "read-all"
        )
        before = ben.journal.end()
        with pytest.raises(Refused) as refused:
            await ben.space("set", space_id=space_id, field="status", value="mine now")
        assert refused.value.code == "write_level"
        assert ben.journal.end() == before, "nothing was written, nothing is to leave"
        with pytest.raises(Refused) as refused:
            await ben.space("level", space_id=space_id, who=ben.me, level="full-write")
        assert refused.value.code == "not_creator"


@pytest.mark.spec("A2ACP-203", "A2ACP-204")
async def test_a_field_that_one_of_three_may_not_know_is_asked_about_and_not_written(tmp_path):
    async with company(tmp_path, "anna", "ben", "carl") as (three, anna, ben, carl):
        await anna.permissions("budget", "always", counterpart=ben.me)
        space_id = await _space(three, anna, ben, carl, status="active")
        assert (
            anna.journal.book.part(SpaceTables).spaces[space_id].members[carl.me].level == "write-own-fields"
        )
        said = await anna.space("set", space_id=space_id, field="budget", value="40 pounds")
        assert said["status"] == "asked"
        await three.settled()
        for agent in (anna, ben, carl):
            assert _value(await agent.space("show", space_id=space_id), "budget") is None
        asked = await three.question(anna, "space_write")
        assert asked["about"]["members"] == [carl.me], "ben may know it; carl is the one who is asked about"
        assert asked["fields"][0]["field"] == "budget"
        await anna.answer(asked["question_id"], confirm=True)
        for agent in (anna, ben, carl):
            await three.sees(agent, space_id, budget="40 pounds")
        # Said once for this space; another space, or another field, is asked about again.
        assert (await anna.space("set", space_id=space_id, field="budget", value="50 pounds"))[
            "status"
        ] == "written"
        with pytest.raises(Refused) as never:
            await anna.space("set", space_id=space_id, field="password", value="hunter2")
        assert never.value.code == "never_shared"
        with pytest.raises(Refused) as level:
            await carl.space("set", space_id=space_id, field="status", value="carl was here")
        assert level.value.code == "write_level"
        await carl.space("set", space_id=space_id, field="notes", value="carl's own")
        await three.sees(ben, space_id, notes="carl's own", status="active", budget="50 pounds")


@pytest.mark.spec("A2ACP-204")
async def test_a_secret_in_a_free_field_is_found_and_asked_about(tmp_path):
    async with company(tmp_path, "anna", "ben") as (both, anna, ben):
        space_id = await _space(both, anna, ben, status="active")
        said = await anna.space(
            "set", space_id=space_id, field="notes", value="you know that anna eats no meat"
        )
        assert said["status"] == "asked"
        asked = await both.question(anna, "space_write")
        assert asked["about"]["names"] == ["dietary"]
        await anna.answer(asked["question_id"], refuse=True)
        await both.settled()
        assert _value(await ben.space("show", space_id=space_id), "notes") is None
        assert _value(await anna.space("show", space_id=space_id), "notes") is None


@pytest.mark.spec("A2ACP-200", "A2ACP-201")
async def test_lists_lose_no_entry_and_a_deleted_field_can_be_written_again(tmp_path):
    async with company(tmp_path, "anna", "ben") as (both, anna, ben):
        space_id = await _space(both, anna, ben, status="active")
        await _line(both, anna, ben, on=False)
        await anna.space("set", space_id=space_id, field="decisions", value=["one night"])
        await ben.space("set", space_id=space_id, field="decisions", value=["eight players"])
        await anna.space("unset", space_id=space_id, field="status")
        await _line(both, anna, ben, on=True)
        for agent in (anna, ben):

            async def listed(agent=agent):
                shown = await agent.space("show", space_id=space_id, look=False)
                both_there = sorted(shown["context"].get("decisions", [])) == ["eight players", "one night"]
                return both_there and "status" not in shown["context"]

            await both.until(listed)
        await ben.space("set", space_id=space_id, field="status", value="again")
        shown = await both.sees(anna, space_id, status="again")
        assert shown["field_versions"]["status"]["v"] == 3
        with pytest.raises(Refused):
            await anna.space("set", space_id=space_id, field="x" * 10_240, value=1)


@pytest.mark.spec("A2ACP-200", "A2ACP-201")
async def test_a_replica_of_last_week_compares_itself_at_once_and_gets_its_own_words_back(tmp_path):
    async with company(tmp_path, "anna", "ben") as (both, anna, ben):
        space_id = await _space(both, anna, ben, status="active")
        await both.settled()
        await ben.disconnect()
        await ben.tidy()
        shutil.copytree(tmp_path / "ben", tmp_path / "last_week")
        both.relay.clock.ahead += 7 * DAY
        await _line(both, ben, on=True)
        await ben.space("set", space_id=space_id, field="phase", value="playtesting")
        await ben.space("set", space_id=space_id, field="status", value="late")
        await anna.space("set", space_id=space_id, field="notes", value="bring dice")
        await both.sees(anna, space_id, phase="playtesting", status="late")
        await both.sees(ben, space_id, notes="bring dice")
        await both.settled()
        await ben.__aexit__(None, None, None)
        shutil.rmtree(tmp_path / "ben")
        shutil.move(tmp_path / "last_week", tmp_path / "ben")
        # Its post begins anew, as after `tacit agent restore`: sessions of last week open nothing.
        async with opened(both, "ben") as again:
            alone = Company(both.relay, both.folder, anna, again)
            shown = await alone.sees(again, space_id, phase="playtesting", status="late", notes="bring dice")
            assert shown["field_versions"]["phase"]["by"] == again.me
            assert not list(anna.journal.records("x.a2acp.violated")), "no flood, no fault"
            await again.space("set", space_id=space_id, field="phase", value="testing on")
            await alone.sees(anna, space_id, phase="testing on")
        both.agents = (anna,)


@pytest.mark.spec("A2ACP-201")
async def test_a_line_that_comes_back_writes_nothing_while_nothing_is_new(tmp_path):
    async with company(tmp_path, "anna", "ben") as (both, anna, ben):
        space_id = await _space(both, anna, ben, status="active", place="Alfama")

        async def back() -> list[int]:
            await _line(both, ben, on=False)
            both.relay.clock.ahead += DAY // 24
            await _line(both, ben, on=True)
            await both.settled()
            return [len(list(agent.journal.records())) for agent in (anna, ben)]

        for _ in range(2):
            before = await back()
        assert [await back() for _ in range(3)] == [before] * 3
        await ben.space("set", space_id=space_id, field="place", value="Belem")
        await both.sees(anna, space_id, place="Belem")
        assert await back() > before, "what was written since is compared once"


@pytest.mark.spec("A2ACP-205")
async def test_an_owner_is_told_of_what_concerns_it_and_finds_the_rest_in_the_list(tmp_path):
    async with company(tmp_path, "anna", "ben") as (both, anna, ben):
        space_id = await _space(both, anna, ben, notes="mine")
        await ben.space("set", space_id=space_id, field="phase", value="design")
        await ben.space(
            "set", space_id=space_id, field="next_actions", value=[{"task": "dice", "assigned_to": "anna"}]
        )
        asked = await both.question(ben, "space_write")
        assert set(asked["about"]["names"]) == {"task", "assigned_to"}, "names that nobody has allowed yet"
        await ben.answer(asked["question_id"], confirm=True)
        await both.until(lambda: _told(anna, "space_changed"))
        shown = await anna.space("show", space_id=space_id)
        assert (await _notices(anna)).count("space_changed") == 1
        assert [one["field"].partition("/")[0] for one in shown["changes"] if one["new"] and one["by"] == ben.me] == [
            "phase", "next_actions",
        ]  # fmt: skip
        assert not any(one["new"] for one in (await anna.space("show", space_id=space_id))["changes"])
        # What one writes oneself is no news, neither in the space nor in the list of all.
        await anna.space("set", space_id=space_id, field="status", value="my own")
        shown = await anna.space("show", space_id=space_id, look=False)
        assert [one["new"] for one in shown["changes"] if one["value"] == "my own"] == [False]
        assert [one["new"] for one in (await anna.space("list"))["spaces"]] == [0]
        await anna.space("notify", space_id=space_id, what="none")
        await ben.space("set", space_id=space_id, field="status", value="done")
        await both.sees(anna, space_id, status="done")
        assert (await _notices(anna)).count("space_changed") == 1


SERVER = """
from pathlib import Path
from mcp.server.mcpserver import MCPServer
server = MCPServer("files")
@server.tool()
def read_file(uri: str) -> str:
    return Path(uri.removeprefix("file://")).read_text()
server.run("stdio")
"""


@pytest.mark.spec("A2ACP-206")
async def test_a_link_opens_by_the_tool_for_it_and_is_text_without_one(tmp_path):
    async with company(tmp_path, "anna", "ben", free=("rules",)) as (_, anna, _ben):
        space_id = (await anna.space("new", title="Side Quests"))["space_id"]
        note = tmp_path / "rules.md"
        note.write_text("Round one\nRound \x1b[31mtwo")
        url = f"file://{note}"
        await anna.space("link", space_id=space_id, field="rules", url=url, name="The rules")
        as_text = await calls.call(anna, "space_open", {"space_id": space_id, "field": "rules"})
        assert as_text == {"url": url, "tool": None, "text": url}
        (tmp_path / "server.py").write_text(SERVER)
        definition = {
            "prefix": f"file://{tmp_path}/",
            "argv": [sys.executable, str(tmp_path / "server.py")],
            "tool": "read_file",
            "argument": "uri",
        }
        await calls.call(anna, "space_tool", {"name": "files", "definition": definition})
        opened_link = await calls.call(anna, "space_open", {"space_id": space_id, "field": "rules"})
        assert opened_link["tool"] == "files"
        assert opened_link["text"] == "Round one\nRound ⟨U+001B⟩[31mtwo"
        shown = await anna.space("show", space_id=space_id)
        assert shown["fields"][0]["link"] == url


async def test_leaving_and_forgetting_erase_every_word_and_the_journal_never_had_one(tmp_path):
    async with company(tmp_path, "anna", "ben", "carl") as (three, anna, ben, carl):
        space_id = await _space(three, anna, ben, carl, status="zebra-anna")
        await ben.space("set", space_id=space_id, field="notes", value="walrus-ben")
        for agent in (anna, carl):
            await three.sees(agent, space_id, notes="walrus-ben")
        await three.settled()
        journal = b"".join(
            event.data if isinstance(event.data, bytes) else repr(event.data).encode()
            for event in _events(anna)
        )
        for word in (b"zebra", b"walrus", b"Side Quests", b"notes"):
            assert word not in journal
        await anna.forget(ben.me)
        anna.vault.erase()
        shown = await anna.space("show", space_id=space_id)
        assert _value(shown, "notes") is None
        assert _value(shown, "status") == "zebra-anna"
        assert ben.me not in shown["participants"]
        assert b"walrus" not in _bytes(tmp_path / "anna")
        await carl.space("leave", space_id=space_id)
        carl.vault.erase()
        assert (await carl.space("list"))["spaces"] == []
        assert b"walrus" not in _bytes(tmp_path / "carl")
        await three.until(
            lambda: carl.me not in anna.journal.book.part(SpaceTables).spaces[space_id].present()
        )


def _events(agent):
    from tacit.ledger.cursor import Selection

    page = agent.journal.store.read(
        lambda reader: reader.page(reader.group("g_agent"), "user", Selection(since_seq=0, limit=10_000))
    )
    return page.events


def _bytes(folder) -> bytes:
    return b"".join(one.read_bytes() for one in folder.rglob("*") if one.is_file())


@pytest.mark.spec("A2ACP-201")
async def test_what_was_decided_and_not_posted_leaves_after_a_restart_once(tmp_path):
    async with company(tmp_path, "anna", "ben") as (both, anna, ben):
        space_id = await _space(both, anna, ben, status="active")
        await _line(both, anna, on=False)
        await anna.space("set", space_id=space_id, field="phase", value="design")
        # Decided, durable, and then the process ends before the post has it.
        await anna.decide(lambda ws: space_sending.publish(ws, space_id))
        assert anna.journal.book.part(SpaceTables).space_packets
        await anna.__aexit__(None, None, None)
        both.agents = (ben,)
        async with opened(both, "anna") as again:
            both.agents = (again, ben)
            await both.sees(ben, space_id, phase="design")
            await both.settled()
            assert not again.journal.book.part(SpaceTables).space_packets
            shown = await again.space("show", space_id=space_id)
            assert shown["field_versions"]["phase"]["v"] == 1
            assert [one["field"] for one in (await ben.space("show", space_id=space_id))["changes"]] == [
                "status",
                "phase",
            ]
        both.agents = (ben,)
        # The journal, folded anew, is the same state.
        folder = tmp_path / "anna" / FOLDER
        before = upkeep.fingerprint(folder)
        upkeep.rebuild(folder, both.relay.clock, SystemEntropy(), AdmissionSettings(), journal_engine)
        assert upkeep.fingerprint(folder) == before


@pytest.mark.spec("A2ACP-203", "A2ACP-204")
async def test_a_newcomer_gets_the_fields_that_are_cleared_for_it_and_the_rest_is_asked_about(tmp_path):
    async with company(tmp_path, "anna", "ben", "carl") as (three, anna, ben, carl):
        await anna.permissions("budget", "always", counterpart=ben.me)
        space_id = await _space(three, anna, ben, status="active", budget="40 pounds")
        await ben.space("set", space_id=space_id, field="phase", value="design")
        await three.sees(anna, space_id, phase="design")
        await anna.space("invite", space_id=space_id, who=carl.me)
        await three.joined(carl)
        shown = await three.sees(carl, space_id, status="active", phase="design")
        assert _value(shown, "budget") is None
        asked = await three.question(anna, "space_member")
        assert asked["counterpart"] == carl.me
        assert [one["field"] for one in asked["fields"]] == ["budget"]
        await anna.answer(asked["question_id"], confirm=True)
        await three.sees(carl, space_id, budget="40 pounds")
        await anna.space("level", space_id=space_id, who=carl.me, level="removed")
        await three.until(lambda: carl.journal.book.part(SpaceTables).spaces[space_id].status == "left")
        assert (await carl.space("list"))["spaces"] == []
        assert "space_removed" in await _notices(carl)
        await three.until(
            lambda: carl.me not in ben.journal.book.part(SpaceTables).spaces[space_id].present()
        )
