"""A node notes what is new in groups that nobody reads there; once they are asked for it has all of them."""

from __future__ import annotations

from concurrent.futures import Future
from random import Random
from typing import TYPE_CHECKING, Any

import pytest

from tacit.base.errors import Refused, Unavailable
from tacit.base.io.jetstream.connection import Patience
from tacit.ledger.commands import HUB, Append, AppendTogether, Awaken, Committed, LetRest, Ping, Recorded
from tacit.ledger.io import upkeep
from tacit.ledger.io.jetstream.cache import open_cache
from tacit.ledger.io.jetstream.node import FollowingWriter
from tacit.ledger.io.store import StoreOptions
from tacit.ledger.io.writer import MOST_TRIES
from tacit.ledger.ports import Behind
from tests.ledger.io.jetstream.servers import new_name, one, opened
from tests.ledger.io.jetstream.test_cache import StreamWorld, proof
from tests.ledger.world import HandClock, SeededEntropy, submission

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tacit.ledger.commands import Command, Outcome
    from tacit.ledger.io.jetstream.stream import JetStream
    from tests.ledger.io.jetstream.servers import Server

HASTY = Patience(answer=0.2, tries=2, pause=0.02)
GROUPS = ("g_a", "g_b", "g c.d")


class Sleeper:
    """Another node: it holds the groups that it is told to, and applies what it must."""

    def __init__(self, folder: Path, stream: JetStream) -> None:
        self.folder = folder
        self.stream = stream
        self.held: set[str] = set()
        self.open()

    def open(self) -> None:
        """As a hub would; all is applied by then."""
        journals: list[Any] = []
        options = StoreOptions(clock=HandClock(), entropy=SeededEntropy(7), purpose="another test")
        self.store = open_cache(
            self.folder, options, self.stream, holds=self.held.__contains__, journals=journals
        )
        self.journal = journals[-1]
        writer = self.store.transport = FollowingWriter(
            self.store.writer, self.journal, self.stream, lambda: 0
        )
        self.writer = writer
        self.store.start()
        assert not self.journal.behind
        self.journal.notes = True

    def listen(self) -> None:
        """Hear of what is new by itself."""

        async def begin() -> None:
            self.writer.follow()

        self.stream.connection.wait(begin())

    def ask(self, command: Command) -> Outcome:
        """An outcome."""
        found: Future[Outcome] = Future()
        self.store.submit(command, found.set_result)
        return found.result(60)

    def catch_up(self) -> None:
        """Follow to the stream's end."""
        self.writer.be_sure()
        assert self.ask(Ping()) == Recorded()

    def texts(self, group: str) -> list[str]:
        """What is said there; as the gate of a hub, awakens what is behind."""
        if group in self.journal.behind:
            with pytest.raises(Behind) as behind:
                self.read(group)
            assert behind.value.groups == (group,)
            assert self.ask(Awaken((group,))) == Recorded()
        return self.read(group)

    def read(self, group: str) -> list[str]:
        """The same, if it is all there."""

        def query(reader: Any) -> list[str]:
            found = reader.group(group)
            return [event.data["text"] for event in reader.window(found, "user", found.last_seq + 1, 10_000)]

        return self.store.read(query)

    def close(self) -> None:
        self.stream.connection.wait(self.writer.following.close())
        self.store.close()


def made_world(tmp_path: Path, server: Server) -> StreamWorld:
    """The node that writes, and groups."""
    made = StreamWorld(tmp_path / "one", opened([server.url], new_name(), 1))
    for name in GROUPS:
        made.group(name, ann="peer", bob="peer")
    return made


@pytest.fixture
def world(tmp_path: Path, server: Server) -> Iterator[StreamWorld]:
    made = made_world(tmp_path, server)
    yield made
    made.close()
    made.stream.close()


@pytest.fixture
def sleeper(tmp_path: Path, server: Server, world: StreamWorld) -> Iterator[Sleeper]:
    stream = opened([server.url], world.stream.name, 1)
    made = Sleeper(tmp_path / "two", stream)
    yield made
    made.close()
    stream.close()


def said(world: StreamWorld, group: str) -> list[str]:
    return [event.data["text"] for event in world.events(group, kinds=["chat.message"])]


