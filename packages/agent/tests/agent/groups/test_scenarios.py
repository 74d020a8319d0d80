"""Groups as people have them: who bends, who is silent, who is enough, who is next, who takes over."""

from __future__ import annotations

import json

import pytest

from tacit.a2acp.packets.packet import FEATURES
from tacit.agent.consent import answering
from tacit.agent.consent.answering import Answer
from tacit.agent.groups import grouping, parting, transferring
from tacit.agent.groups import records as group_records
from tacit.agent.groups.fold import LEFT_OUT, GroupTables
from tacit.agent.kernel import records
from tacit.agent.kernel.workspace import Peer
from tacit.base.errors import Refused
from tacit.base.moment import Moment
from tests.agent.groups.circle import FRIDAY, GAME_NIGHT, SATURDAY, busy_but, circle, own_thread
from tests.agent.scheduling.desk import DAY, HOUR, span

pytestmark = pytest.mark.usefixtures("acquaintance")
SUNDAY = ("2026-03-29T18:00:00Z", "2026-03-29T22:00:00Z")
BOTH = [FRIDAY, SATURDAY]


def four(charlie=(SUNDAY,), **more):
    return circle({"anna": BOTH, "bob": BOTH, "charlie": list(charlie), "diana": BOTH}, **more)


def everything_sent(people, to):
    return json.dumps([one.fields for _, one in people.carried if one.to == to.me])


@pytest.mark.spec("A2ACP-175")
@pytest.mark.spec("A2ACP-177")
@pytest.mark.spec("A2ACP-178")
@pytest.mark.spec("A2ACP-179")
@pytest.mark.spec("A2ACP-054")
def test_only_the_one_who_binds_is_asked_to_bend_and_all_beats_three():
    people = four()
    group_id = people.ask()
    anna, charlie = people["anna"], people["charlie"]
    asked = [one for one in people.sent(anna, "context") if "aggregated_context" in one.fields]
    assert [one.to for one in asked] == [charlie.me]
    told = asked[0].fields["aggregated_context"]
    assert {one["agent"]: one["status"] for one in told["participants"]} == dict.fromkeys(
        people.desks, "context_received"
    )
    assert told["availability_overlap"]["windows"][0]["missing"] == [charlie.me]
    assert people.group(group_id).members[charlie.me] == "awaiting_response"
    question = charlie.question("escalation")
    choices = charlie.content(question)["choices"]
    assert choices[0].startswith("Friday") or choices[0].startswith("Saturday")
    friday = next(number for number, one in enumerate(choices) if one.startswith("Friday"))
    charlie.busy = busy_but(FRIDAY, SUNDAY)
    charlie.answer(question, choose=friday)
    people.settle()
    proposed = people.sent(anna, "resolution")
    assert {one.to for one in proposed} == {people[name].me for name in ("bob", "charlie", "diana")}
    assert {one.fields["proposal"]["details"]["date"] for one in proposed} == {"2026-03-27"}
    people.confirm()
    assert set(people.states(group_id).values()) == {"COMPLETED"}
    assert all(one.done == [("do", "calendar")] for one in people.desks.values())


@pytest.mark.spec("A2ACP-179")
def test_with_nothing_for_all_the_owner_chooses_among_ranked_windows():
    people = four()
    group_id = people.ask()
    charlie = people["charlie"]
    question = charlie.question("escalation")
    charlie.answer(question, choose=len(charlie.content(question)["choices"]) - 2)
    people.settle()
    anna = people["anna"]
    question = anna.question("escalation")
    content = anna.content(question)
    assert content["alternatives"][0]["missing"] == [charlie.me]
    assert "3 of 4" in content["choices"][0]
    anna.answer(question, choose=0)
    people.settle()
    assert people.group(group_id).members[charlie.me] == LEFT_OUT
    assert own_thread(charlie, group_id).closed_reason == "went_on_without"
    people.confirm("anna", "bob", "diana")
    assert charlie.done == []
    assert people.states(group_id) == {
        "anna": "COMPLETED", "bob": "COMPLETED", "charlie": "DECLINED", "diana": "COMPLETED",
    }  # fmt: skip


