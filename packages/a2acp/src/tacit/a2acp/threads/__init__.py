"""Thread lifecycle: the states, what moves a thread, and how many turns it has.

A2ACP-102, A2ACP-156, A2ACP-263.

The table is `tacit.a2acp.threads.states`; a `Lifecycle` is one thread's place in it, as a value.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from tacit.a2acp.threads.states import NEGOTIABLE, TERMINAL, TRANSITIONS, Cause, State, ThreadTurns, after
from tacit.base.errors import Refused

if TYPE_CHECKING:
    from typing import Self

__all__ = ["NEGOTIABLE", "TERMINAL", "TRANSITIONS", "Cause", "Lifecycle", "State", "ThreadTurns", "after"]


@dataclass(frozen=True, slots=True)
class Lifecycle:
    """Where one thread stands, and whose turn it was."""

    state: State = State.INITIATED
    turns: ThreadTurns = ThreadTurns()

    @property
    def is_open(self) -> bool:
        """Whether anything may still happen."""
        return self.state not in TERMINAL

    def moved(self, cause: Cause) -> Self:
        """The same after a cause; `Refused` where the table says nothing (A2ACP-156)."""
        found = after(self.state, cause)
        if found is None:
            raise Refused("not_moved", f"{cause} moves nothing in {self.state}", row="A2ACP-156")
        return replace(self, state=found)

    def said(self, side: str, packet_type: str) -> Self:
        """The same after a packet of one side; `Refused` beyond the round trips (A2ACP-102)."""
        if not self.turns.may_send(side, packet_type):
            raise Refused("round_trips_used", "the round trips are used up: ask the owner", row="A2ACP-102")
        return replace(self, turns=self.turns.after(side, packet_type))
