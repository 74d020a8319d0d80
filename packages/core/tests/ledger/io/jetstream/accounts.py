"""What the operator of NATS servers makes: keys, an account, and the credentials of a user in it."""

from __future__ import annotations

import base64
import binascii
import json

from nacl.signing import SigningKey

KINDS = {"operator": 14, "account": 0, "user": 20}
LIMITS = dict.fromkeys(("subs", "data", "payload", "imports", "exports", "conn", "leaf"), -1) | {
    "wildcards": True
}
ALL = LIMITS | dict.fromkeys(("mem_storage", "disk_storage", "streams", "consumer"), -1)


def text_of(raw: bytes) -> str:
    return base64.b32encode(raw + binascii.crc_hqx(raw, 0).to_bytes(2, "little")).decode().rstrip("=")


class Nkey:
    """A key of the kind that NATS uses: its public half and its seed as text, and what it signs."""

    def __init__(self, kind: str) -> None:
        self._key = SigningKey.generate()
        prefix = KINDS[kind] << 3
        self.public = text_of(bytes([prefix]) + bytes(self._key.verify_key))
        self.seed = text_of(bytes([18 << 3 | prefix >> 5, (prefix & 31) << 3]) + bytes(self._key))

    def token(self, subject: str, said: dict[str, object]) -> str:
        """A JWT about `subject`."""
        claims = {"jti": "x", "iat": 1, "iss": self.public, "name": "test", "sub": subject}
        parts = [{"typ": "JWT", "alg": "ed25519-nkey"}, {**claims, "nats": {**said, "version": 2}}]
        signed = ".".join(encoded(json.dumps(part).encode()) for part in parts)
        return f"{signed}.{encoded(self._key.sign(signed.encode()).signature)}"


def encoded(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).decode().rstrip("=")


class Operator:
    """An operator with one account; `config` is for the server, `credentials` for its users."""

    def __init__(self) -> None:
        self._key, self._account, system = Nkey("operator"), Nkey("account"), Nkey("account")
        operator = self._key.token(self._key.public, {"type": "operator", "system_account": system.public})
        known = "\n".join(
            f"{one.public}: {self._key.token(one.public, {'type': 'account', 'limits': limits})}"
            for one, limits in ((self._account, ALL), (system, LIMITS))
        )
        self.config = f"operator: {operator}\nresolver: MEMORY\nresolver_preload: {{\n{known}\n}}\n"

    def credentials(self) -> str:
        """Of a new user who may do everything in the account."""
        user = Nkey("user")
        token = self._account.token(user.public, {"type": "user", "subs": -1, "data": -1, "payload": -1})
        return (
            f"-----BEGIN NATS USER JWT-----\n{token}\n------END NATS USER JWT------\n\n"
            f"-----BEGIN USER NKEY SEED-----\n{user.seed}\n------END USER NKEY SEED------\n"
        )
