"""Records of the hub's own: what is no event of a group, written in the same file and transaction.

Blobs, credentials, services, webhooks (CCCS-005, CCCS-041, CCCS-086, CCCS-098, C2A-011). A rebuild leaves
them alone.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from tacit.base.errors import Corrupt, Refused
from tacit.base.moment import Moment
from tacit.ledger.codes import denied, missing
from tacit.ledger.commands import (
    AdoptOwnerToken,
    Awaken,
    DropWebhook,
    IssueCredential,
    LetRest,
    Ping,
    RecordBlob,
    Recorded,
    RevokeCredential,
    SetWebhook,
    UseCredential,
)
from tacit.ledger.principal import PrincipalKind, kind_of

if TYPE_CHECKING:
    import apsw

    from tacit.ledger.commands import BlobShare, DatedRecord, HubRecord


def keep(connection: apsw.Connection, record: HubRecord, now: Moment) -> Recorded:
    """Write one record; refuses by raising, and then nothing of it is written."""
    match record:
        case RecordBlob():
            _blob(connection, record)
        case IssueCredential():
            _issue(connection, record, now)
        case AdoptOwnerToken():
            connection.execute(
                "UPDATE credentials SET revoked=? WHERE principal=? AND revoked IS NULL",
                (now, record.principal),
            )
            _credential(connection, record.token_hash, record.token_id, record.principal, None, now)
        case UseCredential(token_id=token_id):
            connection.execute("UPDATE credentials SET used=? WHERE token_id=?", (now, token_id))
        case RevokeCredential(token_id=token_id):
            return _revoke(connection, token_id, now)
        case SetWebhook():
            connection.execute(
                "INSERT OR REPLACE INTO webhooks VALUES(?,?,?,?,?)",
                (record.group_id, record.session, record.url, record.secret, record.version),
            )
        case DropWebhook(group_id=group_id, session=session):
            connection.execute("DELETE FROM webhooks WHERE group_id=? AND session=?", (group_id, session))
        case Ping(writes=writes):
            if writes:
                connection.execute("INSERT OR REPLACE INTO facts VALUES('written', ?)", (str(now),))
        case Awaken() | LetRest():
            pass  # who has the file has every event
    return Recorded()


def keep_again(connection: apsw.Connection, dated: DatedRecord) -> None:
    """Write a record that was accepted before, on this node or on another."""
    try:
        keep(connection, dated.record, Moment(dated.at))
    except Refused as refused:
        raise Corrupt(
            f"a record of the hub's own does not follow from those before it ({refused.code})",
            hint="remove ledger.db: it is made anew from the stream",
        ) from refused


def _blob(connection: apsw.Connection, blob: RecordBlob) -> None:
    row = connection.execute("SELECT number FROM groups WHERE group_id=?", (blob.group_id,)).fetchone()
    if row is None:
        raise missing("group", "no such group", "CCCS-007")
    connection.execute(
        "INSERT OR IGNORE INTO blobs VALUES(?,?,?,?,?)",
        (row[0], blob.sha256, blob.sha256, blob.size, blob.mime_type),
    )
    connection.execute(
        "INSERT OR IGNORE INTO blob_owners VALUES(?,?,?)", (row[0], blob.sha256, blob.principal)
    )


def share_blobs(connection: apsw.Connection, share: BlobShare) -> list[RecordBlob]:
    """Give a group the blobs of another one's message; as records that need that other group no more."""
    shared: list[RecordBlob] = []
    for path in share.paths:
        connection.execute(
            "INSERT OR IGNORE INTO blobs SELECT g.number, b.path, b.sha256, b.bytes, b.mime_type "
            "FROM blobs b, groups s, groups g "
            "WHERE s.group_id=? AND b.group_no=s.number AND b.path=? AND g.group_id=?",
            (share.source_group_id, path, share.group_id),
        )
        connection.execute(
            "INSERT OR IGNORE INTO blob_owners SELECT number, ?, ? FROM groups WHERE group_id=?",
            (path, share.principal, share.group_id),
        )
        found = connection.execute(
            "SELECT b.sha256, b.bytes, b.mime_type FROM blobs b JOIN groups g ON g.number=b.group_no "
            "WHERE g.group_id=? AND b.path=?",
            (share.group_id, path),
        ).fetchall()
        shared += [
            RecordBlob(share.group_id, sha256, size, mime_type, share.principal)
            for sha256, size, mime_type in found
        ]
    return shared


def _issue(connection: apsw.Connection, issued: IssueCredential, now: Moment) -> None:
    if kind_of(issued.principal) is PrincipalKind.SERVICE:
        known = connection.execute("SELECT 1 FROM services WHERE name=?", (issued.principal,)).fetchone()
        if known is not None:
            raise denied("this service name is registered already", "CCCS-005")
        groups = json.dumps(sorted(issued.groups)) if issued.groups is not None else None
        connection.execute("INSERT INTO services VALUES(?,?,?)", (issued.principal, groups, now))
    _credential(connection, issued.token_hash, issued.token_id, issued.principal, issued.group_id, now)
    if issued.browser:
        connection.execute("UPDATE credentials SET browser=1 WHERE token_id=?", (issued.token_id,))


def _credential(
    connection: apsw.Connection,
    token_hash: bytes,
    token_id: str,
    principal: str,
    group_id: str | None,
    now: Moment,
) -> None:
    connection.execute(
        "INSERT INTO credentials(token_hash, token_id, principal, group_id, created) VALUES(?,?,?,?,?)",
        (token_hash, token_id, principal, group_id, now),
    )


def _revoke(connection: apsw.Connection, token_id: str, now: Moment) -> Recorded:
    row = connection.execute(
        "SELECT principal FROM credentials WHERE token_id=? AND revoked IS NULL", (token_id,)
    ).fetchone()
    if row is None:
        raise Refused("invalid_request", "no such token", details={"reason": "no_token"})
    connection.execute("UPDATE credentials SET revoked=? WHERE token_id=?", (now, token_id))
    return Recorded(str(row[0]))
