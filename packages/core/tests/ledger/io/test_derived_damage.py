"""Damage in what is derived from the events is named, hurts nothing else, and a rebuild mends it."""

from __future__ import annotations

import shutil
from contextlib import closing
from typing import TYPE_CHECKING, Any

import apsw
import pytest

from tacit.base.errors import Corrupt, TacitError
from tacit.base.io.sqlite import connect
from tacit.base.io.system import SystemEntropy
from tacit.base.io.time_service import TimeService
from tacit.ledger.admission import AdmissionSettings
from tacit.ledger.cursor import selection
from tacit.ledger.io import derived, timeline, upkeep, verification
from tacit.ledger.io.schema import PROJECTIONS
from tacit.ledger.io.store import DATABASE, Store
from tests.ledger.world import SeededEntropy, World

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tacit.ledger.io.reader import Reader

PAGE = 4096
WORDS = "lorem ipsum dolor sit amet "


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A closed folder with a row in every list: threads, traces, private talk, duties, marks."""
    world = World(tmp_path_factory.mktemp("sound") / "data")
    world.group("g_one", ann="peer", bob="peer")
    first = world.say("g_one", "user", "the first of a thread")
    for number in range(60):
        said = world.say("g_one", "user", f"message {number} {WORDS}" * 4)
        world.say("g_one", "ann", f"reply {number} {WORDS}", reply_to=first.id)
        spoken = {"mid": f"m{number}", "tid": "one-trace", "p": "INF"}
        world.say("g_one", "ann", f"spoken {number} {WORDS}", clowl=spoken)
        world.say("g_one", "ann", f"private {number} {WORDS}", to=["bob"])
        world.say("g_one", "user", f"please {number}", to=["bob"], priority="attention")
        world.do("g_one", "bob", "chat.reaction", event_id=said.id, actor_id="bob", emoji="ok")
    world.close()
    return world.folder


@pytest.fixture
def folder(sound: Path, tmp_path: Path) -> Path:
    shutil.copytree(sound, tmp_path / "data")
    return tmp_path / "data"


def pages_of(folder: Path, name: str) -> list[int]:
    """The leaf pages of a table or an index, the first of them last: it is what most reads need."""
    with closing(apsw.Connection(str(folder / DATABASE))) as connection:
        rows = connection.execute(
            "SELECT pageno FROM dbstat WHERE name=? AND pagetype='leaf' ORDER BY path", (name,)
        ).fetchall()
    return [row[0] for row in rows]


def hurt(folder: Path, *pages: int) -> None:
    path = folder / DATABASE
    data = bytearray(path.read_bytes())
    for page in pages:
        at = (page - 1) * PAGE + PAGE // 2
        data[at] ^= 0x10
    path.write_bytes(data)


def hurt_event(folder: Path, text: bytes) -> None:
    """One bit of one event's text; its page is damaged, the others on it are not."""
    path = folder / DATABASE
    data = bytearray(path.read_bytes())
    data[data.index(text) + 2] ^= 0x10
    path.write_bytes(data)


READS: dict[str, Callable[[Reader, Any], Any]] = {
    "page": lambda reader, group: reader.page(group, "bob", selection(limit=500)).events,
    "search": lambda reader, group: reader.search(group, "bob", "lorem", 500),
    "thread": lambda reader, group: reader.thread(group, "bob", _first(reader, group), 500),
    "trace": lambda reader, group: reader.trace(group, "bob", "one-trace", 500),
    "traces": lambda reader, group: timeline.traces(reader, group, "bob", 50),
    "inbox": lambda reader, group: [
        *reader.inbox(group, "bob", 500).unread, *reader.inbox(group, "bob", 500).attention
    ],
    "window": lambda reader, group: reader.window(group, "bob", 1 << 30, 500),
    "privates": lambda reader, group: timeline.privates(reader, group, "bob"),
}  # fmt: skip


def _first(reader: Reader, group: Any) -> str:
    return next(
        event.event_id
        for seq in range(1, 10)
        if (event := reader.at(group, seq)) is not None and event.kind == "chat.message"
    )


def answers(folder: Path) -> dict[str, Any]:
    """What each read finds: how many, or what it was refused with."""
    store, found = Store(folder), dict[str, Any]()
    try:
        for name, read in READS.items():
            try:
                found[name] = len(store.read(lambda reader, read=read: read(reader, reader.group("g_one"))))
            except TacitError as error:
                found[name] = error
    finally:
        store.close()
    return found


def rebuilt(folder: Path) -> None:
    upkeep.rebuild(folder, TimeService(), SystemEntropy(), AdmissionSettings())


