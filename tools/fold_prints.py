"""Fingerprints of what the folds make of fixed scripts of events, beside the version that they are of.

`tests/folds/test_versions.py` compares. When a fold's shape or meaning has changed on purpose: raise
`VERSION` beside that fold, then write the fingerprints anew with `python -m tools.fold_prints`.
"""

from __future__ import annotations

import json
import tempfile
from contextlib import closing
from pathlib import Path
from typing import Any

from tacit.agent.shell.io.journal import journal_engine
from tacit.attention.io.engine import AttentionEngine
from tacit.base.io.sqlite import connect
from tacit.base.io.system import SystemEntropy
from tacit.base.io.time_service import TimeService
from tacit.ledger.io import upkeep
from tacit.ledger.io.folding import folded_by
from tacit.ledger.io.store import DATABASE
from tools.places import ROOT

FOLDER = ROOT / "tests" / "folds" / "folded"
KEPT = FOLDER / "prints.json"
ENGINES: dict[str, Any] = {"attention": AttentionEngine, "agent": journal_engine}
"""By the name of the script, up to its first dash: whose folds follow its events."""


def scripts() -> list[Path]:
    """The fixed scripts of events."""
    return sorted(FOLDER.glob("*.jsonl"))


def prints_of(script: Path, folder: Path) -> dict[str, Any]:
    """The version, a hash for each projection, and which folds have rows."""
    engine = ENGINES[script.stem.partition("-")[0]]
    upkeep.bring_in(
        folder, script.read_bytes().splitlines(keepends=True), TimeService(), SystemEntropy(), engine
    )
    with closing(connect(folder / DATABASE, readonly=True)) as connection:
        version = folded_by(connection)
        folds = connection.execute("SELECT DISTINCT fold FROM folds ORDER BY 1").fetchall()
    return {
        "version": version,
        "tables": upkeep.fingerprint(folder),
        "folds": [str(row[0]) for row in folds],
    }


def all_prints() -> dict[str, dict[str, Any]]:
    """Of every script."""
    found: dict[str, dict[str, Any]] = {}
    for script in scripts():
        with tempfile.TemporaryDirectory() as folder:
            found[script.stem] = prints_of(script, Path(folder) / "data")
    return found


if __name__ == "__main__":
    KEPT.write_text(json.dumps(all_prints(), indent=1) + "\n", encoding="utf-8")
    print(f"wrote {KEPT.name}")
