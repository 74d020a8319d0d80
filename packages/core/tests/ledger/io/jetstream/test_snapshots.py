"""A node that joins begins from a snapshot, and has what a rebuild from the stream would give it."""

from __future__ import annotations

import shutil
import zlib
from contextlib import closing, suppress
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from tacit.attention.io.engine import AttentionEngine
from tacit.base.errors import Unavailable
from tacit.base.io.sqlite import connect
from tacit.ledger import snapshots as rules
from tacit.ledger.commands import Append, Committed, Ping
from tacit.ledger.io import upkeep
from tacit.ledger.io.jetstream.cache import open_cache
from tacit.ledger.io.jetstream.snapshots import (
    ARRIVING,
    COPYING,
    LedgerSnapshots,
    SnapshotRounds,
    _end_on,
)
from tacit.ledger.io.jetstream.stream import JetStream
from tacit.ledger.io.store import DATABASE, Store, StoreOptions
from tacit.ledger.shipment import INSTEAD
from tacit.ledger.snapshots import SnapshotList
from tests.ledger.io.jetstream.servers import new_name, opened
from tests.ledger.io.jetstream.test_cache import keep_records, proof, records
from tests.ledger.io.jetstream.test_erasing import alone  # noqa: F401
from tests.ledger.io.jetstream.test_lease import Machine, create, last, say
from tests.ledger.io.jetstream.test_traps import until
from tests.ledger.world import World, submission

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tacit.ledger.snapshots import LedgerSnapshot
    from tests.ledger.io.jetstream.servers import Server

SECRET = "a-very-secret-word"


class SnapshotWorld(World):
    """A ledger on a stream, with snapshots; `read` is what each opening read from the stream."""

    def __init__(self, folder: Path, stream: JetStream) -> None:
        self.stream = stream
        self.read: list[range] = []
        super().__init__(folder)

    def _open(self) -> Store:
        options = StoreOptions(clock=self.clock, entropy=self.entropy, purpose="a test")
        self.snapshots = LedgerSnapshots(self.stream, self.entropy)
        real = self.stream.read

        def watched(after: int, upto: int) -> Any:
            self.read.append(range(after, upto))
            return real(after, upto)

        self.stream.read = watched  # type: ignore[method-assign]
        try:
            store = open_cache(self.folder, options, self.stream, AttentionEngine, snapshots=self.snapshots)
        finally:
            self.stream.read = real  # type: ignore[method-assign]
        store.start()
        return store

    def keep(self) -> LedgerSnapshot:
        assert self.snapshots.keep(self.store.path)
        kept = self.snapshots.newest()
        assert kept is not None
        return kept

    def assert_rebuilds(self) -> None:
        self.close()
        before = upkeep.fingerprint(self.folder)
        upkeep.rebuild(self.folder, self.clock, self.entropy, self.settings, AttentionEngine)
        assert upkeep.fingerprint(self.folder) == before

    def lose_folder(self) -> None:
        self.close()
        shutil.rmtree(self.folder)
        self.reopen()


@pytest.fixture
def stream(server: Server) -> Iterator[JetStream]:
    made = opened([server.url], new_name(), 1)
    yield made
    made.close()


def filled(made: SnapshotWorld) -> SnapshotWorld:
    for name in ("g_a", "g b.c"):
        made.group(name, ann="peer", bob="peer")
    first = made.say("g_a", "user", SECRET, to=["ann"], priority="attention")
    made.say("g b.c", "bob", "hello")
    made.do("g_a", "system", "x.c2a.delete", event_id=first.id, by="user")
    keep_records(made)
    return made


@pytest.fixture
def world(tmp_path: Path, stream: JetStream) -> Iterator[SnapshotWorld]:
    made = filled(SnapshotWorld(tmp_path / "data", stream))
    until(lambda: not pending(made))
    made.store.writer.catch_up()
    yield made
    made.close()


