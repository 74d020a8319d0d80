"""The checkpoint: what an owner sees, what each answer sends, and that nothing is agreed without it."""

from __future__ import annotations

import pytest

from tacit.a2acp.packets import schemas
from tacit.a2acp.packets.shapes import MalformedPacket
from tacit.agent.consent import answering
from tacit.agent.consent.answering import Answer
from tacit.agent.kernel import records
from tacit.agent.scheduling import proposing
from tacit.agent.scheduling.view import view_of
from tacit.base.errors import Refused
from tests.agent.scheduling.desk import HOUR, begun, span
from tests.agent.scheduling.doers import Doer, proposed, proposer, standing, two

WEEK = "dinner with ben this week in the evening"
FRIDAY = ("2026-03-27", "19:00+00:00/20:30+00:00")


def resolution(one: Doer, **more):
    """A resolution as a counterpart could write it."""
    proposal = {
        "summary": "Dinner",
        "details": {"date": FRIDAY[0], "time": FRIDAY[1], "event_type": "dinner"},
    }
    return {
        "proposal": {**proposal, **more.pop("proposal", {})},
        "requires_confirmation_from": [one.me],
        "confirmation_timeout": "PT24H",
        "on_timeout": "remind_then_expire",
        "actions_on_confirm": [],
    } | more


def negotiating(both) -> str:
    """A thread that Anna began and that waits for Ben."""
    thread = begun(both, "dinner with ben on Friday evening")
    for question in both.ben.questions("consent"):
        both.ben.share_all(question)
    both.ben.out.clear()
    return thread


def confirmed_by_a_person(one: Doer) -> bool:
    """Whether each `confirmed` that left follows an owner's answer to the checkpoint of that packet."""
    asked = {
        said.question.question_id: said.question.subject
        for said in one.log
        if isinstance(said, records.Asked) and said.question.kind == "checkpoint"
    }
    answered = {
        asked[said.question_id]
        for said in one.log
        if isinstance(said, records.Answered) and said.question_id in asked and said.choice == "confirm"
    }
    sent = {
        said["in_reply_to"] for said in one.sent_of("resolution_response") if said["status"] == "confirmed"
    }
    return sent <= answered


@pytest.mark.spec("A2ACP-142", "A2ACP-145", "A2ACP-136", "A2ACP-160", "A2ACP-161")
def test_nothing_is_agreed_until_both_people_have_said_yes_and_then_nothing_is_asked_again():
    both = two()
    thread = proposed(both)
    both.later(20 * HOUR)
    assert both.anna.did() == both.ben.did() == []
    both.anna.answer(both.anna.question("checkpoint"), confirm=True)
    both.settle()
    assert both.anna.state(thread) == both.ben.state(thread) == "PROPOSED"
    assert both.anna.did() == both.ben.did() == []
    both.ben.answer(both.ben.question("checkpoint"), confirm=True)
    both.settle()
    for one in (both.anna, both.ben):
        assert one.moves(thread)[-4:] == ["PROPOSED", "CONFIRMED", "EXECUTING", "COMPLETED"]
        assert one.did() == [("do", "calendar")]
        assert one.questions() == []
        assert confirmed_by_a_person(one)
        # What is carried out is what was confirmed, and nothing else.
        assert (one.details[0]["date"], one.details[0]["time"]) == FRIDAY


@pytest.mark.spec("A2ACP-143", "A2ACP-144")
@pytest.mark.parametrize(
    ("details", "offered"),
    [
        ({"date": FRIDAY[0], "time": FRIDAY[1]}, {"counter time"}),
        ({"date": FRIDAY[0], "time": FRIDAY[1], "place": "Luigi's"}, {"counter time", "counter place"}),
        ({"place": "Luigi's"}, {"counter place"}),
        ({"handover": "the folder"}, {"counter"}),
    ],
)
def test_the_owner_sees_the_whole_proposal_and_every_way_to_answer_it(details, offered):
    both = two()
    thread = negotiating(both)
    others = [
        {"summary": "Saturday", "reason": "also free", "details": {"date": "2026-03-28"}},
        {"summary": "never"},
    ]
    body = resolution(
        both.anna, proposal={"details": details, "alternatives": others, "reasoning": "it fits"}
    )
    both.anna.receive(both.ben.me, thread, "pkt_theirs", "resolution", body)
    shown = both.anna.shown()
    assert shown["proposal"]["summary"] == "Dinner"
    assert shown["proposal"]["details"] == details
    assert shown["proposal"]["reasoning"] == "it fits"
    assert [one["summary"] for one in shown["proposal"]["alternatives"]] == ["Saturday", "never"]
    assert {one for one in shown["choices"] if one.startswith("counter")} == offered
    assert {"confirm", "alternative 0", "alternative 1", "excuse again", "excuse leave", "refuse"} <= set(
        shown["choices"]
    )


