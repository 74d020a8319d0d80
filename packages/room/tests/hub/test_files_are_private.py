"""Every file that a hub makes is its owner's alone, whatever the folder and the shell would allow."""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING

import pytest

from tacit.base.io.sqlite import connect
from tests.hub.room import running

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture(autouse=True)
def open_hands() -> Iterator[None]:
    """A shell that keeps nothing from anybody."""
    before = os.umask(0)
    yield
    os.umask(before)


def readable_by_others(folder: Path) -> list[str]:
    files = (one for one in folder.rglob("*") if one.is_file())
    return [one.name for one in files if stat.S_IMODE(one.stat().st_mode) & 0o077]


async def test_the_files_of_a_hub_in_an_open_folder_are_for_its_owner(tmp_path: Path) -> None:
    data = tmp_path / "data"
    data.mkdir(mode=0o755)
    async with running(data) as room:
        group = await room.group()
        blob = (await room.call("POST", f"/v1/groups/{group}/blobs", data=b"bytes")).body["path"]
        await room.say(group, "look", attachments=[{"path": blob}])
        assert (data / "ledger.db-wal").exists()
        assert readable_by_others(data) == []
    assert readable_by_others(data) == []


def test_files_that_were_open_before_are_closed_when_they_are_opened(tmp_path: Path) -> None:
    path = tmp_path / "ledger.db"
    first = connect(path)
    first.execute("CREATE TABLE t(x)")
    for one in tmp_path.iterdir():
        one.chmod(0o644)
    second = connect(path)
    assert {one.name for one in tmp_path.iterdir()} >= {"ledger.db", "ledger.db-wal", "ledger.db-shm"}
    assert readable_by_others(tmp_path) == []
    second.close()
    first.close()
