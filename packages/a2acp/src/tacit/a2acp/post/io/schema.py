"""What an agent keeps on its own disk, in one file that only its owner can read (A2ACP-212, A2ACP-246)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tacit.base.io import sqlite
from tacit.base.io.sqlite import Schema

if TYPE_CHECKING:
    from pathlib import Path

FILE: Final = "agent.sqlite"

_FIRST: Final = """
CREATE TABLE identity (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  address TEXT NOT NULL,
  relay_url TEXT NOT NULL,
  signing_seed BLOB NOT NULL,
  agreement_private BLOB NOT NULL,
  serial INTEGER NOT NULL,
  record BLOB NOT NULL
) STRICT;
CREATE TABLE settings (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE contacts (
  address TEXT PRIMARY KEY,
  signing BLOB,
  agreement BLOB,
  serial INTEGER NOT NULL DEFAULT 0,
  trust TEXT NOT NULL DEFAULT 'pinned',
  offered_signing BLOB,
  offered_agreement BLOB,
  offered_serial INTEGER NOT NULL DEFAULT 0,
  encryption TEXT NOT NULL DEFAULT '',
  versions TEXT NOT NULL DEFAULT '',
  features TEXT NOT NULL DEFAULT '',
  welcome INTEGER NOT NULL DEFAULT 0,
  score INTEGER NOT NULL DEFAULT 50,
  faults TEXT NOT NULL DEFAULT '',
  flagged INTEGER NOT NULL DEFAULT 0,
  blocked INTEGER NOT NULL DEFAULT 0,
  fresh_session INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;
CREATE TABLE sessions (address TEXT PRIMARY KEY, state BLOB NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE prekeys (
  kind INTEGER NOT NULL,
  id INTEGER NOT NULL,
  private BLOB NOT NULL,
  made_at INTEGER NOT NULL,
  PRIMARY KEY (kind, id)
) STRICT, WITHOUT ROWID;
CREATE TABLE threads (
  thread_id TEXT NOT NULL,
  peer TEXT NOT NULL,
  sent_seq INTEGER NOT NULL DEFAULT 0,
  next_seq INTEGER NOT NULL DEFAULT 1,
  state TEXT NOT NULL DEFAULT 'open',
  protocol TEXT NOT NULL DEFAULT '',
  synced_at INTEGER,
  answered_at INTEGER,
  PRIMARY KEY (thread_id, peer)
) STRICT, WITHOUT ROWID;
CREATE TABLE history (
  position INTEGER PRIMARY KEY AUTOINCREMENT,
  direction TEXT NOT NULL CHECK (direction IN ('out', 'in')),
  peer TEXT NOT NULL,
  packet_id TEXT NOT NULL,
  thread_id TEXT NOT NULL,
  seq INTEGER NOT NULL,
  type TEXT NOT NULL,
  at INTEGER NOT NULL,
  state TEXT NOT NULL,
  ready INTEGER,
  payload BLOB NOT NULL,
  UNIQUE (direction, peer, packet_id)
) STRICT;
CREATE INDEX history_thread ON history (thread_id, peer, direction, position);
CREATE UNIQUE INDEX history_ready ON history (ready) WHERE ready IS NOT NULL;
CREATE INDEX history_waiting ON history (state) WHERE state IN ('held', 'asked');
CREATE TABLE seen (
  sender TEXT NOT NULL, packet_id TEXT NOT NULL, at INTEGER NOT NULL, PRIMARY KEY (sender, packet_id)
) STRICT, WITHOUT ROWID;
CREATE TABLE outbox (
  position INTEGER PRIMARY KEY AUTOINCREMENT,
  packet_id TEXT NOT NULL,
  peer TEXT NOT NULL,
  thread_id TEXT NOT NULL,
  payload BLOB NOT NULL,
  flags TEXT NOT NULL DEFAULT '',
  envelope BLOB,
  sig TEXT,
  state TEXT NOT NULL DEFAULT 'waiting' CHECK (state IN ('waiting', 'overflow', 'failed')),
  problem TEXT NOT NULL DEFAULT '',
  UNIQUE (peer, packet_id)
) STRICT;
CREATE TABLE notes (id INTEGER PRIMARY KEY AUTOINCREMENT, at INTEGER NOT NULL, text TEXT NOT NULL) STRICT;
"""

# No longer written: nothing here ends a thread. A step that files have taken stays.
_ENDINGS: Final = """
CREATE TABLE endings (
  thread_id TEXT NOT NULL, peer TEXT NOT NULL, at INTEGER NOT NULL, PRIMARY KEY (thread_id, peer)
) STRICT, WITHOUT ROWID;
"""

_UNJUDGED: Final = """
CREATE TABLE unjudged (
  position INTEGER PRIMARY KEY AUTOINCREMENT,
  sender TEXT NOT NULL,
  envelope BLOB NOT NULL,
  sig TEXT NOT NULL,
  at INTEGER NOT NULL,
  UNIQUE (sender, sig)
) STRICT;
"""

_RESENT: Final = """
CREATE TABLE resent (
  peer TEXT NOT NULL, packet_id TEXT NOT NULL, at INTEGER NOT NULL, PRIMARY KEY (peer, packet_id)
) STRICT, WITHOUT ROWID;
"""

_PENDING: Final = """
CREATE TABLE pending (
  address TEXT PRIMARY KEY,
  relay_url TEXT NOT NULL,
  signing_seed BLOB NOT NULL,
  agreement_private BLOB NOT NULL,
  serial INTEGER NOT NULL,
  record BLOB NOT NULL
) STRICT, WITHOUT ROWID;
"""

_FORMER: Final = """
CREATE TABLE former (
  agreement_private BLOB PRIMARY KEY, signing_seed BLOB NOT NULL, until INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
ALTER TABLE prekeys ADD COLUMN replaced_at INTEGER;
"""

# `sealings`: how each packet of ours was sealed last, and what became of it. `dropped`: envelopes that their
# sender signed and that ended here. `handshakes`: with which keys sessions were begun.
_HEALING: Final = """
CREATE TABLE sealings (
  peer TEXT NOT NULL,
  packet_id TEXT NOT NULL,
  digest BLOB NOT NULL,
  session BLOB NOT NULL,
  at INTEGER NOT NULL,
  tries INTEGER NOT NULL DEFAULT 0,
  state TEXT NOT NULL DEFAULT 'sent' CHECK (state IN ('sent', 'due', 'repairing', 'repaired', 'lost')),
  PRIMARY KEY (peer, packet_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX sealings_open ON sealings (state, at) WHERE state<>'sent';
CREATE TABLE dropped (
  sender TEXT NOT NULL,
  digest BLOB NOT NULL,
  packet_id TEXT NOT NULL,
  at INTEGER NOT NULL,
  told_at INTEGER,
  state TEXT NOT NULL CHECK (state IN ('fault', 'failed', 'asked', 'repaired', 'lost')),
  PRIMARY KEY (sender, digest)
) STRICT, WITHOUT ROWID;
CREATE INDEX dropped_packet ON dropped (sender, packet_id);
CREATE INDEX dropped_told ON dropped (told_at) WHERE told_at IS NOT NULL;
CREATE TABLE handshakes (
  address TEXT PRIMARY KEY,
  epoch INTEGER NOT NULL DEFAULT 0,
  weak_session BLOB NOT NULL DEFAULT x'',
  weak_at TEXT NOT NULL DEFAULT '',
  told_at INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;
ALTER TABLE outbox ADD COLUMN kind TEXT NOT NULL DEFAULT 'packet' CHECK (kind IN ('packet', 'receipt'));
"""

_PROTECTION: Final = """
CREATE TABLE protection (
  id INTEGER PRIMARY KEY CHECK (id = 1), method TEXT NOT NULL, content BLOB NOT NULL
) STRICT;
"""

# What waits below the mail: summaries of threads, and what a peer says that it lacks.
_LATER: Final = """
ALTER TABLE outbox ADD COLUMN later INTEGER NOT NULL DEFAULT 0;
CREATE INDEX outbox_next ON outbox (later, position) WHERE state='waiting';
CREATE INDEX history_content ON history (at) WHERE payload<>x'';
"""

# Contents that the agent's journal names by their ids: by contact, so that they can really go.
_VAULT: Final = """
CREATE TABLE vault (
  value_id TEXT PRIMARY KEY, contact TEXT NOT NULL, at INTEGER NOT NULL, value BLOB NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX vault_contact ON vault (contact, at);
"""

# What models were asked: no words, only which, for what, how sure, and what it took (A2ACP-082).
_THOUGHTS: Final = """
CREATE TABLE thoughts (
  number INTEGER PRIMARY KEY AUTOINCREMENT, at INTEGER NOT NULL, thread_id TEXT NOT NULL, task TEXT NOT NULL,
  tier TEXT NOT NULL, model TEXT NOT NULL, outcome TEXT NOT NULL, confidence REAL NOT NULL,
  input_tokens INTEGER NOT NULL, output_tokens INTEGER NOT NULL, cost_usd REAL NOT NULL
) STRICT;
CREATE INDEX thoughts_thread ON thoughts (thread_id, number);
CREATE INDEX thoughts_at ON thoughts (at);
"""

# Contacts that were blocked or removed: what of them may still be here, and by which key they were known.
_PURGES: Final = """
CREATE TABLE purges (
  address TEXT PRIMARY KEY,
  state TEXT NOT NULL CHECK (state IN ('block', 'remove', 'done')),
  fingerprint TEXT NOT NULL DEFAULT ''
) STRICT, WITHOUT ROWID;
"""

# Who takes part in a thread of several, by the word of whoever began it: no outsiders to one another.
_MEMBERS: Final = """
CREATE TABLE thread_members (
  thread_id TEXT NOT NULL, member TEXT NOT NULL, told_by TEXT NOT NULL, PRIMARY KEY (thread_id, member)
) STRICT, WITHOUT ROWID;
"""

SCHEMA: Final = Schema(
    application_id=0x7AC17702,
    steps=(
        _FIRST,
        _ENDINGS,
        _UNJUDGED,
        _RESENT,
        _PENDING,
        _FORMER,
        _HEALING,
        _PROTECTION,
        _LATER,
        _VAULT,
        _THOUGHTS,
        _PURGES,
        _MEMBERS,
    ),
)


def protection_method(path: Path) -> str | None:
    """How the keys in an agent's file are protected, without opening any; None when they are plain."""
    file = sqlite.connect(path, readonly=True)
    try:
        if file.execute("SELECT 1 FROM sqlite_master WHERE name='protection'").fetchone() is None:
            return None
        row = file.execute("SELECT method FROM protection").fetchone()
        return str(row[0]) if row else None
    finally:
        file.close()
