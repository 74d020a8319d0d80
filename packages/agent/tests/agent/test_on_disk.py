"""What an agent's folder holds, and no longer holds: journal, vault, backup, block; and one bad packet among good."""

from __future__ import annotations

import asyncio
import json
import shutil
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

from tacit.a2acp.post.io.post import Post
from tacit.a2acp.post.io.store import AgentStore
from tacit.agent.consent.answering import Answer
from tacit.agent.consent.io import by_hand
from tacit.agent.features import FOLD
from tacit.agent.kernel import fold, records
from tacit.agent.kernel.io.journal import FOLDER
from tacit.agent.kernel.io.paths import journal_file
from tacit.agent.scheduling import receiving
from tacit.agent.shell.io import carrying
from tacit.agent.shell.io.agent import Agent
from tacit.agent.shell.io.journal import journal_engine
from tacit.base.commands.main import tacit
from tacit.base.io.sqlite import connect
from tacit.base.io.system import SystemEntropy
from tacit.ledger.admission import AdmissionSettings
from tacit.ledger.io import upkeep
from tests.agent.arrangements import pair, share
from tests.agent_support import cleared

if TYPE_CHECKING:
    import pathlib

CHEAP = {"passes": 1, "memory_bytes": 8 * 1024 * 1024}


def every_byte(folder: pathlib.Path) -> bytes:
    return b"\0".join(path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file())


def tables(agent: Agent) -> dict:
    """The fold's state: what is open, and all that the journal names."""
    book = agent.journal.book
    names = [one.thread_id for one, _ in agent.journal.records("x.a2acp.began")]
    asked = [one.question.question_id for one, _ in agent.journal.records("x.a2acp.asked")]
    found = {name: dict(book.by_name()[name]) for name in sorted(FOLD.always_loaded)}
    return found | {
        "threads": {name: book.threads[name] for name in names},
        "questions": {name: book.questions[name] for name in asked},
    }


def ledger(folder: pathlib.Path, command: str) -> dict:
    done = CliRunner().invoke(tacit, ["--json", "ledger", "--data", str(folder / FOLDER), command])
    assert done.exit_code == 0, (done.output, done.exception)
    return json.loads(done.output)


@pytest.mark.spec("A2ACP-195", "A2ACP-196", "A2ACP-212", "A2ACP-225")
async def test_after_a_block_nothing_that_was_said_is_in_any_byte_of_the_folder(tmp_path):
    async with pair(tmp_path) as (both, anna, ben):
        await ben.profile({"dietary": "BENMARK no fish"})
        begun = await anna.ask("dinner with ben on Friday evening")
        thread = begun["thread_id"]
        asked = await both.question(anna, "consent")
        await anna.answer(asked["question_id"], share(asked))
        wanted = await both.question(ben, "consent")
        names = [one["field"] for one in wanted["fields"]]
        told = {one: None for one in names if one != "dietary"} | {"dietary": "BENMARK no fish"}
        await ben.answer(wanted["question_id"], Answer(share={one: told[one] for one in names}))
        await both.question(anna, "checkpoint")
        folder, who = tmp_path / "anna", ben.me

        # No event holds a word of it: the journal cannot forget, the vault beside it can.
        assert b"BENMARK" in every_byte(folder)
        for one in (folder, tmp_path / "ben"):
            said = b"".join(upkeep.export(one / FOLDER))
            assert b"x.a2acp.sent" in said
            assert b"BENMARK" not in said
            assert b"eats no meat" not in said

        # A backup has all of it, and another device goes on from there.
        saved = carrying.backup(anna.post, "a long passphrase", **CHEAP)
        before = tables(anna)
        other = Post(tmp_path / "other", clock=both.relay.clock, entropy=SystemEntropy())
        content = other.open_backup(saved, "a long passphrase")
        other.become(content)
        carrying.restore_journal(tmp_path / "other", content, clock=both.relay.clock, entropy=SystemEntropy())
        other.store.close()
        async with Agent(tmp_path / "other", clock=both.relay.clock) as again:
            assert tables(again) == before
            shown = (await again.pending())["questions"]
            assert [one["kind"] for one in shown] == ["checkpoint"]
            assert shown[0]["proposal"]["details"]["date"] == "2026-03-27"
            assert (await again.profile({}))["profile"]["dietary"] == "anna eats no meat"
            assert (await again.thread(thread))["received"]["dietary"]

        # Blocked, nothing is left but ids and states.
        anna.post.inbox.block(who)
        await anna.forget(who)
        assert anna.journal.book.threads[thread].state == "DECLINED"
        assert anna.journal.book.threads[thread].closed_reason == "blocked"
        assert (await anna.pending())["questions"] == []
        for mark in (b"BENMARK", b"19:00", b"2026-03-27"):
            assert mark not in every_byte(folder), mark
        assert anna.journal.book.approvals.get(("dietary", who)) in {None, fold.Approvals()}
        await anna.settle()

    # The command does the same, for an agent that is not running.
    other = tmp_path / "ben"
    assert b"anna eats no meat" in every_byte(other)
    asked = ["agent", "--data", str(other), "contact", f"anna@{both.relay.domain}", "block", "--json"]
    done = await asyncio.to_thread(CliRunner().invoke, tacit, asked)
    assert done.exit_code == 0, (done.output, done.exception)
    assert json.loads(done.output)["blocked"]
    assert b"anna eats no meat" not in every_byte(other)
    async with Agent(other, clock=both.relay.clock) as ben:
        assert ben.journal.book.threads[thread].closed_reason == "blocked"

    # The journal is a ledger like any other: it verifies, and folds to the same state again.
    async with Agent(folder, clock=both.relay.clock) as anna:
        live = tables(anna)
    assert ledger(folder, "verify")["sound"]
    prints = upkeep.fingerprint(folder / FOLDER)
    assert ledger(folder, "rebuild")["events"] > 20
    assert upkeep.fingerprint(folder / FOLDER) == prints
    upkeep.rebuild(folder / FOLDER, both.relay.clock, SystemEntropy(), AdmissionSettings(), journal_engine)
    async with Agent(folder, clock=both.relay.clock) as anna:
        assert tables(anna) == live


