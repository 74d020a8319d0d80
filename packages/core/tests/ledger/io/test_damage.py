"""Files that cannot be trusted: told apart, named, never used in silence."""

from __future__ import annotations

import os
import shutil
import signal
import struct
import subprocess
import sys
from typing import TYPE_CHECKING

import apsw
import pytest

from tacit.base.errors import Corrupt, Unavailable, WrittenByNewer
from tacit.ledger.envelope import decode
from tacit.ledger.io import torn, upkeep, verification
from tacit.ledger.io.store import Store, StoreOptions
from tests.ledger.world import SeededEntropy, World

if TYPE_CHECKING:
    from pathlib import Path

PAGE = 4096


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A closed folder with some hundred events."""
    world = World(tmp_path / "data")
    world.group("g_one", ann="peer", bob="peer")
    for number in range(150):
        world.say("g_one", "user", f"message {number} " + "lorem ipsum " * 20)
    world.close()
    return world.folder


def problems(folder: Path) -> list[str]:
    return verification.verify(folder, SeededEntropy()).problems


@pytest.mark.spec("CCCS-114")
def test_a_second_store_on_the_folder_is_refused_and_told_who_holds_it(world: World) -> None:
    with pytest.raises(Unavailable, match=rf"in use by a test \(process {os.getpid()} on "):
        Store(world.folder)
    world.group("g_one")
    world.say("g_one", "user", "undisturbed")


def test_a_header_that_was_overwritten_is_corrupt(folder: Path) -> None:
    with (folder / "ledger.db").open("r+b") as file:
        file.write(b"\xde\xad\xbe\xef" * 8)
    with pytest.raises(Corrupt) as caught:
        Store(folder)
    assert "restore a backup" in caught.value.hint
    assert problems(folder)
    # The lock was given back: what stands in the way is the damage, not the first attempt.
    with pytest.raises(Corrupt):
        Store(folder)


@pytest.mark.parametrize("keep", [0.9, 0.5, 0.1])
def test_a_file_that_was_cut_short_is_corrupt(folder: Path, keep: float) -> None:
    path = folder / "ledger.db"
    os.truncate(path, int(path.stat().st_size * keep) // PAGE * PAGE)
    assert problems(folder)
    with pytest.raises(Corrupt) as caught:
        use(folder)
    assert caught.value.hint


def use(folder: Path) -> None:
    """What a hub does in its first minute: every reader and the writer."""
    world = World(folder)
    try:
        world.events("g_one")
        world.inbox("g_one", "ann")
        for number in range(3):
            world.say("g_one", "ann", f"more {number}", priority="attention")
    finally:
        world.close()


def test_bytes_that_flipped_anywhere_are_named_by_verify_or_harmless(folder: Path, tmp_path: Path) -> None:
    """A flipped page is seen by verify; whoever meets it gets `Corrupt` or unharmed events, never others."""
    whole = (folder / "ledger.db").read_bytes()
    sound = list(upkeep.export(folder))
    missed = []
    for page in range(1, len(whole) // PAGE):
        broken = tmp_path / f"p{page}"
        shutil.copytree(folder, broken)
        start = page * PAGE
        data = bytearray(whole)
        for at in (*range(start, start + 12), *range(start + 1000, start + 1032)):
            data[at] ^= 0x5A
        (broken / "ledger.db").write_bytes(data)
        if not problems(broken):
            missed.append(page)
            assert list(upkeep.export(broken)) == sound
        try:
            use(broken)
        except Corrupt as corrupt:
            assert corrupt.hint  # noqa: PT017
        shutil.rmtree(broken)
    # Pages that no check covers hold derived text search data or are free.
    assert len(missed) <= 3, missed


def test_an_event_that_cannot_be_read_is_damage_and_is_named(folder: Path) -> None:
    path = folder / "ledger.db"
    data = path.read_bytes()
    at = data.index(b'"text":"message 77 ')
    path.write_bytes(data[:at] + b"\xff" * 8 + data[at + 8 :])
    world = World(folder)
    assert [event.seq for event in world.events("g_one")] == [seq for seq in range(1, 154) if seq != 81]
    world.close()
    first, second = problems(folder)
    assert "of events is damaged" in first
    assert "group g_one event 81" in second


def test_a_ledger_whose_end_is_not_where_its_record_says_does_not_open(folder: Path) -> None:
    connection = apsw.Connection(str(folder / "ledger.db"))
    connection.execute("UPDATE groups SET last_seq=last_seq-1")
    connection.close()
    with pytest.raises(Corrupt, match="group g_one does not end where its record says"):
        Store(folder)


def test_a_file_of_another_program_or_of_a_newer_release_does_not_open(tmp_path: Path) -> None:
    for name, made in {
        "foreign": "CREATE TABLE photos(x)",
        "signed": "CREATE TABLE photos(x); PRAGMA application_id=99",
        "newer": "PRAGMA application_id=0x54414349; PRAGMA user_version=99",
    }.items():
        folder = tmp_path / name
        folder.mkdir()
        connection = apsw.Connection(str(folder / "ledger.db"))
        connection.execute(made)
        connection.close()
        with pytest.raises(WrittenByNewer if name == "newer" else Corrupt):
            Store(folder)


WRITER = """
import os, pathlib, signal, sys
from tests.ledger.world import World
world = World(pathlib.Path(sys.argv[1]))
world.group("g_one", ann="peer")
world.group("g_two")
for number in range(int(sys.argv[2])):
    world.say("g_one", "user", f"n{number}")
    print(number, flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""


def killed(folder: Path, count: int) -> None:
    """A process that appended and was killed, its log never moved into the database."""
    done = subprocess.run(
        [sys.executable, "-c", WRITER, str(folder), str(count)], capture_output=True, text=True, check=False
    )
    assert done.returncode == -signal.SIGKILL, done.stderr
    assert done.stdout.split() == [str(number) for number in range(count)]


def log_of(folder: Path) -> Path:
    return folder / "ledger.db-wal"


def half_frame(log: bytes, *, size: int = PAGE // 2) -> bytes:
    """The beginning of a frame of this very log, as a crash in the middle of a write leaves it."""
    return struct.pack(">2I", 3, 9) + log[16:24] + bytes(8) + b"\x11" * size


@pytest.mark.spec("CCCS-115")
def test_after_a_kill_everything_acknowledged_is_there_and_nothing_is_reported(tmp_path: Path) -> None:
    killed(tmp_path / "data", 20)
    assert log_of(tmp_path / "data").stat().st_size > 20 * PAGE
    world = World(tmp_path / "data")
    texts = [event.data["text"] for event in world.events("g_one", kinds=["chat.message"])]
    assert texts == [f"n{number}" for number in range(20)]
    assert world.events("g_one", kinds=["system.*"]) == []
    assert not (tmp_path / "data" / "quarantine").exists()
    world.assert_rebuilds()


@pytest.mark.spec("CCCS-115")
@pytest.mark.parametrize(("size", "frames"), [(0, 1), (100, 1), (PAGE // 2, 1), (PAGE, 80)])
def test_a_half_written_end_is_set_aside_and_reported_once(tmp_path: Path, size: int, frames: int) -> None:
    folder = tmp_path / "data"
    killed(folder, 5)
    log = log_of(folder).read_bytes()
    tail = half_frame(log, size=size) * frames
    log_of(folder).write_bytes(log + tail)
    world = World(folder)
    for group in ("g_one", "g_two"):
        (notice,) = world.events(group, kinds=["system.notify"])
        assert (notice.by, notice.data["kind"]) == ("system", "error")
        assert notice.data["context"]["bytes"] == len(tail)
        kept = folder / notice.data["context"]["kept_in"]
        assert kept.read_bytes() == tail
    assert [e.data["text"] for e in world.events("g_one", kinds=["chat.message"])] == [
        f"n{n}" for n in range(5)
    ]
    world.say("g_one", "user", "goes on")
    crashed = tmp_path / "crashed"
    shutil.copytree(folder, crashed, ignore=shutil.ignore_patterns("lock"))
    again = World(crashed)
    assert len(again.events("g_one", kinds=["system.notify"])) == 1
    assert again.events("g_one")[-1].data["text"] == "goes on"
    again.assert_rebuilds()
    world.assert_rebuilds()


@pytest.mark.spec("CCCS-115")
def test_a_commit_cut_anywhere_is_not_there_and_the_ones_before_it_are(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    killed(folder, 6)
    log = log_of(folder).read_bytes()
    frame = PAGE + 24
    ends = [at for at in range(32, len(log), frame) if struct.unpack(">I", log[at + 4 : at + 8])[0]]
    previous, last = ends[-2] + frame, ends[-1] + frame
    for cut in (previous, previous + 7, previous + frame, previous + frame + 30, last - frame, last - 1):
        torn_folder = tmp_path / f"cut{cut}"
        shutil.copytree(folder, torn_folder, ignore=shutil.ignore_patterns("lock", "*-shm"))
        log_of(torn_folder).write_bytes(log[:cut])
        assert problems(torn_folder) == []
        log_of(torn_folder).write_bytes(log[:cut])
        world = World(torn_folder)
        texts = [event.data["text"] for event in world.events("g_one", kinds=["chat.message"])]
        assert texts == [f"n{number}" for number in range(5)]
        reported = world.events("g_one", kinds=["system.notify"])
        assert len(reported) == (0 if cut == previous else 1)
        world.assert_rebuilds()


@pytest.mark.spec("CCCS-115")
def test_what_a_kill_leaves_in_a_log_used_anew_is_no_damage_and_a_flip_within_is(tmp_path: Path) -> None:
    """Frames are laid over those of an earlier generation; each is written as its header, then its page."""
    folder = tmp_path / "data"
    killed(folder, 6)
    log = log_of(folder).read_bytes()
    frame = PAGE + 24
    marks = [at for at in range(32, len(log), frame) if struct.unpack(">I", log[at + 4 : at + 8])[0]]
    assert marks[-1] > marks[-2] + frame
    old = bytearray(log)
    for at in range(32, len(log), frame):
        old[at + 8 : at + 16] = b"\1" * 8

    def told(content: bytes) -> list[str]:
        case = tmp_path / "case"
        shutil.rmtree(case, ignore_errors=True)
        shutil.copytree(folder, case, ignore=shutil.ignore_patterns("lock", "*-shm"))
        log_of(case).write_bytes(content)
        return [one for one in problems(case) if one.startswith("log:")]

    for cut in range(marks[-2] + frame, len(log), frame):
        assert told(log[:cut] + old[cut:]) == []
        assert told(log[: cut + 24] + old[cut + 24 :]) == []
    flipped = bytearray(log)
    flipped[marks[-3] + 500] ^= 1
    assert told(bytes(flipped)) == [
        f"log: {len(log) - marks[-4] - frame} bytes lie behind damage, commits among them"
    ]


def test_a_log_that_was_started_anew_holds_no_torn_end(tmp_path: Path) -> None:
    """Frames of an earlier generation lie after the end of the present one; they are nothing new."""
    world = World(tmp_path / "data")
    world.group("g_one", ann="peer")
    for number in range(30):
        world.say("g_one", "user", f"n{number}")
    world.store.writer.model.connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_RESTART)
    world.say("g_one", "user", "after")
    crashed = tmp_path / "crashed"
    shutil.copytree(world.folder, crashed, ignore=shutil.ignore_patterns("lock"))
    assert torn.set_aside(crashed / "ledger.db", "now") is None
    again = World(crashed)
    assert again.events("g_one")[-1].data["text"] == "after"
    again.close()


def log_by_hand(order: str, magic: int, frames: int) -> bytes:
    """A log as SQLite documents it, with so many commits; checksums by machines of either order of bytes."""

    def summed(data: bytes, sums: tuple[int, int]) -> tuple[int, int]:
        one, two = sums
        for left, right in struct.iter_unpack(f"{order}2I", data):
            one = (one + left + two) % 2**32
            two = (two + right + one) % 2**32
        return one, two

    head = struct.pack(">6I", magic, 3_007_000, 512, 0, 7, 8)
    sums = summed(head, (0, 0))
    log = head + struct.pack(">2I", *sums)
    for number in range(1, frames + 1):
        about, page = struct.pack(">2I", number, number), bytes([number]) * 512
        sums = summed(page, summed(about, sums))
        log += about + struct.pack(">4I", 7, 8, *sums) + page
    return log


@pytest.mark.spec("CCCS-115")
@pytest.mark.parametrize(("order", "magic"), [("<", 0x377F0682), (">", 0x377F0683)])
def test_a_log_of_either_order_of_bytes_is_read_to_where_it_tore(
    tmp_path: Path, order: str, magic: int
) -> None:
    log, path = log_by_hand(order, magic, 3), tmp_path / "ledger.db"
    log_of(tmp_path).write_bytes(log)
    assert (torn.set_aside(path, "now"), torn.hidden_bytes(path)) == (None, 0)
    log_of(tmp_path).write_bytes(log[:-1] + b"x")
    found = torn.set_aside(path, "now")
    assert found is not None
    assert (found.size, torn.hidden_bytes(path)) == (512 + 24, 0)
    log_of(tmp_path).write_bytes(log[: 32 + 24] + b"x" + log[32 + 25 :])
    assert torn.hidden_bytes(path) == 3 * (512 + 24)


def test_a_log_without_a_sound_header_is_kept_whole(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    killed(folder, 2)
    log = log_of(folder).read_bytes()
    log_of(folder).write_bytes(b"\0" * 32 + log[32:])
    found = torn.set_aside(folder / "ledger.db", "2026-01-13T10:00:00Z")
    assert found is not None
    assert found.size == len(log)
    assert ":" not in found.kept_in.name


@pytest.mark.spec("CCCS-114")
def test_a_reader_that_stays_bounds_the_log_again_when_it_leaves(tmp_path: Path) -> None:
    world = World(tmp_path / "data", hard_pages=120)
    world.store.checkpointer._soft = 40
    world.group("g_one", ann="peer")
    reader = apsw.Connection(str(world.store.path), flags=apsw.SQLITE_OPEN_READONLY)
    reader.execute("BEGIN")
    reader.execute("SELECT count(*) FROM events").fetchall()
    for number in range(60):
        world.say("g_one", "user", f"n{number}")
    held = world.store.checkpointer.pages
    assert held > 120
    reader.execute("COMMIT")
    reader.close()
    for number in range(400):
        world.say("g_one", "user", f"m{number}")
        if world.store.checkpointer.pages < 60:
            break
    assert world.store.checkpointer.pages < held
    world.assert_rebuilds()


def test_a_store_can_be_closed_twice(tmp_path: Path) -> None:
    store = Store(tmp_path / "data", StoreOptions(purpose="twice"))
    store.start()
    store.close()
    store.close()
    Store(tmp_path / "data").close()


@pytest.mark.spec("CCCS-002")
def test_events_never_change_and_never_go(world: World) -> None:
    world.group("g_one", ann="peer")
    before = list(upkeep.export(world.folder))
    for statement in (
        "UPDATE events SET raw=x'00'",
        "UPDATE events SET pos=pos+1",
        "DELETE FROM events",
        "DELETE FROM events WHERE pos > 0",
        "UPDATE events SET raw=x'00', salt=x''",
        "INSERT OR REPLACE INTO events SELECT pos, id, kind, chain, x'00', salt FROM events LIMIT 1",
    ):
        with pytest.raises(apsw.ConstraintError, match=r"events never (change|go)"):
            world.store.writer.model.connection.execute(statement)
    assert list(upkeep.export(world.folder)) == before
    assert [decode(raw).seq for raw in before] == [1, 2]