@pytest.mark.spec("A2ACP-142", "A2ACP-145")
def test_a_proposal_that_nobody_must_confirm_does_not_arrive():
    schemas.check_in("resolution", resolution(two().anna))
    with pytest.raises(MalformedPacket):
        schemas.check_in("resolution", resolution(two().anna, requires_confirmation_from=[]))


@pytest.mark.spec("A2ACP-142", "A2ACP-145")
@pytest.mark.parametrize("named", [["them"], ["stranger"], ["them", "stranger"]])
def test_who_leaves_our_owner_out_of_its_confirmers_gets_nothing_done_by_us(named):
    both = two()
    thread = negotiating(both)
    who = {"them": both.ben.me, "stranger": "agent:eve@relay.example"}
    calendar = {"action": "calendar", "requires_user_approval": False, "reversible": True}
    body = resolution(
        both.anna, requires_confirmation_from=[who[one] for one in named], actions_on_confirm=[calendar]
    )
    both.anna.receive(both.ben.me, thread, "pkt_theirs", "resolution", body)
    said = {"status": "confirmed", "in_reply_to": "pkt_theirs"}
    both.anna.receive(both.ben.me, thread, "pkt_yes", "resolution_response", said)
    both.anna.settle()
    assert both.anna.state(thread) == "PROPOSED"
    assert both.anna.did() == []
    both.anna.answer(both.anna.question("checkpoint"), confirm=True)
    assert both.anna.did() == [("do", "calendar")]


@pytest.mark.spec("A2ACP-137", "A2ACP-141")
@pytest.mark.parametrize(
    "change",
    [
        {"details": {"date": "2026-03-28", "time": FRIDAY[1]}},
        {"details": {"date": FRIDAY[0], "time": FRIDAY[1], "place": "another"}},
        {"details": {"date": FRIDAY[0], "time": FRIDAY[1], "estimated_cost": "500"}},
        {},
    ],
)
def test_what_changed_after_a_yes_is_asked_anew_and_the_yes_is_void(change):
    both = two()
    thread = negotiating(both)
    listed = [{"action": "calendar", "requires_user_approval": True, "reversible": True}]
    first = resolution(both.anna, actions_on_confirm=listed)
    first["requires_confirmation_from"] = [both.anna.me, both.ben.me]
    both.anna.receive(both.ben.me, thread, "pkt_first", "resolution", first)
    old = both.anna.question("checkpoint")
    both.anna.answer(old, confirm=True)
    more = {**first, "proposal": {**first["proposal"], **change}}
    if not change:
        more["actions_on_confirm"] = [*listed, {**listed[0], "action": "calendar_more", "executor": "each"}]
    both.anna.receive(both.ben.me, thread, "pkt_second", "resolution", more)
    new = both.anna.question("checkpoint")
    assert (new.subject, new.question_id != old.question_id) == ("pkt_second", True)
    with pytest.raises(Refused, match="no longer open"):
        both.anna.answer(old, confirm=True)
    for number, about in enumerate(("pkt_first", "pkt_second")):
        said = {"status": "confirmed", "in_reply_to": about}
        both.anna.receive(both.ben.me, thread, f"pkt_yes{number}", "resolution_response", said)
        both.anna.settle()
        assert (both.anna.state(thread), both.anna.did()) == ("PROPOSED", [])
    both.anna.answer(new, confirm=True)
    assert [one for one, _ in both.anna.did()].count("do") == len(more["actions_on_confirm"])
    assert both.anna.details[0].get("place") == more["proposal"]["details"].get("place")


@pytest.mark.spec("A2ACP-141")
def test_when_two_proposals_cross_the_initiators_stands_on_both_sides():
    both = two()
    thread = negotiating(both)
    body = resolution(both.anna)
    body["requires_confirmation_from"] = [both.anna.me, both.ben.me]

    def propose(ws):
        proposing.send_resolution(ws, view_of(ws, ws.thread(thread)), body, None)

    for one in (both.anna, both.ben):
        # Both write before either has read.
        one.decide(propose)
        assert one.state(thread) == "PROPOSED"
    both.settle()
    sent = {one: one.sent[-1].packet_id for one in (both.anna, both.ben)}
    for one in (both.anna, both.ben):
        assert standing(one, thread).packet_id == sent[both.anna]
        assert one.question("checkpoint").subject == sent[both.anna]
    both.confirmed()
    assert both.anna.state(thread) == both.ben.state(thread) == "COMPLETED"


