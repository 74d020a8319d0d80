"""A question: fragments, typing, the window they gather in, edits before injection."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit.attention.settings import DEFAULTS
from tacit.base.moment import Moment
from tacit.c2a.messages import Author, Delivered, Part
from tacit.c2a.vocabulary import (
    AuthorKind,
    ConversationKind,
    Directedness,
    Mode,
    Policy,
    Priority,
    Reason,
)
from tacit.harness.effects import ModelTurn
from tacit.harness.prompt import event_block
from tacit.harness.question import TurnQuestion, added, begun, closed, closes_at, may_restart, takes, typed
from tests.attention.world import START


def at(seconds: float) -> Moment:
    return Moment(START + int(seconds * 1_000_000))


def piece(number: int, seconds: float = 0, policy: Policy = Policy.MUST_RESPOND) -> Delivered:
    return Delivered(
        f"f{number}",
        "main",
        ConversationKind.CHANNEL,
        Author("user", AuthorKind.HUMAN, "User"),
        Directedness.TO_ME,
        policy,
        Mode.BUFFERED,
        Reason.DIRECT_MENTION.value,
        Priority.NORMAL,
        at(seconds),
        f"f{number}:ada",
        (Part(text=f"line {number}"),),
    )


def takes_at(question: TurnQuestion, event: Delivered, seconds: float) -> bool:
    return takes(question, event, at(seconds), DEFAULTS)


def closes(question: TurnQuestion) -> Moment:
    return closes_at(question, DEFAULTS)


@pytest.mark.spec("C2A-083", "C2A-087")
def test_five_fragments_a_second_apart_make_one_turn() -> None:
    question = begun(piece(0), at(0))
    for number in range(1, 5):
        assert takes_at(question, piece(number, number), number)
        question = added(question, piece(number, number), at(number))
    whole = closed(question)
    assert whole is not None
    assert [one.text for one in whole.events] == [f"line {number}" for number in range(5)]
    assert (whole.carrier.event_id, whole.window) == ("f4", None)
    assert added(question, piece(4, 4), at(9)) == question


@pytest.mark.spec("C2A-083")
def test_a_window_never_joins_authors_conversations_or_threads() -> None:
    question, other = begun(piece(0), at(0)), piece(1, 1)
    assert takes_at(question, other, 1)
    assert not takes_at(question, replace(other, author=Author("usr:ann", AuthorKind.HUMAN, "Ann")), 1)
    assert not takes_at(question, replace(other, conversation="other"), 1)
    assert not takes_at(question, replace(other, thread="t1"), 1)


@pytest.mark.spec("C2A-085", "C2A-086", "C2A-221", "C2A-084")
def test_a_window_closes_after_a_pause_waits_for_typing_and_has_a_cap() -> None:
    question = begun(piece(0), at(0))
    assert closes(question) == at(3)
    assert closes(added(question, piece(1, 2), at(2))) == at(5)
    assert closes(typed(question, at(1), typing=True)) == at(7)
    assert closes(typed(typed(question, at(1), typing=True), at(9), typing=False)) == at(12)
    assert closes(typed(question, at(29), typing=True)) == at(30)
    for number in range(1, 15):
        question = added(question, piece(number, number * 2.5), at(number * 2.5))
    assert closes(question) == at(30)
    assert not takes_at(question, piece(99, 31), 31)


@pytest.mark.spec("C2A-087")
@given(
    st.lists(st.tuples(st.sampled_from(list(Policy)), st.none() | st.integers(1, 99)), min_size=1, max_size=6)
)
def test_a_turn_takes_the_strongest_policy_and_the_earliest_deadline(
    parts: list[tuple[Policy, int | None]],
) -> None:
    order = ["must_not_respond", "ack_only", "may_respond", "must_respond"]
    question = begun(replace(piece(0, policy=parts[0][0]), deadline_ms=parts[0][1]), at(0))
    for number, (policy, deadline) in enumerate(parts[1:], 1):
        question = added(question, replace(piece(number, policy=policy), deadline_ms=deadline), at(0))
    whole = closed(question)
    assert whole is not None
    strongest = order[max(order.index(policy) for policy, _ in parts)]
    assert f"\nresponse_policy: {strongest}\n" in event_block(whole.events, "5f3a")
    assert whole.is_obliged == (strongest == "must_respond")
    assert whole.may_be_answered == (strongest != "must_not_respond")
    deadlines = [deadline for _, deadline in parts if deadline is not None]
    assert ModelTurn("t", whole.events).deadline_at == (at(min(deadlines) / 1000) if deadlines else None)


@pytest.mark.spec("C2A-185")
def test_an_edit_before_injection_takes_its_originals_place() -> None:
    question = added(begun(piece(0), at(0)), piece(1, 1), at(1))
    changed = added(question, replace(piece(7, 2), supersedes="f0"), at(2))
    assert [one.text for one in changed.events] == ["line 7", "line 1"]
    assert closes(changed) == at(5)
    assert changed.window_opened_at == at(2)
    again = added(question, replace(piece(8, 2), supersedes="f1"), at(2))
    assert [one.text for one in again.events] == ["line 0", "line 8"]
    assert again.window_opened_at == at(0)


@pytest.mark.spec("C2A-188")
def test_a_late_fragment_restarts_the_turn_while_nothing_has_left_the_house() -> None:
    assert may_restart(sent=False, side_effects=False, restarts=0, settings=DEFAULTS)
    assert not may_restart(sent=False, side_effects=False, restarts=2, settings=DEFAULTS)
    assert not may_restart(sent=True, side_effects=False, restarts=0, settings=DEFAULTS)
    assert not may_restart(sent=False, side_effects=True, restarts=0, settings=DEFAULTS)
