"""Files in a stream of their own, each in pieces, and one head that says which of them count.

A file has a name that no other had; its pieces are written once. The head is written last, guarded by the
head that was read first: of two who keep something at once one loses, and a node that stood still meanwhile
cannot put something older in the place of something newer. Pieces that no head names count for nothing: they
never came to their end, or were replaced. What the files are, and who may remove which, is their keeper's.
"""

from __future__ import annotations

import asyncio
import hashlib
from typing import TYPE_CHECKING, Final

from tacit.base.errors import Corrupt, Unavailable
from tacit.base.io.jetstream.connection import GUARD
from tacit.base.shipping import BatchStored

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from typing import Any

    from tacit.base.io.jetstream.connection import NatsConnection, StoredMessage

PIECE: Final = 256 * 1024
"""Bytes of a piece: no message that is more urgent waits long behind one."""
READ_AT_ONCE: Final = 8
HEAD: Final = "head"


class KeptPieces:
    """The files of one stream. Blocking calls, for any thread."""

    def __init__(self, connection: NatsConnection, wanted: Mapping[str, Any]) -> None:
        """Makes the stream when there is none, and refuses one that is not safe."""
        self.name: Final = str(wanted["name"])
        self._connection = connection
        connection.wait(connection.entrust(wanted))

    def head(self) -> tuple[bytes, int]:
        """The head, and the sequence under which it stands; 0 when there is none yet."""
        found = self._connection.wait(self._message(HEAD))
        return (found.payload, found.seq) if found is not None else (b"", 0)

    def put_head(self, payload: bytes, guard: int) -> None:
        """Have this be the head, if it still stands where it was read; the one before goes."""
        self._publish(HEAD, payload, guard)
        if guard:
            self._connection.wait(self._connection.overwrite(self.name, guard))

    def put(self, name: str, pieces: Iterable[bytes]) -> tuple[int, str]:
        """Keep a file; how many pieces it has, and the hash of all its bytes."""
        digest, number = hashlib.sha256(), 0
        for piece in pieces:
            digest.update(piece)
            self._publish(f"{name}.{number}", piece)
            number += 1
        return number, digest.hexdigest()

    def get(self, name: str, pieces: int, sha256: str) -> Iterator[bytes]:
        """A file's pieces in order; `Corrupt` behind the last one when they are not what was kept."""
        digest = hashlib.sha256()
        for first in range(0, pieces, READ_AT_ONCE):
            for found in self._connection.wait(self._some(name, first, min(first + READ_AT_ONCE, pieces))):
                if found is None:
                    raise Unavailable("what was kept is being replaced: try again")
                piece = found.payload
                digest.update(piece)
                yield piece
        if digest.hexdigest() != sha256:
            raise Corrupt("what was kept is damaged", hint="restore the streams from a backup")

    async def _some(self, name: str, first: int, after: int) -> list[StoredMessage | None]:
        return await asyncio.gather(*(self._message(f"{name}.{number}") for number in range(first, after)))

    def _publish(self, token: str, payload: bytes, guard: int = 0) -> None:
        headers = {GUARD: str(guard), "Nats-Expected-Stream": self.name}
        answer = self._connection.wait(self._connection.publish(f"{self.name}.{token}", payload, headers))
        if isinstance(answer, BatchStored):
            return
        # Without an answer it may stand there all the same.
        found = self._connection.wait(self._message(token))
        if found is None or found.payload != payload:
            raise Unavailable("nothing can be kept now")

    async def _message(self, token: str) -> StoredMessage | None:
        asked = {"last_by_subj": f"{self.name}.{token}"}
        return (await self._connection.ask(self.name, "MSG.GET", asked)).message

    def names(self) -> set[str]:
        """Of all files of which anything is there."""
        return {subject.split(".")[1] for subject in self._connection.wait(self._subjects("*.0"))}

    async def _subjects(self, token: str) -> dict[str, int]:
        reply = await self._connection.ask(self.name, "INFO", {"subjects_filter": f"{self.name}.{token}"})
        return reply.state.subjects if reply.state is not None else {}

    def overwrite(self, name: str) -> None:
        """Have a file gone, its bytes on the servers' disks overwritten."""
        self._connection.wait(self._overwrite(name))

    async def _overwrite(self, name: str) -> None:
        # The first piece last: it is what tells of the others, should this break off.
        for number in reversed(range(len(await self._subjects(f"{name}.*")))):
            found = await self._message(f"{name}.{number}")
            if found is not None:
                await self._connection.overwrite(self.name, found.seq)

    def purge(self, name: str) -> None:
        """Have a file gone at once; its stream must allow that."""
        asked = {"filter": f"{self.name}.{name}.>"}
        self._connection.wait(self._connection.ask(self.name, "PURGE", asked))