NEEDED = {
    "search_data": ("search", {"search"}),
    "speech_trace": ("speech", {"trace", "traces"}),
    "threads": ("threads", {"thread"}),
    "lanes": ("lanes", {"inbox"}),
    "duties": ("duties", {"inbox"}),
}
"""By where the damage is: how it is named, and which reads cannot do without."""


@pytest.mark.parametrize("table", NEEDED)
def test_damage_is_named_with_its_remedy_and_whatever_does_not_need_it_is_served(
    folder: Path, table: str
) -> None:
    before, events = answers(folder), list(upkeep.export(folder))
    hurt(folder, *pages_of(folder, table))
    after = answers(folder)
    name, needed = NEEDED[table]
    for read in READS:
        if read in needed:
            refused = after[read]
            assert isinstance(refused, Corrupt), (read, refused)
            assert refused.damaged == (name,)
            assert refused.hint == derived.REBUILD
        else:
            assert after[read] == before[read], read
    named = [line for line in verification.verify(folder, SeededEntropy()).problems if "page" in line]
    assert named
    assert all(f"of {table} is damaged; `tacit ledger rebuild` mends it" in line for line in named)
    rebuilt(folder)
    assert answers(folder) == before
    assert list(upkeep.export(folder)) == events
    assert verification.verify(folder, SeededEntropy()).problems == []


@pytest.mark.parametrize("index", derived.INDEXES)
def test_an_index_of_the_events_is_made_anew_by_a_rebuild(folder: Path, index: str) -> None:
    before = answers(folder)
    hurt(folder, *pages_of(folder, index))
    with closing(connect(folder / DATABASE, readonly=True)) as connection:
        assert derived.damaged(connection) == (index,)
    assert answers(folder)["search"] == before["search"]
    rebuilt(folder)
    assert answers(folder) == before
    assert verification.verify(folder, SeededEntropy()).problems == []


def test_around_a_damaged_event_every_list_shows_the_rest(folder: Path) -> None:
    before = answers(folder)
    hurt_event(folder, b"reply 30 lorem")
    hurt_event(folder, b"spoken 30 lorem")
    hurt_event(folder, b"spoken 0 lorem")
    hurt_event(folder, b"private 30 lorem")
    hurt_event(folder, b"please 30")
    after = answers(folder)
    assert {name: before[name] - after[name] for name in READS} == {
        "page": 5,
        "search": 4,
        "thread": 1,
        "trace": 2,
        # The first of the trace is lost, and what its line would show with it.
        "traces": 1,
        "inbox": 6,
        "window": 5,
        "privates": 0,
    }
    # No rebuild brings back what only the journal held; it says so and changes nothing.
    data = (folder / DATABASE).read_bytes()
    with pytest.raises(Corrupt, match="the ledger's file is damaged"):
        rebuilt(folder)
    assert (folder / DATABASE).read_bytes() == data
    assert sorted(path.name for path in folder.iterdir() if path.name.startswith(DATABASE)) == [DATABASE]


def test_a_rebuild_in_a_new_file_keeps_what_is_no_projection(folder: Path) -> None:
    with closing(connect(folder / DATABASE, overwrites=True)) as connection:
        connection.execute("INSERT INTO facts VALUES('kept', 'yes')")
        connection.execute("CREATE TABLE beside(name TEXT PRIMARY KEY, value BLOB)")
        connection.execute("INSERT INTO beside VALUES('one', x'00ff')")
    hurt(folder, *pages_of(folder, "search_data"))
    mode = (folder / DATABASE).stat().st_mode
    rebuilt(folder)
    with closing(connect(folder / DATABASE, readonly=True)) as connection:
        assert connection.execute("SELECT value FROM facts WHERE name='kept'").get == "yes"
        assert connection.execute("SELECT * FROM beside").fetchall() == [("one", b"\x00\xff")]
        assert derived.damaged(connection) == ()
        assert connection.execute("PRAGMA integrity_check").get == "ok"
    assert (folder / DATABASE).stat().st_mode == mode
    world = World(folder)
    world.say("g_one", "user", "life goes on")
    world.assert_rebuilds()
    world.close()


def test_every_table_of_the_read_model_is_looked_at(folder: Path) -> None:
    with closing(connect(folder / DATABASE, readonly=True)) as connection:
        assert derived.damaged(connection) == ()
    for table in PROJECTIONS:
        pages = pages_of(folder, table)
        whole = (folder / DATABASE).read_bytes()
        hurt(folder, pages[0])
        with closing(connect(folder / DATABASE, readonly=True)) as connection:
            assert derived.damaged(connection) == (table,)
        (folder / DATABASE).write_bytes(whole)
