"""Tables of a fold: what is open is found without its key, and what is closed costs no start anything."""

from __future__ import annotations

from typing import TYPE_CHECKING

import apsw
import pytest

from tacit.ledger.io.fold_tables import FoldTable, GroupFolds, always
from tacit.ledger.io.schema import FOLDS

if TYPE_CHECKING:
    from collections.abc import Callable

ONE_GROUP = 1


@pytest.fixture
def connection() -> apsw.Connection:
    made = apsw.Connection(":memory:")
    made.execute(FOLDS)
    return made


def is_even(value: int) -> bool:
    return value % 2 == 0


def table(connection: apsw.Connection, is_open: Callable[[int], bool] | None) -> FoldTable[str, int]:
    return GroupFolds(connection, ONE_GROUP).table("numbers", str, int, is_open)


def written(
    connection: apsw.Connection, values: dict[str, int], is_open: Callable[[int], bool] | None
) -> None:
    folds = GroupFolds(connection, ONE_GROUP)
    numbers: FoldTable[str, int] = folds.table("numbers", str, int, is_open)
    for key, value in values.items():
        numbers[key] = value
    folds.flush()


@pytest.mark.parametrize(
    ("is_open", "expected"), [(always, {"a", "b", "c"}), (is_even, {"a", "c"}), (None, set())]
)
def test_going_through_gives_what_is_open_and_a_key_gives_the_rest(
    connection: apsw.Connection, is_open: Callable[[int], bool] | None, expected: set[str]
) -> None:
    written(connection, {"a": 2, "b": 3, "c": 4}, is_open)
    found = table(connection, is_open)
    assert set(found) == expected
    assert {key: found[key] for key in "abc"} == {"a": 2, "b": 3, "c": 4}
    assert sorted(found.values()) == sorted({"a": 2, "b": 3, "c": 4}[key] for key in expected)


def test_what_was_changed_before_anybody_went_through_is_as_it_was_changed(
    connection: apsw.Connection,
) -> None:
    written(connection, {"a": 2, "b": 3, "c": 4}, is_even)
    found = table(connection, is_even)
    found["a"] = 5
    found["b"] = 6
    del found["c"]
    assert list(found) == ["b"]


def _steps(connection: apsw.Connection, work: Callable[[], object]) -> int:
    """How many steps the database takes for something."""
    count = 0

    def step() -> bool:
        nonlocal count
        count += 1
        return False

    connection.set_progress_handler(step, 1)
    work()
    connection.set_progress_handler(None)
    return count


@pytest.mark.parametrize("is_open", [is_even, None])
def test_rows_that_are_closed_are_not_looked_through(
    connection: apsw.Connection, is_open: Callable[[int], bool] | None
) -> None:
    written(connection, {f"k{n}": 1 for n in range(20)} | {"open": 2}, is_open)
    few = _steps(connection, lambda: list(table(connection, is_open)))
    written(connection, {f"k{n}": 1 for n in range(5_000)}, is_open)
    assert _steps(connection, lambda: list(table(connection, is_open))) <= 2 * few
