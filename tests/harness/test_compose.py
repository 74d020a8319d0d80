"""The compose window: fragments, typing, edits before injection."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit.base.moment import Moment
from tacit.c2a.vocabulary import Mode, Policy
from tacit.harness import compose
from tacit.harness.compose import (
    Fragment,
    Late,
    accepts,
    added,
    closes_at,
    late_fragment,
    merged,
    opened,
    typed,
)
from tests.attention.world import START


def at(seconds: float) -> Moment:
    return Moment(START + int(seconds * 1_000_000))


def piece(number: int, seconds: float, **more: object) -> Fragment:
    return Fragment(f"f{number}", "user", "main", f"line {number}", at(seconds), **more)  # type: ignore[arg-type]


@pytest.mark.spec("C2A-083", "C2A-087")
def test_five_fragments_a_second_apart_make_one_turn() -> None:
    window = opened(piece(0, 0))
    for number in range(1, 5):
        assert accepts(window, piece(number, number))
        window = added(window, piece(number, number))
    turn = merged(window)
    assert turn.text == "line 0\nline 1\nline 2\nline 3\nline 4"
    assert (turn.carrier, turn.superseded) == ("f4", ("f0", "f1", "f2", "f3"))
    assert added(window, piece(4, 9)) == window


@pytest.mark.spec("C2A-083")
def test_a_window_never_joins_authors_or_conversations() -> None:
    window = opened(piece(0, 0))
    assert not accepts(window, replace(piece(1, 1), author="usr:ann"))
    assert not accepts(window, replace(piece(1, 1), conversation="other"))


@pytest.mark.spec("C2A-085", "C2A-086", "C2A-221", "C2A-084")
def test_a_window_closes_after_a_pause_waits_for_typing_and_has_a_cap() -> None:
    window = opened(piece(0, 0))
    assert closes_at(window) == at(3)
    assert closes_at(added(window, piece(1, 2))) == at(5)
    assert closes_at(typed(window, at(1))) == at(30)
    assert closes_at(typed(typed(window, at(1)), at(9), typing=False)) == at(12)
    for number in range(1, 15):
        window = added(window, piece(number, number * 2.5))
    assert closes_at(window) == at(30)
    assert not accepts(window, piece(99, 31))


@pytest.mark.spec("C2A-087")
@given(
    st.lists(
        st.tuples(st.sampled_from(list(Policy)), st.sampled_from(list(Mode)), st.none() | st.integers(1, 99)),
        min_size=1,
        max_size=6,
    )
)
def test_a_turn_takes_the_strongest_policy_and_the_earliest_deadline(
    parts: list[tuple[Policy, Mode, int | None]],
) -> None:
    order = ["must_not_respond", "ack_only", "may_respond", "must_respond"]
    pieces = [
        piece(n, n * 0.1, policy=p, mode=m, deadline_at=None if d is None else at(d))
        for n, (p, m, d) in enumerate(parts)
    ]
    window = opened(pieces[0])
    for one in pieces[1:]:
        window = added(window, one)
    turn = merged(window)
    assert order.index(turn.policy) == max(order.index(p) for p, _, _ in parts)
    given_deadlines = [d for _, _, d in parts if d is not None]
    assert turn.deadline_at == (at(min(given_deadlines)) if given_deadlines else None)


@pytest.mark.spec("C2A-185")
def test_an_edit_before_injection_takes_its_originals_place() -> None:
    window = added(opened(piece(0, 0)), piece(1, 1))
    changed = compose.edited(window, "f0", replace(piece(7, 2), text="better"))
    assert merged(changed).text == "better\nline 1"


@pytest.mark.spec("C2A-188")
def test_a_late_fragment_restarts_the_turn_while_nothing_has_left_the_house() -> None:
    assert late_fragment(sent=False, side_effects=False, restarts=0) is Late.RESTART
    assert late_fragment(sent=False, side_effects=False, restarts=2) is Late.WAIT
    assert late_fragment(sent=True, side_effects=False, restarts=0) is Late.WAIT
    assert late_fragment(sent=False, side_effects=True, restarts=0) is Late.WAIT
