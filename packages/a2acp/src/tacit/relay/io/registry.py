"""Accounts, agents, prekeys, codes, peers: the relay's registry as functions on its file.

A2ACP-012, A2ACP-014, A2ACP-015, A2ACP-018, A2ACP-019, A2ACP-021.

Each function is one step inside someone's transaction; a one-time thing is taken in the same step that uses
it.
"""

# apsw's types name a buffer type that Python 3.11 lacks.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, cast

import msgspec

from tacit.base.errors import Refused
from tacit.base.moment import Moment, rfc3339
from tacit.relay.accounts import code_hash
from tacit.relay.rate import START
from tacit.relay.registration import Registered
from tacit.wire.address import skeleton
from tacit.wire.encoding import b64

if TYPE_CHECKING:
    from collections.abc import Sequence

    import apsw

    from tacit.base.moment import ConfirmedTime

ONE_TIME: Final = 1
LAST_RESORT: Final = 2
SIGNED: Final = 3
MOST_PASSKEYS: Final = 20


@dataclass(frozen=True, slots=True)
class RegisteredAgent:
    """A registered agent."""

    account: int
    username: str
    signing_key: bytes
    serial: int
    record: bytes


def _taken() -> Refused:
    return Refused("username_taken", "this name is taken, or too much like one that is", row="A2ACP-014")


def _one(connection: apsw.Connection, sql: str, *values: Any) -> tuple[Any, ...] | None:
    return connection.execute(sql, values).fetchone()


def agent(connection: apsw.Connection, username: str) -> RegisteredAgent | None:
    """The agent of an active account, once it has registered a key."""
    row = _one(
        connection,
        "SELECT a.id, a.username, g.signing_key, g.serial, g.record FROM accounts a"
        " JOIN agents g ON g.account=a.id WHERE a.username=? AND a.state='active'",
        username,
    )
    return RegisteredAgent(*row) if row else None


def create_account(
    connection: apsw.Connection, *, username: str, email_hash: bytes | None, now: Moment
) -> int:
    """A new account; a name once given, or one that looks like it, is never given again."""
    if _one(
        connection, "SELECT 1 FROM accounts WHERE username=? OR skeleton=?", username, skeleton(username)
    ):
        raise _taken()
    connection.execute(
        "INSERT INTO accounts (username, skeleton, email_hash, state, created_at) VALUES (?,?,?,'active',?)",
        (username, skeleton(username), email_hash, int(now)),
    )
    return connection.last_insert_rowid()


def account_of(connection: apsw.Connection, username: str) -> tuple[int, bytes | None] | None:
    """Id and email hash of an active account."""
    row = _one(
        connection, "SELECT id, email_hash FROM accounts WHERE username=? AND state='active'", username
    )
    return cast("tuple[int, bytes | None] | None", row)


def username(connection: apsw.Connection, account: int) -> tuple[str, bool] | None:
    """The name of an account, and whether it is active."""
    row = _one(connection, "SELECT username, state='active' FROM accounts WHERE id=?", account)
    return (row[0], bool(row[1])) if row else None


@dataclass(frozen=True, slots=True)
class Passkey:
    """A public credential as its owner and the operator see it; 0 stands for a time before it was kept."""

    credential_id: bytes
    made_at: int
    used_at: int

    def shown(self) -> dict[str, str | None]:
        """Its id and times, as text."""
        made, used = (rfc3339(Moment(at)) if at else None for at in (self.made_at, self.used_at))
        return {"id": b64(self.credential_id), "made_at": made, "used_at": used}


def add_passkey(
    connection: apsw.Connection, account: int, credential: tuple[bytes, bytes, int], now: Moment
) -> None:
    """Another public credential for an account."""
    identifier, key, count = credential
    if _one(connection, "SELECT 1 FROM passkeys WHERE credential_id=?", identifier):
        raise Refused("passkey_refused", "this passkey is already in use", row="A2ACP-011")
    if len(passkeys(connection, account)) >= MOST_PASSKEYS:
        raise Refused("passkey_refused", f"an account has at most {MOST_PASSKEYS} passkeys", row="A2ACP-011")
    connection.execute(
        "INSERT INTO passkeys VALUES (?,?,?,?,?,0)", (identifier, account, key, count, int(now))
    )


def passkeys(connection: apsw.Connection, account: int) -> list[Passkey]:
    """An account's credentials, oldest first."""
    rows = connection.execute(
        "SELECT credential_id, made_at, used_at FROM passkeys WHERE account=?"
        " ORDER BY made_at, credential_id",
        (account,),
    )
    return [Passkey(*row) for row in cast("list[tuple[bytes, int, int]]", rows.fetchall())]


