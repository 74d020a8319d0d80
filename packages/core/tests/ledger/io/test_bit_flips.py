"""A bit that flips on the disk, a file that is cut: nothing of it is served, `verify` says what and where."""

from __future__ import annotations

import os
import shutil
from random import Random
from typing import TYPE_CHECKING

import apsw
import pytest

from tacit.base.errors import Corrupt, Unavailable
from tacit.base.io import sqlite
from tacit.ledger.cursor import selection
from tacit.ledger.envelope import decode
from tacit.ledger.io import verification
from tacit.ledger.io.store import DATABASE, Store
from tacit.ledger.io.timeline import TimelinePlace, rows, stretch
from tests.ledger.world import SeededEntropy, World

if TYPE_CHECKING:
    from pathlib import Path

    from tacit.ledger.io.reader import Reader

SECRET = "between ann and bob alone"


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A closed folder: talk, private talk, acknowledgements, reading."""
    world = World(tmp_path_factory.mktemp("sound") / "data")
    world.group("g_one", ann="peer", bob="peer", eve="peer")
    for number in range(120):
        world.say("g_one", "user", f"message {number} " + "lorem ipsum " * 12)
        if number % 4 == 0:
            world.say("g_one", "ann", f"{SECRET} {number}", to=["bob"])
        if number % 10 == 0:
            world.say("g_one", "user", "please", to=["bob"], priority="attention")
    world.close()
    return world.folder


def seen(folder: Path, principal: str) -> dict[int, bytes]:
    """What somebody reads of the group, by position; what is damaged is left out."""
    world = World(folder)
    try:
        return {event.seq: event.raw for event in world.page("g_one", principal)}
    finally:
        world.close()


def holds_or_is_told(sound: Path, damaged: Path) -> int:
    """Everybody reads what was written, or less, or is told; returns how many reads were answered."""
    answered = 0
    for principal in ("user", "bob", "eve"):
        before = seen(sound, principal)
        try:
            after = seen(damaged, principal)
        except (Corrupt, Unavailable):
            continue
        assert after.items() <= before.items()
        answered += bool(after)
    return answered


def flip(sound: Path, folder: Path, seed: int) -> None:
    shutil.copytree(sound, folder, ignore=shutil.ignore_patterns("lock"))
    raw = bytearray((sound / DATABASE).read_bytes())
    chance = Random(seed)
    raw[chance.randrange(len(raw))] ^= 1 << chance.randrange(8)
    (folder / DATABASE).write_bytes(raw)


def cut(sound: Path, folder: Path, seed: int) -> None:
    shutil.copytree(sound, folder, ignore=shutil.ignore_patterns("lock"))
    os.truncate(folder / DATABASE, Random(seed).randrange((sound / DATABASE).stat().st_size))


def told(folder: Path) -> list[str]:
    return verification.verify(folder, SeededEntropy()).problems


@pytest.mark.parametrize("seed", range(6))
def test_a_flipped_bit_is_served_to_nobody_and_verify_says_where(
    sound: Path, tmp_path: Path, seed: int
) -> None:
    flip(sound, tmp_path / "data", seed)
    assert all(": " in problem for problem in told(tmp_path / "data"))
    assert told(tmp_path / "data")
    holds_or_is_told(sound, tmp_path / "data")


@pytest.mark.parametrize("seed", range(3))
def test_a_file_that_was_cut_anywhere_is_told(sound: Path, tmp_path: Path, seed: int) -> None:
    cut(sound, tmp_path / "data", seed)
    assert told(tmp_path / "data")
    holds_or_is_told(sound, tmp_path / "data")


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(100, 200))
def test_a_hundred_flips(sound: Path, tmp_path: Path, seed: int) -> None:
    flip(sound, tmp_path / "data", seed)
    assert told(tmp_path / "data")
    holds_or_is_told(sound, tmp_path / "data")


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(200, 220))
def test_twenty_cuts(sound: Path, tmp_path: Path, seed: int) -> None:
    cut(sound, tmp_path / "data", seed)
    assert told(tmp_path / "data")
    holds_or_is_told(sound, tmp_path / "data")


def test_a_file_that_was_emptied_is_no_new_ledger(sound: Path, tmp_path: Path) -> None:
    shutil.copytree(sound, tmp_path / "data")
    os.truncate(tmp_path / "data" / DATABASE, 0)
    with pytest.raises(Corrupt, match="empty"):
        Store(tmp_path / "data")
    assert told(tmp_path / "data")


def test_a_damaged_event_is_refused_by_name_and_the_rest_is_served(sound: Path, tmp_path: Path) -> None:
    folder = tmp_path / "data"
    shutil.copytree(sound, folder)
    before = seen(sound, "user")
    seq, raw = next((seq, raw) for seq, raw in before.items() if b'"message 60 ' in raw)
    flipped(folder, raw)
    assert seen(folder, "user") == {at: one for at, one in before.items() if at != seq}
    world = World(folder)
    event_id, group = decode(raw).id, world.state("g_one")
    with pytest.raises(Corrupt, match=f"event {seq} of this group is damaged"):
        world.store.read(lambda reader: reader.event(group, event_id, "user"))
    page = world.store.read(lambda reader: reader.page(group, "user", selection(limit=1000)))
    assert page.damaged == (seq,)
    world.close()
    assert any(f"group g_one event {seq}:" in problem for problem in told(folder))


def flipped(folder: Path, raw: bytes) -> None:
    """One bit of an event's own bytes is changed on the disk."""
    data = bytearray((folder / DATABASE).read_bytes())
    data[data.index(raw) + 20] ^= 4
    (folder / DATABASE).write_bytes(data)


