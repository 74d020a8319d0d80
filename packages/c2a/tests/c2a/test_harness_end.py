"""The harness's end: greetings, each event once, repeats, faults, cancellations; over many connections."""

from __future__ import annotations

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from tacit.c2a.harness_end import HarnessEnd, PendingEvent, RequestAnswered, Ticket
from tacit.c2a.messages import Connected, Initialize
from tacit.c2a.notifications import Cancelled, Typing
from tacit.c2a.vocabulary import NEWER
from tests.c2a_peer import delivery

GREETING = Initialize(NEWER, "test", "1", {})
WELCOME = {"protocolVersion": NEWER, "capabilities": {}, "session": {"id": "ada"}}


def harness(**more) -> HarnessEnd:
    ours = HarnessEnd(GREETING, **more)
    ours.opened()
    ours.greeted(WELCOME)
    return ours


def deliver(ours: HarnessEnd, request_id: str, event_id: str, **more):
    return ours.asked(request_id, "chat/deliver", delivery(event_id, **more))


@pytest.mark.spec("C2A-018")
def test_what_comes_in_the_same_breath_as_the_answer_follows_it() -> None:
    ours = HarnessEnd(GREETING)
    assert ours.opened() == (1, GREETING)
    assert deliver(ours, "r1", "e1") == []
    connected, pending = ours.greeted(WELCOME)
    assert (connected, pending.event.event_id) == (Connected(NEWER, {}, {"id": "ada"}), "e1")


@pytest.mark.spec("C2A-028")
def test_what_was_never_handed_over_comes_again_on_the_next_connection() -> None:
    ours = HarnessEnd(GREETING)
    ours.opened()
    deliver(ours, "r1", "e1")
    ours.lost()
    ours.opened()
    assert [type(one) for one in ours.greeted(WELCOME)] == [Connected]
    (again,) = deliver(ours, "r1", "e1")
    assert again.tickets == [Ticket(2, "r1")]


@pytest.mark.spec("C2A-027")
def test_the_next_greeting_names_what_was_accepted_last() -> None:
    ours = harness()
    assert ours.greeting_refused("event_not_found") is None
    for number in (1, 2):
        (pending,) = deliver(ours, f"r{number}", f"e{number}")
        ours.accept(pending)
    deliver(ours, "r3", "e3")
    ours.lost()
    number, greeting = ours.opened()
    assert (number, greeting.last_acked) == (2, "e2")
    assert ours.greeting_refused("event_not_found") == GREETING
    assert ours.greeting_refused("permission_denied") is None


@pytest.mark.spec("C2A-160", "C2A-162")
def test_every_attempt_gets_the_one_answer_and_later_ones_are_duplicates() -> None:
    ours = harness()
    (pending,) = deliver(ours, "r1", "e1")
    assert deliver(ours, "r1b", "e1") == []
    answers = ours.accept(pending)
    assert [one.ticket.request_id for one in answers] == ["r1", "r1b"]
    assert {one.result["duplicate"] for one in answers} == {False}
    assert ours.accept(pending) == []
    (late,) = deliver(ours, "r1c", "e1")
    assert late.result == {"accepted": True, "eventId": "e1", "duplicate": True}


@pytest.mark.spec("C2A-222")
def test_a_repeat_that_asks_for_more_is_new() -> None:
    ours = harness()
    may = {"policy": "may_respond", "attention__policy": "may_respond"}
    (pending,) = deliver(ours, "r1", "e1", **may)
    ours.accept(pending)
    (again,) = deliver(ours, "r1", "e1")
    assert isinstance(again, PendingEvent)
    ours.accept(again)
    (weaker,) = deliver(ours, "r1", "e1", **may)
    assert isinstance(weaker, RequestAnswered)


@pytest.mark.spec("C2A-162")
def test_a_memory_that_outlives_the_process_decides_alone() -> None:
    ours = harness(known=lambda params: params["eventId"] == "old")
    (answer,) = deliver(ours, "r1", "old")
    assert answer.result["duplicate"] is True
    (pending,) = deliver(ours, "r2", "new")
    ours.accept(pending)
    assert isinstance(deliver(ours, "r2", "new")[0], PendingEvent)


