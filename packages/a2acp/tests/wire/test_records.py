import json

import msgspec
import pytest

from tacit.base.errors import Refused
from tacit.wire import codes, frames, records
from tacit.wire.encoding import b64
from tests.post_support import ALICE


@pytest.mark.spec("A2ACP-021")
@pytest.mark.parametrize("field", ["signing_key", "agreement_key"])
def test_a_key_statement_with_a_short_key_is_refused(field):
    good = records.Statement(ALICE, b64(bytes(32)), b64(bytes(32)), 1)
    assert records.read_statement(records.statement_bytes(good)) == good
    with pytest.raises(Refused):
        records.read_statement(
            records.statement_bytes(msgspec.structs.replace(good, **{field: b64(bytes(31))}))
        )


@pytest.mark.spec("A2ACP-021")
@pytest.mark.parametrize("wrong", ["spaced", "no_object", "no_json", "lacking"])
def test_a_key_statement_is_one_object_in_canonical_form_with_all_its_fields(wrong):
    good = records.statement_bytes(records.Statement(ALICE, b64(bytes(32)), b64(bytes(32)), 1))
    lacking = {name: value for name, value in json.loads(good).items() if name != "serial"}
    raw = {
        "spaced": good.replace(b":", b": ", 1),
        "no_object": b"[" + good + b"]",
        "no_json": good[:-1],
        "lacking": json.dumps(lacking, sort_keys=True, separators=(",", ":")).encode(),
    }[wrong]
    with pytest.raises(Refused) as refused:
        records.read_statement(raw)
    assert (refused.value.code, refused.value.row) == (codes.BAD_ENVELOPE, "A2ACP-021")


@pytest.mark.spec("A2ACP-245")
@pytest.mark.parametrize("field", ["signed", "one_time", "last_resort"])
@pytest.mark.parametrize("identifier", [-1, 2**53, 2**70])
def test_a_bundle_whose_prekey_has_a_number_no_file_holds_is_refused(field, identifier):
    record = {"statement": {}, "sig": ""}
    good = {"record": record, field: {"id": 2**53 - 1, "key": "", "sig": ""}}
    assert records.read_bundle(json.dumps(good).encode())
    good[field]["id"] = identifier
    with pytest.raises(Refused) as refused:
        records.read_bundle(json.dumps(good).encode())
    assert refused.value.code == "bad_envelope"


@pytest.mark.spec("A2ACP-015", "A2ACP-021", "A2ACP-245")
@pytest.mark.parametrize(
    ("signed", "told"),
    [
        (lambda: records.statement_signed_bytes(b"{}"), b"a2acp-key-record-v1\n{}"),
        (lambda: records.rotation_signed_bytes(b"{}"), b"a2acp-key-rotation-v1\n{}"),
        (
            lambda: records.prekey_signed_bytes(ALICE, "one_time", 7, "k"),
            b"a2acp-prekey-v1\n" + ALICE.encode() + b"\none_time\n7\nk",
        ),
        (
            lambda: records.prekey_signed_bytes(ALICE, "one_time", 7, "k", 3),
            b"a2acp-prekey-v2\n3\n" + ALICE.encode() + b"\none_time\n7\nk",
        ),
        (
            lambda: records.prekey_request_signed_bytes(ALICE, "agent:bob@b.example", 5, "n"),
            b"a2acp-prekey-request-v1\n" + ALICE.encode() + b"\nagent:bob@b.example\n5\nn",
        ),
        (
            lambda: records.enrolment_signed_bytes(relay="a.example", owner=ALICE, code="c", statement=b"{}"),
            b"a2acp-enrol-v1\na.example\n" + ALICE.encode() + b"\nc\n{}",
        ),
        (
            lambda: frames.steps_bytes(relay="a.example", address=ALICE, steps=9),
            b"a2acp-steps-v1\na.example\n" + ALICE.encode() + b"\n9",
        ),
    ],
)
def test_what_is_signed_is_the_same_bytes_for_every_program(signed, told):
    assert signed() == told
