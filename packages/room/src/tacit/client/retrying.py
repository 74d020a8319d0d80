"""How long a client waits before it tries a call or a connection again."""

from __future__ import annotations

from typing import Final

from tacit.base.backoff import Backoff

RETRYING: Final = Backoff(first=0.05, longest=5.0, jitter=(0.5, 1.0))
"""Seconds between the attempts of a call or a connection."""


def pause(attempt: int) -> float:
    """Seconds before the next attempt: doubling, with jitter."""
    import random

    return RETRYING.pause(attempt, random.random())  # noqa: S311 - it spreads callers, it hides nothing
