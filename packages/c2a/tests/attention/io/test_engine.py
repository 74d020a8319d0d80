"""The engine in the writer: what reaches nobody, what goes out on its own, and where a thread begins."""

from __future__ import annotations

from typing import TYPE_CHECKING

import apsw
import pytest

from tacit.attention.commands import EditMessage, TimerDue
from tacit.attention.io import engine
from tacit.attention.state import records, timers
from tacit.attention.state.claims import event_target
from tacit.base.errors import Unavailable
from tests.attention.io.house import GROUP, House
from tests.ledger.io import faulty

if TYPE_CHECKING:
    from pathlib import Path

SUBSCRIBED = {"op": "set", "key": "stream:s1", "value": {"title": "Builds", "digest": ["ben"]}}
STREAM = {"kind": "channel", "id": "main", "stream_id": "s1"}


@pytest.mark.spec("C2A-110", "C2A-182", "C2A-183")
def test_progress_is_never_chat_and_reaches_no_session_not_even_one_with_a_digest(house: House) -> None:
    house.do(GROUP, "user", "context.sync", ops=[SUBSCRIBED])
    asked = house.say(GROUP, "user", "@ann please rebuild the index", conversation=STREAM)
    house.sent()
    before = len(house.page(GROUP))
    assert house.call("ann", "chat.progress", progressToken=asked.id, progress=2, total=5)["ok"]
    assert {one.kind for one in house.page(GROUP)[before:]} <= {"x.c2a.progress", "x.c2a.audit"}
    assert house.sent() == []
    house.clock.move(1_000)
    house.tick()
    told = [one for one in house.events(GROUP) if one.kind == "x.c2a.digest"]
    assert not any(one.data["text"] for one in told)


@pytest.mark.spec("C2A-093", "C2A-092", "C2A-076")
def test_a_digest_obliges_nobody_and_what_names_its_reader_is_delivered_on_its_own(house: House) -> None:
    house.do(GROUP, "user", "context.sync", ops=[SUBSCRIBED])
    build = house.say(GROUP, "user", "build 512 passed", conversation=STREAM)
    named = house.say(GROUP, "user", "@ben build 513 needs your eyes", conversation=STREAM)
    assert house.attention.obligations.get(named.id, "ben").policy == "must_respond"
    assert house.attention.obligations.get(build.id, "ben") is None
    house.clock.move(901)
    house.tick()
    [digest] = [one for one in house.events(GROUP) if one.kind == "x.c2a.digest"]
    assert (digest.data["event_ids"], digest.data["policy"]) == ([build.id], "must_not_respond")
    delivered = house.attention.obligations.get(digest.id, "ben")
    assert (delivered.policy, delivered.mode) == ("must_not_respond", "digest")


@pytest.mark.spec("C2A-210")
def test_a_threads_id_is_the_root_of_its_replies_and_data_thread_is_not_read(house: House) -> None:
    root = house.say(GROUP, "user", "@ann why is the index slow?")
    below = house.say(GROUP, "ann", "it is the disk", reply_to=root.id)
    deeper = house.say(GROUP, "user", "which one?", reply_to=below.id, thread="T9")
    beside = house.say(GROUP, "user", "lunch was good", thread=root.id)
    past = house.live.past
    threads = [past.get(one.id).conversation.thread for one in (root, below, deeper, beside)]
    assert threads == [None, root.id, root.id, None]
    house.reopen()
    past = house.live.past
    assert [past.get(one.id).conversation.thread for one in (root, below, deeper, beside)] == threads


@pytest.mark.spec("C2A-210", "C2A-214")
def test_a_reply_to_an_edit_is_in_the_thread_of_the_message_that_was_edited(house: House) -> None:
    root = house.say(GROUP, "user", "@ann why is the index slow?")
    below = house.say(GROUP, "ann", "it is the disk", reply_to=root.id)
    edits = []
    for one, text in ((root, "@ann why is the index very slow?"), (below, "it is the new disk")):
        house.record(records.EditRecord(supersedes=one.id, text=text, by=one.by))
        edits.append(house.attention.versions.latest(one.id))
    replies = [house.say(GROUP, "user", "it was fine yesterday", reply_to=one) for one in edits]

    def threads() -> list[str | None]:
        return [house.live.past.get(one.id).conversation.thread for one in replies]

    assert threads() == [root.id, root.id]
    # Whoever takes part in the thread hears of it, and its author of an answer to what it wrote.
    heard = [house.attention.obligations.get(one.id, "ann") for one in replies]
    assert [one and one.reason for one in heard] == ["thread_participation", "thread_question"]
    house.reopen()
    assert threads() == [root.id, root.id]
    house.assert_rebuilds()


