"""What is done after both have said yes, what a failure undoes, and how it goes on from there."""

from __future__ import annotations

import pytest

from tacit.agent.kernel import records
from tacit.agent.kernel.workspace import Peer
from tacit.agent.scheduling.actions import port
from tacit.base.errors import Refused
from tests.agent.scheduling.desk import FEATURES, HOUR, span
from tests.agent.scheduling.doers import Doer, proposed, proposer, standing, two

WEEK = "dinner with ben this week in the evening"
TABLE = {"table": {"kind": "webhook", "url": "http://127.0.0.1:1/"}}
FINAL = {"deposit": {"kind": "command", "argv": ["x"], "reversible": False}}


def with_table(text: str = WEEK, *, handlers=TABLE):
    """A proposal in which the proposer books a table."""
    both = two()
    both.anna.handlers = both.ben.handlers = dict(handlers)
    thread = proposed(both, text)
    return both, thread, *proposer(both, thread)


def confirmed(both, *ticks: str) -> None:
    """Both owners say yes."""
    for one in (both.anna, both.ben):
        one.answer(one.question("checkpoint"), confirm=True, ticks=frozenset(ticks))
    both.settle()


def _offers(said) -> bool:
    """Whether a packet offers times of its sender."""
    return "time_windows" in said["context"]


def dates(one: Doer) -> list[str]:
    """The days that one proposed, in order."""
    return [said["proposal"]["details"]["date"] for said in one.sent_of("resolution")]


@pytest.mark.spec("A2ACP-161", "A2ACP-166")
def test_a_table_is_booked_by_the_proposer_and_an_entry_made_by_each():
    both, thread, mine, theirs = with_table()
    confirmed(both)
    assert mine.did() == [("do", "calendar"), ("do", "table")]
    assert theirs.did() == [("do", "calendar")]
    for one in (mine, theirs):
        assert one.state(thread) == "COMPLETED"
        assert {planned.status for planned in standing(one, thread).actions} == {"done"}
        last = one.sent_of("thread_status")[-1]
        assert (last["state"], last["closed_reason"]) == ("COMPLETED", "completed")
        told = {(result["action"], result["status"]) for result in last["action_results"]}
        assert told == {(action, "done") for _, action in one.did()}


@pytest.mark.spec("A2ACP-161", "A2ACP-163")
def test_a_thread_is_complete_only_when_the_other_sides_part_is_and_results_are_told_once():
    both, thread, mine, theirs = with_table()
    theirs.results[("do", "calendar")] = [port.UNKNOWN] * 2
    confirmed(both)
    assert mine.state(thread) == "EXECUTING"
    told = len(mine.sent_of("thread_status"))
    assert mine.sent_of("thread_status")[-1]["state"] == "EXECUTING"
    for number in range(3):
        # A counterpart that reports on and on is not answered on and on.
        body = {"state": "EXECUTING", "action_results": []}
        mine.receive(theirs.me, thread, f"pkt_status{number}", "thread_status", body)
        mine.settle()
    assert len(mine.sent_of("thread_status")) == told
    theirs.settle()
    both.settle()
    assert mine.state(thread) == theirs.state(thread) == "COMPLETED"


@pytest.mark.spec("A2ACP-163")
def test_what_has_nothing_to_do_is_complete_at_once():
    both = two()
    thread = proposed(both)
    theirs = proposer(both, thread)[1]
    body = {
        "proposal": {"summary": "a talk", "details": {}},
        "requires_confirmation_from": [theirs.me],
        "confirmation_timeout": "PT24H",
        "on_timeout": "expire",
        "actions_on_confirm": [],
    }
    peer = proposer(both, thread)[0].me
    theirs.receive(peer, thread, "pkt_plain", "resolution", body)
    theirs.answer(theirs.question("checkpoint"), confirm=True)
    assert theirs.moves(thread)[-2:] == ["CONFIRMED", "COMPLETED"]
    assert theirs.did() == []