@pytest.mark.spec("A2ACP-215", "A2ACP-025", "A2ACP-072")
async def test_one_packet_that_meets_a_mistake_of_ours_neither_stops_the_agent_nor_comes_again(
    tmp_path, monkeypatch
):
    async with pair(tmp_path) as (both, anna, ben):
        real = receiving.receive

        def mistaken(ws, *, packet_id, **more):
            if packet_id == "pkt_badluck":
                raise KeyError("a mistake")
            real(ws, packet_id=packet_id, **more)

        monkeypatch.setattr(receiving, "receive", mistaken)
        intent = {"category": "scheduling", "summary": "dinner", "urgency": "low"}
        for name in ("pkt_badluck", "pkt_goodluck"):
            fields = {"intent": intent, "context": {}}
            anna.post.outbox.post(
                cleared(
                    ben.me,
                    "context",
                    fields,
                    thread_id=f"thr_{name}",
                    packet_id=name,
                    at=both.relay.clock.now(),
                )
            )
        anna.connection.wake()
        await both.state(ben, "thr_pkt_goodluck", "INITIATED", "NEGOTIATING")
        assert "thr_pkt_badluck" not in ben.journal.book.threads
        dropped = [one for one, _ in ben.journal.records("x.a2acp.violated")]
        assert dropped == [records.Violated("thr_pkt_badluck", anna.me, "not_taken")]
        assert ben.post.inbox.unhandled() == []
        await ben.settle()
        assert len(list(ben.journal.records("x.a2acp.violated"))) == 1


@pytest.mark.spec("A2ACP-195", "A2ACP-212")
async def test_what_was_replaced_is_gone_once_the_agent_comes_to_rest_and_after_every_start(tmp_path):
    async with pair(tmp_path) as (both, anna, _ben):
        await anna.profile({"dietary": "OLDMARK"})
        await anna.profile({"dietary": "NEWMARK"})
        stopped = asyncio.Event()
        running = asyncio.create_task(anna.run(stopped))
        async with asyncio.timeout(60):
            while anna.vault.owes_erasing:
                await asyncio.sleep(0.05)
        stopped.set()
        await running
        said = every_byte(tmp_path / "anna")
        assert b"OLDMARK" not in said
        assert b"NEWMARK" in said
        await anna.profile({"dietary": "THIRDMARK"})
        # As a kill would leave it: replaced, and the log not yet cut.
        shutil.copytree(tmp_path / "anna", tmp_path / "killed", ignore=shutil.ignore_patterns("*.sock"))
    assert b"NEWMARK" in every_byte(tmp_path / "killed")
    async with Agent(tmp_path / "killed", clock=both.relay.clock) as again:
        assert b"NEWMARK" not in every_byte(tmp_path / "killed")
        assert (await again.profile({}))["profile"]["dietary"] == "THIRDMARK"


@pytest.mark.spec("A2ACP-195")
async def test_a_commit_that_a_kill_tore_is_not_kept_aside_with_the_words_in_it(tmp_path):
    async with pair(tmp_path) as (both, anna, _ben):
        await anna.profile({"dietary": "FIRSTMARK"})
        log = tmp_path / "anna" / FOLDER / "ledger.db-wal"
        before = log.stat().st_size
        await anna.profile({"dietary": "TORNMARK"})
        shutil.copytree(tmp_path / "anna", tmp_path / "killed", ignore=shutil.ignore_patterns("*.sock"))
    torn = tmp_path / "killed" / FOLDER / "ledger.db-wal"
    whole = torn.read_bytes()
    torn.write_bytes(whole[: (before + len(whole)) // 2])
    async with Agent(tmp_path / "killed", clock=both.relay.clock) as again:
        assert (await again.profile({}))["profile"]["dietary"] == "FIRSTMARK"
    assert b"TORNMARK" not in every_byte(tmp_path / "killed")


async def test_values_that_an_older_program_kept_with_the_keys_are_taken_over_once(tmp_path):
    async with pair(tmp_path) as (both, anna, _ben):
        await anna.profile({"dietary": "KEPTMARK"})
        name = anna.journal.book.settings["profile"]
        value = anna.vault.raw(name)
    folder = tmp_path / "anna"
    file = connect(journal_file(folder))
    file.execute("DELETE FROM vault WHERE value_id=?", (name,))
    file.close()
    store = AgentStore(folder)
    with store.transaction():
        store.run("INSERT INTO vault VALUES (?,?,?,?)", name, "", 1, value)
    assert by_hand.settings(store, "profile")["profile"]["dietary"] == "KEPTMARK"
    store.close()
    async with Agent(folder, clock=both.relay.clock) as again:
        assert (await again.profile({}))["profile"]["dietary"] == "KEPTMARK"
        assert again.post.store.rows("SELECT * FROM vault") == []
