"""What was taken back is in no byte of the folder, the chain holds, and a rebuild finds the same."""

from __future__ import annotations

import os
import signal
import threading
from contextlib import closing
from typing import TYPE_CHECKING, Any

import apsw
import msgspec
import pytest

from tacit.base.errors import Refused
from tacit.base.io.sqlite import connect
from tacit.base.moment import parse_rfc3339
from tacit.ledger.commands import RecordBlob
from tacit.ledger.envelope import GONE, SALT_BYTES, decode, digest, parts, redacted
from tacit.ledger.io import backup, erasure, upkeep, verification
from tacit.ledger.io.store import DATABASE
from tests.ledger.older import before_salts
from tests.ledger.world import World

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from tacit.ledger.envelope import Event

WORD, FILE = "xylographquartz", b"a file that zymurgyfjord alone holds"
MARKS = (WORD.encode(), b"zymurgyfjord", b"xylographq")
DM: dict[str, Any] = {"conversation": {"kind": "dm"}}


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    made = World(tmp_path / "data")
    made.group("g_one", ann="peer", bob="peer")
    made.group("g_two", ann="peer")
    for number in range(40):
        made.say("g_one" if number % 3 else "g_two", "user", f"xylo number {number} " * (number % 7 + 1))
    yield made
    made.close()


def said(world: World) -> tuple[Event, str]:
    """A message with a file, edited twice, a private one, and one that stays."""
    path = world.blob("g_one", "ann", FILE)
    event = world.say("g_one", "ann", f"the {WORD} at noon", attachments=[{"path": path}], client_id="k")
    first = world.do("g_one", "system", "x.c2a.edit", supersedes=event.id, text=f"{WORD} at one", by="ann")
    world.do(
        "g_one", "system", "x.c2a.edit", supersedes=first.id, original=event.id, text=f"{WORD} two", by="ann"
    )
    world.say("g_one", "bob", "what is that?", reply_to=event.id)
    return event, path


def take_back(world: World, event: Event, by: str = "ann") -> Event:
    return world.do("g_one", "system", "x.c2a.delete", event_id=event.id, by=by)


def settled(world: World, left: str = "SELECT 1 FROM erasures") -> None:
    """Wait until nothing is left to erase."""
    done = threading.Event()
    for _ in range(6000):
        with closing(connect(world.folder / DATABASE, readonly=True)) as connection:
            if connection.execute(f"{left} LIMIT 1").fetchone() is None:
                return
        done.wait(0.01)
    raise AssertionError("still pending")


def holding(folder: Path) -> list[str]:
    """The files in which any of the marks stands."""
    files = [path for path in folder.rglob("*") if path.is_file()]
    return [path.name for path in files if any(mark in path.read_bytes() for mark in MARKS)]


def at(world: World, event: Event) -> Event:
    return next(one for one in world.events(event.group_id) if one.id == event.id)


@pytest.mark.spec("C2A-187")
def test_a_message_that_was_taken_back_is_in_no_byte_of_the_folder(world: World) -> None:
    event, path = said(world)
    assert DATABASE + "-wal" in holding(world.folder)
    assert path in holding(world.folder)
    quarantine = world.folder / "quarantine"
    quarantine.mkdir()
    (quarantine / "torn-2026.wal").write_bytes(b"page " + MARKS[0])
    record = take_back(world, event)
    settled(world)
    assert holding(world.folder) == []
    left = at(world, event)
    assert left.redacted is not None
    assert (left.redacted.by, left.redacted.at) == ("ann", record.ts)
    assert (left.id, left.ts, left.by, left.seq) == (event.id, event.ts, "ann", event.seq)
    assert left.data == {"client_id": "k", "text": "", "deleted": True}
    assert not world.sees_blob("g_one", "ann", path)
    assert world.store.read(lambda reader: reader.search(world.state("g_one"), "user", WORD[:4], 50))
    assert not world.store.read(lambda reader: reader.search(world.state("g_one"), "user", WORD[:8], 50))
    repeated = world.try_("g_one", "ann", "chat.message", text=f"the {WORD} at noon", client_id="k")
    assert type(repeated).__name__ == "Duplicate"
    world.assert_rebuilds()
    report = verification.verify(world.folder, world.entropy)
    assert (report.sound, report.redacted) == (True, 3)
    assert holding(world.folder) == []


@pytest.mark.spec("C2A-187")
def test_the_ids_of_a_message_in_clowl_go_with_it(world: World) -> None:
    def known() -> list[object]:
        with closing(connect(world.folder / DATABASE, readonly=True)) as connection:
            return connection.execute("SELECT mid FROM speech ORDER BY mid").fetchall()

    for mid in ("m1", "m2"):
        event = world.say("g_one", "ann", "spoken", clowl={"mid": mid, "tid": "t", "p": "INF"})
    assert known() == [("m1",), ("m2",)]
    take_back(world, event)
    assert known() == [("m1",)]
    world.assert_rebuilds()


