"""A ledger on a disk that cannot be written is verified and exported, and nothing is left beside it."""

from __future__ import annotations

import shutil
from contextlib import closing
from functools import partial
from typing import TYPE_CHECKING

import pytest

from tacit.base.errors import Unavailable
from tacit.base.io.sqlite import connect
from tacit.ledger.io import upkeep, verification
from tacit.ledger.io.store import DATABASE
from tests.ordinary import as_ordinary_user

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.ledger.world import World

LOG, INDEX = f"{DATABASE}-wal", f"{DATABASE}-shm"


@pytest.fixture
def copied(room: World, tmp_path: Path) -> Iterator[Path]:
    """A folder without write permission, as a running hub's files were copied into it: file, log and index."""
    room.say("g_one", "user", "on the disk, and in the log alone")
    folder = tmp_path / "copied"
    shutil.copytree(room.folder, folder)
    assert (folder / LOG).stat().st_size
    yield folder
    folder.chmod(0o700)


def closed(folder: Path) -> None:
    """Move the log into the file, as a hub does that ends."""
    connect(folder / DATABASE).close()
    assert not (folder / LOG).exists()


@pytest.mark.parametrize("beside", ["nothing", "log", "log and index"])
def test_a_folder_without_write_permission_is_verified_and_exported(
    room: World, copied: Path, beside: str
) -> None:
    if beside == "nothing":
        closed(copied)
    elif beside == "log":
        (copied / INDEX).unlink()
    names = sorted(path.name for path in copied.iterdir())
    copied.chmod(0o500)
    with pytest.raises(OSError, match="Permission denied"):
        as_ordinary_user(partial((copied / "proof").write_text, "this folder is not written"))
    report = as_ordinary_user(partial(verification.verify, copied, room.entropy))
    assert (report.problems, report.events) == ([], room.state("g_one").last_seq)
    lines = as_ordinary_user(lambda: list(upkeep.export(copied, proof=True)))
    assert lines == list(upkeep.export(room.folder, proof=True))
    assert sorted(path.name for path in copied.iterdir()) == names


def test_a_file_that_may_not_be_read_is_unavailable(copied: Path) -> None:
    closed(copied)
    (copied / DATABASE).chmod(0)
    copied.chmod(0o500)
    with pytest.raises(Unavailable, match="another account's"):
        as_ordinary_user(partial(connect, copied / DATABASE, readonly=True))


def test_damage_on_a_disk_that_cannot_be_written_is_damage(room: World, copied: Path) -> None:
    closed(copied)
    with closing(connect(copied / DATABASE)) as connection:
        connection.execute("UPDATE groups SET last_seq=last_seq+1")
    copied.chmod(0o500)
    report = as_ordinary_user(partial(verification.verify, copied, room.entropy))
    assert "its record says" in " ".join(report.problems)
