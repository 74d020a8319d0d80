"""Who asked for what an agent wants to do: the authors of what it works on, and whoever had these ask it.

Row: C2A-207. An agent that asks another works on a question too, and its message says of which turn it is and
what it answers. These links are followed as far as they are known. What is granted is granted for all of them
together, so `name_of` gives one name to such a set: another asker, or another on whose behalf the same agent
asks, has another name.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Protocol, cast

from tacit.attention.state import approvals
from tacit.ledger.principal import kind_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tacit.ledger.envelope import StoredEvent

MOST_STEPS: Final = 50
"""Messages that are looked at; a longer chain is known so far and no further."""


class AnyEventLookup(Protocol):
    """Where events are looked up, whoever may read them."""

    def found(self, event_id: str) -> StoredEvent | None:
        """An event by its id, whoever asks."""
        ...


def authors(event_ids: Iterable[str], ledger: AnyEventLookup) -> tuple[str, ...]:
    """Who wrote these, each once, in their order."""
    events = (ledger.found(event_id) for event_id in event_ids)
    return tuple(dict.fromkeys(event.by for event in events if event is not None))


def everybody_behind(event_ids: Iterable[str], session: str, ledger: AnyEventLookup) -> frozenset[str]:
    """All who are known to have wanted it, beside the session that was asked."""
    waiting, seen, principals = list(event_ids), set[str](), set[str]()
    while waiting and len(seen) < MOST_STEPS:
        event_id = waiting.pop(0)
        event = None if event_id in seen else ledger.found(event_id)
        seen.add(event_id)
        if event is None:
            continue
        principals.add(event.by)
        kind = kind_of(event.by)
        if kind is None or not kind.is_human:
            waiting += _origins(event)
    return frozenset(principals - {session})


def _origins(event: StoredEvent) -> list[str]:
    """What an agent's message goes back to."""
    data = event.data
    given: object = data.get("c2a")
    said = cast("dict[str, object]", given) if isinstance(given, dict) else {}
    turn = str(said.get("turn") or "").rpartition(".")[0]
    linked = (turn, said.get("in_reply_to"), data.get("reply_to"))
    return [one for one in linked if isinstance(one, str) and one]


def name_of(askers: frozenset[str]) -> str:
    """One name for a set of askers: a single one's own, else a fingerprint that tells nobody who they are."""
    return next(iter(askers)) if len(askers) == 1 else approvals.fingerprint("askers", *sorted(askers))
