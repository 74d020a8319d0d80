"""Mutants of a tiny project: killed by the row's test, by a neighbour's, or by nobody; the work tree stays as it is.

A test that fails without any change kills nobody, and one that never ends is late.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tools import mutate, overlay
from tools.executed import RunOfTest
from tools.mutants import of_tree
from tools.recorded import Recorded
from tools.source_tree import load

SHOP = '''\
"""Prices (C2A-001)."""

import logging
from typing import cast

LIMIT = 40
log = logging.getLogger("shop")


def price(count):
    log.info("asked %s", count)
    if count > LIMIT:
        raise ValueError("too many of these")
    return cast("int", count * 2)


def gift(count):
    """C2A-002."""
    return count == 3 and not None


def untested(name):
    """C2A-003."""
    return "plain" if name else ""


def count_down(left):
    """C2A-004."""
    while left > 0:
        left -= 1
    return left
'''
TESTS = """\
import pytest
from shop.till import count_down, gift, price


@pytest.mark.spec("C2A-001")
def test_price():
    assert price(2) == 4
    with pytest.raises(ValueError):
        price(41)


@pytest.mark.spec("C2A-002")
def test_gift_is_called():
    gift(3)


def test_till_gift():
    assert gift(3) and not gift(2)


@pytest.mark.spec("C2A-003")
def test_red_whatever_happens():
    raise AssertionError


@pytest.mark.spec("C2A-004")
def test_count_down():
    assert count_down(3) == 0
"""
# What a recording of these tests says; the red one was green then.
RAN = {
    "test_price": ("C2A-001", "price"),
    "test_gift_is_called": ("C2A-002", "gift"),
    "test_till_gift": ("", "gift"),
    "test_red_whatever_happens": ("C2A-003", "untested"),
    "test_count_down": ("C2A-004", "count_down"),
}
CONFTEST = """\
from tests.plugins import spec_rows


def pytest_addoption(parser):
    parser.addoption("--spec", default="")


def pytest_configure(config):
    config.addinivalue_line("markers", "spec(*rows): rows")


def pytest_collection_modifyitems(config, items):
    spec_rows.select(config, items)
