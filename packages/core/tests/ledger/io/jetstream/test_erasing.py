"""What was taken back leaves the servers' disks as it leaves the folder, whatever breaks in between."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING, Any

import pytest

from tacit.base.errors import Unavailable
from tacit.base.shipping import Elsewhere
from tacit.ledger.commands import Append
from tacit.ledger.envelope import redacted
from tacit.ledger.io import erasure, upkeep
from tacit.ledger.shipment import ShipmentPart, unpacked, without
from tests.ledger.io.jetstream.servers import new_name, one, opened
from tests.ledger.io.jetstream.test_cache import StreamWorld, proof
from tests.ledger.io.jetstream.test_traps import until
from tests.ledger.world import submission

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.ledger.io.jetstream.servers import Server

SECRET, SECOND = "a-very-secret-word", "another-secret-word"


@pytest.fixture
def alone(tmp_path: Path) -> Iterator[Server]:
    """A server whose disk no other test writes to."""
    made = one(tmp_path / "server")
    yield made
    made.kill()


@pytest.fixture
def world(tmp_path: Path, alone: Server) -> Iterator[StreamWorld]:
    made = StreamWorld(tmp_path / "data", opened([alone.url], new_name(), 1))
    made.group("g_a", ann="peer")
    yield made
    made.close()
    made.stream.close()


def on_disk(word: str, folder: Path) -> list[str]:
    return [path.name for path in folder.rglob("*") if path.is_file() and word.encode() in path.read_bytes()]


def take_back(world: StreamWorld, event_id: str) -> None:
    world.do("g_a", "system", "x.c2a.delete", event_id=event_id, by="user")


def pending(world: StreamWorld) -> int:
    return world.store.read(lambda reader: erasure.pending(reader.connection)).events


@pytest.mark.spec("C2A-187")
def test_what_was_taken_back_is_on_no_disk_and_the_chain_holds(world: StreamWorld, alone: Server) -> None:
    first = world.say("g_a", "user", SECRET)
    world.say("g_a", "user", "stays")
    assert on_disk(SECRET, alone.folder)
    take_back(world, first.id)
    world.close()
    assert not on_disk(SECRET, alone.folder)
    assert not on_disk(SECRET, world.folder)
    before = (proof(world.folder), upkeep.fingerprint(world.folder))
    shutil.rmtree(world.folder)
    world.reopen()
    world.close()
    assert (proof(world.folder), upkeep.fingerprint(world.folder)) == before
    world.reopen()
    assert [event.data["text"] for event in world.events("g_a", kinds=["chat.message"])] == ["", "stays"]
    world.say("g_a", "user", "and on")
    world.assert_rebuilds()


@pytest.mark.spec("C2A-187")
def test_events_of_one_batch_are_taken_back_one_after_the_other(world: StreamWorld, alone: Server) -> None:
    """The second time the first replacement goes as well, and with it what it still held."""
    words = (SECRET, SECOND, "stays")
    outcomes = world.store.writer.commit(
        [Append(submission("g_a", "user", "chat.message", {"text": word})) for word in words]
    )
    for number, word in enumerate((SECRET, SECOND)):
        assert on_disk(word, alone.folder)
        take_back(world, outcomes[number].event.event_id)
        world.close()
        assert not on_disk(word, alone.folder)
        shutil.rmtree(world.folder)
        world.reopen()
    texts = [event.data["text"] for event in world.events("g_a", kinds=["chat.message"])]
    assert texts == ["", "", "stays"]
    world.assert_rebuilds()


@pytest.mark.spec("C2A-187")
def test_the_last_message_of_a_subject_goes_and_its_guard_does_not_go_back(
    world: StreamWorld, alone: Server
) -> None:
    """What the network held back would be taken, were the subject to end where it ended before."""
    world.say("g_a", "user", "before")
    before = world.stream.end()
    world.say("g_a", "user", SECRET)
    message = world.stream.get(world.stream.end())
    [entry] = unpacked("g_a", message.payload)[1].entries
    gone = redacted(entry.raw, entry.salt, "user", "2026-01-13T10:00:00Z")
    world.stream.replace(message, without(message.payload, {entry.seq: gone}))
    assert not on_disk(SECRET, alone.folder)
    late = world.stream._publish(ShipmentPart("g_a", message.token, before, b"late"), {})
    assert isinstance(world.stream.connection.wait(late), Elsewhere)
    world.say("g_a", "user", "and on")
    world.assert_rebuilds()


@pytest.mark.spec("C2A-187")
@pytest.mark.parametrize("steps", range(5))
def test_an_erasure_that_broke_off_is_finished_by_whoever_reads_the_stream(
    world: StreamWorld, alone: Server, steps: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The node dies after any of its requests, and its folder is lost with it."""
    words = (SECRET, SECOND, "stays")
    first, second, _ = world.store.writer.commit(
        [Append(submission("g_a", "user", "chat.message", {"text": word})) for word in words]
    )
    take_back(world, first.event.event_id)
    world.reopen()
    done = 0

    def breaking(what: Any) -> Any:
        async def step(*given: Any) -> Any:
            nonlocal done
            if done >= steps:
                raise Unavailable("broken off")
            done += 1
            return await what(*given)

        return step

    with monkeypatch.context() as broken:
        broken.setattr(world.stream, "_put", breaking(world.stream._put))
        broken.setattr(world.stream.connection, "overwrite", breaking(world.stream.connection.overwrite))
        take_back(world, second.event.event_id)
        world.close()
    assert done == min(steps, 4)
    assert bool(on_disk(SECOND, alone.folder)) == (steps < 3)
    shutil.rmtree(world.folder)
    world.reopen()
    world.reopen()
    assert not on_disk(SECOND, alone.folder)
    assert pending(world) == 0
    texts = [event.data["text"] for event in world.events("g_a", kinds=["chat.message"])]
    assert texts == ["", "", "stays"]
    world.assert_rebuilds()


@pytest.mark.spec("C2A-187")
def test_on_three_servers_it_leaves_the_files_of_the_stream(tmp_path: Path, cluster: list[Server]) -> None:
    """The servers' own log of what they agreed on is shortened by themselves: no client can ask for it."""
    word = "a-secret-of-three"
    world = StreamWorld(tmp_path / "data", opened([server.url for server in cluster], new_name(), 3))
    world.group("g_a", ann="peer")
    take_back(world, world.say("g_a", "user", word).id)
    world.close()

    def is_gone() -> bool:
        files = [path for server in cluster for path in server.folder.glob("jetstream/$G/**/*.blk")]
        return bool(files) and not any(word.encode() in path.read_bytes() for path in files)

    until(is_gone)
    shutil.rmtree(world.folder)
    world.reopen()
    assert [event.data["text"] for event in world.events("g_a", kinds=["chat.message"])] == [""]
    world.assert_rebuilds()
    world.stream.close()