@pytest.mark.spec("A2ACP-182")
def test_diana_never_answers_and_the_owner_goes_on_with_three():
    people = four(charlie=BOTH)
    diana = people["diana"]
    people.cut.add(diana.me)
    group_id = people.ask()
    assert people.group(group_id).members[diana.me] == "awaiting_response"
    people.later(2 * DAY + HOUR)
    anna = people["anna"]
    question = anna.question("escalation")
    content = anna.content(question)
    assert content["silent"] == [diana.me]
    assert content["choices"] == [grouping.GO_ON, grouping.WAIT, grouping.STOP]
    people.cut.clear()
    anna.answer(question, choose=0)
    people.settle()
    told = [one for one in people.sent(anna, "context") if one.to == diana.me]
    ended = [one for one in people.sent(anna, "thread_status") if one.to == diana.me]
    # An agent of which nothing is known is told in words that every agent takes.
    assert ended or told[-1].fields["intent"]["summary"] == "The others go on without you"
    people.confirm("anna", "bob", "charlie")
    assert own_thread(anna, group_id).state == "COMPLETED"


@pytest.mark.spec("A2ACP-182")
def test_whoever_answers_after_the_others_went_on_is_told_how_it_ended():
    people = four(charlie=BOTH)
    anna, diana = people["anna"], people["diana"]
    anna.peers.pop(diana.me, None)  # her agent is one that anna's has never heard
    group_id = people.ask(share=False)
    for name in ("bob", "charlie"):
        people.share(name)
    people.settle(share=False)
    people.later(2 * DAY + HOUR, share=False)
    anna.answer(anna.question("escalation"), choose=0)
    people.settle(share=False)
    assert own_thread(diana, group_id).is_open, "her agent had said nothing of what it takes"
    anna.peers[diana.me] = Peer(diana.me, frozenset(FEATURES), heard=True, version="a2acp/0.2")
    people.share("diana")
    people.settle(share=False)
    ended = own_thread(diana, group_id)
    assert (ended.state, ended.closed_reason) == ("DECLINED", "went_on_without")
    assert "went_on_without" in diana.notices()
    assert len(people.sent(anna, "thread_status")) == 1


@pytest.mark.spec("A2ACP-196")
def test_a_participant_who_is_blocked_is_told_nothing_and_the_others_go_on():
    people = four(charlie=BOTH)
    anna, diana = people["anna"], people["diana"]
    people.cut.add(diana.me)
    group_id = people.ask()
    before = len([one for one in people.carried if one[1].to == diana.me])
    people.cut.clear()
    anna.decide(lambda ws: parting.part(ws, diana.me))
    people.settle()
    assert len([one for one in people.carried if one[1].to == diana.me]) == before
    people.confirm("anna", "bob", "charlie")
    assert own_thread(anna, group_id).state == "COMPLETED"


@pytest.mark.spec("A2ACP-182")
def test_waiting_once_more_is_offered_once_and_an_answer_meanwhile_settles_it():
    people = four(charlie=BOTH)
    diana, anna = people["diana"], people["anna"]
    people.cut.add(diana.me)
    group_id = people.ask()
    people.later(2 * DAY + HOUR)
    anna.answer(anna.question("escalation"), choose=1)
    people.later(2 * DAY + HOUR)
    assert anna.content(anna.question("escalation"))["choices"] == [grouping.GO_ON, grouping.STOP]
    anna.answer(anna.question("escalation"), choose=1)
    people.settle()
    assert own_thread(anna, group_id).state == "DECLINED"
    assert own_thread(people["bob"], group_id).state == "DECLINED"


