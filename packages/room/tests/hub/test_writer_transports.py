"""One suite for every way to the writer: a thread of the hub's own process, and a process behind a socket pair.

Whoever submits a command cannot tell where the writer stands: the same commands give the same outcomes, the same
ledger and the same effects, in the same order.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from tacit.attention.commands import (
    AuthorContinued,
    CallTool,
    ChangeRules,
    DeleteMessage,
    DeliveryDraft,
    EditMessage,
    RecordSession,
    ReportWork,
    RunDueTimers,
    SetPresence,
    Steer,
    TimerDue,
    ToolAnswer,
    WorkHeard,
)
from tacit.attention.io.engine import AttentionEngine
from tacit.attention.state.work import SessionLife
from tacit.base.errors import Refused, Unavailable
from tacit.base.moment import Moment
from tacit.c2a.rpc import error_of
from tacit.c2a.signals import AgreedSignals
from tacit.c2a.vocabulary import Disposition
from tacit.client import AgentSession, OutcomeUnknown
from tacit.client.operations import passing
from tacit.hub.bounds.turns import ReadTurns
from tacit.hub.doors.answers import failure, rpc_error
from tacit.hub.live import Live
from tacit.hub.store.async_ledger import AsyncLedger
from tacit.hub.telemetry.metrics import Metrics
from tacit.hub.writer import codec
from tacit.hub.writer.link import WriterLink
from tacit.ledger.commands import (
    AdoptOwnerToken,
    Append,
    AppendTogether,
    BlobShare,
    Committed,
    DropWebhook,
    Duplicate,
    IssueCredential,
    Ping,
    RecordBlob,
    RevokeCredential,
    SetWebhook,
)
from tacit.ledger.io import verification
from tacit.ledger.io.store import Store, StoreOptions
from tacit.ledger.submission import Submission
from tests.hub.room import running

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from tacit.ledger.io.reader import Reader

MODES = ("immediate", "buffered", "notify", "tool_mailbox", "digest", "silent")
GROUP = "g_one"


def wanted(kind: str, by: str = "user", group: str = GROUP, /, **data: Any) -> Submission:
    return Submission(group, by, kind, data, msgspec.json.encode(data))


class Written:
    """A ledger on a loop, with what it told the outside."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.ledger = AsyncLedger(
            store, Live(Metrics(), 1 << 20, 1 << 26), Metrics(), ReadTurns(2, 1024, 60.0)
        )
        self.told: list[Committed] = []
        self.ledger.on_committed = self.told.append

    async def say(self, text: str, by: str = "user", **data: Any) -> Committed | Duplicate:
        return await self.ledger.append(wanted("chat.message", by, text=text, **data))

    def effects(self, kind: type) -> list[Any]:
        return [effect for one in self.told for effect in one.effects if isinstance(effect, kind)]

    async def count(self) -> int:
        return (await self.ledger.read(lambda reader: reader.group(GROUP))).last_seq


@asynccontextmanager
async def opened(folder: Path, where: str) -> AsyncIterator[Written]:
    store = Store(
        folder, StoreOptions(), engine=AttentionEngine, elsewhere=WriterLink if where == "process" else None
    )
    made = Written(store)
    await made.ledger.open()
    try:
        yield made
    finally:
        made.ledger.close()
        await asyncio.get_running_loop().run_in_executor(None, store.close)


@pytest.fixture(params=["thread", "process"])
async def written(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Written]:
    async with opened(tmp_path / "data", request.param) as made:
        await made.ledger.append(wanted("group.create", title="One"), creates=True)
        for name in ("ada", "bob"):
            await made.ledger.append(wanted("actor.add", actor_id=name, role="peer"))
        yield made


@pytest.mark.spec("CCCS-018", "CCCS-055", "CCCS-056")
async def test_appends_are_answered_in_order_and_a_repeat_is_recognised(written: Written) -> None:
    first = await written.count()
    outcomes = await asyncio.gather(
        *(written.say(f"n{number}", client_id=f"c{number}") for number in range(300))
    )
    assert [one.event.seq for one in outcomes] == list(range(first + 1, first + 301))
    again = await written.say("n7", client_id="c7")
    assert isinstance(again, Duplicate)
    assert again.event == outcomes[7].event
    with pytest.raises(Refused) as refused:
        await written.say("another text", client_id="c7")
    assert refused.value.code == "idempotency_conflict"


