"""Ledgers that earlier versions wrote are healthy: each file in `formats` was made by the program of its time."""

from __future__ import annotations

import gzip
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

from tacit.attention.io.engine import AttentionEngine
from tacit.base.commands.main import tacit
from tacit.base.errors import WrittenByNewer
from tacit.base.io.sqlite import connect
from tacit.base.io.system import SystemEntropy
from tacit.ledger.io import upkeep, verification
from tacit.ledger.io.blobs import BLOBS, BlobFolder
from tacit.ledger.io.schema import SCHEMA
from tacit.ledger.io.store import DATABASE, Store, StoreOptions

if TYPE_CHECKING:
    from tacit.ledger.io.verification import VerificationReport

FORMATS = sorted((Path(__file__).parents[1] / "formats").glob("*.db.gz"))


@pytest.fixture(params=FORMATS, ids=lambda file: file.name.removesuffix(".db.gz"))
def older(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A data folder as an earlier version left it."""
    folder = tmp_path / "data"
    blobs = BlobFolder(folder / BLOBS, SystemEntropy())
    blobs.prepare()
    incoming = blobs.incoming()
    incoming.write(b"a file")
    incoming.finish()
    (folder / DATABASE).write_bytes(gzip.decompress(request.param.read_bytes()))
    return folder


def verified(folder: Path) -> VerificationReport:
    return verification.verify(folder, SystemEntropy(), AttentionEngine)


def changed(folder: Path, statement: str) -> None:
    with closing(connect(folder / DATABASE)) as connection:
        connection.execute(statement)


def test_there_is_a_ledger_of_every_earlier_format() -> None:
    kept = {int(file.name.removeprefix("format-")[0]) for file in FORMATS}
    assert kept == set(range(1, len(SCHEMA.steps)))


def test_an_older_ledger_is_healthy_and_the_command_says_so(older: Path) -> None:
    before = (older / DATABASE).read_bytes()
    report = verified(older)
    assert (report.problems, report.is_older) == ([], True)
    assert (report.groups, report.events, report.blobs) == (1, 6, 1)
    said = CliRunner().invoke(tacit, ["ledger", "--data", str(older), "verify"])
    assert said.exit_code == 0
    assert "older, healthy" in said.output
    assert len(list(upkeep.export(older, proof=True))) == 8
    assert (older / DATABASE).read_bytes() == before


def test_an_older_ledger_is_brought_forward_by_the_next_start(older: Path) -> None:
    Store(older, StoreOptions(readers=1), engine=AttentionEngine).close()
    report = verified(older)
    assert (report.problems, report.is_older) == ([], False)


@pytest.mark.parametrize("older", [FORMATS[0], FORMATS[-1]], ids=["oldest", "newest"], indirect=True)
@pytest.mark.parametrize(
    ("damage", "says"),
    [
        (
            "DROP TRIGGER events_stay; UPDATE events SET raw=CAST(replace(raw, 'hello', 'HELLO') AS BLOB)",
            "chain of hashes",
        ),
        ("UPDATE groups SET last_seq=last_seq+1", "its record says 7"),
        ("UPDATE blobs SET sha256=replace(sha256, 'a', 'b')", "missing or changed"),
        ("DROP TABLE audiences", "projections: cannot be read further"),
    ],
)
def test_damage_in_an_older_ledger_is_damage(older: Path, damage: str, says: str) -> None:
    changed(older, damage)
    assert says in " ".join(verified(older).problems)
    assert CliRunner().invoke(tacit, ["ledger", "--data", str(older), "verify"]).exit_code == 1


def test_a_ledger_of_a_newer_version_is_not_called_damaged(tmp_path: Path) -> None:
    Store(tmp_path, StoreOptions(readers=1), engine=AttentionEngine).close()
    changed(tmp_path, "PRAGMA user_version=99")
    with pytest.raises(WrittenByNewer, match=r"A newer version of Tacit wrote this folder's ledger\.db"):
        verified(tmp_path)
