"""X3DH: a shared secret with someone who is asleep (A2ACP-245).

The initiator combines its identity agreement key and an ephemeral key with the recipient's identity, signed
prekey and one-time (or, when none is left, last-resort) prekey. Built here rather than taken from the `x3dh`
package because that one derives the agreement key from the signing key, and ours are separate by design;
`tests/seal/reference.py` holds the two against each other.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from tacit.seal import primitives
from tacit.seal.primitives import CannotOpen

if TYPE_CHECKING:
    from tacit.seal.identity import Identity, PublicIdentity

_INFO: Final = b"tacit-x3dh-v1"
_PREFIX: Final = b"\xff" * 32
ONE_TIME: Final = 1
LAST_RESORT: Final = 2
OPENING_BYTES: Final = 32 + 32 + 8 + 1 + 8


@dataclass(frozen=True, slots=True)
class PublicPrekeys:
    """A recipient's prekeys, their signatures already checked."""

    signed_id: int
    signed: bytes
    single_id: int
    single: bytes
    single_kind: int


@dataclass(frozen=True, slots=True)
class Opening:
    """What the recipient needs to compute the same secret."""

    agreement: bytes
    ephemeral: bytes
    signed_id: int
    single_kind: int
    single_id: int

    def encode(self) -> bytes:
        """81 bytes."""
        return b"".join(
            (
                self.agreement,
                self.ephemeral,
                self.signed_id.to_bytes(8, "big"),
                bytes([self.single_kind]),
                self.single_id.to_bytes(8, "big"),
            )
        )

    @staticmethod
    def decode(data: bytes) -> Opening:
        """The opening in `data`."""
        if len(data) != OPENING_BYTES or data[72] not in {ONE_TIME, LAST_RESORT}:
            raise CannotOpen
        return Opening(
            agreement=data[:32],
            ephemeral=data[32:64],
            signed_id=int.from_bytes(data[64:72], "big"),
            single_kind=data[72],
            single_id=int.from_bytes(data[73:], "big"),
        )


@dataclass(frozen=True, slots=True, repr=False)
class Secret:
    """The first root key and the two first header keys of the ratchet."""

    root: bytes
    header: bytes
    next_header: bytes


def _derive(shares: tuple[bytes, ...], context: bytes) -> Secret:
    output = primitives.hkdf(
        _PREFIX + b"".join(shares), salt=bytes(32), info=primitives.framed(_INFO, context), length=96
    )
    return Secret(output[:32], output[32:64], output[64:])


def _context(initiator: PublicIdentity, responder: PublicIdentity) -> bytes:
    return primitives.framed(initiator.signing, initiator.agreement, responder.signing, responder.agreement)


def initiate(
    me: Identity, peer: PublicIdentity, prekeys: PublicPrekeys, ephemeral_private: bytes
) -> tuple[Opening, Secret]:
    """The opening to send and the secret it leads to."""
    shares = (
        primitives.agree(me.agreement_private, prekeys.signed),
        primitives.agree(ephemeral_private, peer.agreement),
        primitives.agree(ephemeral_private, prekeys.signed),
        primitives.agree(ephemeral_private, prekeys.single),
    )
    opening = Opening(
        agreement=me.agreement_public,
        ephemeral=primitives.agreement_public(ephemeral_private),
        signed_id=prekeys.signed_id,
        single_kind=prekeys.single_kind,
        single_id=prekeys.single_id,
    )
    return opening, _derive(shares, _context(me.public, peer))


def respond(
    me: Identity, peer: PublicIdentity, opening: Opening, *, signed_private: bytes, single_private: bytes
) -> Secret:
    """The secret behind an opening; the opening's agreement key must be the pinned one."""
    if opening.agreement != peer.agreement:
        raise CannotOpen
    shares = (
        primitives.agree(signed_private, opening.agreement),
        primitives.agree(me.agreement_private, opening.ephemeral),
        primitives.agree(signed_private, opening.ephemeral),
        primitives.agree(single_private, opening.ephemeral),
    )
    return _derive(shares, _context(peer, me.public))
