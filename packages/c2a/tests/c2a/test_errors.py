"""One number for each code, at every door."""

from __future__ import annotations

import re

import pytest

from tacit.base.errors import Refused
from tacit.c2a.errors import CODES, INTERNAL, TABLE, number_of, refusal
from tacit.hub.doors.answers import rpc_error
from tacit.hub.host.protocol import error_message
from tacit.ledger import codes as ledger
from tools.places import modules

REQUIRED = {
    "unknown_op": -32601, "invalid_request": -32602, "internal_error": -32603, "not_initialized": -32001,
    "unsupported_version": -32002, "unsupported_capability": -32003, "permission_denied": -32004,
    "event_not_found": -32005, "group_not_found": -32005, "actor_not_found": -32005, "policy_forbids": -32010,
    "claim_conflict": -32011, "claim_required": -32012, "stale_event": -32013, "event_superseded": -32014,
    "left_conversation": -32015, "loop_stopped": -32016, "no_new_information": -32017,
    "idempotency_conflict": -32018, "already_responded": -32019, "rate_limited": -32020, "use_reaction": -32021,
    "delivery_failed": -32022, "delivery_transient": -32023, "approval_required": -32024,
    "daemon_unavailable": -32025,
}  # fmt: skip
"""The table of the requirements, written out once more: what the code says is not what it is measured by."""


@pytest.mark.spec("C2A-016")
def test_the_codes_of_the_requirements_have_their_numbers() -> None:
    assert {code: number_of(code) for code in REQUIRED} == REQUIRED
    assert number_of("invalid_request", "malformed_json") == -32700
    assert number_of("invalid_request", "not_a_request") == -32600


def test_no_number_has_two_meanings_and_no_code_two_rows() -> None:
    numbers = [row.number for row in TABLE]
    assert len(set(numbers)) == len(numbers)
    said = [(code, row.reason) for row in TABLE for code in row.codes]
    assert len(set(said)) == len(said)
    # C2A's own table puts unknown ids under one number; a fault of ours has two names. Nothing else is shared.
    assert [row.codes for row in TABLE if len(row.codes) > 1] == [
        ("internal_error", "internal"),
        ("event_not_found", "group_not_found", "actor_not_found"),
    ]


@pytest.mark.spec("CCCS-112", "C2A-016")
def test_every_code_that_the_ledger_knows_has_a_number() -> None:
    assert set(ledger.CODES) <= CODES
    assert [code for code in ledger.CODES if number_of(code) == INTERNAL] == ["internal"]


@pytest.mark.spec("C2A-016", "CCCS-111")
@pytest.mark.parametrize("reason", ["", "malformed_json", "not_a_request", "directedness_mismatch"])
@pytest.mark.parametrize("code", sorted(CODES))
def test_both_doors_say_the_same_number_for_the_same_code(code: str, reason: str) -> None:
    details = {"reason": reason} if reason else {}
    at_the_operations = rpc_error(Refused(code, "no", row="CCCS-111", details=details))
    at_c2a = error_message(1, refusal(code, "no", "C2A-016", **details))["error"]
    assert at_the_operations["code"] == at_c2a["code"] == number_of(code, reason)
    assert at_the_operations["data"]["code"] == at_c2a["data"]["code"] == code


@pytest.mark.parametrize("reason", [None, 5, ["x"], {}, "made_up"])
def test_a_reason_of_any_form_narrows_nothing(reason: object) -> None:
    assert number_of("invalid_request", reason) == -32602
    assert number_of("made_up", reason) == INTERNAL


def test_numbers_are_written_in_the_table_and_nowhere_else() -> None:
    """Except what other protocols fix (ACP's sign-in) and what
    measures a hub from outside."""
    found = {
        where: sorted(set(re.findall(r"-32[0-9]{3}\b", path.read_text())))
        for path, where in modules()
        if path.name != "errors.py"
    }
    assert {path: numbers for path, numbers in found.items() if numbers} == {
        "cli/agents/c2a_check.py": ["-32010", "-32012", "-32018", "-32602"],
        "harness/drivers/acp.py": ["-32000"],
    }
