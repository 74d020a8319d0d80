from __future__ import annotations

import pytest

from tests.ledger.world import World, refusal

ALL = ["boss", "ann", "bob", "mute"]
EVERYBODY = ["user", *ALL, "usr:eve"]


@pytest.fixture
def full(room: World) -> World:
    room.do("g_one", "user", "x.tacit.person.add", principal="usr:eve")
    return room


@pytest.mark.spec("CCCS-031", "CCCS-034", "CCCS-035", "CCCS-036", "CCCS-037", "CCCS-038", "CCCS-040")
@pytest.mark.parametrize(
    ("by", "to", "recipients"),
    [
        ("user", None, ALL),
        ("user", [], ALL),
        ("user", ["@all"], ALL),
        ("ann", ["@all"], ["boss", "bob", "mute"]),
        ("user", ["@peers"], ["ann", "bob"]),
        ("ann", ["@peers"], ["bob"]),
        ("user", ["@foreman"], ["boss"]),
        ("boss", ["@foreman"], []),
        ("ann", ["@user"], ["user"]),
        ("ann", ["user"], ["user"]),
        ("user", ["@user"], []),
        ("user", ["ann", "ann", "mute"], ["ann", "mute"]),
        ("ann", ["@all", "@user"], ["user", "boss", "bob", "mute"]),
        ("ann", ["@all", "bob"], ["boss", "bob", "mute"]),
        ("ann", ["@peers", "@foreman", "usr:eve"], ["boss", "bob", "usr:eve"]),
        ("svc:bot", ["@all"], ALL),
        ("ann", ["ann"], []),
    ],
)
def test_whom_a_message_obliges(full: World, by: str, to: list[str] | None, recipients: list[str]) -> None:
    data = {} if to is None else {"to": to}
    event = full.say("g_one", by, "look", priority="attention", **data)
    owing = [name for name in EVERYBODY if full.owed("g_one", name) == [event.id]]
    assert sorted(owing) == sorted(recipients)
    # A recipient has it unread; humans have broadcasts unread too, though they owe nothing for them.
    unread = {name for name in EVERYBODY if event.id in full.unread("g_one", name)}
    assert unread >= set(recipients)
    assert unread - set(recipients) <= {"user", "usr:eve"}
    assert by not in unread
    assert event.data.get("to") == to


@pytest.mark.spec("CCCS-036")
def test_a_selector_that_finds_nobody_is_legal(world: World) -> None:
    world.group("g_one", ann="peer")
    world.say("g_one", "user", "anyone?", to=["@foreman"], priority="attention")
    assert world.owed("g_one", "ann") == []
    assert world.unread("g_one", "ann") == []


@pytest.mark.spec("CCCS-012", "CCCS-036")
def test_several_foremen_are_all_the_foreman(world: World) -> None:
    world.group("g_one", one="foreman", two="foreman", ann="peer")
    event = world.say("g_one", "user", "x", to=["@foreman"])
    assert world.unread("g_one", "one") == world.unread("g_one", "two") == [event.id]
    assert world.unread("g_one", "ann") == []


@pytest.mark.spec("CCCS-031", "CCCS-063")
def test_recipients_are_fixed_when_the_message_is_appended(room: World) -> None:
    event = room.say("g_one", "user", "x", priority="attention")
    room.do("g_one", "user", "actor.add", actor_id="late", role="peer")
    room.do("g_one", "user", "actor.update", actor_id="mute", role="peer")
    assert room.owed("g_one", "late") == []
    assert room.unread("g_one", "late") == []
    assert room.owed("g_one", "mute") == [event.id]
    after = room.say("g_one", "user", "y", to=["@peers"], priority="attention")
    assert room.owed("g_one", "late") == [after.id]
    assert room.owed("g_one", "mute") == [event.id, after.id]


