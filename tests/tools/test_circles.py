"""The check that no module imports itself by way of others."""

import itertools

import pytest

from tools.circles import circle


@pytest.mark.parametrize(
    ("imported", "found"),
    [
        ({}, []),
        ({"a": {"b", "c"}, "b": {"c"}, "c": set()}, []),
        ({"a": {"b"}, "b": {"a"}}, ["a", "b", "a"]),
        ({"a": {"b"}, "b": {"c"}, "c": {"b", "d"}}, ["b", "c", "b"]),
    ],
)
def test_a_circle_is_named_in_the_order_of_its_imports(imported, found):
    seen = circle(imported)
    assert seen[:1] == seen[-1:]
    assert set(seen) == set(found)
    assert all(later in imported[earlier] for earlier, later in itertools.pairwise(seen))