@pytest.mark.spec("CCCS-111")
async def test_a_refusal_keeps_its_code_its_row_and_its_details(written: Written) -> None:
    with pytest.raises(Refused) as caught:
        await written.say("")
    assert (caught.value.code, caught.value.row) == ("invalid_request", "CCCS-047")
    with pytest.raises(Refused) as caught:
        await written.ledger.append(wanted("chat.message", "user", "g_none", text="x"))
    assert caught.value.code == "group_not_found"
    # The writer is none the worse for it.
    assert isinstance(await written.say("still here"), Committed)


@pytest.mark.spec("CCCS-101", "CCCS-098")
async def test_together_is_all_or_none_and_shares_blobs(written: Written) -> None:
    ledger = written.ledger
    await ledger.append(wanted("group.create", "user", "g_two", title="Two"), creates=True)
    with pytest.raises(Refused, match="send it again"):
        await ledger.record(RecordBlob(GROUP, "ab" * 32, 5, "text/plain", "user"))
    incoming = written.store.blobs.incoming()
    incoming.write(b"bytes")
    path = incoming.finish().sha256
    await ledger.record(RecordBlob(GROUP, path, 5, "text/plain", "user"))
    share = BlobShare(GROUP, "g_two", (path,), "user")
    with pytest.raises(Refused):
        await ledger.together([wanted("chat.message", text="ok"), wanted("chat.message", text="")], share)
    group = await ledger.read(lambda reader: reader.group("g_two"))
    with pytest.raises(Refused):
        await ledger.read(lambda reader: reader.blob(group, "user", path))
    pair = [wanted("chat.message", text="one"), wanted("chat.message", "user", "g_two", text="two")]
    outcomes = await ledger.together(pair, share)
    assert [type(one) for one in outcomes] == [Committed, Committed]
    assert (await ledger.read(lambda reader: reader.blob(group, "user", path))).size == 5


@pytest.mark.spec("CCCS-005", "C2A-011")
async def test_records_of_the_hubs_own_are_kept_refused_and_revoked(written: Written) -> None:
    ledger = written.ledger
    await ledger.record(IssueCredential(b"a" * 32, "tok_a", "svc:bot", None, (GROUP,)))
    with pytest.raises(Refused, match="registered already"):
        await ledger.record(IssueCredential(b"b" * 32, "tok_b", "svc:bot", None, None))
    assert (await ledger.record(RevokeCredential("tok_a"))).principal == "svc:bot"
    with pytest.raises(Refused) as caught:
        await ledger.record(RevokeCredential("tok_a"))
    assert caught.value.details["reason"] == "no_token"
    await ledger.record(AdoptOwnerToken(b"o" * 32, "tok_o", "user"))
    await ledger.record(AdoptOwnerToken(b"p" * 32, "tok_p", "user"))
    live = await ledger.read(
        lambda reader: reader.connection.execute(
            "SELECT token_id FROM credentials WHERE revoked IS NULL"
        ).fetchall()
    )
    assert live == [("tok_p",)]
    await ledger.record(SetWebhook(GROUP, "ada", "http://127.0.0.1:1/", "s", "2026-06-24"))
    await ledger.record(DropWebhook(GROUP, "ada"))
    hooks = await ledger.read(lambda reader: reader.connection.execute("SELECT * FROM webhooks").fetchall())
    assert hooks == []


