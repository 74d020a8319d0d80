"""What is looked at every second, and the numbers of this moment (A2ACP-208)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tacit.wire import codes

if TYPE_CHECKING:
    from tacit.base.moment import Moment
    from tacit.relay.io.mailboxes import Mailboxes


def close_silent(mailboxes: Mailboxes, now: Moment) -> None:
    """Close what has said nothing for too long, and what has not logged in in time."""
    limits = mailboxes.limits
    for connection in list(mailboxes.all):
        quiet = now - connection.heard > limits.silence
        late = connection.account == 0 and now - connection.opened > limits.challenge_valid
        if quiet or late:
            connection.close(codes.CLOSE_SILENT)
        elif connection.inflight:
            connection.hand_out_again(now)


def gauges(mailboxes: Mailboxes) -> dict[str, float]:
    """What is true at this moment."""
    packets, size = mailboxes.quota.total()
    return {
        "connections": len(mailboxes.all),
        "agents_connected": len(mailboxes.connected),
        "queued_packets": packets,
        "queued_bytes": size,
        "writes_waiting": mailboxes.store.waiting,
    }
