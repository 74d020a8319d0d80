"""A search looks where its caller may read and nowhere else: by what it finds, and by the work it does."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import apsw
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit.base.io.sqlite import connect
from tacit.ledger.io import upkeep
from tacit.ledger.io.audience_index import TOGETHER, AudienceIndex
from tacit.ledger.io.schema import SCHEMA
from tacit.ledger.io.store import DATABASE
from tacit.ledger.io.timeline import TimelinePlace, privates, stretch
from tests.ledger.older import before_salts

if TYPE_CHECKING:
    from collections.abc import Callable

    from tacit.ledger.io.reader import Reader
    from tests.ledger.world import World

DM = {"conversation": {"kind": "dm"}}


def found(world: World, principal: str, words: str, limit: int = 50, group: str = "g_one") -> list[int]:
    state = world.state(group)
    return [one.seq for one in world.store.read(lambda reader: reader.search(state, principal, words, limit))]


def pages(world: World, query: Callable[[Reader], object]) -> int:
    """How many pages of the file a query looks at, on a connection that has asked before."""

    def counted(reader: Reader) -> int:
        query(reader)
        before = _looked_at(reader)
        query(reader)
        return _looked_at(reader) - before

    return world.store.read(counted)


def _looked_at(reader: Reader) -> int:
    status = reader.connection.status
    return status(apsw.SQLITE_DBSTATUS_CACHE_HIT)[0] + status(apsw.SQLITE_DBSTATUS_CACHE_MISS)[0]


def search_pages(world: World, principal: str, words: str) -> int:
    state = world.state("g_one")
    return pages(world, lambda reader: reader.search(state, principal, words, 20))


def merged(world: World) -> None:
    """Bring the index into one piece: into how many it falls depends on the commits, not on their words."""
    world.close()
    connection = connect(world.folder / DATABASE)
    connection.execute("INSERT INTO search(search) VALUES('optimize')")
    connection.close()
    world.reopen()


def gossip(world: World, count: int) -> None:
    """Others' private talk, and talk of another group, full of one word."""
    for number in range(count):
        world.say("g_one", "ann", f"the zebra {number} is ours alone, zebrafish", to=["bob"], **DM)
        world.say("g_two", "user", f"zebra {number} of another group")


@pytest.fixture
def two(room: World) -> World:
    room.group("g_two", zoe="peer")
    room.say("g_one", "user", "the public zero of the room")
    room.say("g_one", "boss", "a zeal between us", to=["mute"], **DM)
    return room


@pytest.mark.spec("CCCS-107", "CCCS-110")
def test_the_work_of_a_search_says_nothing_of_words_one_may_not_read(two: World) -> None:
    gossip(two, 150)
    for outsider in ("boss", "mute"):
        for known, unknown in (("zebra", "zebqa"), ("zeb", "zec"), ("zebra ours", "zebqa ourt")):
            assert found(two, outsider, known) == []
            assert search_pages(two, outsider, known) == search_pages(two, outsider, unknown)


@pytest.mark.spec("CCCS-107", "CCCS-110")
def test_the_work_of_a_search_stays_as_others_talk_grows(two: World) -> None:
    gossip(two, 20)
    merged(two)
    before, parties = search_pages(two, "mute", "ze"), search_pages(two, "bob", "zebra")
    gossip(two, 400)
    merged(two)
    # A tree may have become a level deeper, and that is all; for the parties it is many more rows.
    assert search_pages(two, "mute", "ze") <= before + 8
    assert search_pages(two, "bob", "zebra") > parties
    assert len(found(two, "bob", "zebra", 1000)) == 420
    assert len(found(two, "mute", "ze", 1000)) == 2


@pytest.mark.spec("CCCS-110")
def test_the_list_and_the_timeline_of_private_talk_read_ones_own_alone(two: World) -> None:
    def lists(principal: str, *parties: str) -> tuple[int, int]:
        state = two.state("g_one")
        place = TimelinePlace(parties=frozenset(parties))
        return (
            pages(two, lambda reader: privates(reader, state, principal)),
            pages(
                two,
                lambda reader: stretch(
                    reader, state, principal, place, start=state.last_seq + 1, back=True, limit=50
                ),
            ),
        )

    gossip(two, 20)
    before = lists("mute", "boss", "mute")
    gossip(two, 400)
    after = lists("mute", "boss", "mute")
    assert after[0] <= before[0] + 16
    assert after[1] <= before[1] + 16
    assert lists("mute", "ann", "bob")[1] <= 8


