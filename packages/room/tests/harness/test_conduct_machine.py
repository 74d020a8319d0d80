"""A conduct under any order of inputs: one turn at a time, every event ends once, nothing speaks after a cancel."""

from __future__ import annotations

from hypothesis import Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from tacit.base.moment import SECOND, Moment
from tacit.c2a.messages import read_delivered
from tacit.harness.conduct import ConductOptions
from tacit.harness.drivers.port import Failure, FailureKind, Insert, Stop, TurnOutcome
from tacit.harness.effects import (
    Abort,
    Begin,
    Claim,
    Join,
    PostAnswer,
    Postpone,
    Return,
    Settle,
    Spent,
    SteerTurn,
)
from tests.c2a_peer import delivery
from tests.harness.one_turn import OneTurn

AUTHORS = st.sampled_from(["user", "usr:bo"])
PLACES = st.sampled_from(["g1", "g2"])
MODES = st.sampled_from(["buffered", "buffered", "buffered", "immediate", "notify", "digest", "tool_mailbox"])
THREADS = st.sampled_from([None, None, None, "t1", "e1", "e2", "e3"])
TEXTS = st.sampled_from(
    ["and more", "Which port does the hub use?", "actually, the lexer", "unrelated: the docs", "Does it run?"]
)
POLICIES = st.sampled_from(["must_respond", "must_respond", "may_respond", "must_not_respond"])


