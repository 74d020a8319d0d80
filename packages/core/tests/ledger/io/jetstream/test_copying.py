"""A ledger moves into a stream and out of it again, and is the same: chains, records, files."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from tacit.base.errors import Refused, Unavailable
from tacit.ledger.commands import IssueCredential, UseCredential
from tacit.ledger.io import upkeep
from tacit.ledger.io.jetstream import copying
from tacit.ledger.io.jetstream.copying import copy_in, copy_out
from tacit.ledger.io.store import Store, StoreOptions
from tests.ledger.io.jetstream.servers import new_name, opened
from tests.ledger.io.jetstream.test_cache import StreamWorld, keep_records, proof, records
from tests.ledger.world import World

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tacit.ledger.io.jetstream.stream import JetStream
    from tests.ledger.io.jetstream.servers import Server


@pytest.fixture
def stream(server: Server) -> Iterator[JetStream]:
    made = opened([server.url], new_name(), 1)
    yield made
    made.close()


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    """A ledger in a folder, with something of every kind."""
    made = World(tmp_path / "data")
    for name in ("g_a", "g b.c"):
        made.group(name, ann="peer", bob="peer")
    first = made.say("g_a", "user", "a-very-secret-word", to=["ann"], priority="attention")
    made.do("g_a", "ann", "chat.ack", event_id=first.id, actor_id="ann")
    made.do("g_a", "system", "x.c2a.delete", event_id=first.id, by="user")
    for _ in range(12):
        made.say("g b.c", "bob", "x" * 100_000)
    keep_records(made)
    made.store.execute(IssueCredential(b"b" * 32, "tok_b", "user", None, None, True))
    made.clock.move(5)
    made.store.execute(UseCredential("tok_b"))
    yield made
    made.close()


def test_there_and_back_it_is_the_same_ledger(world: World, stream: JetStream, tmp_path: Path) -> None:
    before, kept = proof(world.folder), records(world)
    world.close()
    assert copy_in(world.folder, stream, world.entropy) == len(list(upkeep.export(world.folder)))
    followed = StreamWorld(tmp_path / "followed", stream)
    assert (proof(followed.folder), records(followed)) == (before, kept)
    assert followed.say("g_a", "ann", "and on").seq == followed.state("g_a").last_seq
    followed.assert_rebuilds()
    followed.close()
    assert upkeep.fingerprint(world.folder) != upkeep.fingerprint(followed.folder)

    count = copy_out(tmp_path / "out", stream, None, world.entropy)
    assert count == len(list(upkeep.export(followed.folder)))
    assert proof(tmp_path / "out") == proof(followed.folder)
    with closing(World(tmp_path / "out")) as again:
        assert records(again) == kept
        with again.store.blobs.open(kept["blobs"][0][2]) as file:
            assert file.read() == b"shared"
        again.say("g_a", "ann", "alone again")
        again.assert_rebuilds()


def test_a_copy_that_broke_off_is_followed_by_nobody(
    world: World, stream: JetStream, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.close()

    def broken(*_given: object) -> None:
        raise Unavailable("broken off")

    monkeypatch.setattr(copying, "_copy_records", broken)
    with pytest.raises(Unavailable, match="broken off"):
        copy_in(world.folder, stream, world.entropy)
    with pytest.raises(Unavailable, match="not come to its end"):
        StreamWorld(tmp_path / "followed", stream)
    with pytest.raises(Refused, match="not_empty"):
        copy_in(world.folder, stream, world.entropy)


def test_a_ledger_that_is_served_or_in_a_stream_is_not_copied(
    world: World, stream: JetStream, tmp_path: Path
) -> None:
    with pytest.raises(Unavailable, match="in use"):
        copy_in(world.folder, stream, world.entropy)
    followed = StreamWorld(tmp_path / "followed", stream)
    followed.close()
    with pytest.raises(Refused, match="in a stream already"):
        copy_in(followed.folder, stream, world.entropy)
    with pytest.raises(Refused, match="follows_stream"):
        Store(followed.folder, StoreOptions())