@pytest.mark.spec("C2A-048")
def test_an_agent_that_is_bound_to_no_actor_any_more_gets_nothing_aimed_at_it(house: House) -> None:
    house.do(GROUP, "user", "actor.remove", actor_id="ann")
    said = house.say(GROUP, "user", "@ann could you look at this?")
    assert house.attention.obligations.get(said.id, "ann") is None
    assert "ann" not in house.live.past.roster.agents
    assert house.live.past.get(said.id).target.agents == frozenset()


@pytest.mark.spec("C2A-079", "C2A-026")
def test_the_mode_is_the_hosts_choice_and_never_more_than_the_harness_agreed_to(house: House) -> None:
    house.connect("ben", ["notify", "tool_mailbox", "silent"])
    said = house.say(GROUP, "user", "@ann and @ben, could you look at this?", mode="immediate")
    modes = {one.session: one.mode for one in house.attention.obligations.of_event(said.id)}
    assert modes == {"ann": "buffered", "ben": "notify"}


@pytest.mark.spec("C2A-158", "C2A-176")
@pytest.mark.parametrize(
    ("op", "given"), [("cancel", {}), ("reassign", {"to": "ben"}), ("leave", {"agent": "ann"})]
)
def test_who_steers_is_told_which_event_it_became(house: House, op: str, given: dict[str, str]) -> None:
    asked = house.say(GROUP, "user", "@ann please rebuild the index")
    before = house.page(GROUP)[-1].seq
    answer = house.steer(op, **({"event_id": asked.id} if op != "leave" else {}), **given)
    fresh = [one for one in house.page(GROUP) if one.seq > before]
    assert answer["event_id"] == fresh[0].event_id


@pytest.mark.spec("C2A-003", "C2A-116", "C2A-158")
def test_the_hub_is_told_when_an_offer_that_nobody_took_must_be_assigned(house: House) -> None:
    for agent in ("ann", "ben"):
        house.do(GROUP, "user", "actor.update", actor_id=agent, roles=["ops"])
    house._effects.clear()
    asked = house.say(GROUP, "user", "@ops who looks at this?")
    due = {one.at for one in house._effects if isinstance(one, TimerDue)}
    [offer] = house.attention.offered(event_target(asked.id))
    assert not offer.held
    assert timers.assign_at(offer.at, house.attention.settings) in due


@pytest.mark.spec("C2A-155")
@pytest.mark.parametrize("given", [{}, {"ttlMs": 60_000}])
def test_the_hub_is_told_when_a_claim_runs_out(house: House, given: dict[str, int]) -> None:
    asked = house.say(GROUP, "user", "@ann please rebuild the index")
    house._effects.clear()
    assert house.call("ann", "chat.claim", eventId=asked.id, **given)["ok"]
    [held] = house.attention.claims.of_session("ann", house.clock.now())
    assert held.expires_at in {one.at for one in house._effects if isinstance(one, TimerDue)}


def test_attention_that_begins_late_reads_what_was_said_lately_and_no_further(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine, "LOOK_BACK", 3)
    house = House(tmp_path / "data")
    house.group(GROUP, ann="peer", ben="peer")
    said = [house.say(GROUP, "user", f"@ann what is {number}?") for number in range(5)]
    house.connect("ann")
    lately = [False, False, True, True, True]
    assert [house.attention.decided.get(one.id) is not None for one in said] == lately
    assert [house.attention.obligations.get(one.id, "ann") is not None for one in said] == lately
    house.close()


@pytest.mark.spec("C2A-027")
def test_what_did_not_get_onto_the_disk_obliges_nobody(tmp_path: Path) -> None:
    with faulty.disk() as disk:
        house = House(tmp_path / "data", vfs=disk.name)
        house.group(GROUP, ann="peer", ben="peer")
        house.connect("ann")
        disk.fail("write", 0, apsw.FullError, times=10**9)
        with pytest.raises(Unavailable):
            house.say(GROUP, "user", "@ann which port is it?")
        disk.heal()
        said = house.say(GROUP, "user", "@ann which host is it?")
        assert [one.event_id for one in house.live.attention.obligations] == [said.id]
        house.assert_rebuilds()
        house.close()


def test_an_edit_that_comes_again_is_one_edit_and_two_keys_are_two(house: House) -> None:
    said = house.say(GROUP, "user", "the port is 7433")
    for key, text in (("k1", "it is 7434"), ("k1", "it is 7434"), ("k2", "it is 7435")):
        house.store.decide(EditMessage(GROUP, "user", said.id, text, client_id=key))
    edits = [one.data["text"] for one in house.events(GROUP) if one.kind == "x.c2a.edit"]
    assert edits == ["it is 7434", "it is 7435"]
