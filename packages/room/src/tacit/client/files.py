"""Attachments from a client: upload in pieces, download with the hash checked (CCCS-086, CCCS-087)."""

from __future__ import annotations

import hashlib
import mimetypes
from typing import TYPE_CHECKING, Any

import aiohttp

from tacit.base.errors import Corrupt, Unavailable
from tacit.c2a.rpc import error_of

if TYPE_CHECKING:
    from pathlib import Path

    from tacit.client.ports import HubEndpoint


class Files:
    """Blobs of a hub's groups."""

    def __init__(self, hub: HubEndpoint) -> None:
        self._hub = hub

    def _headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self._hub.token}"} if self._hub.token else {}

    async def upload(self, group_id: str, path: Path) -> dict[str, Any]:
        """Store a file; returns the attachment to send with a message."""
        mime = mimetypes.guess_type(path.name)[0] or "application/octet-stream"
        with path.open("rb") as file:
            stored = await self._post(group_id, file, mime)
        kind = "image" if mime.startswith("image/") else "text" if mime.startswith("text/") else "file"
        return {**stored, "title": path.name, "mime_type": mime, "kind": kind}

    async def upload_bytes(
        self, group_id: str, content: bytes, mime: str = "application/octet-stream"
    ) -> dict[str, Any]:
        """Store bytes; returns the attachment to send with a message."""
        return await self._post(group_id, content, mime)

    async def _post(self, group_id: str, body: Any, mime: str) -> dict[str, Any]:
        url = f"{self._hub.url}/v1/groups/{group_id}/blobs"
        headers = {**self._headers(), "Content-Type": mime}
        try:
            async with self._hub.session().post(url, data=body, headers=headers) as response:
                answer: dict[str, Any] = await response.json()
                if response.status != 201:
                    raise error_of(answer)
                return answer
        except (aiohttp.ClientError, OSError, ValueError) as error:
            raise Unavailable("the hub cannot be reached; uploading again is safe") from error

    async def download(self, group_id: str, path: str) -> bytes:
        """A blob's bytes, checked against its name."""
        url = f"{self._hub.url}/v1/groups/{group_id}/blobs/{path}"
        try:
            async with self._hub.session().get(url, headers=self._headers()) as response:
                if response.status != 200:
                    raise error_of(await response.json())
                content = await response.read()
        except (aiohttp.ClientError, OSError, ValueError) as error:
            raise Unavailable("the hub cannot be reached") from error
        if hashlib.sha256(content).hexdigest() != path:
            raise Corrupt(
                "the blob's bytes do not match its name", hint="run `tacit ledger verify` on the hub"
            )
        return content
