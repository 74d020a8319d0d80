"""Days for agents that live by the real clock: never today, which may be over, and right on every weekday."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta


def weekday(ahead: int) -> str:
    """The name of the day so many days from now: one to six, of which there is only one to come."""
    return f"{datetime.now(UTC) + timedelta(days=ahead):%A}"