def test_what_nobody_reads_is_noted_and_read_whole(world: StreamWorld, sleeper: Sleeper) -> None:
    world.say("g_a", "ann", "one")
    world.say("g_b", "ann", "two")
    sleeper.catch_up()
    assert sleeper.journal.behind == {"g_a", "g_b"}
    assert sleeper.writer.reached == world.stream.end()
    assert sleeper.texts("g c.d") == []
    assert sleeper.texts("g_a") == ["one"]
    assert sleeper.journal.behind == {"g_b"}
    with pytest.raises(Behind):
        sleeper.store.read(lambda reader: reader.groups())
    with pytest.raises(Behind):
        proof(sleeper.folder)
    assert len(sleeper.store.read(lambda reader: reader.groups(["g_a", "g c.d"]))) == 2
    # Awake it is told of what comes, and asleep again it notes.
    world.say("g_a", "bob", "three")
    sleeper.catch_up()
    assert sleeper.journal.behind == {"g_b"}
    assert sleeper.ask(LetRest(("g_a",))) == Recorded()
    world.say("g_a", "bob", "four")
    sleeper.catch_up()
    assert sleeper.journal.behind == {"g_a", "g_b"}
    assert sleeper.ask(Awaken()) == Recorded()
    assert not sleeper.journal.behind
    assert len(sleeper.store.read(lambda reader: reader.groups())) == 3


@pytest.mark.parametrize("kind", ["actor.add", "group.update", "x.c2a.delete", "x.someone.thing"])
def test_what_is_looked_at_across_groups_is_applied_at_once(
    world: StreamWorld, sleeper: Sleeper, kind: str
) -> None:
    first = world.say("g_a", "ann", "one")
    world.say("g_b", "ann", "two")
    sleeper.catch_up()
    data = {
        "actor.add": {"actor_id": "eve"},
        "group.update": {"title": "New"},
        "x.c2a.delete": {"event_id": first.id, "by": "user"},
        "x.someone.thing": {},
    }[kind]
    world.do("g_a", "system" if kind == "x.c2a.delete" else "user", kind, **data)
    sleeper.catch_up()
    assert sleeper.journal.behind == {"g_b"}
    if kind == "x.c2a.delete":
        assert sleeper.texts("g_a") == [""]


def test_a_group_that_is_taken_is_brought_up_before_anything_is_decided(
    world: StreamWorld, sleeper: Sleeper
) -> None:
    world.say("g_a", "ann", "one", client_id="k")
    sleeper.catch_up()
    sleeper.held.add("g_a")
    again = sleeper.ask(Append(submission("g_a", "ann", "chat.message", {"text": "one", "client_id": "k"})))
    assert type(again).__name__ == "Duplicate"
    assert isinstance(
        sleeper.ask(Append(submission("g_a", "ann", "chat.message", {"text": "two"}))), Committed
    )
    sleeper.held.clear()
    sleeper.catch_up()
    assert sleeper.texts("g_a") == ["one", "two"]


def test_a_command_is_decided_upon_all_of_every_group_that_it_looks_at(
    world: StreamWorld, sleeper: Sleeper
) -> None:
    """What is relayed may stand in a group that is behind; so may a group that is written along."""
    sleeper.held |= {"g_b", HUB}
    source = world.say("g_a", "user", "one")
    world.say("g c.d", "user", "two")
    sleeper.catch_up()
    assert sleeper.journal.behind == {"g_a", "g c.d"}
    data = {"text": "one", "src_group_id": "g_a", "src_event_id": source.id}
    relayed = sleeper.ask(Append(submission("g_b", "user", "chat.message", data)))
    assert isinstance(relayed, Committed)
    both = [submission(group, "user", "chat.message", {"text": "both"}) for group in ("g_b", "g c.d")]
    assert type(sleeper.ask(AppendTogether(tuple(both)))).__name__ == "AppendedTogether"
    assert not sleeper.journal.behind
    world.store.writer.catch_up()
    assert [said(world, group) for group in GROUPS] == [["one"], ["one", "both"], ["two", "both"]]


def test_a_batch_that_looks_at_many_groups_that_are_behind_is_decided(
    world: StreamWorld, sleeper: Sleeper
) -> None:
    """One is found behind after the other: that is no rival, who would come first again and again."""
    sleeper.held |= {"g_b", HUB}
    names = [f"g_{number}" for number in range(MOST_TRIES + 2)]
    for name in names:
        world.group(name, ann="peer")
    sources = [world.say(name, "user", "one").id for name in names]
    sleeper.catch_up()
    assert sleeper.journal.behind == {*names}
    relays = [
        submission(
            "g_b", "user", "chat.message", {"text": "one", "src_group_id": name, "src_event_id": source}
        )
        for name, source in zip(names, sources, strict=True)
    ]
    assert type(sleeper.ask(AppendTogether(tuple(relays)))).__name__ == "AppendedTogether"
    assert not sleeper.journal.behind
    world.store.writer.catch_up()
    assert said(world, "g_b") == ["one"] * len(names)


