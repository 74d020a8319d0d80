from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import pytest

from tacit.base.errors import Corrupt
from tacit.ledger.io.blobs import BlobFolder
from tests.ledger.world import SeededEntropy

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def blobs(tmp_path: Path) -> BlobFolder:
    made = BlobFolder(tmp_path / "blobs", SeededEntropy())
    made.prepare()
    return made


def put(blobs: BlobFolder, *pieces: bytes) -> str:
    incoming = blobs.incoming()
    for piece in pieces:
        incoming.write(piece)
    return incoming.finish().sha256


@pytest.mark.spec("CCCS-086", "CCCS-087")
def test_a_blob_is_named_by_its_content_and_written_once(blobs: BlobFolder, tmp_path: Path) -> None:
    name = put(blobs, b"some ", b"bytes")
    assert name == hashlib.sha256(b"some bytes").hexdigest()
    before = blobs.place(name).stat().st_mtime_ns
    assert put(blobs, b"some bytes") == name
    assert blobs.place(name).stat().st_mtime_ns == before
    with blobs.open(name) as file:
        assert file.read() == b"some bytes"
    assert blobs.is_sound(name)
    assert list((tmp_path / "blobs").glob("incoming-*")) == []


def test_an_abandoned_or_unfinished_blob_leaves_nothing(blobs: BlobFolder, tmp_path: Path) -> None:
    incoming = blobs.incoming()
    incoming.write(b"x")
    incoming.abandon()
    left = blobs.incoming()
    left.write(b"y")
    left._file.close()
    assert len(list((tmp_path / "blobs").iterdir())) == 1
    BlobFolder(tmp_path / "blobs", SeededEntropy()).prepare()
    assert list((tmp_path / "blobs").iterdir()) == []


@pytest.mark.spec("CCCS-086")
def test_a_blob_is_removed_and_removing_it_once_more_is_nothing(blobs: BlobFolder) -> None:
    name = put(blobs, b"bytes")
    for _again in range(2):
        blobs.remove(name)
        assert not blobs.place(name).exists()
    blobs.remove("0" * 64)


def test_a_blob_that_is_gone_or_changed_is_damage(blobs: BlobFolder) -> None:
    name = put(blobs, b"bytes")
    blobs.place(name).write_bytes(b"other")
    assert not blobs.is_sound(name)
    blobs.place(name).unlink()
    assert not blobs.is_sound(name)
    with pytest.raises(Corrupt) as caught:
        blobs.open(name)
    assert "backup" in caught.value.hint


@pytest.mark.parametrize(
    "name", ["", "..", "../../etc/passwd", "A" * 64, "0" * 63, "0" * 64 + "\n", "/" + "0" * 63]
)
def test_only_a_hash_names_a_place(blobs: BlobFolder, name: str) -> None:
    with pytest.raises(ValueError, match="sha256"):
        blobs.place(name)
