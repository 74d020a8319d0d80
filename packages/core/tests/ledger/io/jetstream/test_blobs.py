"""Files are in the stream as well: the folder may be lost, and what was taken back leaves the servers."""

from __future__ import annotations

import hashlib
import shutil
from typing import TYPE_CHECKING

import pytest

from tacit.base.errors import Corrupt
from tacit.ledger.commands import AppendTogether, BlobShare, RecordBlob
from tacit.ledger.io.blobs import BLOBS
from tacit.ledger.io.jetstream.blobs import PIECE, BlobStream, pieces_of
from tests.ledger.io.jetstream.servers import new_name, one, opened
from tests.ledger.io.jetstream.test_cache import StreamWorld, proof, records
from tests.ledger.io.jetstream.test_erasing import on_disk, take_back
from tests.ledger.world import refusal, submission

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.ledger.io.jetstream.servers import Server

SECRET = "a-file-with-a-secret"


@pytest.fixture
def alone(tmp_path: Path) -> Iterator[Server]:
    made = one(tmp_path / "server")
    yield made
    made.kill()


@pytest.fixture
def world(tmp_path: Path, alone: Server) -> Iterator[StreamWorld]:
    made = StreamWorld(tmp_path / "data", opened([alone.url], new_name(), 1))
    made.group("g_a", ann="peer")
    made.group("g_b")
    yield made
    made.close()
    made.stream.close()


def attached(world: StreamWorld, path: str, size: int) -> str:
    file = {
        "kind": "file",
        "path": path,
        "title": "a",
        "mime_type": "text/plain",
        "bytes": size,
        "sha256": path,
    }
    return world.say("g_a", "user", "with a file", attachments=[file]).id


@pytest.mark.spec("CCCS-086")
@pytest.mark.parametrize("size", [0, 1, PIECE, 2 * PIECE + 1])
def test_a_blob_outlives_the_folder(world: StreamWorld, size: int) -> None:
    content = bytes(number % 251 for number in range(size))
    path = world.blob("g_a", "user", content)
    assert world.blob("g_a", "ann", content) == path
    attached(world, path, size)
    world.close()
    shutil.rmtree(world.folder)
    world.reopen()
    assert not (world.folder / BLOBS / path[:2]).exists()
    assert world.sees_blob("g_a", "ann", path)
    for _ in range(2):
        with world.store.blobs.open(path) as file:
            assert file.read() == content
    world.assert_rebuilds()


def test_pieces_are_counted_by_size() -> None:
    assert [pieces_of(size) for size in (0, 1, PIECE, PIECE + 1, 2 * PIECE)] == [1, 1, 1, 2, 2]


@pytest.mark.spec("CCCS-086")
def test_no_record_is_taken_of_what_the_stream_does_not_hold(world: StreamWorld) -> None:
    path = world.blob("g_a", "user", b"here")
    BlobStream(world.stream.connection, world.stream.name, 1).remove(path)
    with refusal("invalid_request", "CCCS-086"):
        world.store.execute(RecordBlob("g_b", path, 4, "text/plain", "user"))
    shutil.rmtree(world.folder / BLOBS)
    with pytest.raises(Corrupt, match="not in the stream"):
        world.store.blobs.open(path)
    assert world.blob("g_b", "user", b"here") == path


@pytest.mark.spec("C2A-187")
def test_a_file_that_was_taken_back_leaves_the_servers_with_its_hash(
    world: StreamWorld, alone: Server
) -> None:
    content = SECRET.encode() * 40_000
    path = world.blob("g_a", "user", content)
    assert path == hashlib.sha256(content).hexdigest()
    kept = world.blob("g_a", "user", b"this one stays")
    message = attached(world, path, len(content))
    attached(world, kept, 14)
    assert on_disk(SECRET, alone.folder)
    assert on_disk(path, alone.folder)
    take_back(world, message)
    world.close()
    assert not on_disk(SECRET, alone.folder)
    assert not on_disk(path, alone.folder)
    world.reopen()
    before = (records(world), proof(world.folder))
    world.close()
    shutil.rmtree(world.folder)
    world.reopen()
    assert (records(world), proof(world.folder)) == before
    with world.store.blobs.open(kept) as file:
        assert file.read() == b"this one stays"
    world.assert_rebuilds()


@pytest.mark.spec("CCCS-098", "C2A-187")
def test_what_another_group_was_given_stays_when_the_first_takes_it_back(world: StreamWorld) -> None:
    path = world.blob("g_a", "user", b"shared")
    message = attached(world, path, 6)
    shared = submission("g_b", "user", "chat.message", {"text": "with it"})
    world.store.execute(AppendTogether((shared,), BlobShare("g_a", "g_b", (path,), "user")))
    take_back(world, message)
    world.reopen()
    before = records(world)
    world.close()
    shutil.rmtree(world.folder)
    world.reopen()
    assert records(world) == before
    assert world.sees_blob("g_b", "user", path)
    assert not world.sees_blob("g_a", "user", path)
    with world.store.blobs.open(path) as file:
        assert file.read() == b"shared"
