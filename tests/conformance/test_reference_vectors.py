import json

import pytest

from tacit.seal import identity, session, x3dh
from tests.conformance.write_reference_vectors import FOLDER, vectors
from tests.post_support import Repeatable, Secrets
from tests.seal.dialogue import fit

FILES = sorted(FOLDER.glob("*.json"))
h = bytes.fromhex


class Side:
    """Our side of a vector: its keys, its randomness after the keys were drawn, its sessions."""

    def __init__(self, vector):
        ours, theirs = vector["ours"], vector["theirs"]
        self.me = identity.Identity(h(ours["signing_seed"]), h(ours["agreement_private"]))
        self.peer = identity.PublicIdentity(h(theirs["signing_public"]), h(theirs["agreement_public"]))
        self.addresses = ours["address"], theirs["address"]
        self.secrets = Secrets(
            {ours["signed_prekey"]["id"]: h(ours["signed_prekey"]["private"])},
            {(one["kind"], one["id"]): h(one["private"]) for one in ours["single_prekeys"]},
        )
        single = theirs["single_prekey"]
        self.prekeys = x3dh.PublicPrekeys(
            theirs["signed_prekey"]["id"],
            h(theirs["signed_prekey"]["public"]),
            single["id"],
            h(single["public"]),
            single["kind"],
        )
        self.entropy = Repeatable(vector["randomness"])
        for _ in range(5):
            self.entropy.draw(32)
        self.sessions = ()

    def begin(self, _step):
        begun = session.begin(self.me, self.peer, self.prekeys, self.entropy)
        self.sessions = session.with_new(self.sessions, begun)

    def seal(self, step):
        binding = session.Binding(*self.addresses, step["packet_id"], step["header"].encode())
        after, body = session.seal(
            self.me, self.peer, self.sessions[0], step["payload"].encode(), binding, fit, self.entropy
        )
        self.sessions = session.with_new(self.sessions, after)
        assert body.hex() == step["body"]

    def open(self, step):
        binding = session.Binding(*reversed(self.addresses), step["packet_id"], step["header"].encode())
        opened = session.open_body(
            self.me, self.peer, self.sessions, self.secrets, h(step["body"]), binding, self.entropy
        )
        self.sessions = opened.sessions
        assert opened.payload == step["payload"].encode()


@pytest.mark.spec("A2ACP-243", "A2ACP-245")
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_conversation_with_the_reference_implementation_repeats_byte_for_byte(path):
    vector = json.loads(path.read_text())
    side = Side(vector)
    for step in vector["steps"]:
        {"begin": side.begin, "seal": side.seal, "open": side.open}[step["do"]](step)
    assert {"seal", "open"} <= {step["do"] for step in vector["steps"]}


@pytest.mark.spec("A2ACP-243", "A2ACP-245")
def test_the_files_are_what_the_reference_implementation_writes():
    assert {path.stem: json.loads(path.read_text()) for path in FILES} == vectors()
