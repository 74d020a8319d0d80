"""What the post knows of threads: the version they speak, whether they stand still, when they ended.

A2ACP-214, A2ACP-237, A2ACP-239.

Which state a thread is in is decided elsewhere; here only stands what follows for packets. Every call is made
inside a transaction of the caller's.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tacit.agent import packet, sync
from tacit.wire import version

if TYPE_CHECKING:
    from tacit.agent.io.store import AgentStore, Contact
    from tacit.base.moment import Moment

OPEN: Final = "open"
STALLED: Final = "stalled"
ENDED: Final = ("completed", "declined", "expired")
NO_COMMON_VERSION: Final = "no_common_version"


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

    def end(self, peer: str, thread_id: str, state: str, now: Moment) -> None:
        """A thread has reached one of its last states."""
        self._store.run("UPDATE threads SET state=? WHERE thread_id=? AND peer=?", state, thread_id, peer)
        self._store.run("INSERT OR IGNORE INTO endings VALUES (?,?,?)", thread_id, peer, int(now))

    def forget_ended(self, now: Moment) -> int:
        """Let go of sent packets seven days after their thread's end; until then they can be asked for."""
        store, marks = self._store, ",".join("?" * len(ENDED))
        # A restored backup knows that a thread ended, not when.
        store.run(
            f"INSERT OR IGNORE INTO endings SELECT thread_id, peer, ? FROM threads WHERE state IN ({marks})",  # noqa: S608
            int(now), *ENDED,
        )  # fmt: skip
        return store.run(
            "DELETE FROM history WHERE direction='out' AND (thread_id, peer) IN"
            " (SELECT thread_id, peer FROM endings WHERE at<=?)",
            int(now) - sync.KEEP_AFTER_END,
        )
