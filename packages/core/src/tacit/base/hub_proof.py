"""How a hub proves to its owner's programs that it is the hub of a certain data folder.

Before a token that a file on this machine holds leaves for an address, the program asks what listens
there for a proof: a keyed hash over a number drawn for this one question and over the address at which
the hub was reached. The key is made of the owner's token, which stands in the data folder alone, and
which the answer does not give away. The address is part of it so that a program which listens elsewhere
cannot pass the question on to the hub and show the hub's answer as its own.
"""

from __future__ import annotations

import hashlib
from typing import Final, NamedTuple

PATH: Final = "/v1/proof"
NONCE_BYTES: Final = 32
ADDRESS_FILE: Final = "address.json"
"""Where in its data folder a hub says at which addresses it listens."""


class HubAccess(NamedTuple):
    """Where a hub is, with which token to speak to it, and the key that it has to prove to hold before."""

    url: str
    token: str
    proven_by: bytes | None = None

    def __repr__(self) -> str:
        """Where alone: token and key stand in no trace."""
        return f"HubAccess(url={self.url!r})"


def proof_key(owner_token: str) -> bytes:
    """The key of a hub's proofs: a program that checks them need not keep the owner's token itself."""
    return hashlib.blake2b(owner_token.encode(), digest_size=32, person=b"tacit hub proof").digest()


def proof_of(key: bytes, nonce: bytes, host: str, port: int) -> str:
    """What the holder of `key` that was reached at `host` and `port` answers to `nonce`.

    A nonce is asked about once, so that proofs may be compared like any text.
    """
    place = f"{_plain(host)} {port}"
    return hashlib.blake2b(nonce + place.encode(), key=key, digest_size=32).hexdigest()


def _plain(host: str) -> str:
    """An address as both ends of a connection name it: without a zone, IPv4 never inside IPv6."""
    return host.partition("%")[0].removeprefix("::ffff:")