"""
ROWS = {"C2A-001", "C2A-002", "C2A-003", "C2A-004"}


@pytest.fixture(scope="module")
def shop(tmp_path_factory) -> Path:
    root = tmp_path_factory.mktemp("shop")
    for folder in ("src/shop", "tests/plugins", "tests/till"):
        (root / folder).mkdir(parents=True)
    for folder in ("src/shop", "tests", "tests/plugins"):
        (root / folder / "__init__.py").touch()
    (root / "pytest.ini").write_text("[pytest]\npythonpath = .\naddopts = --import-mode=importlib\n")
    shutil.copy(Path(__file__).parents[1] / "plugins" / "spec_rows.py", root / "tests" / "plugins")
    (root / "src" / "shop" / "till.py").write_text(SHOP)
    (root / "tests" / "conftest.py").write_text(CONFTEST)
    (root / "tests" / "till" / "test_till.py").write_text(TESTS)
    return root


@pytest.fixture(scope="module")
def mutants(shop):
    return of_tree(load([shop / "src"], "shop"), ROWS, {})


@pytest.fixture(scope="module")
def trial(shop, tmp_path_factory):
    made = overlay.build(tmp_path_factory.mktemp("overlay") / "one", shop)
    tests = {
        f"tests/till/test_till.py::{name}": RunOfTest(
            frozenset({row} - {""}), 0.01, frozenset({f"shop.till:{ran}"})
        )
        for name, (row, ran) in RAN.items()
    }
    recorded = Recorded(tests)
    trial = mutate.Trial(made, shop, mutate.Tests(recorded), mutate.Server(made, shop, recorded))
    yield trial
    trial.server.stop()


def changed(mutants, name: str) -> set[tuple[str, str]]:
    return {(mutant.before, mutant.after) for mutant in mutants[f"shop.till:{name}"]}


def test_what_no_test_should_notice_is_not_changed(mutants):
    assert changed(mutants, "price") == {
        ("count > LIMIT", "(not (count > LIMIT))"),
        ("count > LIMIT", "(count >= LIMIT)"),
        ('raise ValueError("too many of these")', "pass"),
        ('return cast("int", count * 2)', "return None"),
        ("2", "(3)"),
    }
    assert changed(mutants, "<module>") == {("40", "(41)")}


def test_a_function_answers_to_its_own_rows_before_its_modules(mutants):
    assert {mutant.rows for mutant in mutants["shop.till:price"]} == {("C2A-001",)}
    assert {mutant.rows for mutant in mutants["shop.till:gift"]} == {("C2A-002",)}


@pytest.mark.parametrize(
    ("name", "before", "after", "verdict", "how"),
    [
        ("price", "2", "(3)", "killed", "assertion"),
        ("price", "count > LIMIT", "(not (count > LIMIT))", "killed", "error"),
        ("price", "count > LIMIT", "(count >= LIMIT)", "survived", ""),
        ("gift", "count == 3", "(count != 3)", "killed_by_neighbours", "assertion"),
        ("untested", "name", "(not (name))", "survived", ""),
        ("count_down", "left -= 1", "left += 1", "killed", "late"),
    ],
)
def test_a_mutant_is_judged_by_the_tests_that_name_its_row(
    shop, mutants, trial, name, before, after, verdict, how
):
    found = [one for one in mutants[f"shop.till:{name}"] if (one.before, one.after) == (before, after)]
    assert (trial.judge(found[0]), trial.how) == (verdict, how)
    assert (shop / "src" / "shop" / "till.py").read_text() == SHOP
    assert (trial.made.source / "shop" / "till.py").read_text() == SHOP


def test_a_path_of_modules_from_outside_does_not_hide_the_changed_copy(tmp_path, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", "src")
    assert "PYTHONPATH" not in overlay.Overlay(tmp_path).environment()


def test_who_asks_some_files_asks_all_their_tests_and_no_others(mutants):
    here, there = "tests/till/test_till.py", "tests/till/test_other.py"
    tests = {
        f"{file}::{name}": RunOfTest(frozenset({row} - {""}), 99.0, frozenset())
        for file in (here, there)
        for name, (row, _ran) in RAN.items()
    }
    plan = mutate.Tests(Recorded(tests), files=frozenset({there})).plan(mutants["shop.till:price"][0])
    assert plan.naming == [f"{there}::test_price"]
    assert plan.near == sorted(f"{there}::{name}" for name in RAN if name != "test_price")


def test_the_file_that_stands_where_the_module_stands_is_asked_last_though_it_was_not_seen_to_run(mutants):
    beside, apart = "tests/test_till.py", "tests/till/test_other.py"
    ran = {
        "tests/test_tills.py::test_price": "price",
        f"{beside}::test_cached": "",
        f"{apart}::test_gift": "gift",
    }
    tests = {name: RunOfTest(frozenset(), 0.01, frozenset({f"shop.till:{one}"})) for name, one in ran.items()}
    plan = mutate.Tests(Recorded(tests)).plan(mutants["shop.till:price"][0])
    assert plan.near == ["tests/test_tills.py::test_price", f"{beside}::test_cached"]


def test_the_same_seed_chooses_the_same_and_what_was_tried_is_not_tried_again(mutants):
    first = mutate.choose(mutants, 6, 1)
    assert first == mutate.choose(mutants, 6, 1)
    assert len({mutant.name for mutant in first[:4]}) == 4
    judged = {first[0].key: {"verdict": "killed"}, first[2].key: {"verdict": "survived"}}
    assert mutate.left(first, judged) == [first[1], *first[3:]]


def test_a_mutant_that_was_judged_twice_has_a_first_and_a_last_verdict(tmp_path):
    path = tmp_path / "results.jsonl"
    path.write_text('{"key": "a", "verdict": "survived"}\n{"key": "a", "verdict": "killed"}\n')
    assert mutate.results(path)["a"]["verdict"] == "killed"
    assert mutate.results(path, first=True)["a"]["verdict"] == "survived"


def test_a_report_gives_the_reason_beside_a_survivor_and_counts_who_has_one(tmp_path):
    path = tmp_path / "survivors.toml"
    path.write_text(
        '[[survivor]]\nplace = "src/a.py:f"\nbefore = "1"\nafter = "(2)"\nreason = "as good as the other"\n'
    )
    line = {
        "verdict": "survived",
        "path": "src/a.py",
        "line": 1,
        "name": "f",
        "what": "one more",
        "before": "1",
        "after": "(2)",
        "rows": "C2A-001",
    }
    judged = {"a": line, "b": {**line, "name": "g"}, "c": {**line, "verdict": "killed"}}
    said = mutate.report(judged, mutate.reasons(path))
    assert said.count("because: as good as the other") == 1
    assert "3 mutants: 66.7% survive, 1 of 2 with a reason written down" in said
