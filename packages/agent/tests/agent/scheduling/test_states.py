"""A thread is in one state; what the table does not name moves nothing and is on record."""

from __future__ import annotations

import pytest

from tacit.a2acp.threads.states import TRANSITIONS, Cause, State
from tacit.agent.kernel import records
from tacit.agent.scheduling import asking
from tacit.base.errors import Refused
from tests.agent.scheduling.desk import DAY, Desk, begun, desks

DINNER = "dinner with ben on Friday evening"


@pytest.mark.spec("A2ACP-156")
@pytest.mark.parametrize("state", list(State))
def test_a_cause_that_the_table_does_not_name_is_refused_and_logged(state: State):
    desk = Desk("anna")
    thread = desk.ask(DINNER, "agent:ben@relay.example")
    before = State.INITIATED
    if state is not before:
        desk.decide(lambda ws: ws.say(records.Moved(thread, Cause.NEGOTIATED, before, state, "")))
    for cause in Cause:
        ws = desk.workspace()
        moved = ws.move(thread, cause)
        expected = TRANSITIONS.get((state, cause))
        assert moved == (expected is not None)
        assert ws.thread(thread).state == (expected or state)
        if expected is None:
            assert ws.records == [records.NotMoved(thread, cause, state)]


@pytest.mark.spec("A2ACP-163")
def test_a_persons_no_beats_a_clock_and_not_the_other_way_round():
    both = desks()
    thread = begun(both, DINNER)
    both.later(2 * DAY)
    both.later(7 * DAY)
    assert both.anna.state(thread) == "EXPIRED"
    no = {"state": "DECLINED", "closed_reason": "withdrawn"}
    both.anna.receive(both.ben.me, thread, "pkt_no000000001", "thread_status", no)
    assert both.anna.state(thread) == "DECLINED"
    both.anna.receive(both.ben.me, thread, "pkt_no000000002", "thread_status", {"state": "EXPIRED"})
    assert both.anna.state(thread) == "DECLINED"


@pytest.mark.spec("A2ACP-163")
def test_what_stands_still_goes_on_when_its_owner_says_so():
    both = desks()
    thread = begun(both, DINNER)
    both.later(2 * DAY)
    assert both.anna.state(thread) == "STALLED"
    both.anna.decide(lambda ws: asking.resume(ws, thread))
    assert both.anna.state(thread) == "NEGOTIATING"
    both.anna.decide(lambda ws: asking.stop(ws, thread))
    assert both.anna.state(thread) == "DECLINED"
    with pytest.raises(Refused, match="thread_ended"):
        both.anna.decide(lambda ws: asking.resume(ws, thread))
