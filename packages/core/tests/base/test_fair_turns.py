"""Turns: fair between owners, whatever one of them asks for."""

from __future__ import annotations

from tacit.base.fair_turns import HOUSE, FairTurns


def test_owners_take_turns_and_none_holds_every_place() -> None:
    turns: FairTurns[str] = FairTurns(places=2, share=1, most_waiting=10)
    for number in range(4):
        assert turns.ask("greedy", f"g{number}")
    assert list(turns.next()) == ["g0"]
    turns.ask("ann", "a0")
    turns.ask("ben", "b0")
    assert list(turns.next()) == ["a0"]
    turns.done("ann")
    assert list(turns.next()) == ["b0"]
    turns.done("greedy")
    assert list(turns.next()) == ["g1"]


def test_whoever_waited_longest_of_all_owners_comes_next() -> None:
    turns: FairTurns[str] = FairTurns(places=1, share=1, most_waiting=10)
    for owner in ("greedy", "greedy", "greedy", "ann", "ben", "ann"):
        turns.ask(owner, owner)
    order: list[str] = []
    while turns.waiting:
        for one in turns.next():
            order.append(one)
            turns.done(one)
    assert order == ["greedy", "ann", "ben", "greedy", "ann", "greedy"]


def test_a_line_has_an_end_and_the_house_has_none() -> None:
    turns: FairTurns[int] = FairTurns(places=1, share=1, most_waiting=2)
    assert [turns.ask("ann", number) for number in range(3)] == [True, True, False]
    assert all(turns.ask(HOUSE, number) for number in range(9))
    assert turns.waiting == 11


def test_the_house_may_hold_every_place() -> None:
    turns: FairTurns[int] = FairTurns(places=3, share=1, most_waiting=9)
    for number in range(4):
        turns.ask(HOUSE, number)
    assert list(turns.next()) == [0, 1, 2]


def test_whoever_leaves_the_line_is_not_called() -> None:
    turns: FairTurns[int] = FairTurns(places=1, share=1, most_waiting=9)
    for number in range(3):
        turns.ask("ann", number)
    assert list(turns.next()) == [0]
    assert turns.withdraw("ann", 1)
    assert not turns.withdraw("ann", 1)
    assert not turns.withdraw("ann", 0)
    turns.done("ann")
    assert list(turns.next()) == [2]


def test_heavy_ones_go_one_at_a_time_and_small_ones_of_others_pass_them() -> None:
    turns: FairTurns[str] = FairTurns(places=9, share=9, most_waiting=9, is_heavy=str.isupper)
    for owner, ticket in (
        ("loud", "A"),
        ("loud", "B"),
        ("loud", "c"),
        ("ann", "d"),
        ("ben", "E"),
        ("ben", "f"),
    ):
        turns.ask(owner, ticket)
    assert list(turns.next()) == ["A", "d"]
    turns.done("loud", heavy=True)
    assert list(turns.next()) == ["E", "f"]
    turns.done("ben")
    assert list(turns.next()) == []
    turns.done("ben", heavy=True)
    assert list(turns.next()) == ["B", "c"]


def test_whoever_took_little_comes_before_whoever_took_much() -> None:
    turns: FairTurns[str] = FairTurns(places=1, share=1, most_waiting=10)
    for owner in ("greedy", "greedy", "costly", "costly"):
        turns.ask(owner, owner)
    assert list(turns.next()) == ["greedy"]
    turns.ask("ann", "ann")
    turns.done("greedy", cost=5.0)
    assert list(turns.next()) == ["costly"]
    turns.done("costly", cost=5.0)
    for _ in range(4):
        assert list(turns.next()) == ["ann"]
        turns.done("ann", cost=1.0)
        turns.ask("ann", "ann")
    assert list(turns.next()) == ["ann"]
    turns.done("ann", cost=1.0)
    turns.ask("ann", "ann")
    assert list(turns.next()) == ["greedy"]


def test_whoever_comes_late_does_not_catch_up_on_the_others() -> None:
    turns: FairTurns[str] = FairTurns(places=1, share=1, most_waiting=10)
    for _ in range(9):
        turns.ask("busy", "busy")
    for _ in range(5):
        assert list(turns.next()) == ["busy"]
        turns.done("busy", cost=1.0)
    for _ in range(3):
        turns.ask("late", "late")
    order: list[str] = []
    for _ in range(4):
        [owner] = turns.next()
        order.append(owner)
        turns.done(owner, cost=1.0)
    assert order.count("late") == 2
