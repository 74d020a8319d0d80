from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.base.errors import Refused
from tacit.ledger.cursor import Selection, selection
from tacit.ledger.io.reader import Reader
from tacit.ledger.io.store import DATABASE
from tests.ledger.world import World, refusal

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


class Meanwhile:
    """A connection that lets something happen just after the first query with a certain text."""

    def __init__(self, connection: Any, text: str, act: Callable[[], object]) -> None:
        self._connection = connection
        self._text = text
        self._act: Callable[[], object] | None = act

    def execute(self, statement: str, values: Any = ()) -> Any:
        rows = self._connection.execute(statement, values)
        if self._act is not None and self._text in statement:
            rows, act, self._act = _Fetched(rows.fetchall()), self._act, None
            act()
        return rows


class _Fetched(list[Any]):
    def fetchall(self) -> list[Any]:
        return self

    def fetchone(self) -> Any:
        return self[0] if self else None


@pytest.mark.spec("CCCS-103", "CCCS-107")
def test_a_page_of_several_kinds_skips_nothing_that_is_appended_meanwhile(room: World) -> None:
    room.say("g_one", "user", "first")
    room.do("g_one", "user", "system.notify", kind="info")

    def act() -> None:
        room.say("g_one", "user", "second")
        room.do("g_one", "user", "system.notify", kind="error")

    wanted = selection(kinds=["chat.message", "system.notify"])
    state = room.state("g_one")
    page = room.store.read(
        lambda reader: Reader(Meanwhile(reader._connection, "e.kind=?", act), reader._salvage).page(
            state, "user", wanted
        )
    )
    rest = selection(kinds=["chat.message", "system.notify"], since_seq=page.next_seq)
    after = room.store.read(lambda reader: reader.page(room.state("g_one"), "user", rest))
    seen = [found.seq for found in page.events + after.events]
    assert seen == [6, 7, 8, 9]


def test_count_and_list_of_an_inbox_agree_whatever_is_appended_meanwhile(room: World) -> None:
    one = room.say("g_one", "user", "first")
    room.say("g_one", "user", "second")

    def act() -> None:
        room.do("g_one", "ann", "chat.read", actor_id="ann", event_id=one.id)

    state = room.state("g_one")
    inbox = room.store.read(
        lambda reader: Reader(Meanwhile(reader._connection, "FROM reads", act), reader._salvage).inbox(
            state, "ann", 10
        )
    )
    assert (inbox.unread_count, len(inbox.unread), inbox.cursor) == (2, 2, 0)
    assert room.inbox("g_one", "ann").unread_count == 1


@pytest.mark.spec("CCCS-103", "CCCS-105", "CCCS-108")
def test_pages_joined_at_their_cursors_are_the_ledger(room: World) -> None:
    for number in range(700):
        room.say(
            "g_one", "user" if number % 3 else "ann", f"n{number}", to=["bob"] if number % 7 == 0 else []
        )
    whole = [found.seq for found in room.page("g_one")]
    for principal in ("user", "ann", "bob", "mute"):
        visible = [found.seq for found in room.page("g_one") if found.visible_to(principal)]
        for limit in (1, 7, 256, 257, 1000):
            after, joined = 0, []
            while after < whole[-1]:
                wanted = selection(since_seq=after, limit=limit)
                state = room.state("g_one")
                page = room.store.read(lambda reader, s=state, w=wanted, p=principal: reader.page(s, p, w))
                assert len(page.events) <= limit
                joined += [found.seq for found in page.events]
                assert page.next_seq > after
                after = page.next_seq
                if limit == 1 and len(joined) > 30:
                    break
            assert joined == visible[: len(joined)]
            assert limit == 1 or joined == visible


