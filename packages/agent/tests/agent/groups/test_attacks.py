"""What nobody in a group can do: speak for another, count twice, change the list, learn what was not told them."""

from __future__ import annotations

import json

import msgspec
import pytest

from tacit.a2acp.consent.tiers import DEFAULT, Override
from tacit.a2acp.packets import schemas
from tacit.a2acp.packets.shapes import MalformedPacket
from tacit.agent.groups import grouping, transferring
from tacit.agent.groups.fold import GroupTables
from tacit.base.errors import Refused
from tests.agent.groups.circle import FRIDAY, GAME_NIGHT, SATURDAY, circle, own_thread
from tests.agent.scheduling.desk import identity_of

pytestmark = pytest.mark.usefixtures("acquaintance")
BOTH = [FRIDAY, SATURDAY]
NAMES = ("anna", "bob", "charlie", "diana")
INTENT = {"category": "group_scheduling", "summary": "Game night", "urgency": "normal"}


def standing():
    people = circle(dict.fromkeys(NAMES, BOTH))
    return people, people.ask()


def put(people, sender: str, to: str, group_id: str, kind: str, fields: dict, number: int = 0) -> None:
    people[to].receive(people[sender].me, group_id, f"pkt_forged{number:04}", kind, fields)
    people.settle()


@pytest.mark.spec("A2ACP-173")
def test_a_participant_that_proposes_changes_nothing():
    people, group_id = standing()
    anna, bob = people["anna"], people["bob"]
    resolution = people.sent(anna, "resolution")[0].fields
    own = {name: resolution[name] for name in ("proposal", "requires_confirmation_from", "on_timeout")}
    put(people, "bob", "anna", group_id, "resolution", {**own, "confirmation_timeout": "PT1H"})
    assert "not_the_coordinator" in anna.violations()
    assert own_thread(anna, group_id).state == "PROPOSED"
    # To another participant it is nobody: kept aside, or counted.
    put(people, "bob", "charlie", group_id, "resolution", {**own, "confirmation_timeout": "PT1H"})
    assert "outsider" in people["charlie"].violations()
    assert own_thread(people["charlie"], group_id).peer == anna.me
    assert bob.done == []


@pytest.mark.spec("A2ACP-142")
def test_nobody_confirms_for_another_and_nobody_counts_twice():
    people, group_id = standing()
    anna = people["anna"]
    packets = {one.to: one.packet_id for one in people.sent(anna, "resolution")}
    charlie, bob = people["charlie"].me, people["bob"].me
    body = {"status": "confirmed", "in_reply_to": packets[charlie]}
    put(people, "bob", "anna", group_id, "resolution_response", body)
    assert "response_to_nothing" in anna.violations()
    own = {"status": "confirmed", "in_reply_to": packets[bob], "confirmed_by": [charlie]}
    for number in range(1, 4):
        put(people, "bob", "anna", group_id, "resolution_response", own, number)
    assert set(own_thread(anna, group_id).proposal.confirmed) == {bob}


@pytest.mark.spec("A2ACP-173")
def test_a_stranger_who_knows_the_id_is_an_outsider():
    people, group_id = standing()
    anna = people["anna"]
    anna.receive(
        "agent:mallory@relay.example",
        group_id,
        "pkt_stranger00",
        "context",
        {"intent": INTENT, "context": {}},
    )
    assert "outsider" in anna.violations()


@pytest.mark.spec("A2ACP-174")
@pytest.mark.parametrize(
    "change",
    [
        lambda names: [*names, names[-1]],
        lambda names: [*names, "agent:mallory@relay.example"],
        lambda names: names[:1] + names[2:],
        lambda names: [*names[:-1], "agent:mallory@relay.example"],
        lambda names: [*names, names[1].replace("bob", "b0b")],
    ],
)
def test_a_list_that_names_twice_adds_a_stranger_or_drops_us_is_not_taken(change):
    people, group_id = standing()
    anna, bob = people["anna"], people["bob"]
    before = bob.book.part(GroupTables).groups[group_id]
    fields = {**people.sent(anna, "resolution")[0].fields, "participants": change(list(before.members))}
    put(people, "anna", "bob", group_id, "resolution", fields)
    assert "another_list" in bob.violations()
    assert bob.book.part(GroupTables).groups[group_id] == before
    fresh = {"intent": INTENT, "context": {}, "participants": change(list(before.members))}
    if "mallory" not in str(fresh["participants"]):
        put(people, "anna", "bob", "thr_another00", "context", fresh, 1)
        assert "bad_list" in bob.violations()
        assert "thr_another00" not in bob.book.threads


