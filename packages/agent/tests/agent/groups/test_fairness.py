"""Nobody is left out twice in a row where another choice is as good."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit.agent.groups.aggregation import aggregate
from tacit.agent.groups.fairness import left_out_last
from tacit.agent.groups.fold import REMEMBERED_OUTINGS
from tests.agent.scheduling.desk import span

EVENINGS = [(f"2026-03-{day}T18:00:00Z", f"2026-03-{day}T22:00:00Z") for day in range(23, 27)]


@pytest.mark.parametrize(
    ("outings", "found"),
    [
        ([], set()),
        ([("ab", "c")], {"c"}),
        ([("bc", "a"), ("ab", "c")], {"a"}),
        ([("de", "f"), ("ab", "c")], {"c", "f"}),
        ([("abc", ""), ("ab", "c")], set()),
    ],
)
def test_of_each_the_newest_outing_that_it_was_in_counts(outings, found):
    assert left_out_last(outings) == found


@given(st.lists(st.permutations(range(4)), min_size=REMEMBERED_OUTINGS, max_size=REMEMBERED_OUTINGS))
def test_over_ten_outings_with_equal_choices_nobody_is_left_out_twice_in_a_row(orders):
    """Each of four lacks one evening, in any order: every evening suits three."""
    outings = []
    for order in orders:
        free = {
            name: [span(*one) for number, one in enumerate(EVENINGS) if number != order[place]]
            for place, name in enumerate("abcd")
        }
        best = aggregate(free, 60, first=left_out_last(outings)).windows[0]
        assert best.count == 3
        if outings:
            assert best.missing != outings[0][1]
        outings.insert(0, (best.available, best.missing))
