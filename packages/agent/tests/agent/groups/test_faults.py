"""Two who coordinate at once, transfers that cross, and what windows tell of those who said no."""

from __future__ import annotations

import json
import re

import msgspec
import pytest

from tacit.a2acp.consent.tiers import DEFAULT
from tacit.agent.groups import transferring
from tacit.agent.groups.fold import GroupTables
from tacit.base.errors import Refused
from tests.agent.groups.circle import FRIDAY, SATURDAY, circle, own_thread

pytestmark = pytest.mark.usefixtures("acquaintance")
BOTH = [FRIDAY, SATURDAY]
NAMES = ("anna", "bob", "charlie", "diana")
REFUSES = msgspec.structs.replace(DEFAULT, never_share=(*DEFAULT.never_share, "dietary", "budget_range"))
INTENT = {"category": "group_scheduling", "summary": "Game night", "urgency": "normal"}


@pytest.mark.spec("A2ACP-173")
@pytest.mark.parametrize("proposed", [False, True], ids=["while asking", "while confirming"])
def test_a_second_coordinator_of_the_same_group_is_kept_aside_and_it_ends_once(proposed):
    people = circle(dict.fromkeys(NAMES, BOTH))
    anna, bob = people["anna"], people["bob"]
    if not proposed:
        people.cut.add(people["diana"].me)
    group_id = people.ask()
    opening = {"intent": INTENT, "context": {}, "participants": list(people.desks)}
    for name in ("anna", "charlie"):
        for number in range(8):
            people[name].receive(bob.me, group_id, f"pkt_second{name[:3]}{number:03}", "context", opening)
    people.settle()
    # To Anna Bob stays a participant; Charlie keeps a few words of his, in case that Anna hands over.
    assert own_thread(anna, group_id).role == "hub"
    assert people["charlie"].book.part(GroupTables).groups[group_id].coordinator == anna.me
    assert len(people["charlie"].book.part(GroupTables).early) == 5
    assert own_thread(people["charlie"], group_id).peer == anna.me
    if not proposed:
        people.cut.clear()
        people.later(72 * 3600 * 1_000_000)
        anna.answer(anna.question("escalation"), choose=0)
        people.settle()
        people.confirm("anna", "bob", "charlie")
        assert not own_thread(anna, group_id).is_open
        assert people["diana"].done == []
        return
    people.confirm()
    assert set(people.states(group_id).values()) == {"COMPLETED"}
    assert all(one.done == [("do", "calendar")] for one in people.desks.values())


@pytest.mark.spec("A2ACP-173")
def test_two_groups_of_the_same_people_at_once_are_two_and_each_ends_once():
    people = circle(dict.fromkeys(NAMES[:3], BOTH))
    anna, bob = people["anna"], people["bob"]
    first = people.ask()
    second = people.ask("game night on Saturday evening", by=bob)
    assert first != second
    for one in people.desks.values():
        for question in one.questions("checkpoint"):
            one.answer(question, confirm=True)
    people.settle()
    for group_id, coordinator in ((first, anna.me), (second, bob.me)):
        for one in people.desks.values():
            assert one.book.part(GroupTables).groups[group_id].coordinator == coordinator
            assert own_thread(one, group_id).state == "COMPLETED"
    assert all(one.done == [("do", "calendar")] * 2 for one in people.desks.values())


@pytest.mark.spec("A2ACP-055")
@pytest.mark.spec("A2ACP-184")
def test_of_two_transfers_that_cross_the_coordinators_own_counts():
    people = circle(dict.fromkeys(NAMES, BOTH))
    people.cut.add(people["diana"].me)
    group_id = people.ask()
    anna, bob, charlie = (people[one] for one in NAMES[:3])
    anna.decide(lambda ws: transferring.offer(ws, ws.book.part(GroupTables).groups[group_id], bob.me))
    with pytest.raises(Refused, match="somebody already"):
        anna.decide(lambda ws: transferring.offer(ws, ws.book.part(GroupTables).groups[group_id], charlie.me))
    with pytest.raises(Refused, match="only the coordinator"):
        bob.decide(lambda ws: transferring.offer(ws, ws.book.part(GroupTables).groups[group_id], charlie.me))
    # Bob's agent was changed and offers the role all the same, to Anna and to Charlie.
    for number, to in enumerate((anna, charlie)):
        body = {
            "from_coordinator": bob.me, "to_coordinator": to.me,
            "reason": "mine", "requires_acceptance": True,
        }  # fmt: skip
        to.receive(bob.me, group_id, f"pkt_crossing{number:03}", "coordinator_transfer", body)
    people.settle()
    assert {one.book.part(GroupTables).groups[group_id].coordinator for one in (anna, bob, charlie)} == {
        bob.me
    }
    assert people.sent(charlie, "coordinator_transfer_response") == []
    people.cut.clear()
    people.later(72 * 3600 * 1_000_000)
    bob.answer(bob.question("escalation"), choose=0)
    people.settle()
    people.confirm("anna", "bob", "charlie")
    assert {own_thread(one, group_id).state for one in (anna, bob, charlie)} == {"COMPLETED"}


def seen_by_bob(**charlie) -> str:
    """All that Bob is told in a game night, without ids and signatures."""
    plain = {name: {"profile": {"timezone": "Europe/London"}} for name in NAMES}
    people = circle(dict.fromkeys(NAMES, BOTH), **{**plain, "charlie": charlie})
    people.ask("dinner on Friday evening")
    said = [one.fields for _, one in people.carried if one.to == people["bob"].me]
    assert any("proposal" in one for one in said)
    return re.sub(r'"(fan_\w+|[a-z2-7]{154})"', '"-"', json.dumps(said))


@pytest.mark.spec("A2ACP-181")
@pytest.mark.spec("A2ACP-180")
def test_nobody_learns_from_windows_and_proposals_who_refused_what():
    told = {"timezone": "Europe/London", "dietary": "charlie eats no meat", "budget_range": "at most 40 GBP"}
    nothing = {"timezone": "Europe/London"}
    refused = seen_by_bob(profile=told, policy=REFUSES)
    assert "charlie" in refused
    assert refused != seen_by_bob(profile=told), "what is told would be seen to have had its effect"
    assert refused == seen_by_bob(profile=nothing)
    assert refused == seen_by_bob(profile=nothing, policy=REFUSES)