def drop_passkey(connection: apsw.Connection, account: int, credential_id: bytes) -> bool:
    """A credential opens nothing any more; whether there was one."""
    row = _one(
        connection,
        "DELETE FROM passkeys WHERE account=? AND credential_id=? RETURNING 1",
        account,
        credential_id,
    )
    return row is not None


def end_sessions(connection: apsw.Connection, account: int, now: Moment) -> None:
    """What began up to now is over, in a running relay too."""
    connection.execute("INSERT OR REPLACE INTO ended_sessions VALUES (?,?)", (account, int(now)))


def sessions_ended(connection: apsw.Connection, account: int) -> int:
    """Up to when an account's sessions are over."""
    row = _one(connection, "SELECT until FROM ended_sessions WHERE account=?", account)
    return int(row[0]) if row else -1


def passkey(
    connection: apsw.Connection, credential_id: bytes
) -> tuple[int, str, tuple[bytes, bytes, int]] | None:
    """Account, username and credential behind a credential id."""
    row = _one(
        connection,
        "SELECT p.account, a.username, p.public_key, p.sign_count FROM passkeys p"
        " JOIN accounts a ON a.id=p.account WHERE p.credential_id=? AND a.state='active'",
        credential_id,
    )
    return (row[0], row[1], (credential_id, row[2], row[3])) if row else None


def count_use(connection: apsw.Connection, credential_id: bytes, count: int, now: Moment) -> None:
    """Remember a passkey's counter, and when it was used."""
    connection.execute(
        "UPDATE passkeys SET sign_count=?, used_at=? WHERE credential_id=?", (count, int(now), credential_id)
    )


def add_code(
    connection: apsw.Connection,
    *,
    code: str,
    purpose: str,
    username: str,
    expires: int,
    not_before: int = 0,
    may_reset: bool = False,
) -> None:
    """Remember a one-time code by its hash; old codes go.

    `may_reset`: an agent that registers with it may begin the numbers of its statements anew.
    """
    connection.execute("DELETE FROM codes WHERE purpose=? AND username=?", (purpose, username))
    connection.execute(
        "INSERT INTO codes VALUES (?,?,?,?,?,?)",
        (code_hash(code), purpose, username, not_before, expires, int(may_reset)),
    )


def pending_code(connection: apsw.Connection, *, purpose: str, username: str, now: Moment) -> int | None:
    """From when a code that was made and not yet used works; None when there is none."""
    row = _one(
        connection,
        "SELECT not_before FROM codes WHERE purpose=? AND username=? AND expires_at>?",
        purpose,
        username,
        int(now),
    )
    return int(row[0]) if row else None


def drop_code(connection: apsw.Connection, code: str) -> None:
    """Forget a code that reached nobody."""
    connection.execute("DELETE FROM codes WHERE hash=?", (code_hash(code),))


@dataclass(frozen=True, slots=True)
class TakenCode:
    """What a code was for; it is gone."""

    purpose: str
    username: str
    may_reset: bool


def drop_codes(connection: apsw.Connection, purpose: str, username: str) -> int:
    """Forget what was given out for a purpose; how many there were."""
    sql = "DELETE FROM codes WHERE purpose=? AND username=? RETURNING 1"
    return len(connection.execute(sql, (purpose, username)).fetchall())


def take_code(
    connection: apsw.Connection, code: str, now: Moment, confirmed: ConfirmedTime, *purposes: str
) -> TakenCode:
    """A valid code, which is then gone; wrong, used, early and expired look alike.

    What opens by waiting, as a recovery does, does not open by a clock that leapt.
    """
    row = _one(
        connection,
        "DELETE FROM codes WHERE hash=? AND expires_at>? AND not_before<=?"
        " RETURNING purpose, username, may_reset",
        code_hash(code),
        int(now),
        confirmed,
    )
    if row is None or row[0] not in purposes:
        raise Refused("bad_code", "wrong, used or expired code", row="A2ACP-012")
    return TakenCode(row[0], row[1], bool(row[2]))


def registered(connection: apsw.Connection, account: int) -> Registered | None:
    """The keys of an account's agent."""
    row = _one(connection, "SELECT signing_key, serial, record FROM agents WHERE account=?", account)
    return Registered(*row) if row else None


def register_agent(
    connection: apsw.Connection, account: int, *, signing_key: bytes, serial: int, record: bytes, now: Moment
) -> None:
    """Store or replace an agent's keys, already checked; old prekeys of another key go."""
    row = _one(connection, "SELECT signing_key FROM agents WHERE account=?", account)
    if row is not None and row[0] != signing_key:
        connection.execute("DELETE FROM prekeys WHERE account=?", (account,))
    connection.execute(
        "INSERT INTO agents VALUES (?,?,?,?,?) ON CONFLICT (account) DO UPDATE SET"
        " signing_key=excluded.signing_key, serial=excluded.serial, record=excluded.record,"
        " registered_at=excluded.registered_at",
        (account, signing_key, serial, record, int(now)),
    )


