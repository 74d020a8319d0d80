"""Which groups are awake at a node: asked for not long ago, or with somebody in them."""

from __future__ import annotations

from tacit.hub.store.wakefulness import Wakefulness


def test_a_group_rests_when_nobody_has_asked_for_it_for_long_and_nobody_is_there() -> None:
    awake = Wakefulness()
    assert not awake.is_awake("a", 10)
    for group in "abc":
        awake.ask((group,))
        awake.answered((group,), 10)
    assert awake.is_awake("b", 20)
    assert awake.resting(9, ()) == ()
    assert awake.resting(10, {"c"}) == ("a",)
    assert not awake.is_awake("a", 30)
    assert awake.resting(20, ()) == ("b", "c")


def test_no_shorter_while_takes_the_place_of_a_longer_one() -> None:
    awake = Wakefulness()
    for until in (20, 10):
        awake.ask(("a",))
        awake.answered(("a",), until)
    assert awake.is_awake("a", 5)
    assert awake.resting(19, ()) == ()


def test_what_the_writer_is_being_asked_for_is_not_let_rest_meanwhile() -> None:
    """Else the writer would hear that it may rest after it was asked, and the hub believe that it is awake."""
    awake = Wakefulness()
    awake.ask(("a", "b"))
    awake.answered(("a",), 10)
    awake.ask(("a",))
    assert awake.is_asked("a")
    assert awake.resting(100, ()) == ()
    awake.answered(("a",), None)
    assert (awake.is_asked("a"), awake.is_asked("b")) == (False, True)
    assert awake.resting(100, ()) == ("a",)
    assert not awake.is_awake("b", 10)
