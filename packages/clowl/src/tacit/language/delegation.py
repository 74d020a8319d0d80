"""Delegation chains: who owned a task before, and when passing it on closes a circle (CLOWL-052, CLOWL-053).

A DLGT may carry its chain; otherwise the chain is rebuilt from the delegations of the same trace, across
hops and conversations. Knows no task states: callers say which delegations still stand.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, cast

from tacit.language.tables import BROADCAST, MAX_CHAIN

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from tacit.language.message import Message

CYCLE: Final = "E015"


def chain_of(message: Message, giver_of: Callable[[str], str | None]) -> tuple[str, ...]:
    """Those who owned the task up to and including the sender of this DLGT, oldest first.

    A chain that is told may only add to what is known: leaving someone out does not break a circle.
    """
    told = message.data.get("chain")
    owners = [str(agent) for agent in cast("list[object]", told)] if isinstance(told, list) else []
    known = _rebuilt(message.sender, giver_of)
    return tuple(dict.fromkeys((*(agent for agent in known[:-1] if agent not in owners), *owners, known[-1])))


def _rebuilt(agent: str, giver_of: Callable[[str], str | None]) -> list[str]:
    """Walk back from `agent` to whom it got the task from, and so on."""
    owners = [agent]
    while True:
        giver = giver_of(owners[0])
        if giver is None or giver in owners:
            return owners
        owners.insert(0, giver)


def closes_a_circle(chain: Sequence[str], recipients: Iterable[str]) -> bool:
    """Whether the task would come back to someone in its chain, or the chain is too long."""
    return len(chain) > MAX_CHAIN or any(agent in chain for agent in recipients if agent != BROADCAST)
