"""An agent's own keys, and the numbers by which people compare them (A2ACP-013, A2ACP-245, A2ACP-247).

Signing (Ed25519) and agreement (X25519) keys are separate; the signing key vouches for the agreement key.
Secrets do not show in `repr`. Knows nothing of files or of where records travel.

Pinned keys: the first key seen is held; another one blocks until a person decides (A2ACP-015, A2ACP-247).

One small machine. A rotation signed by the pinned key moves the pin by itself; anything else that differs
leads to `changed`, in which nothing is sent and nothing is accepted. An older statement than the pinned one
is refused, unless it begins the numbers again under another key, as a recovered account does.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from enum import StrEnum
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


class Trust(StrEnum):
    """How far a contact's key is trusted."""

    PINNED = "pinned"
    VERIFIED = "verified"
    CHANGED = "changed"


class Sighting(StrEnum):
    """What an offered key is, compared with the pin."""

    SAME = "same"
    OLDER = "older"
    ROTATED = "rotated"
    DIFFERENT = "different"


TRANSITIONS: Final = {
    (Trust.PINNED, Sighting.SAME): Trust.PINNED,
    (Trust.PINNED, Sighting.OLDER): Trust.PINNED,
    (Trust.PINNED, Sighting.ROTATED): Trust.PINNED,
    (Trust.PINNED, Sighting.DIFFERENT): Trust.CHANGED,
    (Trust.VERIFIED, Sighting.SAME): Trust.VERIFIED,
    (Trust.VERIFIED, Sighting.OLDER): Trust.VERIFIED,
    # Signed by the verified key, but nobody has compared the new one yet.
    (Trust.VERIFIED, Sighting.ROTATED): Trust.PINNED,
    (Trust.VERIFIED, Sighting.DIFFERENT): Trust.CHANGED,
    (Trust.CHANGED, Sighting.SAME): Trust.CHANGED,
    (Trust.CHANGED, Sighting.OLDER): Trust.CHANGED,
    (Trust.CHANGED, Sighting.ROTATED): Trust.CHANGED,
    (Trust.CHANGED, Sighting.DIFFERENT): Trust.CHANGED,
}
"""Only a person leads out of `changed`."""


@dataclass(frozen=True, slots=True)
class Pin:
    """A contact's keys as held, and the offered ones while they wait for a decision."""

    keys: PublicIdentity
    serial: int
    trust: Trust = Trust.PINNED
    offered: PublicIdentity | None = None
    offered_serial: int = 0

    @property
    def usable(self) -> bool:
        """Whether packets may be sent to and taken from this contact."""
        return self.trust is not Trust.CHANGED


def sighting(
    pin: Pin, keys: PublicIdentity, serial: int, *, rotation_proven: bool, reset: bool = False
) -> Sighting:
    """What the offered keys are.

    `rotation_proven`: the pinned signing key has signed them over, itself or through others. `reset`: their
    numbers begin anew, which is no way to say something older under the pinned key.
    """
    same = keys.signing == pin.keys.signing
    if serial < pin.serial and (same or not reset):
        return Sighting.OLDER
    if same:
        # The statement is signed by the pinned key itself; its agreement key may be a fresh one (A2ACP-252).
        return Sighting.SAME
    return Sighting.ROTATED if rotation_proven else Sighting.DIFFERENT


def observe(
    pin: Pin | None,
    keys: PublicIdentity,
    serial: int,
    *,
    rotation_proven: bool = False,
    reset: bool = False,
) -> Pin:
    """The pin after an offered key was seen."""
    if pin is None:
        return Pin(keys, serial)
    seen = sighting(pin, keys, serial, rotation_proven=rotation_proven, reset=reset)
    trust = TRANSITIONS[pin.trust, seen]
    if trust is Trust.CHANGED:
        fresh = seen is Sighting.DIFFERENT or seen is Sighting.ROTATED
        return replace(pin, trust=trust, offered=keys, offered_serial=serial) if fresh else pin
    if seen is Sighting.OLDER:
        return pin
    return Pin(keys, serial, trust)


def accept(pin: Pin) -> Pin:
    """A person has decided for the offered key."""
    if pin.offered is None:
        return Pin(pin.keys, pin.serial, Trust.PINNED)
    return Pin(pin.offered, pin.offered_serial, Trust.PINNED)


def reject(pin: Pin) -> Pin:
    """A person has decided for the old key; the offered one is forgotten."""
    return replace(pin, trust=Trust.PINNED, offered=None, offered_serial=0)


def verified(pin: Pin) -> Pin:
    """A person has compared the safety number."""
    return replace(pin, trust=Trust.VERIFIED) if pin.usable else pin
