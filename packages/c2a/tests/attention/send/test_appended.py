"""What an agent appends by the plain door is read as the send it would have been, member by member."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.attention.io.house import GROUP, House
from tests.ledger.world import refusal

if TYPE_CHECKING:
    from tacit.ledger.envelope import Event


def asked(house: House) -> Event:
    return house.say(GROUP, "user", "@ann why is staging slow?")


def answer(house: House, on: Event, text: str, **c2a: Any) -> Event:
    return house.say(GROUP, "ann", text, c2a={"in_reply_to": on.id, **c2a})


@pytest.mark.spec("C2A-164", "C2A-168")
@pytest.mark.parametrize(
    ("again", "refused"),
    [
        ({"turn": "t1", "attempt": 2}, True),
        ({"turn": "t1", "attempt": 1}, False),
        ({"turn": "t2", "attempt": 2}, False),
        ({"turn": "t1"}, False),
        ({"turn": "t1", "attempt": "2"}, False),
    ],
)
def test_a_rerun_of_a_turn_that_has_spoken_says_nothing_by_any_door(
    house: House, again: dict[str, Any], *, refused: bool
) -> None:
    question = asked(house)
    answer(house, question, "The index on orders is missing.", turn="t1", attempt=1)
    if refused:
        with refusal("already_responded", "C2A-164"):
            answer(house, question, "Building it took the replica down.", **again)
    else:
        answer(house, question, "Building it took the replica down.", **again)


@pytest.mark.spec("C2A-168")
def test_the_same_words_twice_are_one_answer_whichever_member_names_what_they_answer(house: House) -> None:
    question = asked(house)
    answer(house, question, "The index on orders is missing.")
    with refusal("already_responded", "C2A-168"):
        house.say(GROUP, "ann", "the index on orders is MISSING", reply_to=question.id)


@pytest.mark.spec("C2A-195")
def test_an_answer_to_oneself_is_a_word_without_one(house: House) -> None:
    question = asked(house)
    own = answer(house, question, "The index on orders is missing.")
    said = house.say(GROUP, "ann", "I build it now.", reply_to=own.id)
    assert said.by == "ann"
