from __future__ import annotations

import pytest

from tacit.base.moment import SECOND, Moment
from tacit.ledger.admission import AdmissionSettings
from tacit.ledger.commands import Committed, Duplicate
from tests.ledger.world import World, refusal, submission


@pytest.mark.spec("CCCS-050", "CCCS-058", "CCCS-065", "CCCS-074", "CCCS-093")
def test_only_an_ack_closes_the_duty_of_an_attention_message(room: World) -> None:
    asked = room.say("g_one", "user", "x", priority="attention", to=["ann"])
    room.say("g_one", "ann", "done!", reply_to=asked.id)
    room.do("g_one", "ann", "chat.read", actor_id="ann", event_id=asked.id)
    room.do("g_one", "ann", "chat.reaction", actor_id="ann", event_id=asked.id, emoji="ok")
    room.say("g_one", "ann", "r", refs=[{"kind": "presentation_ref", "slot_id": "s", "status": "resolved"}])
    assert room.unread("g_one", "ann") == []
    assert room.owed("g_one", "ann") == [asked.id]
    room.do("g_one", "ann", "chat.ack", actor_id="ann", event_id=asked.id)
    assert room.owed("g_one", "ann") == []


@pytest.mark.spec("CCCS-065")
def test_an_ack_does_not_move_the_read_cursor(room: World) -> None:
    asked = room.say("g_one", "user", "x", priority="attention")
    room.do("g_one", "ann", "chat.ack", actor_id="ann", event_id=asked.id)
    assert room.unread("g_one", "ann") == [asked.id]
    assert room.inbox("g_one", "ann").cursor == 0


@pytest.mark.spec("CCCS-061")
def test_a_second_ack_is_the_first_one(room: World) -> None:
    asked = room.say("g_one", "user", "x", priority="attention")
    first = room.do("g_one", "ann", "chat.ack", actor_id="ann", event_id=asked.id)
    room.reopen()
    again = room.try_("g_one", "ann", "chat.ack", actor_id="ann", event_id=asked.id)
    assert isinstance(again, Duplicate)
    assert again.event.event_id == first.id
    assert room.state("g_one").last_seq == first.seq


@pytest.mark.spec("CCCS-060", "CCCS-063", "CCCS-064")
def test_a_duty_is_each_recipients_own(room: World) -> None:
    asked = room.say("g_one", "user", "x", priority="attention", to=["ann", "bob"])
    room.do("g_one", "ann", "chat.ack", actor_id="ann", event_id=asked.id)
    assert room.owed("g_one", "bob") == [asked.id]
    assert room.owed("g_one", "mute") == room.owed("g_one", "user") == []
    state = room.state("g_one")
    found = next(found for found in room.page("g_one") if found.event_id == asked.id)
    told = room.store.read(lambda reader: reader.acks(state, found))
    assert told == {"acknowledged": ["ann"], "owing": ["bob"]}


@pytest.mark.spec("CCCS-067", "CCCS-071", "CCCS-072")
def test_the_read_cursor_is_the_furthest_position_and_includes_its_event(room: World) -> None:
    events = [room.say("g_one", "user", f"n{number}") for number in range(4)]
    said = room.do("g_one", "ann", "chat.read", actor_id="ann", event_id=events[2].id)
    assert room.unread("g_one", "ann") == [events[3].id]
    for older in (events[0], events[2]):
        again = room.try_("g_one", "ann", "chat.read", actor_id="ann", event_id=older.id)
        assert isinstance(again, Duplicate)
        assert again.event.event_id == said.id
    assert room.inbox("g_one", "ann").cursor == events[2].seq
    room.do("g_one", "ann", "chat.read", actor_id="ann", event_id=events[3].id)
    assert room.inbox("g_one", "ann").cursor == events[3].seq
    assert room.unread("g_one", "ann") == []
    assert len(room.unread("g_one", "bob")) == 4


