"""The fold: rebuilt state equals live state, and nothing in attention is impure."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import pytest

import tacit.attention
from tacit.attention.state import records
from tacit.attention.state.fold import KEPT_ITEMS, KEPT_RECALLED
from tacit.attention.state.sessions import SessionAgreement
from tacit.c2a.vocabulary import Mode
from tacit.ledger import envelope
from tests.attention.world import START, Room, event, three
from tests.base.test_cores_are_pure import _faults

if TYPE_CHECKING:
    from tacit.attention.state.fold import Attention


@pytest.mark.spec("C2A-050", "C2A-072")
def test_who_writes_or_is_named_in_a_thread_takes_part_in_it() -> None:
    room = Room()
    room.say("@lead what do you think about the index")
    room.say("it is slow", by="worker", reply_to="m1")
    reply = room.say("the disk is slow too", reply_to="m1")
    assert [three(reply[name])[0] for name in ("lead", "worker", "tester")] == [
        "to_my_role",
        "to_my_role",
        "ambient",
    ]
    deeper = room.say("and the network", reply_to="m3")
    assert deeper.parsed is not None
    assert deeper.parsed.conversation.thread == "m1"


def test_an_agent_that_opened_a_thread_owns_it() -> None:
    room = Room()
    room.say("I will look at the index", by="worker")
    room.say("status: half way", reply_to="m1")
    assert room.attention.thread_owner["m1"] == "worker"


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
        attention.exchanges._exchanges, attention.absences._absent, attention.versions._forms,
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


@pytest.mark.parametrize(
    "path",
    [path for path in sorted(SOURCE.rglob("*.py")) if path.parent.name != "io"],
    ids=lambda path: "-".join(path.relative_to(SOURCE).with_suffix("").parts),
)
def test_attention_is_pure_and_knows_no_transport(path: Path) -> None:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    assert _faults(tree) == []
    imported = {node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert not any(
        name.startswith(("aiohttp", "tacit.hub", "tacit.client", "tacit.ledger.io")) for name in imported
    )


@pytest.mark.spec("C2A-027")
def test_what_is_listed_for_a_session_is_cut_to_the_newest() -> None:
    room = Room()
    room.record("context.sync", ops=[{"op": "set", "key": "channel:main", "value": {"digest": ["lead"]}}])
    room.attention.sessions["lead"] = SessionAgreement("lead", "2026-06-24", frozenset(Mode))
    for number in range(KEPT_ITEMS + 2):
        said = event(f"build {number} passed", event_id=f"b{number}", at_s=number, seq=number + 1)
        room.attention.take(said, records.moment_of(said), room.roster)
    waiting = room.attention.pending_digests["lead"].event_ids
    assert (len(waiting), waiting[0], waiting[-1]) == (500, "b2", "b501")
    for number in range(KEPT_RECALLED + 2):
        where = {"event_id": f"b{number}", "session": "lead"}
        room.record("x.c2a.delivery", **where, policy="must_respond", mode="buffered", directedness="to_me", reason="direct_mention")  # fmt: skip
        room.record("x.c2a.accepted", session="lead", event_ids=[f"b{number}"])
        room.record("x.c2a.disposition", **where, disposition="superseded", closes=True)
    recalled = room.attention.recalled["lead"]
    assert (len(recalled), recalled[0], recalled[-1]) == (20, "b2", "b21")


@pytest.mark.spec("C2A-180")
def test_only_what_a_session_has_and_did_not_end_itself_is_called_back_from_it() -> None:
    room = Room()
    for number, (accepted, reported) in enumerate([(True, False), (False, False), (True, True)]):
        where = {"event_id": f"b{number}", "session": "lead"}
        room.record("x.c2a.delivery", **where, policy="must_respond", mode="buffered", directedness="to_me", reason="direct_mention")  # fmt: skip
        if accepted:
            room.record("x.c2a.accepted", session="lead", event_ids=[f"b{number}"])
        room.record("x.c2a.disposition", **where, disposition="superseded", closes=True, reported=reported)
    assert room.attention.recalled["lead"] == ("b0",)
