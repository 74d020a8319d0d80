"""What is remembered, over a real relay and on a real disk: seen, corrected, forgotten, gone."""

from __future__ import annotations

import asyncio
import json
import shutil
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

from tacit.a2acp.post.io import purging
from tacit.a2acp.post.io.post import Post
from tacit.agent.consent.answering import Answer
from tacit.agent.contacts.io import people
from tacit.agent.kernel.io.journal import FOLDER
from tacit.agent.memory.acquaintance import AcquaintanceTables
from tacit.agent.memory.io import erasing
from tacit.agent.scheduling.io.outside import OWN_CALENDAR
from tacit.agent.shell.io import carrying
from tacit.agent.shell.io.agent import Agent
from tacit.base.commands.main import tacit
from tacit.base.errors import Refused, Unavailable
from tacit.base.io.system import SystemEntropy
from tacit.ledger.io import upkeep
from tests.agent.arrangements import pair, share
from tests.agent.test_on_disk import CHEAP, ledger, tables
from tests.faults.test_faults import FailingDisk

if TYPE_CHECKING:
    import pathlib


def every_byte(folder: pathlib.Path) -> bytes:
    """All that lies in an agent's folder, but for its owner's own calendar."""
    found = [path for path in sorted(folder.rglob("*")) if path.is_file() and path.name != OWN_CALENDAR]
    return b"\0".join(path.read_bytes() for path in found)


async def dined(both, anna, ben, text: str = "dinner with ben on Friday evening") -> str:
    """A dinner from the wish to both calendars, each sharing what it is asked for."""
    thread = (await anna.ask(text))["thread_id"]
    for person in (anna, ben):
        asked = await both.question(person, "consent")
        await person.answer(asked["question_id"], share(asked))
    for person in (anna, ben):
        proposed = await both.question(person, "checkpoint")
        await person.answer(proposed["question_id"], Answer(confirm=True))
    for person in (anna, ben):
        await both.state(person, thread, "COMPLETED")
    return thread


def restored(folder: pathlib.Path, saved: bytes, both) -> None:
    """Another device, from a backup."""
    other = Post(folder, clock=both.relay.clock, entropy=SystemEntropy())
    content = other.open_backup(saved, "a long passphrase")
    other.become(content)
    carrying.restore_journal(folder, content, clock=both.relay.clock, entropy=SystemEntropy())
    other.store.close()


async def typed(folder: pathlib.Path, *words: str) -> dict:
    asked = ["agent", "--data", str(folder), "memory", *words, "--json"]
    done = await asyncio.to_thread(CliRunner().invoke, tacit, asked)
    assert done.exit_code == 0, (done.output, done.exception)
    return json.loads(done.output)


@pytest.mark.spec("A2ACP-186", "A2ACP-193", "A2ACP-194", "A2ACP-195")
async def test_one_value_is_seen_corrected_and_forgotten_in_every_byte_of_the_folder(tmp_path):
    folder = tmp_path / "anna"
    async with pair(tmp_path) as (both, anna, ben):
        await ben.profile({"dietary": "BENMARK no fish", "location_preference": "PLACEMARK"})
        await anna.profile({"location_preference": "west Reading"})
        await dined(both, anna, ben)
        (record,) = (await anna.memory("ben"))["memory"]
        assert record["agent"] == ben.me
        assert record["interaction_count"] == 1
        assert record["first_interaction"] == record["last_interaction"] == "2026-03-23"
        assert record["trust_level"] == "new"
        assert record["trust_signals"][0] == "1 successful thread"
        assert record["context_cache"]["dietary"] == {
            "value": "BENMARK no fish",
            "last_updated": "2026-03-23",
            "confidence": "medium",
            "source": "told",
            "thread_id": record["context_cache"]["dietary"]["thread_id"],
        }
        known = await anna.known("ben")
        told = {one["field"]: one for one in known["told"]}
        assert told["dietary"]["value"] == "anna eats no meat"
        assert told["dietary"]["basis"] == "user_approved"
        assert {"what": "always_share", "field": "timezone", "for": "everybody"} in known["can_be_undone"]
        assert [one for one in known["can_be_undone"] if one["what"] == "open"] == []
        now = await anna.memory_edit("ben", "diet", "NEWMARK eats all")
        assert now["context_cache"]["dietary"]["source"] == "owner"
        assert [(one["old"], one["new"]) for one in now["changes"]] == [
            ("BENMARK no fish", "NEWMARK eats all")
        ]
        gone = await anna.memory_forget("ben", "dietary")
        assert gone == {"agent": ben.me, "forgotten": "dietary", "remains_in": []}
        for mark in (b"BENMARK", b"NEWMARK"):
            assert mark not in every_byte(folder), mark
        assert b"PLACEMARK" in every_byte(folder)
        (record,) = (await anna.memory())["memory"]
        assert set(record["context_cache"]) == {"general_location_area"}
        assert record["changes"] == []
        restored(tmp_path / "other", carrying.backup(anna.post, "a long passphrase", **CHEAP), both)
        backed_up = every_byte(tmp_path / "other")
        assert b"PLACEMARK" in backed_up
        assert b"NEWMARK" not in backed_up
        assert b"BENMARK" not in backed_up
        await anna.memory_forget(ben.me)
        assert b"PLACEMARK" not in every_byte(folder)
        assert (await anna.memory())["memory"] == []
        assert (await anna.memory("ben"))["memory"][0]["interaction_count"] == 0
    # The ledger is whole, and folds to the same again.
    assert ledger(folder, "verify")["sound"]
    prints = upkeep.fingerprint(folder / FOLDER)
    assert ledger(folder, "rebuild")["events"] > 20
    assert upkeep.fingerprint(folder / FOLDER) == prints
    async with Agent(folder, clock=both.relay.clock) as again:
        assert (await again.memory())["memory"] == []
        assert again.journal.book.part(AcquaintanceTables).acquaintances.get(ben.me) is None or not (
            again.journal.book.part(AcquaintanceTables).acquaintances[ben.me].count
        )
    # The terminal says the same.
    other = tmp_path / "ben"
    assert (await typed(other))["memory"][0]["agent"] == anna.me
    plain = await asyncio.to_thread(
        CliRunner().invoke, tacit, ["agent", "--data", str(other), "known", "anna"]
    )
    assert "was told, and has it" in plain.output
    assert "tacit agent permissions timezone ask" in plain.output
    now = await typed(other, "edit", "anna", "transport=by train")
    assert now["context_cache"]["transport_mode"]["value"] == "by train"
    assert (await typed(other, "forget", "anna", "transport"))["forgotten"] == "transport_mode"
    assert "transport_mode" not in (await typed(other, "anna"))["memory"][0]["context_cache"]


