"""Several writers on one journal: the guard refuses, nothing is decided twice, everybody ends with the same ledger."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import apsw
import pytest

from tacit.base.errors import Unavailable
from tacit.ledger.commands import Append, AppendTogether, Committed, Duplicate, IssueCredential, Recorded
from tacit.ledger.io import upkeep
from tests.ledger.io import faulty
from tests.ledger.shared_journal import SharedJournal, Truth
from tests.ledger.world import World, submission

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


class Nodes:
    """Two nodes of one ledger, each with a folder of its own."""

    def __init__(self, folder: Path, vfs: str | None = None) -> None:
        self.truth = Truth()
        self.one = World(folder / "one", vfs=vfs, journal=self._journal)
        self.two = World(folder / "two", journal=self._journal)

    def _journal(self, connection: apsw.Connection) -> SharedJournal:
        return SharedJournal(connection, self.truth)

    def close(self) -> None:
        self.one.close()
        self.two.close()


@pytest.fixture
def nodes(tmp_path: Path) -> Iterator[Nodes]:
    made = Nodes(tmp_path)
    for name in ("g_a", "g_b"):
        made.one.group(name, ann="peer", bob="peer")
    made.two.store.writer.catch_up()
    yield made
    made.close()


def say(group: str, text: str, **more: Any) -> Append:
    return Append(submission(group, "user", "chat.message", {"text": text, **more}))


def commit(world: World, *commands: Any) -> list[Any]:
    return list(world.store.writer.commit(list(commands)))


def texts(world: World, group: str) -> list[str]:
    return [event.data["text"] for event in world.events(group, kinds=["chat.message"])]


def assert_same(nodes: Nodes) -> None:
    """Both have applied everything, and are the same; so is what a rebuild makes of either."""
    for world in (nodes.one, nodes.two):
        world.store.writer.catch_up()
    folders = (nodes.one.folder, nodes.two.folder)
    for world in (nodes.one, nodes.two):
        world.assert_rebuilds()
    assert [*upkeep.export(folders[0], proof=True)] == [*upkeep.export(folders[1], proof=True)]
    assert upkeep.fingerprint(folders[0]) == upkeep.fingerprint(folders[1])


def test_two_writers_of_one_group_never_overwrite_each_other(nodes: Nodes) -> None:
    for number in range(6):
        world = (nodes.one, nodes.two)[number % 2]
        (outcome,) = commit(world, say("g_a", f"{number}"))
        assert isinstance(outcome, Committed)
    nodes.one.store.writer.catch_up()
    assert texts(nodes.one, "g_a") == texts(nodes.two, "g_a") == [str(number) for number in range(6)]
    assert_same(nodes)


def test_only_the_commands_of_the_stale_group_are_decided_again(nodes: Nodes) -> None:
    commit(nodes.one, say("g_a", "first"))
    token = IssueCredential(b"1" * 32, "tok_1", "svc:bot", None, None)
    outcomes = commit(nodes.two, say("g_a", "second"), say("g_b", "alone"), token)
    assert [type(outcome) for outcome in outcomes] == [Committed, Committed, Recorded]
    assert texts(nodes.two, "g_a") == ["first", "second"]
    assert texts(nodes.two, "g_b") == ["alone"]
    ends = {name: nodes.two.state(name).last_seq for name in ("g_a", "g_b")}
    assert ends == nodes.truth.ends == {"g_a": outcomes[0].event.seq, "g_b": outcomes[1].event.seq}
    rows = nodes.two.store.read(
        lambda reader: reader.connection.execute("SELECT token_id FROM credentials").fetchall()
    )
    assert rows == [("tok_1",)]
    assert_same(nodes)


def test_the_same_send_at_two_nodes_is_one_event(nodes: Nodes) -> None:
    (first,) = commit(nodes.one, say("g_a", "once", client_id="k"))
    (second,) = commit(nodes.two, say("g_a", "once", client_id="k"))
    assert isinstance(second, Duplicate)
    assert second.event.event_id == first.event.event_id
    assert_same(nodes)


def test_a_command_of_several_groups_is_decided_again_as_a_whole(nodes: Nodes) -> None:
    commit(nodes.one, say("g_a", "first"))
    pair = AppendTogether(
        tuple(submission(name, "user", "chat.message", {"text": "pair"}) for name in ("g_a", "g_b"))
    )
    commit(nodes.two, say("g_b", "before"), pair, say("g_b", "after"))
    assert texts(nodes.two, "g_a") == ["first", "pair"]
    assert texts(nodes.two, "g_b") == ["before", "pair", "after"]
    assert_same(nodes)


def test_what_is_applied_before_catching_up_fails_is_told_of_once(
    nodes: Nodes, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is taken in by parts; a part that is committed comes by no second time."""
    monkeypatch.setattr("tacit.ledger.io.writer.CAUGHT_UP_BYTES", 0)
    told: list[str] = []
    nodes.two.store.writer.on_missed = lambda found, _records: told.extend(
        one.event.data["text"] for one in found
    )
    commit(nodes.one, say("g_a", "first"))
    commit(nodes.one, say("g_b", "second"))
    journal: Any = nodes.two.store.writer._journal

    def breaking() -> Iterator[Any]:
        yield next(journal.missed())
        raise Unavailable("the network broke")

    with pytest.raises(Unavailable):
        nodes.two.store.writer.catch_up(breaking())
    assert told == ["first"]
    nodes.two.store.writer.catch_up()
    assert told == ["first", "second"]
    assert_same(nodes)