@pytest.mark.spec("A2ACP-174")
def test_a_coordinator_that_tells_each_another_list_is_found_out_by_the_digest():
    people = circle(dict.fromkeys(NAMES, BOTH))
    group_id = people.ask()
    digests = {one.fields["participants_digest"] for _, one in people.carried if one.to == people["anna"].me}
    assert len(digests) == 1
    body = {"context_provided": {"timezone": "UTC"}, "participants_digest": "0" * 12}
    put(people, "bob", "anna", group_id, "context_response", body)
    assert "another_list" in people["anna"].violations()
    shown = people["anna"].content(people["anna"].question("checkpoint"))
    assert shown["participants_digest"] in digests


def lying(people, to: str, change) -> None:
    """A coordinator that tells one participant something else, and is deaf to its digest."""
    anna, victim = people["anna"], people[to]
    carry = type(people).carry

    def told():
        for one in anna.out:
            if one.to == victim.me:
                one.fields = change(one.fields)
        for one in victim.out:
            one.fields = {name: value for name, value in one.fields.items() if name != "participants_digest"}
        return carry(people)

    people.carry = told


@pytest.mark.spec("A2ACP-173")
@pytest.mark.spec("A2ACP-174")
def test_a_coordinator_that_tells_each_another_list_is_found_out_by_the_participants_themselves():
    people = circle(dict.fromkeys(NAMES, BOTH))
    diana, erin = people["diana"].me, "agent:erin@relay.example"

    def without_diana(fields):
        named = [erin if one == diana else one for one in fields["participants"]]
        return {**fields, "participants": named}

    lying(people, "bob", without_diana)
    group_id = people.ask()
    # Bob was told of Erin, the others of Diana: each sees that another has signed another list.
    for name in NAMES[1:]:
        one = people[name]
        assert "another_list" in one.violations(), name
        assert "another_list" in one.notices(), name
        assert one.questions("checkpoint") == [], name
        assert own_thread(one, group_id).proposal is None, name


@pytest.mark.spec("A2ACP-174")
@pytest.mark.parametrize(
    "handed",
    [
        lambda _: [],
        lambda told: [{"agent": one["agent"], "signature": "a" * 154} for one in told],
    ],
    ids=["left out", "made up"],
)
def test_signatures_that_a_coordinator_leaves_out_or_makes_up_are_told_to_the_owner(handed):
    people = circle(dict.fromkeys(NAMES, BOTH))
    name = "participants_signatures"
    lying(people, "bob", lambda fields: {**fields, name: handed(fields[name])} if name in fields else fields)
    people.ask()
    bob, charlie, diana = (people[one] for one in NAMES[1:])
    shown = bob.content(bob.question("checkpoint"))
    assert shown["participants_unsigned"] == [charlie.me, diana.me]
    assert "unsigned_list" in bob.notices()
    # To the others it has told the truth.
    assert charlie.content(charlie.question("checkpoint"))["participants_unsigned"] == []
    assert "unsigned_list" not in charlie.notices() + diana.notices()


@pytest.mark.spec("A2ACP-174")
def test_of_people_whom_nobody_knows_a_signature_proves_nothing_and_a_list_that_shrank_is_still_one():
    people = circle(dict.fromkeys((*NAMES, "emil"), BOTH))
    people["bob"].keys[people["charlie"].me] = b""
    people.cut |= {people["diana"].me, people["emil"].me}
    people.ask()
    people.later(72 * 3600 * 1_000_000)
    people["anna"].answer(people["anna"].question("escalation"), choose=0)
    people.settle()
    bob, charlie = people["bob"], people["charlie"]
    shown = bob.content(bob.question("checkpoint"))
    assert shown["participants"] == [people["anna"].me, bob.me, charlie.me]
    assert shown["participants_unsigned"] == [charlie.me]
    # Whom it does not know it cannot blame; and the one who knows both sees one list.
    assert "unsigned_list" not in bob.notices()
    assert charlie.content(charlie.question("checkpoint"))["participants_unsigned"] == []
    digests = {
        one.content(one.question("checkpoint"))["participants_digest"] for one in (people["anna"], bob)
    }
    assert len(digests) == 1