@pytest.mark.spec("C2A-006", "C2A-158", "C2A-173", "C2A-206")
async def test_commands_of_attention_are_decided_and_their_effects_come_back(written: Written) -> None:
    ledger = written.ledger
    for name in ("ada", "bob"):
        await ledger.decide(RecordSession(GROUP, name, "2026-06-24", MODES))
    await ledger.decide(SetPresence(GROUP, ("ada",)))
    asked = (await written.say("@ada which port is it?")).event
    drafts = written.effects(DeliveryDraft)
    assert [(one.session, one.event_id) for one in drafts] == [("ada", asked.event_id)]
    assert drafts[0].delivered.text == "@ada which port is it?"
    assert any(isinstance(one, TimerDue) and one.at > 0 for one in written.effects(TimerDue))
    for session, own in (("ada", True), ("bob", False)):
        said = await ledger.decide(ReportWork(GROUP, session, asked.event_id, "working", "t1"))
        assert (said.answer, len(said.outcomes)) == (WorkHeard(own=own), int(own))
    send = {
        "target": f"thread:{asked.event_id}", "content": "7433", "inReplyTo": asked.event_id,
        "idempotencyKey": "k1", "visibility": "thread", "directedness": "to_me",
    }  # fmt: skip
    answer = (await ledger.decide(CallTool(GROUP, "ada", "chat.send_message", send, "2026-06-24"))).answer
    assert isinstance(answer, ToolAnswer)
    assert answer.result is not None
    assert answer.result["ok"]
    refused = (
        await ledger.decide(CallTool(GROUP, "bob", "chat.claim", {"eventId": "none"}, "2026-06-24"))
    ).answer
    assert refused.refusal is not None
    assert (refused.refusal.code, refused.refusal.row) == ("event_not_found", "C2A-144")
    whispered = {**send, "content": "psst", "idempotencyKey": "k2", "visibility": "ephemeral"}
    del whispered["inReplyTo"]
    said = (await ledger.decide(CallTool(GROUP, "bob", "chat.send_message", whispered, "2026-06-24"))).answer
    assert said.ephemeral is not None
    assert said.ephemeral.text == "psst"
    assert said.ephemeral.record.session == "bob"


@pytest.mark.spec("C2A-185", "C2A-187", "C2A-176", "C2A-207")
async def test_people_edit_delete_steer_and_set_rules(written: Written) -> None:
    ledger = written.ledger
    for name in ("ada", "bob"):
        await ledger.decide(RecordSession(GROUP, name, "2026-06-24", MODES))
    first = (await written.say("@ada draft it")).event
    edited = await ledger.decide(EditMessage(GROUP, "user", first.event_id, "@ada write it", None, "e1"))
    assert isinstance(edited.outcomes[0], Committed)
    again = await ledger.decide(EditMessage(GROUP, "user", first.event_id, "@ada write it", None, "e1"))
    assert isinstance(again.outcomes[0], Duplicate)
    with pytest.raises(Refused, match="only its author edits"):
        await ledger.decide(EditMessage(GROUP, "ada", first.event_id, "mine now"))
    moved = await ledger.decide(Steer(GROUP, "user", "reassign", first.event_id, to="bob"))
    assert moved.answer.result["to"] == "bob"
    gone = await ledger.decide(DeleteMessage(GROUP, "user", first.event_id))
    assert isinstance(gone.outcomes[0], Committed)
    changed = await ledger.decide(ChangeRules(GROUP, "user", {"deadline_ms": 60_000}))
    assert changed.answer.result["settings"] == {"deadline_ms": 60_000}
    with pytest.raises(Refused):
        await ledger.decide(ChangeRules(GROUP, "user", {"no_such": 1}))


@pytest.mark.spec("C2A-173", "C2A-175")
async def test_a_step_of_time_that_is_asked_for_twice_is_taken_once(written: Written) -> None:
    """What is due follows from the ledger alone: asking again, as after a failed commit, repeats nothing."""
    ledger = written.ledger
    await ledger.decide(RecordSession(GROUP, "ada", "2026-06-24", MODES))
    await ledger.decide(ChangeRules(GROUP, "user", {"deadline_ms": 1_000}))
    asked = (await written.say("@ada quickly?")).event
    first = (await ledger.decide(RunDueTimers(GROUP))).answer
    # On a busy machine the moment may have come already.
    assert first.stepped or first.next_due is not None
    await asyncio.gather(*(_past(ledger, first.next_due or 0) for _ in range(3)))
    group = await ledger.read(lambda reader: reader.group(GROUP))
    rows = await ledger.read(
        lambda reader: [
            found.data["attempt"]
            for seq in range(asked.seq, group.last_seq + 1)
            if (found := reader.glance(group).at(seq)) is not None
            and found.kind == "x.c2a.delivery"
            and found.data.get("attempt", 1) > 1
        ]
    )
    assert rows == sorted(set(rows))


async def _past(ledger: AsyncLedger, due: int) -> None:
    while ledger.store.options.clock.now() < due:
        await asyncio.sleep(0.01)
    while (await ledger.decide(RunDueTimers(GROUP))).answer.stepped:
        pass


