"""Writes conversations with the reference peer (`x3dh`, `doubleratchet`): `python -m tests.conformance.write_reference_vectors`.

A vector holds one side's private keys, the seed of its randomness, and in order what it sealed, byte for byte, and
what it opened. The reference peer opened each of the former and made each of the latter, in another order than
they were said. Reading a vector needs neither package.
"""

from __future__ import annotations

import json

from tacit.a2acp.io import data
from tacit.seal import x3dh
from tests.seal.dialogue import BOTH, OURS, REFERENCE, Dialogue, keys_of

FOLDER = data.vectors() / "seal-reference"
CASES = {
    "initiator-one-time": (OURS, x3dh.ONE_TIME),
    "initiator-last-resort": (OURS, x3dh.LAST_RESORT),
    "responder-one-time": (REFERENCE, x3dh.ONE_TIME),
    "responder-last-resort": (REFERENCE, x3dh.LAST_RESORT),
    "simultaneous-start": (BOTH, x3dh.ONE_TIME),
}
TURNS = 24


def vectors():
    found = {}
    for name, (first, kind) in CASES.items():
        dialogue = Dialogue(name, kind)
        dialogue.begin(first)
        dialogue.run(TURNS)
        ours, theirs = keys_of(dialogue.us), keys_of(dialogue.them)
        found[name] = {
            "randomness": f"{name} us",
            "ours": {
                "address": dialogue.us.address,
                "signing_seed": ours.signing.hex(),
                "agreement_private": ours.agreement.hex(),
                "signed_prekey": {"id": 1, "private": ours.signed.hex()},
                "single_prekeys": [
                    {"kind": kind, "id": number, "private": key.hex()}
                    for (kind, number), key in ours.singles.items()
                ],
            },
            "theirs": {
                "address": dialogue.them.address,
                "signing_public": theirs.signing_public.hex(),
                "agreement_public": theirs.agreement_public.hex(),
                "signed_prekey": {"id": 1, "public": dialogue.them.prekeys(kind).signed.hex()},
                "single_prekey": {
                    "kind": kind,
                    "id": dialogue.them.prekeys(kind).single_id,
                    "public": dialogue.them.prekeys(kind).single.hex(),
                },
            },
            "steps": dialogue.steps,
        }
    return found


if __name__ == "__main__":
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name, vector in vectors().items():
        (FOLDER / f"{name}.json").write_text(json.dumps(vector, indent=1) + "\n")
