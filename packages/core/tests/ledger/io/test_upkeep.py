from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tacit.base.errors import Corrupt, Unavailable
from tacit.base.io.sqlite import connect
from tacit.ledger.envelope import decode
from tacit.ledger.io import upkeep, verification
from tacit.ledger.io.journal import FIRST_LINK, link

if TYPE_CHECKING:
    from tests.ledger.world import World


def rebuild(world: World) -> int:
    return upkeep.rebuild(world.folder, world.clock, world.entropy, world.settings)


@pytest.mark.spec("CCCS-002")
def test_a_rebuild_gives_the_same_read_model_over_every_sort_of_event(room: World) -> None:
    asked = room.say("g_one", "user", "look", priority="attention", to=["@all"])
    room.do("g_one", "user", "context.sync", ops=[{"op": "set", "store": "tasks", "key": "T1", "value": {}}])
    room.do("g_one", "ann", "chat.ack", actor_id="ann", event_id=asked.id)
    again = room.say("g_one", "user", "once more", priority="attention", to=["ann", "bob"], reply_to=asked.id)
    room.do("g_one", "ann", "chat.ack", actor_id="ann", event_id=again.id)
    room.do("g_one", "ann", "chat.read", actor_id="ann", event_id=again.id)
    room.do("g_one", "bob", "chat.reaction", actor_id="bob", event_id=again.id, emoji="+1")
    notice = room.do("g_one", "user", "system.notify", kind="info", requires_ack=True)
    room.do("g_one", "mute", "system.notify_ack", actor_id="mute", notify_event_id=notice.id)
    room.do("g_one", "user", "actor.remove", actor_id="mute")
    room.do("g_one", "user", "x.tacit.person.add", principal="usr:eve")
    room.say("g_one", "usr:eve", "secret", to=["bob"], client_id="c1")
    assert room.owed("g_one", "ann") == []
    room.assert_rebuilds()
    room.reopen()
    assert room.owed("g_one", "ann") == []
    assert room.owed("g_one", "bob") == [asked.id, again.id]


def test_a_rebuild_longer_than_one_stretch_is_the_same(room: World) -> None:
    """A duty opened and closed within one stretch of the rebuild stays closed, whatever came first."""
    while room.state("g_one").last_seq < upkeep.STEP + 10:
        asked = room.say("g_one", "user", "n", priority="attention", to=["ann", "bob"])
        if asked.seq == upkeep.STEP - 1:
            asked = room.say("g_one", "user", "the last of its stretch", priority="attention")
        room.do("g_one", "bob", "chat.ack", actor_id="bob", event_id=asked.id)
    room.assert_rebuilds()


def test_a_rebuild_is_refused_while_the_folder_is_in_use(room: World) -> None:
    with pytest.raises(Unavailable, match="in use by a test"):
        rebuild(room)
    room.say("g_one", "user", "still here")


def test_a_rebuild_repairs_projections_that_somebody_broke(room: World) -> None:
    room.say("g_one", "user", "look", priority="attention")
    room.close()
    before = upkeep.fingerprint(room.folder)
    connection = connect(room.folder / "ledger.db")
    for table in ("lanes", "duties", "duty_counts", "audiences", "profiles", "actors"):
        connection.execute(f"DELETE FROM {table}")
    connection.close()
    assert upkeep.fingerprint(room.folder) != before
    assert rebuild(room) == 6
    assert upkeep.fingerprint(room.folder) == before


def test_a_rebuild_that_meets_a_broken_event_changes_nothing(room: World) -> None:
    room.say("g_one", "user", "look")
    sound = room.page("g_one")[-1].raw
    room.close()
    for broken in (b'{"v":1', b'{"v":1}', sound.replace(b'"look"', b"5")):
        change_event(room, 6, lambda _raw, broken=broken: broken)
        before = upkeep.fingerprint(room.folder)
        with pytest.raises(Corrupt) as caught:
            rebuild(room)
        assert caught.value.hint
        assert upkeep.fingerprint(room.folder) == before
    change_event(room, 6, lambda _raw: sound)
    assert rebuild(room) == 6


def change_event(world: World, seq: int, change: Any, *, forge: bool = False) -> None:
    """What a person with a database tool could do; a forger also mends the chain of hashes."""
    connection = connect(world.folder / "ledger.db")
    ((sql,),) = connection.execute("SELECT sql FROM sqlite_master WHERE name='events_stay'").fetchall()
    connection.execute("DROP TRIGGER events_stay")
    ((raw,),) = connection.execute("SELECT raw FROM events WHERE pos=?", (1 << 40 | seq,)).fetchall()
    connection.execute("UPDATE events SET raw=? WHERE pos=?", (change(bytes(raw)), 1 << 40 | seq))
    if forge:
        chain = FIRST_LINK
        for pos, text, salt in connection.execute(
            "SELECT pos, raw, salt FROM events ORDER BY pos"
        ).fetchall():
            chain = link(chain, bytes(text), salt)
            connection.execute("UPDATE events SET chain=? WHERE pos=?", (chain, pos))
        connection.execute("UPDATE groups SET chain=?", (chain,))
    connection.execute(sql)
    connection.close()