@pytest.mark.spec("A2ACP-162", "A2ACP-167", "A2ACP-169", "A2ACP-170", "A2ACP-168")
def test_a_refused_table_undoes_both_entries_and_the_next_alternative_needs_two_fresh_yeses():
    both, thread, mine, theirs = with_table()
    mine.results[("do", "table")] = [port.FAILED]
    first = mine.slot(thread)
    others = [one["details"]["date"] for one in mine.shown()["proposal"]["alternatives"]]
    confirmed(both)
    for one in (mine, theirs):
        assert one.moves(thread)[-5:] == ["EXECUTING", "FAILED", "ROLLBACK", "NEGOTIATING", "PROPOSED"]
        assert one.slot(thread)[0] == others[0]
        assert standing(one, thread).confirmed == {}
        assert "action_failed" in one.notices()
    assert mine.did() == [("do", "calendar"), ("do", "table"), ("undo", "calendar")]
    assert theirs.did() == [("do", "calendar"), ("undo", "calendar")]
    constraint = mine.sent_of("context")[-1]["context"]["conflict"]
    assert constraint["failed_action"] == "table"
    assert first in [(one["date"], one["time"]) for one in constraint["agent_b_values"]]
    # Said once, by the one whose action it was.
    assert not [said for said in theirs.sent_of("context") if "conflict" in said["context"]]
    listed = [one["details"]["date"] for one in mine.shown()["proposal"]["alternatives"]]
    assert first[0] not in listed
    assert listed == others[1:]
    mine.answer(mine.question("checkpoint"), confirm=True)
    both.settle()
    assert mine.state(thread) == "PROPOSED"
    theirs.answer(theirs.question("checkpoint"), confirm=True)
    both.settle()
    assert mine.state(thread) == theirs.state(thread) == "COMPLETED"
    assert mine.did()[3:] == [("do", "calendar"), ("do", "table")]
    # The second entry is another entry.
    assert (
        len({name for operation, action, name in mine.deeds if (operation, action) == ("do", "calendar")})
        == 2
    )


@pytest.mark.spec("A2ACP-170", "A2ACP-171", "A2ACP-169")
def test_every_alternative_is_tried_once_and_then_people_are_asked():
    both, thread, mine, theirs = with_table()
    mine.results[("do", "table")] = [port.FAILED] * 10
    offered = [mine.slot(thread)[0]] + [
        one["details"]["date"] for one in mine.shown()["proposal"]["alternatives"]
    ]
    for _ in offered:
        confirmed(both)
    assert dates(mine) == offered
    for one in (mine, theirs):
        assert one.state(thread) == "NEGOTIATING"
        question = one.question("escalation")
        assert one.content(question)["choices"][-2:] == ["try the same again", "stop"]
        assert one.questions("checkpoint") == []
    # At once, without another round of times first.
    assert "escalation" in mine.sent_of("context")[-1]
    assert [said for one in (mine, theirs) for said in one.sent_of("context")[1:] if _offers(said)] == []
    both.later(HOUR)
    assert dates(mine) == offered
    # Nothing that was done is left.
    for one in (mine, theirs):
        entries = [operation for operation, action, _ in one.deeds if action == "calendar"]
        assert entries.count("do") == entries.count("undo") == len(offered)
    # What people choose is proposed; what failed is not.
    mine.results.clear()
    number = 0
    for one in (mine, theirs):
        one.answer(one.question("escalation"), choose=number)
    for _ in range(3):
        both.settle()
        for one in (mine, theirs):
            for question in one.questions("consent"):
                one.share_all(question)
    both.settle()
    assert mine.state(thread) == theirs.state(thread) == "PROPOSED"
    assert mine.slot(thread)[0] not in offered
    confirmed(both)
    assert mine.state(thread) == theirs.state(thread) == "COMPLETED"


@pytest.mark.spec("A2ACP-162", "A2ACP-166", "A2ACP-167")
@pytest.mark.parametrize("pace", ["together", "they first", "we wait"])
def test_when_only_the_other_sides_action_fails_ours_is_undone_too(pace):
    both, thread, mine, theirs = with_table()
    theirs.results[("do", "calendar")] = [port.FAILED]
    if pace == "we wait":
        # Our own table hangs: the failure is told while it is under way.
        mine.results[("do", "table")] = [port.UNKNOWN] * 3
    first = mine.slot(thread)
    mine.answer(mine.question("checkpoint"), confirm=True)
    if pace == "they first":
        both.carry()
        theirs.answer(theirs.question("checkpoint"), confirm=True)
        # All they said is here before we have begun anything.
        both.carry()
        assert mine.did() == []
    else:
        both.carry()
        theirs.answer(theirs.question("checkpoint"), confirm=True)
        both.settle()
    both.settle()
    undone = [(operation, action) for operation, action, _ in mine.deeds]
    for action in ("calendar", "table"):
        assert undone.count(("do", action)) <= undone.count(("undo", action)) or pace == "we wait"
    assert "action_failed" in mine.notices()
    mine.results.clear()
    for one in (mine, theirs):
        assert one.state(thread) == "PROPOSED"
        assert one.slot(thread) == mine.slot(thread) != first
    both.confirmed()
    assert mine.state(thread) == theirs.state(thread) == "COMPLETED"


