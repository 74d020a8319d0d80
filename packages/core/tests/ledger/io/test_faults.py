"""Each write and each sync fails in turn: nothing half-written is seen, nothing acknowledged is lost."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING, Any

import apsw
import pytest

from tacit.base.errors import Unavailable
from tacit.ledger.admission import AdmissionSettings
from tacit.ledger.commands import Append
from tacit.ledger.envelope import decode
from tacit.ledger.io import upkeep, verification
from tests.ledger.io import faulty
from tests.ledger.world import HandClock, SeededEntropy, World, submission

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

ERRORS = {"io": apsw.IOError, "full": apsw.FullError}
TEXT = " words"
SENDS = 2


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A closed folder with one group."""
    folder = tmp_path_factory.mktemp("template") / "data"
    world = World(folder, vfs="unix")
    world.group("g_one", boss="foreman", ann="peer", bob="peer")
    world.close()
    return folder


@pytest.fixture
def disk() -> Iterator[faulty.Disk]:
    with faulty.disk() as made:
        yield made


def texts(world: World) -> list[str]:
    return [event.data["text"][:2] for event in world.events("g_one", kinds=["chat.message"])]


def send(world: World, number: int) -> bool:
    """One attention message; was it acknowledged?"""
    try:
        world.say(
            "g_one",
            "user",
            f"{number:02}{TEXT}",
            client_id=f"c{number}",
            priority="attention",
            to=["ann", "bob"],
        )
    except Unavailable as unavailable:
        assert "nothing was appended" in str(unavailable)  # noqa: PT017
        return False
    return True


def after_a_crash(world: World, folder: Path) -> World:
    """The same files as if the process had been killed now, opened by the next one on a good disk."""
    shutil.copytree(world.folder, folder, ignore=shutil.ignore_patterns("lock"))
    return World(folder)


def assert_sound(folder: Path) -> None:
    before = upkeep.fingerprint(folder)
    upkeep.rebuild(folder, HandClock(), SeededEntropy(), AdmissionSettings())
    assert upkeep.fingerprint(folder) == before
    report = verification.verify(folder, SeededEntropy())
    assert report.sound, report.problems


def operations(template: Path, folder: Path, op: str) -> int:
    """How many operations of this sort the sends need."""
    with faulty.disk() as disk:
        shutil.copytree(template, folder)
        world = World(folder, vfs=disk.name)
        before = disk.counts[op]
        for number in range(SENDS):
            assert send(world, number)
        count = disk.counts[op] - before
        world.close()
    return count


@pytest.mark.spec("CCCS-113", "CCCS-115")
@pytest.mark.parametrize("error", ERRORS)
@pytest.mark.parametrize("op", ["write", "sync"])
def test_each_operation_fails_in_turn(template: Path, tmp_path: Path, op: str, error: str) -> None:
    count = operations(template, tmp_path / "count", op)
    assert count >= SENDS
    failures = 0
    # A full disk stops the same way as a bad one, so there every third write will do.
    turns = range(count) if (op, error) != ("write", "full") else range(1, count, 3)
    for nth in turns:
        with faulty.disk() as disk:
            folder = tmp_path / f"{nth}"
            shutil.copytree(template, folder)
            world = World(folder, vfs=disk.name)
            disk.fail(op, nth, ERRORS[error])
            acknowledged: list[str] = []
            for number in range(SENDS):
                if send(world, number):
                    acknowledged.append(f"{number:02}")
                else:
                    failures += 1
                    last = after_a_crash(world, tmp_path / f"{nth}-crash")
                    # What was not acknowledged may be there, but then whole and at the end.
                    assert texts(last) in (acknowledged, [*acknowledged, f"{number:02}"])
                    last.close()
                    if nth % 3 == 0:
                        assert_sound(last.folder)
                assert texts(world) == acknowledged
                assert len(world.owed("g_one", "ann")) == len(acknowledged)
            assert disk.failed == 1
            assert len(acknowledged) == SENDS - 1
            for number in range(SENDS):
                world.try_(
                    "g_one", "user", "chat.message", text=f"{number:02}{TEXT}", client_id=f"c{number}",
                    priority="attention", to=["ann", "bob"],
                )  # fmt: skip
            assert sorted(texts(world)) == [f"{number:02}" for number in range(SENDS)]
            world.close()
            if nth % 3 == 1:
                assert_sound(folder)
    assert failures == len(turns)


