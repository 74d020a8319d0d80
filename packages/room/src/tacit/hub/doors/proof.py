"""`GET /v1/proof`: the hub proves to a program of its owner's that it is the hub of its data folder.

Answers anybody, since whoever asks has yet to show a token; the answer tells nothing of the key.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from aiohttp import web

from tacit.base.hub_proof import NONCE_BYTES, proof_key, proof_of
from tacit.hub.doors.http import json_answer

if TYPE_CHECKING:
    from tacit.hub.hub import RunningHub


async def prove(hub: RunningHub, request: web.Request) -> web.StreamResponse:
    """Answer one question with the proof, as plain text."""
    try:
        nonce = bytes.fromhex(request.query.get("nonce", ""))
    except ValueError:
        nonce = b""
    place = request.transport.get_extra_info("sockname") if request.transport is not None else None
    if len(nonce) != NONCE_BYTES or not isinstance(place, tuple):
        message = f"give a nonce of {NONCE_BYTES} bytes, in hex, over TCP"
        return json_answer({"code": "invalid_request", "message": message}, 400)
    host, port = cast("tuple[str, int]", place[:2])
    return web.Response(text=proof_of(proof_key(hub.owner_token), nonce, host, port))