def delete_account(connection: apsw.Connection, account: int, spoken: str) -> None:
    """Erase keys, queue and what waits for other relays; the name stays taken for good (A2ACP-019)."""
    connection.execute("DELETE FROM outgoing WHERE sender=?", (spoken,))
    connection.execute(
        "DELETE FROM guest_answers WHERE guest IN (SELECT guest FROM guests WHERE account=?)", (account,)
    )
    for table, column in (
        ("agents", "account"), ("passkeys", "account"), ("prekeys", "account"), ("queue", "recipient"),
        ("markers", "recipient"), ("notices", "account"), ("agent_steps", "account"),
        ("written", "account"), ("ended_sessions", "account"), ("handed", "account"),
        ("guests", "account"),
    ):  # fmt: skip
        connection.execute(f"DELETE FROM {table} WHERE {column}=?", (account,))  # noqa: S608 - fixed names
    connection.execute("UPDATE accounts SET state='deleted', email_hash=NULL WHERE id=?", (account,))


def store_prekeys(
    connection: apsw.Connection,
    account: int,
    kind: int,
    prekeys: Sequence[tuple[int, bytes]],
    most: int,
    epoch: int = 0,
) -> None:
    """Add one-time prekeys up to a limit; the other kinds replace what was there."""
    if kind != ONE_TIME:
        connection.execute("DELETE FROM prekeys WHERE account=? AND kind=?", (account, kind))
    room = most - prekeys_left(connection, account) if kind == ONE_TIME else 1
    connection.executemany(
        "INSERT OR IGNORE INTO prekeys (account, kind, id, body, epoch) VALUES (?,?,?,?,?)",
        [(account, kind, identifier, body, epoch) for identifier, body in prekeys[: max(0, room)]],
    )


def drop_prekeys(connection: apsw.Connection, account: int) -> None:
    """Forget prekeys whose private halves are gone."""
    connection.execute("DELETE FROM prekeys WHERE account=?", (account,))


def prekeys_left(connection: apsw.Connection, account: int) -> int:
    """How many one-time prekeys are left."""
    row = _one(connection, "SELECT count(*) FROM prekeys WHERE account=? AND kind=?", account, ONE_TIME)
    return int(row[0]) if row else 0


def signed_prekey_id(connection: apsw.Connection, account: int) -> int:
    """Which signed prekey is held; 0 for none. Tells an agent whether its last upload arrived."""
    row = _one(connection, "SELECT id FROM prekeys WHERE account=? AND kind=?", account, SIGNED)
    return int(row[0]) if row else 0


def prekey_epoch(connection: apsw.Connection, account: int) -> int:
    """Of which epoch the prekeys held are; 0 for none."""
    row = _one(connection, "SELECT epoch FROM prekeys WHERE account=? AND kind=?", account, SIGNED)
    return int(row[0]) if row else 0


def one_time_ids(connection: apsw.Connection, account: int) -> list[int]:
    """Which one-time prekeys are held: tells an agent whether one is among them that it has used up."""
    rows = connection.execute("SELECT id FROM prekeys WHERE account=? AND kind=?", (account, ONE_TIME))
    return [int(cast("int", row[0])) for row in rows]


def pop_prekeys(
    connection: apsw.Connection, account: int, *, one_time: bool
) -> tuple[bytes | None, bytes | None, bytes | None]:
    """Signed, one-time (taken away in this step, if it may be) and last-resort prekey."""
    single = _one(
        connection,
        "DELETE FROM prekeys WHERE account=?1 AND kind=1 AND id="
        "(SELECT min(id) FROM prekeys WHERE account=?1 AND kind=1) RETURNING body",
        account,
    ) if one_time else None  # fmt: skip
    signed = _one(connection, "SELECT body FROM prekeys WHERE account=? AND kind=?", account, SIGNED)
    last = _one(connection, "SELECT body FROM prekeys WHERE account=? AND kind=?", account, LAST_RESORT)
    return (
        signed[0] if signed else None,
        single[0] if single else None,
        last[0] if last else None,
    )


def use_nonce(
    connection: apsw.Connection, domain: str, nonce: str, now: Moment, forgotten: ConfirmedTime
) -> bool:
    """True once for each nonce of a relay, over restarts; those past their time go."""
    connection.execute("DELETE FROM nonces WHERE at<?", (forgotten,))
    before = connection.total_changes()
    connection.execute("INSERT OR IGNORE INTO nonces VALUES (?,?,?)", (domain, nonce, int(now)))
    return connection.total_changes() > before


def secret(connection: apsw.Connection, name: str, fresh: bytes) -> bytes:
    """A secret of the relay's own, made once."""
    connection.execute("INSERT OR IGNORE INTO secrets VALUES (?,?)", (name, fresh))
    row = _one(connection, "SELECT value FROM secrets WHERE name=?", name)
    return cast("bytes", row[0]) if row else fresh


