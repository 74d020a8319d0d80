"""Rates: how much may reach a session's model and how much it may send, in any minute (C2A-205).

A sliding minute over past moments. Excess inbound falls to the mailbox; an obligation waits in a queue
instead.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import replace
from enum import StrEnum
from typing import TYPE_CHECKING, Final

from tacit.attention.decide.decision import Decision, Rule
from tacit.attention.decide.modes import PUSHED
from tacit.attention.settings import DEFAULTS, Settings
from tacit.base.moment import SECOND, Moment
from tacit.c2a.vocabulary import Mode

if TYPE_CHECKING:
    from collections.abc import Sequence

MINUTE: Final = 60 * SECOND
FULL: Final = Rule("rate.injected", "C2A-205", "the agent has had as many events as a minute allows")


class Flow(StrEnum):
    """What becomes of a delivery under the limit."""

    NOW = "now"
    QUEUED = "queued"
    LOWERED = "lowered"


def retry_after_ms(past: Sequence[Moment], limit: int, now: Moment) -> int | None:
    """How long until one more fits into the minute; None when it fits now. `past` is in rising order."""
    start = bisect_right(past, now - MINUTE)
    if len(past) - start < limit:
        return None
    if limit <= 0:
        return MINUTE // 1000
    oldest = past[len(past) - limit]
    return max(1, -(-(oldest + MINUTE - now) // 1000))


def inbound(
    decision: Decision, past: Sequence[Moment], now: Moment, settings: Settings = DEFAULTS
) -> tuple[Decision, Flow]:
    """The decision under the inbound limit: unchanged, waiting, or lowered to the mailbox."""
    if decision.mode not in PUSHED or retry_after_ms(past, settings.injected_per_minute, now) is None:
        return decision, Flow.NOW
    if decision.obliges:
        return decision, Flow.QUEUED
    lowered = replace(decision, mode=Mode.TOOL_MAILBOX, because=(*decision.because, ("mode", FULL)))
    return lowered, Flow.LOWERED
