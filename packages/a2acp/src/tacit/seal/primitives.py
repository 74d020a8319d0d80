"""The few primitives, from libsodium, behind the house's own errors (A2ACP-243, A2ACP-248).

Ed25519, X25519, XChaCha20-Poly1305, HKDF-SHA256, Argon2id. Small-order and identity-point keys are refused:
verification and agreement fail on them. Randomness is an argument. Everything above is built from these
alone.
"""

from __future__ import annotations

import hashlib
import hmac
from typing import Final

from nacl import bindings, exceptions

from tacit.base.errors import PeerFault

KEY_BYTES: Final = 32
SIGNATURE_BYTES: Final = 64
NONCE_BYTES: Final = 24
TAG_BYTES: Final = 16
SALT_BYTES: Final = 16
# Every private key is a multiple of eight, so any one of them finds the points of small order.
_ANY_PRIVATE: Final = bytes(32)


class CannotOpen(PeerFault):
    """A seal did not open; the reason is deliberately one and the same."""

    def __init__(self) -> None:
        super().__init__("the seal does not open")


def signing_public(seed: bytes) -> bytes:
    """The Ed25519 public key of a 32-byte seed."""
    return bindings.crypto_sign_seed_keypair(seed)[0]


def sign(seed: bytes, message: bytes) -> bytes:
    """The detached Ed25519 signature of `message`."""
    _, secret = bindings.crypto_sign_seed_keypair(seed)
    return bindings.crypto_sign(message, secret)[:SIGNATURE_BYTES]


def verify(public: bytes, message: bytes, signature: bytes) -> bool:
    """Whether `signature` is `public`'s over `message`; false for weak or misshapen keys as well."""
    if len(public) != KEY_BYTES or len(signature) != SIGNATURE_BYTES:
        return False
    try:
        bindings.crypto_sign_open(signature + message, public)
    except exceptions.BadSignatureError:
        return False
    return True


def is_sound_signing_key(public: bytes) -> bool:
    """Whether `public` is a point of the prime-order group; the identity and small-order points are not."""
    return len(public) == KEY_BYTES and bindings.crypto_core_ed25519_is_valid_point(public)


def agreement_public(private: bytes) -> bytes:
    """The X25519 public key of 32 private bytes."""
    return bindings.crypto_scalarmult_base(private)


def agree(private: bytes, public: bytes) -> bytes:
    """The X25519 shared secret; `CannotOpen` when the other key forces it to zero."""
    if len(public) != KEY_BYTES:
        raise CannotOpen
    try:
        return bindings.crypto_scalarmult(private, public)
    except exceptions.RuntimeError:
        raise CannotOpen from None


def is_sound_agreement_key(public: bytes) -> bool:
    """Whether an agreement with `public` gives a secret at all; small-order points force it to zero."""
    try:
        agree(_ANY_PRIVATE, public)
    except CannotOpen:
        return False
    return True


def encrypt(key: bytes, nonce: bytes, plaintext: bytes, associated: bytes) -> bytes:
    """XChaCha20-Poly1305."""
    return bindings.crypto_aead_xchacha20poly1305_ietf_encrypt(plaintext, associated, nonce, key)


def decrypt(key: bytes, nonce: bytes, ciphertext: bytes, associated: bytes) -> bytes:
    """The plaintext, or `CannotOpen`."""
    if len(ciphertext) < TAG_BYTES or len(nonce) != NONCE_BYTES:
        raise CannotOpen
    try:
        return bindings.crypto_aead_xchacha20poly1305_ietf_decrypt(ciphertext, associated, nonce, key)
    except exceptions.CryptoError:
        raise CannotOpen from None


def mac(key: bytes, message: bytes) -> bytes:
    """HMAC-SHA256."""
    return hmac.digest(key, message, "sha256")


def digest(message: bytes) -> bytes:
    """SHA-256."""
    return hashlib.sha256(message).digest()


def hkdf(secret: bytes, *, salt: bytes, info: bytes, length: int) -> bytes:
    """HKDF-SHA256 (RFC 5869)."""
    pseudorandom = hmac.digest(salt or bytes(32), secret, "sha256")
    output = block = b""
    counter = 1
    while len(output) < length:
        block = hmac.digest(pseudorandom, block + info + bytes([counter]), "sha256")
        output += block
        counter += 1
    return output[:length]


def password_key(password: bytes, salt: bytes, *, passes: int, memory_bytes: int) -> bytes:
    """32 bytes from a passphrase by Argon2id."""
    return bindings.crypto_pwhash_alg(
        KEY_BYTES, password, salt, passes, memory_bytes, bindings.crypto_pwhash_ALG_ARGON2ID13
    )


def framed(*parts: bytes) -> bytes:
    """Parts joined so that no two lists of parts give the same bytes: each with its length before it."""
    return b"".join(len(part).to_bytes(4, "big") + part for part in parts)
