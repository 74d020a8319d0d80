"""Whose words are whose in the full-text index, and which talk is whose (CCCS-107, CCCS-110).

Every word is indexed under a key: the group's for what all may read; for private words their talk's, and once
more the owner's, who reads every talk. A search looks under the caller's keys and nowhere else, so that its
work says nothing of words that the caller may not read. A filter beside the words would not do: a prefix
gathers every row that has it before any filter is asked.

A talk is all that exactly the same parties may read. Its number is the position of its first event, so that a
rebuild finds the same; the hub, which reads nothing, is no party. Knows nothing of who may write.
"""

from __future__ import annotations

import json
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Final

import apsw

from tacit.ledger.principal import SYSTEM, USER

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

_SHIFT: Final = 40
_AFTER_KEY: Final = "\ue000"
"""Between a key and its word. All words stand behind one, so that no text can name another's key."""
_ASCII: Final = bytes(ord(chr(one).lower()) if chr(one).isalnum() else ord(" ") for one in range(128)) * 2
"""What the tokenizer makes of plain ASCII, in a tenth of its time: letters and digits, in small ones."""
TOGETHER: Final = 64
"""How many talks one query asks for; a caller with more of them asks several times."""

# The words come divided and folded by `unicode61`. To the index's own tokenizer whatever is not ASCII belongs
# to a word, so that it takes each of them as it is.
TABLES: Final = """
DROP INDEX IF EXISTS audiences_private;
ALTER TABLE audiences ADD COLUMN talk INTEGER;
CREATE INDEX audiences_talk ON audiences(talk, pos) WHERE private;
CREATE INDEX marks_deleted ON marks(group_no, target) WHERE mark='delete';
CREATE TABLE talks(
  group_no INTEGER, parties TEXT, talk INTEGER NOT NULL, PRIMARY KEY(group_no, parties)) WITHOUT ROWID;
CREATE TABLE talk_parties(
  group_no INTEGER, principal TEXT, talk INTEGER, PRIMARY KEY(group_no, principal, talk)) WITHOUT ROWID;
DROP TABLE search;
CREATE VIRTUAL TABLE search USING fts5(text, content='', columnsize=0, tokenize='ascii');
"""
NEW_TALK: Final = "INSERT INTO talks VALUES(?,?,?)"
NEW_PARTY: Final = "INSERT INTO talk_parties VALUES(?,?,?)"

_AUDIENCES: Final = """
SELECT a.pos, a.named, e.raw FROM audiences a JOIN events e ON e.pos=a.pos
WHERE a.private AND a.pos>? ORDER BY a.pos LIMIT 1000
"""
# An edit of something unknown is a record for the owner alone, and was never searched for.
_TEXTS: Final = """
SELECT e.pos, e.raw, a.talk FROM events e LEFT JOIN audiences a ON a.pos=e.pos
WHERE e.kind IN (SELECT number FROM kinds WHERE name IN ('chat.message', 'x.c2a.edit'))
  AND NOT (coalesce(a.private, 0) AND a.named=''
    AND e.kind=(SELECT number FROM kinds WHERE name='x.c2a.edit'))
ORDER BY e.pos
"""


def parties_text(parties: Iterable[str]) -> str:
    """A talk's parties as they are kept."""
    return "\n".join(sorted(set(parties) - {SYSTEM}))


def parties_rows(number: int, parties: str, talk: int) -> list[tuple[int, str, int]]:
    """Whose talk it is."""
    return [(number, principal, talk) for principal in parties.split("\n") if principal]


class AudienceIndex:
    """Turns texts into what the index keeps of them, and queries into what they look for."""

    def __init__(self, connection: apsw.Connection) -> None:
        self._connection = connection

    @cached_property
    def _words(self) -> apsw.FTS5Tokenizer:
        return self._connection.fts5_tokenizer("unicode61", ["remove_diacritics", "2"])

    def _split(self, text: str, reason: int) -> list[bytes]:
        if text.isascii():
            return text.encode().translate(_ASCII).split()
        words = self._words(text.encode(), reason, None, include_offsets=False, include_colocated=False)
        return [word.encode() for word in words]

    def document(self, number: int, talk: int, text: str) -> bytes:
        """A text's words under the keys of those who may read it; `talk` is 0 when all of the group may."""
        words = self._split(text, apsw.FTS5_TOKENIZE_DOCUMENT)
        if not words:
            return b""
        if not talk:
            return _under(_group_key(number), words)
        return _under(_talk_key(talk), words) + b" " + _under(_owner_key(number), words)

    def phrases(self, query: str) -> list[list[bytes]]:
        """The words of a query, those that were written together in one list."""
        split = (self._split(part, apsw.FTS5_TOKENIZE_QUERY) for part in query.split())
        return [words for words in split if words]


def _under(key: bytes, words: list[bytes]) -> bytes:
    return key + (b" " + key).join(words)


@lru_cache(maxsize=1024)
def _group_key(number: int) -> bytes:
    return f"g{number:x}{_AFTER_KEY}".encode()


def _owner_key(number: int) -> bytes:
    return f"o{number:x}{_AFTER_KEY}".encode()


def _talk_key(talk: int) -> bytes:
    return f"t{talk:x}{_AFTER_KEY}".encode()


def expressions(
    connection: apsw.Connection, number: int, principal: str, phrases: list[list[bytes]]
) -> list[str]:
    """What to look for: every phrase, its last word as a prefix, under any one of the caller's keys."""
    if principal == USER:
        return [_expression([_group_key(number), _owner_key(number)], phrases)]
    rows = connection.execute(
        "SELECT talk FROM talk_parties WHERE group_no=? AND principal=?", (number, principal)
    )
    keys = [_group_key(number), *(_talk_key(row[0]) for row in rows)]
    return [_expression(keys[at : at + TOGETHER], phrases) for at in range(0, len(keys), TOGETHER)]


def _expression(keys: Sequence[bytes], phrases: list[list[bytes]]) -> str:
    """A text's words all have the same keys, so that each phrase may be asked for under any."""
    asked = (
        " OR ".join(f'"{b" ".join(key + word for word in words).decode()}"*' for key in keys)
        for words in phrases
    )
    return " AND ".join(f"({one})" for one in asked)


def index_by_audience(connection: apsw.Connection) -> None:
    """The step of the schema: tables as above, filled for a ledger that was kept without them."""
    connection.execute(TABLES)
    talks: dict[tuple[int, str], int] = {}
    at = 0
    while rows := connection.execute(_AUDIENCES, (at,)).fetchall():
        for at, named, raw in rows:
            number, by = at >> _SHIFT, str(json.loads(raw)["by"])
            parties = parties_text([*(named.split("\n") if named else ()), by])
            if (number, parties) not in talks:
                talks[number, parties] = at
                connection.execute(NEW_TALK, (number, parties, at))
                connection.executemany(NEW_PARTY, parties_rows(number, parties, at))
            connection.execute("UPDATE audiences SET talk=? WHERE pos=?", (talks[number, parties], at))
    connection.executemany("INSERT INTO search(rowid, text) VALUES(?,?)", _documents(connection))


def _documents(connection: apsw.Connection) -> Iterator[tuple[int, bytes]]:
    index = AudienceIndex(connection)
    for pos, raw, talk in connection.execute(_TEXTS):
        text = json.loads(raw)["data"].get("text")
        document = index.document(pos >> _SHIFT, talk or 0, text) if isinstance(text, str) else b""
        if document:
            yield pos, document
