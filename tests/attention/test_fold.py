"""The fold: rebuilt state equals live state, records survive their trip through the ledger, nothing is impure."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import pytest

import tacit.attention
from tacit.attention.state import records
from tacit.ledger import envelope
from tacit.ledger.kinds import HOUSE
from tests.attention.world import START, Room
from tests.base.test_cores_are_pure import _faults

if TYPE_CHECKING:
    from tacit.attention.state.fold import Attention

SOURCE = Path(tacit.attention.__file__).parent


def busy_room() -> Room:
    room = Room()
    room.say("@lead can you look at the index")
    room.record(
        "x.c2a.delivery",
        event_id="m1",
        session="lead",
        policy="must_respond",
        mode="buffered",
        directedness="to_me",
        reason="direct_mention",
        deadline_ms=300_000,
    )
    room.record("x.c2a.claim", target="thread:m1", session="tester", action="take", expires_at=START + 10**9)
    room.say("ok to drop it?", by="lead", reply_to="m1")
    room.say("the disk is slow", by="worker", reply_to="m1")
    room.record(
        "x.c2a.disposition",
        event_id="m1",
        session="lead",
        disposition="responded",
        closes=True,
        reason="resolved",
    )
    room.record(
        "x.c2a.membership", session="worker", conversation="main", thread="m1", action="leave", event_id="m5"
    )
    room.record("x.c2a.approval", approval_id="p", session="lead", state="asked", what="w", expires_at=START)
    room.record("context.sync", ops=[{"op": "set", "store": "tasks", "key": "T", "value": {"owner": "lead"}}])
    room.say("yes", reply_to="m4")
    room.record("x.c2a.delete", event_id="m5")
    room.record("x.c2a.progress", session="lead", token="t", progress=1)
    return room


def _state(attention: Attention) -> object:
    return (
        sorted((one.target, one.session, one.expires_at) for one in attention.claims),
        [msgspec.to_builtins(one) for one in attention.obligations],
        attention.threads, attention.thread_owner, attention.awaiting,
        attention.exchanges._exchanges, attention.absences._absent, attention.versions._deleted,
        attention.ownership._tasks, attention.approvals._by_what,
    )  # fmt: skip


@pytest.mark.spec("C2A-214", "C2A-159")
def test_a_rebuilt_state_equals_the_live_one_and_decides_the_same() -> None:
    live = busy_room()
    again = Room()
    for one in live.log:
        again.put(envelope.decode(msgspec.json.encode(one)))
    assert _state(again.attention) == _state(live.attention)
    for room in (live, again):
        assert room.attention.threads["m1"] == {"lead", "tester", "worker"}
    for text in ("why", "@worker hm", "thanks"):
        mine, theirs = live.say(text, reply_to="m1"), again.say(text, reply_to="m1")
        assert dict(mine) == dict(theirs)


def test_an_answer_to_an_agents_question_obliges_even_when_it_is_short() -> None:
    room = Room()
    room.say("ok to drop the index?", by="lead")
    assert room.say("ok", reply_to="m1")["lead"].policy == "must_respond"
    dm = Room()
    dm.say("ok to drop the index?", by="lead", to=["user"])
    assert dm.say("ok", to=["lead"])["lead"].policy == "must_respond"
    assert dm.say("ok", to=["lead"])["lead"].policy == "must_not_respond"


@pytest.mark.spec("C2A-214")
def test_every_record_has_a_kind_of_the_house_and_comes_back_from_json() -> None:
    samples: list[records.Record] = [
        records.Delivery(event_id="e", session="s", policy="may_respond", mode="notify", directedness="ambient", reason="ambient"),
        records.Claim(target="event:e", session="s", action="take", expires_at=4),
        records.Disposition(event_id="e", session="s", disposition="failed", error={"code": "x"}),
        records.Edit(supersedes="e", text="t"), records.Delete(event_id="e"),
        records.Membership(session="s", conversation="c", action="leave"),
        records.Progress(session="s", token="t", progress=0.5), records.Digest(session="s", scope="c", policy="must_not_respond", text="t"),
        records.Approval(approval_id="a", session="s", state="asked", what="w"), records.Audit(what="w", details={"a": 1}),
        records.Accepted(session="s", event_ids=["e"], for_=["s"]), records.Rules(values={"similarity": 0.8}),
        records.Session(session="s", version="2026-06-24", modes=["notify"]), records.Usage(session="s", tokens_in=3),
        records.Ephemeral(session="s", key="k", where="channel:main", sha256="0", length=3),
    ]  # fmt: skip
    assert {records.kind_of(one) for one in samples} == set(records.KINDS)
    for one in samples:
        kind = records.kind_of(one)
        assert kind.startswith(HOUSE)
        made = envelope.Event(
            v=1,
            id="x",
            ts="2026-06-02T19:10:00Z",
            seq=1,
            kind=kind,
            group_id="g",
            scope_key="",
            by="system",
            data=records.data_of(one),
        )
        assert records.record_of(envelope.decode(msgspec.json.encode(made))) == one
    assert records.moment_of(made) == START


@pytest.mark.parametrize("path", sorted(SOURCE.glob("*.py")), ids=lambda path: path.stem)
def test_attention_is_pure_and_knows_no_transport(path: Path) -> None:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    assert _faults(tree) == []
    imported = {node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert not any(
        name.startswith(("aiohttp", "tacit.hub", "tacit.client", "tacit.ledger.io")) for name in imported
    )