def test_private_words_and_files_that_others_have_too(world: World) -> None:
    shared = world.blob("g_one", "ann", FILE)
    event = world.say("g_one", "ann", WORD, to=["bob"], attachments=[{"path": shared}], **DM)
    world.blob("g_one", "bob", FILE)
    world.blob("g_two", "ann", FILE)
    take_back(world, event)
    settled(world)
    assert holding(world.folder) == [shared]
    assert not world.sees_blob("g_one", "ann", shared)
    assert world.sees_blob("g_one", "bob", shared)
    assert world.sees_blob("g_two", "ann", shared)
    world.assert_rebuilds()


def test_a_file_that_came_again_while_it_went_stays(world: World) -> None:
    path = world.blob("g_one", "ann", FILE)
    event = world.say("g_one", "ann", "look", attachments=[{"path": path}])
    take_back(world, event)
    settled(world)
    assert not world.store.blobs.place(path).exists()
    assert world.blob("g_one", "ann", FILE) == path
    world.say("g_one", "ann", "again", attachments=[{"path": path}])
    take_back(world, world.say("g_one", "ann", "once more", attachments=[{"path": path}]))
    settled(world)
    assert world.store.blobs.is_sound(path)
    world.assert_rebuilds()


def test_a_blob_whose_bytes_have_gone_is_not_recorded(world: World) -> None:
    incoming = world.store.blobs.incoming()
    incoming.write(FILE)
    stored = incoming.finish()
    world.store.blobs.remove(stored.sha256)
    with pytest.raises(Refused, match="send it again"):
        world.store.execute(RecordBlob("g_one", stored.sha256, stored.size, "text/plain", "ann"))


def test_a_batch_that_says_and_takes_back_keeps_nothing(world: World) -> None:
    event = world.say("g_one", "ann", WORD)
    take_back(world, event)
    assert at(world, event).redacted is not None
    take_back(world, event, "user")
    assert at(world, event).redacted is not None
    settled(world)
    assert holding(world.folder) == []
    world.assert_rebuilds()


def test_what_is_left_confirms_no_guess_unless_it_is_from_before_salts() -> None:
    raw = b'{"v":1,"id":"i","ts":"t","seq":1,"kind":"chat.message","group_id":"g","scope_key":"","by":"b","data":{"text":"yes"}}'
    one, other = b"1" * SALT_BYTES, b"2" * SALT_BYTES
    assert digest(raw, one) != digest(raw, other)
    left = redacted(raw, one, "b", "later")
    assert digest(left, GONE) == digest(raw, one)
    assert parts(left)[0] == parts(raw)[0]
    says = decode(left).redacted
    assert says is not None
    # Without the salt no hash over anything that is known gives what stays.
    assert says.salted
    assert bytes.fromhex(says.hash) not in {digest(raw, None), digest(raw, b"\0" * SALT_BYTES)}
    assert one not in left
    assert redacted(left, GONE, "another", "still later") == left
    old = decode(redacted(raw, None, "b", "later")).redacted
    assert old is not None
    assert not old.salted
    assert bytes.fromhex(old.hash) == digest(raw, None) == digest(redacted(raw, None, "b", "later"), GONE)
    assert digest(raw, GONE) == digest(raw, None)
    assert digest(raw[:-20], GONE)


def test_content_that_is_gone_without_a_record_is_named(world: World) -> None:
    event, _path = said(world)
    world.close()
    with closing(connect(world.folder / DATABASE)) as connection:
        ((raw, salt),) = connection.execute(
            "SELECT raw, salt FROM events WHERE pos=?", (1 << 40 | event.seq,)
        ).fetchall()
        connection.execute("INSERT INTO erasures(pos) VALUES(?)", (1 << 40 | event.seq,))
        forged = redacted(raw, salt, "ann", event.ts)
        connection.execute("UPDATE events SET raw=?, salt=x'' WHERE pos=?", (forged, 1 << 40 | event.seq))
    problems = verification.verify(world.folder, world.entropy).problems
    assert f"group g_one event {event.seq}: its content is gone, nobody took it back" in problems


@pytest.mark.spec("CCCS-002")
def test_an_event_on_the_list_may_lose_its_content_once_and_nothing_else(world: World) -> None:
    event, _path = said(world)
    connection = world.store.writer.model.connection
    connection.execute("BEGIN; INSERT INTO erasures(pos) VALUES(?)", (1 << 40 | event.seq,))
    for change in (
        "raw=x'00'",
        "raw=x'00', salt=x'', chain=x'00'",
        "kind=kind+1, salt=x''",
        "id=x'00', salt=x''",
    ):
        with pytest.raises(apsw.ConstraintError, match="events never change"):
            connection.execute(f"UPDATE events SET {change} WHERE pos=?", (1 << 40 | event.seq,))
    connection.execute("UPDATE events SET raw=x'00', salt=x'' WHERE pos=?", (1 << 40 | event.seq,))
    with pytest.raises(apsw.ConstraintError, match="events never change"):
        connection.execute("UPDATE events SET raw=x'01', salt=x'' WHERE pos=?", (1 << 40 | event.seq,))
    connection.execute("ROLLBACK")


