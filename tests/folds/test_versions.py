"""A ledger that another version of the folds folded is folded again; no fold changes without its version."""

from __future__ import annotations

import json
import logging
from contextlib import closing
from typing import TYPE_CHECKING, Any

import pytest

from tacit.agent.features import FOLD
from tacit.agent.shell.io.journal import journal_engine
from tacit.attention.io.engine import AttentionEngine
from tacit.attention.io.state_store import attention_on
from tacit.base.io.sqlite import connect
from tacit.base.io.system import SystemEntropy
from tacit.base.io.time_service import TimeService
from tacit.ledger.io import folding, upkeep, verification
from tacit.ledger.io.fold_tables import GroupFolds
from tacit.ledger.io.schema import PROJECTIONS
from tacit.ledger.io.store import DATABASE, Store, StoreOptions
from tools import fold_prints

if TYPE_CHECKING:
    from pathlib import Path

ADVICE = (
    "what the folds make of {name} has changed ({tables}) and its version has not. If that is meant, raise "
    "VERSION beside the fold (tacit/ledger/projection.py, tacit/attention/state/fold.py or "
    "tacit/agent/kernel/fold.py), so that older ledgers are folded again at their next start; then run "
    "`python -m tools.fold_prints`"
)

BRIEF = {"acting", "asked_guests", "early", "unposted"}
"""Tables of an agent's that hold something between two packets: at the end of a script they are empty."""


@pytest.fixture(scope="module")
def kept() -> dict[str, dict[str, Any]]:
    return json.loads(fold_prints.KEPT.read_text(encoding="utf-8"))


@pytest.mark.parametrize("script", fold_prints.scripts(), ids=lambda path: path.stem)
def test_no_fold_changes_without_its_version(script: Path, tmp_path: Path, kept: dict[str, Any]) -> None:
    found, known = fold_prints.prints_of(script, tmp_path / "data"), kept[script.stem]
    changed = [name for name, one in found["tables"].items() if known["tables"].get(name) != one]
    if found["version"] == known["version"]:
        assert not changed, ADVICE.format(name=script.stem, tables=", ".join(changed))
    assert found == known, "the version was raised: run `python -m tools.fold_prints`"


class _Names(GroupFolds):
    """Hears which tables a fold asks for."""

    def __init__(self, connection: Any) -> None:
        super().__init__(connection, 0)
        self.asked: set[str] = set()

    def table(self, name: str, *given: Any) -> Any:
        self.asked.add(name)
        return super().table(name, *given)

    def lists(self, name: str, *given: Any) -> Any:
        self.asked.add(name)
        return super().lists(name, *given)

    def whole(self, tables: Any) -> Any:
        self.asked.update(tables)
        return super().whole(tables)


def test_the_scripts_reach_every_table_and_every_fold(tmp_path: Path, kept: dict[str, Any]) -> None:
    """Else a fold could change and nobody would notice."""
    nothing = {name: folded for name, folded in _empty(tmp_path).items() if name in PROJECTIONS}
    attention = kept["attention"]
    assert [name for name, one in attention["tables"].items() if nothing.get(name) == one] == []
    with closing(connect(tmp_path / "empty" / DATABASE, readonly=True)) as connection:
        names = _Names(connection)
        attention_on(names)
    assert names.asked == set(attention["folds"])
    reached = {fold for name, one in kept.items() if name.startswith("agent") for fold in one["folds"]}
    assert {f"a2acp.{name}" for name in FOLD.tables} - reached == {f"a2acp.{name}" for name in BRIEF}


def _empty(tmp_path: Path) -> dict[str, str]:
    upkeep.bring_in(tmp_path / "empty", [], TimeService(), SystemEntropy(), AttentionEngine)
    return upkeep.fingerprint(tmp_path / "empty")


def folder_of(script: str, folder: Path) -> Path:
    fold_prints.prints_of(fold_prints.FOLDER / f"{script}.jsonl", folder)
    return folder


