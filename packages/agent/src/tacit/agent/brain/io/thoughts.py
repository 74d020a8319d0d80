"""The log of what models were asked, in the agent's own file: which, for what, how sure, what it took.

A2ACP-082. No word of a prompt or an answer is in it. It holds the newest ones, survives a restart, and says
what a day has cost.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tacit.a2acp.packets.dates import moment_at, wall, zone_of_owner
from tacit.base.moment import rfc3339

if TYPE_CHECKING:
    from collections.abc import Callable

    from tacit.a2acp.post.io.store import AgentStore
    from tacit.agent.brain.configured import Budget
    from tacit.agent.brain.minded import Noted
    from tacit.base.moment import Moment
    from tacit.base.ports import Clock
    from tacit.base.strict_json import JsonObject

MOST: Final = 20_000
"""Rows that are kept; older ones go."""
LONGEST_NAME: Final = 120
_COLUMNS: Final = (
    "at, thread_id, task, tier, model, outcome, confidence, input_tokens, output_tokens, cost_usd"
)
_NAMES: Final = tuple(_COLUMNS.split(", "))


class Thoughts:
    """One agent's log (the brain's `Notes` port)."""

    def __init__(self, store: AgentStore, clock: Clock, zone: Callable[[], str], budget: Budget) -> None:
        self._store = store
        self._clock = clock
        self._zone = zone
        self._budget = budget

    def note(self, noted: Noted) -> None:
        """Remember one answer, and let go of the oldest beyond what is kept."""
        keep = f"INSERT INTO thoughts ({_COLUMNS}) VALUES (?,?,?,?,?,?,?,?,?,?)"  # noqa: S608 - our own names
        values = [getattr(noted, name) for name in _NAMES]
        values[0], values[4] = int(noted.at), noted.model[:LONGEST_NAME]
        with self._store.transaction():
            self._store.run(keep, *values)
            self._store.run(
                "DELETE FROM thoughts WHERE number <= (SELECT max(number) FROM thoughts) - ?", MOST
            )

    def today(self) -> str:
        """The owner's day, as a date."""
        return wall(self._clock.now(), zone_of_owner(self._zone())).date().isoformat()

    def _midnight(self) -> Moment:
        zone = zone_of_owner(self._zone())
        now = wall(self._clock.now(), zone)
        return moment_at(now.date(), now.time().replace(hour=0, minute=0, second=0, microsecond=0), zone)

    def spent(self) -> tuple[float, int]:
        """What the models of this day have taken: USD and tokens."""
        row = self._store.row(
            "SELECT coalesce(sum(cost_usd), 0.0), coalesce(sum(input_tokens + output_tokens), 0)"
            " FROM thoughts WHERE at>=?",
            int(self._midnight()),
        )
        return (float(row[0]), int(row[1])) if row else (0.0, 0)

    def may_spend(self) -> bool:
        """Whether something of the day's budget is left."""
        most_usd, most_tokens = self._budget.usd_per_day, self._budget.tokens_per_day
        if most_usd is None and most_tokens is None:
            return True
        usd, tokens = self.spent()
        return (most_usd is None or usd < most_usd) and (most_tokens is None or tokens < most_tokens)


def listed(store: AgentStore, thread_id: str = "", limit: int = 100) -> list[JsonObject]:
    """The newest of them, oldest first; only of one thread when it is named."""
    where = "WHERE thread_id=?" if thread_id else ""
    given = (thread_id, limit) if thread_id else (limit,)
    rows = store.rows(
        f"SELECT {_COLUMNS} FROM thoughts {where} ORDER BY number DESC LIMIT ?",  # noqa: S608 - our own names
        *given,
    )
    found = [dict(zip(_NAMES, row, strict=True)) for row in rows]
    return [one | {"at": rfc3339(one["at"])} for one in reversed(found)]


def cost(store: AgentStore, thread_id: str) -> dict[str, int | float]:
    """What one thread has taken: answers of models, tokens and USD."""
    row = store.row(
        "SELECT count(*), coalesce(sum(input_tokens), 0), coalesce(sum(output_tokens), 0),"
        " coalesce(sum(cost_usd), 0.0) FROM thoughts WHERE thread_id=? AND tier<>'rules' AND outcome<>'away'",
        thread_id,
    )
    calls, taken, given, usd = row or (0, 0, 0, 0.0)
    return {"calls": calls, "input_tokens": taken, "output_tokens": given, "usd": round(float(usd), 6)}


def today(usd: float, tokens: int) -> dict[str, float]:
    """What the models of this day have taken, as it is shown."""
    return {"usd": round(usd, 6), "tokens": tokens}
