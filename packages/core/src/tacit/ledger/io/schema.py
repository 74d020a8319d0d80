"""The tables, in two roles.

Journal: `groups`, `kinds`, `events`: written once, never changed (two triggers see to it), but for
content that is taken away (`erasure`). Read model:
everything else up to the line that says otherwise; `rebuild` may drop and refill it. What follows that line
(blobs, credentials) is not derived from events.

`pos` is group number * 2^40 + position: one b-tree for all groups, each group's events side by side.
"""

from __future__ import annotations

from typing import Final

from tacit.base.io.sqlite import Schema
from tacit.ledger.io.audience_index import index_by_audience

APPLICATION_ID: Final = 0x54414349
SHIFT: Final = 40
SEQ_MASK: Final = (1 << SHIFT) - 1

JOURNAL: Final = """
CREATE TABLE groups(
  number INTEGER PRIMARY KEY, group_id TEXT NOT NULL UNIQUE,
  last_seq INTEGER NOT NULL, last_ts INTEGER NOT NULL, chain BLOB NOT NULL);
CREATE TABLE kinds(number INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
CREATE TABLE events(
  pos INTEGER PRIMARY KEY, id BLOB NOT NULL, kind INTEGER NOT NULL, chain BLOB NOT NULL, raw BLOB NOT NULL);
CREATE UNIQUE INDEX events_id ON events(id);
CREATE INDEX events_kind ON events(kind);
CREATE TRIGGER events_stay BEFORE UPDATE ON events BEGIN SELECT RAISE(ABORT, 'events never change'); END;
CREATE TRIGGER events_remain BEFORE DELETE ON events BEGIN SELECT RAISE(ABORT, 'events never go'); END;
"""

# Plain broadcasts and public bookkeeping need no row in `audiences`: their kind says all (see Found).
# A lane is a recipient's own order of what was addressed to it: `@all` for everyone, `-name` for what a
# sender put into `@all` itself. `ordinal` counts along the lane, so that unread counts need no counting.
READ_MODEL: Final = """
CREATE TABLE profiles(
  group_no INTEGER PRIMARY KEY, title TEXT NOT NULL, created TEXT NOT NULL, scopes TEXT NOT NULL);
CREATE TABLE actors(
  group_no INTEGER, actor_id TEXT, role TEXT, title TEXT, roles TEXT NOT NULL, joined INTEGER NOT NULL,
  removed INTEGER, PRIMARY KEY(group_no, actor_id)) WITHOUT ROWID;
CREATE TABLE people(
  group_no INTEGER, principal TEXT, title TEXT, joined INTEGER NOT NULL,
  PRIMARY KEY(group_no, principal)) WITHOUT ROWID;
CREATE TABLE audiences(pos INTEGER PRIMARY KEY, everyone INTEGER, private INTEGER, named TEXT, root INTEGER);
CREATE TABLE lanes(
  group_no INTEGER, lane TEXT, seq INTEGER, ordinal INTEGER NOT NULL,
  PRIMARY KEY(group_no, lane, seq)) WITHOUT ROWID;
CREATE TABLE duties(
  group_no INTEGER, actor TEXT, duty TEXT, seq INTEGER,
  PRIMARY KEY(group_no, actor, duty, seq)) WITHOUT ROWID;
CREATE TABLE duty_counts(
  group_no INTEGER, actor TEXT, duty TEXT, open INTEGER NOT NULL,
  PRIMARY KEY(group_no, actor, duty)) WITHOUT ROWID;
CREATE TABLE marks(
  group_no INTEGER, target INTEGER, mark TEXT, actor TEXT, detail TEXT, seq INTEGER NOT NULL, holds INTEGER,
  PRIMARY KEY(group_no, target, mark, actor, detail)) WITHOUT ROWID;
CREATE TABLE reads(
  group_no INTEGER, actor TEXT, seq INTEGER NOT NULL, said INTEGER NOT NULL,
  PRIMARY KEY(group_no, actor)) WITHOUT ROWID;
CREATE TABLE submissions(
  group_no INTEGER, by TEXT, client_id TEXT, seq INTEGER NOT NULL, at INTEGER NOT NULL,
  PRIMARY KEY(group_no, by, client_id)) WITHOUT ROWID;
CREATE TABLE threads(
  group_no INTEGER, root INTEGER, seq INTEGER, PRIMARY KEY(group_no, root, seq)) WITHOUT ROWID;
CREATE TABLE context(
  group_no INTEGER, store TEXT, key TEXT, value BLOB NOT NULL, seq INTEGER NOT NULL,
  PRIMARY KEY(group_no, store, key)) WITHOUT ROWID;
CREATE TABLE blob_refs(
  group_no INTEGER, path TEXT, seq INTEGER, PRIMARY KEY(group_no, path, seq)) WITHOUT ROWID;
CREATE VIRTUAL TABLE search USING fts5(
  text, content='', columnsize=0, tokenize='unicode61 remove_diacritics 2');
"""