@pytest.mark.spec("CCCS-070")
def test_the_owner_moves_anothers_cursor_but_cannot_ack_for_it(room: World) -> None:
    asked = room.say("g_one", "boss", "x", priority="attention")
    room.do("g_one", "user", "chat.read", actor_id="ann", event_id=asked.id)
    assert room.unread("g_one", "ann") == []
    assert room.unread("g_one", "bob") == [asked.id]
    with refusal("permission_denied", "CCCS-060"):
        room.try_("g_one", "user", "chat.ack", actor_id="ann", event_id=asked.id)


@pytest.mark.spec("CCCS-066")
def test_marking_read_writes_no_ack_by_itself(room: World) -> None:
    asked = room.say("g_one", "user", "x", priority="attention")
    room.do("g_one", "ann", "chat.read", actor_id="ann", event_id=asked.id)
    assert room.events("g_one", kinds=["chat.ack"]) == []


@pytest.mark.spec("CCCS-073", "CCCS-074")
def test_reactions_are_given_taken_back_and_given_again(room: World) -> None:
    event = room.say("g_one", "user", "x")
    found = room.page("g_one")[-1]
    state = room.state("g_one")

    def react(by: str, *, removed: bool = False) -> str:
        outcome = room.try_(
            "g_one", by, "chat.reaction", actor_id=by, event_id=event.id, emoji="+1", removed=removed
        )
        return type(outcome).__name__

    def shown() -> list[str]:
        return [r["actor_id"] for r in room.store.read(lambda reader: reader.reactions(state, found))]

    assert [react("ann"), react("ann"), react("bob")] == ["Committed", "Duplicate", "Committed"]
    assert shown() == ["ann", "bob"]
    assert [react("ann", removed=True), react("ann", removed=True)] == ["Committed", "Duplicate"]
    assert shown() == ["bob"]
    assert react("ann") == "Committed"
    assert shown() == ["bob", "ann"]


@pytest.mark.spec("CCCS-075", "CCCS-079", "CCCS-081", "CCCS-083")
def test_notices_stand_beside_chat_and_their_acks_close_them(room: World) -> None:
    notice = room.do("g_one", "user", "system.notify", kind="info", requires_ack=True)
    single = room.do(
        "g_one", "system", "system.notify", kind="nudge", target_actor_id="ann", requires_ack=True
    )
    quiet = room.do("g_one", "system", "system.notify", kind="nudge", target_actor_id="ann")
    assert room.notices("g_one", "ann") == [notice.id, single.id]
    assert room.notices("g_one", "bob") == [notice.id]
    assert room.owed("g_one", "ann") == []
    assert room.events("g_one", kinds=["chat.*"]) == []
    first = room.do("g_one", "ann", "system.notify_ack", actor_id="ann", notify_event_id=notice.id)
    again = room.try_("g_one", "ann", "system.notify_ack", actor_id="ann", notify_event_id=notice.id)
    assert isinstance(again, Duplicate)
    assert again.event.event_id == first.id
    room.do("g_one", "ann", "system.notify_ack", actor_id="ann", notify_event_id=quiet.id)
    assert room.notices("g_one", "ann") == [single.id]
    assert room.unread("g_one", "ann") == [notice.id, single.id, quiet.id]


@pytest.mark.spec("CCCS-031", "CCCS-079")
def test_a_notice_to_oneself_has_no_recipient(room: World) -> None:
    room.do("g_one", "user", "system.notify", kind="info", target_actor_id="user", requires_ack=True)
    assert room.unread("g_one", "user") == []
    assert room.notices("g_one", "user") == []


