"""Backups: one moment of a running hub, whole or not there, proved when they are brought back."""

from __future__ import annotations

import asyncio
import re
import shutil
import signal
import subprocess
import sys
from contextlib import closing
from functools import partial
from typing import TYPE_CHECKING

import pytest

from tacit.base.errors import Corrupt, Refused, Unavailable
from tacit.base.io import sqlite
from tacit.base.io.system import SystemEntropy
from tacit.base.io.time_service import TimeService, time_of
from tacit.base.moment import SECOND, Moment
from tacit.hub import backups, beside
from tacit.hub.config import BackupPlan
from tacit.ledger.commands import IssueCredential
from tacit.ledger.io import upkeep, verification
from tacit.ledger.io.store import DATABASE
from tacit.seal.sealed_stream import Opener, Sealer
from tests.ledger.world import HandClock, SeededEntropy, World

if TYPE_CHECKING:
    from pathlib import Path

WORDS = "a passphrase of an operator"
TEXT = "the words of the message"


@pytest.fixture
def world(tmp_path: Path):
    world = World(tmp_path / "data")
    world.group("g_one", ann="peer")
    for number in range(30):
        world.say("g_one", "user", f"{TEXT} {number}")
    world.blob("g_one", "user", b"an attachment" * 1000)
    world.store.execute(IssueCredential(b"h" * 32, "tok_1", "ann", "g_one"))
    (world.folder / "crew").mkdir()
    (world.folder / "crew" / "crew.json").write_text('{"agents": []}')
    (world.folder / "owner.token").write_text("a-secret-of-the-owner")
    yield world
    world.close()


@pytest.fixture(autouse=True)
def cheap(monkeypatch: pytest.MonkeyPatch) -> None:
    """The real seal, with a key that costs little to derive."""
    monkeypatch.setattr(beside, "sealer", partial(Sealer, passes=1, memory_bytes=8 * 1024 * 1024))


def take(world: World, target: Path, words: str | None = None) -> Path:
    target.mkdir(exist_ok=True)
    return backups.take(world.folder, target, TimeService(), SystemEntropy(), words)[0]


def lines(folder: Path) -> list[bytes]:
    return list(upkeep.export(folder, proof=True))


@pytest.mark.parametrize("words", [None, WORDS])
def test_a_backup_beside_a_running_hub_brings_everything_back(world: World, tmp_path: Path, words) -> None:
    file = take(world, tmp_path / "kept", words)
    before = lines(world.folder)
    world.say("g_one", "user", "afterwards")
    backups.bring_back(file, tmp_path / "new", SystemEntropy(), words)
    assert lines(tmp_path / "new") == before != lines(world.folder)
    assert verification.verify(tmp_path / "new", SeededEntropy()).sound
    with closing(sqlite.connect(tmp_path / "new" / DATABASE, readonly=True)) as connection:
        assert connection.execute("SELECT token_id FROM credentials").get == "tok_1"
    again = World(tmp_path / "new")
    assert again.sees_blob("g_one", "user", next(iter(_blobs(tmp_path / "new"))))
    again.say("g_one", "user", "it goes on")
    again.close()
    assert (tmp_path / "new" / "crew" / "crew.json").is_file()
    assert not (tmp_path / "new" / "owner.token").exists()
    assert (b"tacit-sealed" in file.read_bytes()[:20]) == (words is not None)
    assert (TEXT.encode() in file.read_bytes()) == (words is None)
    assert b"a-secret-of-the-owner" not in file.read_bytes()
    assert file.stat().st_mode & 0o777 == 0o600


def _blobs(folder: Path) -> list[str]:
    return [path.name for path in (folder / "blobs").glob("??/*")]


def test_a_folder_with_anything_in_it_is_not_restored_into(world: World, tmp_path: Path) -> None:
    file = take(world, tmp_path / "kept")
    (tmp_path / "new").mkdir()
    (tmp_path / "new" / "note").write_text("mine")
    with pytest.raises(Refused, match="not empty"):
        backups.bring_back(file, tmp_path / "new", SystemEntropy())
    assert [path.name for path in (tmp_path / "new").iterdir()] == ["note"]