def _everything(reader: Reader) -> list[tuple[int, str, str, Any]]:
    """Every event but for what chance and time put into it."""
    group = reader.group(GROUP)
    found = [reader.glance(group).at(seq) for seq in range(1, group.last_seq + 1)]
    ids = {one.event_id: f"event {one.seq}" for one in found if one is not None}
    return [
        (one.seq, one.kind, one.by, {name: ids.get(str(value), value) for name, value in one.data.items()})
        for one in found
        if one is not None
    ]


async def test_the_two_ways_leave_the_same_ledger(tmp_path: Path) -> None:
    prints = {}
    for where in ("thread", "process"):
        folder = tmp_path / where
        async with opened(folder, where) as made:
            await made.ledger.append(wanted("group.create", title="One"), creates=True)
            await made.ledger.append(wanted("actor.add", actor_id="ada", role="peer"))
            await made.ledger.decide(RecordSession(GROUP, "ada", "2026-06-24", MODES))
            for number in range(20):
                await made.say(f"@ada number {number}", client_id=f"c{number}")
            prints[where] = await made.ledger.read(_everything)
        report = verification.verify(folder, StoreOptions().entropy)
        assert report.sound, report.problems
    assert prints["thread"] == prints["process"]


@pytest.mark.spec("C2A-083", "C2A-086")
async def test_an_author_who_goes_on_is_told_to_whoever_still_owes_the_answer(written: Written) -> None:
    ledger = written.ledger
    for name in ("ada", "bob"):
        await ledger.decide(RecordSession(GROUP, name, "2026-06-24", MODES))
    await ledger.decide(SetPresence(GROUP, ("ada", "bob")))
    await ledger.decide(ChangeRules(GROUP, "user", {"dialogue": False}))
    asked = (await written.say("@ada which port")).event
    assert written.effects(AuthorContinued) == []
    await written.say("of the staging database, I mean")
    assert written.effects(AuthorContinued) == [AuthorContinued("ada", asked.event_id)]
    written.told.clear()
    # Nobody else's words, no other place, and nothing once it was answered.
    await written.say("just so you know", by="bob")
    await written.say("elsewhere", conversation={"id": "side", "kind": "channel"})
    assert written.effects(AuthorContinued) == []
    send = {
        "target": f"thread:{asked.event_id}", "content": "7433", "inReplyTo": asked.event_id,
        "idempotencyKey": "k1", "visibility": "thread", "directedness": "to_me",
    }  # fmt: skip
    assert (
        await ledger.decide(CallTool(GROUP, "ada", "chat.send_message", send, "2026-06-24"))
    ).answer.result
    written.told.clear()
    await written.say("and thanks")
    assert written.effects(AuthorContinued) == []


@pytest.mark.spec("CCCS-113", "CCCS-114")
async def test_a_killed_writer_loses_nothing_acknowledged_and_comes_back(tmp_path: Path) -> None:
    async with opened(tmp_path / "data", "process") as made:
        await made.ledger.append(wanted("group.create", title="One"), creates=True)
        link = made.store.transport
        assert isinstance(link, WriterLink)
        restarts = asyncio.Queue[None]()
        link.on_restart = lambda: restarts.put_nowait(None)
        kept: set[str] = set()
        for round_ in range(3):
            calls = [asyncio.ensure_future(made.say(f"{round_}.{number}")) for number in range(200)]
            await calls[0]
            os.kill(link.process_id or 0, signal.SIGKILL)
            for outcome in await asyncio.gather(*calls, return_exceptions=True):
                if isinstance(outcome, Committed):
                    kept.add(outcome.event.event_id)
                else:
                    assert isinstance(outcome, Unavailable), outcome
                    assert outcome.unknown
            await restarts.get()
            kept.add((await made.say("after")).event.event_id)
        group = await made.ledger.read(lambda reader: reader.group(GROUP))
        there = await made.ledger.read(
            lambda reader: {reader.glance(group).at(seq).event_id for seq in range(1, group.last_seq + 1)}
        )
        assert kept <= there
        await asyncio.to_thread(link.close)
        assert link.process_id is None, "who closes waits for the last writer too, not only for the first"
    report = verification.verify(tmp_path / "data", StoreOptions().entropy)
    assert report.sound, report.problems


