"""A damaged page of the read model at a hub's doors: refused by name with the way out, the rest is served."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

import apsw
import pytest
from tests.hub.room import running

from tacit.base.errors import Corrupt
from tacit.hub.writer_codec import Failure
from tacit.ledger.io.derived import REBUILD
from tacit.ledger.io.store import DATABASE

if TYPE_CHECKING:
    from pathlib import Path

PAGE = 4096


def hurt(folder: Path, table: str) -> None:
    """A bit of every leaf page of a table."""
    path = folder / DATABASE
    with closing(apsw.Connection(str(path))) as connection:
        pages = connection.execute(
            "SELECT pageno FROM dbstat WHERE name=? AND pagetype='leaf'", (table,)
        ).fetchall()
    data = bytearray(path.read_bytes())
    for (page,) in pages:
        data[(page - 1) * PAGE + PAGE // 2] ^= 0x10
    path.write_bytes(data)


@pytest.mark.parametrize("readers", [0, 1], ids=["threads", "processes"])
async def test_a_search_without_its_index_is_refused_by_name_and_all_else_is_served(
    tmp_path: Path, readers: int
) -> None:
    data = tmp_path / "data"
    async with running(data, readers=readers) as room:
        group = await room.group()
        for number in range(40):
            await room.say(group, f"lorem ipsum {number}")
    hurt(data, "search_data")
    async with running(data, readers=readers) as room:
        refused = await room.get(f"/v1/groups/{group}/search", params={"q": "lorem"})
        assert (refused.status, refused.code) == (503, "daemon_unavailable")
        assert refused.body["details"] == {"reason": "damaged", "damaged": ["search"], "hint": REBUILD}
        async with room.socket() as socket:
            for operation in ("timeline", "traces", "conversations", "group", "inbox", "events"):
                more = {"actor_id": "user"} if operation == "inbox" else {}
                await socket.call(operation, group_id=group, **more)


def test_what_is_damaged_is_named_across_processes_too() -> None:
    error = Failure.of(Corrupt("m", hint="h", damaged=("search", "lanes"))).error()
    assert isinstance(error, Corrupt)
    assert (error.message, error.hint, error.damaged) == ("m", "h", ("search", "lanes"))