@pytest.mark.spec("A2ACP-151")
def test_three_of_five_confirm_in_the_same_second_and_one_table_is_booked():
    names = ("anna", "bob", "charlie", "diana", "emil")
    people = circle(dict.fromkeys(names, BOTH))
    anna = people["anna"]
    anna.handlers["book_table"] = {"kind": "webhook", "for": [], "reversible": True}
    group_id = people.ask(quorum=3)
    for one in ("bob", "charlie", "anna", "diana"):
        desk = people[one]
        desk.answer(desk.question("checkpoint"), confirm=True)
    people.settle()
    met = [one for one in anna.log if isinstance(one, group_records.Met)]
    assert len(met) == 1
    assert len([one for one in anna.log if isinstance(one, records.Moved) and one.after == "CONFIRMED"
                and one.thread_id == group_id]) == 1  # fmt: skip
    assert sorted(anna.done) == [("do", "book_table"), ("do", "calendar")]
    emil = people["emil"]
    assert "goes_ahead" in emil.notices()
    assert own_thread(emil, group_id).state == "PROPOSED"
    people.confirm("emil")
    assert emil.done == [("do", "calendar")]
    assert set(people.states(group_id).values()) == {"COMPLETED"}
    assert sorted(anna.done) == [("do", "book_table"), ("do", "calendar")]


@pytest.mark.spec("A2ACP-151")
@pytest.mark.spec("A2ACP-145")
def test_a_quorum_without_its_coordinators_owner_acts_for_those_who_said_yes():
    people = circle(dict.fromkeys(("anna", "bob", "charlie", "diana"), BOTH))
    group_id = people.ask(quorum=2)
    people.confirm("bob", "charlie")
    anna = people["anna"]
    assert people["bob"].done == people["charlie"].done == [("do", "calendar")]
    assert anna.done == []
    people.confirm("anna")
    assert anna.done == [("do", "calendar")]
    assert own_thread(anna, group_id).state == "COMPLETED"


@pytest.mark.spec("A2ACP-151")
@pytest.mark.spec("A2ACP-166")
@pytest.mark.parametrize(
    ("said", "free"),
    [
        (Answer(refuse=True), True),
        (Answer(counter=("time", "20:00")), True),
        (Answer(confirm=True), False),
    ],
)
def test_a_coordinators_owner_who_stays_away_keeps_nobody_who_confirmed_waiting(said, free):
    people = circle(dict.fromkeys(("anna", "bob", "charlie"), BOTH))
    group_id = people.ask(quorum=2)
    people.confirm("bob", "charlie")
    anna = people["anna"]
    asked = anna.question("checkpoint").question_id
    anna.decide(lambda ws: answering.answer(ws, asked, said, slot_free=free))
    people.settle()
    assert anna.done == []
    assert anna.questions() == []
    assert people["bob"].done == people["charlie"].done == [("do", "calendar")]
    assert set(people.states(group_id).values()) == {"COMPLETED"}


@pytest.mark.spec("A2ACP-153")
def test_a_no_in_a_quorum_ends_it_only_when_too_few_are_left():
    people = circle(dict.fromkeys(("anna", "bob", "charlie", "diana"), BOTH))
    group_id = people.ask(quorum=3)
    for name, state in (("diana", "PROPOSED"), ("charlie", "DECLINED")):
        desk = people[name]
        desk.answer(desk.question("checkpoint"), refuse=True)
        people.settle()
        assert own_thread(people["anna"], group_id).state == state
    assert people.states(group_id) == dict.fromkeys(("anna", "bob", "charlie", "diana"), "DECLINED")


@pytest.mark.spec("A2ACP-142")
@pytest.mark.spec("A2ACP-153")
def test_where_all_are_needed_one_no_ends_it_for_everybody():
    people = circle(dict.fromkeys(("anna", "bob", "charlie"), BOTH))
    group_id = people.ask()
    people.confirm("anna", "bob")
    charlie = people["charlie"]
    charlie.answer(charlie.question("checkpoint"), refuse=True)
    people.settle()
    assert set(people.states(group_id).values()) == {"DECLINED"}
    assert all(one.done == [] for one in people.desks.values())


