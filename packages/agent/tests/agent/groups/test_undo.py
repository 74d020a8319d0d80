"""What several agreed on fails with some of them: it is undone for everybody who was told, whatever the order."""

from __future__ import annotations

import copy
import functools
import itertools
import random
from dataclasses import replace

import pytest

from tacit.agent.groups import grouping, parting
from tacit.agent.scheduling.actions import port
from tests.agent.groups.circle import FRIDAY, Circle, busy_but, own_thread
from tests.agent.scheduling import doers
from tests.agent.scheduling.desk import FEATURES, Desks, span
from tests.agent.scheduling.doers import Doer, two

NAMES = ("anna", "bob", "cara", "dora")
OWN = 'Your calendar "Home" did not accept the entry (403).'
SUBSETS = [frozenset(some) for size in range(len(NAMES) + 1) for some in itertools.combinations(NAMES, size)]


def night(*refusing: str, names: tuple[str, ...] = NAMES, free=(FRIDAY,), **how) -> tuple[Circle, str]:
    """A game night up to where everybody is asked to confirm; some calendars will refuse the entry."""
    people = Circle(*(Doer(name, busy=busy_but(*free)) for name in names))
    for name in refusing:
        people[name].results["do", "calendar"] = [port.FAILED] * 20
    return people, people.ask(**how)


@functools.cache
def _proposed(quorum: int | None) -> tuple[Circle, str]:
    return night(quorum=quorum)


@functools.cache
def _proposed_to_one() -> tuple[Desks, str]:
    both = two()
    return both, doers.proposed(both)


def proposed(quorum: int | None = None) -> tuple[Circle, str]:
    """A game night of its own that everybody is asked to confirm."""
    return copy.deepcopy(_proposed(quorum))


def entries(people: Circle) -> dict[str, int]:
    """How many entries of the agents each calendar holds."""
    return {one.me[6:].partition("@")[0]: len(one.entries()) for one in people.desks.values()}


def check(people: Circle, group_id: str) -> None:
    """Whoever still takes part is in one state, and every calendar agrees with its agent."""
    states = people.states(group_id)
    assert len({one for one in states.values() if one != "DECLINED"}) <= 1, states
    assert entries(people) == {name: int(state == "COMPLETED") for name, state in states.items()}, states
    assert not any(one.violations() for one in people.desks.values())


@pytest.mark.spec("A2ACP-162", "A2ACP-166", "A2ACP-167", "A2ACP-169", "A2ACP-171")
def test_one_calendar_of_four_refuses_and_all_four_undo_it_and_know_why():
    people, group_id = night("cara")
    people.confirm()
    assert set(people.states(group_id).values()) == {"NEGOTIATING"}
    assert entries(people) == dict.fromkeys(NAMES, 0)
    for name in ("anna", "bob", "dora"):
        assert people[name].did() == [("do", "calendar"), ("undo", "calendar")]
        assert people[name].reasons() == ["Cara's calendar refused the entry."]
    assert people["cara"].reasons() == [OWN]
    asked = people["anna"].content(people["anna"].question("escalation"))
    assert asked["reason"] == "Cara's calendar refused the entry."
    said = [one.fields for _, one in people.carried if one.type == "thread_status"]
    assert all("Home" not in str(one) and "403" not in str(one) for one in said)
    # Cara chooses another calendar, and Anna has the same tried again.
    people["cara"].results.clear()
    people["anna"].answer(
        people["anna"].question("escalation"), choose=asked["choices"].index(grouping.TRY_AGAIN)
    )
    people.settle()
    people.confirm()
    assert set(people.states(group_id).values()) == {"COMPLETED"}
    check(people, group_id)