@pytest.mark.spec("CCCS-104", "CCCS-105")
def test_each_cursor_starts_where_it_says(room: World) -> None:
    made = []
    for _ in range(5):
        made += [room.say("g_one", "user"), room.say("g_one", "user")]
        room.clock.move(1)
    ids = [event.id for event in made]
    assert [e.id for e in room.events("g_one", since_seq=made[3].seq)] == ids[4:]
    assert [e.id for e in room.events("g_one", since_event_id=ids[3])] == ids[4:]
    # At or after, also between two times and when several events share one.
    assert [e.id for e in room.events("g_one", since_ts=made[4].ts)] == ids[4:]
    assert [e.id for e in room.events("g_one", since_ts="2026-01-13T10:00:01.5Z")] == ids[4:]
    assert [e.id for e in room.events("g_one", since_ts="2026-01-13T12:00:02+02:00")] == ids[4:]
    assert room.events("g_one", since_ts="2027-01-01T00:00:00Z") == []
    assert len(room.events("g_one", since_ts="1999-01-01T00:00:00Z")) == 15
    assert room.events("g_one", since_seq=2**39) == []
    with refusal("event_not_found", "CCCS-105"):
        room.events("g_one", since_event_id="019bb6cc-4900-76c5-a522-4a58b7f163d9")
    with refusal("event_not_found", "CCCS-105"):
        room.events("g_one", since_event_id="nonsense")


@pytest.mark.spec("CCCS-105")
def test_an_event_of_another_group_is_no_cursor(room: World) -> None:
    room.group("g_two")
    elsewhere = room.say("g_two", "user")
    with refusal("event_not_found", "CCCS-105"):
        room.events("g_one", since_event_id=elsewhere.id)


@pytest.mark.spec("CCCS-107", "CCCS-108")
def test_a_limit_counts_after_the_filter(room: World) -> None:
    for number in range(6):
        room.say("g_one", "user", f"n{number}")
        room.do("g_one", "user", f"x.foo.k{number % 2}", n=number)
    events = room.events("g_one", kinds=["x.foo.*"], limit=4)
    assert [event.data["n"] for event in events] == [0, 1, 2, 3]
    assert [e.data["n"] for e in room.events("g_one", kinds=["x.foo.k1"], limit=2)] == [1, 3]
    assert [e.seq for e in room.events("g_one", kinds=["x.*", "chat.*"])] == list(range(6, 18))
    assert room.events("g_one", kinds=["x.foo"]) == []
    assert room.events("g_one", kinds=["x.fo.*"]) == []


@pytest.mark.spec("CCCS-075")
def test_the_window_of_a_screen_shows_messages_and_no_notices(room: World) -> None:
    for number in range(4):
        room.say("g_one", "user", f"n{number}")
        room.do("g_one", "user", "system.notify", kind="info")
    room.say("g_one", "ann", "between us", to=["bob"])
    state = room.state("g_one")

    def window(principal: str, before: int, limit: int) -> list[str]:
        found = room.store.read(lambda reader: reader.window(state, principal, before, limit))
        return [event.data["text"] for event in found]

    assert window("user", 2**40, 3) == ["n2", "n3", "between us"]
    assert window("mute", 2**40, 3) == ["n1", "n2", "n3"]
    assert window("mute", 8, 9) == ["n0"]
    assert window("mute", 0, 9) == []


def test_a_thread_is_its_root_and_its_newest_replies(room: World) -> None:
    root = room.say("g_one", "user", "root")
    last = root
    for number in range(5):
        last = room.say("g_one", "ann", f"r{number}", reply_to=last.id if number % 2 else root.id)
    aside = room.say("g_one", "ann", "aside", reply_to=last.id, to=["bob"], conversation={"kind": "dm"})
    state = room.state("g_one")

    def thread(principal: str, event_id: str, limit: int = 3) -> list[str]:
        found = room.store.read(lambda reader: reader.thread(state, principal, event_id, limit))
        return [event.data["text"] for event in found]

    assert thread("user", last.id) == ["root", "r3", "r4", "aside"]
    assert thread("bob", root.id) == ["root", "r3", "r4", "aside"]
    assert "aside" not in thread("mute", root.id, 9)
    with refusal("event_not_found"):
        thread("mute", aside.id)


@pytest.mark.spec("CCCS-110")
def test_what_one_may_not_read_takes_no_place_in_a_thread(room: World) -> None:
    root = room.say("g_one", "user", "root")
    for number in range(4):
        room.say("g_one", "ann", f"r{number}", reply_to=root.id)
    for number in range(9):
        room.say("g_one", "ann", f"aside {number}", reply_to=root.id, to=["bob"], conversation={"kind": "dm"})
    state = room.state("g_one")
    for limit, texts in ((1, ["r3"]), (3, ["r1", "r2", "r3"]), (9, ["r0", "r1", "r2", "r3"])):
        found = room.store.read(lambda reader, limit=limit: reader.thread(state, "mute", root.id, limit))
        assert [event.data["text"] for event in found] == ["root", *texts]


