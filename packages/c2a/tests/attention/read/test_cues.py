"""What the last lines of a channel tell about whom a line is for, and the table that weighs it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit.attention.read import grade
from tacit.attention.read.context import QUIET
from tacit.attention.read.continuation import TURN
from tacit.attention.read.cues import CUES, FAR, JUST, KEPT, LONG, LookBack, OtherSide, SaidLine
from tacit.attention.read.dialogue import FIRST, KNOCK, LIKELY_S, SURE_S, follows, heard, partner
from tacit.attention.read.grade_table import TABLE
from tacit.attention.read.message import parse_message
from tacit.attention.read.roster import Roster, RosterAgent, RosterPerson
from tacit.attention.settings import DEFAULTS
from tacit.base.moment import SECOND, Moment
from tests.attention.world import event

if TYPE_CHECKING:
    from tacit.attention.read.parsed_message import ParsedMessage

ROSTER = Roster.of([RosterAgent("bob"), RosterAgent("cem")], [RosterPerson("user")])
NOW = Moment(10**15)
NAMES = ("ann", "bob", "cem", "dee")
AGENTS = frozenset(NAMES[1:])


def ago(seconds: float, by: str, *to: str, named: bool = True, ends: bool = False) -> SaidLine:
    return SaidLine(by, to, Moment(NOW - int(seconds * SECOND)), named=named, ends=ends)


def back(*lines: SaidLine, author: str = "ann") -> LookBack:
    return LookBack(lines, author, AGENTS, NOW)


def cue(seen: LookBack, who: str, name: str, *inside: str) -> int:
    return seen.cues(who, seen.others.get(who) or OtherSide(), inside)[CUES.index(name)]


def parsed(text: str, by: str = "user", **data: object) -> ParsedMessage:
    found = parse_message(event(text, by=by, **data), ROSTER, QUIET, DEFAULTS)
    assert found is not None
    return found


def test_in_a_thread_only_what_an_agent_says_to_somebody_counts_for_the_open_flow() -> None:
    called = parsed("@bob hey", reply_to="e1")
    answered = parsed("it is 8443", by="bob", reply_to="e1", mentions=["user"])
    assert heard((), called, None, NOW) == ()
    assert heard((), parsed("it is 8443", by="bob", reply_to="e1"), None, NOW) == ()
    assert [(one.by, one.to) for one in heard((), answered, called, NOW)] == [("bob", ("user",))]


def test_a_line_to_nobody_counts_as_said_to_its_authors_partner() -> None:
    floor = heard((), parsed("@bob hey"), None, NOW)
    after = heard(floor, parsed("it is slow"), None, Moment(NOW + 10 * SECOND))
    assert [(one.to, one.named) for one in after] == [(("bob",), True), (("bob",), False)]


def test_distances_are_in_lines_and_in_seconds_from_the_newest_line_back() -> None:
    seen = back(ago(90, "ann", "bob"), ago(60, "bob", "ann"), ago(30, "cem"))
    assert cue(seen, "bob", "lines since the author spoke to them") == 3
    assert cue(seen, "bob", "lines since they spoke to the author") == 2
    assert cue(seen, "bob", "seconds since they spoke") == 60
    assert cue(seen, "cem", "lines since they spoke to the author") == FAR
    assert cue(seen, "dee", "seconds since they spoke") == LONG
    assert cue(seen, "bob", "who last spoke to the author") == 1
    assert cue(seen, "cem", "who last spoke to the author") == -1
    assert cue(seen, "bob", "lines since the author's newest exchange with another") == FAR
    assert cue(seen, "cem", "lines since the author's newest exchange with another") == 2
    assert cue(seen, "cem", "how much newer than with another") == 2 - FAR
    assert cue(seen, "cem", "speakers in ten lines") == 3
    assert cue(seen, "cem", "other names in it", "bob", "cem") == 1


def test_who_asked_the_room_and_when_the_author_last_spoke_are_cues() -> None:
    asked = SaidLine("cem", (), Moment(NOW - 50 * SECOND), asks=True)
    seen = back(ago(90, "ann", "bob"), asked, ago(30, "cem"), ago(20, "bob", "ann"))
    assert cue(seen, "cem", "lines since they asked the room") == 3
    assert cue(seen, "bob", "lines since they asked the room") == FAR
    assert cue(seen, "bob", "lines since the author spoke") == 4
    assert cue(back(asked), "cem", "lines since the author spoke") == FAR


def test_candidates_are_who_spoke_with_the_author_lately_who_spoke_just_now_and_who_is_in_it() -> None:
    seen = back(
        ago(90, "dee"),
        ago(80, "ann", "bob"),
        ago(60, "cem"),
        *(ago(50 - one, "y") for one in range(JUST - 1)),
    )
    assert seen.candidates(()) == ["bob", "cem"]
    assert seen.candidates(("dee",)) == ["bob", "cem", "dee"]


def test_a_partner_is_the_other_side_of_the_newest_exchange_unless_there_were_thanks_or_several() -> None:
    assert partner((ago(20, "ann", "bob"), ago(10, "cem")), "ann", NOW, 60) == "bob"
    assert partner((ago(20, "ann", "bob"), ago(10, "cem", "ann")), "ann", NOW, 60) == "cem"
    assert partner((ago(20, "ann", "bob"),), "ann", NOW, 60, theirs=True) == ""
    assert partner((ago(20, "bob", "ann"), ago(10, "ann", "bob", ends=True)), "ann", NOW, 60) == ""
    assert partner((ago(20, "ann", "bob", "cem"),), "ann", NOW, 60) == ""
    assert partner((ago(90, "ann", "bob"),), "ann", NOW, 60) == ""


def test_what_goes_on_with_a_person_is_theirs_and_no_agent_is_a_candidate() -> None:
    found = follows((ago(20, "x", "ann"),), "ann", (), NOW, AGENTS)
    assert [(one.who, one.sure) for one in found] == [("x", True)]


def test_the_floor_keeps_so_many_lines_and_nothing_from_after_the_line() -> None:
    said = parsed("@bob hey")
    floor: tuple[SaidLine, ...] = ()
    for number in range(KEPT + 5):
        floor = heard(floor, said, None, Moment(NOW + number))
    assert len(floor) == KEPT
    assert (floor[-1].by, floor[-1].to, floor[-1].at) == ("user", ("bob",), NOW + KEPT + 4)
    assert follows((ago(-1, "bob", "ann"),), "ann", (), NOW, AGENTS) == ()


LINES = st.lists(
    st.tuples(st.integers(0, 2000), st.sampled_from(NAMES), st.sets(st.sampled_from(NAMES), max_size=2), st.booleans()),
    max_size=12,
)  # fmt: skip


@given(lines=LINES, inside=st.frozensets(st.sampled_from(NAMES[1:]), max_size=1))
def test_whatever_was_said_the_rules_stand_above_the_table(
    lines: list[tuple[int, str, set[str], bool]], inside: frozenset[str]
) -> None:
    lines.sort(key=lambda one: -one[0])
    floor = tuple(
        SaidLine(by, tuple(sorted(to - {by})), Moment(NOW - at * SECOND), named=named)
        for at, by, to, named in lines
    )
    found = follows(floor, "ann", inside, NOW, AGENTS)
    assert [one.confidence for one in found] == sorted((one.confidence for one in found), reverse=True)
    assert len({one.who for one in found}) == len(found)
    assert "ann" not in {one.who for one in found}
    for one in found:
        assert KNOCK <= one.confidence <= 1
        if one.ago_s is None or one.ago_s > SURE_S:
            assert one.confidence < TURN
        if one.ago_s is None and not one.named:
            assert one.confidence >= FIRST
        assert one.ago_s is None or one.ago_s <= LIKELY_S or one.named


def _walked(tree: object, cues: list[int]) -> int:
    if isinstance(tree, int):
        return tree
    assert isinstance(tree, list)
    at, most, left, right = tree
    assert 0 <= at < len(CUES)
    return _walked(left if cues[at] <= most else right, cues)


@given(cues=st.lists(st.integers(-45, 3600), min_size=len(CUES), max_size=len(CUES)))
def test_the_confidence_is_the_sum_of_the_trees(cues: list[int]) -> None:
    logit = sum(_walked(tree, cues) for tree in json.loads(TABLE)) / 1000
    assert grade.confidence(cues) == pytest.approx(1 / (1 + 2.718281828459045**-logit), rel=1e-6)


def test_the_table_is_small() -> None:
    assert len(TABLE) < 10_000