def test_whoever_is_always_second_is_told_to_try_again(nodes: Nodes) -> None:
    def rival() -> None:
        nodes.truth.before_taking = lambda: None
        commit(nodes.one, say("g_a", "rival"))
        nodes.truth.before_taking = rival

    nodes.truth.before_taking = rival
    outcomes = commit(nodes.two, say("g_a", "never"), say("g_b", "kept"))
    nodes.truth.before_taking = lambda: None
    assert [type(outcome) for outcome in outcomes] == [Unavailable, Committed]
    assert "never" not in texts(nodes.two, "g_a")
    assert texts(nodes.two, "g_b") == ["kept"]
    (later,) = commit(nodes.two, say("g_a", "at last"))
    assert isinstance(later, Committed)
    assert_same(nodes)


def test_what_was_taken_back_is_gone_from_the_node_that_catches_up(nodes: Nodes) -> None:
    (said,) = commit(nodes.one, say("g_a", "a-very-secret-word"))
    gone = {"event_id": said.event.event_id, "by": "user"}
    (taken_back,) = commit(nodes.one, Append(submission("g_a", "system", "x.c2a.delete", gone)))
    assert isinstance(taken_back, Committed)
    nodes.two.store.writer.catch_up()
    assert all(b"a-very-secret-word" not in event.raw for event in nodes.two.page("g_a"))
    assert_same(nodes)


@pytest.mark.parametrize("times", [1, 1000])
def test_a_disk_that_fails_when_the_events_are_kept_loses_none_and_hides_none(
    tmp_path: Path, times: int
) -> None:
    """They are durable elsewhere, and applied before anything more is decided; nobody hears of what cannot be read."""
    with faulty.disk() as disk:
        nodes = Nodes(tmp_path, vfs=disk.name)
        nodes.one.group("g_a", ann="peer")
        nodes.truth.before_taking = lambda: disk.fail("sync", 0, apsw.IOError, times=times)
        missed: list[Committed] = []
        nodes.one.store.writer.on_missed = lambda found, _records: missed.extend(found)
        (kept,) = commit(nodes.one, say("g_a", "kept", client_id="k"))
        assert isinstance(kept, Committed if times == 1 else Unavailable)
        assert disk.failed
        nodes.truth.before_taking = lambda: None
        if isinstance(kept, Unavailable):
            assert kept.unknown
            (refused,) = commit(nodes.one, say("g_a", "not now"))
            assert isinstance(refused, Unavailable)
            assert not refused.unknown
        disk.heal()
        again, more = commit(nodes.one, say("g_a", "kept", client_id="k"), say("g_a", "more"))
        assert isinstance(again, Duplicate)
        assert more.event.seq == again.event.seq + 1
        if isinstance(kept, Committed):
            assert again.event.event_id == kept.event.event_id
        # Followers hear of it once: with the answer, or when it is known.
        assert [one.event.event_id for one in missed] == [again.event.event_id] * (times > 1)
        assert texts(nodes.one, "g_a") == ["kept", "more"]
        nodes.close()