@pytest.mark.spec("A2ACP-053", "A2ACP-144")
def test_an_alternative_that_both_choose_is_what_is_done():
    both = two()
    thread = proposed(both, WEEK)
    chosen = both.anna.shown()["proposal"]["alternatives"][1]["details"]
    for one in (both.anna, both.ben):
        one.answer(one.question("checkpoint"), alternative=1)
    both.settle()
    for one in (both.anna, both.ben):
        assert one.sent_of("resolution_response")[-1]["selected_alternative"] == 1
        assert one.state(thread) == "COMPLETED"
        assert (one.details[0]["date"], one.details[0]["time"]) == (chosen["date"], chosen["time"])


@pytest.mark.parametrize("number", [3, -1, 99])
def test_an_alternative_that_is_not_there_is_no_yes(number):
    both = two()
    thread = proposed(both, WEEK)
    with pytest.raises(Refused):
        both.anna.answer(both.anna.question("checkpoint"), alternative=number)
    assert both.anna.sent_of("resolution_response") == []
    assert both.anna.state(thread) == "PROPOSED"


@pytest.mark.spec("A2ACP-142", "A2ACP-170")
def test_two_people_who_choose_differently_are_asked_again_about_what_the_other_chose():
    both = two()
    thread = proposed(both, WEEK)
    mine, theirs = proposer(both, thread)
    picked = theirs.shown()["proposal"]["alternatives"][2]["details"]
    mine.answer(mine.question("checkpoint"), confirm=True)
    theirs.answer(theirs.question("checkpoint"), alternative=2)
    both.settle()
    assert mine.did() == theirs.did() == []
    for one in (mine, theirs):
        assert one.slot(thread) == (picked["date"], picked["time"])
        assert one.moves(thread)[-2:] == ["NEGOTIATING", "PROPOSED"]
    both.confirmed()
    assert mine.state(thread) == theirs.state(thread) == "COMPLETED"


@pytest.mark.spec("A2ACP-146", "A2ACP-160", "A2ACP-053")
@pytest.mark.parametrize(
    ("said", "slot"),
    [
        ("20:00", ("2026-03-27", "20:00+00:00/21:30+00:00")),
        # Overlaps what was turned down, and was asked for all the same.
        ("19:30", ("2026-03-27", "19:30+00:00/21:00+00:00")),
        ("2026-03-28 12:00/14:00", ("2026-03-28", "12:00+00:00/14:00+00:00")),
    ],
)
def test_another_time_is_asked_for_and_proposed_where_it_is_free(said, slot):
    both = two()
    thread = proposed(both)
    mine, theirs = proposer(both, thread)
    theirs.answer(theirs.question("checkpoint"), counter=("time", said))
    assert theirs.state(thread) == "NEGOTIATING"
    assert theirs.sent_of("resolution_response")[-1]["change_request"] == {
        "field": "time",
        "suggestion": said,
    }
    both.settle()
    for one in (mine, theirs):
        assert one.slot(thread) == slot
        assert one.thread(thread).closed_reason == ""
    both.confirmed()
    assert theirs.details[0]["time"] == slot[1]


@pytest.mark.spec("A2ACP-146")
def test_another_place_is_asked_for_and_the_time_stays():
    both = two()
    thread = proposed(both)
    mine, theirs = proposer(both, thread)
    theirs.answer(theirs.question("checkpoint"), counter=("place", "The Blue Door"))
    both.settle()
    for question in mine.questions("consent"):
        mine.share_all(question)
    both.settle()
    for one in (mine, theirs):
        assert one.slot(thread) == FRIDAY
        assert one.shown()["proposal"]["details"]["place"] == "The Blue Door"