async def purge_rows(agent: Agent, who: str) -> dict[str, int]:
    """How many rows of the post still name a contact's keys, sessions and contents."""
    store = agent.post.store
    sought = {
        "sessions": "SELECT count(*) FROM sessions WHERE address=?",
        "handshakes": "SELECT count(*) FROM handshakes WHERE address=?",
        "keys": "SELECT count(*) FROM contacts WHERE address=? AND signing IS NOT NULL",
        "contents": "SELECT count(*) FROM history WHERE peer=? AND payload<>x''",
        "outbox": "SELECT count(*) FROM outbox WHERE peer=?",
    }
    return {name: store.row(sql, who)[0] for name, sql in sought.items()}


@pytest.mark.spec("A2ACP-195", "A2ACP-196")
async def test_a_blocked_contact_is_gone_from_every_byte_and_its_key_has_to_be_the_same_when_it_returns(
    tmp_path,
):
    folder = tmp_path / "anna"
    async with pair(tmp_path) as (both, anna, ben):
        await ben.profile({"dietary": "BENMARK no fish", "location_preference": "PLACEMARK"})
        await anna.profile({"location_preference": "west Reading"})
        await anna.permissions("dietary", "always", counterpart=ben.me)
        await dined(both, anna, ben)
        who = ben.me
        assert (await purge_rows(anna, who))["sessions"] == 1
        number = anna.post.safety_number(who)
        key = anna.post.store.contact(who).pin.keys.signing
        assert key in every_byte(folder)
        await people.contact(anna, who, "block")
        assert await purge_rows(anna, who) == {
            "sessions": 0, "handshakes": 0, "keys": 0, "contents": 0, "outbox": 0,
        }  # fmt: skip
        for mark in (b"BENMARK", b"PLACEMARK", key):
            assert mark not in every_byte(folder), mark
        assert (await anna.memory())["memory"] == []
        assert anna.journal.book.part(AcquaintanceTables).acquaintances.get(who) is None
        assert (await anna.permissions())["overrides"] == {}
        assert purging.due(anna.post.store) == []
        live = tables(anna)
        # Let in again, it is known by the key that it had, and by no other.
        await people.contact(anna, who, "unblock")
        pin = await anna.post.directory.refresh(who)
        assert pin is not None
        assert anna.post.safety_number(who) == number
        await people.contact(anna, who, "block")
        await people.contact(anna, who, "unblock")
        with anna.post.store.transaction():
            anna.post.store.run("UPDATE purges SET fingerprint=?", "0" * 30)
        with pytest.raises(Refused, match="wrong_fingerprint"):
            await anna.post.directory.refresh(who)
        # Removed, not even the address is known; who comes from there is somebody new.
        removed = await people.contact(anna, who, "remove")
        assert removed == {"address": who, "removed": True}
        assert anna.post.store.contact(who) is None
        assert purging.due(anna.post.store) == []
    assert ledger(folder, "verify")["sound"]
    async with Agent(folder, clock=both.relay.clock) as again:
        assert {name: value for name, value in tables(again).items() if name == "threads"} == {
            "threads": live["threads"]
        }