@pytest.mark.spec("CCCS-113")
@pytest.mark.parametrize("error", ERRORS)
@pytest.mark.parametrize("op", ["write", "sync"])
def test_a_disk_that_stays_bad_refuses_all_and_works_again_when_it_heals(
    template: Path, tmp_path: Path, disk: faulty.Disk, op: str, error: str
) -> None:
    folder = tmp_path / "data"
    shutil.copytree(template, folder)
    world = World(folder, vfs=disk.name)
    assert send(world, 0)
    disk.fail(op, 0, ERRORS[error], times=10**9)
    for number in range(1, 4):
        assert not send(world, number)
        assert texts(world) == ["00"]
        assert world.owed("g_one", "bob")
    assert world.store.writer.failures == 3
    disk.heal()
    assert send(world, 4)
    assert texts(world) == ["00", "04"]
    world.close()
    assert_sound(folder)


def test_all_callers_of_a_batch_that_fails_are_told(
    template: Path, tmp_path: Path, disk: faulty.Disk
) -> None:
    folder = tmp_path / "data"
    shutil.copytree(template, folder)
    world = World(folder, vfs=disk.name)
    disk.fail("sync", 0, apsw.IOError)
    jobs = [
        Append(submission("g_one", "user", "chat.message", {"text": f"{number:02}"})) for number in range(20)
    ]
    outcomes = world.store.writer.commit(jobs)
    assert [type(outcome) for outcome in outcomes] == [Unavailable] * 20
    assert texts(world) == []
    assert len(world.store.writer.commit(jobs)) == 20
    assert texts(world) == [f"{number:02}" for number in range(20)]
    world.close()
    assert_sound(folder)


@pytest.mark.parametrize("op", ["write", "sync", "truncate"])
def test_a_checkpoint_that_fails_loses_nothing(
    template: Path, tmp_path: Path, disk: faulty.Disk, op: str
) -> None:
    folder = tmp_path / "data"
    shutil.copytree(template, folder)
    world = World(folder, vfs=disk.name)
    for number in range(5):
        assert send(world, number)
    disk.fail(op, 0, apsw.IOError, times=10**9)
    world.store.checkpointer._pages = 10**6
    world.store.checkpointer._wake.set()
    while op != "truncate" and not world.store.checkpointer.failures:
        world.store.checkpointer._thread.join(0.005)
    assert texts(world) == ["00", "01", "02", "03", "04"]
    disk.heal()
    assert send(world, 5)
    disk.fail(op, 0, apsw.FullError, times=10**9)
    world.close()  # which cannot move the log into the database either
    disk.heal()
    assert_sound(folder)
    again = World(folder)
    assert texts(again) == ["00", "01", "02", "03", "04", "05"]
    again.close()


# A connection that is given up while its disk fails has nobody to raise to.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("error", ERRORS)
@pytest.mark.parametrize("op", ["write", "sync"])
def test_a_store_that_cannot_be_made_says_so_and_can_be_made_later(
    tmp_path: Path, op: str, error: str
) -> None:
    with faulty.disk() as disk:
        World(tmp_path / "count", vfs=disk.name).close()
        count = disk.counts[op]
    refused = 0
    for nth in range(0, count, 1 if op == "sync" else 9):
        with faulty.disk() as disk:
            folder = tmp_path / f"{nth}"
            disk.fail(op, nth, ERRORS[error])
            try:
                World(folder, vfs=disk.name).close()
            except Unavailable:
                refused += 1
            disk.heal()
            again = World(folder, vfs=disk.name)
            again.group("g_one", ann="peer")
            assert send_plain(again)
            again.assert_rebuilds()
    assert refused


def send_plain(world: World) -> Any:
    return world.say("g_one", "user", "works")


def test_a_read_that_fails_is_unavailable_and_passes(
    template: Path, tmp_path: Path, disk: faulty.Disk
) -> None:
    folder = tmp_path / "data"
    shutil.copytree(template, folder)
    world = World(folder, vfs="unix")
    for number in range(40):
        send(world, number)
    world.close()
    world = World(folder, vfs=disk.name)
    disk.fail("read", 0, apsw.IOError, times=10**9)
    assert not send(world, 50)
    disk.heal()
    assert send(world, 51)
    world.close()
    assert_sound(folder)


def test_exported_lines_are_the_acknowledged_events(
    template: Path, tmp_path: Path, disk: faulty.Disk
) -> None:
    folder = tmp_path / "data"
    shutil.copytree(template, folder)
    world = World(folder, vfs=disk.name)
    disk.fail("sync", 1, apsw.IOError)
    acknowledged = [number for number in range(4) if send(world, number)]
    world.close()
    lines = [decode(raw) for raw in upkeep.export(folder)]
    said = [int(event.data["text"][:2]) for event in lines if event.kind == "chat.message"]
    assert said == acknowledged
    assert [event.seq for event in lines] == list(range(1, len(lines) + 1))
    assert verification.verify(folder, SeededEntropy()).sound