@pytest.mark.spec("CCCS-110")
def test_a_short_answer_out_of_much_that_is_not_for_its_reader_takes_few_queries(room: World) -> None:
    root = room.say("g_one", "user", "root recipe")
    room.say("g_one", "ann", "open recipe", reply_to=root.id)
    for number in range(40):
        room.say(
            "g_one", "ann", f"recipe {number}", reply_to=root.id, to=["bob"], conversation={"kind": "dm"}
        )
    state, asked = room.state("g_one"), []

    def counted(reader: Reader) -> list[list[str]]:
        reader.connection.set_exec_trace(lambda _cursor, query, _values: asked.append(query) or True)
        try:
            found = [
                reader.thread(state, "mute", root.id, 1),
                reader.search(state, "mute", "recipe", 1),
                reader.window(state, "mute", state.last_seq + 1, 1),
                reader.page(state, "mute", Selection(since_seq=root.seq + 1, limit=1)).events,
            ]
        finally:
            reader.connection.set_exec_trace(None)
        return [[event.data["text"] for event in events] for events in found]

    texts = room.store.read(counted)
    assert texts == [["root recipe", "open recipe"], ["open recipe"], ["open recipe"], []]
    assert len(asked) < 20


def test_search_finds_words_and_beginnings_of_words_that_the_reader_may_see(room: World) -> None:
    room.say("g_one", "user", "The Crème brûlée recipe")
    room.say("g_one", "ann", "a secret recipe", to=["bob"])
    room.say("g_one", "user", 'say "recipe" AND NOT (x)')
    state = room.state("g_one")

    def search(principal: str, query: str) -> list[int]:
        return [found.seq for found in room.store.read(lambda r: r.search(state, principal, query, 10))]

    assert search("user", "recipe") == [8, 7, 6]
    assert search("mute", "recipe") == [8, 6]
    assert search("mute", "reci creme") == [6]
    assert search("user", 'NOT "x') == [8]
    assert search("user", "secret the") == []


@settings(max_examples=150)
@given(query=st.text(max_size=30) | st.text(alphabet="\0\"'*^:()-+ aNEARORNT{}", max_size=12))
def test_no_search_makes_the_store_fail(room: World, query: str) -> None:
    state = room.state("g_one")
    try:
        room.store.read(lambda reader: reader.search(state, "user", query, 5))
    except Refused as refused:
        if refused.code != "invalid_request":
            raise


@pytest.mark.spec("CCCS-007", "CCCS-011")
def test_an_unknown_group_or_actor_is_not_found(room: World) -> None:
    with refusal("group_not_found", "CCCS-007"):
        room.state("g_none")
    for nobody in ("nobody", "svc:bot", "usr:eve", "system"):
        with refusal("actor_not_found", "CCCS-011"):
            room.inbox("g_one", nobody)


def test_the_shared_context_and_the_tasks_are_apart(room: World) -> None:
    room.do(
        "g_one",
        "ann",
        "context.sync",
        ops=[
            {"op": "set", "key": "a", "value": [1]},
            {"op": "set", "key": "b", "value": None},
            {"op": "set", "store": "tasks", "key": "a", "value": {"title": "t"}},
            {"op": "delete", "key": "b"},
            {"op": "delete", "key": "never"},
        ],
    )
    state = room.state("g_one")
    assert room.store.read(lambda reader: reader.context(state, "context")) == {"a": [1]}
    assert room.store.read(lambda reader: reader.context(state, "tasks")) == {"a": {"title": "t"}}


def test_an_event_that_is_damaged_is_none_and_its_neighbours_are_read(tmp_path: Path) -> None:
    world = World(tmp_path / "data")
    world.group("g_one")
    said = [world.say("g_one", "user", f"message {number} " + "x" * 900) for number in range(30)]
    world.close()
    path = world.folder / DATABASE
    data = path.read_bytes()
    at = data.index(b'"text":"message 15 ')
    path.write_bytes(data[:at] + b"\xff" * 8 + data[at + 8 :])
    world = World(world.folder)
    group = world.state("g_one")
    found = world.store.read(lambda reader: [reader.at(group, one.seq) for one in said[14:17]])
    assert [one and one.event_id for one in found] == [said[14].id, None, said[16].id]
    world.close()
