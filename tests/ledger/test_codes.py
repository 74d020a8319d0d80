"""The catalogue of codes: what clients of HTTP may rely on."""

import pytest

from tacit.ledger.codes import CODES


@pytest.mark.spec("CCCS-111", "CCCS-112")
def test_each_code_has_the_status_that_clients_know_it_by():
    assert {name: code.http for name, code in CODES.items()} == {
        "invalid_request": 400,
        "permission_denied": 403,
        "group_not_found": 404,
        "actor_not_found": 404,
        "event_not_found": 404,
        "blob_not_found": 404,
        "unknown_op": 404,
        "rate_limited": 429,
        "daemon_unavailable": 503,
        "internal": 500,
    }
