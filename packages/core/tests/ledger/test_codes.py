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
        "policy_forbids": 403,
        "left_conversation": 403,
        "loop_stopped": 403,
        "approval_required": 403,
        "claim_conflict": 409,
        "claim_required": 409,
        "stale_event": 409,
        "event_superseded": 409,
        "already_responded": 409,
        "no_new_information": 409,
        "use_reaction": 409,
        "idempotency_conflict": 409,
        "rate_limited": 429,
        "daemon_unavailable": 503,
        "internal": 500,
    }
