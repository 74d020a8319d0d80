"""What an agent spends, and when it must stop: tokens and dollars for an event, an agent, a day (UTC).

Sums and limits over values. A limit that is reached ends the turn in which it is reached and stops further
ones until the next day; the reason is written for whoever waits. What tokens cost is `tacit.harness.prices`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from tacit.base.moment import SECOND, Moment, rfc3339
from tacit.harness.drivers.port import TurnAllowance

if TYPE_CHECKING:
    from tacit.harness.drivers.port import Price, TokenUsage

DAY: Final = 86_400 * SECOND
_NOTHING: Final = 1e-9
"""Dollars by which a sum of fractions may miss what it should be."""


@dataclass(frozen=True, slots=True)
class Spending:
    """What was spent, in turns, tokens and dollars."""

    turns: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    tokens_cached: int = 0
    cost_usd: float = 0.0

    @property
    def tokens(self) -> int:
        """All tokens together."""
        return self.tokens_in + self.tokens_out

    def and_turn(self, usage: TokenUsage, cost_usd: float | None) -> Spending:
        """With one more turn."""
        return Spending(
            self.turns + 1,
            self.tokens_in + usage.input,
            self.tokens_out + usage.output,
            self.tokens_cached + usage.cached,
            self.cost_usd + (cost_usd or 0.0),
        )


@dataclass(frozen=True, slots=True)
class DaySpending:
    """What one day cost in one conversation, by one model."""

    day: str
    conversation: str
    model: str
    turns: int
    tokens: int
    cost_usd: float | None
    """None when nobody could say."""
    estimated: bool
    """Is any of it reckoned by bytes?"""


@dataclass(frozen=True, slots=True)
class DailyBudget:
    """What an owner allows for a day; None is no limit."""

    turns: int | None = None
    tokens: int | None = None
    cost_usd: float | None = None

    def left(self, spent: Spending, price: Price | None) -> TurnAllowance:
        """What one more turn may use before the day's limit is reached."""
        tokens = None if self.tokens is None else max(0, self.tokens - spent.tokens)
        cost = None if self.cost_usd is None else max(0.0, self.cost_usd - spent.cost_usd)
        return TurnAllowance(tokens, cost, price)

    def turns_left(self, spent: Spending) -> int | None:
        """How many more turns the day has; None is no limit."""
        return None if self.turns is None else max(0, self.turns - spent.turns)

    def used_up(self, spent: Spending) -> str:
        """Which limit is reached, in words; empty while none is."""
        if self.cost_usd is not None and spent.cost_usd >= self.cost_usd - _NOTHING:
            return f"the day's budget of ${self.cost_usd:.2f} is used up"
        if self.tokens is not None and spent.tokens >= self.tokens:
            return f"the day's budget of {self.tokens} tokens is used up"
        if self.turns is not None and spent.turns >= self.turns:
            return f"the day's budget of {self.turns} turns is used up"
        return ""


def day_of(now: Moment) -> str:
    """The day that a turn is counted for, such as `2026-01-13`."""
    return rfc3339(now)[:10]


def next_day(now: Moment) -> Moment:
    """When the next day begins."""
    return Moment((now // DAY + 1) * DAY)


def until_next_day(reason: str, now: Moment) -> str:
    """Why there is a pause, and how long."""
    return f"{reason}; it goes on at {rfc3339(next_day(now))[:16]}Z"
