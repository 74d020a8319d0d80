"""What the relay keeps, table by table, and nothing else (A2ACP-005).

Accounts, public passkey credentials, public keys, undelivered envelopes, sealed questions to guests and their
sealed answers, counters, federation peers. There is no column for anything a packet says.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Final, cast

from tacit.base.io.sqlite import Schema

if TYPE_CHECKING:
    import apsw

_FIRST: Final = """
CREATE TABLE accounts (
  id INTEGER PRIMARY KEY,
  username TEXT NOT NULL UNIQUE,
  skeleton TEXT NOT NULL UNIQUE,
  email_hash BLOB,
  state TEXT NOT NULL CHECK (state IN ('active', 'deleted')),
  created_at INTEGER NOT NULL
) STRICT;
CREATE TABLE passkeys (
  credential_id BLOB PRIMARY KEY,
  account INTEGER NOT NULL REFERENCES accounts (id),
  public_key BLOB NOT NULL,
  sign_count INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX passkeys_of ON passkeys (account);
CREATE TABLE agents (
  account INTEGER PRIMARY KEY REFERENCES accounts (id),
  signing_key BLOB NOT NULL,
  serial INTEGER NOT NULL,
  record BLOB NOT NULL,
  registered_at INTEGER NOT NULL
) STRICT;
CREATE TABLE prekeys (
  account INTEGER NOT NULL,
  kind INTEGER NOT NULL,
  id INTEGER NOT NULL,
  body BLOB NOT NULL,
  PRIMARY KEY (account, kind, id)
) STRICT, WITHOUT ROWID;
CREATE TABLE codes (
  hash BLOB PRIMARY KEY,
  purpose TEXT NOT NULL CHECK (purpose IN ('enrol', 'invite', 'recovery')),
  username TEXT NOT NULL,
  not_before INTEGER NOT NULL,
  expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE queue (
  position INTEGER PRIMARY KEY,
  recipient INTEGER NOT NULL,
  sender TEXT NOT NULL,
  packet_id TEXT NOT NULL,
  tag TEXT NOT NULL,
  size INTEGER NOT NULL,
  accepted_at INTEGER NOT NULL,
  envelope BLOB NOT NULL,
  sig TEXT NOT NULL
) STRICT;
CREATE INDEX queue_of ON queue (recipient);
CREATE UNIQUE INDEX queue_once ON queue (recipient, packet_id, sender);
CREATE TABLE outgoing (
  position INTEGER PRIMARY KEY,
  domain TEXT NOT NULL,
  sender TEXT NOT NULL,
  packet_id TEXT NOT NULL,
  recipient TEXT NOT NULL,
  tag TEXT NOT NULL,
  accepted_at INTEGER NOT NULL,
  envelope BLOB NOT NULL,
  sig TEXT NOT NULL
) STRICT;
CREATE INDEX outgoing_to ON outgoing (domain);
CREATE UNIQUE INDEX outgoing_once ON outgoing (sender, packet_id, recipient);
CREATE TABLE markers (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  recipient INTEGER NOT NULL,
  tag TEXT NOT NULL,
  refused INTEGER NOT NULL,
  UNIQUE (recipient, tag)
) STRICT;
CREATE TABLE notices (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  account INTEGER NOT NULL,
  frame BLOB NOT NULL
) STRICT;
CREATE INDEX notices_of ON notices (account);
CREATE TABLE peers (
  domain TEXT PRIMARY KEY,
  policy TEXT NOT NULL CHECK (policy IN ('allowed', 'denied', 'seen')),
  relay_key BLOB,
  pinned_at INTEGER
) STRICT, WITHOUT ROWID;
CREATE TABLE blocked (address TEXT PRIMARY KEY) STRICT, WITHOUT ROWID;
CREATE TABLE standing (sender TEXT PRIMARY KEY, score INTEGER NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE operator_changes (id INTEGER PRIMARY KEY CHECK (id = 1), version INTEGER NOT NULL) STRICT;
INSERT INTO operator_changes VALUES (1, 0);
CREATE TABLE secrets (name TEXT PRIMARY KEY, value BLOB NOT NULL) STRICT, WITHOUT ROWID;
"""


def once(recipient: int, sender: str, packet_id: str, sig: str) -> bytes:
    """What makes a stored packet the same as another: sixteen bytes in place of four columns.

    Its signature is part of it: a packet that its sender has sealed anew, as its recipient could not open it,
    must not get lost because the copy before it is still there. A repeat has the same bytes.

    An index over the columns themselves is four times as large, and since packet ids are random, nearly every
    packet of a commit dirtied a page of its own in it.
    """
    named = f"{recipient}\n{sender}\n{packet_id}\n{sig}".encode()
    return hashlib.blake2b(named, digest_size=16).digest()


def _short_index(file: apsw.Connection) -> None:
    file.execute("DROP INDEX queue_once")
    file.execute("ALTER TABLE queue ADD COLUMN once BLOB NOT NULL DEFAULT x''")
    _count_once(file)
    file.execute("CREATE UNIQUE INDEX queue_once ON queue (once)")


_AGENT_STEPS: Final = """
CREATE TABLE agent_steps (
  account INTEGER PRIMARY KEY,
  signing_key BLOB NOT NULL,
  steps INTEGER NOT NULL,
  sig TEXT NOT NULL
) STRICT;
"""


def _count_once(file: apsw.Connection) -> None:
    stored = file.execute("SELECT position, recipient, sender, packet_id, sig FROM queue").fetchall()
    rows = cast("list[tuple[int, int, str, str, str]]", stored)
    file.executemany(
        "UPDATE queue SET once=? WHERE position=?",
        [
            (once(recipient, sender, packet_id, sig), position)
            for position, recipient, sender, packet_id, sig in rows
        ],
    )


def _sealed_anew(file: apsw.Connection) -> None:
    _count_once(file)
    file.execute("DROP INDEX outgoing_once")
    file.execute("CREATE UNIQUE INDEX outgoing_once ON outgoing (sender, packet_id, recipient, sig)")


# Whom an account has written to, by digest, and when first (`relay.io.correspondence`).
_WRITTEN: Final = """
CREATE TABLE written (
  account INTEGER NOT NULL, whom BLOB NOT NULL, at INTEGER NOT NULL, PRIMARY KEY (account, whom)
) STRICT, WITHOUT ROWID;
"""

_RECOVERED: Final = "ALTER TABLE codes ADD COLUMN may_reset INTEGER NOT NULL DEFAULT 0;"

_OWNED: Final = """
ALTER TABLE passkeys ADD COLUMN made_at INTEGER NOT NULL DEFAULT 0;
ALTER TABLE passkeys ADD COLUMN used_at INTEGER NOT NULL DEFAULT 0;
CREATE TABLE ended_sessions (account INTEGER PRIMARY KEY, until INTEGER NOT NULL) STRICT;
"""

_EPOCHS: Final = "ALTER TABLE prekeys ADD COLUMN epoch INTEGER NOT NULL DEFAULT 0;"

# One-time prekeys that were handed out, by a digest of the request and of who asked; nonces of other relays.
_HANDED: Final = """
CREATE TABLE handed (
  once BLOB PRIMARY KEY,
  account INTEGER NOT NULL,
  whom BLOB NOT NULL,
  stranger INTEGER NOT NULL,
  at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX handed_of ON handed (account, at);
CREATE TABLE nonces (
  domain TEXT NOT NULL, nonce TEXT NOT NULL, at INTEGER NOT NULL, PRIMARY KEY (domain, nonce)
) STRICT, WITHOUT ROWID;
CREATE INDEX nonces_at ON nonces (at);
"""

# Links of guests: sealed questions and answers. Rows outlast their links: limits and repeats stay known.
_GUESTS: Final = """
CREATE TABLE guests (
  guest TEXT PRIMARY KEY,
  account INTEGER NOT NULL,
  proof_digest BLOB NOT NULL,
  question BLOB NOT NULL,
  opened_at INTEGER NOT NULL,
  until INTEGER NOT NULL,
  revoked INTEGER NOT NULL DEFAULT 0,
  answers INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;
CREATE INDEX guests_of ON guests (account);
CREATE INDEX guests_until ON guests (until);
CREATE TABLE guest_answers (
  guest TEXT NOT NULL,
  number INTEGER NOT NULL,
  once BLOB NOT NULL,
  at INTEGER NOT NULL,
  sealed BLOB NOT NULL,
  PRIMARY KEY (guest, number)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX guest_answers_once ON guest_answers (guest, once);
"""

# What was spent of each budget (`relay.io.budgets`), by the hour and by a digest of whose it is.
_SPENT: Final = """
CREATE TABLE spent (
  whose BLOB NOT NULL,
  hour INTEGER NOT NULL,
  count INTEGER NOT NULL,
  size INTEGER NOT NULL,
  PRIMARY KEY (whose, hour)
) STRICT, WITHOUT ROWID;
CREATE INDEX spent_hour ON spent (hour);
"""

# When a packet was last exchanged with a relay whose key is pinned. Those of before may have been used.
_USED: Final = """
ALTER TABLE peers ADD COLUMN used_at INTEGER;
UPDATE peers SET used_at=pinned_at;
"""

SCHEMA: Final = Schema(
    application_id=0x7AC17701,
    steps=(
        _FIRST,
        _short_index,
        _sealed_anew,
        _AGENT_STEPS,
        _WRITTEN,
        _RECOVERED,
        _OWNED,
        _EPOCHS,
        _HANDED,
        _GUESTS,
        _SPENT,
        _USED,
    ),
)
