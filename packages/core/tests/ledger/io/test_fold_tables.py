"""Tables of a fold: what is open is found without its key, and what is closed costs no start anything."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import apsw
import pytest

from tacit.ledger.io import fold_tables
from tacit.ledger.io.fold_tables import FoldTable, GroupFolds
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


@pytest.mark.parametrize(("is_open", "expected"), [(is_even, {"a", "c"}), (None, set())])
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


WHOLE: dict[str, tuple[Any, Any]] = {
    "numbers": (str, int),
    "pairs": (tuple[str, str], int),
    "none": (str, int),
}


def test_small_tables_are_read_whole_in_one_look_up(connection: apsw.Connection) -> None:
    folds = GroupFolds(connection, ONE_GROUP)
    tables = folds.whole(WHOLE)
    tables["numbers"].update({"a": 1, "b": 2})
    tables["pairs"]["x", "y"] = 3
    folds.flush()
    asked: list[str] = []
    connection.trace_v2(apsw.SQLITE_TRACE_STMT, lambda said: asked.append(said["sql"]))
    found = GroupFolds(connection, ONE_GROUP).whole(WHOLE)
    connection.trace_v2(0)
    assert found == {"numbers": {"a": 1, "b": 2}, "pairs": {("x", "y"): 3}, "none": {}}
    assert len(asked) == 1
    assert GroupFolds(connection, ONE_GROUP + 1).whole(WHOLE) == {"numbers": {}, "pairs": {}, "none": {}}


@pytest.mark.parametrize(
    ("change", "left"),
    [
        (lambda table: table.pop("a"), {"b": 2}),
        (lambda table: table.pop("nobody", None), {"a": 1, "b": 2}),
        (lambda table: table.popitem(), {"b": 2}),
        (lambda table: table.clear(), {}),
        (lambda table: table.update(a=5, c=6), {"a": 5, "b": 2, "c": 6}),
        (lambda table: table.setdefault("c", 7), {"a": 1, "b": 2, "c": 7}),
        (lambda table: table.__delitem__("b"), {"a": 1}),
    ],
)
def test_whatever_changes_a_whole_table_is_written(
    connection: apsw.Connection, change: Callable[[Any], object], left: dict[str, int]
) -> None:
    folds = GroupFolds(connection, ONE_GROUP)
    numbers = folds.whole(WHOLE)["numbers"]
    numbers.update({"a": 1, "b": 2})
    folds.flush()
    change(numbers)
    folds.flush()
    assert numbers == left
    assert GroupFolds(connection, ONE_GROUP).whole(WHOLE)["numbers"] == left


def test_what_another_has_written_of_a_whole_table_is_not_written_again(connection: apsw.Connection) -> None:
    folds = GroupFolds(connection, ONE_GROUP)
    folds.whole(WHOLE)["numbers"]["a"] = 1
    folds.settle()
    folds.flush()
    assert GroupFolds(connection, ONE_GROUP).whole(WHOLE)["numbers"] == {}


def test_a_list_is_read_once_and_an_empty_one_has_no_row(connection: apsw.Connection) -> None:
    folds = GroupFolds(connection, ONE_GROUP)
    lists = folds.lists("lists", str, int)
    assert lists["a"] == ()
    lists["a"] = (1, 2)
    lists["b"] = (3,)
    folds.flush()
    lists["b"] = ()
    folds.flush()
    assert connection.execute("SELECT key, open FROM folds").fetchall() == [("a", 0)]
    again = GroupFolds(connection, ONE_GROUP).lists("lists", str, int)
    asked: list[str] = []
    connection.trace_v2(apsw.SQLITE_TRACE_STMT, lambda said: asked.append(said["sql"]))
    assert [again["a"], again["b"], again["a"], again["b"]] == [(1, 2), (), (1, 2), ()]
    connection.trace_v2(0)
    assert len(asked) == 2


def test_what_was_read_of_a_list_is_not_written(connection: apsw.Connection) -> None:
    folds = GroupFolds(connection, ONE_GROUP)
    assert folds.lists("lists", str, int)["a"] == ()
    assert not folds.changed


def test_lists_beyond_what_is_held_are_read_again(
    connection: apsw.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fold_tables, "KEPT", 2)
    folds = GroupFolds(connection, ONE_GROUP)
    lists = folds.lists("lists", str, int)
    for number in range(5):
        lists[str(number)] = (number,)
    folds.flush()
    assert len(lists) == 0
    assert [lists[str(number)] for number in range(5)] == [(number,) for number in range(5)]
