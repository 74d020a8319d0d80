import json

import pytest

from tacit.seal import identity, session, x3dh
from tacit.seal.primitives import CannotOpen
from tests.conformance.write_seal_vectors import FOLDER, vectors
from tests.post_support import Repeatable, Secrets

FILES = sorted(FOLDER.glob("*.json"))
h = bytes.fromhex


def opened(vector):
    one_time = vector["one_time_prekey"]
    secrets = Secrets(
        {vector["signed_prekey"]["id"]: h(vector["signed_prekey"]["private"])},
        {(x3dh.ONE_TIME, one_time["id"]): h(one_time["private"])} if one_time else {},
    )
    return session.open_body(
        identity.Identity(h(vector["recipient_signing_seed"]), h(vector["recipient_agreement_private"])),
        identity.PublicIdentity(h(vector["sender_signing_public"]), h(vector["sender_agreement_public"])),
        (),
        secrets,
        h(vector["body"]),
        session.Binding(vector["from"], vector["to"], vector["packet_id"], vector["header"].encode()),
        Repeatable("reader"),
    )


def test_there_are_vectors():
    assert len(FILES) >= 12


@pytest.mark.spec("A2ACP-243", "A2ACP-245")
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_vector_opens_or_is_refused_as_written(path):
    vector = json.loads(path.read_text())
    if "payload" in vector:
        assert opened(vector).payload == vector["payload"].encode()
    else:
        with pytest.raises(CannotOpen):
            opened(vector)


def test_the_files_are_what_the_generator_writes():
    assert {path.stem: json.loads(path.read_text()) for path in FILES} == vectors()