def test_one_who_left_owes_nothing_and_gets_nothing(room: World) -> None:
    room.say("g_one", "user", "x", priority="attention")
    asked = room.page("g_one")[-1]
    dm = room.say("g_one", "ann", "psst", to=["mute"])
    room.do("g_one", "user", "actor.remove", actor_id="mute")
    before = room.state("g_one")
    owing = room.store.read(lambda reader: reader.acks(before, asked))["owing"]
    assert sorted(owing) == ["ann", "bob", "boss"]
    with refusal("actor_not_found"):
        room.inbox("g_one", "mute")
    reply = room.say("g_one", "ann", "still there?", reply_to=dm.id, priority="attention")
    found = next(found for found in room.page("g_one") if found.event_id == reply.id)
    assert (found.named, found.private) == ((), True)
    state = room.state("g_one")
    assert room.store.read(lambda reader: reader.acks(state, found))["owing"] == []


@pytest.mark.spec("CCCS-059")
def test_a_service_that_is_party_to_a_dm_reads_the_answer_but_owes_nothing(room: World) -> None:
    dm = room.say("g_one", "svc:bot", "question", to=["ann"])
    reply = room.say("g_one", "ann", "answer", reply_to=dm.id, priority="attention")
    assert reply.id in [event.id for event in room.events("g_one", "svc:bot")]
    assert reply.id not in [event.id for event in room.events("g_one", "bob")]
    found = room.page("g_one")[-1]
    state = room.state("g_one")
    assert room.store.read(lambda reader: reader.acks(state, found))["owing"] == []


# Privacy

SEEN_BY_ALL = ["user", "boss", "ann", "bob", "mute"]


@pytest.mark.spec("CCCS-110")
@pytest.mark.parametrize(
    ("to", "kind", "seers"),
    [
        (["bob"], None, ["user", "ann", "bob"]),
        (["bob", "bob"], None, ["user", "ann", "bob"]),
        (["@user"], None, ["user", "ann"]),
        (["user", "@user"], None, ["user", "ann"]),
        (["bob", "boss"], "dm", ["user", "ann", "bob", "boss"]),
        (["bob", "boss"], None, SEEN_BY_ALL),
        (["bob"], "channel", SEEN_BY_ALL),
        (["@peers"], None, SEEN_BY_ALL),
        ([], None, SEEN_BY_ALL),
        (["ann"], None, ["user", "ann"]),
    ],
)
def test_who_sees_a_message(room: World, to: list[str], kind: str | None, seers: list[str]) -> None:
    event = room.say(
        "g_one", "ann", "secretword", to=to, **({"conversation": {"kind": kind}} if kind else {})
    )
    state = room.state("g_one")
    for name in SEEN_BY_ALL:
        sees = name in seers
        assert (event.id in [found.id for found in room.events("g_one", name)]) == sees, name
        hits = room.store.read(lambda reader, name=name: reader.search(state, name, "secretword", 5))
        assert bool(hits) == sees
        window = room.store.read(lambda reader, name=name: reader.window(state, name, 2**40, 5))
        assert bool(window) == sees
        if not sees:
            with refusal("event_not_found"):
                room.store.read(lambda reader, name=name: reader.event(state, event.id, name))


@pytest.mark.spec("CCCS-110")
def test_an_event_left_out_keeps_its_position(room: World) -> None:
    room.say("g_one", "user", "before")
    room.say("g_one", "ann", "secret", to=["bob"])
    room.say("g_one", "user", "after")
    assert [event.seq for event in room.events("g_one", "mute", since_seq=5)] == [6, 8]
    assert [event.seq for event in room.events("g_one", "bob", since_seq=5)] == [6, 7, 8]


