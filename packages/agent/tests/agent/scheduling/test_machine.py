"""Two engines over a bad post, against a small model: loss, repeats, another order, restarts, hours that pass.

The post keeps its word in the end: what was lost is sent again under its id, as the real one does. Within a
thread it hands on in order (A2ACP-030), so that what is shuffled here is what the real post lets through:
threads among each other, repeats, delays.
"""

from __future__ import annotations

import json

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from tacit.a2acp.threads.states import TERMINAL, TRANSITIONS, State
from tacit.agent.kernel import records
from tacit.base.moment import Moment
from tests.agent.scheduling.desk import HOUR, Desk, Packet

SECRETS = {
    "anna": {"home_address": "ANNASTREET 11", "health_info": "ANNAPOLLEN", "dietary": "ANNA-EATS-NO-MEAT"},
    "ben": {"home_address": "BENROAD 22", "health_info": "BENKNEE", "dietary": "BEN-EATS-NO-FISH"},
}
WISHES = [
    "dinner with ben on Friday evening",
    "call with ben on Thursday afternoon",
    "lunch with ben on Tuesday",
    "ask ben what his wifi is called",
]
both_sides = st.sampled_from(["anna", "ben"])


class Post:
    """From one desk to the other: what waits, by thread, and what has arrived before."""

    def __init__(self) -> None:
        self.waiting: list[Packet] = []
        self.delivered: list[Packet] = []

    def first(self, number: int) -> Packet | None:
        """The next packet of some thread: each thread keeps its order."""
        threads = list(dict.fromkeys(one.thread_id for one in self.waiting))
        if not threads:
            return None
        chosen = threads[number % len(threads)]
        return next(one for one in self.waiting if one.thread_id == chosen)