@pytest.mark.spec("A2ACP-152")
def test_in_order_the_next_is_asked_after_the_one_before_and_the_look_at_the_calendar():
    people = circle(dict.fromkeys(("anna", "bob", "charlie"), BOTH))
    group_id = people.ask(in_order=True)
    anna, bob, charlie = (people[one] for one in ("anna", "bob", "charlie"))
    assert not bob.questions("checkpoint")
    people.confirm("anna")
    assert bob.questions("checkpoint")
    assert not charlie.questions("checkpoint")
    # What was free is taken meanwhile: the next is not asked for it.
    anna.busy = busy_but(SATURDAY)
    people.confirm("bob")
    assert "slot_taken" in anna.notices()
    proposed = people.sent(anna, "resolution")
    assert [one.to for one in proposed] == [bob.me]
    assert anna.content(anna.question("checkpoint"))["proposal"]["details"]["date"] == "2026-03-28"
    people.confirm("anna")
    people.confirm("bob")
    people.confirm("charlie")
    assert set(people.states(group_id).values()) == {"COMPLETED"}


@pytest.mark.spec("A2ACP-183")
@pytest.mark.spec("A2ACP-184")
def test_bob_takes_over_and_charlies_budget_is_not_handed_to_him():
    people = four(charlie=BOTH)
    anna, bob, charlie, diana = (people[one] for one in ("anna", "bob", "charlie", "diana"))
    people.cut.add(diana.me)
    group_id = people.ask()
    leg = anna.book.part(GroupTables).legs[group_id, charlie.me]
    anna.receive(
        charlie.me, group_id, "pkt_budget0000", "context",
        {"intent": {"category": "", "summary": "", "urgency": "normal"}, "context": {"budget_range": "at most 4711"}},
    )  # fmt: skip
    anna.settle()
    assert anna.thread(leg).packets[-1].packet_id == "pkt_budget0000"
    anna.decide(lambda ws: transferring.offer(ws, ws.book.part(GroupTables).groups[group_id], bob.me))
    people.cut.clear()
    people.settle()
    for desk in people.desks.values():
        assert desk.book.part(GroupTables).groups[group_id].coordinator == bob.me
    assert anna.thread(group_id).closed_reason == "transferred"
    assert "4711" not in everything_sent(people, bob)
    assert own_thread(bob, group_id).role == "hub"
    people.confirm()
    assert set(people.states(group_id).values()) == {"COMPLETED"}
    assert all(one.done == [("do", "calendar")] for one in people.desks.values())
    for desk in people.desks.values():
        desk.restarted()


@pytest.mark.spec("A2ACP-184")
@pytest.mark.spec("A2ACP-072")
@pytest.mark.parametrize("released", [False, True])
def test_the_sums_go_to_the_new_coordinator_alone_as_far_as_they_are_released_and_the_role_goes_anyway(
    released,
):
    people = four()
    anna, bob, charlie, diana = (people[one] for one in ("anna", "bob", "charlie", "diana"))
    group_id = people.ask()
    if not released:
        anna.decide(lambda ws: ws.change(group_id, approved={}))
    anna.decide(lambda ws: transferring.offer(ws, ws.book.part(GroupTables).groups[group_id], bob.me))
    people.settle()
    said = {one.to: one.fields for one in people.sent(anna, "coordinator_transfer")}
    assert set(said) == {bob.me, charlie.me, diana.me}
    sums = said[bob.me]["aggregated_context"]
    assert {one["agent"] for one in sums["participants"]} == set(people.desks)
    overlap = sums.get("availability_overlap", {"windows": []})
    shown = [one["window"].partition(" 18:")[0] for one in overlap["windows"]]
    assert shown == (["Friday 27 March", "Saturday 28 March"] if released else [])
    assert "aggregated_context" not in said[charlie.me] | said[diana.me]
    assert own_thread(bob, group_id).role == "hub"
    assert "generation_failed" not in anna.notices()


@pytest.mark.spec("A2ACP-178", "A2ACP-179")
def test_of_many_windows_four_are_offered_to_the_one_who_binds_and_to_the_owner():
    days = [(f"2026-03-{day}T18:00:00Z", f"2026-03-{day}T22:00:00Z") for day in range(24, 30)]
    people = circle(
        {"anna": days, "bob": days, "charlie": [("2026-03-30T18:00:00Z", "2026-03-30T22:00:00Z")]}
    )
    people.ask("game night this week")
    anna, charlie = people["anna"], people["charlie"]
    asked = [one for one in people.sent(anna, "context") if "coordinator_recommendation" in one.fields]
    assert [len(one.fields["context"]["proposed_alternatives"]) for one in asked] == [4]
    question = charlie.question("escalation")
    charlie.answer(question, choose=len(charlie.content(question)["choices"]) - 2)
    people.settle()
    content = anna.content(anna.question("escalation"))
    assert len(content["alternatives"]) == 4
    assert content["choices"][4:] == [grouping.STOP]


