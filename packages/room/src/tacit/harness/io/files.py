"""Files between the room and the agent: fetched for a turn, taken from the agent's folder for an answer.

Rows: C2A-035, C2A-203, CCCS-086, CCCS-087. Both ways within limits. What is not handed over is still named,
with the reason, so that a model never answers about a picture that it has not seen. A file leaves only from
the folder in which the agent works: no step out of it is followed, by `..`, by an absolute path or by a link.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
import mimetypes
import os
import stat
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any, Final

import aiohttp

from tacit.base.errors import Refused, Unavailable
from tacit.base.io.proving import checks
from tacit.harness.drivers.files import IMAGES, PDF, is_text
from tacit.harness.drivers.port import TurnFile

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tacit.c2a.attachments import Attached
    from tacit.c2a.messages import Delivered

log: Final = logging.getLogger("tacit.harness")
MOST_FILES: Final = 8
FILE_BYTES: Final = 5 * 2**20
TURN_BYTES: Final = 15 * 2**20
ATTACHED_BYTES: Final = 20 * 2**20
"""What an agent may attach, each."""
_PATIENCE: Final = aiohttp.ClientTimeout(total=60.0)
_PIECE: Final = 256 * 1024


class AgentFiles:
    """One agent's files, by its own token."""

    def __init__(self, url: str, token: str, proven_by: bytes | None = None) -> None:
        self._checks = checks(url, proven_by)
        self._base = url.rstrip("/")
        self._headers = {"Authorization": f"Bearer {token}"} if token else {}
        self._handed: dict[str, tuple[int, int]] = {}

    async def of_events(self, turn_id: str, events: Iterable[Delivered]) -> tuple[TurnFile, ...]:
        """The files of messages, at a turn's beginning or in its middle, as far as a model may have them.

        The measure is the whole turn's, until it is `over`.
        """
        wanted = [(event.group, one) for event in events for one in event.attachments]
        if not wanted:
            return ()
        found: list[TurnFile] = []
        before, used = self._handed.get(turn_id, (0, 0))
        room = TURN_BYTES - used
        async with aiohttp.ClientSession(timeout=_PATIENCE, trace_configs=self._checks) as http:
            for group, attached in wanted:
                whole = before + sum(not one.left_out for one in found)
                why = _refused(attached, whole, room)
                file = _named(attached, left_out=why) if why else await self._fetched(http, group, attached)
                room -= len(file.data)
                found.append(file)
        self._handed[turn_id] = before + sum(not one.left_out for one in found), TURN_BYTES - room
        return tuple(found)

    def over(self, turn_id: str) -> None:
        """The turn has ended."""
        self._handed.pop(turn_id, None)

    async def _fetched(self, http: aiohttp.ClientSession, group: str, attached: Attached) -> TurnFile:
        address = f"{self._base}/v1/groups/{group}/blobs/{attached.path}"
        try:
            async with http.get(address, headers=self._headers) as response:
                if response.status != 200:
                    return _named(attached, left_out="the hub did not give it")
                data = await response.content.read(FILE_BYTES + 1)
                while len(data) <= FILE_BYTES and (more := await response.content.read(_PIECE)):
                    data += more
        except (aiohttp.ClientError, OSError, TimeoutError):
            return _named(attached, left_out="it could not be fetched")
        if len(data) > FILE_BYTES:
            return _named(attached, left_out=_TOO_LARGE)
        if hashlib.sha256(data).hexdigest() != attached.path:
            return _named(attached, left_out="its bytes are not what was sent")
        return _named(attached, data)

    async def attached(self, group: str, folder: str | None, given: str, title: str) -> dict[str, Any]:
        """A file of the agent's folder, stored at the hub: the attachment to send along. `Refused` if not."""
        if folder is None:
            raise Refused("permission_denied", "this agent works in no folder")
        name, data = await asyncio.to_thread(taken, Path(folder), given)
        mime = mimetypes.guess_type(name)[0] or "application/octet-stream"
        address = f"{self._base}/v1/groups/{group}/blobs"
        try:
            async with (
                aiohttp.ClientSession(timeout=_PATIENCE, trace_configs=self._checks) as http,
                http.post(address, data=data, headers={**self._headers, "Content-Type": mime}) as response,
            ):
                answer: Any = await response.json()
                if response.status != 201:
                    raise Refused("delivery_failed", "the hub did not take the file")
        except (aiohttp.ClientError, OSError, TimeoutError, ValueError) as error:
            raise Unavailable("the hub cannot be reached; attaching again is safe") from error
        kind = "image" if mime in IMAGES else "text" if is_text(mime) else "file"
        shown = title.strip() or name
        return {
            "path": str(answer["path"]),
            "bytes": len(data),
            "title": shown[:200],
            "mime_type": mime,
            "kind": kind,
        }


_TOO_LARGE: Final = f"it is over {FILE_BYTES // 2**20} MiB"


def _refused(attached: Attached, whole: int, room: int) -> str:
    """Why a file is not handed to a model; empty when it is."""
    mime = _mime(attached)
    if whole >= MOST_FILES:
        return f"a turn takes {MOST_FILES} files"
    if not (mime in IMAGES or mime == PDF or is_text(mime)):
        return "only texts, pictures and PDFs are"
    if attached.size > FILE_BYTES:
        return _TOO_LARGE
    return "the files before it were enough for one turn" if attached.size > room or room <= 0 else ""


def _mime(attached: Attached) -> str:
    guessed = mimetypes.guess_type(attached.title)[0]
    return (attached.mime_type.partition(";")[0] or guessed or "application/octet-stream").lower()


def _named(attached: Attached, data: bytes = b"", *, left_out: str = "") -> TurnFile:
    return TurnFile(attached.title or attached.kind, _mime(attached), data, attached.size, left_out)


def taken(folder: Path, given: str) -> tuple[str, bytes]:
    """A file's name and bytes, from inside the folder; `Refused` for anything else.

    Every step is opened from the one before it and no link is followed, so that nothing can be exchanged
    between the look and the reading.
    """
    parts = _steps(folder, given)
    try:
        opened = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    except OSError as error:
        raise Refused("event_not_found", "the agent's folder is not there") from error
    try:
        for step in parts[:-1]:
            inner = os.open(step, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=opened)
            os.close(opened)
            opened = inner
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK
        with os.fdopen(os.open(parts[-1], flags, dir_fd=opened), "rb") as file:
            known = os.fstat(file.fileno())
            if not stat.S_ISREG(known.st_mode):
                raise Refused("permission_denied", "this is no file")
            data = file.read(ATTACHED_BYTES + 1)
    except (OSError, UnicodeEncodeError) as error:
        raise Refused("event_not_found", "there is no such file in the agent's folder") from error
    finally:
        os.close(opened)
    if len(data) > ATTACHED_BYTES:
        raise Refused("invalid_request", f"a file is at most {ATTACHED_BYTES // 2**20} MiB")
    return parts[-1], data


def _steps(folder: Path, given: str) -> tuple[str, ...]:
    path = PurePath(given)
    if path.is_absolute():
        try:
            path = path.relative_to(folder)
        except ValueError:
            path = PurePath("..")
    if not path.parts or ".." in path.parts or "\0" in given:
        raise Refused("permission_denied", "only files inside the agent's folder can be attached")
    return path.parts
