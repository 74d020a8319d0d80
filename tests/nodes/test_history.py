"""The judge of histories: lets every history of one log pass, and finds each single thing that is wrong with one."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import TYPE_CHECKING, Any, get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.nodes.history import Breach, Claimed, Ending, History, Kept, Logged, Read, Rule, Sent, breaches

if TYPE_CHECKING:
    from collections.abc import Callable

DOORS = ("one", "two", "three")


class Made:
    """A ledger that is what it should be, and callers of it: time passes with every step, calls overlap as drawn."""

    def __init__(self, chance: random.Random) -> None:
        self.chance = chance
        self.now = 0.0
        self.logs: dict[str, list[Logged]] = {"g1": [], "g2": []}
        self.seen = {(door, group): 0 for door in DOORS for group in self.logs}
        self.sent: list[Sent] = []
        self.reads: list[Read] = []

    def tick(self) -> float:
        self.now += self.chance.random()
        return self.now

    def send(self, number: int) -> None:
        """One to three attempts at any doors; each begins, may be written, and is answered when others have begun."""
        group, key = self.chance.choice(("g1", "g2")), self.chance.choice(("", f"k{number}"))
        for attempt in range(self.chance.choice((1, 1, 2, 3)) if key else 1):
            door, body = self.chance.choice(DOORS), f"body {number}"
            invoked = self.tick()
            fate = self.chance.choice(("kept", "kept", "kept", "unknown", "unknown there", "refused"))
            there = [one for one in self.logs[group] if key and one.key == key]
            if fate in {"kept", "unknown there"} and not there:
                self.logs[group].append(Logged(len(self.logs[group]) + 1, f"e{number}.{attempt}", body, key))
                there = self.logs[group][-1:]
            answer: Any = fate if fate == "refused" else "unknown"
            if fate == "kept":
                answer = Kept(there[0].seq, there[0].event_id)
                self.seen[door, group] = max(self.seen[door, group], there[0].seq)
            # The answer takes its time: until it is there, others begin.
            completed = self.now + self.chance.random() * self.chance.choice((0.0, 5.0))
            self.sent.append(Sent(door, group, body, invoked, completed, answer, key))

    def read(self) -> None:
        door, group = self.chance.choice(DOORS), self.chance.choice(("g1", "g2"))
        invoked, log = self.tick(), self.logs[group]
        upto = self.seen[door, group] = self.chance.randint(self.seen[door, group], len(log))
        first = self.chance.randint(1, upto + 1)
        ids = tuple(one.event_id for one in log[first - 1 : upto])
        self.reads.append(Read(door, group, invoked, self.now, first, ids))

    def history(self) -> History:
        chains = {group: f"{len(log)}" for group, log in self.logs.items()}
        owners, duties = {"t1": ("ann",), "t2": ("ben",), "t3": ()}, {"q1": ("a1",)}
        endings = [Ending(door, self.logs, chains, {"p": "1"}, {"p": "1"}, owners, duties) for door in DOORS]
        claims = [
            Claimed("one", "t1", "ann", "won"), Claimed("two", "t1", "ben", "lost"),
            Claimed("one", "t2", "ann", "lost"), Claimed("two", "t2", "ben", "unknown"),
            Claimed("two", "t3", "ben", "unknown"),
        ]  # fmt: skip
        return History(self.sent, endings, self.reads, claims)


def made(seed: int, sends: int = 30) -> History:
    world = Made(random.Random(seed))
    for number in range(sends):
        world.send(number)
        if world.chance.random() < 0.5:
            world.read()
    return world.history()


@given(st.integers(0, 2**32))
def test_every_history_of_one_log_passes(seed: int) -> None:
    assert breaches(made(seed)) == []


def ended(history: History, change: Callable[[list[Logged]], list[Logged]], group: str) -> History:
    """The same at all nodes, with another log of a group."""
    log = change(list(history.endings[0].logs[group]))
    return replace(history, endings=[replace(one, logs={**one.logs, group: log}) for one in history.endings])


def some(history: History, chance: random.Random, what: Callable[[Sent], bool]) -> Sent:
    return chance.choice([one for one in history.sent if what(one)])


def is_kept(one: Sent) -> bool:
    return isinstance(one.answer, Kept)


def without_the_last(history: History, chance: random.Random) -> History:
    group = some(history, chance, is_kept).group
    last = max(one.answer.seq for one in history.sent if isinstance(one.answer, Kept) and one.group == group)
    return ended(history, lambda log: log[: last - 1], group)


def with_another_body(history: History, chance: random.Random) -> History:
    one = some(history, chance, lambda one: is_kept(one) and bool(one.key))
    return ended(
        history, lambda log: [replace(e, body="x") if e.key == one.key else e for e in log], one.group
    )


def with_one_twice(history: History, chance: random.Random) -> History:
    one = some(history, chance, is_kept)
    assert isinstance(one.answer, Kept)
    seq = one.answer.seq
    return ended(
        history,
        lambda log: [*log, replace(log[seq - 1], seq=len(log) + 1, event_id="another")],
        one.group,
    )


def with_a_gap(history: History, chance: random.Random) -> History:
    group = some(history, chance, is_kept).group
    return ended(history, lambda log: [replace(one, seq=one.seq + 1) for one in log], group)


def with_what_was_refused(history: History, chance: random.Random) -> History:
    one = Sent("one", "g1", "refused", 1.0, 2.0, "refused", chance.choice(("", "key of it")))
    told = replace(history, sent=[*history.sent, one])
    return ended(told, lambda log: [*log, Logged(len(log) + 1, "refused", one.body, one.key)], "g1")


def with_what_nobody_sent(history: History, chance: random.Random) -> History:
    stray = chance.choice((("nobody's", ""), ("body 1", "nobody's")))
    return ended(history, lambda log: [*log, Logged(len(log) + 1, "stray", *stray)], "g2")


def with_two_swapped(history: History, chance: random.Random) -> History:
    """Two that were sent one after the other, the second behind the answer to the first."""
    del chance
    end = max(one.completed for one in history.sent)
    order = (("first", 0), ("second", 2))
    seqs = {"first": len(history.endings[0].logs["g1"]) + 2, "second": len(history.endings[0].logs["g1"]) + 1}
    late = [
        Sent("one", "g1", name, end + 1 + begun, end + 2 + begun, Kept(seqs[name], name))
        for name, begun in order
    ]
    log = sorted((Logged(seqs[name], name, name) for name, _ in order), key=lambda one: one.seq)
    return ended(replace(history, sent=[*history.sent, *late]), lambda before: [*before, *log], "g1")


def with_an_unknown_before_what_was_answered(history: History, chance: random.Random) -> History:
    """Also what nobody was told of: it was begun when the other had its answer, and stands before it."""
    swapped = with_two_swapped(history, chance)
    return replace(swapped, sent=[*swapped.sent[:-1], replace(swapped.sent[-1], answer="unknown")])


def reading(history: History, door: str, group: str, upto: int, at: float) -> Read:
    ids = tuple(one.event_id for one in history.endings[0].logs[group][:upto])
    return Read(door, group, at, at, 1, ids)


def with_a_read_of_something_else(history: History, chance: random.Random) -> History:
    one = some(history, chance, is_kept)
    read = reading(history, one.door, one.group, len(history.endings[0].logs[one.group]), 10_000)
    return replace(history, reads=[*history.reads, replace(read, ids=(*read.ids[:-1], "else"))])


def with_a_read_beyond_the_log(history: History, chance: random.Random) -> History:
    one = some(history, chance, is_kept)
    read = reading(history, one.door, one.group, len(history.endings[0].logs[one.group]), 10_000)
    return replace(history, reads=[*history.reads, replace(read, ids=(*read.ids, "more"))])


def with_a_read_before_the_send(history: History, chance: random.Random) -> History:
    one = some(history, chance, is_kept)
    return replace(
        history,
        reads=[*history.reads, reading(history, "new", one.group, one.answer.seq, -1.0)],  # type: ignore[union-attr]
    )


def with_a_write_that_its_door_does_not_show(history: History, chance: random.Random) -> History:
    one = some(history, chance, is_kept)
    read = reading(history, one.door, one.group, one.answer.seq - 1, one.completed + 10_000)  # type: ignore[union-attr]
    return replace(history, reads=[*history.reads, read])


def with_a_read_that_goes_back(history: History, chance: random.Random) -> History:
    group = some(history, chance, is_kept).group
    upto = len(history.endings[0].logs[group])
    reads = [reading(history, "new", group, upto - back, 10_000 + back) for back in (0, 1)]
    return replace(history, reads=[*history.reads, *reads])


def at_one_node(**change: Any) -> Callable[[History, random.Random], History]:
    def doctored(history: History, chance: random.Random) -> History:
        endings = list(history.endings)
        at = chance.randrange(len(endings))
        endings[at] = replace(endings[at], **change)
        return replace(history, endings=endings)

    return doctored


def with_a_node_behind(history: History, chance: random.Random) -> History:
    logs = history.endings[0].logs
    return at_one_node(logs={**logs, "g1": list(logs["g1"])[:-1]})(history, chance)


def everywhere(**change: Any) -> Callable[[History, random.Random], History]:
    def doctored(history: History, chance: random.Random) -> History:
        del chance
        return replace(history, endings=[replace(one, **change) for one in history.endings])

    return doctored


def claimed(*claims: Claimed) -> Callable[[History, random.Random], History]:
    def doctored(history: History, chance: random.Random) -> History:
        more = list(claims)
        chance.shuffle(more)
        return replace(history, claims=[*history.claims, *more])

    return doctored


DOCTORED: list[tuple[Rule, Callable[[History, random.Random], History]]] = [
    ("lost", without_the_last),
    ("altered", with_another_body),
    ("doubled", with_one_twice),
    ("gap", with_a_gap),
    ("refused and written", with_what_was_refused),
    ("invented", with_what_nobody_sent),
    ("out of order", with_two_swapped),
    ("out of order", with_an_unknown_before_what_was_answered),
    ("read is no prefix", with_a_read_of_something_else),
    ("read is no prefix", with_a_read_beyond_the_log),
    ("before its time", with_a_read_before_the_send),
    ("own write not read", with_a_write_that_its_door_does_not_show),
    ("read went back", with_a_read_that_goes_back),
    ("doors differ", with_a_node_behind),
    ("doors differ", at_one_node(chains={"g1": "other"})),
    ("doors differ", at_one_node(owners={"t1": ("ann",), "t2": ("ann",), "t3": ()})),
    ("not what a rebuild gives", at_one_node(rebuilt={"p": "2"})),
    ("two winners", claimed(Claimed("two", "t1", "ben", "won"))),
    ("two winners", everywhere(owners={"t1": ("ann", "ben"), "t2": ("ben",), "t3": ()})),
    ("no winner", claimed(Claimed("two", "t4", "ben", "lost"), Claimed("one", "t4", "ann", "lost"))),
    ("no winner", claimed(Claimed("two", "t4", "ben", "won"))),
    ("another won", claimed(Claimed("two", "t3", "ben", "lost"), Claimed("one", "t2", "ann", "won"))),
    ("unmet", everywhere(duties={"q1": ()})),
    ("met twice", everywhere(duties={"q1": ("a1", "a2")})),
]


@pytest.mark.parametrize(
    ("rule", "doctored"), DOCTORED, ids=[f"{n} {one[0]}" for n, one in enumerate(DOCTORED)]
)
@settings(max_examples=20)
@given(seed=st.integers(0, 2**32))
def test_each_thing_that_is_wrong_is_found(
    rule: Rule, doctored: Callable[[History, random.Random], History], seed: int
) -> None:
    found = breaches(doctored(made(seed), random.Random(seed)))
    assert rule in {one.rule for one in found}


def test_every_rule_is_tried() -> None:
    assert {rule for rule, _doctored in DOCTORED} == set(get_args(Rule))


def test_two_answers_for_one_key_are_not_both_true() -> None:
    """One idempotent send to two doors, each of which wrote it."""
    log = [Logged(1, "a", "hello", "k"), Logged(2, "b", "hello", "k")]
    sent = [
        Sent("one", "g", "hello", 0, 2, Kept(1, "a"), "k"),
        Sent("two", "g", "hello", 0, 2, Kept(2, "b"), "k"),
    ]
    assert Breach("doubled", "k") in breaches(History(sent, [Ending("one", {"g": log})]))


def test_without_an_end_there_is_no_verdict() -> None:
    with pytest.raises(ValueError, match="nothing to judge"):
        breaches(History([], []))