@pytest.mark.spec("A2ACP-146")
@pytest.mark.parametrize(
    "request_",
    [
        {"field": "time", "suggestion": "when the cows come home"},
        {"field": "time", "suggestion": None},
        {"field": "time", "suggestion": {"start": [1, 2]}},
        {"field": "time", "suggestion": "99:99"},
        {"field": "", "suggestion": ""},
        {"field": "place", "suggestion": {"a": 1}},
        {"field": "budget_range", "suggestion": "less"},
    ],
)
@pytest.mark.parametrize("zone", ["Europe/London", "../../etc/passwd", "No/Where"])
def test_a_wish_that_cannot_be_read_stops_nobody_and_the_refused_time_does_not_return(request_, zone):
    both = two()
    thread = proposed(both, WEEK)
    mine, theirs = proposer(both, thread)
    before = mine.slot(thread)
    news = {"intent": {"category": "scheduling", "summary": "dinner", "urgency": "normal"}}
    mine.receive(theirs.me, thread, "pkt_zone", "context", {**news, "context": {"timezone": zone}})
    said = {"status": "counter", "in_reply_to": standing(mine, thread).packet_id, "change_request": request_}
    mine.receive(theirs.me, thread, "pkt_counter", "resolution_response", said)
    mine.settle()
    for question in mine.questions("consent"):
        mine.share_all(question)
    assert not mine.thread(thread).paused
    if request_["field"] == "time" and request_["suggestion"] is None:
        # They look for another time themselves.
        assert mine.state(thread) == "NEGOTIATING"
    else:
        assert mine.state(thread) == "PROPOSED"
        assert (mine.slot(thread) == before) == (request_["field"] == "place")


@pytest.mark.spec("A2ACP-147", "A2ACP-149", "A2ACP-052", "A2ACP-148", "A2ACP-160")
def test_an_excuse_is_shown_whole_before_it_goes_and_looks_for_another_time():
    both = two()
    thread = proposed(both, WEEK)
    mine, theirs = proposer(both, thread)
    text = theirs.shown()["excuses"]["again"]
    before = theirs.slot(thread)
    theirs.answer(theirs.question("checkpoint"), excuse="again")
    said = theirs.sent_of("resolution_response")[-1]
    assert (said["status"], said["reason_class"]) == ("declined", "scheduling_conflict")
    assert (said["message_to_other_agent"], said["actual_reason"]) == (text, None)
    assert theirs.state(thread) == "NEGOTIATING"
    both.settle()
    assert mine.state(thread) == theirs.state(thread) == "PROPOSED"
    assert mine.slot(thread) == theirs.slot(thread) != before


@pytest.mark.spec("A2ACP-150", "A2ACP-149", "A2ACP-052", "A2ACP-160", "A2ACP-163")
@pytest.mark.parametrize("how", [{"excuse": "leave"}, {"refuse": True}])
def test_a_plain_no_closes_the_thread_on_both_sides_and_nothing_more_is_proposed(how):
    both = two()
    thread = proposed(both, WEEK)
    mine, theirs = proposer(both, thread)
    proposals = len(mine.sent_of("resolution"))
    theirs.answer(theirs.question("checkpoint"), **how)
    both.settle()
    said = theirs.sent_of("resolution_response")[-1]
    assert (said["reason_class"], said["actual_reason"]) == ("user_declined", None)
    assert ("message_to_other_agent" in said) == ("excuse" in how)
    for one in (mine, theirs):
        assert one.state(thread) == "DECLINED"
        assert one.questions() == []
        assert one.sent_of("thread_status")[-1] == {"state": "DECLINED", "closed_reason": "user_declined"}
    both.later(200 * HOUR)
    assert len(mine.sent_of("resolution")) == proposals
    assert theirs.sent_of("resolution") == []


@pytest.mark.spec("A2ACP-149", "A2ACP-150", "A2ACP-160")
@pytest.mark.parametrize(
    ("reason", "state"),
    [
        ("scheduling_conflict", "PROPOSED"),
        ("location_conflict", "PROPOSED"),
        ("budget_conflict", "PROPOSED"),
        ("user_declined", "DECLINED"),
        ("a word of their own", "DECLINED"),
        (None, "DECLINED"),
    ],
)
def test_what_a_decline_does_follows_from_its_class(reason, state):
    both = two()
    thread = proposed(both, WEEK)
    mine, theirs = proposer(both, thread)
    said = {
        "status": "declined",
        "in_reply_to": standing(mine, thread).packet_id,
        "actual_reason": "she is a bore",
    }
    said |= {"reason_class": reason} if reason else {}
    first = standing(mine, thread).packet_id
    mine.receive(theirs.me, thread, "pkt_no", "resolution_response", said)
    mine.settle()
    assert mine.state(thread) == state
    if state == "PROPOSED":
        assert standing(mine, thread).packet_id != first
    assert "bore" not in str(schemas.normalised("resolution_response", said))


