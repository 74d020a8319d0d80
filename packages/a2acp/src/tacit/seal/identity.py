"""An agent's own keys, and the numbers by which people compare them (A2ACP-013, A2ACP-245, A2ACP-247).

Signing (Ed25519) and agreement (X25519) keys are separate; the signing key vouches for the agreement key.
Secrets do not show in `repr`. Knows nothing of files or of where records travel.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from tacit.seal import primitives

if TYPE_CHECKING:
    from tacit.base.ports import Entropy

_ITERATIONS: Final = 5_200
_VERSION: Final = b"tacit-safety-number-v1"


@dataclass(frozen=True, slots=True, repr=False)
class Identity:
    """The private keys of one agent."""

    signing_seed: bytes
    agreement_private: bytes

    @property
    def signing_public(self) -> bytes:
        """The Ed25519 public key."""
        return primitives.signing_public(self.signing_seed)

    @property
    def agreement_public(self) -> bytes:
        """The X25519 public key."""
        return primitives.agreement_public(self.agreement_private)

    def sign(self, message: bytes) -> bytes:
        """A detached signature."""
        return primitives.sign(self.signing_seed, message)

    @property
    def public(self) -> PublicIdentity:
        """What others may know."""
        return PublicIdentity(self.signing_public, self.agreement_public)


@dataclass(frozen=True, slots=True)
class PublicIdentity:
    """The public keys of one agent."""

    signing: bytes
    agreement: bytes


def generate(entropy: Entropy) -> Identity:
    """New keys from fresh randomness."""
    return Identity(entropy.draw(32), entropy.draw(32))


def fingerprint(address: str, signing_public: bytes) -> str:
    """Thirty digits for one agent's signing key, in groups of five."""
    return _groups(_digits(address, signing_public))


def safety_number(*, our_address: str, our_signing: bytes, their_address: str, their_signing: bytes) -> str:
    """Sixty digits that both sides see alike, and that differ when either sees another key."""
    ours, theirs = _digits(our_address, our_signing), _digits(their_address, their_signing)
    return _groups("".join(sorted((ours, theirs))))


def _digits(address: str, key: bytes) -> str:
    value = _VERSION + key + address.encode("utf-8")
    for _ in range(_ITERATIONS):
        value = hashlib.sha512(value + key).digest()
    return "".join(f"{int.from_bytes(value[i : i + 5], 'big') % 100_000:05d}" for i in range(0, 30, 5))


def _groups(digits: str) -> str:
    return " ".join(digits[i : i + 5] for i in range(0, len(digits), 5))