def test_a_node_that_joins_from_a_snapshot_has_what_a_rebuild_gives(
    world: SnapshotWorld, tmp_path: Path, stream: JetStream
) -> None:
    world.store.execute(Ping(writes=True))
    kept = world.keep()
    last = world.say("g_a", "ann", "since then", client_id="k")
    before = records(world)
    world.read.clear()
    world.lose_folder()
    assert records(world) == before
    assert world.read == [range(kept.sequence, stream.end())], "what is behind it, and no more"
    assert last.seq == world.store.read(lambda reader: reader.group("g_a").last_seq)
    facts = world.store.read(
        lambda reader: reader.connection.execute("SELECT name FROM facts ORDER BY 1").fetchall()
    )
    assert ("written",) not in facts, "what was tried on another machine is not known of this one"
    rebuilt = open_cache(tmp_path / "rebuilt", StoreOptions(purpose="a test"), stream, AttentionEngine)
    rebuilt.close()
    world.close()
    assert proof(world.folder) == proof(tmp_path / "rebuilt")
    assert upkeep.fingerprint(world.folder) == upkeep.fingerprint(tmp_path / "rebuilt")
    world.reopen()
    assert world.say("g_a", "ann", "and on").seq == last.seq + 1
    world.assert_rebuilds()


SPOILT = [
    "other bytes",
    "wrong hash",
    "longer than it says",
    "shorter than it says",
    "no compression",
    "another stream",
    "beyond the end",
    "another message",
    "another sequence",
    "other ends",
    "newer form",
    "newer folds",
    "piece lost",
]


def spoilt(
    how: str, one: LedgerSnapshot, world: SnapshotWorld, monkeypatch: pytest.MonkeyPatch
) -> SnapshotList:
    """What is listed instead of a snapshot that is well."""
    change = msgspec.structs.replace
    kept = world.snapshots._kept
    match how:
        case "piece lost":
            kept.overwrite(one.name)
        case "other bytes":
            count, sha256 = kept.put("other", [zlib.compress(b"x" * one.size)])
            one = change(one, name="other", pieces=count, sha256=sha256)
        case "wrong hash":
            one = change(one, sha256="0" * 64)
        case "longer than it says":
            one = change(one, size=one.size - 1)
        case "shorter than it says":
            one = change(one, size=one.size + 1)
        case "no compression":
            count, sha256 = kept.put("plain", [b"plain"])
            one = change(one, name="plain", pieces=count, sha256=sha256)
        case "another stream":
            one = change(one, stream="1999-01-01T00:00:00Z")
        case "beyond the end":
            one = change(one, sequence=one.sequence + 1000)
        case "another message":
            one = change(one, message="0" * 64)
        case "another sequence":
            before = world.stream.get(one.sequence - 1)
            one = change(one, sequence=one.sequence - 1, message=rules.mark_of(before))
        case "other ends":
            one = change(one, ends="0" * 64)
        case "newer form":
            one = change(one, form=rules.form_of(99, "9.9"))
        case "newer folds":
            monkeypatch.setattr(AttentionEngine, "version", AttentionEngine.version + 1)
        case _:
            raise AssertionError(how)
    return SnapshotList(0, (one,))


