"""What time alone brings to a group, through the writer."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tacit.attention.commands import Steer
from tacit.attention.settings import DEFAULTS
from tacit.attention.state import records
from tests.attention.io.house import GROUP

if TYPE_CHECKING:
    from tests.attention.io.house import House


def role_of(house: House, *names: str) -> None:
    for name in names:
        house.do(GROUP, "user", "actor.update", actor_id=name, roles=["ops"])


def owing(house: House, event_id: str) -> list[str]:
    return [one.session for one in house.attention.obligations.of_event(event_id) if one.owed]


def pass_time(house: House, seconds: float) -> None:
    house.clock.move(seconds)
    house.tick()


@pytest.mark.spec("C2A-175", "C2A-178", "C2A-174", "C2A-176")
def test_an_obligation_is_sent_again_at_half_and_at_four_fifths_and_then_moves_on(house: House) -> None:
    asked = house.say(GROUP, "user", "@ann please check the disk")
    attempts = []
    for seconds in (149, 1, 89, 1, 59, 1):
        pass_time(house, seconds)
        attempts.append((house.attention.obligations.get(asked.id, "ann").attempt, owing(house, asked.id)))
    assert attempts == [
        (1, ["ann"]), (2, ["ann"]), (2, ["ann"]), (3, ["ann"]), (3, ["ann"]), (4, ["ben"]),
    ]  # fmt: skip
    first, second = (house.attention.obligations.get(asked.id, name) for name in ("ann", "ben"))
    assert (first.policy, first.deadline_ms) == ("may_respond", None)
    assert (second.reason, second.deadline_ms) == ("escalation", 300_000)
    assert second.deadline_at == house.clock.now() + 300_000_000


@pytest.mark.spec("C2A-176", "C2A-177")
def test_an_obligation_that_nobody_is_left_for_is_told_to_a_person_once(house: House) -> None:
    house.present.discard("ben")
    asked = house.say(GROUP, "user", "@ann please check the disk")
    for _ in range(8):
        pass_time(house, 60)
    notices = [one.data for one in house.events(GROUP) if one.kind == "system.notify"]
    assert [one["related_event_id"] for one in notices] == [asked.id]
    assert owing(house, asked.id) == []


@pytest.mark.spec("C2A-059", "C2A-116")
def test_what_nobody_had_to_answer_ends_ignored_when_its_window_closes(house: House) -> None:
    root = house.say(GROUP, "user", "@ann the index is slow")
    house.say(GROUP, "ann", "it may be the disk", reply_to=root.id)
    said = house.say(GROUP, "user", "the disk is new, though", reply_to=root.id)
    assert house.attention.obligations.get(said.id, "ann").policy != "must_not_respond"
    pass_time(house, 3_599)
    assert house.attention.obligations.get(said.id, "ann").disposition is None
    pass_time(house, 1)
    ended = house.attention.obligations.get(said.id, "ann")
    assert (ended.disposition, ended.closed, ended.attempt) == ("ignored", True, 1)


@pytest.mark.spec("C2A-222", "C2A-152")
def test_a_question_to_a_role_that_nobody_claims_is_given_to_the_least_loaded_who_is_there(
    house: House,
) -> None:
    role_of(house, "ann", "ben")
    house.say(GROUP, "user", "@ann please check the logs")
    asked = house.say(GROUP, "user", "@ops who looks at the disk?")
    pass_time(house, 29)
    assert owing(house, asked.id) == []
    pass_time(house, 1)
    assert owing(house, asked.id) == ["ben"]
    given = house.attention.obligations.get(asked.id, "ben")
    assert (given.reason, given.mode, given.directedness, given.needs_claim, given.attempt) == (
        "assignment", "buffered", "to_me", False, 2,
    )  # fmt: skip
    assert [(held.session, held.target) for held in house.attention.claims] == [("ben", f"event:{asked.id}")]


@pytest.mark.spec("C2A-222")
def test_the_owner_of_the_stream_comes_first_and_whoever_is_away_does_not_count(house: House) -> None:
    role_of(house, "ann", "ben")
    owned = {"op": "set", "key": "stream:s1", "value": {"title": "Disks", "owner": "ann"}}
    house.do(GROUP, "user", "context.sync", ops=[owned])
    house.say(GROUP, "user", "@ann please check the logs")
    there = {"kind": "channel", "id": "main", "stream_id": "s1"}
    first = house.say(GROUP, "user", "@ops who looks at the disk?", conversation=there)
    pass_time(house, 30)
    assert owing(house, first.id) == ["ann"]
    house.present.discard("ann")
    second = house.say(GROUP, "user", "@ops who looks at the other disk?", conversation=there)
    pass_time(house, 30)
    assert owing(house, second.id) == ["ben"]


@pytest.mark.spec("C2A-222")
def test_a_question_that_nobody_is_there_for_is_told_to_a_person_once(house: House) -> None:
    role_of(house, "ann", "ben")
    for name in ("ann", "ben"):
        house.present.discard(name)
    asked = house.say(GROUP, "user", "@ops who looks at the disk?")
    for _ in range(3):
        pass_time(house, 31)
    notices = [one.data for one in house.events(GROUP) if one.kind == "system.notify"]
    assert [one["related_event_id"] for one in notices] == [asked.id]


@pytest.mark.spec("C2A-155", "C2A-122")
def test_a_claim_that_runs_out_opens_the_event_again(house: House) -> None:
    role_of(house, "ann", "ben")
    asked = house.say(GROUP, "user", "@ops who looks at the disk?")
    house.call("ann", "chat.claim", eventId=asked.id)
    assert house.attention.obligations.get(asked.id, "ann").disposition == "claimed"
    pass_time(house, 599)
    assert [held.session for held in house.attention.claims] == ["ann"]
    pass_time(house, 1)
    ended = [one.data for one in house.events(GROUP) if one.kind == "x.c2a.claim"]
    assert [(one["action"], one["session"]) for one in ended][:2] == [("take", "ann"), ("expire", "ann")]
    assert house.attention.obligations.get(asked.id, "ann").disposition is None


@pytest.mark.spec("C2A-092")
def test_a_digest_goes_out_once_a_quarter_of_an_hour_and_not_when_there_is_nothing_to_tell(
    house: House,
) -> None:
    told = {"op": "set", "key": "stream:s1", "value": {"title": "Builds", "digest": ["ben"]}}
    house.do(GROUP, "user", "context.sync", ops=[told])
    there = {"kind": "channel", "id": "main", "stream_id": "s1"}

    def digests() -> list[list[str]]:
        return [one.data["event_ids"] for one in house.events(GROUP) if one.kind == "x.c2a.digest"]

    first = house.say(GROUP, "user", "build 512 passed", conversation=there)
    pass_time(house, 899)
    second = house.say(GROUP, "user", "build 513 passed", conversation=there)
    assert digests() == []
    pass_time(house, 1)
    assert digests() == [[first.id, second.id]]
    pass_time(house, 2_000)
    assert len(digests()) == 1
    house.say(GROUP, "user", "build 514 passed", conversation=there)
    pass_time(house, 1)
    assert len(digests()) == 2


@pytest.mark.spec("C2A-155", "C2A-173")
def test_signs_of_life_renew_no_claim_of_a_hoarder(house: House) -> None:
    role_of(house, "ann", "ben")
    house.record(records.RulesRecord(values={"claims_per_session": 4}, by="user"))
    asked = [house.say(GROUP, "user", f"@ops who looks at disk {n}?") for n in range(3)]
    for one in asked:
        assert house.call("ann", "chat.claim", eventId=one.id)["claimed"]
        house.report("ann", one.id, "working")
    house.clock.move(1)
    late = house.say(GROUP, "user", "@ops and who at the last one?")
    house.clock.move(60)
    assert house.call("ann", "chat.claim", eventId=late.id)["claimed"]
    full = house.say(GROUP, "user", "@ops and the network?")
    assert house.call("ann", "chat.claim", eventId=full.id).code == "rate_limited"
    house.clock.move(540)
    house.hear("ann", *(one.id for one in asked))
    house.tick()
    held = {one.target for one in house.attention.claims if one.session == "ann"}
    kept = {f"event:{one.id}" for one in asked} & held
    assert len(kept) == 1, "all three were at their end: those that made a hoard are lost first"
    assert f"event:{late.id}" in held
    house.assert_rebuilds()


@pytest.mark.spec("C2A-222")
def test_a_question_is_not_given_to_whoever_holds_as_many_as_it_may(house: House) -> None:
    role_of(house, "ann", "ben")
    house.present.discard("ben")
    house.record(records.RulesRecord(values={"claims_per_session": 1}, by="user"))
    first = house.say(GROUP, "user", "@ops who looks at the disk?")
    assert house.call("ann", "chat.claim", eventId=first.id)["claimed"]
    second = house.say(GROUP, "user", "@ops and who at the network?")
    pass_time(house, 31)
    assert owing(house, second.id) == []
    notices = [one.data for one in house.events(GROUP) if one.kind == "system.notify"]
    assert [one["related_event_id"] for one in notices] == [second.id]


@pytest.mark.spec("C2A-122", "C2A-207")
def test_whoever_puts_off_to_the_horizon_asks_a_person_for_more(house: House) -> None:
    house.do(GROUP, "user", "x.tacit.person.add", principal="usr:bea", title="Bea")
    asked = house.say(GROUP, "usr:bea", "@ann please check the disk")
    defer = {"eventId": asked.id, "reason": "the backup runs", "eta": "in 5 hours"}
    assert house.call("ann", "chat.defer", **defer)["resurfacesAt"]
    back = house.attention.obligations.get(asked.id, "ann")
    assert back.resurfaces_at == back.horizon(DEFAULTS) == back.created_at + 65 * 60_000_000
    pass_time(house, 65 * 60)
    assert owing(house, asked.id) == ["ann"]
    refused = house.call("ann", "chat.defer", **defer)
    assert (refused.code, refused.details["state"]) == ("approval_required", "unasked")
    again = house.call("ann", "chat.defer", **defer)
    assert again.details["state"] == "asked"
    [waiting] = house.attention.approvals.waiting(house.clock.now())
    assert (waiting.kind, waiting.event_id, waiting.people) == ("defer", asked.id, ("ann", "usr:bea"))
    assert "in 5 hours" in waiting.title
    house.store.decide(Steer(GROUP, "usr:bea", "approve", approval_id=waiting.approval_id))
    assert house.call("ann", "chat.defer", **{**defer, "eta": "in 9 days"}).code == "approval_required"
    assert house.call("ann", "chat.defer", **defer)["ok"]
    pass_time(house, 5 * 3_600 - 1)
    assert house.attention.obligations.get(asked.id, "ann").disposition == "deferred"
    pass_time(house, 1)
    assert owing(house, asked.id) == ["ann"]
    assert house.call("ann", "chat.defer", **defer).details["state"] == "unasked", "one yes, one time"
    pass_time(house, 300)
    assert owing(house, asked.id) == ["ben"]
    house.assert_rebuilds()


@pytest.mark.spec("C2A-173", "C2A-207")
@pytest.mark.parametrize("op", ["approve", "refuse", ""])
def test_while_a_person_is_asked_the_deadline_stands_still_and_then_runs_anew(house: House, op: str) -> None:
    asked = house.say(GROUP, "user", "@ann please compile the whole tree")
    pass_time(house, 100)
    wish = {"key": "k1", "eventId": asked.id, "kind": "command", "title": "make"}
    approval_id = house.call("ann", "chat/permission", **wish)["approvalId"]
    house.present.discard("ann")
    before = len(house.events(GROUP))
    for _ in range(20):
        pass_time(house, 86_400)
    assert owing(house, asked.id) == ["ann"]
    assert len(house.events(GROUP)) == before, "what waits leaves no record of its waiting"
    if op:
        house.steer(op, approval_id=approval_id)
    else:
        house.call("ann", "chat/permission", key="k1", withdrawn="not needed any more")
    pass_time(house, 149)
    assert house.attention.obligations.get(asked.id, "ann").attempt == 1, "its time began anew"
    pass_time(house, 300)
    assert owing(house, asked.id) == ["ben"], "without the agent it runs out as ever"
    house.assert_rebuilds()
