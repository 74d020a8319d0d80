"""The seal between an agent and somebody with a browser alone: AES-256-GCM under a link's secret (A2ACP-276).

Browsers have no XChaCha20. Of the 32 bytes behind the `#` of a link two things are derived: the key, which
never leaves either end, and a proof, by which a relay that knows only its digest tells whoever has the whole
link from whoever has only its address. Question and answer are bound to the link and to their direction, so
that neither can be handed out as the other. Whoever serves the page can change its script; against that
no seal helps, and the page says so.
"""

from __future__ import annotations

from typing import Final

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from tacit.seal.primitives import CannotOpen, digest, hkdf

SECRET_BYTES: Final = 32
NONCE_BYTES: Final = 12
TAG_BYTES: Final = 16
QUESTION: Final = "question"
ANSWER: Final = "answer"
_KEY: Final = b"tacit-guest-key-v1"
_PROOF: Final = b"tacit-guest-proof-v1"
_NONCE: Final = b"tacit-guest-nonce-v1"


def proof(secret: bytes) -> bytes:
    """What shows that one has the link's secret, without telling it."""
    return hkdf(secret, salt=b"", info=_PROOF, length=32)


def proof_digest(secret: bytes) -> bytes:
    """By which a relay knows the proof without having it."""
    return digest(proof(secret))


def repeatable_nonce(secret: bytes, plaintext: bytes) -> bytes:
    """A nonce made of what it seals: the same text gives the same bytes, another text another nonce."""
    return hkdf(secret, salt=digest(plaintext), info=_NONCE, length=NONCE_BYTES)


def seal(secret: bytes, guest_id: str, direction: str, plaintext: bytes, nonce: bytes) -> bytes:
    """The nonce, then what it seals."""
    return nonce + _cipher(secret).encrypt(nonce, plaintext, _bound(guest_id, direction))


def unseal(secret: bytes, guest_id: str, direction: str, sealed: bytes) -> bytes:
    """The plaintext, or `CannotOpen`."""
    if len(sealed) < NONCE_BYTES + TAG_BYTES:
        raise CannotOpen
    try:
        return _cipher(secret).decrypt(
            sealed[:NONCE_BYTES], sealed[NONCE_BYTES:], _bound(guest_id, direction)
        )
    except InvalidTag:
        raise CannotOpen from None


def _cipher(secret: bytes) -> AESGCM:
    return AESGCM(hkdf(secret, salt=b"", info=_KEY, length=32))


def _bound(guest_id: str, direction: str) -> bytes:
    return f"tacit-guest-v1\n{guest_id}\n{direction}".encode()