def reputations(connection: apsw.Connection) -> dict[str, int]:
    """Senders' scores as they were kept."""
    rows = connection.execute("SELECT sender, score FROM standing").fetchall()
    return {cast("str", sender): cast("int", score) for sender, score in rows}


def move_reputations(connection: apsw.Connection, moved: dict[str, int]) -> dict[str, int]:
    """Change scores that several nodes keep, by so much each; what they are then."""
    for sender, by in moved.items():
        connection.execute(
            "INSERT INTO standing VALUES (?1, max(0, min(100, ?2 + ?3)))"
            " ON CONFLICT (sender) DO UPDATE SET score=max(0, min(100, score + ?3))",
            (sender, START, by),
        )
    names = msgspec.json.encode(list(moved)).decode()
    rows = connection.execute(
        "SELECT sender, score FROM standing WHERE sender IN (SELECT value FROM json_each(?))", (names,)
    ).fetchall()
    return {cast("str", sender): cast("int", score) for sender, score in rows}


def blocked(connection: apsw.Connection) -> frozenset[str]:
    """Addresses that the operator has shut out."""
    return frozenset(cast("str", row[0]) for row in connection.execute("SELECT address FROM blocked"))


def peers(connection: apsw.Connection) -> tuple[frozenset[str], frozenset[str]]:
    """Allowed and denied domains."""
    rows = connection.execute("SELECT domain, policy FROM peers").fetchall()
    return (
        frozenset(cast("str", domain) for domain, policy in rows if policy == "allowed"),
        frozenset(cast("str", domain) for domain, policy in rows if policy == "denied"),
    )


def peer_key(connection: apsw.Connection, domain: str) -> bytes | None:
    """The pinned key of a relay."""
    row = _one(connection, "SELECT relay_key FROM peers WHERE domain=?", domain)
    return cast("bytes | None", row[0]) if row else None


def pin_peer(connection: apsw.Connection, domain: str, key: bytes, now: Moment, most: int) -> None:
    """Hold a relay's key, unless one is held already; of too many that the operator has not named, one goes.

    First those with which no packet was exchanged, then those with which none was for longest.
    """
    connection.execute(
        "INSERT INTO peers (domain, policy, relay_key, pinned_at) VALUES (?,'seen',?,?)"
        " ON CONFLICT (domain) DO UPDATE SET"
        " relay_key=ifnull(relay_key, excluded.relay_key), pinned_at=ifnull(pinned_at, excluded.pinned_at)",
        (domain, key, int(now)),
    )
    row = _one(connection, "SELECT count(*) FROM peers WHERE policy='seen'")
    connection.execute(
        "DELETE FROM peers WHERE domain IN (SELECT domain FROM peers WHERE policy='seen' AND domain<>?"
        " ORDER BY used_at IS NOT NULL, ifnull(used_at, pinned_at) LIMIT ?)",
        (domain, max(0, int(row[0]) - most) if row else 0),
    )


def use_peer(connection: apsw.Connection, domain: str, now: Moment) -> None:
    """A packet was exchanged with a relay: its key outlives those of relays with which none was."""
    connection.execute("UPDATE peers SET used_at=? WHERE domain=?", (int(now), domain))


def set_peer(connection: apsw.Connection, domain: str, policy: str, key: bytes | None = None) -> None:
    """The operator's word on a relay; a given key replaces the pinned one."""
    connection.execute(
        "INSERT INTO peers (domain, policy, relay_key) VALUES (?,?,?) ON CONFLICT (domain) DO UPDATE SET"
        " policy=excluded.policy, relay_key=ifnull(excluded.relay_key, relay_key)",
        (domain, policy, key),
    )


def add_notice(connection: apsw.Connection, account: int, frame: bytes) -> int:
    """Keep a control frame for an agent, the newest thousand of them; returns its number."""
    connection.execute("INSERT INTO notices (account, frame) VALUES (?,?)", (account, frame))
    number = connection.last_insert_rowid()
    connection.execute(
        "DELETE FROM notices WHERE account=?1 AND id <="
        " (SELECT id FROM notices WHERE account=?1 ORDER BY id DESC LIMIT 1 OFFSET 1000)",
        (account,),
    )
    return number


def notices(connection: apsw.Connection, account: int) -> list[tuple[int, bytes]]:
    """Numbers and frames of what an agent has not surely heard, oldest first."""
    rows = connection.execute("SELECT id, frame FROM notices WHERE account=? ORDER BY id", (account,))
    return cast("list[tuple[int, bytes]]", rows.fetchall())


def forget_notices(connection: apsw.Connection, account: int, number: int) -> None:
    """An agent has heard everything up to this number."""
    connection.execute("DELETE FROM notices WHERE account=? AND id<=?", (account, number))