async def test_a_second_hub_is_kept_out_while_the_writer_of_the_first_still_lives(tmp_path: Path) -> None:
    """The writer inherits the folder's lock: a hub that is killed lets nobody in before its writer is done."""
    async with opened(tmp_path / "data", "process") as made:
        # What a killed hub leaves: its own hold on the lock is gone, its writer's is not.
        os.close(os.dup(made.store.lock.handle))
        held = os.dup(made.store.lock.handle)
        try:
            with pytest.raises(Unavailable, match="in use"):
                Store(tmp_path / "data", StoreOptions())
        finally:
            os.close(held)


@pytest.mark.folder
@pytest.mark.spec("C2A-006")
async def test_a_writer_that_was_started_again_knows_who_is_there(tmp_path: Path) -> None:
    """Without word of who is connected it would draft for nobody, and every delivery would be read back."""
    async with running(tmp_path / "data", writer="process") as room:
        group = await room.group("One")
        token = await room.actor(group, "ada")
        hub = room.server.hub
        link = hub.store.transport
        assert isinstance(link, WriterLink)
        session = AgentSession(room.url, token)
        async with session:
            await session.is_up()
            os.kill(link.process_id or 0, signal.SIGKILL)
            drafts: list[DeliveryDraft] = []
            committed = hub.ledger.on_committed

            def watch(one: Committed) -> None:
                drafts.extend(effect for effect in one.effects if isinstance(effect, DeliveryDraft))
                committed(one)

            hub.ledger.on_committed = watch
            while not drafts:
                with contextlib.suppress(Unavailable):
                    await hub.ledger.append(wanted("chat.message", "user", group, text="@ada are you there?"))
            assert drafts[0].session == "ada"


@pytest.mark.parametrize(
    "command",
    [
        Append(wanted("chat.message", text="h\u00e9llo", nested={"a": [1, 2.5, None, True]}), creates=True),
        AppendTogether((wanted("chat.message", text="x"),), BlobShare("a", "b", ("p",), "user")),
        RecordBlob("g", "s", 1, "m", "p"),
        IssueCredential(b"\0\xff", "t", "p", None, ("g",)),
        AdoptOwnerToken(b"h", "t", "user"),
        RevokeCredential("t"),
        SetWebhook("g", "s", "u", "x", "v"),
        DropWebhook("g", "s"),
        Ping(),
        CallTool("g", "s", "chat.react", {"signal": "seen", "n": 1}, "v"),
        CallTool("g", "s", "chat.react", {}, "v", AgreedSignals({"x.y": "!"}, {"x.y": Disposition.CLAIMED})),
        RecordSession("g", "s", "v", ("immediate",), interrupt=True),
        SetPresence("g", ("a", "b")),
        RunDueTimers("g"),
        RunDueTimers("g", (SessionLife("s", Moment(1), Moment(2), frozenset({"e"})),), Moment(3)),
        ReportWork("g", "s", "e", "failed", "t1", 2, "busy", "Busy.", Moment(4)),
        EditMessage("g", "p", "e", "t", ("ada",), "c"),
        DeleteMessage("g", "p", "e"),
        Steer("g", "p", "leave", agent="ada"),
        ChangeRules("g", "p", {"deadline_ms": 5}),
    ],
    ids=lambda command: type(command).__name__,
)
def test_every_command_is_a_value_that_travels(command: Any) -> None:
    body = codec.encode_commands([command])
    assert codec.decode_commands(codec.frames(bytearray(body))[0]) == [command]
    # Fed byte by byte it is the same.
    buffer, found = bytearray(), []
    for one in body:
        buffer.append(one)
        found += codec.frames(buffer)
    assert codec.decode_commands(found[0]) == [command]


@pytest.mark.spec("C2A-172")
@pytest.mark.parametrize("unknown", [True, False])
def test_whether_it_happened_is_told_from_the_writer_to_whoever_called(unknown: bool) -> None:
    """What may have happened is repeated only where a repeat is recognised; what did not happen always."""
    said = codec.encode_reply([Unavailable("no answer", unknown=unknown)], 0, 0)
    heard = codec.decode_reply(codec.frames(bytearray(said))[0]).outcomes[0]
    for told in (failure(heard), rpc_error(heard)):
        error = error_of(told)
        assert isinstance(error, Unavailable)
        assert error.unknown is unknown
        assert passing(error, "send", repeatable=True) is error
        with pytest.raises(OutcomeUnknown) if unknown else contextlib.nullcontext():
            passing(error, "send", repeatable=False)
