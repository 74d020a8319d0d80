"""What the last lines of a channel tell about whom a line is for, and the table that weighs it."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit.attention.read import grade
from tacit.attention.read.cues import CUES, FAR, KEPT, LONG, LookBack, SaidLine
from tacit.attention.read.dialogue import KNOCK, LIKELY_S, SURE_S, TURN, follows, heard, wording_of
from tacit.attention.read.grade_table import TABLE
from tacit.base.moment import SECOND, Moment
from tacit.c2a.vocabulary import Intent

NOW = Moment(10**15)
NAMES = ("ann", "bob", "cem", "dee")


def ago(seconds: float, by: str, *to: str, named: bool = True) -> SaidLine:
    return SaidLine(by, to, Moment(NOW - int(seconds * SECOND)), named=named)


def back(*lines: SaidLine, text: str = "", author: str = "ann") -> LookBack:
    return LookBack(lines, author, wording_of(text, Intent.PLAIN), NOW)


def cue(seen: LookBack, who: str, name: str) -> int:
    return seen.cues(who)[CUES.index(name)]


def test_distances_are_in_lines_and_in_seconds_from_the_newest_line_back() -> None:
    seen = back(ago(90, "ann", "bob"), ago(60, "bob", "ann"), ago(30, "cem"))
    assert cue(seen, "bob", "lines since the author spoke to them") == 3
    assert cue(seen, "bob", "seconds since they spoke to the author") == 60
    assert cue(seen, "cem", "lines since they spoke to the author") == FAR
    assert cue(seen, "cem", "seconds since they spoke to the author") == LONG
    assert cue(seen, "bob", "who last spoke to the author") == 1
    assert cue(seen, "cem", "who last spoke to the author") == -1
    assert cue(seen, "bob", "lines since the author's newest exchange with another") == FAR
    assert cue(seen, "cem", "lines since the author's newest exchange with another") == 2
    assert cue(seen, "bob", "speakers since they spoke") == 1


def test_whoever_was_called_and_said_nothing_is_owed_for_until_they_speak_or_another_is_called() -> None:
    assert back(ago(20, "ann", "bob")).is_owed("bob")
    assert back(ago(20, "ann", "bob"), ago(10, "ann", "bob", named=False)).is_owed("bob")
    assert not back(ago(20, "ann", "bob"), ago(10, "bob", "ann")).is_owed("bob")
    assert not back(ago(20, "ann", "bob"), ago(10, "ann", "cem")).is_owed("bob")
    assert not back(ago(20, "ann", "bob", named=False)).is_owed("bob")
    assert not back(ago(600, "ann", "bob")).is_owed("bob")


def test_the_floor_keeps_so_many_lines_and_nothing_from_after_the_line() -> None:
    floor: tuple[SaidLine, ...] = ()
    for number in range(KEPT + 5):
        floor = heard(floor, ago(1000 - number, "bob", "ann"))
    assert len(floor) == KEPT
    assert floor[-1].at == NOW - (1000 - KEPT - 4) * SECOND
    assert follows((ago(-1, "bob", "ann"),), "ann", wording_of("so", Intent.PLAIN), NOW) == ()


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
    found = follows(floor, "ann", wording_of("and that", Intent.PLAIN, inside), NOW)
    assert [one.confidence for one in found] == sorted((one.confidence for one in found), reverse=True)
    assert len({one.who for one in found}) == len(found)
    assert "ann" not in {one.who for one in found}
    for one in found:
        assert 0 <= one.confidence <= 1
        if one.ago_s is None or one.ago_s > SURE_S:
            assert one.confidence < TURN
        if one.ago_s is not None and one.ago_s > LIKELY_S and not one.named:
            assert one.confidence < KNOCK


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
    assert len(TABLE) < 60_000