@pytest.mark.spec("A2ACP-142")
def test_who_is_in_a_group_by_two_addresses_of_one_key_is_refused_where_it_is_known():
    people = circle(dict.fromkeys(NAMES, BOTH))
    anna = people["anna"]
    anna.keys[people["diana"].me] = identity_of(people["bob"].me).signing_public
    with pytest.raises(Refused) as refused:
        people.ask()
    assert refused.value.code == "bad_group"
    anna.keys[people["diana"].me] = anna.identity.signing_public
    with pytest.raises(Refused):
        people.ask()


@pytest.mark.spec("A2ACP-142")
@pytest.mark.spec("A2ACP-151")
@pytest.mark.parametrize("quorum", [None, 2])
def test_two_addresses_of_one_key_count_once_wherever_the_key_is_learnt(quorum):
    people = circle(dict.fromkeys(NAMES, BOTH))
    anna, bob, diana = people["anna"], people["bob"], people["diana"]
    group_id = people.ask(quorum=quorum)
    anna.keys[diana.me] = identity_of(bob.me).signing_public
    people.confirm("bob", "diana")
    assert own_thread(anna, group_id).state == "PROPOSED"
    assert people.group(group_id).present == (anna.me, bob.me, people["charlie"].me)
    assert "one_key_twice" in anna.notices()
    assert not own_thread(diana, group_id).is_open
    assert diana.done == []
    people.confirm("anna", "charlie")
    assert own_thread(anna, group_id).state == "COMPLETED"
    assert diana.done == []


@pytest.mark.spec("A2ACP-142")
def test_two_addresses_of_one_key_that_answer_leave_the_others_a_group_before_anything_is_proposed():
    people = circle(dict.fromkeys(NAMES, BOTH))
    anna, diana = people["anna"], people["diana"]
    anna.keys[diana.me] = b""
    goal = anna.goal(GAME_NIGHT)
    others = [one for one in people.desks if one != anna.me]
    group_id = anna.decide(lambda ws: grouping.begin(ws, goal, others))
    anna.keys[diana.me] = identity_of(people["bob"].me).signing_public
    people.settle()
    assert people.group(group_id).present == tuple(people[one].me for one in NAMES[:3])
    people.confirm("anna", "bob", "charlie")
    assert own_thread(anna, group_id).state == "COMPLETED"
    assert diana.me not in [one.to for one in people.sent(anna, "resolution")]


@pytest.mark.spec("A2ACP-142")
def test_a_coordinator_that_lets_one_key_count_twice_is_not_followed_by_whoever_knows_it():
    people = circle(dict.fromkeys(NAMES, BOTH))
    charlie = people["charlie"]
    charlie.keys[people["diana"].me] = identity_of(people["bob"].me).signing_public
    people.ask()
    assert charlie.questions("checkpoint") == []
    assert "one_key_twice" in charlie.notices()
    assert people["bob"].question("checkpoint")


@pytest.mark.spec("A2ACP-055")
def test_only_the_coordinator_hands_its_role_on():
    people, group_id = standing()
    body = {
        "from_coordinator": people["bob"].me, "to_coordinator": people["diana"].me,
        "reason": "mine", "requires_acceptance": False,
    }  # fmt: skip
    put(people, "bob", "anna", group_id, "coordinator_transfer", body)
    assert "not_the_coordinator" in people["anna"].violations()
    put(people, "bob", "charlie", group_id, "coordinator_transfer", body, 1)
    assert people["charlie"].book.part(GroupTables).groups[group_id].coordinator == people["anna"].me
    whole = {**body, "from": people["anna"].me}
    with pytest.raises(MalformedPacket):
        schemas.check_in("coordinator_transfer", whole)
    schemas.check_in("coordinator_transfer", {**body, "from": people["bob"].me})
    for missing in ("from_coordinator", "to_coordinator", "reason", "requires_acceptance"):
        less = {name: value for name, value in body.items() if name != missing}
        with pytest.raises(MalformedPacket):
            schemas.check_in("coordinator_transfer", {**less, "from": people["bob"].me})