def test_an_older_ledger_is_brought_forward_and_what_it_deletes_goes(world: World) -> None:
    event, _path = said(world)
    world.close()
    before_salts(world.folder / DATABASE)
    old = set(upkeep.export(world.folder))
    world.reopen()
    assert set(upkeep.export(world.folder)) == old
    take_back(world, event)
    settled(world)
    assert holding(world.folder) == []
    left = at(world, event).redacted
    assert left is not None
    assert not left.salted
    world.assert_rebuilds()


def test_export_import_backup_and_restore_keep_it(world: World, tmp_path: Path) -> None:
    event, _path = said(world)
    world.say("g_one", "ann", "this stays")
    take_back(world, event)
    settled(world)
    told = list(upkeep.export(world.folder, proof=True))
    found = upkeep.bring_in(tmp_path / "new", told, world.clock, world.entropy)
    assert found.proved
    assert list(upkeep.export(tmp_path / "new", proof=True)) == told
    report = verification.verify(tmp_path / "new", world.entropy)
    assert (report.sound, report.redacted) == (True, 3)
    upkeep.bring_in(tmp_path / "plain", upkeep.export(world.folder), world.clock, world.entropy)
    assert verification.verify(tmp_path / "plain", world.entropy).redacted == 3
    with (tmp_path / "kept").open("wb") as out:
        backup.write(world.folder, out, tmp_path, "now", world.entropy)
    with (tmp_path / "kept").open("rb") as source:
        backup.restore(source, tmp_path / "back", world.entropy)
    report = verification.verify(tmp_path / "back", world.entropy)
    assert (report.sound, report.redacted) == (True, 3)
    assert holding(tmp_path) == []


# -- kills


def dies_at(step: str, event: Event) -> Callable[[World], None]:
    """A process of its own that is killed where `step` says, in the middle of taking a message back."""

    def go(world: World) -> None:
        def die(*_args: object) -> None:
            os.kill(os.getpid(), signal.SIGKILL)

        if step == "transaction":
            world.store.writer.model.drop = die
        elif step == "commit":
            world.store.writer.on_erasure = die
        elif step == "files":
            erasure._remove_files = die
        elif step == "log":
            kept = erasure._remove_files

            def then_die(*args: Any) -> None:
                kept(*args)
                die()

            erasure._remove_files = then_die
        take_back(world, event)
        settled(world)
        die()

    return go


@pytest.mark.parametrize("step", ["transaction", "commit", "files", "log", "end"])
def test_a_kill_at_any_step_is_finished_by_the_next_start(world: World, step: str) -> None:
    event, _path = said(world)
    world.close()
    child = os.fork()
    if child == 0:
        try:
            dies_at(step, event)(World(world.folder))
        finally:
            os._exit(3)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL
    world.reopen()
    if step == "transaction":
        # Nobody was answered: the message is as it was, and is taken back now.
        assert at(world, event).redacted is None
        take_back(world, event)
        settled(world)
    assert holding(world.folder) == []
    assert at(world, event).redacted is not None
    world.assert_rebuilds()


@pytest.mark.spec("C2A-187")
def test_a_reader_that_stays_delays_the_end_and_does_not_prevent_it(world: World) -> None:
    event, _path = said(world)
    with closing(connect(world.folder / DATABASE, readonly=True)) as reader:
        reader.execute("BEGIN")
        assert reader.execute("SELECT count(*) FROM events").get
        taken = take_back(world, event)
        world.say("g_one", "ann", "life goes on")
        with closing(connect(world.folder / DATABASE, readonly=True)) as other:
            assert erasure.is_pending(other)
            # The message and its two edits; since when is what the redacted message says.
            waiting = erasure.pending(other)
            assert (waiting.events, waiting.since) == (3, parse_rfc3339(taken.ts))
        # The file goes at once and once: whoever brings the same bytes again meanwhile keeps them.
        settled(world, "SELECT 1 FROM erasures WHERE sha256 IS NOT NULL")
        reader.execute("ROLLBACK")
    settled(world)
    with closing(connect(world.folder / DATABASE, readonly=True)) as other:
        assert erasure.pending(other) == (0, None)
    assert holding(world.folder) == []
    assert msgspec.json.decode(world.page("g_one")[-1].raw)["data"]["text"] == "life goes on"
