"""The anteroom: what strangers may leave with an agent until its owner has decided (A2ACP-032, A2ACP-261).

A stranger is whoever the owner has neither accepted nor written to. It gets room for a first letter and some
more, all strangers together for a few hundred of them, in packets and in bytes; what does not fit is let go
and leaves nothing behind, so that it can still be had from its sender after acceptance. Nothing is earned
here: standing begins with acceptance.

Nor does a stranger's packet make this device ask the stranger's relay for a key: that would tell where the
device is, and that it is awake. A stranger of our own relay is looked up there at once, since that relay
knows both already; any other's packets wait as they came, sealed, until the owner accepts their sender.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tacit.a2acp.packets import packet
from tacit.a2acp.post.settings import UNKNOWN_SENDERS
from tacit.base.errors import Refused
from tacit.wire import address

if TYPE_CHECKING:
    from tacit.a2acp.post.io.store import AgentStore
    from tacit.base.moment import Moment

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