@pytest.mark.spec("A2ACP-184")
def test_whoever_writes_to_the_old_coordinator_hears_who_it_is_now():
    people = four(charlie=BOTH)
    anna, bob, diana = (people[one] for one in ("anna", "bob", "diana"))
    people.cut.add(diana.me)
    group_id = people.ask()
    anna.decide(lambda ws: transferring.offer(ws, ws.book.part(GroupTables).groups[group_id], bob.me))
    people.settle()
    anna.receive(
        diana.me, group_id, "pkt_toolate0000", "context_response", {"context_provided": {"timezone": "UTC"}}
    )
    anna.settle()
    answer = anna.out[-1]
    assert (answer.to, answer.type, answer.fields["to_coordinator"]) == (
        diana.me, "coordinator_transfer", bob.me,
    )  # fmt: skip


@pytest.mark.spec("A2ACP-184")
def test_ten_minutes_without_an_answer_are_a_no_and_a_later_yes_is_none():
    people = four()
    anna, bob = people["anna"], people["bob"]
    group_id = people.ask()
    people.cut.add(bob.me)
    anna.decide(lambda ws: transferring.offer(ws, ws.book.part(GroupTables).groups[group_id], bob.me))
    offered = anna.out[-1]
    with pytest.raises(Refused):
        anna.decide(
            lambda ws: transferring.offer(ws, ws.book.part(GroupTables).groups[group_id], people["diana"].me)
        )
    people.later(HOUR // 6)
    assert "transfer_declined" in anna.notices()
    anna.receive(
        bob.me, group_id, "pkt_lateyes0000", "coordinator_transfer_response",
        {"in_reply_to": offered.packet_id, "accepted": True},
    )  # fmt: skip
    assert anna.book.part(GroupTables).groups[group_id].coordinator == anna.me
    assert anna.thread(group_id).is_open


@pytest.mark.spec("A2ACP-183")
def test_a_coordinator_that_proposes_before_its_offer_is_answered_keeps_its_role():
    people = circle(dict.fromkeys(("anna", "bob", "charlie"), BOTH))
    anna, bob, charlie = (people[one] for one in ("anna", "bob", "charlie"))
    people.cut.add(charlie.me)
    group_id = people.ask()
    anna.decide(lambda ws: transferring.offer(ws, ws.book.part(GroupTables).groups[group_id], bob.me))
    offered = anna.out.pop()
    bob.receive(anna.me, offered.thread_id, offered.packet_id, offered.type, offered.fields)
    accepted = bob.out.pop()
    assert (accepted.fields["accepted"], bob.book.part(GroupTables).groups[group_id].offered_to) == (
        True,
        bob.me,
    )
    # Bob's yes is still on its way when they go on without Charlie, and a proposal stands.
    people.cut.clear()
    anna.decide(lambda ws: grouping.leave(ws, ws.thread(group_id), [charlie.me], LEFT_OUT))
    people.settle()
    assert anna.state(group_id) == "PROPOSED"
    anna.receive(bob.me, accepted.thread_id, accepted.packet_id, accepted.type, accepted.fields)
    people.settle()
    assert {one.book.part(GroupTables).groups[group_id].coordinator for one in (anna, bob)} == {anna.me}
    assert (
        anna.book.part(GroupTables).groups[group_id].offered_to,
        bob.book.part(GroupTables).groups[group_id].offered_to,
    ) == ("", "")
    assert "transfer_declined" in anna.notices()
    people.confirm("anna", "bob")
    assert own_thread(anna, group_id).state == own_thread(bob, group_id).state == "COMPLETED"


@pytest.mark.spec("A2ACP-183")
@pytest.mark.parametrize("to", ["anna", "stranger"])
def test_the_role_goes_to_nobody_but_another_participant(to):
    people = circle(dict.fromkeys(("anna", "bob", "charlie"), BOTH))
    group_id = people.ask()
    address = f"agent:{to}@relay.example"
    with pytest.raises(Refused):
        people["anna"].decide(
            lambda ws: transferring.offer(ws, ws.book.part(GroupTables).groups[group_id], address)
        )
    with pytest.raises(Refused):
        people["bob"].decide(
            lambda ws: transferring.offer(
                ws, ws.book.part(GroupTables).groups[group_id], people["charlie"].me
            )
        )


@pytest.mark.spec("A2ACP-183")
@pytest.mark.spec("A2ACP-278")
def test_the_role_can_be_offered_to_those_who_are_shown_and_to_nobody_else():
    people = circle(dict.fromkeys(("anna", "bob", "charlie"), (FRIDAY,)))
    anna, bob, charlie = (people[one] for one in ("anna", "bob", "charlie"))
    people.cut.add(bob.me)
    group_id = people.ask()

    def takers(desk):
        return desk.decide(lambda ws: transferring.takers(ws, ws.book.part(GroupTables).groups[group_id]))

    assert takers(anna) == [bob.me, charlie.me]
    assert takers(charlie) == []
    anna.peers[charlie.me] = Peer(charlie.me, frozenset(), heard=True)
    assert takers(anna) == [bob.me], "an agent that knows no groups"
    with pytest.raises(Refused, match="knows no groups"):
        anna.decide(lambda ws: transferring.offer(ws, ws.book.part(GroupTables).groups[group_id], charlie.me))
    anna.decide(lambda ws: transferring.offer(ws, ws.book.part(GroupTables).groups[group_id], bob.me))
    assert takers(anna) == [], "it is offered already"


@pytest.mark.spec("A2ACP-181")
def test_what_one_needs_to_eat_shapes_the_proposal_and_nobody_learns_whose_it_is():
    people = circle(
        dict.fromkeys(("anna", "bob", "charlie"), BOTH),
        **{
            name: {"profile": {"timezone": "Europe/London", "dietary": "anything"}}
            for name in ("anna", "bob")
        },
        charlie={"profile": {"timezone": "Europe/London", "dietary": "Marker-free of gluten"}},
    )
    group_id = people.ask("dinner on Friday evening")
    anna, bob = people["anna"], people["bob"]
    assert "gluten" in json.dumps(anna.value(anna.book.part(GroupTables).groups[group_id].overlap))
    said = everything_sent(people, bob)
    assert "gluten" not in said
    assert "Marker" not in said
    reasons = [one.fields["proposal"]["reasoning"] for one in people.sent(anna, "resolution")]
    assert all("taken into account" in one for one in reasons)
    assert all("charlie" not in one for one in reasons)


def test_an_eighth_person_gets_a_new_group_that_refers_to_the_old_one():
    people = circle(dict.fromkeys(("anna", "bob", "charlie"), BOTH))
    first = people.ask()
    people.confirm()
    second = people.ask(parent=first)
    begun = [one for one in people.sent(people["anna"], "context") if one.thread_id == second]
    assert {tuple(one.fields["context"]["related_threads"]) for one in begun} == {(first,)}
    assert people.group(second).parent == first


def test_an_answer_that_has_aged_is_noticed_before_anything_is_entered():
    people = circle(dict.fromkeys(("anna", "bob", "charlie"), BOTH))
    group_id = people.ask()
    bob = people["bob"]
    day = people.sent(people["anna"], "resolution")[0].fields["proposal"]["details"]["date"]
    bob.busy = [*bob.busy, span(f"{day}T00:00:00Z", f"{day}T23:59:00Z")]
    people.confirm()
    assert bob.done == []
    assert own_thread(people["anna"], group_id).state in {"NEGOTIATING", "PROPOSED"}
    assert people["anna"].done in ([], [("do", "calendar"), ("undo", "calendar")])


def test_of_equal_choices_the_one_left_out_last_is_spared_and_the_reason_says_so():
    people = circle({"anna": BOTH, "bob": [FRIDAY], "charlie": [SATURDAY], "diana": BOTH})
    people.first.decide(lambda ws: ws.say(group_records.Met("thr_before", (people["bob"].me,))))
    people.ask(quorum=3)
    proposed = people.sent(people["anna"], "resolution")
    assert {one.fields["proposal"]["details"]["date"] for one in proposed} == {"2026-03-27"}
    assert "leaves nobody out twice in a row" in proposed[0].fields["proposal"]["reasoning"]


def test_who_was_left_out_the_last_time_they_were_asked_is_spared_whoever_else_met_since():
    people = circle({"anna": BOTH, "bob": [FRIDAY], "charlie": [SATURDAY], "diana": BOTH})
    anna, bob = people["anna"], people["bob"]
    others = ("agent:emil@relay.example", "agent:fay@relay.example")

    def before(ws):
        ws.say(group_records.Grouped("thr_one", anna.me, tuple(people.desks)))
        ws.say(group_records.Met("thr_one", (bob.me,)))

    def since(ws):
        ws.say(group_records.Grouped("thr_two", anna.me, (anna.me, *others)))
        ws.say(group_records.Met("thr_two", others[:1]))

    anna.decide(before)
    anna.now = Moment(anna.now + HOUR)
    anna.decide(since)
    people.ask(quorum=3)
    proposed = people.sent(anna, "resolution")
    assert {one.fields["proposal"]["details"]["date"] for one in proposed} == {"2026-03-27"}
    assert "leaves nobody out twice in a row" in proposed[0].fields["proposal"]["reasoning"]
    anna.restarted()


def test_time_passes_and_everybody_agrees_that_it_ran_out():
    people = circle(dict.fromkeys(("anna", "bob", "charlie"), BOTH))
    group_id = people.ask()
    people.confirm("anna", "bob")
    for one in people.desks.values():
        one.now = Moment(one.now + DAY + HOUR)
    people.settle()
    assert set(people.states(group_id).values()) == {"EXPIRED"}
    assert all(one.done == [] for one in people.desks.values())


@pytest.mark.spec("A2ACP-163")
def test_a_yes_of_all_that_was_on_its_way_when_time_ran_out_stands_for_everybody():
    people = circle(dict.fromkeys(("anna", "bob", "charlie"), BOTH))
    group_id = people.ask()
    anna, bob = people["anna"], people["bob"]
    for name in ("bob", "charlie"):
        people[name].answer(people[name].question("checkpoint"), confirm=True)
    people.carry()
    anna.answer(anna.question("checkpoint"), confirm=True)
    assert own_thread(anna, group_id).state == "EXECUTING"
    # The others' clocks are ahead: with them it has run out before Anna's word is there.
    for name in ("bob", "charlie"):
        people[name].now = Moment(people[name].now + DAY + HOUR)
        people[name].settle()
    assert own_thread(bob, group_id).state == "EXPIRED"
    people.settle()
    assert set(people.states(group_id).values()) == {"COMPLETED"}
    assert all(one.done == [("do", "calendar")] for one in people.desks.values())


@pytest.mark.spec("A2ACP-163")
def test_a_group_whose_coordinators_owner_says_nothing_of_its_times_is_over_for_all_in_the_end():
    people = circle(dict.fromkeys(("anna", "bob", "charlie"), BOTH))
    anna = people["anna"]
    goal = anna.goal(GAME_NIGHT)
    others = [one for one in people.desks if one != anna.me]
    group_id = anna.decide(lambda ws: grouping.begin(ws, goal, others))
    people.settle(share=False)
    for one in (people["bob"], people["charlie"]):
        one.share_all(one.question("consent"))
    people.settle(share=False)
    anna.answer(anna.question("consent"), decline_all=True)
    assert own_thread(anna, group_id).paused
    for _ in range(20):
        people.later(24 * HOUR)
    assert not any(own_thread(one, group_id).is_open for one in people.desks.values()), people.states(
        group_id
    )
    assert not anna.book.open_threads
    assert all(one.done == [] for one in people.desks.values())