@pytest.mark.spec("CCCS-110")
@pytest.mark.parametrize(
    ("by", "extra", "seers"),
    [
        ("bob", {}, ["user", "ann", "bob"]),
        ("bob", {"to": ["ann"]}, ["user", "ann", "bob"]),
        ("bob", {"conversation": {"kind": "thread"}}, ["user", "ann", "bob"]),
        ("user", {}, ["user", "ann", "bob"]),
        ("bob", {"to": ["mute"]}, ["user", "bob", "mute"]),
        ("bob", {"to": ["ann", "mute"]}, ["user", "ann", "bob", "mute"]),
        ("bob", {"to": ["@all"]}, SEEN_BY_ALL),
        ("bob", {"to": ["ann"], "conversation": {"kind": "channel"}}, SEEN_BY_ALL),
    ],
)
def test_a_reply_in_private_stays_with_whom_it_names_until_it_says_that_it_is_for_all(
    room: World, by: str, extra: dict[str, object], seers: list[str]
) -> None:
    first = room.say("g_one", "ann", "secret", to=["bob"])
    reply = room.say("g_one", by, "answer", reply_to=first.id, **extra)
    saw = [name for name in SEEN_BY_ALL if reply.id in [found.id for found in room.events("g_one", name)]]
    assert saw == [name for name in SEEN_BY_ALL if name in seers]


@pytest.mark.spec("CCCS-110")
def test_a_reply_in_private_reaches_the_other_party(room: World) -> None:
    first = room.say("g_one", "ann", "secret", to=["bob"])
    reply = room.say("g_one", "bob", "answer", reply_to=first.id, priority="attention")
    assert room.unread("g_one", "ann") == [reply.id]
    assert room.owed("g_one", "ann") == [reply.id]
    assert reply.id not in room.unread("g_one", "user")


@pytest.mark.spec("CCCS-110")
def test_signs_on_a_private_message_are_as_private_as_it(room: World) -> None:
    dm = room.say("g_one", "ann", "secret", to=["bob"], priority="attention")
    signs = [
        room.do("g_one", "bob", "chat.ack", actor_id="bob", event_id=dm.id),
        room.do("g_one", "bob", "chat.read", actor_id="bob", event_id=dm.id),
        room.do("g_one", "bob", "chat.reaction", actor_id="bob", event_id=dm.id, emoji="+1"),
    ]
    for sign in signs:
        saw = [name for name in SEEN_BY_ALL if sign.id in [found.id for found in room.events("g_one", name)]]
        assert saw == ["user", "ann", "bob"]


@pytest.mark.spec("CCCS-086", "CCCS-088", "CCCS-110")
def test_a_blob_is_seen_by_its_owner_and_by_readers_of_a_message_that_carries_it(room: World) -> None:
    path = room.blob("g_one", "ann", b"bytes")
    who = ["user", "ann", "bob", "mute"]
    assert [name for name in who if room.sees_blob("g_one", name, path)] == ["user", "ann"]
    room.say("g_one", "ann", "", to=["bob"], attachments=[{"path": path}])
    assert [name for name in who if room.sees_blob("g_one", name, path)] == ["user", "ann", "bob"]
    room.say("g_one", "bob", "", attachments=[{"path": path}])
    assert [name for name in who if room.sees_blob("g_one", name, path)] == who
    room.group("g_two", mute=None)
    assert not room.sees_blob("g_two", "mute", path)
    shot = room.blob("g_one", "ann", b"snapshot")
    ref = {"kind": "presentation_ref", "slot_id": "s", "snapshot": {"path": shot}}
    room.say("g_one", "ann", "look", to=["bob"], refs=[ref])
    assert [name for name in who if room.sees_blob("g_one", name, shot)] == ["user", "ann", "bob"]


@pytest.mark.spec("CCCS-086")
def test_names_that_look_alike_do_not_open_a_private_blob(world: World) -> None:
    world.group("g_one", ann="peer", bob="peer", bo="peer", b=None)
    path = world.blob("g_one", "ann", b"bytes")
    world.say("g_one", "ann", "", to=["bob"], attachments=[{"path": path}])
    assert world.sees_blob("g_one", "bob", path)
    assert not world.sees_blob("g_one", "bo", path)
    assert not world.sees_blob("g_one", "b", path)