class Chances:
    """What happens next is drawn from a seed: who says yes, whose wheel turns, which packet arrives, who is away."""

    def __init__(self, people: Circle, seed: int) -> None:
        self.people = people
        self.chance = random.Random(seed)
        for one in people.desks.values():
            # Restarts are drawn too: after each decision they would take most of the time.
            one.restarts = lambda: self.chance.random() < 0.2
        self.away = self.chance.choice([*people.desks.values(), None])

    def lives(self) -> None:
        """Everybody says yes at some time, in some order, until nothing is left to happen."""
        for _ in range(200):
            self._happens()
        # Whoever was away comes back, and takes what waits.
        self.away = None
        while self._says_yes() or self._arrives() or self._turns():
            pass
        # Calendars that did not answer or not let go of an entry do so now.
        self.people.settle()
        for one in self.people.desks.values():
            while one._turn():
                pass
        self.people.settle()

    def _happens(self) -> bool:
        return self.chance.choice([self._says_yes, self._arrives, self._arrives, self._turns, self._turns])()

    def _says_yes(self) -> bool:
        asked = [(one, each) for one in self.people.desks.values() for each in one.questions("checkpoint")]
        if asked:
            one, question = self.chance.choice(asked)
            one.answer(question, confirm=True)
        return bool(asked)

    def _turns(self) -> bool:
        """One step of one agent's own work."""
        some = list(self.people.desks.values())
        self.chance.shuffle(some)
        return any(one._turn() for one in some)

    def _arrives(self) -> bool:
        """The oldest packet of somebody for somebody else arrives, once or twice."""
        ready = [
            (sender, one)
            for sender in self.people.desks.values()
            for one in {one.to: one for one in reversed(sender.out)}.values()
            if self.away not in {sender, self.people.desks[one.to]}
        ]
        if not ready:
            return False
        sender, one = self.chance.choice(ready)
        for _ in range(self.chance.choice([1, 1, 2])):
            receiver = self.people.desks[one.to]
            receiver.receive(sender.me, one.thread_id, one.packet_id, one.type, one.fields)
        sender.out.remove(one)
        return True


def unwilling(people: Circle, refusing: frozenset[str], chance: random.Random) -> None:
    """Calendars that refuse, others that are slow, and entries that are not let go of at once."""
    for desk in people.desks.values():
        name = desk.me[6:].partition("@")[0]
        slow = [port.UNKNOWN] * chance.randrange(3)
        desk.results["do", "calendar"] = [*slow, port.FAILED if name in refusing else port.DONE]
        desk.results["undo", "calendar"] = chance.choice(
            [[], [port.UNKNOWN], [port.FAILED], [port.FAILED, port.UNKNOWN, port.FAILED]]
        )


@pytest.mark.spec("A2ACP-162", "A2ACP-166", "A2ACP-167", "A2ACP-169")
@pytest.mark.parametrize("refusing", SUBSETS, ids=["-".join(sorted(one)) or "nobody" for one in SUBSETS])
def test_whoever_refuses_and_in_whatever_order_it_is_heard_all_end_the_same(refusing):
    for seed in range(4):
        people, group_id = proposed()
        unwilling(people, refusing, random.Random(seed))
        Chances(people, seed).lives()
        check(people, group_id)
        expected = "NEGOTIATING" if refusing else "COMPLETED"
        assert set(people.states(group_id).values()) == {expected}, seed
        known = {f"{name.capitalize()}'s calendar refused the entry." for name in refusing}
        for name in NAMES:
            reasons = set(people[name].reasons())
            assert reasons <= known | {OWN}
            assert bool(reasons) == bool(refusing)
            assert OWN not in reasons or name in refusing
        if refusing:
            reason = people["anna"].content(people["anna"].question("escalation"))["reason"]
            assert reason
            assert "time suits" not in reason


@pytest.mark.spec("A2ACP-151", "A2ACP-167")
@pytest.mark.parametrize("refusing", SUBSETS, ids=["-".join(sorted(one)) or "nobody" for one in SUBSETS])
def test_of_a_quorum_too_all_who_take_part_end_the_same(refusing):
    for seed in range(3):
        people, group_id = proposed(quorum=2)
        unwilling(people, refusing, random.Random(seed))
        Chances(people, seed).lives()
        check(people, group_id)
        if not refusing:
            assert set(people.states(group_id).values()) == {"COMPLETED"}