def test_words_are_found_under_whatever_form_they_were_written(two: World) -> None:
    seq = two.say(
        "g_one", "ann", "Übergrößen: naïve café-owner's \ue000odd o'clock 東京", to=["bob"], **DM
    ).seq
    for words in (
        "ubergro",
        "NAIVE caf",
        "cafe-own",
        "café-owner's",
        "\ue000odd",
        "o'cl",
        "東京",
        'oddly"* OR',
    ):
        for reader in ("ann", "bob", "user"):
            assert found(two, reader, words) == ([] if "oddly" in words else [seq]), words
        assert found(two, "mute", words) == []
    assert found(two, "ann", "owner cafe-clock") == []
    assert found(two, "ann", "!!! ...") == []


def test_nobody_reaches_anothers_words_by_writing_their_key(two: World) -> None:
    """What stands between a key and its word is a letter that anybody may write."""
    secret = two.say("g_one", "ann", "quagga", to=["bob"], **DM)
    rows = two.store.read(lambda reader: reader.connection.execute("SELECT talk FROM talks").fetchall())
    for (talk,) in rows:
        for forged in (f"t{talk:x}\ue000quagga", "o1\ue000quagga", f"x t{talk:x}\ue000quagga"):
            assert secret.seq not in found(two, "mute", forged)
            two.say("g_one", "mute", forged)
    assert found(two, "bob", "quagga") == found(two, "user", "quagga") == [secret.seq]


def test_a_caller_with_very_many_conversations_finds_in_all_of_them(two: World) -> None:
    names = [f"n{number}" for number in range(9)]
    for name in names:
        two.do("g_one", "user", "actor.add", actor_id=name)
    groups = [some for size in range(1, 5) for some in itertools.combinations(names, size)][
        : 2 * TOGETHER + 5
    ]
    said = [two.say("g_one", "ann", "one okapi", to=list(some), **DM).seq for some in groups]
    assert found(two, "ann", "okap", 1000) == said[::-1]
    assert found(two, "ann", "okap one", 3) == said[:-4:-1]
    assert found(two, "user", "okap", 1000) == said[::-1]
    mine = [seq for seq, some in zip(said, groups, strict=True) if "n3" in some]
    assert found(two, "n3", "okapi", 1000) == mine[::-1]
    assert found(two, "bob", "okapi") == []


def _as_it_was(world: World) -> None:
    """Turn the file back to the tables of the version before."""
    before_salts(world.folder / DATABASE)
    connection = connect(world.folder / DATABASE)
    texts = connection.execute(
        "SELECT pos, json_extract(CAST(raw AS TEXT), '$.data.text') FROM events "
        "WHERE kind=(SELECT number FROM kinds WHERE name='chat.message')"
    ).fetchall()
    connection.execute(
        "BEGIN; DROP INDEX audiences_talk; DROP INDEX marks_deleted; ALTER TABLE audiences DROP COLUMN talk; DROP TABLE talks; "
        "DROP TABLE talk_parties; DROP TABLE search; CREATE VIRTUAL TABLE search USING fts5("
        "text, content='', columnsize=0, tokenize='unicode61 remove_diacritics 2'); PRAGMA user_version=3; "
        "CREATE INDEX audiences_private ON audiences(pos) WHERE private"
    )
    connection.executemany("INSERT INTO search(rowid, text) VALUES(?,?)", texts)
    connection.execute("COMMIT")
    connection.close()


def test_a_ledger_of_the_version_before_opens_and_is_the_same(two: World) -> None:
    gossip(two, 5)
    asked = two.say("g_one", "ann", "a gnu?", to=["bob"], **DM)
    two.say("g_one", "bob", "gnu!", reply_to=asked.id)
    two.say("g_one", "user", "gnu for all \0 of you")
    two.do("g_one", "bob", "chat.reaction", actor_id="bob", event_id=asked.id, emoji="+1")
    two.close()
    live = upkeep.fingerprint(two.folder)
    _as_it_was(two)
    two.reopen()
    assert len(found(two, "ann", "gnu")) == 3
    assert len(found(two, "mute", "gnu")) == 1
    later = two.say("g_one", "bob", "and one gnu more", to=["ann"], **DM)
    assert found(two, "ann", "gnu")[0] == later.seq
    two.assert_rebuilds()
    two.close()
    _as_it_was(two)
    connection = connect(two.folder / DATABASE)
    SCHEMA.migrate(connection, two.folder / DATABASE)
    connection.close()
    assert upkeep.fingerprint(two.folder).keys() == live.keys()
    two.reopen()
    two.assert_rebuilds()


@given(st.text(st.characters(max_codepoint=127)))
def test_plain_ascii_is_divided_as_the_tokenizer_divides_it(text: str) -> None:
    connection = apsw.Connection(":memory:")
    tokenizer = connection.fts5_tokenizer("unicode61", ["remove_diacritics", "2"])
    words = tokenizer(
        text.encode(), apsw.FTS5_TOKENIZE_DOCUMENT, None, include_offsets=False, include_colocated=False
    )
    document = AudienceIndex(connection).document(1, 0, text)
    assert [word.partition("\ue000")[2] for word in document.decode().split()] == words