@pytest.mark.parametrize("words", [None, WORDS])
def test_a_backup_that_changed_or_was_cut_is_refused_and_leaves_nothing(
    world: World, tmp_path: Path, words
) -> None:
    file = take(world, tmp_path / "kept", words)
    data = file.read_bytes()
    for changed in (
        data[: len(data) // 2] + bytes([data[len(data) // 2] ^ 1]) + data[len(data) // 2 + 1 :],
        data[: len(data) // 2],
        data[:100],
        b"",
    ):
        file.write_bytes(changed)
        with pytest.raises((Refused, Corrupt)):
            backups.bring_back(file, tmp_path / "new", SystemEntropy(), words)
        assert not (tmp_path / "new").exists()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["data", "kept"]


def test_a_sealed_backup_opens_with_its_passphrase_alone(world: World, tmp_path: Path) -> None:
    file = take(world, tmp_path / "kept", WORDS)
    for words in (None, "another passphrase"):
        with pytest.raises(Refused):
            backups.bring_back(file, tmp_path / "new", SystemEntropy(), words)
    with pytest.raises(Refused, match="characters"):
        take(world, tmp_path / "kept", "short")


def test_pieces_of_a_sealed_stream_cannot_be_moved_or_left_out() -> None:
    sealer = Sealer(WORDS, SeededEntropy(), passes=1, memory_bytes=8 * 1024 * 1024)
    pieces = [sealer.seal(b"one"), sealer.seal(b"two"), sealer.seal(b"three", last=True)]
    opener = Opener(sealer.header, WORDS)
    assert [opener.open(piece[5:], last=piece[0] == 1) for piece in pieces] == [b"one", b"two", b"three"]
    for wrong, last in ((pieces[1], False), (pieces[2], True), (pieces[0], True)):
        with pytest.raises(Refused):
            Opener(sealer.header, WORDS).open(wrong[5:], last=last)


def test_a_damaged_ledger_or_blob_gives_no_backup(world: World, tmp_path: Path) -> None:
    (blob,) = (world.folder / "blobs").glob("??/*")
    blob.write_bytes(b"something else")
    with pytest.raises(Corrupt, match="blob"):
        take(world, tmp_path / "kept")
    assert not list((tmp_path / "kept").iterdir())


KILLED = """
import os, sys
from pathlib import Path
from tacit.base.io.system import SystemEntropy
from tacit.base.io.time_service import TimeService
from tacit.hub import backups
os.fsync = lambda handle: os.kill(os.getpid(), 9)
backups.take(Path(sys.argv[1]), Path(sys.argv[2]), TimeService(), SystemEntropy())
"""


def test_a_kill_in_the_middle_leaves_no_backup_and_the_next_clears_up(world: World, tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    kept.mkdir()
    done = subprocess.run([sys.executable, "-c", KILLED, world.folder, kept], check=False, timeout=60)
    assert done.returncode == -signal.SIGKILL
    assert not list(kept.glob("tacit-*"))
    assert list(kept.glob(".tacit-*.partial-*"))
    file = take(world, kept)
    assert [path for path in kept.iterdir() if "partial" in path.name] == []
    assert file.is_file()


FULL = """
import resource, signal, sys
from tacit.base.commands.main import main
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv.pop()),) * 2)
main()
"""


@pytest.mark.parametrize("most", [20_000, 150_000])
def test_a_disk_that_takes_no_more_is_one_line_and_leaves_nothing(world: World, tmp_path: Path, most) -> None:
    kept = tmp_path / "kept"
    kept.mkdir()
    words = [sys.executable, "-c", FULL, "--data", world.folder, "backup", kept, str(most)]
    done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 3
    assert done.stderr.startswith("unavailable: ")
    assert len(done.stderr.strip().splitlines()) == 1
    assert not list(kept.glob("tacit-*"))


def test_the_newest_stay_and_strangers_files_are_left_alone() -> None:
    names = [f"tacit-2026010{day}T030000Z.tacit-backup" for day in range(1, 8)]
    assert backups.too_old([*names, "notes.txt", "tacit-old.tar"], 5) == names[:2]
    assert backups.too_old(names, 10) == []


def test_the_next_backup_is_due_by_the_names_of_those_that_are_there() -> None:
    now = HandClock().now()
    assert backups.due_in([], now, 3600) == 0
    newest = backups.name_at(Moment(now - 600 * SECOND))
    assert backups.due_in([newest, "other"], now, 3600) == 3000
    assert backups.due_in([newest], now, 300) == 0
    ahead = backups.name_at(Moment(now + 86400 * SECOND))
    assert backups.due_in([ahead], now, 3600) == 3600
    assert re.fullmatch(r"tacit-20260113T100000Z\.tacit-backup", backups.name_at(now))


async def test_a_hub_takes_backups_by_itself_and_keeps_as_many_as_it_was_told(world: World, tmp_path) -> None:
    kept, clock = tmp_path / "kept", HandClock()
    plan = BackupPlan(kept, every_seconds=3600, keep=2)
    watch = time_of(clock)
    own = backups.Backups(world.folder, plan, clock, SystemEntropy(), watch)
    for _ in range(3):
        own.open()
        before = own.taken
        async with asyncio.timeout(60):
            while own.taken == before:
                await asyncio.sleep(0.01)
        await own.close()
        clock.move(3700)
    assert sorted(path.name for path in kept.iterdir()) == [
        backups.name_at(Moment(clock.now() - hours * 3700 * SECOND)) for hours in (2, 1)
    ]
    shutil.rmtree(world.folder / "blobs")
    with pytest.raises((Corrupt, Unavailable)):
        own.once(plan)
    assert len(list(kept.iterdir())) == 2


def test_what_was_exported_is_brought_in_with_the_same_hashes(world: World, tmp_path: Path) -> None:
    told = lines(world.folder)
    found = upkeep.bring_in(tmp_path / "new", told, HandClock(), SeededEntropy())
    assert found.proved
    assert lines(tmp_path / "new") == told
    assert verification.verify(tmp_path / "new", SeededEntropy()).sound
    assert not upkeep.bring_in(tmp_path / "bare", told[:-1], HandClock(), SeededEntropy()).proved
    changed = [line.replace(TEXT.encode(), b"other words than those") for line in told]
    with pytest.raises(Refused, match="hashes"):
        upkeep.bring_in(tmp_path / "changed", changed, HandClock(), SeededEntropy())
    with pytest.raises(Refused, match="line 2"):
        upkeep.bring_in(tmp_path / "gap", [told[0], told[2]], HandClock(), SeededEntropy())
    assert not (tmp_path / "changed" / DATABASE).exists()
    with pytest.raises(Refused, match="already"):
        upkeep.bring_in(tmp_path / "new", told, HandClock(), SeededEntropy())
