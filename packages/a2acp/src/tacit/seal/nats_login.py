"""Who a hub is at NATS servers, read from a file of credentials.

Two forms: what NATS tools write (a JWT and the seed of an Ed25519 key, each between two marks), and one line
`user:password`. A seed is base32 of two bytes that say what it is, 32 of the key and a check sum.
"""

from __future__ import annotations

import base64
import binascii
import re
from functools import partial
from typing import Final

from tacit.base.errors import Refused
from tacit.base.nats_access import NatsLogin
from tacit.seal.primitives import KEY_BYTES, sign

_PART: Final = r"-+BEGIN {}-+\s+(\S+)\s+-+END {}-+"
_JWT: Final = re.compile(_PART.format("NATS USER JWT", "NATS USER JWT"))
_SEED: Final = re.compile(_PART.format("USER NKEY SEED", "USER NKEY SEED"))
_USERS_SEED: Final = bytes([18 << 3 | 20 >> 2, (20 & 3) << 6])
"""What the seed of a user begins with: the kind of a seed, five bits, and that of a user, eight."""


def login_in(text: str) -> NatsLogin:
    """What a file of credentials says; `Refused` when it says nothing."""
    jwt, seed = _JWT.search(text), _SEED.search(text)
    if jwt is not None and seed is not None:
        return NatsLogin(jwt=jwt[1], sign=partial(sign, _key(seed[1])))
    user, colon, password = text.strip().partition(":")
    if not (user and colon and password) or len(text.strip().splitlines()) != 1:
        raise _unreadable()
    return NatsLogin(user=user, password=password)


def _key(seed: str) -> bytes:
    try:
        raw = base64.b32decode(seed + "=" * (-len(seed) % 8))
    except binascii.Error:
        raise _unreadable() from None
    key = raw[2:-2]
    if len(key) != KEY_BYTES or raw[:2] != _USERS_SEED or raw[-2:] != _check_sum(raw[:-2]):
        raise _unreadable()
    return key


def _check_sum(data: bytes) -> bytes:
    return binascii.crc_hqx(data, 0).to_bytes(2, "little")


def _unreadable() -> Refused:
    return Refused(
        "bad_credentials",
        "the file of --nats-creds holds no credentials: it is what NATS tools write (a JWT and the seed of a "
        "user's key), or one line user:password",
    )