class Life(RuleBasedStateMachine):
    """An agent's life, and a small model of what must hold."""

    def __init__(self) -> None:
        super().__init__()
        self.now = Moment(1_768_298_400 * SECOND)
        self.conduct = OneTurn(ConductOptions(boundaries=True))
        self.count = 0
        self.open: set[str] = set()
        self.ended: set[str] = set()
        self.cancelled: set[str] = set()
        self.posts: list[PostAnswer] = []
        self.turn: str | None = None
        self.aborting = False
        self.steers: list[SteerTurn] = []
        self.claims: list[Claim] = []
        self.calls: list[str] = []
        self.said: dict[str, tuple[str, str]] = {}
        self.called_off: set[str] = set()

    @rule(steers=st.booleans(), inserts=st.booleans(), interrupt=st.booleans())
    @precondition(lambda self: self.count == 0)
    def with_a_driver(self, steers, inserts, interrupt):
        self.conduct.options = ConductOptions(
            steers=steers, inserts=inserts, boundaries=True, interrupt=interrupt
        )

    def carry_out(self, effects) -> None:
        for effect in effects:
            match effect:
                case Begin():
                    assert self.turn is None
                    assert effect.turn.events
                    assert len({(one.author.id, one.conversation) for one in effect.turn.events}) == 1
                    assert not self.cancelled & {one.event_id for one in effect.turn.events}
                    assert not any(one.text.startswith("unrelated") for one in effect.turn.events[1:])
                    self.turn, self.aborting, self.calls = effect.turn.id, False, []
                case Abort():
                    assert effect.turn_id == self.turn
                    self.aborting = True
                case Settle() | Postpone():
                    if isinstance(effect, Settle) and effect.disposition == "superseded":
                        self.is_accounted_for(effect)
                    assert effect.event_id in self.open, effect
                    self.open.discard(effect.event_id)
                    self.ended.add(effect.event_id)
                case Return():
                    assert set(effect.event_ids) <= self.open
                case Join():
                    assert {one.event_id for one in effect.events} <= self.open
                case PostAnswer():
                    assert effect.turn.carrier.event_id not in self.cancelled
                    self.posts.append(effect)
                case SteerTurn():
                    self.steers.append(effect)
                case Claim():
                    self.claims.append(effect)
                case _:
                    pass

    def is_accounted_for(self, effect) -> None:
        """What ends as superseded was taken back, called off, or is answered with what it was merged into."""
        into = effect.more.get("mergedInto")
        if into is not None:
            assert self.said[into] == self.said[effect.event_id]
        else:
            assert effect.event_id in self.cancelled | self.called_off, effect

    @rule(
        author=AUTHORS, place=PLACES, mode=MODES, policy=POLICIES, urgent=st.booleans(), text=TEXTS, thread=THREADS,
        reason=st.sampled_from(["direct_message", "direct_message", "role_mention", "cancellation", "hold"]),
    )  # fmt: skip
    def hear(self, author, place, mode, policy, urgent, reason, text, thread):
        self.count += 1
        event_id = f"e{self.count}"
        more = {"content": None, "knock": {"topic": "message"}} if mode == "notify" else {}
        attention = {"policy": policy, "reason": reason, "priority": "urgent" if urgent else "normal"}
        if thread not in (None, event_id):
            more["conversation"] = {"id": place, "kind": "channel", "threadId": thread}
        else:
            more["conversation"] = {"id": place, "kind": "channel"}
        params = delivery(
            event_id, text, author={"id": author, "kind": "human"},
            injection__mode=mode, policy=policy, attention=attention, **more,
        )  # fmt: skip
        self.open.add(event_id)
        self.said[event_id] = (author, place)
        running = self.conduct.running
        effects = self.conduct.heard(read_delivered(params), self.now)
        settled = {one.event_id for one in effects if isinstance(one, Settle)} - {event_id}
        if reason == "cancellation":
            # A thread's work may be called off by anybody who replies there; else it is the author's own.
            assert thread is not None or all(self.said[one][0] == author for one in settled)
            self.called_off |= settled
        else:
            assert not settled, "a message ended work without taking it back"
            if any(isinstance(one, Abort) for one in effects) and reason != "hold":
                assert self.said[running.turn.carrier.event_id] == (author, place)
        self.carry_out(effects)

    @rule(which=st.randoms(use_true_random=False))
    @precondition(lambda self: self.open)
    def edit(self, which):
        old = which.choice(sorted(self.open))
        self.count += 1
        event_id = f"e{self.count}"
        self.open.add(event_id)
        self.cancelled.add(old)
        self.carry_out(self.conduct.cancelled(old, self.now))
        # An edit has its original's author and place.
        author, place = self.said[event_id] = self.said[old]
        params = delivery(
            event_id, "edited", author={"id": author, "kind": "human"}, conversation__id=place, supersedes=old
        )
        self.carry_out(self.conduct.heard(read_delivered(params), self.now))

    @rule(which=st.randoms(use_true_random=False))
    @precondition(lambda self: self.open)
    def cancel(self, which):
        event_id = which.choice(sorted(self.open))
        spoke = self.conduct.running is not None and self.conduct.running.has_spoken
        if not (spoke and self.conduct.running.holds(event_id)):
            self.cancelled.add(event_id)
        self.carry_out(self.conduct.cancelled(event_id, self.now))

    @rule(author=AUTHORS, place=PLACES, typing=st.booleans())
    def type(self, author, place, typing):
        self.conduct.typing(place, author, self.now, typing=typing)

    @rule(seconds=st.sampled_from([0.1, 1, 3, 11, 40]))
    def wait(self, seconds):
        self.now = Moment(self.now + int(seconds * SECOND))
        self.carry_out(self.conduct.due(self.now))

    @rule(name=st.sampled_from(["Read", "shell"]))
    @precondition(lambda self: self.turn and not self.aborting)
    def use_tool(self, name):
        self.calls.append(f"c{len(self.calls)}")
        self.conduct.tool_started(self.calls[-1], name)

    @rule()
    @precondition(lambda self: self.turn and not self.aborting and self.calls)
    def reach_boundary(self):
        order, effects = self.conduct.boundary(self.calls.pop(), self.now)
        self.carry_out(effects)
        if isinstance(order, Stop):
            self.aborting = True
        if isinstance(order, Insert):
            assert self.conduct.options.inserts

    @rule()
    @precondition(lambda self: self.turn and not self.aborting and self.conduct.running is not None)
    def reply_with_a_tool(self):
        running = self.conduct.running
        if not running.is_ending:
            running.acts.sends += 1
            running.acts.replied.add(running.turn.carrier.event_id)

    @rule(taken=st.booleans())
    @precondition(lambda self: self.steers)
    def steered(self, taken):
        steer = self.steers.pop(0)
        if steer.event.event_id in self.open:
            self.carry_out(self.conduct.steered(steer, self.now, taken=taken))

    @rule(won=st.booleans())
    @precondition(lambda self: self.claims)
    def claimed(self, won):
        event = self.claims.pop(0).event
        if event.event_id not in self.open or event.event_id in self.cancelled:
            return
        if not won:
            self.carry_out([Settle(event.event_id, "ignored")])
            return
        params = delivery(
            event.event_id, "whole", author={"id": event.author.id, "kind": "human"}, attention__policy="may_respond",
            conversation__id=event.conversation, attention__reason="role_mention",
        )  # fmt: skip
        self.carry_out(self.conduct.heard(read_delivered(params), self.now, claimed=True))

    @rule(how=st.sampled_from(["text", "text", "silence", "retry", "permanent"]))
    @precondition(lambda self: self.turn)
    def end_turn(self, how):
        texts = {"text": "An answer.", "silence": "NO_REPLY"}
        failures = {
            "retry": Failure(FailureKind.RETRYABLE, "model_unavailable"),
            "permanent": Failure(FailureKind.PERMANENT, "signed_out"),
        }
        failure = Failure(FailureKind.CANCELLED, "cancelled") if self.aborting else failures.get(how)
        outcome = TurnOutcome(self.turn, texts.get(how, ""), failure=failure)
        spoke = self.conduct.running.has_spoken
        before, aborting = len(self.posts), self.conduct.running.is_ending
        self.turn = None
        effects = self.conduct.ended(outcome, self.now)
        assert [one for one in effects if isinstance(one, Spent)]
        self.carry_out(effects)
        if aborting or spoke:
            assert len(self.posts) == before

    @invariant()
    def an_answer_is_given_once(self):
        answered = [post.turn.carrier.event_id for post in self.posts]
        assert len(answered) == len(set(answered))

    @invariant()
    def it_always_knows_when_to_look_again(self):
        if self.turn is None and self.conduct.owed:
            assert self.conduct.next_due is not None

    @invariant()
    def work_is_told_once_and_only_while_it_is_open(self):
        told = [one.event_id for one in self.conduct.work(self.now)]
        assert len(told) == len(set(told))
        assert set(told) <= self.open

    def teardown(self):
        """Left alone, everything comes to an end."""
        for _ in range(400):
            if self.steers:
                self.steered(taken=False)
            elif self.claims:
                self.claimed(won=False)
            elif self.turn:
                self.end_turn("permanent")
            elif self.conduct.next_due is not None:
                self.now = Moment(max(self.now, self.conduct.next_due))
                self.carry_out(self.conduct.due(self.now))
            else:
                break
        assert self.conduct.owed == 0
        waiting = {one.event_id for one in (*self.conduct._beside.knocks, *self.conduct._beside.digests)}
        assert self.open - self.cancelled <= waiting


TestLife = Life.TestCase
TestLife.settings = settings(
    max_examples=150,
    stateful_step_count=40,
    phases=[Phase.explicit, Phase.generate, Phase.shrink],
)
