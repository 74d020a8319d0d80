"""What the post knows of threads: the version they speak, and whether they stand still.

A2ACP-031, A2ACP-174, A2ACP-237, A2ACP-239.

Nothing here ends a thread, so what was sent in it is kept (A2ACP-212); that it is over is the agent's word.
Every other call is made inside a transaction of the caller's.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, cast

from tacit.a2acp.packets import packet
from tacit.wire import version

if TYPE_CHECKING:
    from tacit.a2acp.post.io.store import AgentStore, Contact
    from tacit.base.moment import Moment

OPEN: Final = "open"
STALLED: Final = "stalled"
OVER: Final = "over"
NO_COMMON_VERSION: Final = "no_common_version"
MOST_MEMBERS: Final = 50


class Threads:
    """Threads of one agent, each with one peer."""

    def __init__(self, store: AgentStore) -> None:
        self._store = store

    def last_version(self, peer: str) -> str | None:
        """The version last used with a peer; None before the first answer."""
        row = self._store.row(
            "SELECT t.protocol FROM history h JOIN threads t USING (thread_id, peer)"
            " WHERE h.peer=? AND t.protocol<>'' ORDER BY h.position DESC LIMIT 1",
            peer,
        )
        return row[0] if row else None

    def learn_version(self, inner: packet.Packet, contact: Contact | None) -> bool:
        """Speak a thread's version from now on; False when there is none that both sides speak."""
        spoken = inner.protocol.removeprefix("a2acp/")
        theirs = packet.versions_named(inner.fields) or (contact.versions if contact else ())
        both = version.common_version(version.SUPPORTED, [spoken])
        both = both or version.common_version(version.SUPPORTED, theirs)
        if both is None:
            return False
        self._store.run(
            "UPDATE threads SET protocol=?, state=CASE state WHEN ? THEN ? ELSE state END"
            " WHERE thread_id=? AND peer=?",
            both, STALLED, OPEN, inner.thread_id, inner.sender,
        )  # fmt: skip
        return True

    def stall(self, peer: str, thread_id: str, why: str, now: Moment) -> bool:
        """Stand still: nothing that waits is tried again, and the person is told. False if it did already."""
        store = self._store
        changed = store.run(
            "UPDATE threads SET state=?, protocol='' WHERE thread_id=? AND peer=? AND state<>?",
            STALLED, thread_id, peer, STALLED,
        )  # fmt: skip
        if changed:
            store.run(
                "UPDATE outbox SET state='failed', problem=?"
                " WHERE peer=? AND thread_id=? AND state='waiting'",
                why, peer, thread_id,
            )  # fmt: skip
            store.note(f"a thread with {peer} stands still: {why}", now)
        return changed > 0

    def over(self, peer: str, thread_id: str) -> None:
        """Nothing more is to come of it: it is compared when the peer asks, and not at each connect."""
        with self._store.transaction():
            self._store.run(
                "UPDATE threads SET state=? WHERE thread_id=? AND peer=? AND state=?",
                OVER, thread_id, peer, OPEN,
            )  # fmt: skip

    def learn_members(self, inner: packet.Packet, sender: str) -> None:
        """Remember who takes part, where a packet's sender began the thread with us and says so."""
        listed = inner.fields.get("participants")
        if not isinstance(listed, list):
            return
        named = [one for one in cast("list[object]", listed) if isinstance(one, str)][:MOST_MEMBERS]
        others = self._store.row(
            "SELECT 1 FROM threads WHERE thread_id=?1 AND peer<>?2"
            " UNION SELECT 1 FROM thread_members WHERE thread_id=?1 AND told_by<>?2",
            inner.thread_id, sender,
        )  # fmt: skip
        for one in named if others is None else ():
            self._store.run(
                "INSERT OR IGNORE INTO thread_members VALUES (?,?,?)", inner.thread_id, one, sender
            )
