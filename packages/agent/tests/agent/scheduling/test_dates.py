"""Dates and times that cannot be meant: refused on the way out, asked about on the way in, never guessed."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from tacit.agent.brain import port
from tacit.agent.consent.consenting import UNSURE
from tacit.agent.kernel.workspace import Peer
from tacit.agent.scheduling import asking
from tacit.base.errors import Refused
from tests.agent.scheduling.desk import FEATURES, Desk, begun, desks

PEER = "agent:carl@relay.example"
THREAD = "thr_dates000001"
DINNER = "dinner with ben on Friday evening"


def asked(summary: str = "Dinner", **context: Any) -> Desk:
    """Ben's desk, asked to a dinner by somebody who may write dates as he likes."""
    desk = Desk("ben")
    desk.peers[PEER] = Peer(PEER, FEATURES, heard=True, version="a2acp/0.2")
    body = {
        "intent": {"category": "scheduling", "summary": summary, "urgency": "normal"},
        "context": {"event_type": "dinner", **context},
        "needs": [{"field": "time_windows", "reason": "to meet", "priority": "required"}],
    }
    desk.receive(PEER, THREAD, "pkt_dates000001", "context", body)
    desk.settle()
    return desk


def clarified(desk: Desk) -> list[str]:
    return [
        one["field"]
        for packet in desk.sent
        for one in packet.fields.get("needs", [])
        if one["reason"] == UNSURE
    ]


@pytest.mark.spec("A2ACP-076")
@pytest.mark.parametrize(
    ("windows", "right"),
    [
        (["Friday 28 March 2026, 18:00+00:00/21:00+00:00"], "2026-03-27"),
        (["18:00-21:00"], "2026-03-27"),
        ([{"date": "2026-03-27", "time": "18:00/21:00"}], "2026-03-27"),
        (["whenever"], "2026-03-27"),
    ],
    ids=["another weekday", "no date", "no offset", "no time"],
)
def test_times_that_cannot_be_read_for_certain_are_asked_about_by_name_and_then_used(
    windows: Any, right: str
):
    desk = asked(time_windows=windows)
    assert clarified(desk) == ["time_windows"]
    assert desk.sent[-1].type == "context_request"
    assert not desk.questions(), "nobody is asked about days that nobody knows"
    good = [{"date": right, "time": "18:00+00:00/21:00+00:00"}]
    desk.receive(
        PEER, THREAD, "pkt_dates000002", "context_response", {"context_provided": {"time_windows": good}}
    )
    desk.settle()
    question = desk.question("consent")
    (field,) = [one for one in desk.content(question)["fields"] if one["field"] == "time_windows"]
    assert field["values"] == [good]
    desk.share_all(question)
    provided = [one.fields["context_provided"] for one in desk.sent if "context_provided" in one.fields]
    assert provided[-1]["time_windows"] == good
    assert clarified(desk) == ["time_windows"], "asked once"


@pytest.mark.spec("A2ACP-076")
def test_a_weekday_that_is_not_its_dates_in_a_summary_is_asked_about_too():
    desk = asked("Dinner on Friday 28 March 2026")
    assert clarified(desk) == ["proposed_date"]
    body = {"context_provided": {"proposed_date": "Saturday 28 March 2026"}}
    desk.receive(PEER, THREAD, "pkt_dates000002", "context_response", body)
    desk.settle()
    (field,) = [
        one for one in desk.content(desk.question("consent"))["fields"] if one["field"] == "time_windows"
    ]
    assert [one["date"] for one in field["values"][0]] == ["2026-03-28"]


@pytest.mark.spec("A2ACP-076")
def test_a_time_without_offset_is_read_in_the_zone_that_its_sender_names():
    desk = asked(time_windows=[{"date": "2026-03-27", "time": "18:00/21:00"}], timezone="Europe/Paris")
    assert clarified(desk) == []
    (field,) = [
        one for one in desk.content(desk.question("consent"))["fields"] if one["field"] == "time_windows"
    ]
    assert field["values"] == [[{"date": "2026-03-27", "time": "17:00+00:00/20:00+00:00"}]]


@pytest.mark.spec("A2ACP-075")
@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("time_windows", "Friday 28 March 2026 18:00-21:00"),
        ("dietary", "vegan on Friday 28 March 2026"),
    ],
)
def test_what_the_owner_says_with_a_wrong_weekday_is_refused_and_the_question_stays(field: str, value: str):
    both = desks()
    begun(both, DINNER)
    question = both.ben.question("consent")
    with pytest.raises(Refused, match="Saturday"):
        both.ben.answer(question, share={field: value})
    assert both.ben.book.questions[question.question_id].is_open
    assert not both.ben.sent
    with pytest.raises(Refused):
        both.ben.answer(question, share={"time_windows": "some evening"})


@pytest.mark.spec("A2ACP-075")
def test_what_the_owner_types_leaves_in_the_canonical_form():
    both = desks(ben={"zone": "Europe/Paris"})
    begun(both, DINNER)
    both.ben.answer(both.ben.question("consent"), share={"time_windows": "Friday 27 March 2026 19:00-22:00"})
    provided = next(one.fields["context_provided"] for one in both.ben.sent)
    assert provided["time_windows"] == [{"date": "2026-03-27", "time": "19:00+01:00/22:00+01:00"}]


