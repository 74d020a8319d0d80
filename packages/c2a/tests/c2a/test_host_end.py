"""The host's end against a small model: order, pace, redelivery, cancellation, attempts."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from tacit.c2a.host_end import MINUTE, Deliver, HostEnd, message_of
from tacit.c2a.messages import read_delivered, read_window
from tacit.c2a.negotiation import CAPABILITIES, Agreement
from tacit.c2a.notifications import Cancelled
from tacit.c2a.retry import redeliver_after
from tacit.c2a.vocabulary import NEWER
from tests.c2a_peer import delivery


def agreement(**off: bool) -> Agreement:
    sections = {section: dict.fromkeys(names, True) for section, names in CAPABILITIES.items()}
    for names in sections.values():
        names.update({name: value for name, value in off.items() if name in names})
    return Agreement(NEWER, sections)


def event(number: int, attempt: int = 1):
    return replace(read_delivered(delivery(f"e{number}")), attempt=attempt)


def end(per_minute: int = 60, **off: bool) -> HostEnd:
    return HostEnd(agreement(**off), per_minute=per_minute)


def sent(outgoing) -> list[tuple[str | None, int]]:
    return [(one.request_id, one.delivered.attempt) for one in outgoing if isinstance(one, Deliver)]


@pytest.mark.spec("C2A-161", "C2A-041")
def test_what_is_not_accepted_is_sent_again_with_growing_pauses_and_a_rising_attempt() -> None:
    host = end()
    assert sent(host.deliver("r1", event(1), 0.0)) == [("r1", 1)]
    now, attempts = 0.0, []
    for _ in range(8):
        assert host.next_due is not None
        assert sent(host.wake(host.next_due - 0.001)) == []
        attempts.append(host.next_due - now)
        now = host.next_due
        host.wake(now)
    assert attempts == [1, 2, 4, 8, 16, 32, 60, 60]
    assert host.answered("r1") == "e1"
    assert (host.answered("r1"), host.next_due, host.waiting) == (None, None, 0)


@pytest.mark.spec("C2A-223", "C2A-204")
def test_lines_before_a_question_leave_with_it_at_once_or_not_at_all() -> None:
    """Whoever gets it later reads what still stands: some of it may have been taken back."""
    line = read_window([{"eventId": "x1", "content": "my salary is five"}])
    first, second = (replace(event(number), before=line) for number in (1, 2))
    host = end(per_minute=1)
    [now] = host.deliver("r1", first, 0.0)
    assert isinstance(now, Deliver)
    assert now.delivered.before == line
    [again] = host.wake(1.0)
    assert isinstance(again, Deliver)
    assert again.delivered.before is None
    assert host.answered("r1")
    assert not host.deliver("r2", second, 2.0)
    [late] = host.wake(MINUTE)
    assert isinstance(late, Deliver)
    assert (late.delivered.late, late.delivered.before) == (True, None)


@pytest.mark.spec("C2A-205")
def test_what_waits_for_the_pace_leaves_at_the_very_moment_that_was_named() -> None:
    """Whoever sleeps until `next_due` and finds nothing to do would ask again at once, for ever."""
    began = 236.61700534065395
    assert began > began + MINUTE - MINUTE, "a number at which adding and taking away do not agree"
    host = end(per_minute=1)
    host.deliver("r1", event(1), began)
    assert host.answered("r1")
    assert not sent(host.deliver("r2", event(2), began))
    assert host.next_due is not None
    assert sent(host.wake(host.next_due)) == [("r2", 1)]


@pytest.mark.spec("C2A-041")
def test_an_attempt_never_counts_backwards_when_the_ledger_asks_again() -> None:
    host = end()
    host.deliver("r1", event(1), 0.0)
    assert sent(host.wake(1.0)) == [("r1", 2)]
    assert sent(host.wake(3.0)) == [("r1", 3)]
    assert sent(host.deliver("r1", event(1, attempt=2), 4.0)) == [("r1", 4)]
    assert sent(host.deliver("r1", event(1, attempt=2), 4.0)) == []
    assert sent(host.deliver("r1", event(1, attempt=9), 5.0)) == [("r1", 9)]


@pytest.mark.spec("C2A-008", "C2A-205")
def test_no_more_than_the_pace_leave_in_a_minute_and_none_overtakes() -> None:
    host = end(per_minute=2, redelivery=False)
    out = [one for number in range(5) for one in host.deliver(f"r{number}", event(number), float(number))]
    assert sent(out) == [("r0", 1), ("r1", 1)]
    assert host.next_due == 60.0 == MINUTE
    assert sent(host.wake(MINUTE)) == [("r2", 1)]
    assert sent(host.pace(4, MINUTE)) == [("r3", 1), ("r4", 1)]
    assert host.next_due is None


@pytest.mark.spec("C2A-179")
def test_one_that_never_left_is_dropped_and_one_that_did_is_called_back() -> None:
    host = end(per_minute=1)
    host.deliver("r1", event(1), 0.0)
    host.deliver("r2", event(2), 0.0)
    assert host.cancel("r2", "e2", "deleted") == ()
    assert host.cancel("r1", "e1", "deleted") == (Cancelled("r1", "e1", "deleted"),)
    assert not host.expects("r1")
    assert host.waiting == 0
    assert end(cancellation=False).cancel("r1", "e1", "deleted") == ()
    # What it had on another connection is called back as well: the harness may hold it still.
    assert end().cancel("r9", "e9", "deleted") == (Cancelled("r9", "e9", "deleted"),)


@pytest.mark.spec("C2A-020")
def test_a_peer_that_does_not_acknowledge_gets_each_once_as_a_notification() -> None:
    host = end(ack=False)
    (out,) = host.deliver("r1", event(1), 0.0)
    message = message_of(out, NEWER)
    assert "id" not in message
    assert (message["method"], message["params"]["eventId"]) == ("chat/deliver", "e1")
    assert (host.next_due, host.waiting, host.wake(99.0)) == (None, 0, [])
    quiet = end(redelivery=False)
    (out,) = quiet.deliver("r1", event(1), 0.0)
    assert message_of(out, NEWER)["id"] == "r1"
    assert quiet.next_due is None
    for one in (out, replace(out, request_id=None), Cancelled("r1", "e1", "deleted")):
        assert message_of(one, NEWER)["jsonrpc"] == "2.0"


class Host(RuleBasedStateMachine):
    """Time passes, events come, answers and cancellations arrive; the model counts what a harness saw."""

    def __init__(self) -> None:
        super().__init__()
        self.now = 0.0
        self.host = end(per_minute=3)
        self.made: list[str] = []
        self.attempts: dict[str, list[int]] = {}
        self.last: dict[str, float] = {}
        self.over: set[str] = set()
        self.first: list[float] = []
        self.queue: list[str] = []
        self.had: dict[str, int] = {}

    def _see(self, outgoing) -> None:
        for one in outgoing:
            if not isinstance(one, Deliver):
                continue
            name = one.request_id
            assert name is not None
            assert name not in self.over, "what was answered or called back never leaves again"
            seen = self.attempts.setdefault(name, [])
            if not seen:
                assert self.queue.pop(0) == name, "in the order in which they came"
                self.first.append(self.now)
            assert not seen or one.delivered.attempt > seen[-1]
            seen.append(one.delivered.attempt)
            self.last[name] = self.now

    @rule()
    def a_new_event(self) -> None:
        name = f"r{len(self.made)}"
        self.made.append(name)
        self.queue.append(name)
        self.had[name] = 1
        self._see(self.host.deliver(name, event(len(self.made)), self.now))

    @rule(number=st.integers(0, 30), attempt=st.integers(1, 4))
    def the_ledger_asks_again(self, number: int, attempt: int) -> None:
        if number >= len(self.made) or self.made[number] in self.over:
            return
        name = self.made[number]
        if name in self.queue and attempt > self.had[name]:
            # A newer attempt of one that still waits stands for it, at the end of the queue.
            self.queue.remove(name)
            self.queue.append(name)
        self.had[name] = max(self.had[name], attempt)
        self._see(self.host.deliver(name, event(number + 1, attempt), self.now))

    @rule(number=st.integers(0, 30))
    def an_answer(self, number: int) -> None:
        name = f"r{number}"
        open_before = self.host.expects(name)
        assert (self.host.answered(name) is not None) == open_before
        if open_before:
            self.over.add(name)

    @rule(number=st.integers(0, 30))
    def a_cancellation(self, number: int) -> None:
        if number < len(self.made) and self.made[number] not in self.over:
            name = self.made[number]
            told = self.host.cancel(name, f"e{number + 1}", "deleted")
            assert bool(told) == (name in self.attempts)
            self.over.add(name)
            if name in self.queue:
                self.queue.remove(name)

    @rule(seconds=st.floats(0.0, 100.0, allow_nan=False))
    def time_passes(self, seconds: float) -> None:
        until = self.now + seconds
        while (due := self.host.next_due) is not None and due <= until:
            self.now = max(self.now, due)
            self._see(self.host.wake(self.now))
        self.now = until

    @invariant()
    def no_minute_holds_more_than_the_pace(self) -> None:
        for at in self.first:
            assert sum(at <= other < at + MINUTE for other in self.first) <= 3

    @invariant()
    def nothing_is_lost(self) -> None:
        left = [name for name in self.made if name not in self.over]
        assert self.host.waiting == len(left)
        for name in left:
            if name in self.attempts:
                assert self.host.next_due is not None
                longest = redeliver_after(len(self.attempts[name]) + 1)
                assert self.now - self.last[name] <= longest


Host.TestCase.settings = settings(max_examples=60, stateful_step_count=25)
TestHost = pytest.mark.spec("C2A-008", "C2A-028", "C2A-161", "C2A-205")(Host.TestCase)
