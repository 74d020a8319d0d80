"""Ed25519 verification by OpenSSL under libsodium's rules, for whoever verifies a great deal (A2ACP-249).

The relay's hot path: a third less time a signature than libsodium on the machines measured. OpenSSL itself
takes a key of small order, under which anybody can sign, and a point spelt in two ways; both are refused here
by looking at the encodings, as is a small-order R. OpenSSL refuses S not below the group's order, and
compares R byte for byte.

Whatever libsodium refuses is refused here. Both verify without the cofactor, so a part of small order in R or
in the key is not forgiven either; were a later libsodium to forgive it, the relay alone would refuse such a
packet, which only a signer who departs from RFC 8032 on purpose can make. Signing, and all verification at
the agents, stay with `primitives`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from tacit.seal.primitives import KEY_BYTES, SIGNATURE_BYTES

if TYPE_CHECKING:
    from collections.abc import Callable

_PRIME: Final = 2**255 - 19
_WITHOUT_SIGN: Final = 2**255 - 1
_ORDER_EIGHT: Final = int.from_bytes(
    bytes.fromhex("26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05"), "little"
)
_SMALL_ORDER: Final = frozenset({0, 1, _PRIME - 1, _ORDER_EIGHT, _PRIME - _ORDER_EIGHT})
"""The y coordinates of the eight points of small order: orders 4, 1, 2, 8 and 8."""


def is_weak_point(encoding: bytes) -> bool:
    """Whether 32 bytes spell a point of small order, or spell a point in a way that is not its only one."""
    y = int.from_bytes(encoding, "little") & _WITHOUT_SIGN
    return y >= _PRIME or y in _SMALL_ORDER


def checker(public: bytes) -> Callable[[bytes, bytes], bool]:
    """A check of message and signature for one key, which is looked at once; a weak key's never holds."""
    if len(public) != KEY_BYTES or is_weak_point(public):
        return _never
    key = Ed25519PublicKey.from_public_bytes(public)

    def check(message: bytes, signature: bytes) -> bool:
        if len(signature) != SIGNATURE_BYTES or is_weak_point(signature[:KEY_BYTES]):
            return False
        try:
            key.verify(signature, message)
        except InvalidSignature:
            return False
        return True

    return check


def _never(_message: bytes, _signature: bytes) -> bool:
    return False


def verify(public: bytes, message: bytes, signature: bytes) -> bool:
    """Whether `signature` is `public`'s over `message`; false for weak or misshapen keys as well."""
    return checker(public)(message, signature)
