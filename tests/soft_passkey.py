"""A software authenticator: makes and uses passkeys as a security key would, for tests without a browser."""

from __future__ import annotations

import hashlib
import json
import os

import cbor2
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec

from tacit.wire.encoding import b64, unb64


class SoftPasskey:
    """One resident credential on P-256."""

    def __init__(self, origin: str, rp_id: str = "localhost", *, verified: bool = True) -> None:
        self.origin = origin
        self.rp_id = rp_id
        self._key = ec.generate_private_key(ec.SECP256R1())
        self.id = os.urandom(32)
        self.count = 0
        self._flags = 0x45 if verified else 0x41
        self.user_handle = b""

    def _client_data(self, kind: str, challenge: str) -> bytes:
        return json.dumps(
            {"type": kind, "challenge": challenge, "origin": self.origin, "crossOrigin": False}
        ).encode()

    def create(self, options: dict) -> dict:
        numbers = self._key.public_key().public_numbers()
        cose = {1: 2, 3: -7, -1: 1, -2: numbers.x.to_bytes(32, "big"), -3: numbers.y.to_bytes(32, "big")}
        self.user_handle = unb64(options["user"]["id"])
        data = (
            hashlib.sha256(self.rp_id.encode()).digest()
            + bytes([self._flags])
            + self.count.to_bytes(4, "big")
            + bytes(16)
            + len(self.id).to_bytes(2, "big")
            + self.id
            + cbor2.dumps(cose)
        )
        attestation = cbor2.dumps({"fmt": "none", "attStmt": {}, "authData": data})
        return self._credential(
            {
                "clientDataJSON": b64(self._client_data("webauthn.create", options["challenge"])),
                "attestationObject": b64(attestation),
            }
        )

    def get(self, options: dict) -> dict:
        self.count += 1
        data = (
            hashlib.sha256(self.rp_id.encode()).digest()
            + bytes([self._flags & 0x05])
            + self.count.to_bytes(4, "big")
        )
        client = self._client_data("webauthn.get", options["challenge"])
        signature = self._key.sign(data + hashlib.sha256(client).digest(), ec.ECDSA(hashes.SHA256()))
        return self._credential(
            {
                "clientDataJSON": b64(client),
                "authenticatorData": b64(data),
                "signature": b64(signature),
                "userHandle": b64(self.user_handle),
            }
        )

    def _credential(self, response: dict) -> dict:
        return {"id": b64(self.id), "rawId": b64(self.id), "type": "public-key", "response": response}