@pytest.mark.spec("A2ACP-154", "A2ACP-155", "A2ACP-160")
def test_a_proposal_is_reminded_of_once_and_ends_unconfirmed_on_both_sides():
    both = two()
    thread = proposed(both)
    both.anna.answer(both.anna.question("checkpoint"), confirm=True)
    both.settle()
    both.later(17 * HOUR)
    assert both.ben.notices().count("reminder") == 0
    both.later(HOUR + 1)
    both.later(3 * HOUR)
    # Who has answered is not reminded.
    assert (both.anna.notices().count("reminder"), both.ben.notices().count("reminder")) == (0, 1)
    question = both.ben.question("checkpoint")
    for one in (both.anna, both.ben):
        one.now += 3 * HOUR
    with pytest.raises(Refused, match="passed"):
        both.ben.decide(lambda ws: _confirm(ws, question.question_id))
    both.settle()
    for one in (both.anna, both.ben):
        assert one.state(thread) == "EXPIRED"
        assert one.notices().count("expired") == 1
        assert one.questions() == []
        assert one.sent_of("thread_status")[-1] == {
            "state": "EXPIRED",
            "closed_reason": "confirmation_timeout",
        }
    late = {"status": "confirmed", "in_reply_to": standing(both.anna, thread).packet_id}
    both.anna.receive(both.ben.me, thread, "pkt_late", "resolution_response", late)
    both.settle()
    assert (both.anna.state(thread), both.anna.did(), both.ben.did()) == ("EXPIRED", [], [])


def _confirm(ws, question_id):
    answering.answer(ws, question_id, Answer(confirm=True))


@pytest.mark.spec("A2ACP-154")
def test_the_window_counts_from_the_proposals_own_time_and_a_yes_after_it_has_no_effect():
    both = two()
    thread = negotiating(both)
    body = resolution(both.anna, confirmation_timeout="PT4H", timestamp="2026-03-23T07:00:00.000Z")
    body["requires_confirmation_from"] = [both.anna.me, both.ben.me]
    both.anna.receive(both.ben.me, thread, "pkt_theirs", "resolution", body)
    # It was two hours on its way.
    assert standing(both.anna, thread).expires == both.anna.now + 2 * HOUR
    both.anna.answer(both.anna.question("checkpoint"), confirm=True)
    both.anna.now += 2 * HOUR
    # The wheel has not turned since: the packet comes first.
    said = {"status": "confirmed", "in_reply_to": "pkt_theirs"}
    both.anna.receive(both.ben.me, thread, "pkt_yes", "resolution_response", said)
    both.anna.settle()
    assert (both.anna.state(thread), both.anna.did()) == ("EXPIRED", [])
    # Said in time and late on its way is another matter.
    other = negotiating(both)
    body = resolution(both.anna, confirmation_timeout="PT4H")
    body["requires_confirmation_from"] = [both.anna.me, both.ben.me]
    both.anna.receive(both.ben.me, other, "pkt_other", "resolution", body)
    both.anna.answer(both.anna.question("checkpoint"), confirm=True)
    both.anna.now += 5 * HOUR
    said = {"status": "confirmed", "in_reply_to": "pkt_other", "timestamp": "2026-03-23T14:30:00.000Z"}
    both.anna.receive(both.ben.me, other, "pkt_yes2", "resolution_response", said)
    both.anna.settle()
    assert both.anna.did() == []  # no actions were listed
    assert both.anna.state(other) == "COMPLETED"


@pytest.mark.spec("A2ACP-155")
@pytest.mark.parametrize(
    ("timeout", "on_timeout", "hours", "reminders"),
    [
        ("PT24H", "remind_then_expire", 24, 1),
        ("PT24H", "expire", 24, 0),
        ("PT24H", "something else", 24, 0),
        ("not a duration", "remind_then_expire", 24, 1),
        ("PT2H", "remind_then_expire", 2, 1),
    ],
)
def test_windows_and_what_follows_them(timeout, on_timeout, hours, reminders):
    both = two()
    thread = negotiating(both)
    body = resolution(both.anna, confirmation_timeout=timeout, on_timeout=on_timeout)
    both.anna.receive(both.ben.me, thread, "pkt_theirs", "resolution", body)
    for share, count, state in (
        (0.74, 0, "PROPOSED"),
        (0.76, reminders, "PROPOSED"),
        (1.0, reminders, "EXPIRED"),
    ):
        both.anna.now = standing(both.anna, thread).at + int(share * hours * HOUR)
        both.anna.settle()
        assert both.anna.notices().count("reminder") == count
        assert both.anna.state(thread) == state


