"""What the ledger remembers for attention does not depend on when the store was opened."""

from __future__ import annotations

import pytest

from tacit.attention.io.state_store import roster_for
from tacit.attention.state import records
from tacit.attention.state.fold import Attention
from tacit.attention.state.sessions import SessionAgreement
from tacit.c2a.vocabulary import Mode
from tacit.ledger.state import Actor, Group
from tests.attention.io.house import GROUP, House


@pytest.mark.parametrize("reopened", [False, True])
@pytest.mark.spec("C2A-214")
def test_a_name_that_came_later_changes_the_past_in_the_same_way_live_and_in_a_rebuild(house, reopened):
    asked = house.say(GROUP, "user", "@dora could you look at this?")
    house.do(GROUP, "user", "actor.add", actor_id="dora")
    house.connect("dora")
    if reopened:
        house.reopen()
    house.say(GROUP, "user", "anybody?", reply_to=asked.id)
    house.assert_rebuilds()


@pytest.mark.parametrize("reopened", [False, True])
def test_a_changed_setting_changes_the_past_in_the_same_way_live_and_in_a_rebuild(house, reopened):
    asked = house.say(GROUP, "user", "ann, what is the plan?")
    house.record(records.RulesRecord(values={"vocatives": False}, by="user"))
    if reopened:
        house.reopen()
    house.say(GROUP, "user", "and the next one", reply_to=asked.id)
    house.assert_rebuilds()


@pytest.mark.spec("C2A-190")
def test_an_agent_may_leave_a_channel_and_a_thread_of_it(house):
    asked = house.say(GROUP, "user", "@ann what is the plan?")
    house.say(GROUP, "user", "and the budget?", reply_to=asked.id)
    assert house.call("ann", "chat.leave", threadId=asked.id)["ok"]
    assert house.call("ann", "chat.leave", conversationId="main")["ok"]
    house.assert_rebuilds()


@pytest.mark.spec("C2A-154")
def test_a_claim_on_a_thread_covers_its_first_message(house):
    house.do(GROUP, "user", "actor.update", actor_id="ann", roles=["ops"])
    house.do(GROUP, "user", "actor.update", actor_id="ben", roles=["ops"])
    asked = house.say(GROUP, "user", "@ops who looks at this?")
    assert house.call("ann", "chat.claim", threadId=asked.id)["claimed"]
    assert house.call("ben", "chat.claim", eventId=asked.id).code == "claim_conflict"
    send = {"target": f"thread:{asked.id}", "content": "Me!", "inReplyTo": asked.id, "idempotencyKey": "k",
            "visibility": "thread", "directedness": "ambient"}  # fmt: skip
    assert house.call("ben", "chat.send_message", **send).code == "claim_conflict"
    for seconds in (31, 570):
        house.clock.move(seconds)
        house.tick()
    assert house.attention.obligations.get(asked.id, "ann").disposition is None
    assert house.call("ben", "chat.claim", eventId=asked.id)["claimed"]


@pytest.mark.spec("C2A-155")
def test_a_claim_that_is_given_back_opens_the_event_for_the_others(house):
    house.do(GROUP, "user", "actor.update", actor_id="ann", roles=["ops"])
    house.do(GROUP, "user", "actor.update", actor_id="ben", roles=["ops"])
    asked = house.say(GROUP, "user", "@ops who looks at this?")
    assert house.call("ann", "chat.claim", eventId=asked.id)["claimed"]
    house.clock.move(100)
    house.tick()
    assert house.call("ann", "chat.claim", eventId=asked.id, release=True) == {
        "ok": True, "claimed": False, "owner": None,
    }  # fmt: skip
    assert house.attention.obligations.get(asked.id, "ann").disposition is None
    assert house.attention.obligations.get(asked.id, "ben").attempt == 2
    house.clock.move(31)
    house.tick()
    assert [
        obligation.session for obligation in house.attention.obligations.of_event(asked.id) if obligation.owed
    ]


@pytest.mark.spec("C2A-177")
def test_an_obligation_that_is_given_back_and_forth_is_never_lost(house):
    asked = house.say(GROUP, "user", "@ann please check the disk")
    for to in ("ben", "ann", "ben"):
        house.steer("reassign", event_id=asked.id, to=to)
        assert [
            obligation.session
            for obligation in house.attention.obligations.of_event(asked.id)
            if obligation.owed
        ] == [to]


