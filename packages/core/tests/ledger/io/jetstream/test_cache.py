"""The folder of a node may be lost, cut off or old: the stream has every event, and the chain is the same."""

from __future__ import annotations

import shutil
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from typing import TYPE_CHECKING, Any

import pytest

from tacit.base.errors import Refused, Unavailable
from tacit.base.io.jetstream.connection import Patience
from tacit.ledger.commands import (
    AdoptOwnerToken,
    Append,
    AppendTogether,
    BlobShare,
    Committed,
    DropWebhook,
    Duplicate,
    IssueCredential,
    RevokeCredential,
    SetWebhook,
)
from tacit.ledger.envelope import decode
from tacit.ledger.io import upkeep
from tacit.ledger.io.jetstream.cache import open_cache
from tacit.ledger.io.store import DATABASE, Store, StoreOptions
from tests.ledger.io.jetstream.servers import Server, new_name, one, opened
from tests.ledger.world import World, refusal, submission

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tacit.ledger.io.jetstream.stream import JetStream


class StreamWorld(World):
    """A ledger on a stream, opened as a hub would open it."""

    def __init__(self, folder: Path, stream: JetStream) -> None:
        self.stream = stream
        super().__init__(folder)

    def _open(self) -> Store:
        options = StoreOptions(clock=self.clock, entropy=self.entropy, purpose="a test")
        store = open_cache(self.folder, options, self.stream)
        store.start()
        return store


@pytest.fixture
def stream(server: Server) -> Iterator[JetStream]:
    made = opened([server.url], new_name(), 1)
    yield made
    made.close()


@pytest.fixture
def world(tmp_path: Path, stream: JetStream) -> Iterator[StreamWorld]:
    """Two groups, private talk, an edit's worth of kinds, and something taken back."""
    made = StreamWorld(tmp_path / "data", stream)
    for name in ("g_a", "g b.c"):
        made.group(name, ann="peer", bob="peer")
    first = made.say("g_a", "user", "a-very-secret-word", to=["ann"], priority="attention")
    made.do("g_a", "ann", "chat.ack", event_id=first.id, actor_id="ann")
    made.say("g b.c", "bob", "hello")
    made.do("g_a", "system", "x.c2a.delete", event_id=first.id, by="user")
    made.say("g_a", "ann", "bye", client_id="k")
    yield made
    made.close()


def proof(folder: Path) -> list[bytes]:
    return [*upkeep.export(folder, proof=True)]


