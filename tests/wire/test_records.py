import json

import msgspec
import pytest
from tests.post_support import ALICE

from tacit.base.errors import Refused
from tacit.wire import records
from tacit.wire.encoding import b64


@pytest.mark.spec("A2ACP-021")
@pytest.mark.parametrize("field", ["signing_key", "agreement_key"])
def test_a_key_statement_with_a_short_key_is_refused(field):
    good = records.Statement(ALICE, b64(bytes(32)), b64(bytes(32)), 1)
    assert records.read_statement(records.statement_bytes(good)) == good
    with pytest.raises(Refused):
        records.read_statement(
            records.statement_bytes(msgspec.structs.replace(good, **{field: b64(bytes(31))}))
        )


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
