"""Writes the vectors of our own constructions, from entropy that repeats: `python -m tests.conformance.write_seal_vectors`.

Each vector holds one sealed body, the keys that open it, and either the payload or the layer that must refuse.
"""

from __future__ import annotations

import json

from tacit.a2acp.io import data
from tacit.seal import identity, session, x3dh
from tests.post_support import ALICE, BOB, Repeatable, fit, people

FOLDER = data.vectors() / "seal"


def vectors():
    alice, bob = people()
    binding = session.Binding(ALICE, BOB, "pkt_vector01", b'{"from":"agent:alice@a.example"}')
    first = session.begin(alice.me, bob.me.public, bob.prekeys(), alice.entropy)
    after, opening = session.seal(
        alice.me, bob.me.public, first, b"first packet", binding, fit, alice.entropy
    )
    _, second = session.seal(alice.me, bob.me.public, after, b"second packet", binding, fit, alice.entropy)
    stateless = session.seal_stateless(
        alice.me, bob.me.public, b"stateless packet", binding, fit, alice.entropy
    )
    mallory = identity.generate(Repeatable("mallory"))
    forged = session.seal_stateless(mallory, bob.me.public, b"forged", binding, fit, mallory_entropy())
    base = {
        "from": ALICE,
        "to": BOB,
        "packet_id": binding.packet_id,
        "header": binding.header.decode(),
        "sender_signing_public": alice.me.signing_public.hex(),
        "sender_agreement_public": alice.me.agreement_public.hex(),
        "recipient_signing_seed": bob.me.signing_seed.hex(),
        "recipient_agreement_private": bob.me.agreement_private.hex(),
        "signed_prekey": {"id": 1, "private": bob.secrets.signed_keys[1].hex()},
        "one_time_prekey": {"id": 7, "private": bob.secrets.singles[x3dh.ONE_TIME, 7].hex()},
    }

    def flipped(body: bytes, index: int) -> bytes:
        return body[:index] + bytes([body[index] ^ 1]) + body[index + 1 :]

    cases = {
        "stateless": (stateless, {"payload": "stateless packet"}),
        "x3dh-first": (opening, {"payload": "first packet"}),
        "x3dh-second": (second, {"payload": "second packet"}),
        "refused-version": (b"\x02" + stateless[1:], {"refused_by": "version"}),
        "refused-box-ciphertext": (flipped(stateless, 80), {"refused_by": "box"}),
        "refused-box-ephemeral": (flipped(stateless, 5), {"refused_by": "box"}),
        "refused-padding-tail": (flipped(stateless, len(stateless) - 1), {"refused_by": "box"}),
        "refused-inner-signature": (forged, {"refused_by": "inner signature"}),
        "refused-prekey-gone": (opening, {"refused_by": "x3dh", "one_time_prekey": None}),
        "refused-other-recipient": (stateless, {"refused_by": "box", "to": "agent:carol@b.example"}),
        "refused-other-header": (stateless, {"refused_by": "box", "header": "{}"}),
        "refused-other-packet": (stateless, {"refused_by": "box", "packet_id": "pkt_vector02"}),
    }
    return {name: {**base, "body": body.hex(), **more} for name, (body, more) in cases.items()}


def mallory_entropy() -> Repeatable:
    return Repeatable("mallory's randomness")


if __name__ == "__main__":
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name, vector in vectors().items():
        (FOLDER / f"{name}.json").write_text(json.dumps(vector, indent=1) + "\n")