@pytest.mark.spec("A2ACP-184")
def test_a_role_given_without_asking_is_asked_for_all_the_same():
    people = circle(dict.fromkeys(NAMES, BOTH))
    people.cut.add(people["diana"].me)
    group_id = people.ask()
    bob = people["bob"]
    body = {
        "from_coordinator": people["anna"].me, "to_coordinator": bob.me,
        "reason": "yours", "requires_acceptance": False,
    }  # fmt: skip
    put(people, "anna", "bob", group_id, "coordinator_transfer", body)
    answer = people.sent(bob, "coordinator_transfer_response")
    assert [one.fields["accepted"] for one in answer] == [True]
    # Anna has offered nothing: its yes is an answer to nothing, and the role stays.
    assert people["anna"].book.part(GroupTables).groups[group_id].coordinator == people["anna"].me
    assert own_thread(people["anna"], group_id).is_open


@pytest.mark.spec("A2ACP-184")
def test_what_comes_before_the_word_that_makes_it_the_coordinator_has_its_turn_after_it():
    people = circle(dict.fromkeys(NAMES, BOTH))
    people.cut.add(people["diana"].me)
    group_id = people.ask()
    anna, bob, charlie = (people[one] for one in ("anna", "bob", "charlie"))
    anna.decide(lambda ws: transferring.offer(ws, ws.book.part(GroupTables).groups[group_id], bob.me))
    held = []
    carry = type(people).carry

    def later(circle):
        # Anna's word to Charlie is slow.
        held.extend(one for one in anna.out if one.to == charlie.me)
        anna.out = [one for one in anna.out if one.to != charlie.me]
        return carry(circle)

    people.carry = lambda: later(people)
    people.settle()
    assert charlie.book.part(GroupTables).early
    assert own_thread(charlie, group_id).peer == anna.me
    people.carry = lambda: carry(people)
    for one in held:
        charlie.receive(anna.me, one.thread_id, one.packet_id, one.type, one.fields)
    people.settle()
    assert not charlie.book.part(GroupTables).early
    assert own_thread(charlie, group_id).peer == bob.me


@pytest.mark.spec("A2ACP-181")
def test_asking_the_coordinator_for_what_others_told_it_gets_nothing_of_theirs():
    people = circle(
        dict.fromkeys(NAMES, BOTH),
        charlie={
            "profile": {"timezone": "Europe/London", "dietary": "quillmarker", "budget_range": "4711 marks"}
        },
    )
    group_id = people.ask("dinner on Friday evening")
    fields = [
        "dietary", "others_dietary", "charlie_dietary", "participants", "charlie", "raw_values", "context_cache",
        "budget_range", "known_charlie", "time_windows", "values_by_agent", "who_declined", "calendar",
        "availability_overlap", "notes", "history", "messages", "other_peoples_information", "all", "everything",
    ]  # fmt: skip
    for start in range(0, len(fields), 5):
        needs = [{"field": one, "reason": "so", "priority": "required"} for one in fields[start : start + 5]]
        put(people, "bob", "anna", group_id, "context_request", {"needs": needs}, start)
        for question in people["anna"].questions("consent"):
            people["anna"].answer(question, decline_all=True)
        people.settle()
    said = json.dumps([one.fields for _, one in people.carried if one.to == people["bob"].me])
    assert "quillmarker" not in said
    assert "4711" not in said


@pytest.mark.spec("A2ACP-181")
def test_what_may_be_passed_on_goes_only_as_far_as_everybody_may_know_it():
    diana = "agent:diana@relay.example"
    onward = msgspec.structs.replace(DEFAULT, always_share=(*DEFAULT.always_share, "dietary"),
                                     ask_first=tuple(one for one in DEFAULT.ask_first if one != "dietary"),
                                     onward_fields=("dietary",))  # fmt: skip
    withheld = msgspec.structs.replace(
        onward, overrides={diana: Override(restrict_to_never_share=("dietary",))}
    )
    told = {}
    for name, policy in (("free", onward), ("withheld", withheld)):
        people = circle(dict.fromkeys(NAMES, BOTH), charlie={"policy": policy})
        people.ask("dinner on Friday evening")
        answers = people.sent(people["charlie"], "context_response")
        told[name] = answers[-1].fields
    assert told["free"]["context_provided"]["dietary"] == "charlie eats no meat"
    assert told["free"]["permissions"]["onward_fields"] == ["dietary"]
    assert "dietary" not in told["withheld"].get("context_provided", {})
    assert "no meat" not in json.dumps(told["withheld"])