class TwoAgents(RuleBasedStateMachine):
    """What people and the post may do, in any order."""

    def __init__(self) -> None:
        super().__init__()
        self.sides = {
            name: Desk(name, profile={"timezone": "Europe/London", **SECRETS[name]})
            for name in ("anna", "ben")
        }
        self.posts = {"anna": Post(), "ben": Post()}
        self.threads: list[str] = []
        self.yes: dict[str, set[tuple[str, str]]] = {"anna": set(), "ben": set()}
        self.shared: dict[str, set[str]] = {"anna": set(), "ben": set()}
        self.answered: set[str] = set()

    def other(self, side: str) -> str:
        return "ben" if side == "anna" else "anna"

    def sent(self) -> None:
        for name, desk in self.sides.items():
            self.posts[name].waiting += desk.out
            desk.out = []

    # People.

    @precondition(lambda self: len(self.threads) < 3)
    @rule(side=both_sides, wish=st.sampled_from(WISHES), urgent=st.booleans())
    def asks(self, side, wish, urgent):
        desk, other = self.sides[side], self.sides[self.other(side)]
        self.threads.append(desk.ask(wish.replace("ben", self.other(side)), other.me, urgent=urgent))
        self.sent()

    @rule(side=both_sides, share=st.booleans(), number=st.integers(0, 9))
    def answers(self, side, share, number):
        desk = self.sides[side]
        found = desk.questions("consent")
        if not found:
            return
        question = found[number % len(found)]
        shown = {one["field"]: one["values"] for one in desk.content(question)["fields"]}
        # A person can only share what there is.
        sharing = {name: None for name, values in shown.items() if len(values) == 1}
        if share and sharing:
            self.shared[side] |= set(sharing)
            desk.answer(question, share=sharing)
        else:
            desk.answer(question, decline_all=True)
        self.answered.add(question.question_id)
        self.sent()

    @rule(side=both_sides, how=st.sampled_from(["confirm", "confirm", "confirm", "counter", "refuse"]))
    def decides(self, side, how):
        desk = self.sides[side]
        for question in desk.questions("checkpoint")[:1]:
            if how == "confirm":
                self.yes[side].add((question.thread_id, question.subject))
                desk.answer(question, confirm=True)
            elif how == "counter":
                desk.answer(question, counter=("time", "20:30"))
            else:
                desk.answer(question, refuse=True)
            self.answered.add(question.question_id)
        self.sent()

    @rule(side=both_sides, number=st.integers(0, 2))
    def chooses(self, side, number):
        desk = self.sides[side]
        for question in desk.questions("escalation")[:1]:
            choices = desk.content(question)["choices"]
            desk.answer(question, choose=number % len(choices))
            self.answered.add(question.question_id)
        self.sent()

    # The post.

    @rule(side=both_sides, number=st.integers(0, 5))
    def carries(self, side, number):
        post = self.posts[side]
        packet = post.first(number)
        if packet is not None:
            post.waiting.remove(packet)
            post.delivered.append(packet)
            self.hands_over(side, packet)

    @rule(side=both_sides, number=st.integers(0, 30))
    def repeats(self, side, number):
        """A packet that came before comes again; one that was thought lost is in `waiting` and comes late."""
        delivered = self.posts[side].delivered
        if delivered:
            self.hands_over(side, delivered[number % len(delivered)])

    def hands_over(self, side: str, packet: Packet) -> None:
        to = self.sides[self.other(side)]
        to.receive(self.sides[side].me, packet.thread_id, packet.packet_id, packet.type, packet.fields)
        to.settle()
        self.sent()

    # The devices.

    @rule(side=both_sides)
    def restarts(self, side):
        self.sides[side].restarted()

    @rule(hours=st.sampled_from([1, 3, 13, 30, 49]))
    def time_passes(self, hours):
        for desk in self.sides.values():
            desk.now = Moment(desk.now + hours * HOUR)
            desk.settle()
        self.sent()

    # What holds whatever happens.

    @invariant()
    def states_move_by_the_table(self):
        for desk in self.sides.values():
            now: dict[str, State] = {}
            for one in desk.log:
                if isinstance(one, records.Began):
                    now[one.thread_id] = State.INITIATED
                elif isinstance(one, records.Moved):
                    assert now[one.thread_id] == one.before
                    late_no = (one.before, one.after) == (State.EXPIRED, State.DECLINED)
                    assert late_no or TRANSITIONS[State(one.before), one.cause] == one.after
                    now[one.thread_id] = State(one.after)
            assert now == {name: thread.state for name, thread in desk.book.threads.items()}

    @invariant()
    def nothing_is_confirmed_without_both_people(self):
        for desk in self.sides.values():
            for thread in desk.book.threads.values():
                standing = thread.proposal
                if (
                    thread.state not in {State.CONFIRMED, State.EXECUTING, State.COMPLETED}
                    or standing is None
                ):
                    continue
                needed = [name for name, one in self.sides.items() if one.me in standing.confirmers]
                for name in needed:
                    assert (thread.thread_id, standing.packet_id) in self.yes[name], name

    @invariant()
    def nothing_leaves_that_was_not_released(self):
        for name, desk in self.sides.items():
            said = json.dumps([one.fields for one in desk.sent])
            for field, value in SECRETS[name].items():
                if field not in self.shared[name]:
                    assert value not in said, field

    @invariant()
    def a_packet_has_one_id_and_goes_once(self):
        for desk in self.sides.values():
            ids = [one.packet_id for one in desk.sent]
            assert len(ids) == len(set(ids))
            turns = [json.dumps([one.thread_id, one.type, one.fields], sort_keys=True) for one in desk.sent]
            resolutions = [one for one in turns if '"confirmed"' in one]
            assert len(resolutions) == len(set(resolutions))

    @invariant()
    def an_answered_question_does_not_return(self):
        for desk in self.sides.values():
            assert not self.answered & {one.question_id for one in desk.questions()}

    def teardown(self):
        """At rest, with everybody willing, both ends agree."""
        for _ in range(60):
            while any(post.waiting for post in self.posts.values()):
                for name in self.sides:
                    self.carries(name, 0)
            if not any(desk.questions("consent", "checkpoint", "escalation") for desk in self.sides.values()):
                break
            for name in self.sides:
                self.answers(name, share=True, number=0)
                self.decides(name, "confirm")
                self.chooses(name, 0)
        self.states_move_by_the_table()
        self.nothing_leaves_that_was_not_released()
        self.nothing_is_confirmed_without_both_people()
        self.both_ends_agree()

    def both_ends_agree(self) -> None:
        anna, ben = self.sides["anna"].book.threads, self.sides["ben"].book.threads
        for name in anna.keys() & ben.keys():
            ours, theirs = anna[name], ben[name]
            if {ours.state, theirs.state} & {State.EXPIRED, State.STALLED}:
                continue
            assert not {ours.state, theirs.state} & {State.CONFIRMED, State.EXECUTING}, (
                ours.state,
                theirs.state,
            )
            done = {State.COMPLETED}
            assert (ours.state in done) == (theirs.state in done), (name, ours.state, theirs.state)
            if ours.state in done and ours.proposal and theirs.proposal:
                assert ours.proposal.packet_id == theirs.proposal.packet_id
                assert set(ours.proposal.confirmed.values()) == set(theirs.proposal.confirmed.values())
            if State.DECLINED in {ours.state, theirs.state}:
                assert ours.state in TERMINAL, (name, ours.state, theirs.state)
                assert theirs.state in TERMINAL, (name, ours.state, theirs.state)


CALM = {
    "deadline": None,
    "suppress_health_check": [HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large],
}


@pytest.mark.spec("A2ACP-145", "A2ACP-156", "A2ACP-210", "A2ACP-216")
def test_whatever_people_post_and_devices_do_two_agents_keep_the_rules_and_agree_in_the_end():
    from hypothesis.stateful import run_state_machine_as_test

    run_state_machine_as_test(TwoAgents, settings=settings(max_examples=20, stateful_step_count=25, **CALM))


@pytest.mark.soak
@pytest.mark.timeout(3600)
def test_for_a_long_time_two_agents_keep_the_rules_and_agree_in_the_end():
    from hypothesis.stateful import run_state_machine_as_test

    run_state_machine_as_test(TwoAgents, settings=settings(max_examples=1500, stateful_step_count=40, **CALM))