def test_a_snapshot_that_is_not_what_it_should_be_is_declined_without_loss(
    world: SnapshotWorld, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = world.keep()

    def list_instead(listed: SnapshotList) -> None:
        world.snapshots._kept.put_head(msgspec.json.encode(listed), world.snapshots.listed()[1])

    assert world.snapshots.join(tmp_path / "well", AttentionEngine, StoreOptions().locked)
    for how in SPOILT:
        with monkeypatch.context() as patched:
            list_instead(spoilt(how, one, world, patched))
            assert not world.snapshots.join(tmp_path / how, AttentionEngine, StoreOptions().locked), how
        assert not [*(tmp_path / how).glob(f"{DATABASE}*")], how
    list_instead(SnapshotList(0, (msgspec.structs.replace(one, sha256="0" * 64),)))
    world.read.clear()
    world.lose_folder()
    assert [found.start for found in world.read] == [0], "the stream from its beginning"
    assert world.say("g_a", "ann", "and on").seq
    world.assert_rebuilds()


def test_a_list_that_a_newer_program_wrote_is_left_alone(world: SnapshotWorld) -> None:
    world.keep()
    _, guard = world.snapshots.listed()
    world.snapshots._kept.put_head(b'{"kept": 7}', guard)
    assert world.snapshots.newest() is None
    assert not world.snapshots.keep(world.store.path)
    world.lose_folder()
    assert world.read[-1].start == 0


def test_a_ledger_that_a_snapshot_leads_astray_is_made_from_the_stream(world: SnapshotWorld) -> None:
    """All its signs are right, and what it holds is not what the stream has."""
    with closing(opened([*world.stream.connection._access.servers], world.stream.name, 1)) as second:
        other = SnapshotWorld(world.folder.with_name("other"), second)
        path = world.store.path
        world.close()
        with closing(connect(path)) as connection:
            connection.execute("DROP TRIGGER events_stay")
            connection.execute("UPDATE events SET chain=x'00' WHERE pos=(SELECT max(pos) FROM events)")
            connection.execute("UPDATE groups SET chain=x'00' WHERE number=(SELECT max(pos) FROM events)>>40")
            [(group,)] = connection.execute("SELECT group_id FROM groups WHERE chain=x'00'").fetchall()
        assert world.snapshots.keep(path)
        other.say(str(group), "user", "on, from what the stream has")
        other.close()
    path.unlink()
    world.read.clear()
    world.reopen()
    assert [one.start > 0 for one in world.read] == [True, False]
    world.assert_rebuilds()


def test_a_cache_that_lacks_more_than_half_begins_anew_and_another_goes_on(
    world: SnapshotWorld, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rules, "FEWEST_MESSAGES", 1)
    world.close()
    shutil.copytree(world.folder, yesterday := tmp_path / "yesterday")
    world.reopen()
    seen = world.stream.end()
    for number in range(seen + 3):
        world.say("g_a", "user", f"{number}")
    kept = world.keep()
    world.close()
    for behind, begins in (("of yesterday", kept.sequence), ("of now", kept.sequence)):
        if behind == "of yesterday":
            shutil.rmtree(world.folder)
            shutil.copytree(yesterday, world.folder)
        world.read.clear()
        world.reopen()
        assert {one.start for one in world.read} <= {begins}
        world.assert_rebuilds()
        world.close()


def test_a_folder_of_its_own_is_never_replaced(world: SnapshotWorld, tmp_path: Path) -> None:
    world.keep()
    own = World(tmp_path / "own")
    own.group("g_own")
    own.close()
    before = (own.folder / DATABASE).read_bytes()
    assert not world.snapshots.join(own.folder, AttentionEngine, StoreOptions().locked)
    assert (own.folder / DATABASE).read_bytes() == before


def test_two_are_kept_and_what_no_list_names_is_swept(world: SnapshotWorld) -> None:
    made: list[str] = []
    for number in range(3):
        world.say("g_a", "user", f"{number}")
        made.append(world.keep().name)
    assert world.snapshots._kept.names() == {*made[1:]}
    assert not world.snapshots.keep(world.store.path), "nothing has come since"
    world.snapshots._kept.put("torn", [b"half of it"])
    world.snapshots.sweep()
    assert "torn" in world.snapshots._kept.names(), "somebody may be sending it"
    world.snapshots.sweep()
    assert world.snapshots._kept.names() == {*made[1:]}


def test_a_copy_that_a_kill_left_goes_at_the_next_start(world: SnapshotWorld) -> None:
    world.close()
    (left := world.folder / f"{COPYING}x").mkdir()
    (left / DATABASE).write_bytes(b"half")
    (world.folder / ARRIVING).write_bytes(b"half")
    world.reopen()
    assert not left.exists()
    assert not (world.folder / ARRIVING).exists()


def test_a_copy_that_a_killed_process_left_goes_when_the_next_takes_its_place(
    world: SnapshotWorld, stream: JetStream
) -> None:
    """The file is being read by the hub meanwhile: it is not begun anew, and tidied all the same."""
    world.close()
    (left := world.folder / f"{COPYING}x").mkdir()
    (left / DATABASE).write_bytes(b"half")
    options = StoreOptions(clock=world.clock, entropy=world.entropy, purpose="a test")
    open_cache(world.folder, options, stream, anew=False).close()
    assert not left.exists()
    world.reopen()


# -- what was taken back


@pytest.mark.spec("C2A-187")
def test_what_was_taken_back_lives_on_in_no_snapshot(
    tmp_path: Path,
    alone: Server,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The bytes are looked for on the server's disk, so the snapshot is sent as it is."""
    monkeypatch.setattr("tacit.ledger.io.jetstream.snapshots.LEVEL", 0)
    stream = opened([alone.url], new_name(), 1)
    world = SnapshotWorld(tmp_path / "data", stream)
    world.group("g_a", ann="peer")
    said = world.say("g_a", "user", SECRET)
    world.keep()
    assert len(files_with(SECRET, alone.folder)) >= 2, "the ledger's stream, and the snapshots'"
    world.do("g_a", "system", "x.c2a.delete", event_id=said.id, by="user")
    until(lambda: not pending(world))
    until(lambda: not files_with(SECRET, alone.folder))
    listed, _ = world.snapshots.listed()
    assert listed is not None
    assert not listed.kept
    assert listed.least >= 1
    world.store.writer.catch_up()
    world.keep()
    world.lose_folder()
    assert [event.data["text"] for event in world.events("g_a", kinds=["chat.message"])] == [""]
    world.assert_rebuilds()
    assert not files_with(SECRET, alone.folder)
    world.close()
    stream.close()


@pytest.mark.spec("C2A-187")
def test_a_copy_from_before_what_was_taken_back_cannot_come_later(
    world: SnapshotWorld, tmp_path: Path
) -> None:
    """A node stood still with it: neither its list is taken, nor is its file when it asks anew."""
    said = world.say("g_a", "user", "another-secret")
    with closing(opened([*world.stream.connection._access.servers], world.stream.name, 1)) as second:
        late = SnapshotWorld(tmp_path / "late", second)
        real = late.snapshots._kept.put

        def meanwhile(name: str, pieces: Any) -> Any:
            put = real(name, pieces)
            world.do("g_a", "system", "x.c2a.delete", event_id=said.id, by="user")
            until(lambda: world.snapshots.listed()[0].least > 0 and not pending(world))
            return put

        late.snapshots._kept.put = meanwhile  # type: ignore[method-assign]
        with pytest.raises(Unavailable):
            late.snapshots.keep(late.store.path)
        late.snapshots._kept.put = real  # type: ignore[method-assign]
        assert not late.snapshots.keep(late.store.path), "it lacks what says that it was taken back"
        assert world.snapshots._kept.names() == set()
        late.store.writer.catch_up()
        until(lambda: not pending(late))
        assert late.snapshots.keep(late.store.path)
        late.close()


def files_with(word: str, folder: Path) -> list[str]:
    """The server removes files of its own while we look."""
    found: list[str] = []
    for path in folder.rglob("*"):
        with suppress(FileNotFoundError):
            if path.is_file() and word.encode() in path.read_bytes():
                found.append(path.name)
    return found


def pending(world: World) -> bool:
    return world.store.read(
        lambda reader: reader.connection.execute("SELECT 1 FROM erasures LIMIT 1").fetchone() is not None
    )


def test_sending_ends_when_something_has_to_go(world: SnapshotWorld) -> None:
    real = world.snapshots._kept.put

    def begun(name: str, pieces: Any) -> Any:
        world.snapshots._breaks_off.set()
        return real(name, pieces)

    world.snapshots._kept.put = begun  # type: ignore[method-assign]
    with pytest.raises(Unavailable, match="not wanted"):
        world.snapshots.keep(world.store.path)
    assert world.snapshots._kept.names() == set()


# -- when


def test_one_is_kept_when_it_is_due_and_at_the_end(
    world: SnapshotWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = world.store.path
    assert not world.snapshots.keep_if_due(path), "so few events are folded sooner"
    monkeypatch.setattr(rules, "FEWEST_EVENTS", 2)
    assert world.snapshots.keep_if_due(path)
    assert not world.snapshots.keep_if_due(path)
    monkeypatch.setattr("tacit.ledger.io.jetstream.snapshots.LOOK", 0.01)
    rounds = SnapshotRounds(world.snapshots, path, lambda: True)
    first = world.snapshots.newest()
    assert first is not None
    for number in range(first.events):
        world.say("g_a", "user", f"{number}")
    rounds.begin()
    until(lambda: world.snapshots.newest() != first)
    rounds.end(keeps_last=True)
    second = world.snapshots.newest()
    assert second is not None
    ended = SnapshotRounds(world.snapshots, path, lambda: True)
    for number in range(second.events):
        world.say("g_a", "user", f"{number}")
    ended.end(keeps_last=False)
    assert world.snapshots.newest() == second
    ended.end(keeps_last=True)
    assert world.snapshots.newest() != second


def test_a_node_that_writes_much_waits_for_a_calmer_time_or_its_end(
    world: SnapshotWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = world.store.path
    monkeypatch.setattr(rules, "FEWEST_EVENTS", 2)
    monkeypatch.setattr(rules, "BUSY", 3)
    for number in range(3):
        world.say("g_a", "user", f"{number}")
    assert not world.snapshots.keep_if_due(path)
    assert world.snapshots.keep_if_due(path), "nothing came since: it is calm"
    first = world.snapshots.newest()
    assert first is not None
    for number in range(first.events + 3):
        world.say("g_a", "user", f"again {number}")
    assert not world.snapshots.keep_if_due(path)
    for number in range(3):
        world.say("g_a", "user", f"more {number}")
    assert world.snapshots.keep_if_due(path, is_last=True)


# -- a node


def test_a_node_keeps_one_when_it_stops_and_the_next_begins_from_it(
    tmp_path: Path, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rules, "FEWEST_EVENTS", 5)
    monkeypatch.setattr("tacit.ledger.io.jetstream.snapshots.LOOK", 3_600.0)
    name = new_name()
    one, two = (Machine(tmp_path / folder, server, name) for folder in ("one", "two"))
    with closing(one.serve()) as first:
        create(first)
        for number in range(5):
            say(first, f"{number}")
    read: list[int] = []
    real = JetStream.read

    def watched(self: JetStream, after: int, upto: int) -> Any:
        read.append(after)
        return real(self, after, upto)

    with monkeypatch.context() as watching:
        watching.setattr(JetStream, "read", watched)
        second = two.serve()
    with closing(second):
        assert read
        assert 0 not in read
        assert last(second) == 6
        say(second, "on")
        assert two.node.standing is not None
        standing = two.node.standing()
        assert 0 < standing.behind_snapshot < standing.end
    assert {path.name for path in two.folder.glob("*.id")} == {"node.id"}
    assert (one.folder / "node.id").read_bytes() != (two.folder / "node.id").read_bytes()


def test_what_an_erasure_put_into_the_stream_leaves_no_gap_at_the_node_that_writes(
    tmp_path: Path, server: Server
) -> None:
    """Else every snapshot after it would end before it, and whoever joins would read all that follows."""
    machine = Machine(tmp_path / "one", server, new_name())
    with closing(machine.serve()) as store:
        create(store)
        said = store.append(submission("g_a", "user", "chat.message", {"text": SECRET}))
        assert isinstance(said, Committed)
        deleted = {"event_id": said.event.event_id, "by": "user"}
        store.append(submission("g_a", "system", "x.c2a.delete", deleted))
        assert machine.served is not None
        stream, path = machine.served.stream, store.path
        until(lambda: stream.has(f"{INSTEAD}{2}"))

        def applied() -> int:
            with closing(connect(path, readonly=True)) as connection:
                return _end_on(connection)

        until(lambda: applied() == stream.end())
        say(store, "on")
        assert applied() == stream.end()


def test_batches_that_the_stream_took_in_another_order_leave_no_gap(
    world: SnapshotWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = world.stream.carry

    def backwards(tracked: Any) -> Any:
        return [*reversed([real([one])[0] for one in reversed(tracked)])]

    monkeypatch.setattr(world.stream, "carry", backwards)
    outcomes = world.store.writer.commit(
        [Append(submission(name, "user", "chat.message", {"text": "on"})) for name in ("g_a", "g b.c")]
    )
    assert all(isinstance(one, Committed) for one in outcomes)
    assert world.keep().sequence == world.stream.end()