@pytest.mark.spec("CCCS-077")
def test_an_operator_may_restrict_the_kinds_of_notices(tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("allow") / "data"
    world = World(folder, settings=AdmissionSettings(notice_kinds=frozenset({"info"})))
    world.group("g_one")
    world.do("g_one", "user", "system.notify", kind="info")
    with refusal("invalid_request", "CCCS-077"):
        world.try_("g_one", "user", "system.notify", kind="weather")
    world.close()


@pytest.mark.spec("CCCS-119")
@pytest.mark.parametrize(
    ("missing", "kind", "data"),
    [
        ("management", "group.update", {"title": "t"}),
        ("management", "actor.add", {"actor_id": "a"}),
        ("context", "context.sync", {"ops": [{"op": "delete", "key": "k"}]}),
        ("core", "chat.message", {"text": "t"}),
    ],
)
def test_a_kind_of_a_profile_not_offered_is_refused(
    world: World, missing: str, kind: str, data: dict[str, object]
) -> None:
    world.group("g_one")
    world.settings = AdmissionSettings(profiles=frozenset({"core", "management", "context"} - {missing}))
    world.reopen()
    with refusal("invalid_request", "CCCS-119"):
        world.try_("g_one", "user", kind, **data)


@pytest.mark.spec("CCCS-055", "CCCS-056")
def test_a_repeat_inside_the_window_is_the_first_event_also_after_a_restart(room: World) -> None:
    first = room.say("g_one", "ann", "x", client_id="k")
    for seconds, restart in ((0, False), (100, True), (200, False)):
        room.clock.move(seconds)
        if restart:
            room.reopen()
        again = room.try_("g_one", "ann", "chat.message", text="x", client_id="k")
        assert isinstance(again, Duplicate)
        assert again.event.event_id == first.id
    assert room.state("g_one").last_seq == first.seq
    room.clock.move(0.000001)
    later = room.try_("g_one", "ann", "chat.message", text="x", client_id="k")
    assert isinstance(later, Committed)
    # The new one has a window of its own.
    room.clock.move(299)
    again = room.try_("g_one", "ann", "chat.message", text="x", client_id="k")
    assert isinstance(again, Duplicate)
    assert again.event.event_id == later.event.event_id


@pytest.mark.spec("CCCS-055")
def test_the_window_is_a_setting(world: World) -> None:
    world.group("g_one", ann="peer")
    world.settings = AdmissionSettings(idempotency_window=Moment(3600 * SECOND))
    world.reopen()
    first = world.say("g_one", "ann", "x", client_id="k")
    world.clock.move(3500)
    assert world.try_("g_one", "ann", "chat.message", text="x", client_id="k").event.event_id == first.id


@pytest.mark.spec("CCCS-055", "CCCS-057")
def test_the_key_belongs_to_one_writer_in_one_group(room: World) -> None:
    room.group("g_two", ann="peer")
    room.say("g_one", "ann", "x", client_id="k")
    for group, by in (("g_one", "bob"), ("g_two", "ann"), ("g_one", "svc:bot")):
        assert isinstance(room.try_(group, by, "chat.message", text="x", client_id="k"), Committed)
    for kind, data in (("chat.message", {"text": "y"}), ("x.foo.bar", {"text": "x"})):
        with refusal("idempotency_conflict", "CCCS-057"):
            room.try_("g_one", "ann", kind, client_id="k", **data)


@pytest.mark.spec("CCCS-042")
def test_a_service_speaks_for_people_outside_and_for_nobody_of_the_group(room: World) -> None:
    room.do("g_one", "user", "x.tacit.person.add", principal="usr:eve", title="Eve")
    outside = {"id": "slack:U1", "kind": "human", "displayName": "Maria"}
    said = room.say("g_one", "svc:bot", "hello", author=outside)
    assert said.data["author"] == outside
    for author in (
        {"id": "user", "kind": "human"},
        {"id": "ann", "kind": "human"},
        {"id": "Ann", "kind": "human"},
        {"id": "usr:eve", "kind": "human"},
        {"id": "usr:new", "kind": "human"},
        {"id": "svc:other", "kind": "tool"},
        {"id": "system", "kind": "human"},
        {"id": "slack:U2", "kind": "agent"},
        {"id": "slack:U2", "kind": "system"},
        {"id": "slack:U2", "kind": "human", "displayName": "Eve"},
        {"id": "slack:U2", "kind": "human", "display_name": "ANN"},
    ):
        with refusal("permission_denied", "CCCS-042"):
            room.say("g_one", "svc:bot", "stop the deploy", author=author)
    # Whoever speaks for itself is not asked: the member means nothing there.
    assert room.say("g_one", "bob", "hello", author={"id": "ann", "kind": "agent"}).by == "bob"


@pytest.mark.spec("CCCS-056", "CCCS-087")
def test_what_the_hub_fills_in_makes_no_mismatch(room: World) -> None:
    path = room.blob("g_one", "ann", b"bytes")
    data = {"text": "x", "attachments": [{"path": path}], "client_id": "k"}
    first = room.do("g_one", "ann", "chat.message", **data)
    assert first.data["attachments"] == [{"path": path, "sha256": path, "bytes": 5}]
    again = room.try_("g_one", "ann", "chat.message", **data)
    assert isinstance(again, Duplicate)


@pytest.mark.parametrize("odd", [[1], [None, "a"], {"a": 1}, "x", [[{}]]])
def test_a_repeat_of_an_own_kind_with_odd_members_is_a_repeat(room: World, odd: object) -> None:
    first = room.do("g_one", "ann", "x.foo.bar", client_id="k", attachments=odd)
    again = room.try_("g_one", "ann", "x.foo.bar", client_id="k", attachments=odd)
    assert isinstance(again, Duplicate)
    assert again.event.event_id == first.id


@pytest.mark.spec("CCCS-021", "CCCS-022", "CCCS-024", "CCCS-028", "CCCS-030", "CCCS-054", "CCCS-085")
def test_members_that_nobody_knows_come_back_as_they_went_in(room: World) -> None:
    path = room.blob("g_one", "ann", b"bytes")
    sent = {
        "text": "x", "v": 7, "thread": "t", "client_ts": "1999-01-01T00:00:00Z", "née": [1.5, None, {"ü": True}],
        "big": 2**64 - 1, "refs": [{"kind": "hologram", "z": 1}],
    }  # fmt: skip
    room.do("g_one", "ann", "x.foo.bar", **sent)
    room.say("g_one", "user", "before")
    event = room.do("g_one", "ann", "chat.message", **sent, attachments=[{"path": path, "colour": "red"}])
    stored = room.events("g_one")
    assert stored[-1].id == event.id
    assert {name: stored[-1].data[name] for name in sent} == sent
    assert stored[-1].data["attachments"][0]["colour"] == "red"
    assert stored[-3].data == sent


@pytest.mark.spec("CCCS-052", "CCCS-054")
def test_reserved_and_display_members_have_no_effect(room: World) -> None:
    with_them = room.say(
        "g_one", "ann", "x", to=["bob"], thread="T", quote_text="@all attention", priority="normal"
    )
    without = room.say("g_one", "ann", "x", to=["bob"], priority="normal")
    one, two = room.page("g_one")[-2:]
    assert (one.named, one.private, one.everyone, one.root) == (
        two.named,
        two.private,
        two.everyone,
        two.root,
    )
    assert room.unread("g_one", "bob") == [with_them.id, without.id]


@pytest.mark.spec("CCCS-008", "CCCS-009", "CCCS-010")
def test_a_scope_has_one_key_for_ever(world: World) -> None:
    world.group("g_one", scopes=["file:///a", "file:///b"])
    world.group("g_two", scopes=["file:///a"])
    one, two = list(world.state("g_one").scopes)
    assert one != two
    assert one not in world.state("g_two").scopes
    again = world.do("g_one", "user", "group.attach_scope", url="file:///a", scope_key="mine")
    assert again.data["scope_key"] == one
    world.do("g_one", "user", "group.attach_scope", url="file:///c")
    world.reopen()
    assert len(world.state("g_one").scopes) == 3
    outcome = world.store.append(submission("g_one", "user", "chat.message", {"text": "x"}, two))
    assert world.events("g_one")[-1].scope_key == two
    assert isinstance(outcome, Committed)
    with refusal("invalid_request", "CCCS-009"):
        world.store.append(submission("g_two", "user", "chat.message", {"text": "x"}, two))


@pytest.mark.spec("CCCS-011", "CCCS-012", "CCCS-117")
def test_the_roster_is_the_fold_of_its_events(world: World) -> None:
    world.group("g_one", boss="foreman", ann="peer")
    world.do("g_one", "boss", "actor.add", actor_id="bob", role="peer", title="Bob", roles=["tester"])
    world.do("g_one", "boss", "actor.update", actor_id="ann", role=None, roles=["writer"])
    world.do("g_one", "user", "actor.remove", actor_id="boss")
    world.do("g_one", "user", "group.update", title="New title")
    for _ in range(2):
        state = world.state("g_one")
        assert state.title == "New title"
        assert [(a.actor_id, a.role, a.title, a.roles) for a in state.present()] == [
            ("ann", None, None, ("writer",)),
            ("bob", "peer", "Bob", ("tester",)),
        ]
        world.reopen()
    with refusal("invalid_request", "CCCS-011"):
        world.try_("g_one", "user", "actor.add", actor_id="boss")
    with refusal("permission_denied", "CCCS-004"):
        world.say("g_one", "boss", "I am back")


@pytest.mark.spec("CCCS-094", "CCCS-118")
def test_a_task_can_be_named_once_it_is_in_the_store_and_no_longer_when_it_is_gone(room: World) -> None:
    ref = [{"kind": "task_ref", "task_id": "T1"}]
    with refusal("invalid_request", "CCCS-094"):
        room.say("g_one", "ann", "x", refs=ref)
    room.do("g_one", "ann", "context.sync", ops=[{"op": "set", "store": "tasks", "key": "T1", "value": {}}])
    room.say("g_one", "ann", "x", refs=ref)
    room.do("g_one", "ann", "context.sync", ops=[{"op": "delete", "store": "tasks", "key": "T1"}])
    with refusal("invalid_request", "CCCS-094"):
        room.say("g_one", "ann", "x", refs=ref)


@pytest.mark.spec("CCCS-120")
def test_the_first_example_of_the_text(world: World) -> None:
    world.group("g_123", scopes=["file:///project"], foreman="foreman")
    (key,) = world.state("g_123").scopes
    text = {
        "text": "Please review the release checklist today.", "format": "plain", "priority": "attention",
        "to": ["@foreman"],
    }  # fmt: skip
    asked = world.store.append(submission("g_123", "user", "chat.message", text, key)).event
    assert world.owed("g_123", "foreman") == [asked.event_id]
    with refusal("permission_denied", "CCCS-060"):
        world.try_("g_123", "user", "chat.ack", actor_id="foreman", event_id=asked.event_id)
    ack = world.do("g_123", "foreman", "chat.ack", actor_id="foreman", event_id=asked.event_id)
    assert (ack.scope_key, ack.by) == ("", "foreman")
    assert world.owed("g_123", "foreman") == []


@pytest.mark.spec("CCCS-098", "CCCS-121")
def test_the_second_example_of_the_text(world: World) -> None:
    world.group("g_src", boss="foreman")
    world.group("g_dst", ann="peer", bob="peer")
    asked = world.say("g_src", "user", "Please review.", priority="attention", to=["@foreman"])
    relayed = world.say(
        "g_dst", "svc:relay", "Please review.", priority="attention", to=["@all"],
        src_group_id="g_src", src_event_id=asked.id,
    )  # fmt: skip
    assert world.owed("g_dst", "ann") == world.owed("g_dst", "bob") == [relayed.id]
    assert world.owed("g_src", "boss") == [asked.id]
    world.do("g_dst", "ann", "chat.ack", actor_id="ann", event_id=relayed.id)
    assert world.owed("g_src", "boss") == [asked.id]
    assert world.owed("g_dst", "bob") == [relayed.id]
