"""Pinned keys: the first key seen is held; another one blocks until a person decides (A2ACP-015, A2ACP-247).

One small machine. A rotation signed by the pinned key moves the pin by itself; anything else that differs
leads to `changed`, in which nothing is sent and nothing is accepted. An older statement than the pinned one
is refused, unless it begins the numbers again under another key, as a recovered account does.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from tacit.seal.identity import PublicIdentity


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
