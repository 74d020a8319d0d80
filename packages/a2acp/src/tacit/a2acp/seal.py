"""Cryptography: keys, safety numbers, sealing and opening one packet (A2ACP-245, A2ACP-247, A2ACP-263).

The form without a session: an ephemeral key for each packet. `Line` uses the ratchet where both sides can;
its parts are in `tacit.seal.session`, and the vectors show them byte by byte.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tacit.seal import session
from tacit.seal.identity import Identity, PublicIdentity, fingerprint, generate, safety_number
from tacit.seal.primitives import CannotOpen
from tacit.seal.session import Binding
from tacit.wire.buckets import bucket_for

if TYPE_CHECKING:
    from tacit.base.ports import Entropy

__all__ = [
    "Binding",
    "CannotOpen",
    "Identity",
    "PublicIdentity",
    "fingerprint",
    "generate",
    "opened",
    "safety_number",
    "sealed",
]


class _NoPrekeys:
    """Nothing was given out by which a session could begin."""

    def signed(self, identifier: int) -> bytes | None:  # noqa: ARG002 - a port's
        """None."""
        return None

    def single(self, kind: int, identifier: int) -> bytes | None:  # noqa: ARG002 - a port's
        """None."""
        return None


def sealed(me: Identity, peer: PublicIdentity, payload: bytes, binding: Binding, entropy: Entropy) -> bytes:
    """A signed and sealed body of one of few lengths; who sends it to whom as what is bound into it."""
    return session.seal_stateless(me, peer, payload, binding, bucket_for, entropy)


def opened(me: Identity, peer: PublicIdentity, body: bytes, binding: Binding, entropy: Entropy) -> bytes:
    """The payload, or `CannotOpen` for anything that is not this peer's, for us, as this packet."""
    return session.open_body(me, peer, (), _NoPrekeys(), body, binding, entropy).payload
