"""What the last threads with a counterpart have in common, and how far that makes it a familiar one.

A2ACP-079, A2ACP-084, A2ACP-187, A2ACP-188, A2ACP-190. Computed from episodes and counters whenever it is
asked for, and kept nowhere. Nothing of it is a permission.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final

from tacit.a2acp.packets.vocabulary import FLEXIBLE, NOT_FLEXIBLE, SOMEWHAT_FLEXIBLE
from tacit.a2acp.threads.states import State

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from tacit.agent.memory.relationship import Episode

LAST: Final = 6
LEAST: Final = 2
FAMILIAR_FROM: Final = 3
"""So many threads brought to their end make a counterpart familiar (A2ACP-084, A2ACP-190)."""
ESTABLISHED_FROM: Final = 10
NEW, FAMILIAR, ESTABLISHED = "new", "familiar", "established"
QUICK, SEVERAL = "quick_decision", "several_proposals"
DIMENSIONS: Final = ("time", "location", "date", "format")
_LEVELS: Final = {FLEXIBLE: "high", SOMEWHAT_FLEXIBLE: "medium", NOT_FLEXIBLE: "low"}
_SECOND: Final = 1_000_000


def usual(episodes: Sequence[Episode], names: Callable[[Episode], Iterable[str]]) -> tuple[str, ...]:
    """Fields in at least half of the last six threads, and in two at least (A2ACP-188)."""
    last = episodes[-LAST:]
    counted = Counter(name for one in last for name in set(names(one)))
    return tuple(sorted(name for name, times in counted.items() if times >= LEAST and 2 * times >= len(last)))


def usually_requests(episodes: Sequence[Episode]) -> tuple[str, ...]:
    """What the counterpart asks for as a rule."""
    return usual(episodes, lambda one: one.requested)


def usually_shares(episodes: Sequence[Episode]) -> tuple[str, ...]:
    """What it tells as a rule."""
    return usual(episodes, lambda one: one.told)


def usually_declines(episodes: Sequence[Episode]) -> tuple[str, ...]:
    """What it keeps to itself as a rule."""
    return usual(episodes, lambda one: one.declined)


def response_time(episodes: Sequence[Episode]) -> str | None:
    """How long its answers take, on the average, as an ISO duration; None before the first."""
    waits = [wait for one in episodes for wait in one.waited]
    return _duration(sum(waits) // len(waits) // _SECOND) if waits else None


def _duration(seconds: int) -> str:
    if seconds < 60:
        return f"PT{seconds}S"
    hours, minutes = divmod((seconds + 30) // 60, 60)
    return "PT" + (f"{hours}H" if hours else "") + (f"{minutes}M" if minutes or not hours else "")


def flexibility(episodes: Sequence[Episode]) -> dict[str, str]:
    """How far it bends in each dimension: what it said most often, of equals the latest."""
    found: dict[str, str] = {}
    for name in DIMENSIONS:
        said = [one.flexibility[name] for one in reversed(episodes) if name in one.flexibility]
        if said:
            found[name] = _LEVELS[max(said, key=said.count)]
    return found


def resolution_style(episodes: Sequence[Episode]) -> str | None:
    """Whether it takes the first proposal as a rule; None before any was taken."""
    done = [one for one in episodes if one.outcome == State.COMPLETED]
    if not done:
        return None
    return QUICK if 2 * sum(one.proposals <= 1 for one in done) >= len(done) else SEVERAL


def trust_level(completed: int, *, flagged: bool) -> str:
    """How well it is known, by what was brought to its end with it (A2ACP-190)."""
    if completed < FAMILIAR_FROM:
        return NEW
    return ESTABLISHED if completed >= ESTABLISHED_FROM and not flagged else FAMILIAR


def trust_signals(completed: int, declined: int, promoted: int, *, flagged: bool) -> list[str]:
    """What speaks for and against it, from the counters (A2ACP-190)."""
    found = [
        f"{completed} successful thread{'' if completed == 1 else 's'}",
        f"{declined} declined resolution{'' if declined == 1 else 's'}",
        f"user promoted to always_share {promoted} field{'' if promoted == 1 else 's'}",
    ]
    return [*found, "flagged for malformed packets"] if flagged else found


def typical_intents(completions: Mapping[str, int]) -> list[str]:
    """What things with it are about, the most frequent first."""
    return [name for name, count in sorted(completions.items(), key=lambda one: (-one[1], one[0])) if count]