@pytest.mark.parametrize("back", [True, False])
def test_a_screen_shows_the_rest_around_a_damaged_event_and_to_each_what_is_theirs(
    sound: Path, tmp_path: Path, back: bool
) -> None:
    folder = tmp_path / "data"
    shutil.copytree(sound, folder)
    words = (b'"message 60 ', f'"{SECRET} 40"'.encode())
    lost = {seq: raw for seq, raw in seen(sound, "user").items() if any(one in raw for one in words)}
    assert len(lost) == 2
    places = {
        "room": TimelinePlace(),
        "dm": TimelinePlace(parties=frozenset({"ann", "bob"})),
        "thread": TimelinePlace(root=max(lost) + 1),
    }

    def shown(where: Path, principal: str, name: str) -> tuple[list[int], tuple[int, ...]]:
        world = World(where)
        group = world.state("g_one")

        def read(reader: Reader) -> tuple[list[int], tuple[int, ...]]:
            reader.begin()
            start = group.last_seq + 1 if back else 0
            events, _ = stretch(reader, group, principal, places[name], start=start, back=back, limit=500)
            return [row.event.seq for row in rows(reader, group, principal, events)], reader.left_out

        try:
            return world.store.read(read)
        finally:
            world.close()

    before = {(who, name): shown(sound, who, name) for who in ("user", "bob", "eve") for name in places}
    assert all(not damaged for _, damaged in before.values())
    for raw in lost.values():
        flipped(folder, raw)
    for (who, name), (whole, _) in before.items():
        found, damaged = shown(folder, who, name)
        assert found == [seq for seq in whole if seq not in lost], (who, name)
        assert set(damaged) == (set(lost) if len(found) < len(whole) or damaged else set()), (who, name)


def test_a_private_row_made_public_past_the_hub_is_seen_by_verify(sound: Path, tmp_path: Path) -> None:
    folder = tmp_path / "data"
    shutil.copytree(sound, folder)
    assert not told(folder)
    connection = sqlite.connect(folder / DATABASE)
    connection.execute(
        "UPDATE audiences SET private=0 WHERE pos=(SELECT min(pos) FROM audiences WHERE private)"
    )
    connection.close()
    (problem,) = told(folder)
    assert problem.startswith("projection audiences at (")
    connection = sqlite.connect(folder / DATABASE)
    connection.execute("INSERT INTO search(search) VALUES('delete-all')")
    connection.close()
    assert any(problem.startswith("projection search") for problem in told(folder))
    verification_copy = [path.name for path in folder.iterdir() if path.name.startswith(".verify")]
    assert not verification_copy


def test_a_ledger_from_before_checksums_gets_them_at_its_next_start(tmp_path: Path) -> None:
    world = World(tmp_path / "data", vfs="unix")
    world.group("g_one", ann="peer")
    world.say("g_one", "user", "before")
    world.close()
    assert not sqlite.is_checked(tmp_path / "data" / DATABASE)
    before = World(tmp_path / "data")
    assert [event.data.get("text") for event in before.events("g_one", kinds=["chat.message"])] == ["before"]
    before.close()
    assert sqlite.is_checked(tmp_path / "data" / DATABASE)
    assert not told(tmp_path / "data")


def test_a_first_page_that_denies_its_checksums_is_damage(sound: Path, tmp_path: Path) -> None:
    folder = tmp_path / "data"
    shutil.copytree(sound, folder)
    data = bytearray((folder / DATABASE).read_bytes())
    data[20] = 0
    (folder / DATABASE).write_bytes(data)
    assert any("page 1" in problem or "file:" in problem for problem in told(folder))
    with pytest.raises(Corrupt):
        World(folder)


def test_without_the_library_a_file_with_checksums_is_not_opened(sound: Path, monkeypatch) -> None:
    monkeypatch.setattr(sqlite, "has_checksums", lambda: False)
    with pytest.raises(Unavailable, match="checksums"):
        sqlite.connect(sound / DATABASE, readonly=True)


def test_damage_is_told_from_a_disk_that_fails() -> None:
    assert sqlite.is_damage(apsw.CorruptError())
    assert not sqlite.is_damage(apsw.IOError())
