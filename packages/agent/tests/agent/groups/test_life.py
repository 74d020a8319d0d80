"""A random life of groups, drawn from a seed and without a clock: whatever happens, each ends once and the same for all."""

from __future__ import annotations

import random

import pytest

from tacit.a2acp.threads.states import State
from tacit.agent.groups import grouping, transferring
from tacit.agent.groups import records as group_records
from tacit.agent.groups.fold import GroupTables
from tacit.base.errors import Refused
from tacit.base.moment import Moment
from tests.agent.groups.circle import Circle, own_thread
from tests.agent.scheduling.desk import DAY, HOUR, Desk

NAMES = ("anna", "bob", "cleo", "dora", "emil")
EVENINGS = ("Friday", "Saturday", "Sunday", "Tuesday", "Wednesday")
SECRET = "{}neverlane"


class Life(Circle):
    """Owners who know each other; a packet is on its way until it is its turn."""

    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)
        profile = {"timezone": "Europe/London"}
        super().__init__(
            *(Desk(name, profile={**profile, "home_address": SECRET.format(name)}) for name in NAMES)
        )
        self.groups: list[str] = []
        self.away: set[str] = set()

    # What happens.

    def act(self) -> None:
        acts = {
            self.begins: 2, self.carries: 30, self.owner: 12, self.hands_over: 2, self.dies: 3, self.leaves: 1,
            self.returns: 3, self.waits: 1,
        }  # fmt: skip
        self.chance.choices(list(acts), list(acts.values()))[0]()

    def some(self) -> Desk:
        return self.chance.choice(list(self.desks.values()))

    def begins(self) -> None:
        people = self.chance.sample(list(self.desks.values()), self.chance.choice([3, 3, 4, 5]))
        goal = people[0].goal(f"game night on {self.chance.choice(EVENINGS)} evening")
        others = [one.me for one in people[1:]]
        how = self.chance.choice([{}, {"quorum": 2}, {"quorum": 3}, {"in_order": True}])
        self.groups.append(people[0].decide(lambda ws: grouping.begin(ws, goal, others, **how)))
        people[0].settle()

    def carries(self) -> bool:
        """One packet arrives: of each sender's the oldest for somebody who is there."""
        ready = [
            (sender, one)
            for sender in self.desks.values()
            for one in {one.to: one for one in reversed(sender.out)}.values()
            if sender.me not in self.away and one.to not in self.away
        ]
        if not ready:
            return False
        sender, one = self.chance.choice(ready)
        receiver = self.desks[one.to]
        for _ in range(self.chance.choice([1, 1, 1, 2])):
            # The post may hand the same packet over again.
            receiver.receive(sender.me, one.thread_id, one.packet_id, one.type, one.fields)
        sender.out.remove(one)
        self.carried.append((sender.me, one))
        receiver.settle()
        return True

    def owner(self, *, willing: bool = False) -> bool:
        """Somebody answers a question."""
        found = [(one, question) for one in self.desks.values() for question in one.questions()]
        if not found:
            return False
        one, question = self.chance.choice(found)
        yes = willing or self.chance.random() < 0.85
        match question.kind:
            case "checkpoint":
                one.answer(question, confirm=yes, refuse=not yes)
            case "consent":
                known = [
                    each["field"] for each in one.content(question)["fields"] if len(each["values"]) == 1
                ]
                known = [each for each in known if each != "home_address"] if yes else []
                one.answer(question, share=dict.fromkeys(known), decline_all=not known)
            case "escalation":
                last = len(one.content(question)["choices"]) - 1
                one.answer(question, choose=0 if yes else last)
            case _:
                one.answer(question, dismiss=True)
        return True

    def hands_over(self) -> None:
        if not self.groups:
            return
        one, group_id = self.some(), self.chance.choice(self.groups)
        to = self.some().me
        if group_id in one.book.part(GroupTables).groups:
            try:
                one.decide(lambda ws: transferring.offer(ws, ws.book.part(GroupTables).groups[group_id], to))
            except Refused:
                return

    def dies(self) -> None:
        self.some().restarted()

    def leaves(self) -> None:
        self.away.add(self.some().me)

    def returns(self) -> None:
        if self.away:
            self.away.remove(self.chance.choice(sorted(self.away)))

    def waits(self, most: int = 3 * HOUR) -> None:
        passed = self.chance.randrange(most)
        for one in self.desks.values():
            one.now = Moment(one.now + passed)
            one.settle()

    # How it ends.

    def comes_to_rest(self) -> None:
        """Everybody is there and willing; then days pass, until nothing can happen any more."""
        self.away.clear()
        for _ in range(40):
            while self.carries() or self.owner(willing=True):
                pass
            if not any(one.book.open_threads for one in self.desks.values()):
                return
            self.waits(2 * DAY)

    def check(self) -> None:
        for group_id in self.groups:
            seen = {
                one.me: own_thread(one, group_id)
                for one in self.desks.values()
                if group_id in one.book.part(GroupTables).groups
            }
            states = {who: thread.state for who, thread in seen.items()}
            assert not any(thread.is_open for thread in seen.values()), (group_id, states)
            met = [
                who.me
                for who in self.desks.values()
                for one in who.log
                if isinstance(one, group_records.Met) and one.group_id == group_id
            ]
            assert len(met) <= 1, (group_id, met)
            done = {who for who, state in states.items() if state is State.COMPLETED}
            assert bool(done) <= bool(met), (group_id, states)
        for one in self.desks.values():
            came = [
                own_thread(one, group_id)
                for group_id in self.groups
                if group_id in one.book.part(GroupTables).groups
                and own_thread(one, group_id).state is State.COMPLETED
            ]
            confirmed = [each for each in came if each.proposal and one.me in each.proposal.confirmed]
            assert one.done == [("do", "calendar")] * len(confirmed), (one.me, one.done, len(confirmed))
            one.restarted()
            said = "\n".join(str(each.fields) for each in one.sent)
            assert SECRET.format(one.me[6:].partition("@")[0]) not in said


def lived(seed: int, acts: int) -> Life:
    life = Life(seed)
    for _ in range(acts):
        life.act()
    life.comes_to_rest()
    life.check()
    return life


@pytest.mark.spec("A2ACP-151", "A2ACP-163")
@pytest.mark.parametrize("seed", [1, 5, 6])
def test_whatever_happens_to_groups_each_ends_once_and_the_same_for_all(seed):
    assert lived(seed, 120).groups


@pytest.mark.soak
@pytest.mark.timeout(3600)
def test_whatever_happens_to_groups_in_many_lives_each_ends_once_and_the_same_for_all():
    for seed in range(7, 300):
        lived(seed, 250)
