"""The bytes of blobs in a stream of their own, by hash; the folder is a cache of it (CCCS-086, CCCS-087).

A blob is cut into pieces of one size, each under a subject of its own that is written once: the same bytes
sent twice, by anybody, are the same pieces. Its record names its size, which says how many there must be; a
record is taken only when all of them are there. A piece that is removed is overwritten on the servers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tacit.base.errors import Corrupt, Unavailable
from tacit.base.io.jetstream.connection import GUARD, NatsConnection
from tacit.base.io.jetstream.safety import wanted_config
from tacit.base.shipping import BatchStored, Elsewhere
from tacit.ledger.io.blobs import BlobFolder, Incoming

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path
    from typing import BinaryIO

    from tacit.base.nats_access import NatsAccess
    from tacit.base.ports import Entropy
    from tacit.ledger.io.blobs import StoredBlob

PIECE: Final = 512 * 1024
"""Bytes of a piece; part of the format, since the same bytes must give the same pieces."""
SUFFIX: Final = "_BLOBS"


def pieces_of(size: int) -> int:
    """How many pieces a blob has; an empty one has one, so that it can be seen to be there."""
    return max(1, -(-size // PIECE))


class BlobStream:
    """All blobs of one ledger. Blocking calls, for any thread."""

    def __init__(self, connection: NatsConnection, ledger: str, replicas: int) -> None:
        """Makes the stream when there is none, and refuses one that is not safe."""
        self.name: Final = ledger + SUFFIX
        self._connection = connection
        connection.wait(connection.entrust(wanted_config(self.name, replicas)))

    def put(self, sha256: str, file: BinaryIO) -> None:
        """Keep a blob; returns when all of it is durable."""
        number = 0
        while (piece := file.read(PIECE)) or not number:
            self._connection.wait(self._keep(sha256, number, piece))
            number += 1

    async def _keep(self, sha256: str, number: int, piece: bytes) -> None:
        headers = {GUARD: "0", "Nats-Expected-Stream": self.name}
        for _ in range(self._connection.patience.tries):
            # Whether it was taken now, before or by another: under this subject stand these bytes alone.
            answer = await self._connection.publish(f"{self.name}.{sha256}.{number}", piece, headers)
            if isinstance(answer, BatchStored | Elsewhere):
                return
        raise Unavailable("the stream does not take the file now")

    def holds(self, sha256: str, size: int) -> bool:
        """Are all pieces there?"""
        return len(self._connection.wait(self._pieces(sha256))) == pieces_of(size)

    async def _pieces(self, sha256: str) -> dict[str, int]:
        reply = await self._connection.ask(self.name, "INFO", {"subjects_filter": f"{self.name}.{sha256}.*"})
        return reply.state.subjects if reply.state is not None else {}

    def has(self, sha256: str) -> bool:
        """Is any of it there?"""
        return bool(self._connection.wait(self._pieces(sha256)))

    def get(self, sha256: str) -> Iterator[bytes]:
        """The pieces in order; none for a blob that is not there."""
        for number in range(len(self._connection.wait(self._pieces(sha256)))):
            subject = f"{self.name}.{sha256}.{number}"
            reply = self._connection.wait(
                self._connection.ask(self.name, "MSG.GET", {"last_by_subj": subject})
            )
            if reply.message is None:
                return
            yield reply.message.payload

    def remove(self, sha256: str) -> None:
        """Have it gone from the servers."""
        self._connection.wait(self._remove(sha256))

    async def _remove(self, sha256: str) -> None:
        # From the last: what is left when this breaks off is short of its end, and not taken for whole.
        for subject in sorted(await self._pieces(sha256), key=_number, reverse=True):
            reply = await self._connection.ask(self.name, "MSG.GET", {"last_by_subj": subject})
            if reply.message is not None:
                await self._connection.overwrite(self.name, reply.message.seq)


def _number(subject: str) -> int:
    return int(subject.rpartition(".")[2])


class BlobReaders:
    """The way to blobs for a process that writes nothing else to the servers."""

    def __init__(self, servers: NatsAccess, ledger: str, replicas: int) -> None:
        """Connects."""
        self._connection = NatsConnection(servers)
        try:
            self._stream = BlobStream(self._connection, ledger, replicas)
        except BaseException:
            self._connection.close()
            raise

    def folder(self, folder: Path, entropy: Entropy) -> CachedBlobs:
        """The folder of blobs; what nobody has any more is removed by the writer."""
        return CachedBlobs(folder, entropy, self._stream, lambda: False)

    def close(self) -> None:
        """Let go of the servers."""
        self._connection.close()


class CachedBlobs(BlobFolder):
    """The folder of blobs, where what is missing is fetched and what arrives is sent on."""

    def __init__(
        self, folder: Path, entropy: Entropy, stream: BlobStream, may_write: Callable[[], bool]
    ) -> None:
        super().__init__(folder, entropy)
        self._stream = stream
        self._may_write = may_write

    def arrived(self, stored: StoredBlob) -> None:
        """Have the stream keep it; a blob is stored when that is done."""
        with super().open(stored.sha256) as file:
            self._stream.put(stored.sha256, file)

    def open(self, sha256: str) -> BinaryIO:
        """The blob's bytes, fetched when they are not here."""
        if not self.place(sha256).exists():
            self._fetch(sha256)
        return super().open(sha256)

    def _fetch(self, sha256: str) -> None:
        self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        incoming = Incoming(self._folder, self._entropy.draw(12).hex())
        try:
            for piece in self._stream.get(sha256):
                incoming.write(piece)
            whole = incoming.sha256 == sha256
            if whole:
                incoming.finish()
        except BaseException:
            incoming.abandon()
            raise
        if not whole:
            incoming.abandon()
            raise Corrupt("a blob is not in the stream", hint="restore the stream from a backup")

    def holds(self, sha256: str, size: int) -> bool:
        """Are the bytes in the stream? Another node may have received them: here they need not be."""
        return self._stream.holds(sha256, size)

    def remove(self, sha256: str) -> None:
        """Have it gone, here and on the servers; from those by the one who writes, who knows the newest."""
        super().remove(sha256)
        if self._may_write():
            self._stream.remove(sha256)
        elif self._stream.has(sha256):
            raise Unavailable("a file is to be removed from the servers by the node that writes")