@pytest.mark.spec("A2ACP-172", "A2ACP-137")
def test_what_cannot_be_undone_needs_a_tick_of_its_own_whatever_the_packet_calls_it():
    both = two()
    both.anna.handlers = {"deposit": {"kind": "command", "argv": ["x"], "reversible": False}}
    thread = negotiating(both)
    common = {"requires_user_approval": True, "executor": both.anna.me}
    body = resolution(
        both.anna,
        actions_on_confirm=[
            {**common, "action": "deposit", "reversible": True},
            {**common, "action": "ticket", "reversible": False},
            {**common, "action": "ticket", "reversible": False},
            {**common, "action": "calendar", "reversible": True},
            {**common, "action": "cake", "reversible": False, "executor": both.ben.me},
        ],
    )
    both.anna.receive(both.ben.me, thread, "pkt_theirs", "resolution", body)
    shown = both.anna.shown()["proposal"]["actions"]
    ticks = [one["tick"] for one in shown if one["tick"]]
    assert ticks == ["deposit", "ticket#2", "ticket#3"]
    assert {one["action"] for one in shown if not one["reversible"]} == {"deposit", "ticket", "cake"}
    question = both.anna.question("checkpoint")
    for some in ([], ticks[:2], ["deposit", "ticket", "cake"]):
        with pytest.raises(Refused, match="--tick"):
            both.anna.answer(question, confirm=True, ticks=frozenset(some))
        assert both.anna.sent_of("resolution_response") == []
    both.anna.answer(question, confirm=True, ticks=frozenset(ticks))
    # What can be undone comes first.
    assert [action for _, action in both.anna.did()] == ["calendar", "deposit", "ticket", "ticket"]


@pytest.mark.spec("A2ACP-145")
@pytest.mark.parametrize("about", ["pkt_other", "", None])
def test_a_yes_to_another_packet_is_no_yes(about):
    both = two()
    thread = proposed(both)
    both.anna.answer(both.anna.question("checkpoint"), confirm=True)
    said = {"status": "confirmed"} | ({} if about is None else {"in_reply_to": about})
    both.anna.receive(both.ben.me, thread, "pkt_forged", "resolution_response", said)
    both.anna.settle()
    assert (both.anna.state(thread), both.anna.did()) == ("PROPOSED", [])
    assert both.anna.violations() == ["response_to_nothing"]


def test_a_slot_that_was_taken_before_the_yes_is_not_confirmed_and_another_is_proposed_once():
    for index in (0, 1):
        both = two()
        thread = proposed(both, WEEK)
        one, other = proposer(both, thread)[:: 1 if index == 0 else -1]
        before = one.slot(thread)
        one.busy.append(span(f"{before[0]}T19:15:00Z", f"{before[0]}T19:30:00Z"))
        one.answer(one.question("checkpoint"), confirm=True)
        for question in one.questions("consent"):
            one.share_all(question)
        both.settle()
        assert "slot_taken" in one.notices()
        assert not [said for said in one.sent_of("resolution_response") if said["status"] == "confirmed"]
        assert one.slot(thread) == other.slot(thread) != before
        assert "proposals_crossed" not in one.notices() + other.notices()
        # The one who knows its calendar has proposed.
        assert standing(one, thread).side == "us"
        both.confirmed()
        assert one.state(thread) == other.state(thread) == "COMPLETED"


def test_a_slot_that_was_taken_between_yes_and_deed_is_not_booked():
    both = two()
    thread = proposed(both, WEEK)
    before = both.anna.slot(thread)
    both.anna.answer(both.anna.question("checkpoint"), confirm=True)
    both.settle()
    both.anna.busy.append(span(f"{before[0]}T18:00:00Z", f"{before[0]}T22:00:00Z"))
    both.ben.answer(both.ben.question("checkpoint"), confirm=True)
    both.settle()
    assert both.anna.did() == []
    # Ben's side had begun, and has taken it back.
    assert both.ben.did() in ([], [("do", "calendar"), ("undo", "calendar")])
    assert both.anna.slot(thread) == both.ben.slot(thread) != before
    both.confirmed()
    assert both.anna.state(thread) == both.ben.state(thread) == "COMPLETED"