def spoil(folder: Path, how: str, yesterday: Path) -> None:
    match how:
        case "deleted":
            shutil.rmtree(folder)
        case "truncated":
            path = folder / DATABASE
            with path.open("rb+") as file:
                file.truncate(path.stat().st_size // 2)
        case "emptied":
            (folder / DATABASE).write_bytes(b"")
        case _:
            shutil.rmtree(folder)
            shutil.copytree(yesterday, folder)


@pytest.mark.parametrize("how", ["deleted", "truncated", "emptied", "of yesterday"])
def test_a_folder_is_made_whole_from_the_stream(world: StreamWorld, tmp_path: Path, how: str) -> None:
    world.close()
    shutil.copytree(world.folder, yesterday := tmp_path / "yesterday")
    world.reopen()
    last = world.say("g_a", "bob", "since then")
    world.close()
    before = (proof(world.folder), upkeep.fingerprint(world.folder))
    spoil(world.folder, how, yesterday)
    world.reopen()
    world.close()
    assert (proof(world.folder), upkeep.fingerprint(world.folder)) == before
    assert all(b"a-very-secret-word" not in path.read_bytes() for path in world.folder.rglob("*.db*"))
    world.reopen()
    repeat = world.try_("g_a", "ann", "chat.message", text="bye", client_id="k")
    assert isinstance(repeat, Duplicate)
    assert world.say("g_a", "ann", "and on").seq == last.seq + 1
    world.assert_rebuilds()


RECORDS = ("credentials", "services", "webhooks", "blobs", "blob_owners")


def records(node: World) -> dict[str, list[Any]]:
    """All that is no event."""
    return {
        table: node.store.read(
            lambda reader, table=table: reader.connection.execute(
                f"SELECT * FROM {table} ORDER BY 1,2"
            ).fetchall()
        )
        for table in RECORDS
    }


def keep_records(node: World) -> None:
    """Some of each table, and some that are taken away again."""
    for number in range(3):
        node.store.execute(IssueCredential(bytes([number]) * 32, f"tok_{number}", "ann", "g_a"))
        node.clock.move(1)
    node.store.execute(IssueCredential(b"s" * 32, "tok_s", "svc:bot", None, ("g_a",)))
    node.store.execute(AdoptOwnerToken(b"o" * 32, "tok_o", "user"))
    node.store.execute(RevokeCredential("tok_1"))
    node.store.execute(SetWebhook("g_a", "one", "https://example.org", "secret", "1"))
    node.store.execute(SetWebhook("g_a", "two", "https://example.org", "secret", "1"))
    node.store.execute(DropWebhook("g_a", "one"))
    path = node.blob("g_a", "user", b"shared")
    shared = submission("g b.c", "user", "chat.message", {"text": "with it"})
    node.store.execute(AppendTogether((shared,), BlobShare("g_a", "g b.c", (path,), "user")))


def test_records_of_the_hubs_own_outlive_the_folder(world: StreamWorld) -> None:
    keep_records(world)
    before = records(world)
    assert all(before.values())
    world.close()
    (world.folder / DATABASE).unlink()
    world.reopen()
    assert records(world) == before
    with refusal("permission_denied", "CCCS-005"):
        world.store.execute(IssueCredential(b"t" * 32, "tok_t", "svc:bot", None, None))
    world.store.execute(RevokeCredential("tok_2"))
    world.assert_rebuilds()


def test_records_of_two_nodes_are_decided_in_one_order(
    world: StreamWorld, tmp_path: Path, server: Server
) -> None:
    """A service's name is registered once, whichever node is asked."""
    with closing(opened([server.url], world.stream.name, 1)) as second:
        other = StreamWorld(tmp_path / "other", second)
        keep_records(world)
        with refusal("permission_denied", "CCCS-005"):
            other.store.execute(IssueCredential(b"t" * 32, "tok_t", "svc:bot", None, None))
        other.store.execute(RevokeCredential("tok_2"))
        world.store.writer.catch_up()
        assert records(world) == records(other)
        other.close()


def test_two_nodes_race_for_one_group_and_end_with_the_same_ledger(
    world: StreamWorld, tmp_path: Path, server: Server
) -> None:
    with closing(opened([server.url], world.stream.name, 1)) as second:
        other = StreamWorld(tmp_path / "other", second)
        start = threading.Barrier(2)

        def send(node: StreamWorld, name: str) -> list[Any]:
            start.wait()
            return [node.store.writer.commit([said(name, number)])[0] for number in range(20)]

        def said(name: str, number: int) -> Append:
            data = {"text": f"{name}{number}", "client_id": f"{name}{number}"}
            return Append(submission("g_a", "user", "chat.message", data))

        with ThreadPoolExecutor(2) as pool:
            outcomes = [
                outcome
                for found in pool.map(send, (world, other), ("one", "two"))
                for outcome in found
                if isinstance(outcome, Committed)
            ]
        for node in (world, other):
            node.store.writer.catch_up()
        kept = {event.data["text"] for event in world.events("g_a", kinds=["chat.message"])}
        assert {decode(outcome.event.raw).data["text"] for outcome in outcomes} <= kept
        assert len({outcome.event.seq for outcome in outcomes}) == len(outcomes) > 0
        for node in (world, other):
            node.assert_rebuilds()
        assert proof(world.folder) == proof(other.folder)
        assert upkeep.fingerprint(world.folder) == upkeep.fingerprint(other.folder)


def test_what_was_acknowledged_outlives_the_server_and_the_folder(tmp_path: Path) -> None:
    """Killed, which proves that it was handed over, not that it was synced."""
    server = one(tmp_path / "server")
    stream = opened([server.url], new_name(), 1, Patience(answer=1.0, tries=60, pause=0.05))
    world = StreamWorld(tmp_path / "data", stream)
    world.group("g_a")
    texts = [f"{number}" for number in range(10)]
    for text in texts[:5]:
        world.say("g_a", "user", text)
    server.kill()
    server.restart()
    for text in texts[5:]:
        world.say("g_a", "user", text)
    world.close()
    shutil.rmtree(world.folder)
    world.reopen()
    assert [event.data["text"] for event in world.events("g_a", kinds=["chat.message"])] == texts
    world.close()
    stream.close()
    server.kill()


def test_a_folder_of_another_stream_or_of_none_is_refused(
    world: StreamWorld, tmp_path: Path, server: Server
) -> None:
    world.close()
    with closing(opened([server.url], new_name(), 1)) as other:
        with pytest.raises(Refused, match="other_stream"):
            StreamWorld(world.folder, other)
        alone = World(tmp_path / "alone")
        alone.group("g_a")
        alone.close()
        with pytest.raises(Refused, match="other_ledger"):
            StreamWorld(alone.folder, other)


def test_a_stream_that_was_set_back_is_not_followed(world: StreamWorld) -> None:
    """A node that has seen more than the stream has must not forget it without a word."""
    world.store.writer._connection.execute("UPDATE stream_ends SET sequence=sequence+1000 WHERE name=''")
    world.close()
    with pytest.raises(Unavailable, match="set back"):
        world.reopen()