PROJECTIONS: Final = (
    "profiles",
    "actors",
    "people",
    "audiences",
    "talks",
    "talk_parties",
    "lanes",
    "duties",
    "duty_counts",
    "marks",
    "reads",
    "submissions",
    "threads",
    "speech",
    "context",
    "blob_refs",
    "folds",
)

# Not derived from events; a rebuild leaves these alone.
STREAM: Final = "stream"
"""The fact that a file follows a stream, and which: what it lacks can be had again."""
OWN: Final = """
CREATE TABLE blobs(
  group_no INTEGER, path TEXT, sha256 TEXT NOT NULL, bytes INTEGER NOT NULL, mime_type TEXT NOT NULL,
  PRIMARY KEY(group_no, path)) WITHOUT ROWID;
CREATE TABLE blob_owners(
  group_no INTEGER, path TEXT, principal TEXT, PRIMARY KEY(group_no, path, principal)) WITHOUT ROWID;
CREATE TABLE credentials(
  token_hash BLOB PRIMARY KEY, token_id TEXT NOT NULL UNIQUE, principal TEXT NOT NULL, group_id TEXT,
  created INTEGER NOT NULL, revoked INTEGER) WITHOUT ROWID;
CREATE INDEX credentials_principal ON credentials(principal, group_id);
CREATE TABLE services(name TEXT PRIMARY KEY, groups TEXT, created INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE facts(name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
"""

# What folds above the ledger keep between two events, by fold and key. `open` marks what a fold must find
# without knowing its key: live claims, unmet duties. The first ledgers were made without `speech`.
FOLDS: Final = """
CREATE TABLE IF NOT EXISTS speech(
  group_no INTEGER, mid TEXT, seq INTEGER, tid TEXT NOT NULL, PRIMARY KEY(group_no, mid, seq)) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS speech_trace ON speech(group_no, tid, seq);
CREATE TABLE folds(
  group_no INTEGER, fold TEXT, key TEXT, open INTEGER NOT NULL, value BLOB NOT NULL,
  PRIMARY KEY(group_no, fold, key)) WITHOUT ROWID;
CREATE INDEX folds_open ON folds(group_no, fold) WHERE open;
CREATE TABLE webhooks(
  group_id TEXT, session TEXT, url TEXT NOT NULL, secret TEXT NOT NULL, version TEXT NOT NULL,
  PRIMARY KEY(group_id, session)) WITHOUT ROWID;
"""

# Private talk had an index of its own, all of it in one; since then each talk has (`audience_index`).
PRIVATE_TALK: Final = "CREATE INDEX audiences_private ON audiences(pos) WHERE private"

# Each event gets a salt, which the chain covers (`redaction`); those from before have none. An event may lose
# its content, and its salt with it, when it is on the list of what is to be erased.
ERASURE: Final = """
ALTER TABLE events ADD COLUMN salt BLOB;
CREATE TABLE erasures(number INTEGER PRIMARY KEY, pos INTEGER, sha256 TEXT);
CREATE INDEX erasures_pos ON erasures(pos);
DROP TRIGGER events_stay;
CREATE TRIGGER events_stay BEFORE UPDATE ON events
WHEN NEW.pos<>OLD.pos OR NEW.id<>OLD.id OR NEW.kind<>OLD.kind OR NEW.chain<>OLD.chain OR NEW.salt IS NOT x''
  OR OLD.salt IS x'' OR NOT EXISTS(SELECT 1 FROM erasures WHERE pos=OLD.pos)
BEGIN SELECT RAISE(ABORT, 'events never change'); END;
INSERT INTO search(search, rank) VALUES('secure-delete', 1);
"""

# A token that a sign-in link made is its browser's, and ends when nobody uses it (`hub/browsers`).
BROWSERS: Final = """
ALTER TABLE credentials ADD COLUMN browser INTEGER NOT NULL DEFAULT 0;
ALTER TABLE credentials ADD COLUMN used INTEGER;
"""

SCHEMA: Final = Schema(
    APPLICATION_ID, (JOURNAL + READ_MODEL + OWN, FOLDS, PRIVATE_TALK, index_by_audience, ERASURE, BROWSERS)
)
