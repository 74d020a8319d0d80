"""A damaged page of the read model at a hub's doors: refused by name with the way out, the rest is served."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

import apsw
import pytest

from tacit.base.errors import Corrupt
from tacit.base.io.sqlite import connect
from tacit.cli import show
from tacit.hub.writer.codec import WriterFailure
from tacit.ledger.io.derived import REBUILD
from tacit.ledger.io.store import DATABASE
from tests.hub.room import running

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


def spoil(folder: Path, seq: int) -> None:
    """The text of one event is no longer what was written."""
    with closing(connect(folder / DATABASE)) as connection:
        connection.execute("DROP TRIGGER events_stay")
        connection.execute("UPDATE events SET raw=x'00' WHERE pos&0xffffffffff=?", (seq,))


@pytest.mark.parametrize("readers", [0, 1], ids=["threads", "processes"])
async def test_an_event_that_cannot_be_read_is_left_out_and_named_wherever_it_would_be(
    tmp_path: Path, readers: int
) -> None:
    data = tmp_path / "data"
    async with running(data, readers=readers) as room:
        group = await room.group()
        await room.actor(group, "ann")
        first, *_ = [await room.say(group, f"lorem ipsum {number}") for number in range(3)]
        lost = first["seq"] + 1
    spoil(data, lost)
    async with running(data, readers=readers) as room, room.socket() as socket:
        for operation, more in (
            ("inbox", {"actor_id": "ann"}),
            ("search", {"q": "lorem"}),
            ("window", {}),
            ("timeline", {}),
            ("events", {}),
        ):
            answer = await socket.call(operation, group_id=group, **more)
            assert (operation, answer.get("damaged")) == (operation, [lost])
        assert [one["seq"] for one in (await socket.call("search", group_id=group, q="lorem"))["events"]] == [
            first["seq"] + 2,
            first["seq"],
        ]
        unhurt = await socket.call("search", group_id=group, q="2")
        assert "damaged" not in unhurt


def test_the_terminal_says_how_many_events_could_not_be_read(capsys: pytest.CaptureFixture[str]) -> None:
    show.say_damaged(())
    show.say_damaged((4,))
    show.say_damaged((4, 7))
    assert capsys.readouterr().err.splitlines() == [
        "1 event is damaged and cannot be shown: #4. Run `tacit ledger verify`.",
        "2 events are damaged and cannot be shown: #4, #7. Run `tacit ledger verify`.",
    ]


def test_what_is_damaged_is_named_across_processes_too() -> None:
    error = WriterFailure.of(Corrupt("m", hint="h", damaged=("search", "lanes"))).error()
    assert isinstance(error, Corrupt)
    assert (error.message, error.hint, error.damaged) == ("m", "h", ("search", "lanes"))
