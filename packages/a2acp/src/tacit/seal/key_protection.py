"""The keys of a folder at rest: each secret under the folder's own key, that key under its owner's secret.

A2ACP-212. The folder's key is random and never changes hands; it is kept wrapped, under a passphrase
(Argon2id) or under a random secret that the system's keyring holds. A secret is bound to the place where it
is kept: moved to another row or column it does not open. Knows nothing of files, keyrings or terminals.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import msgspec

from tacit.base.errors import Corrupt, Refused
from tacit.seal import primitives
from tacit.seal.backup import SHORTEST_PASSPHRASE
from tacit.seal.primitives import KEY_BYTES, NONCE_BYTES, SALT_BYTES, CannotOpen

if TYPE_CHECKING:
    from tacit.base.ports import Entropy

PASSPHRASE: Final = "passphrase"  # noqa: S105 - the name of a way, no secret
KEYRING: Final = "keyring"
PASSES: Final = 3
MEMORY_BYTES: Final = 64 * 1024 * 1024
_MOST_PASSES: Final = 16
_MOST_MEMORY: Final = 1024 * 1024 * 1024
_VERSION: Final = b"tacit-key-protection-v1"


@dataclass(frozen=True, slots=True)
class Protection:
    """How a folder's key is wrapped; holds no secret that opens by itself."""

    method: str
    salt: bytes
    passes: int
    memory_bytes: int
    wrapped: bytes = b""

    @property
    def name(self) -> str:
        """What the keyring knows this folder's secret by."""
        return self.salt.hex()

    def encode(self) -> bytes:
        """The bytes that are kept."""
        return msgspec.msgpack.encode(self)


def decode(data: bytes) -> Protection:
    """The protection in some bytes."""
    try:
        found = msgspec.msgpack.decode(data, type=Protection)
    except msgspec.DecodeError:
        raise _unreadable() from None
    sound = 0 <= found.passes <= _MOST_PASSES and 0 <= found.memory_bytes <= _MOST_MEMORY
    if not sound or found.method not in {PASSPHRASE, KEYRING} or len(found.salt) != SALT_BYTES:
        raise _unreadable()
    return found


def _unreadable() -> Corrupt:
    return Corrupt("how this folder's keys are kept cannot be read", hint="restore a backup of the agent")


@dataclass(frozen=True, slots=True, repr=False)
class FolderKey:
    """Wraps and unwraps the secrets of one folder."""

    key: bytes

    def wrap(self, secret: bytes, place: bytes, entropy: Entropy) -> bytes:
        """A secret as it is kept at a place."""
        nonce = entropy.draw(NONCE_BYTES)
        return nonce + primitives.encrypt(self.key, nonce, secret, primitives.framed(_VERSION, place))

    def unwrap(self, kept: bytes, place: bytes) -> bytes:
        """The secret that is kept at a place; `CannotOpen` for anything else."""
        bound = primitives.framed(_VERSION, place)
        return primitives.decrypt(self.key, kept[:NONCE_BYTES], kept[NONCE_BYTES:], bound)


def begin(
    method: str,
    salt: bytes,
    secret: bytes,
    entropy: Entropy,
    *,
    passes: int = PASSES,
    memory_bytes: int = MEMORY_BYTES,
) -> tuple[Protection, FolderKey]:
    """A new folder key, wrapped under the owner's secret."""
    if method == PASSPHRASE and len(secret.decode("utf-8")) < SHORTEST_PASSPHRASE:
        raise Refused("weak_passphrase", f"a passphrase has at least {SHORTEST_PASSPHRASE} characters")
    bare = Protection(method, salt, passes, memory_bytes)
    key = entropy.draw(KEY_BYTES)
    wrapped = FolderKey(_owners_key(bare, secret)).wrap(key, _place(bare), entropy)
    return Protection(method, salt, passes, memory_bytes, wrapped), FolderKey(key)


def unlock(protection: Protection, secret: bytes) -> FolderKey:
    """The folder's key; `Refused` for another secret than the owner's."""
    try:
        outer = FolderKey(_owners_key(protection, secret))
        return FolderKey(outer.unwrap(protection.wrapped, _place(protection)))
    except CannotOpen:
        if protection.method == PASSPHRASE:
            raise Refused("wrong_passphrase", "this passphrase does not open the agent's keys") from None
        raise Refused("wrong_keyring", "the keyring's secret does not open the agent's keys") from None


def _owners_key(protection: Protection, secret: bytes) -> bytes:
    if protection.method == PASSPHRASE:
        return primitives.password_key(
            secret, protection.salt, passes=protection.passes, memory_bytes=protection.memory_bytes
        )
    return primitives.hkdf(secret, salt=protection.salt, info=_VERSION, length=KEY_BYTES)


def _place(protection: Protection) -> bytes:
    return primitives.framed(
        protection.method.encode(),
        protection.salt,
        str(protection.passes).encode(),
        str(protection.memory_bytes).encode(),
    )