def as_another_version_left_it(folder: Path, version: str | None) -> None:
    """One row more and one less than this version folds."""
    with closing(connect(folder / DATABASE, overwrites=True)) as connection:
        connection.execute("UPDATE folds SET value=CAST('{}' AS BLOB) WHERE fold='thread_owner'")
        connection.execute("DELETE FROM folds WHERE fold='decided'")
        connection.execute("DELETE FROM facts WHERE name=?", (folding.FOLDED,))
        if version is not None:
            connection.execute("INSERT INTO facts VALUES(?, ?)", (folding.FOLDED, version))


def opened(folder: Path) -> None:
    Store(folder, StoreOptions(readers=1), engine=AttentionEngine).close()


@pytest.mark.parametrize("version", [None, "0.0", "999.1"], ids=["none", "older", "newer"])
def test_a_ledger_that_another_version_folded_is_folded_again_once(
    tmp_path: Path, version: str | None, caplog: pytest.LogCaptureFixture
) -> None:
    folder = folder_of("attention", tmp_path / "data")
    right = upkeep.fingerprint(folder)
    as_another_version_left_it(folder, version)
    report = verification.verify(folder, SystemEntropy(), AttentionEngine)
    assert (report.problems, report.is_older) == ([], True)
    with caplog.at_level(logging.WARNING, "tacit.ledger"):
        opened(folder)
        opened(folder)
    assert [one.getMessage() for one in caplog.records if "folded" in one.getMessage()] == [
        "the ledger was folded by another version and is folded again"
    ]
    assert upkeep.fingerprint(folder) == right
    report = verification.verify(folder, SystemEntropy(), AttentionEngine)
    assert (report.problems, report.is_older) == ([], False)


def test_a_rebuild_is_of_this_version_and_a_new_ledger_needs_none(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    folder = folder_of("attention", tmp_path / "data")
    as_another_version_left_it(folder, None)
    upkeep.rebuild(folder, TimeService(), SystemEntropy(), StoreOptions().settings, AttentionEngine)
    with caplog.at_level(logging.WARNING, "tacit.ledger"):
        opened(folder)
        opened(tmp_path / "new")
    assert caplog.records == []
    with closing(connect(tmp_path / "new" / DATABASE, readonly=True)) as connection:
        assert folding.folded_by(connection) == folding.fold_version(AttentionEngine(connection))


def test_a_ledger_too_long_for_a_start_is_served_as_it_is_and_says_what_to_do(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = folder_of("attention", tmp_path / "data")
    as_another_version_left_it(folder, None)
    before = upkeep.fingerprint(folder)
    monkeypatch.setattr(folding, "MOST_AT_START", 100)
    with caplog.at_level(logging.WARNING, "tacit.ledger"):
        opened(folder)
    assert ["`tacit ledger rebuild`" in one.getMessage() for one in caplog.records] == [True]
    assert upkeep.fingerprint(folder) == before


def test_what_cannot_be_folded_stays_as_it_is_and_the_ledger_opens(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = folder_of("attention", tmp_path / "data")
    as_another_version_left_it(folder, None)
    before = upkeep.fingerprint(folder)

    def unfoldable(*_args: object) -> None:
        raise ValueError("no rule knows this event")

    with monkeypatch.context() as patch, caplog.at_level(logging.WARNING, "tacit.ledger"):
        patch.setattr(AttentionEngine, "folded", unfoldable)
        opened(folder)
    assert "`tacit ledger verify`" in caplog.records[-1].getMessage()
    assert upkeep.fingerprint(folder) == before
    opened(folder)
    assert verification.verify(folder, SystemEntropy(), AttentionEngine).problems == []


def test_an_agents_journal_is_folded_again_too(tmp_path: Path) -> None:
    script = next(one for one in fold_prints.scripts() if one.stem.startswith("agent"))
    folder = folder_of(script.stem, tmp_path / "data")
    right = upkeep.fingerprint(folder)
    with closing(connect(folder / DATABASE, overwrites=True)) as connection:
        connection.execute("DELETE FROM folds")
        connection.execute("UPDATE facts SET value='0.0' WHERE name=?", (folding.FOLDED,))
    Store(folder, StoreOptions(readers=1), engine=journal_engine).close()
    assert upkeep.fingerprint(folder) == right