WAITS = [port.UNKNOWN] * 99
"""A calendar that does not answer for now."""


@pytest.mark.spec("A2ACP-167", "A2ACP-166")
def test_a_coordinator_keeps_its_results_to_itself_until_it_has_everybodys():
    # A program that completes with the coordinator's own results would keep an entry that is undone later.
    people, group_id = proposed()
    people["cara"].results["do", "calendar"] = list(WAITS)
    people.confirm()
    assert set(people.states(group_id).values()) == {"EXECUTING"}
    reports = people.sent(people.first, "thread_status")
    assert {one.fields["state"] for one in reports} == {"EXECUTING"}
    assert not any("action_results" in one.fields for one in reports)
    people["cara"].results.clear()
    people.settle()
    assert people.sent(people.first, "thread_status")[-1].fields["state"] == "COMPLETED"
    check(people, group_id)


@pytest.mark.spec("A2ACP-167")
def test_a_participant_completes_when_its_coordinator_says_that_all_is_done_and_not_before():
    people, group_id = proposed()
    for one in ("anna", "cara"):
        people[one].results["do", "calendar"] = list(WAITS)
    people.confirm()
    bob = people["bob"]
    actions = [one for one in own_thread(bob, group_id).proposal.actions if one.executor == "them"]
    results = [{"action_id": one.action_id, "action": one.action, "status": "done"} for one in actions]
    # An earlier program tells its own results as soon as it has them.
    told = {"state": "EXECUTING", "action_results": results}
    bob.receive(people.first.me, group_id, "pkt_early", "thread_status", told)
    bob.settle()
    assert own_thread(bob, group_id).state == "EXECUTING"
    people["cara"].results["do", "calendar"] = [port.FAILED]
    people.settle()
    assert bob.entries() == []
    check(people, group_id)


@pytest.mark.spec("A2ACP-167")
def test_a_failure_is_told_while_the_coordinators_own_entry_is_under_way():
    people, group_id = proposed()
    people["anna"].results["do", "calendar"] = list(WAITS)
    people["cara"].results["do", "calendar"] = [port.FAILED]
    people.confirm()
    assert set(people.states(group_id).values()) == {"NEGOTIATING"}
    check(people, group_id)


@pytest.mark.spec("A2ACP-162", "A2ACP-163")
def test_who_is_offline_while_all_undo_it_does_so_when_back_and_ends_with_them():
    people, group_id = proposed()
    anna, dora = people["anna"], people["dora"]
    people["cara"].results["do", "calendar"] = list(WAITS)
    people.confirm()
    people.cut.add(dora.me)
    people["cara"].results["do", "calendar"] = [port.FAILED]
    people.settle()
    question = anna.question("escalation")
    anna.answer(question, choose=len(anna.content(question)["choices"]) - 1)
    people.settle()
    assert entries(people) == {"anna": 0, "bob": 0, "cara": 0, "dora": 1}
    # Its own calendar does not answer when all of this arrives.
    dora.results["undo", "calendar"] = list(WAITS)
    missed = [one for _, one in people.carried if one.to == dora.me][-2:]
    assert [one.fields["state"] for one in missed] == ["FAILED", "DECLINED"]
    for one in missed:
        dora.receive(anna.me, one.thread_id, one.packet_id, one.type, one.fields)
    dora.settle()
    assert own_thread(dora, group_id).state == "ROLLBACK"
    dora.results.clear()
    dora.settle()
    assert set(people.states(group_id).values()) == {"DECLINED"}
    check(people, group_id)