@pytest.mark.spec("A2ACP-167", "A2ACP-170")
def test_a_proposal_that_comes_while_we_are_undoing_waits_for_that():
    both, thread, mine, theirs = with_table()
    mine.results[("do", "table")] = [port.FAILED]
    theirs.results[("undo", "calendar")] = [port.UNKNOWN] * 3
    confirmed(both)
    assert mine.state(thread) == "PROPOSED"
    assert theirs.state(thread) == "ROLLBACK"
    assert theirs.questions() == []
    for _ in range(4):
        theirs.settle()
    assert theirs.state(thread) == "PROPOSED"
    assert standing(theirs, thread).packet_id == standing(mine, thread).packet_id
    assert theirs.did() == [("do", "calendar"), ("undo", "calendar")]
    both.confirmed()
    assert mine.state(thread) == theirs.state(thread) == "COMPLETED"


@pytest.mark.spec("A2ACP-162")
def test_a_failure_with_nothing_to_undo_goes_straight_back():
    both, thread, mine, theirs = with_table()
    mine.results[("do", "calendar")] = [port.FAILED]
    confirmed(both)
    assert mine.moves(thread)[-4:] == ["EXECUTING", "FAILED", "NEGOTIATING", "PROPOSED"]
    assert mine.did() == [("do", "calendar")]
    assert theirs.did() == [("do", "calendar"), ("undo", "calendar")]


@pytest.mark.spec("A2ACP-168")
def test_undoing_goes_backwards_and_after_three_failures_waits_for_its_owner():
    both = two()
    both.anna.handlers = both.ben.handlers = {**TABLE, "cab": dict(TABLE["table"]), **FINAL}
    thread = proposed(both, WEEK)
    mine, theirs = proposer(both, thread)
    assert mine.shown()["proposal"]["actions"][-2]["tick"] == "deposit"
    mine.results = {("do", "deposit"): [port.FAILED], ("undo", "table"): [port.FAILED] * 3}
    mine.answer(mine.question("checkpoint"), confirm=True, ticks=frozenset({"deposit"}))
    theirs.answer(theirs.question("checkpoint"), confirm=True)
    both.settle()
    done = [one for one in mine.did() if one[0] == "do"]
    assert done == [("do", "calendar"), ("do", "table"), ("do", "cab"), ("do", "deposit")]
    assert mine.did()[4:] == [("undo", "cab"), *[("undo", "table")] * 3, ("undo", "calendar")]
    assert mine.state(thread) == "ROLLBACK"
    question = mine.question("failure")
    assert "table" in mine.content(question)["reason"]
    both.later(100 * HOUR)
    assert mine.state(thread) == "ROLLBACK"
    assert mine.did().count(("undo", "table")) == 3
    with pytest.raises(Refused, match="--dismiss"):
        mine.answer(question, choose=0)
    mine.answer(question, dismiss=True)
    assert mine.state(thread) in {"NEGOTIATING", "PROPOSED"}


@pytest.mark.spec("A2ACP-168", "A2ACP-172")
def test_what_cannot_be_undone_stays_is_listed_and_is_not_begun_after_the_failure():
    both, thread, mine, theirs = with_table(handlers=FINAL)
    theirs.results[("do", "calendar")] = [port.UNKNOWN] * 20
    mine.answer(mine.question("checkpoint"), confirm=True, ticks=frozenset({"deposit"}))
    theirs.answer(theirs.question("checkpoint"), confirm=True)
    both.settle()
    assert mine.did() == [("do", "calendar"), ("do", "deposit")]
    theirs.results[("do", "calendar")] = [port.FAILED]
    theirs.settle()
    both.settle()
    assert mine.did()[2:] == [("undo", "calendar")]
    left = [one.subject for one in mine.log if isinstance(one, records.Noticed) and one.code == "not_undone"]
    assert left == ["deposit"]
    assert mine.state(thread) == theirs.state(thread) == "PROPOSED"


def test_an_irreversible_action_that_hung_is_not_done_once_the_other_side_has_failed():
    both, thread, mine, theirs = with_table(handlers=FINAL)
    theirs.results[("do", "calendar")] = [port.UNKNOWN] * 2 + [port.FAILED]
    mine.results = {("do", "deposit"): [port.UNKNOWN] * 50, ("undo", "calendar"): [port.FAILED] * 3}
    mine.answer(mine.question("checkpoint"), confirm=True, ticks=frozenset({"deposit"}))
    theirs.answer(theirs.question("checkpoint"), confirm=True)
    for _ in range(4):
        both.settle()
    assert mine.state(thread) == "ROLLBACK"
    mine.results.clear()
    for _ in range(3):
        both.settle()
    assert ("do", "deposit") not in mine.did()
    assert "not_undone" in mine.notices()


