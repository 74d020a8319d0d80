"""The sessions of a group.

What was agreed with the harness of each, and what its model has cost (C2A-006, C2A-021).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tacit.c2a.vocabulary import Mode  # noqa: TC001 - the state store reads these types

if TYPE_CHECKING:
    from tacit.attention.state import records


@dataclass(frozen=True, slots=True)
class SessionSpending:
    """What a session's model has cost so far, in all and on one day (UTC)."""

    turns: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    cost: float = 0.0
    prompt_bytes: int = 0
    day: str = ""
    day_turns: int = 0
    day_tokens: int = 0
    day_cost: float = 0.0
    currency: str = ""
    duration_ms: int = 0
    """How long its turns took, all together."""
    day_ms: int = 0
    estimated: bool = False
    """Are tokens in it that nobody counted?"""
    day_estimated: bool = False


@dataclass(frozen=True, slots=True)
class SessionAgreement:
    """What was agreed with the harness that speaks for a session."""

    session: str
    version: str
    modes: frozenset[Mode]
    client: str = ""
    interrupt: bool = False
    transport: str = "websocket"


def spending(known: SessionSpending, record: records.UsageRecord, day: str) -> SessionSpending:
    """The sums with one more turn; a new day starts its own."""
    same = known.day == day
    tokens = record.tokens_in + record.tokens_out
    return SessionSpending(
        known.turns + 1,
        known.tokens_in + record.tokens_in,
        known.tokens_out + record.tokens_out,
        known.cost + record.cost,
        known.prompt_bytes + record.prompt_bytes,
        day,
        (known.day_turns if same else 0) + 1,
        (known.day_tokens if same else 0) + tokens,
        (known.day_cost if same else 0.0) + record.cost,
        record.currency or known.currency,
        known.duration_ms + record.duration_ms,
        (known.day_ms if same else 0) + record.duration_ms,
        known.estimated or record.estimated,
        (known.day_estimated and same) or record.estimated,
    )