@pytest.mark.spec("A2ACP-168")
def test_an_entry_that_is_not_removed_is_its_owners_matter_and_holds_up_nobody_else():
    people, group_id = proposed()
    bob = people["bob"]
    people["cara"].results["do", "calendar"] = [port.FAILED]
    bob.results["undo", "calendar"] = [port.FAILED] * 3
    people.confirm()
    assert people.states(group_id) == {**dict.fromkeys(NAMES, "NEGOTIATING"), "bob": "ROLLBACK"}
    assert entries(people) == {"anna": 0, "bob": 1, "cara": 0, "dora": 0}
    question = bob.question("failure")
    assert bob.content(question)["reason"] == 'Your calendar "Home" did not remove the entry (403).'
    bob.answer(question, dismiss=True)
    assert set(people.states(group_id).values()) == {"NEGOTIATING"}


@pytest.mark.spec("A2ACP-146", "A2ACP-167")
def test_a_yes_to_come_to_what_is_being_undone_is_not_asked_for_any_more():
    people, group_id = night(quorum=2)
    people["bob"].results["do", "calendar"] = [port.FAILED]
    people.confirm("bob", "cara")
    for one in people.desks.values():
        assert one.questions("checkpoint") == []
        assert one.reasons() == ([OWN] if one is people["bob"] else ["Bob's calendar refused the entry."])
    assert set(people.states(group_id).values()) == {"NEGOTIATING"}
    check(people, group_id)


@pytest.mark.spec("A2ACP-151", "A2ACP-166")
def test_where_enough_are_left_of_a_quorum_they_go_on_and_say_without_whom_and_why():
    people, group_id = night("dora", quorum=3)
    people.confirm("anna", "bob", "cara", "dora")
    assert people.states(group_id) == {**dict.fromkeys(NAMES, "COMPLETED"), "dora": "DECLINED"}
    assert people["anna"].reasons() == ["Dora's calendar refused the entry."]
    assert people["dora"].reasons() == [OWN]
    assert people["dora"].notices()[-1] == "went_on_without"
    check(people, group_id)


@pytest.mark.spec("A2ACP-151", "A2ACP-163")
def test_who_joins_what_is_complete_and_fails_hears_that_it_goes_on_without():
    people, group_id = night("dora", quorum=3)
    people.confirm("anna", "bob", "cara")
    people.confirm("dora")
    assert people.states(group_id) == {**dict.fromkeys(NAMES, "COMPLETED"), "dora": "DECLINED"}
    check(people, group_id)


@pytest.mark.spec("A2ACP-196")
def test_nobody_waits_for_the_result_of_somebody_who_was_blocked():
    people, group_id = proposed()
    people["dora"].results["do", "calendar"] = list(WAITS)
    people.confirm()
    anna, dora = people["anna"], people["dora"]
    before = len([one for one in anna.sent if one.to == dora.me])
    anna.decide(lambda ws: parting.part(ws, dora.me))
    people.settle()
    assert len([one for one in anna.sent if one.to == dora.me]) == before
    assert {people.states(group_id)[name] for name in ("anna", "bob", "cara")} == {"COMPLETED"}
    assert anna.book.open_threads == {}


@pytest.mark.spec("A2ACP-166", "A2ACP-278")
def test_one_agent_that_tells_no_results_has_the_others_told_nothing_twice():
    people, _ = proposed()
    anna, dora = people["anna"], people["dora"]
    anna.peers[dora.me] = replace(anna.peers[dora.me], features=FEATURES - {"thread_status"})
    people["cara"].results["do", "calendar"] = list(WAITS)
    for name in NAMES:
        people[name].answer(people[name].question("checkpoint"), confirm=True)
    for _ in range(20):
        people.carry()
        for one in people.desks.values():
            one._turn()
    assert [one.to for one in people.sent(anna, "thread_status")] == [
        people[one].me for one in ("bob", "cara")
    ]


@pytest.mark.spec("A2ACP-166", "A2ACP-242")
@pytest.mark.parametrize("results", [None, [{"action_id": "x", "action": "Ring 555", "status": "failed"}]])
def test_what_a_participant_writes_into_its_report_is_handed_on_to_nobody(results):
    people, group_id = proposed()
    for one in ("anna", "cara"):
        people[one].results["do", "calendar"] = list(WAITS)
    people.confirm()
    told = {"state": "FAILED"} | ({"action_results": results} if results else {})
    people["anna"].receive(people["cara"].me, group_id, "pkt_failed", "thread_status", told)
    people.settle()
    assert people["bob"].reasons() == ["Cara's agent could not make the calendar entry."]
    assert "555" not in str([one.fields for one in people["anna"].sent])


