"""The encrypted backup of an identity: Argon2id and XChaCha20-Poly1305 (A2ACP-224, A2ACP-225).

Holds whatever bytes the caller gives; the caller never gives ratchet state, because a restored copy of it
would repeat keys. The parameters stand in the open and are bound as associated data, within limits on both
ends.
"""

from __future__ import annotations

import base64
import binascii
from typing import TYPE_CHECKING, Final

import msgspec

from tacit.base.errors import Refused
from tacit.seal import primitives
from tacit.seal.primitives import NONCE_BYTES, SALT_BYTES, CannotOpen

if TYPE_CHECKING:
    from tacit.base.ports import Entropy

FORMAT: Final = "tacit-backup-v1"
PASSES: Final = 3
MEMORY_BYTES: Final = 256 * 1024 * 1024
SHORTEST_PASSPHRASE: Final = 10
_MOST_PASSES: Final = 16
_LEAST_MEMORY: Final = 8 * 1024 * 1024
_MOST_MEMORY: Final = 1024 * 1024 * 1024


class _File(msgspec.Struct, frozen=True):
    format: str
    passes: int
    memory_bytes: int
    salt: str
    nonce: str
    ciphertext: str


def _associated(file: _File) -> bytes:
    return primitives.framed(
        file.format.encode(), str(file.passes).encode(), str(file.memory_bytes).encode(), file.salt.encode()
    )


def lock(
    content: bytes,
    passphrase: str,
    entropy: Entropy,
    *,
    passes: int = PASSES,
    memory_bytes: int = MEMORY_BYTES,
) -> bytes:
    """The backup file's bytes."""
    if len(passphrase) < SHORTEST_PASSPHRASE:
        raise Refused(
            "weak_passphrase", f"a passphrase has at least {SHORTEST_PASSPHRASE} characters", row="A2ACP-225"
        )
    salt, nonce = entropy.draw(SALT_BYTES), entropy.draw(NONCE_BYTES)
    file = _File(FORMAT, passes, memory_bytes, _text(salt), _text(nonce), "")
    key = primitives.password_key(passphrase.encode(), salt, passes=passes, memory_bytes=memory_bytes)
    ciphertext = primitives.encrypt(key, nonce, content, _associated(file))
    return msgspec.json.encode(msgspec.structs.replace(file, ciphertext=_text(ciphertext)))


def unlock(data: bytes, passphrase: str) -> bytes:
    """The content; `CannotOpen` for a wrong passphrase or an altered file."""
    try:
        file = msgspec.json.decode(data, type=_File)
        salt, nonce, ciphertext = (_bytes(text) for text in (file.salt, file.nonce, file.ciphertext))
    except (msgspec.DecodeError, binascii.Error, ValueError):
        raise Refused("bad_backup", "not a backup file", row="A2ACP-224") from None
    sound = _LEAST_MEMORY <= file.memory_bytes <= _MOST_MEMORY and 1 <= file.passes <= _MOST_PASSES
    if file.format != FORMAT or not sound or len(salt) != SALT_BYTES:
        raise Refused("bad_backup", "not a backup file that this version reads", row="A2ACP-224")
    key = primitives.password_key(
        passphrase.encode(), salt, passes=file.passes, memory_bytes=file.memory_bytes
    )
    try:
        return primitives.decrypt(key, nonce, ciphertext, _associated(file))
    except CannotOpen:
        raise Refused("bad_backup", "wrong passphrase, or the file was altered", row="A2ACP-224") from None


def _text(data: bytes) -> str:
    return base64.b64encode(data).decode("ascii")


def _bytes(text: str) -> bytes:
    return base64.b64decode(text, validate=True)
