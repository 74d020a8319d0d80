"""Packets that cannot be verified yet: kept on our own disk until their sender's key is known, or decided.

A2ACP-002, A2ACP-215, A2ACP-219, A2ACP-247.

A relay hands out so many packets at a time and waits for our word on them; those of one sender whose key
nobody can fetch must not take that room from all others. Each sender's packets stay in their order. What is
kept is bounded: of strangers as little as in the anteroom, where the oldest make room; a contact's are left
with the relay instead.

The anteroom: what strangers may leave with an agent until its owner has decided (A2ACP-032, A2ACP-261).

A stranger is whoever the owner has neither accepted nor written to. It gets room for a first letter and some
more, all strangers together for a few hundred of them, in packets and in bytes; what does not fit is let go
and leaves nothing behind, so that it can still be had from its sender after acceptance. Nothing is earned
here: standing begins with acceptance.

Nor does a stranger's packet make this device ask the stranger's relay for a key: that would tell where the
device is, and that it is awake. A stranger of our own relay is looked up there at once, since that relay
knows both already; any other's packets wait as they came, sealed, until the owner accepts their sender.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from tacit.a2acp.packets import packet
from tacit.a2acp.post.settings import UNKNOWN_SENDERS
from tacit.base.errors import Refused
from tacit.base.moment import SECOND, earlier
from tacit.wire import address

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
            if _beyond(self._size("sender=?", sender), len(raw), *OF_ONE):
                self.tell_once(too_much_of(sender), now)
                return True
            while _beyond(self._size(_STRANGE), len(raw), *IN_ALL):
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


IN_ALL: Final = (400, 4 * 1024 * 1024)
OF_ONE: Final = (25, 512 * 1024)
"""Packets and bytes of all strangers, and of one."""
# Here and in the inbox in the words of the index `history_waiting`: else SQLite reads all of a long history.
_SIZE: Final = (
    "SELECT count(*), ifnull(sum(length(payload)),0) FROM history"
    " WHERE state IN ('held', 'asked') AND state='asked'"
)
_NOTHING_KEPT: Final = """
SELECT address FROM contacts WHERE welcome=0 AND blocked=0 AND faults='' AND trust='pinned' AND score>=50
  AND NOT EXISTS (SELECT 1 FROM history WHERE direction='in' AND peer=address)
  AND NOT EXISTS (SELECT 1 FROM history WHERE direction='out' AND peer=address)
  AND NOT EXISTS (SELECT 1 FROM unjudged WHERE sender=address)
"""
_FORGET_THREADS: Final = """
DELETE FROM threads WHERE peer IN (SELECT address FROM contacts WHERE welcome=0)
  AND NOT EXISTS (SELECT 1 FROM history h WHERE h.thread_id=threads.thread_id AND h.peer=threads.peer)
"""


class Anteroom:
    """What one agent keeps of strangers. Changes are made inside a transaction of the caller's."""

    def __init__(self, store: AgentStore) -> None:
        self._store = store

    def accepted(self, sender: str) -> bool:
        """Whether the owner takes packets of a sender: it was accepted, or everybody is."""
        contact = self._store.contact(sender)
        if contact is not None and contact.reputation.blocked:
            return False
        welcome = contact is not None and contact.welcome
        return welcome or self._store.choice(UNKNOWN_SENDERS) == "accept"

    def refuses(self, sender: str) -> bool:
        """Whether the owner wants nothing of strangers, and this is one: not even its key is looked for."""
        return self._store.choice(UNKNOWN_SENDERS) == "reject" and not self.accepted(sender)

    def may_look_up(self, sender: str) -> bool:
        """Whether a sender's relay may hear from this device."""
        if self.accepted(sender):
            return True
        try:
            return address.parse(sender).domain == address.parse(self._store.me().address).domain
        except Refused:
            return False

    def takes(self, sender: str, inner: packet.Packet, now: Moment) -> bool:
        """Whether there is room for a stranger's packet; the owner is told once that there is none."""
        if inner.type == packet.THREAD_SYNC:
            # It asks for an answer that a stranger does not get.
            return False
        packets, size = self._store.row(f"{_SIZE} AND peer=?", sender) or (0, 0)
        if packets >= OF_ONE[0] or size + len(inner.raw) > OF_ONE[1]:
            self._tell_once(too_much_of(sender), now)
            return False
        packets, size = self._store.row(_SIZE) or (0, 0)
        if packets >= IN_ALL[0] or size + len(inner.raw) > IN_ALL[1]:
            self._tell_once("strangers have sent more than is kept of them; the rest was let go", now)
            return False
        return True

    def knock(self, sender: str, now: Moment) -> None:
        """Tell the owner that somebody unknown has written."""
        contact = self._store.contact(sender)
        if contact is None or not contact.reputation.low:
            self._tell_once(f"{sender} wants to reach you for the first time; accept or block it", now)

    def _tell_once(self, text: str, now: Moment) -> None:
        if self._store.row("SELECT 1 FROM notes WHERE text=?", text) is None:
            self._store.note(text, now)

    def tidy(self) -> None:
        """Forget strangers of whom nothing is kept, unless something is held against them."""
        self._store.run(_FORGET_THREADS)
        for (stranger,) in self._store.rows(_NOTHING_KEPT):
            self._store.run("DELETE FROM sessions WHERE address=?", stranger)
            self._store.run("DELETE FROM contacts WHERE address=?", stranger)


def too_much_of(sender: str) -> str:
    """What the owner is told when one stranger sends on and on."""
    return f"{sender} has sent more than is kept of a stranger; the rest was let go"