@pytest.mark.spec("A2ACP-166")
@pytest.mark.parametrize(
    ("entry", "by"),
    [
        ({"action": "calendar_entry"}, {"us", "them"}),
        ({"action": "booking"}, {"them"}),
        ({"action": "booking", "executor": "each"}, {"us", "them"}),
        ({"action": "calendar", "executor": "proposer"}, {"them"}),
        ({"action": "booking", "executor": "me"}, {"us"}),
        ({"action": "booking", "executor": "agent:eve@relay.example"}, set()),
    ],
)
def test_who_carries_out_an_action(entry, by):
    both = two()
    thread = proposed(both)
    mine, theirs = proposer(both, thread)
    common = {"requires_user_approval": True, "reversible": True}
    executor = {"executor": theirs.me} if entry.get("executor") == "me" else {}
    body = {
        "proposal": {"summary": "s", "details": {}},
        "requires_confirmation_from": [mine.me, theirs.me],
        "confirmation_timeout": "PT24H",
        "on_timeout": "expire",
        "actions_on_confirm": [{**common, **entry, **executor}],
    }
    theirs.receive(mine.me, thread, "pkt_next", "resolution", body)
    assert {one.executor for one in standing(theirs, thread).actions} == by


@pytest.mark.spec("A2ACP-163", "A2ACP-166")
def test_only_the_executors_own_word_counts_and_only_about_its_own_actions():
    both, thread, mine, theirs = with_table()
    theirs.results[("do", "calendar")] = [port.UNKNOWN] * 9
    confirmed(both)
    own = [one.action_id for one in standing(mine, thread).actions if one.executor == "us"]
    lies = [
        {"action_id": name, "action": "table", "status": "failed"} for name in [*own, "act_unknown", "", None]
    ]
    lies.append("nonsense")
    mine.receive(
        theirs.me, thread, "pkt_lies", "thread_status", {"state": "EXECUTING", "action_results": lies}
    )
    mine.settle()
    assert mine.state(thread) == "EXECUTING"
    assert [one.status for one in standing(mine, thread).actions if one.executor == "us"] == ["done", "done"]
    # That they are complete without having said so of their own action does not make it so here.
    mine.receive(theirs.me, thread, "pkt_claims", "thread_status", {"state": "COMPLETED"})
    mine.settle()
    assert mine.state(thread) == "EXECUTING"
    # What they have not begun they may still begin, until they call it complete.
    left = [
        {"action_id": one.action_id, "action": one.action, "status": "not_started"}
        for one in standing(mine, thread).actions
        if one.executor == "them"
    ]
    mine.receive(
        theirs.me, thread, "pkt_yet", "thread_status", {"state": "EXECUTING", "action_results": left}
    )
    mine.settle()
    assert mine.state(thread) == "EXECUTING"
    # From EXECUTING on a withdrawal undoes nothing that was confirmed.
    mine.receive(
        theirs.me, thread, "pkt_no", "thread_status", {"state": "DECLINED", "closed_reason": "withdrawn"}
    )
    assert mine.state(thread) == "EXECUTING"
    mine.receive(
        theirs.me, thread, "pkt_end", "thread_status", {"state": "COMPLETED", "action_results": left}
    )
    mine.settle()
    assert mine.state(thread) == "COMPLETED"


def heard_before(both):
    """Anna knows from an earlier thread what Ben's agent can do."""
    from tacit.agent.kernel.workspace import Peer
    from tests.agent.scheduling.desk import FEATURES

    both.anna.peers[both.ben.me] = Peer(both.ben.me, FEATURES, heard=True, version="a2acp/0.2")


@pytest.mark.spec("A2ACP-163")
@pytest.mark.parametrize("stage", ["NEGOTIATING", "PROPOSED", "STALLED"])
def test_a_withdrawal_is_told_and_closes_both_sides(stage):
    both = two()
    if stage == "PROPOSED":
        thread = proposed(both)
    else:
        thread = both.anna.ask("dinner with ben on Friday evening", both.ben.me)
        both.anna.share_all(both.anna.question("consent"))
        both.settle()
        if stage == "STALLED":
            both.later(49 * HOUR)
            assert both.anna.state(thread) == "STALLED"
    from tacit.agent.scheduling import asking

    heard_before(both)
    both.anna.decide(lambda ws: asking.stop(ws, thread))
    both.settle()
    said = both.anna.sent_of("thread_status")[-1]
    assert (said["state"], said["closed_reason"]) == ("DECLINED", "withdrawn")
    for one in (both.anna, both.ben):
        assert one.state(thread) == "DECLINED"
        assert one.questions() == []


