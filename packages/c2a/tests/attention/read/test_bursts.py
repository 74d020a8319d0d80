"""Which lines of one person belong to one question: who spoke to whom and when, and nothing else."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tacit.attention.read import bursts
from tacit.attention.read.bursts import MOST, SPAN, Burst
from tacit.attention.read.context import QUIET
from tacit.attention.read.cues import SaidLine
from tacit.attention.read.message import parse_message
from tacit.attention.read.roster import Roster, RosterAgent, RosterPerson
from tacit.attention.settings import DEFAULTS
from tacit.base.moment import SECOND, Moment
from tacit.c2a.vocabulary import Intent
from tests.attention.world import START, event

if TYPE_CHECKING:
    from tacit.attention.read.parsed_message import ParsedMessage

ROSTER = Roster.of(
    [RosterAgent("ada"), RosterAgent("ben")], [RosterPerson("user"), RosterPerson("usr:bo", ("bo",))]
)


def line(text: str, by: str = "user", **data: object) -> ParsedMessage:
    found = parse_message(event(text, by=by, **data), ROSTER, QUIET, DEFAULTS)
    assert found is not None
    return found


def at(seconds: float) -> Moment:
    return Moment(START + int(seconds * SECOND))


def runs(*lines: tuple[float, ParsedMessage], now: float, by: str = "user") -> Burst | None:
    """The burst that a line without a name would be more of, after these."""
    known: dict[tuple[str, str], Burst] = {}
    for when, one in lines:
        bursts.said(known, one, None, at(when))
    return bursts.running(known, event("so it is", by=by), by, lines[0][1].conversation, at(now))


def adds(*lines: tuple[float, ParsedMessage], now: float, by: str = "user") -> set[str]:
    """Whom a line without a name would be added for, after these."""
    burst = runs(*lines, now=now, by=by)
    return set(burst.to) if burst is not None else set()


CALL = line("@ada hey")


@pytest.mark.spec("C2A-083")
@pytest.mark.parametrize(
    ("lines", "now", "whom"),
    [
        ([(0, CALL)], 5, {"ada"}),
        ([(0, CALL), (40, line("it is slow")), (90, line("since noon"))], 140, {"ada"}),
        ([(0, CALL), (3, line("lunch was good", by="usr:bo"))], 5, {"ada"}),
        ([(0, line("@ada @ben look"))], 5, {"ada", "ben"}),
        ([(0, CALL)], 60, set()),
        ([(0, CALL), *((30 * n, line("it is slow")) for n in range(1, 6))], 179, {"ada"}),
        ([(0, CALL), *((30 * n, line("it is slow")) for n in range(1, 6))], 180, set()),
        ([(0, CALL), *((n, line("it is slow")) for n in range(1, 6))], 6, {"ada"}),
        ([(0, CALL), *((n, line("it is slow")) for n in range(1, 7))], 7, set()),
        ([(0, CALL)], -1, set()),
        ([(0, line("it is slow"))], 5, set()),
        ([(0, CALL), (3, line("which one?", by="ada", mentions=["user"]))], 5, set()),
        ([(0, CALL), (3, line("@user which one?", by="usr:bo"))], 5, set()),
        ([(0, CALL), (3, line("@bo lunch?"))], 5, set()),
        ([(0, CALL), (3, line("@ben can you look?"))], 5, {"ben"}),
        ([(0, CALL), (3, line("never mind, found it"))], 5, set()),
        ([(0, CALL), (3, line("thanks"))], 5, set()),
        ([(0, line("@ada can you look?")), (3, line("@ada thanks!"))], 70, set()),
    ],
)
def test_a_line_without_a_name_adds_to_the_question_that_is_being_written(
    lines: list[tuple[float, ParsedMessage]], now: float, whom: set[str]
) -> None:
    assert adds(*lines, now=now) == whom


@pytest.mark.parametrize(
    ("text", "small_talk"),
    [
        ("@ada hey", Intent.GREETING),
        ("@ada ok great", Intent.ACKNOWLEDGEMENT),
        ("@ada nice work", Intent.FILLER),
        ("@ada thanks!", Intent.THANKS),
        ("@ada it is slow", None),
        ("@ada can you look?", None),
    ],
)
def test_a_call_that_asks_for_nothing_begins_one_and_says_what_it_was(
    text: str, small_talk: Intent | None
) -> None:
    burst = runs((0, line(text)), now=5)
    assert burst is not None
    assert (burst.to, burst.small_talk) == (("ada",), small_talk)


def test_what_its_author_then_says_is_what_they_want() -> None:
    burst = runs((0, CALL), (3, line("good morning")), now=5)
    assert burst is not None
    assert burst.small_talk is Intent.GREETING, "one more greeting asks for nothing either"
    burst = runs((0, CALL), (3, line("the importer is slow")), now=5)
    assert burst is not None
    assert burst.small_talk is None


def test_another_persons_line_adds_to_nothing_of_ours() -> None:
    assert adds((0, CALL), now=5, by="usr:bo") == set()


def test_an_answer_in_the_threads_own_place_ends_what_was_asked_in_the_open() -> None:
    known: dict[tuple[str, str], Burst] = {}
    bursts.said(known, CALL, None, at(0))
    other = line("here", by="ben", reply_to="e1", conversation={"id": "main", "kind": "thread"})
    bursts.said(known, other, "user", at(1))
    assert known, "it was not asked of ben"
    answer = line("here", by="ada", reply_to="e1", conversation={"id": "main", "kind": "thread"})
    bursts.said(known, answer, "user", at(1))
    assert not known


def before(*lines: tuple[float, ParsedMessage], call: ParsedMessage | None = None) -> list[str]:
    told = [(f"l{number}", at(when), one) for number, (when, one) in enumerate(lines)]
    return bursts.before(call or line("@ada can you look?"), at(0), reversed(told))


def test_only_where_its_author_has_just_spoken_can_a_call_have_begun_before() -> None:
    call, floor = line("@ada can you look?"), (SaidLine("user", ("ada",), at(0)),)
    own, other = SaidLine("user", (), at(-59)), SaidLine("usr:bo", (), at(-1))
    assert bursts.may_have_begun((own, other, *floor), call, at(0))
    assert not bursts.may_have_begun((SaidLine("user", (), at(-60)), other, *floor), call, at(0))
    assert not bursts.may_have_begun(floor, call, at(0)), "the call itself is no line before it"
    assert not bursts.may_have_begun((own, *floor), line("so it is"), at(0)), "it calls nobody"
    inside = line("@ada can you look?", reply_to="e1", conversation={"id": "main", "kind": "thread"})
    assert bursts.may_have_begun(floor, inside, at(0)), "of threads the floor does not tell"


@pytest.mark.spec("C2A-083")
def test_what_was_said_to_nobody_just_before_a_call_belongs_to_it() -> None:
    content = line("the importer is slow")
    assert before((-5, content)) == ["l0"]
    assert before((-50, content), (-20, content)) == ["l0", "l1"]
    assert before((-5, content), (-3, line("hm", by="usr:bo"))) == ["l0"]
    assert before((-60, content)) == []
    assert before((-100, content), (-20, content)) == ["l1"]
    assert before((-5, line("@bo lunch?"))) == []
    assert before((-9, content), (-5, line("@bo lunch?")), (-2, content)) == ["l2"]
    assert before((-5, content), (-3, line("@user which one?", by="usr:bo"))) == []
    assert before((-5, line("thanks"))) == []
    assert before((-6, content), (-5, line("hello everyone"))) == ["l0"]
    assert before((-5, line("between us", to=["ben"], conversation={"kind": "dm"}))) == []
    assert before((-5, line("elsewhere", conversation={"kind": "channel", "id": "ops"}))) == []
    assert len(before(*[(-20 + number, content) for number in range(20)])) == MOST


def test_the_span_is_a_minute() -> None:
    assert SPAN == 60 * SECOND
