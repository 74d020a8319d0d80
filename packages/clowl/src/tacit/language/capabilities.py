"""Capabilities: who announced what, for how long, and which entry fits a task.

Rows: CLOWL-054, CLOWL-055, CLOWL-056, CLOWL-057, CLOWL-058. Fed with CAPS messages that were read already, so
their version is ours. The present is an argument, in seconds. An agent that never announced itself may still
be written to: silence is no refusal.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import msgspec

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from tacit.language.message import Message

LIFETIME: Final = 24 * 3600


def fits(supports: Iterable[str], task: str) -> bool:
    """Whether one entry stands for the task: the same text, or the base of `base:kind`."""
    base = f"{task}:"
    return any(entry == task or (":" not in task and entry.startswith(base)) for entry in supports)


class Announcement(msgspec.Struct, frozen=True):
    """What an agent said that it can do."""

    agent: str
    supports: tuple[str, ...]
    ts: int
    mid: str
    heard: int


class Capabilities:
    """The newest announcement of each agent."""

    def __init__(self) -> None:
        self._known: dict[str, Announcement] = {}

    def hear(self, message: Message, now: int) -> bool:
        """Take a CAPS message; False when a newer one is known (by `ts`, then `mid`)."""
        supports = tuple(str(entry) for entry in message.data["supports"])
        heard = Announcement(message.sender, supports, message.ts, message.mid, now)
        known = self._known.get(heard.agent)
        if known is not None and (known.ts, known.mid) >= (heard.ts, heard.mid):
            return False
        self._known[heard.agent] = heard
        return True

    def forget(self, agent: str) -> None:
        """The agent has disconnected."""
        self._known.pop(agent, None)

    def supports(self, agent: str, task: str, now: int) -> bool | None:
        """Whether the agent announced the task; None when it has not announced anything (lately)."""
        known = self._known.get(agent)
        if known is None or now - known.heard >= LIFETIME:
            return None
        return fits(known.supports, task)

    def who_can(self, task: str, now: int, *, without: Collection[str] = ()) -> tuple[str, ...]:
        """Agents that announced the task, an exact entry before a base one, then by name (CLOWL-057)."""
        able = [
            (task not in known.supports, agent)
            for agent, known in self._known.items()
            if agent not in without and self.supports(agent, task, now)
        ]
        return tuple(agent for _, agent in sorted(able))