def test_export_gives_every_event_as_it_was_stored_group_after_group(room: World) -> None:
    room.group("g_two", ann="peer")
    for group in ("g_one", "g_two", "g_one"):
        room.say(group, "user", "line\nbreak")
    raws = [found.raw for group in ("g_one", "g_two") for found in room.page(group)]
    lines = list(upkeep.export(room.folder))
    assert lines == raws
    assert not any(b"\n" in line for line in lines)
    assert [decode(line).group_id for line in upkeep.export(room.folder, "g_two")] == ["g_two"] * 3


@pytest.mark.parametrize("change", [lambda raw: raw.replace(b"hello", b"jello"), lambda raw: raw[:-3]])
def test_verify_sees_that_the_chain_of_hashes_breaks(room: World, change: Any) -> None:
    room.say("g_one", "user", "hello")
    room.say("g_one", "user", "later")
    room.close()
    change_event(room, 6, change)
    (problem,) = verification.verify(room.folder, room.entropy).problems
    assert "group g_one event 6: the chain of hashes breaks" in problem


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda raw: raw.replace(b'"kind":"chat.message"', b'"kind":"chat.read"'), "differ"),
        (lambda raw: raw.replace(b'"g_one"', b'"g_two"'), "differ"),
        (lambda raw: raw.replace(b'"seq":6', b'"seq":9'), "differ"),
        (lambda raw: raw.replace(b"2026-01", b"2025-01"), "time is wrong"),
        (lambda raw: raw.replace(b'"v":1', b'"v":2'), "version"),
        (lambda raw: raw[:-3], "no event"),
    ],
)
def test_verify_names_a_forged_event(room: World, change: Any, says: str) -> None:
    room.say("g_one", "user", "hello")
    room.say("g_one", "user", "later")
    room.close()
    change_event(room, 6, change, forge=True)
    report = verification.verify(room.folder, room.entropy)
    assert not report.sound
    assert "group g_one event 6" in report.problems[0]
    assert says in report.problems[0]


def test_verify_names_a_missing_event_and_a_cut_end(room: World) -> None:
    for number in range(3):
        room.say("g_one", "user", f"n{number}")
    room.close()
    connection = connect(room.folder / "ledger.db")
    connection.execute("DROP TRIGGER events_remain")
    connection.execute("DELETE FROM events WHERE pos=?", (1 << 40 | 8,))
    assert "ends at 7, its record says 8" in verification.verify(room.folder, room.entropy).problems[0]
    connection.execute("DELETE FROM events WHERE pos=?", (1 << 40 | 6,))
    connection.close()
    assert "position 6 is missing" in verification.verify(room.folder, room.entropy).problems[0]


def test_verify_names_events_beyond_the_recorded_end(room: World) -> None:
    room.close()
    connection = connect(room.folder / "ledger.db")
    connection.execute(
        "INSERT INTO events SELECT pos+1, x'00112233445566778899aabbccddeeff', kind, chain, raw, salt "
        "FROM events WHERE pos=?",
        (1 << 40 | 5,),
    )
    connection.close()
    assert not verification.verify(room.folder, room.entropy).sound


def test_verify_names_a_blob_that_is_gone_or_changed(room: World) -> None:
    path = room.blob("g_one", "user", b"content")
    room.close()
    assert verification.verify(room.folder, room.entropy).blobs == 1
    file = room.folder / "blobs" / path[:2] / path
    file.write_bytes(b"other")
    assert path in verification.verify(room.folder, room.entropy).problems[0]
    file.unlink()
    assert path in verification.verify(room.folder, room.entropy).problems[0]


def test_verify_beside_a_running_hub_takes_new_events_for_no_fault(
    room: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = verification.groups_on

    def groups(connection: Any) -> Any:
        found = real(connection)
        room.say("g_one", "user", "meanwhile")
        return found

    monkeypatch.setattr(verification, "groups_on", groups)
    report = verification.verify(room.folder, room.entropy)
    assert report.sound, report.problems


def test_verify_beside_a_running_hub_leaves_an_arriving_blob_alone(room: World) -> None:
    incoming = room.store.blobs.incoming()
    incoming.write(b"half")
    assert verification.verify(room.folder, room.entropy).sound
    incoming.write(b" and half")
    stored = incoming.finish()
    with room.store.blobs.open(stored.sha256) as file:
        assert file.read() == b"half and half"


def test_verify_of_a_folder_without_a_ledger_is_told_apart(world: World) -> None:
    with pytest.raises(Unavailable, match="cannot open"):
        verification.verify(world.folder / "elsewhere", world.entropy)