@pytest.mark.spec("CCCS-095")
def test_who_takes_no_part_in_a_group_has_nothing_brought_up(world: StreamWorld, sleeper: Sleeper) -> None:
    sleeper.held.add("g_b")
    world.group("g_closed", bob="peer")
    source = world.say("g_closed", "bob", "one").id
    sleeper.catch_up()
    data = {"text": "one", "src_group_id": "g_closed", "src_event_id": source}
    refused = sleeper.ask(Append(submission("g_b", "ann", "chat.message", data)))
    assert isinstance(refused, Refused)
    assert refused.code == "permission_denied"
    assert sleeper.journal.behind == {"g_closed"}
    assert isinstance(sleeper.ask(Append(submission("g_b", "bob", "chat.message", data))), Committed)


def test_what_was_noted_is_applied_after_a_restart_of_the_node(world: StreamWorld, sleeper: Sleeper) -> None:
    world.say("g_a", "ann", "one")
    sleeper.catch_up()
    sleeper.close()
    world.say("g_a", "ann", "two")
    sleeper.open()
    assert sleeper.texts("g_a") == ["one", "two"]


def test_a_group_that_cannot_be_brought_up_is_not_read(tmp_path: Path) -> None:
    server = one(tmp_path / "server")
    world = made_world(tmp_path, server)
    stream = opened([server.url], world.stream.name, 1)
    sleeper, patience = Sleeper(tmp_path / "two", stream), stream.connection.patience
    world.say("g_a", "ann", "one")
    sleeper.catch_up()
    server.kill()
    stream.connection.patience = HASTY
    assert isinstance(sleeper.ask(Awaken(("g_a",))), Unavailable)
    with pytest.raises(Behind):
        sleeper.read("g_a")
    # What lacks nothing is read on.
    assert sleeper.ask(Awaken(("g_b",))) == Recorded()
    assert sleeper.texts("g_b") == []
    server.restart()
    stream.connection.patience = patience
    assert sleeper.texts("g_a") == ["one"]
    sleeper.close()
    world.close()
    for each in (stream, world.stream):
        each.close()
    server.kill()


def act(random: Random, world: StreamWorld, sleeper: Sleeper, ids: list[tuple[str, str]]) -> None:
    """One step of anybody's."""
    group, word = random.choice(GROUPS), f"{random.random()}"
    match random.choice(["say", "say", "batch", "sign", "loud", "file", "delete", "gone", *"ffarnn"]):
        case "say":
            ids.append((group, world.say(group, "ann", word).id))
        case "batch":
            many = [
                submission(one, "bob", "chat.message", {"text": word}) for one in GROUPS for _ in range(3)
            ]
            world.store.writer.commit([Append(one) for one in many])
        case "sign" if ids:
            group, event_id = random.choice(ids)
            world.do(group, "bob", "chat.reaction", event_id=event_id, actor_id="bob", emoji=word[-2:])
        case "loud":
            world.do(group, "user", "group.update", title=word)
        case "file":
            path = world.blob(group, "ann", word.encode())
            file = {"path": path, "sha256": path, "bytes": len(word), "mime_type": "text/plain"}
            ids.append((group, world.say(group, "ann", word, attachments=[{"kind": "file", **file}]).id))
        case "delete" if ids:
            group, event_id = ids.pop(random.randrange(len(ids)))
            world.do(group, "system", "x.c2a.delete", event_id=event_id, by="user")
        case "gone":
            world.reopen()  # what was taken back has left the stream by then
        case "f":
            sleeper.catch_up()
        case "a":
            assert sleeper.ask(Awaken((group,))) == Recorded()
        case "r":
            assert sleeper.ask(LetRest((group,))) == Recorded()
        case "n" if random.random() < 0.3:
            sleeper.close()
            sleeper.open()
            if random.random() < 0.5:
                sleeper.listen()
        case _:
            sleeper.catch_up()
            assert sleeper.texts(group) == said(world, group)


@pytest.mark.parametrize("seed", range(4))
def test_whatever_is_noted_and_awakened_the_end_is_that_of_a_node_that_applied_all(
    world: StreamWorld, sleeper: Sleeper, seed: int
) -> None:
    random, ids = Random(seed), list[tuple[str, str]]()
    sleeper.listen()
    for _ in range(40):
        act(random, world, sleeper, ids)
    world.reopen()
    sleeper.catch_up()
    assert sleeper.ask(Awaken()) == Recorded()
    world.close()
    assert proof(sleeper.folder) == proof(world.folder)
    assert upkeep.fingerprint(sleeper.folder) == upkeep.fingerprint(world.folder)