@pytest.mark.spec("A2ACP-166")
def test_a_time_that_was_taken_meanwhile_is_not_called_a_refusal():
    people, group_id = proposed()
    bob = people["bob"]
    people.cut.add(bob.me)
    day = people.sent(people.first, "resolution")[0].fields["proposal"]["details"]["date"]
    bob.answer(bob.question("checkpoint"), confirm=True)
    people.cut.clear()
    bob.busy = [*bob.busy, span(f"{day}T00:00:00Z", f"{day}T23:59:00Z")]
    people.confirm("anna", "cara", "dora")
    assert bob.reasons() == ["You are no longer free at that time."]
    for name in ("anna", "cara", "dora"):
        assert people[name].reasons() == ["Bob is no longer free at that time."]
    check(people, group_id)


@pytest.mark.spec("A2ACP-241", "A2ACP-242")
def test_a_coordinator_that_does_not_say_whose_it_was_is_believed_and_nobody_is_accused():
    people, group_id = proposed()
    people["cara"].results["do", "calendar"] = list(WAITS)
    people.confirm()
    bob = people["bob"]
    bob.receive(people.first.me, group_id, "pkt_failed", "thread_status", {"state": "FAILED"})
    bob.settle()
    assert (own_thread(bob, group_id).state, bob.entries()) == ("NEGOTIATING", [])
    assert bob.reasons() == ["Another agent could not carry out its part."]


# Between two.


@pytest.mark.spec("A2ACP-162", "A2ACP-167", "A2ACP-169", "A2ACP-171")
@pytest.mark.parametrize("refusing", [frozenset(some) for some in ((), ("anna",), ("ben",), ("anna", "ben"))])
def test_between_two_as_well_both_end_the_same_and_know_why(refusing):
    for seed in range(4):
        both, thread = copy.deepcopy(_proposed_to_one())
        people = Circle(both.anna, both.ben)
        chance = random.Random(seed)
        unwilling(people, refusing, chance)
        Chances(people, seed).lives()
        names = {"anna": both.anna, "ben": both.ben}
        states = {one.state(thread) for one in names.values()}
        assert states == ({"NEGOTIATING"} if refusing else {"COMPLETED"}), seed
        assert {len(one.entries()) for one in names.values()} == {0 if refusing else 1}
        for name, one in names.items():
            known = {f"{each.capitalize()}'s calendar refused the entry." for each in refusing} | {OWN}
            reasons = one.reasons()
            assert set(reasons) <= known
            assert bool(reasons) == bool(refusing)
            assert OWN not in reasons or name in refusing
            if refusing:
                asked = one.content(one.question("escalation"))
                assert asked["reason"] == " ".join(reversed(reasons))
                assert "common" not in str(asked)


@pytest.mark.spec("A2ACP-171", "A2ACP-170")
def test_between_two_people_may_have_the_same_tried_again():
    both = two()
    thread = doers.proposed(both)
    both.ben.results["do", "calendar"] = [port.FAILED]
    both.confirmed()
    first = doers.proposer(both, thread)[0]
    said = [one.fields for one in (*both.anna.sent, *both.ben.sent)]
    assert all("Home" not in str(one) and "common" not in str(one) for one in said)
    for one in (both.anna, both.ben):
        question = one.question("escalation")
        one.answer(question, choose=one.content(question)["choices"].index("try the same again"))
    both.settle()
    both.confirmed()
    assert both.anna.state(thread) == both.ben.state(thread) == "COMPLETED"
    assert len(both.anna.entries()) == len(both.ben.entries()) == 1
    assert first.entries()
