"""Packets that cannot be verified yet: kept on our own disk until their sender's key is known, or decided.

A2ACP-002, A2ACP-215, A2ACP-219, A2ACP-247.

A relay hands out so many packets at a time and waits for our word on them; those of one sender whose key
nobody can fetch must not take that room from all others. Each sender's packets stay in their order. What is
kept is bounded: of strangers as little as in the anteroom, where the oldest make room; a contact's are left
with the relay instead.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from tacit.a2acp.post.io import anteroom
from tacit.base.moment import SECOND, earlier

if TYPE_CHECKING:
    from tacit.a2acp.post.io.store import AgentStore
    from tacit.base.moment import ConfirmedTime, Moment

# As large as a mailbox at a relay, and as much of it for one sender.
MOST_PACKETS: Final = 2_000
MOST_BYTES: Final = 64 * 1024 * 1024
MOST_OF_ONE: Final = 500
MOST_OF_ONE_BYTES: Final = 16 * 1024 * 1024
KEPT: Final = 30 * 24 * 3600 * SECOND
"""As long as a relay would have kept them."""

_STRANGE: Final = "sender NOT IN (SELECT address FROM contacts WHERE welcome=1)"


@dataclass(frozen=True, slots=True)
class Kept:
    """A packet as it came."""

    position: int
    envelope: bytes
    sig: str


class Unverified:
    """What one agent keeps for later. Changes are made inside a transaction of the caller's."""

    def __init__(self, store: AgentStore) -> None:
        self._store = store

    def holds(self, sender: str) -> bool:
        """Whether packets of a sender wait: whatever it sends next waits behind them."""
        return self._store.row("SELECT 1 FROM unjudged WHERE sender=? LIMIT 1", sender) is not None

    def senders(self) -> list[str]:
        """Whose keys are wanted, contacts first; not those whose changed key waits for the person."""
        rows = self._store.rows(
            "SELECT sender FROM unjudged LEFT JOIN contacts ON address=sender"
            " WHERE ifnull(trust,'')<>'changed' GROUP BY sender"
            " ORDER BY max(ifnull(welcome,0)) DESC, min(position)"
        )
        return [row[0] for row in rows]

    def first(self, sender: str) -> Kept | None:
        """The oldest of a sender's."""
        row = self._store.row(
            "SELECT position, envelope, sig FROM unjudged WHERE sender=? ORDER BY position LIMIT 1", sender
        )
        return Kept(*row) if row else None

    def keep(self, sender: str, raw: bytes, sig: str, now: Moment) -> bool:
        """Keep one more; False when there is no room for it: then the relay must go on keeping it.

        What is too much of one stranger is let go, the last first: what it sent before still comes in order.
        """
        store = self._store
        strange = store.row("SELECT 1 FROM contacts WHERE address=? AND welcome=1", sender) is None
        if store.row("SELECT 1 FROM unjudged WHERE sender=? AND sig=?", sender, sig) is not None:
            return True
        if strange:
            if _beyond(self._size("sender=?", sender), len(raw), *anteroom.OF_ONE):
                self.tell_once(anteroom.too_much_of(sender), now)
                return True
            while _beyond(self._size(_STRANGE), len(raw), *anteroom.IN_ALL):
                self._let_go(self._oldest_stranger() or sender, now)
        elif _beyond(self._size("sender=?", sender), len(raw), MOST_OF_ONE, MOST_OF_ONE_BYTES):
            return False
        while _beyond(self._size("1"), len(raw), MOST_PACKETS, MOST_BYTES):
            oldest = self._oldest_stranger()
            if oldest is None:
                return False
            self._let_go(oldest, now)
        store.run(
            "INSERT INTO unjudged (sender, envelope, sig, at) VALUES (?,?,?,?)", sender, raw, sig, int(now)
        )
        return True

    def _oldest_stranger(self) -> str | None:
        row = self._store.row(f"SELECT sender FROM unjudged WHERE {_STRANGE} ORDER BY position LIMIT 1")  # noqa: S608
        return row[0] if row else None

    def _size(self, whose: str, *values: str) -> tuple[int, int]:
        sql = f"SELECT count(*), ifnull(sum(length(envelope)),0) FROM unjudged WHERE {whose}"  # noqa: S608 - fixed words
        packets, size = self._store.row(sql, *values) or (0, 0)
        return packets, size

    def _let_go(self, sender: str, now: Moment) -> None:
        self._store.run(
            "DELETE FROM unjudged WHERE position=(SELECT min(position) FROM unjudged WHERE sender=?)", sender
        )
        told = f"too many packets came whose sender's key cannot be had; the oldest of {sender} were let go"
        self.tell_once(told, now)

    def tell_once(self, text: str, now: Moment) -> None:
        """Tell the person, inside a transaction of the caller's, unless it was told before."""
        if self._store.row("SELECT 1 FROM notes WHERE text=?", text) is None:
            self._store.note(text, now)

    def done(self, position: int) -> None:
        """One has been judged."""
        self._store.run("DELETE FROM unjudged WHERE position=?", position)

    def forget(self, sender: str) -> None:
        """Nothing of this sender is wanted any more."""
        self._store.run("DELETE FROM unjudged WHERE sender=?", sender)

    def forget_old(self, confirmed: ConfirmedTime) -> None:
        """Nobody could judge them in time."""
        self._store.run("DELETE FROM unjudged WHERE at<?", earlier(confirmed, KEPT))


def _beyond(kept: tuple[int, int], more: int, packets: int, size: int) -> bool:
    """Whether one more of a size is too much; a first one always fits."""
    return kept[0] >= packets or (kept[0] > 0 and kept[1] + more > size)
