"""What whoever shows an agent hears of it: that something changed, and what to look at again (A2ACP-274).

A change names ids and states and holds nobody's words, so that it may stand in a log or a notification; the
contents are asked for. A follower that falls behind is told `everything` once instead of what it missed, and
looks again: nothing is held for it beyond that.
"""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING, Final

from tacit.agent.kernel import records

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Sequence

    from tacit.agent.kernel.feature import Change

MOST_HELD: Final = 200
EVERYTHING: Final[Change] = {"change": "everything"}


class Follower:
    """One who follows; `next` waits for the next change."""

    def __init__(self) -> None:
        self._held: list[Change] = []
        self._some = asyncio.Event()

    def hear(self, change: Change) -> None:
        """Take a change, or only that there were too many."""
        if len(self._held) >= MOST_HELD:
            self._held = [EVERYTHING]
        elif self._held != [EVERYTHING]:
            self._held.append(change)
        self._some.set()

    async def next(self) -> Change:
        """The next change."""
        while not self._held:
            self._some.clear()
            await self._some.wait()
        return self._held.pop(0)


class Changes:
    """Tells every follower what changed."""

    def __init__(self, of_features: Sequence[Callable[[records.Record], Change | None]]) -> None:
        self._of_features = of_features
        self._followers: set[Follower] = set()

    @contextlib.contextmanager
    def followed(self) -> Generator[Follower]:
        """Follow while the block runs."""
        one = Follower()
        self._followers.add(one)
        try:
            yield one
        finally:
            self._followers.discard(one)

    def tell(self, record: records.Record) -> None:
        """A record is durable."""
        changes = (change for of_feature in self._of_features if (change := of_feature(record)) is not None)
        change = next(changes, None) or change_of(record)
        if change is not None:
            for one in self._followers:
                one.hear(change)


def change_of(record: records.Record) -> Change | None:
    """What a record means to whoever shows the agent, where no feature says it; None for nothing."""
    match record:
        case records.Asked():
            asked = record.question
            return {
                "change": "question",
                "question_id": asked.question_id,
                "kind": asked.kind,
                "thread_id": asked.thread_id,
                "open": True,
            }
        case records.Answered():
            return {"change": "question", "question_id": record.question_id, "open": False, "via": record.via}
        case records.Withdrawn():
            return {"change": "question", "question_id": record.question_id, "open": False}
        case records.Reminded():
            return {"change": "reminder", "question_id": record.question_id}
        case records.Noticed():
            return {"change": "notice", "thread_id": record.thread_id, "code": record.code}
        case records.Moved():
            return {"change": "thread", "thread_id": record.thread_id, "state": str(record.after)}
        case records.Hinted():
            return {"change": "hint", "hint": record.hint}
        case records.Set():
            return {"change": "settings", "name": record.name}
        case _:
            thread_id = getattr(record, "thread_id", "")
            return {"change": "thread", "thread_id": thread_id} if thread_id else None
