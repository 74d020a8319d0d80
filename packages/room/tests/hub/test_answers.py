"""A failure as each door tells it: one object, over HTTP as it is, over JSON-RPC with its number."""

from __future__ import annotations

import pytest

from tacit.base.errors import Refused, TacitError, Unavailable
from tacit.hub.doors.answers import failure, rpc_error, status_of


@pytest.mark.parametrize(
    ("error", "code", "status"),
    [
        (Refused("permission_denied", "not you", row="CCCS-042"), "permission_denied", 403),
        (Refused("invalid_request", "too much", details={"reason": "too_large"}), "invalid_request", 413),
        (Unavailable("later"), "daemon_unavailable", 503),
        (ValueError("a secret"), "internal", 500),
    ],
)
def test_a_failure_is_the_same_object_at_every_door(error: Exception, code: str, status: int) -> None:
    told = failure(error)
    assert (told["code"], status_of(told)) == (code, status)
    said = rpc_error(error)
    assert (said["data"], said["message"], type(said["code"])) == (told, told["message"], int)
    assert (told["message"] in str(error)) is isinstance(error, TacitError)
    assert "secret" not in told["message"]