@pytest.mark.spec("A2ACP-075")
def test_a_counter_with_a_wrong_weekday_is_refused():
    both = desks()
    thread = begun(both, DINNER)
    both.ben.share_all(both.ben.question("consent"))
    both.settle()
    with pytest.raises(Refused, match="Saturday"):
        both.ben.answer(both.ben.question("checkpoint"), counter=("time", "Friday 28 March 2026 at 20:00"))
    assert both.ben.state(thread) == "PROPOSED"


@pytest.mark.spec("A2ACP-075")
def test_words_of_a_brain_with_a_wrong_weekday_are_written_anew_without_them():
    both = desks()

    class Wrong:
        async def think(self, task: port.Task) -> port.Thought:
            if task.kind == port.WRITE_PROPOSAL:
                return port.Thought(summaries=("Dinner on Thursday 27 March 2026",), reasoning="x")
            return await right.think(task)

    right, both.ben.brain = both.ben.brain, Wrong()
    right_too, both.anna.brain = both.anna.brain, Wrong()
    assert right_too
    thread = begun(both, DINNER)
    both.ben.share_all(both.ben.question("consent"))
    both.settle()
    assert both.anna.state(thread) == "PROPOSED"
    (proposed,) = [one for one in (*both.anna.sent, *both.ben.sent) if one.type == "resolution"]
    assert "Thursday" not in str(proposed.fields)
    assert proposed.fields["proposal"]["details"]["date"] == "2026-03-27"


@pytest.mark.spec("A2ACP-056")
@pytest.mark.spec("A2ACP-075")
def test_what_cannot_be_written_rightly_pauses_the_thread_and_both_are_told():
    profile = {"timezone": "Europe/London", "dietary": "vegan on Friday 28 March 2026"}
    both = desks(ben={"profile": profile})
    thread = begun(both, DINNER)
    both.ben.share_all(both.ben.question("consent"))
    (only,) = both.ben.sent
    assert only.type == "processing_error"
    assert only.fields["code"] == "generation_failed"
    assert only.fields["in_reply_to"] == both.anna.sent[0].packet_id
    both.settle()
    assert both.ben.thread(thread).paused
    assert both.anna.thread(thread).paused
    assert "generation_failed" in both.ben.notices()
    assert "their_agent_failed" in both.anna.notices()


@pytest.mark.spec("A2ACP-075")
def test_a_first_packet_that_cannot_be_written_rightly_is_not_sent_and_its_owner_is_told():
    both = desks()
    goal = replace(both.anna.goal(DINNER), summary="Dinner on Thursday 27 March 2026")
    thread = both.anna.decide(lambda ws: asking.ask(ws, goal, both.ben.me))
    both.anna.settle()
    both.anna.share_all(both.anna.question("consent"))
    assert not both.anna.sent
    assert both.anna.thread(thread).paused
    assert "generation_failed" in both.anna.notices()


@pytest.mark.spec("A2ACP-056")
def test_a_processing_error_of_theirs_pauses_the_thread_until_somebody_goes_on():
    both = desks()
    thread = begun(both, DINNER)
    both.anna.receive(
        both.ben.me, thread, "pkt_error000001", "processing_error", {"code": "generation_failed"}
    )
    both.anna.settle()
    assert both.anna.thread(thread).paused
    assert "their_agent_failed" in both.anna.notices()
    assert both.anna.state(thread) == "INITIATED"
    both.ben.share_all(both.ben.question("consent"))
    both.settle()
    assert not both.anna.thread(thread).paused
    assert both.anna.state(thread) == "PROPOSED"


@pytest.mark.spec("A2ACP-131")
def test_a_question_that_is_put_aside_stays_open_and_nothing_of_it_leaves():
    both = desks()
    thread = begun(both, DINNER)
    question = both.ben.question("consent")
    both.ben.answer(question, dismiss=True)
    both.settle()
    assert both.ben.question("consent").question_id == question.question_id
    assert not both.ben.sent
    both.ben.share_all(question)
    both.settle()
    assert both.ben.state(thread) == "PROPOSED"


@pytest.mark.parametrize(
    ("now", "offsets"),
    [
        # New York has changed its clocks on 8 March, London changes them on the 29th.
        ("2026-03-09T09:00:00Z", ("+00:00", "-04:00")),
        ("2026-02-23T09:00:00Z", ("+00:00", "-05:00")),
        ("2026-03-30T09:00:00Z", ("+01:00", "-04:00")),
    ],
)
def test_london_and_new_york_find_the_same_moment_in_every_week_of_spring(now: str, offsets: tuple[str, str]):
    london, york = {"now": now, "zone": "Europe/London"}, {"now": now, "zone": "America/New_York"}
    both = desks(anna=london, ben=york)
    thread = begun(both, "call with ben on Wednesday between 15:00 and 17:00")
    assert all(offsets[0] in one["time"] for one in both.anna.sent[0].fields["context"]["time_windows"])
    question = both.ben.question("consent")
    (field,) = [one for one in both.ben.content(question)["fields"] if one["field"] == "time_windows"]
    assert all(offsets[1] in one["time"] for one in field["values"][0])
    both.ben.share_all(question)
    both.settle()
    for consent in both.anna.questions("consent"):
        both.anna.share_all(consent)
    both.settle()
    both.confirmed()
    assert both.anna.state(thread) == "COMPLETED"
    slots = [person.thread(thread).proposal for person in (both.anna, both.ben)]
    assert all(slots)
