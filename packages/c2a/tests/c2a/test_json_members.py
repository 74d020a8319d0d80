"""A peer's JSON is read by its shape; what is amiss reads as missing."""

from __future__ import annotations

import pytest

from tacit.c2a.delivery_shape import shaped, shaped_rows

SHAPE = {"text": str, "number": int, "any": object, "words": [str], "inner": {"text": str}}
EMPTY = {"text": "", "number": 0, "any": None, "words": [], "inner": {"text": ""}}


def test_members_are_read_by_kind() -> None:
    given = {
        "text": "a",
        "number": 3,
        "any": [1],
        "words": ["b", "a", "b", "", 4],
        "inner": {"text": "c"},
        "more": 1,
    }
    assert shaped(given, SHAPE) == {
        "text": "a",
        "number": 3,
        "any": [1],
        "words": ["a", "b"],
        "inner": {"text": "c"},
    }


@pytest.mark.parametrize(
    "given",
    [
        None,
        [],
        "text",
        {},
        {"text": 1, "number": "3", "words": "a", "inner": "c"},
        {"text": None, "number": True, "words": {"a": 1}, "inner": [{"text": "c"}]},
    ],
)
def test_what_is_amiss_is_empty(given: object) -> None:
    assert shaped(given, SHAPE) == EMPTY


def test_rows_that_are_no_objects_are_left_out() -> None:
    assert shaped_rows([{"text": "a"}, 1, None, {"text": 2}], {"text": str}) == [{"text": "a"}, {"text": ""}]
    assert shaped_rows({"text": "a"}, {"text": str}) == []