def test_only_so_many_accepted_events_are_remembered() -> None:
    ours = harness(remembered=2)
    for number in range(3):
        ours.accept(deliver(ours, f"r{number}", f"e{number}")[0])
    assert isinstance(deliver(ours, "x", "e2")[0], RequestAnswered)
    assert isinstance(deliver(ours, "x", "e0")[0], PendingEvent)


@pytest.mark.spec("C2A-030", "C2A-036", "C2A-017")
def test_faults_and_unknown_methods_are_refused_and_never_handed_over() -> None:
    ours = harness()
    (refused,) = deliver(ours, "r1", "e1", injection__mode="notify")
    assert (refused.error["code"], refused.error["data"]["details"]["missing"]) == (
        -32602,
        ["content", "knock"],
    )
    (unknown,) = ours.asked("q", "chat/dance", {})
    assert (unknown.error["code"], unknown.error["data"]["code"]) == (-32601, "unknown_op")
    assert ours.told("notifications/dance", {}) == []
    assert ours.told("chat/deliver", {}) == []


@pytest.mark.spec("C2A-020")
def test_a_delivery_that_wants_no_answer_gets_none() -> None:
    ours = harness()
    (pending,) = ours.told("chat/deliver", delivery("e1"))
    assert ours.accept(pending) == []
    assert ours.told("chat/deliver", delivery("e1")) == []


@pytest.mark.spec("C2A-179")
def test_a_cancellation_finds_its_event_by_either_name_before_and_after_acceptance() -> None:
    ours = harness()
    (pending,) = deliver(ours, "r1", "e1")
    assert ours.told("notifications/cancelled", {"requestId": "r1"}) == [Cancelled("r1", "e1", "")]
    assert pending.is_cancelled
    (other,) = deliver(ours, "r2", "e2")
    ours.accept(other)
    assert ours.told("notifications/cancelled", {"requestId": "r2"}) == [Cancelled("r2", "e2", "")]
    assert ours.told("notifications/cancelled", {"requestId": "r9"}) == [Cancelled("r9", None, "")]
    typing = ours.told("notifications/typing", {"conversationId": "c", "author": "ann"})
    assert typing == [Typing("c", "ann", typing=True)]


class Harness(RuleBasedStateMachine):
    """Connections come and go, events repeat; each is handed over once and each request answered once."""

    def __init__(self) -> None:
        super().__init__()
        self.ours = HarnessEnd(GREETING)
        self.connection = 0
        self.greeted = False
        self.asked: set[Ticket] = set()
        self.answered: set[Ticket] = set()
        self.open: dict[str, PendingEvent] = {}
        self.handed: list[str] = []
        self.accepted: set[str] = set()
        self.number = 0

    def _do(self, outputs) -> None:
        for output in outputs:
            if isinstance(output, RequestAnswered):
                assert output.ticket in self.asked
                assert output.ticket not in self.answered
                self.answered.add(output.ticket)
            elif isinstance(output, PendingEvent):
                event_id = output.event.event_id
                assert event_id not in self.handed, "handed over once"
                self.handed.append(event_id)
                self.open[event_id] = output

    @rule()
    def a_connection_opens(self) -> None:
        if self.connection:
            self.ours.lost()
        self.connection, _ = self.ours.opened()
        self.greeted = False

    @rule()
    def the_host_agrees(self) -> None:
        if self.connection and not self.greeted:
            self.greeted = True
            self._do(self.ours.greeted(WELCOME))

    @rule(event=st.integers(0, 5))
    def a_delivery(self, event: int) -> None:
        if self.connection:
            self.number += 1
            self.asked.add(Ticket(self.connection, f"r{self.number}"))
            self._do(deliver(self.ours, f"r{self.number}", f"e{event}"))

    @rule(event=st.integers(0, 5))
    def an_acceptance(self, event: int) -> None:
        pending = self.open.pop(f"e{event}", None)
        if pending is not None:
            self.accepted.add(f"e{event}")
            self._do(self.ours.accept(pending))

    @invariant()
    def an_accepted_event_owes_no_answer(self) -> None:
        for event_id, pending in self.open.items():
            assert event_id not in self.accepted
            assert not pending.is_accepted
            assert not self.answered & set(pending.tickets)


Harness.TestCase.settings = settings(max_examples=60, stateful_step_count=30)
TestHarness = pytest.mark.spec("C2A-160", "C2A-162")(Harness.TestCase)