def test_one_member_that_is_sent_away_leaves_the_question_open_for_the_others(house):
    house.do(GROUP, "user", "actor.update", actor_id="ann", roles=["ops"])
    house.do(GROUP, "user", "actor.update", actor_id="ben", roles=["ops"])
    asked = house.say(GROUP, "user", "@ops who looks at this?")
    house.steer("leave", agent="ann")
    house.clock.move(31)
    house.tick()
    assert [
        obligation.session for obligation in house.attention.obligations.of_event(asked.id) if obligation.owed
    ] == ["ben"]


@pytest.mark.spec("C2A-176", "C2A-177")
def test_whoever_takes_over_may_answer_although_the_first_ones_claim_still_runs(house):
    for name in ("ann", "ben"):
        house.do(GROUP, "user", "actor.update", actor_id=name, roles=["ops"])
    asked = house.say(GROUP, "user", "@ops who looks at this?")
    holders = []
    for seconds in (31, 160, 100, 60):
        house.clock.move(seconds)
        house.tick()
        holders.append(
            [
                obligation.session
                for obligation in house.attention.obligations.of_event(asked.id)
                if obligation.owed
            ]
        )
    assert holders[0] != holders[-1]
    assert all(len(one) == 1 for one in holders)
    send = {"target": f"thread:{asked.id}", "content": "It was a full disk.", "inReplyTo": asked.id,
            "idempotencyKey": "k", "visibility": "thread", "directedness": "ambient"}  # fmt: skip
    assert house.call(holders[-1][0], "chat.send_message", **send)["ok"]
    house.assert_rebuilds()


@pytest.mark.spec("C2A-214")
def test_a_message_that_was_edited_twice_before_the_first_harness_came_stands_in_its_newest_form(tmp_path):
    house = House(tmp_path / "data")
    house.group(GROUP, ann="peer")
    first = earlier = house.say(GROUP, "user", "@ann could you look at this?").id
    for number in range(2):
        house.record(
            records.EditRecord(supersedes=earlier, text=f"@ann could you look at {number}?", by="user")
        )
        earlier = house.page(GROUP)[-1].event_id
    house.connect("ann")
    assert house.attention.versions.latest(first) == earlier
    assert house.attention.obligations.get(earlier, "ann") is not None
    house.assert_rebuilds()


@pytest.mark.parametrize("names_the_first", [True, False])
def test_a_message_that_was_edited_very_often_is_read_in_any_of_its_forms(house, names_the_first):
    first = house.say(GROUP, "user", "@ann draft", to=["ann"], conversation={"kind": "dm"}).id
    forms = [first]
    for number in range(60):
        record = records.EditRecord(
            supersedes=forms[-1],
            text=f"@ann draft {number}",
            original=first if names_the_first and number else None,
            by="user",
        )
        house.record(record)
        forms.append(house.attention.versions.latest(first))
    past = house.live.past
    looks = Counted(past.events)
    past.events = looks
    for at in (1, 30, 60):
        form = past.form(forms[at])
        assert (form.data["text"], form.data["supersedes"]) == (f"@ann draft {at - 1}", forms[at - 1])
        assert form.data["to"] == ["ann"]
        assert past.original(forms[at]) == first
        assert house.attention.versions.latest(forms[at]) == forms[-1]
    assert looks.count < 30


class Counted:
    """Events that are counted as they are looked up."""

    def __init__(self, events):
        self.events = events
        self.count = 0

    def event(self, event_id):
        self.count += 1
        return self.events.event(event_id)

    def at(self, seq):
        return self.events.at(seq)


def test_the_roster_follows_from_the_ledgers_group() -> None:
    group = Group(
        "g",
        actors={
            "lead": Actor("lead", role="foreman", title="The Lead", roles=("qa",)),
            "old": Actor("old", removed=4),
        },
    )
    known = Attention()
    known.sessions["lead"] = SessionAgreement("lead", "2026-06-24", frozenset({Mode.NOTIFY}))
    roster = roster_for(group, known, online=frozenset())
    assert set(roster.agents) == {"lead"}
    assert roster.leads == ("lead",)
    assert not roster.agents["lead"].online
    assert roster.agents["lead"].modes == {Mode.NOTIFY}
    assert roster_for(group, Attention()).agents["lead"].online
    assert roster.names["the lead"] == "lead"
    assert roster.roles["qa"] == {"lead"}


@pytest.mark.spec("C2A-027", "C2A-214")
def test_a_fold_lists_what_is_open_and_finds_what_is_closed(house):
    table = house.live.folds.table("kept", str, int, lambda value: value > 0)
    table["a"], table["b"] = 1, 0
    assert (list(table), len(table), table["b"]) == (["a"], 1, 0)
    table["a"], table["b"] = 0, 2
    assert (list(table), len(table), table["a"]) == (["b"], 1, 0)
    del table["b"]
    assert (list(table), len(table), "b" in table) == ([], 0, False)
