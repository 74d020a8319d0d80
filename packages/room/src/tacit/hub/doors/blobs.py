"""Blobs over HTTP: upload as a stream, fetch with a safe content type.

Rows: CCCS-086, CCCS-087, CCCS-088, CCCS-110.
"""

from __future__ import annotations

import asyncio
import re
from typing import TYPE_CHECKING, Final

from aiohttp import web

from tacit.base.errors import TacitError, Unavailable
from tacit.hub.doors.http import (
    Unauthenticated,
    credential_of,
    error_answer,
    json_answer,
    pieces,
    unauthenticated_answer,
)
from tacit.hub.operations import room as operations
from tacit.ledger.codes import denied
from tacit.ledger.commands import RecordBlob

if TYPE_CHECKING:
    from tacit.hub.hub import RunningHub
    from tacit.ledger.io.blobs import Incoming, StoredBlob

# Shown by a browser as they are; anything else is only ever offered as a download.
SAFE: Final = frozenset(
    {"text/plain", "image/png", "image/jpeg", "image/gif", "image/webp", "application/pdf"}
)
_MIME: Final = re.compile(r"[a-z0-9.+-]{1,60}/[a-z0-9.+-]{1,60}\Z")


async def _receive(hub: RunningHub, request: web.Request, owner: str) -> StoredBlob:
    try:
        incoming = hub.store.blobs.incoming()
        try:
            return await _written(hub, incoming, request, owner)
        except BaseException:
            incoming.abandon()
            raise
    except ConnectionError:
        raise
    except OSError as error:
        raise Unavailable(f"the blob cannot be stored now ({type(error).__name__})") from error


async def _written(hub: RunningHub, incoming: Incoming, request: web.Request, owner: str) -> StoredBlob:
    limits = hub.config.limits
    async for piece in pieces(request, limits, limits.blob_bytes):
        await hub.door.piece(owner)
        incoming.write(piece)
    async with hub.door.files.one(owner):
        return await asyncio.to_thread(incoming.finish)


async def upload(hub: RunningHub, request: web.Request) -> web.StreamResponse:
    """Store the request's body; answers its path, sha256 and size."""
    try:
        credential = credential_of(hub, request)
        group = await operations.group_of(hub, credential, request.match_info["group_id"])
        if not group.has_member(credential.principal):
            raise denied("this principal takes no part in this group", "CCCS-004")
        kept = await hub.ledger.read(lambda reader: reader.blob_bytes(group, credential.principal))
        if hub.ledger.quotas is not None:
            hub.ledger.quotas.require_blob(credential.principal, *kept)
        mime = request.content_type.lower()
        stored = await _receive(hub, request, credential.token_id)

        kind = mime if _MIME.match(mime) else "application/octet-stream"
        record = RecordBlob(group.group_id, stored.sha256, stored.size, kind, credential.principal)
        await hub.ledger.record(record)
    except Unauthenticated:
        return unauthenticated_answer()
    except TacitError as error:
        return error_answer(error)
    return json_answer({"path": stored.sha256, "sha256": stored.sha256, "bytes": stored.size}, 201)


async def fetch(hub: RunningHub, request: web.Request) -> web.StreamResponse:
    """The blob's bytes; never run, never sniffed."""
    try:
        credential = credential_of(hub, request)
        blob = await operations.blob_of(
            hub, credential, request.match_info["group_id"], request.match_info["path"]
        )
        (await asyncio.to_thread(hub.store.blobs.open, blob.sha256)).close()
    except Unauthenticated:
        return unauthenticated_answer()
    except TacitError as error:
        return error_answer(error)
    inline = blob.mime_type in SAFE
    return web.FileResponse(
        hub.store.blobs.place(blob.sha256),
        headers={
            "Content-Type": blob.mime_type if inline else "application/octet-stream",
            "Content-Disposition": "inline" if inline else "attachment",
            "Content-Security-Policy": "sandbox; default-src 'none'",
            "X-Content-Type-Options": "nosniff",
            "Cache-Control": "private, max-age=31536000, immutable",
            "ETag": f'"{blob.sha256}"',
        },
    )
