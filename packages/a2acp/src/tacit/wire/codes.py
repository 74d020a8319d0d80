"""The one catalogue of relay error codes and close codes (A2ACP-006, A2ACP-017, A2ACP-208).

Whatever code an `error` frame carries, its packet was neither routed nor queued.
"""

from __future__ import annotations

from typing import Final

BAD_ENVELOPE: Final = "bad_envelope"
BAD_ADDRESS: Final = "bad_address"
BAD_SIGNATURE: Final = "bad_signature"
FROM_MISMATCH: Final = "from_mismatch"
UNKNOWN_RECIPIENT: Final = "unknown_recipient"
RATE_LIMITED: Final = "rate_limited"
TOO_LARGE: Final = "too_large"
FEDERATION_FAILED: Final = "federation_failed"
NOT_AUTHENTICATED: Final = "not_authenticated"
# Beyond the draft's list: a disk that cannot write must not look like the sender's fault.
UNAVAILABLE: Final = "unavailable"
# Told to a sender whose stored packet passed its thirty days unread (A2ACP-222).
EXPIRED: Final = "expired"
# Another device speaks for this address now; the login or the upload of an older one is refused (A2ACP-223).
OTHER_DEVICE: Final = "other_device"

ERROR_CODES: Final = frozenset(
    {
        BAD_ENVELOPE,
        BAD_ADDRESS,
        BAD_SIGNATURE,
        FROM_MISMATCH,
        UNKNOWN_RECIPIENT,
        RATE_LIMITED,
        TOO_LARGE,
        FEDERATION_FAILED,
        NOT_AUTHENTICATED,
        UNAVAILABLE,
        EXPIRED,
        OTHER_DEVICE,
    }
)
RETRYABLE: Final = frozenset({RATE_LIMITED, UNAVAILABLE})

CLOSE_BROKEN: Final = 1011
CLOSE_SUPERSEDED: Final = 4001
CLOSE_AUTH_FAILED: Final = 4003
CLOSE_SILENT: Final = 4008
CLOSE_TOO_SLOW: Final = 4009
CLOSE_BLOCKED: Final = 4010
CLOSE_OTHER_DEVICE: Final = 4011