@pytest.mark.spec("A2ACP-195", "A2ACP-196")
async def test_a_purge_that_a_full_disk_broke_off_is_done_at_the_next_start_before_anything_else(tmp_path):
    folder = tmp_path / "anna"
    # From the first on: files that it did not make carry checksums of their pages, which it does not write.
    disk = FailingDisk("purging-disk")
    async with pair(tmp_path, more={"anna": {"vfs": disk.name}}) as (both, anna, ben):
        await ben.profile({"dietary": "BENMARK no fish"})
        await dined(both, anna, ben)
        who = ben.me
    broke = 0
    for writes in (0, 1, 2, 3, 5, 8, 13, 21, 34, 55, 89, 144):
        tried = tmp_path / f"tried{writes}"
        shutil.copytree(folder, tried, ignore=shutil.ignore_patterns("*.sock"))
        async with Agent(tried, clock=both.relay.clock, vfs=disk.name) as full:
            full.post.inbox.block(who)
            disk.writes_left = writes
            try:
                await full.forget(who)
                came_through = True
            except Unavailable:
                came_through = False
                broke += 1
            disk.full, disk.writes_left = False, -1
        async with Agent(tried, clock=both.relay.clock, vfs=disk.name) as again:
            assert purging.due(again.post.store) == []
            assert again.journal.book.part(AcquaintanceTables).acquaintances.get(who) is None
            assert b"BENMARK" not in every_byte(tried), writes
            assert set((await purge_rows(again, who)).values()) == {0}
        if came_through:
            break
    disk.unregister()
    assert broke > 4
    assert came_through


@pytest.mark.spec("A2ACP-194", "A2ACP-195")
async def test_what_is_forgotten_while_a_thread_is_open_is_not_learned_from_it_and_goes_with_its_end(
    tmp_path,
):
    folder = tmp_path / "anna"
    async with pair(tmp_path) as (both, anna, ben):
        await ben.profile({"dietary": "BENMARK no fish"})
        thread = (await anna.ask("dinner with ben on Friday evening"))["thread_id"]
        for person in (anna, ben):
            asked = await both.question(person, "consent")
            await person.answer(asked["question_id"], share(asked))
        proposed = await both.question(anna, "checkpoint")
        gone = await anna.memory_forget("ben", "dietary")
        assert gone["remains_in"] == [thread]
        assert b"BENMARK" in every_byte(folder)
        await anna.answer(proposed["question_id"], Answer(refuse=True))
        await both.state(anna, thread, "DECLINED")
        (record,) = (await anna.memory())["memory"]
        assert "dietary" not in record["context_cache"]
        assert record["interaction_count"] == 1
        erasing.cut(anna)
        assert b"BENMARK" not in every_byte(folder)


@pytest.mark.spec("A2ACP-195", "A2ACP-196")
async def test_killed_at_any_step_of_a_purge_or_of_forgetting_the_next_start_or_try_ends_it(
    tmp_path, monkeypatch
):
    folder = tmp_path / "anna"
    stops: list[str] = []

    def killed(name: str) -> None:
        """What a kill would leave now."""
        stops.append(name)
        shutil.copytree(folder, tmp_path / name, ignore=shutil.ignore_patterns("*.sock"))

    async with pair(tmp_path) as (both, anna, ben):
        await ben.profile({"dietary": "BENMARK no fish"})
        await dined(both, anna, ben)
        who = ben.me
        erasing.erase_told(anna, who, "dietary", ("BENMARK no fish",))
        killed("half-forgotten")
        anna.post.inbox.block(who)
        killed("blocked")
        anna.vault.forget(who)
        killed("contents-gone")
        finish = purging.finished
        monkeypatch.setattr(
            purging, "finished", lambda store, peer: (killed("not-crossed-out"), finish(store, peer))
        )
        await anna.forget(who)
        monkeypatch.undo()
    async with Agent(tmp_path / "half-forgotten", clock=both.relay.clock) as again:
        assert (await again.memory("ben"))["memory"][0]["context_cache"]["dietary"][
            "value"
        ] == "BENMARK no fish"
        await again.memory_forget("ben", "dietary")
        assert b"BENMARK" not in every_byte(tmp_path / "half-forgotten")
    assert stops[1:] == ["blocked", "contents-gone", "not-crossed-out"]
    for name in stops[1:]:
        async with Agent(tmp_path / name, clock=both.relay.clock) as again:
            assert purging.due(again.post.store) == []
            assert b"BENMARK" not in every_byte(tmp_path / name), name
            assert again.journal.book.part(AcquaintanceTables).acquaintances.get(who) is None
            assert set((await purge_rows(again, who)).values()) == {0}
        assert ledger(tmp_path / name, "verify")["sound"]
