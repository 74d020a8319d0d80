"""A long content under a passphrase, piece by piece: Argon2id once, then XChaCha20-Poly1305 for each piece.

Each piece is bound to the header, its number and whether it is the last, so that pieces can be neither moved
nor left out, and a stream that was cut does not open to its end. `seal.backup` is the same for what fits into
memory.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tacit.base.errors import Refused
from tacit.base.sealed_form import HEADER_BYTES, MAGIC
from tacit.seal import primitives
from tacit.seal.backup import MEMORY_BYTES, PASSES, SHORTEST_PASSPHRASE
from tacit.seal.primitives import NONCE_BYTES, SALT_BYTES, CannotOpen

if TYPE_CHECKING:
    from tacit.base.ports import Entropy

_COUNTER_BYTES: Final = 8
_MOST_PASSES: Final = 16
_LEAST_MEMORY: Final = 8 * 1024 * 1024
_MOST_MEMORY: Final = 1024 * 1024 * 1024


class _Pieces:
    """What both ends count: the pieces so far."""

    def __init__(self, header: bytes, key: bytes) -> None:
        self.header = header
        self._key = key
        self._count = 0

    def _next(self, *, last: bool) -> tuple[bytes, bytes]:
        """The next piece's nonce, and what is bound to it."""
        number = self._count.to_bytes(_COUNTER_BYTES, "big")
        self._count += 1
        return self.header[-(NONCE_BYTES - _COUNTER_BYTES) :] + number, self.header + number + bytes([last])


class Sealer(_Pieces):
    """The writing end."""

    def __init__(
        self, passphrase: str, entropy: Entropy, *, passes: int = PASSES, memory_bytes: int = MEMORY_BYTES
    ) -> None:
        if len(passphrase) < SHORTEST_PASSPHRASE:
            raise Refused("weak_passphrase", f"a passphrase has at least {SHORTEST_PASSPHRASE} characters")
        salt = entropy.draw(SALT_BYTES)
        header = MAGIC + bytes([passes]) + memory_bytes.to_bytes(8, "big") + salt
        key = primitives.password_key(passphrase.encode(), salt, passes=passes, memory_bytes=memory_bytes)
        super().__init__(header + entropy.draw(NONCE_BYTES - _COUNTER_BYTES), key)

    def seal(self, piece: bytes, *, last: bool = False) -> bytes:
        """A piece as it is written."""
        nonce, bound = self._next(last=last)
        sealed = primitives.encrypt(self._key, nonce, piece, bound)
        return bytes([last]) + len(sealed).to_bytes(4, "big") + sealed


class Opener(_Pieces):
    """The reading end."""

    def __init__(self, header: bytes, passphrase: str) -> None:
        rest = header.removeprefix(MAGIC)
        if len(header) != HEADER_BYTES or rest == header:
            raise Refused("bad_backup", "this is no sealed file")
        passes, memory_bytes = rest[0], int.from_bytes(rest[1:9], "big")
        if not (1 <= passes <= _MOST_PASSES and _LEAST_MEMORY <= memory_bytes <= _MOST_MEMORY):
            raise Refused("bad_backup", "not a sealed file that this version reads")
        salt = rest[9 : 9 + SALT_BYTES]
        key = primitives.password_key(passphrase.encode(), salt, passes=passes, memory_bytes=memory_bytes)
        super().__init__(header, key)

    def open(self, sealed: bytes, *, last: bool) -> bytes:
        """A piece's content; refuses what is not as it was written."""
        nonce, bound = self._next(last=last)
        try:
            return primitives.decrypt(self._key, nonce, sealed, bound)
        except CannotOpen:
            raise Refused("bad_backup", "wrong passphrase, or the file was altered") from None