@pytest.mark.spec("A2ACP-163")
def test_a_persons_no_beats_a_clock_and_a_clock_is_told():
    both = two()
    thread = proposed(both)
    both.later(24 * HOUR)
    assert both.anna.state(thread) == both.ben.state(thread) == "EXPIRED"
    told = {"state": "DECLINED", "closed_reason": "user_declined"}
    both.anna.receive(both.ben.me, thread, "pkt_no", "thread_status", told)
    assert both.anna.state(thread) == "DECLINED"
    both.anna.receive(both.ben.me, thread, "pkt_late", "thread_status", {"state": "EXPIRED"})
    assert both.anna.state(thread) == "DECLINED"
    # A side that is told of an end before its own clock has come to it believes it.
    other = proposed(both, "lunch with ben on Saturday")
    both.anna.receive(both.ben.me, other, "pkt_over", "thread_status", {"state": "EXPIRED"})
    assert both.anna.state(other) == "EXPIRED"
    assert both.anna.questions("checkpoint") == []


@pytest.mark.spec("A2ACP-163", "A2ACP-154")
def test_a_thread_that_stood_still_goes_on_with_a_packet_or_its_owner_and_ends_after_a_week():
    for how in ("packet", "answer", "resume", "nothing"):
        both = two()
        heard_before(both)
        thread = both.anna.ask("dinner with ben on Friday evening", both.ben.me)
        both.anna.share_all(both.anna.question("consent"))
        both.settle()
        for one in (both.anna, both.ben):
            one.now += 49 * HOUR
            one.settle()
        assert both.anna.state(thread) == both.ben.state(thread) == "STALLED"
        # The question is there all the same: silence is no answer.
        question = both.ben.question("consent")
        if how == "packet":
            news = {
                "intent": {"category": "scheduling", "summary": "dinner", "urgency": "normal"},
                "context": {},
            }
            both.anna.receive(both.ben.me, thread, "pkt_news", "context", news)
            assert both.anna.state(thread) == "NEGOTIATING"
        elif how == "answer":
            both.ben.share_all(question)
            both.settle()
            assert both.ben.state(thread) in {"NEGOTIATING", "PROPOSED"}
            assert both.anna.state(thread) in {"NEGOTIATING", "PROPOSED"}
        elif how == "resume":
            from tacit.agent.scheduling import asking

            both.anna.decide(lambda ws, thread=thread: asking.resume(ws, thread))
            assert both.anna.state(thread) == "NEGOTIATING"
        else:
            both.later(7 * 24 * HOUR)
            assert both.anna.state(thread) == both.ben.state(thread) == "EXPIRED"
            assert both.anna.sent_of("thread_status")[-1]["closed_reason"] == "stalled"


def test_a_word_in_between_does_not_disturb_what_is_being_carried_out():
    for results, state in (({("do", "table"): [port.UNKNOWN] * 9}, "EXECUTING"), ({}, "ROLLBACK")):
        both, thread, mine, theirs = with_table()
        mine.results = dict(results) or {
            ("do", "table"): [port.FAILED],
            ("undo", "calendar"): [port.UNKNOWN] * 9,
        }
        confirmed(both)
        assert mine.state(thread) == state
        sent = len(mine.sent)
        intent = {"category": "scheduling", "summary": "dinner", "urgency": "normal"}
        news = {"intent": intent, "context": {"time_windows": []}}
        mine.receive(theirs.me, thread, "pkt_news", "context", news)
        mine.settle()
        assert (mine.state(thread), len(mine.sent), mine.questions()) == (state, sent, [])


@pytest.mark.spec("A2ACP-166")
def test_with_a_peer_that_tells_no_results_our_own_are_enough():
    both, thread, mine, theirs = with_table()
    mine.peers[theirs.me] = Peer(theirs.me, FEATURES - {"thread_status"}, heard=True, version="a2acp/0.2")
    theirs.results[("do", "calendar")] = [port.UNKNOWN] * 9
    confirmed(both)
    assert mine.state(thread) == "COMPLETED"
    assert mine.sent_of("thread_status") == []


def test_a_slot_taken_on_both_sides_after_a_failure_is_passed_over():
    both, thread, mine, theirs = with_table()
    mine.results[("do", "table")] = [port.FAILED]
    offered = [one["details"]["date"] for one in mine.shown()["proposal"]["alternatives"]]
    mine.busy.append(span(f"{offered[0]}T19:00:00Z", f"{offered[0]}T20:00:00Z"))
    confirmed(both)
    assert mine.slot(thread)[0] == theirs.slot(thread)[0] == offered[1]
