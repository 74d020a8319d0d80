"""How far each agent's keys have come, in its own signed words, kept to be handed back at its login.

An agent whose folder was set back to an earlier copy learns it here (`agent.io.rollback`). The relay neither
checks the signature nor draws a conclusion: only the agent's own connection can change what is kept for it,
and only the agent believes it. Written with the housekeeping, a second later at most; what a crash takes with
it makes the number lower: the agent then takes the relay for one that was set back, and looks after its mail.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import apsw

    from tacit.relay.io.store import RelayStore
    from tacit.wire import frames

_MOST: Final = 2**53
_LONGEST_SIGNATURE: Final = 128


class AgentSteps:
    """The furthest steps of every agent of one relay."""

    def __init__(self, store: RelayStore) -> None:
        self._store = store
        # By account: key, steps, signature; what the file does not have yet.
        self._fresh: dict[int, tuple[bytes, int, str]] = {}

    def told(self, account: int, key: bytes, frame: frames.StepsFrame) -> bool:
        """Keep what an agent says, if it is further than before; False when it is nothing to keep."""
        if not 0 < frame.steps < _MOST or len(frame.sig) > _LONGEST_SIGNATURE:
            return False
        if frame.steps <= self.furthest(account, key)[0]:
            return False
        self._fresh[account] = (key, frame.steps, frame.sig)
        return True

    def furthest(self, account: int, key: bytes) -> tuple[int, str]:
        """Steps and signature, under the agent's present key; 0 and nothing when it never said any."""
        found = self._fresh.get(account)
        if found is None:
            row = self._store.reader.execute(
                "SELECT signing_key, steps, sig FROM agent_steps WHERE account=?", (account,)
            ).fetchone()
            found = (bytes(row[0]), int(row[1]), str(row[2])) if row else None
        return found[1:] if found is not None and found[0] == key else (0, "")

    async def write(self) -> None:
        """Put what is new into the file, in one write."""
        if not self._fresh:
            return
        fresh = dict(self._fresh)

        def keep(file: apsw.Connection) -> None:
            file.executemany(
                "INSERT OR REPLACE INTO agent_steps SELECT ?1,?2,?3,?4"
                " WHERE EXISTS (SELECT 1 FROM agents WHERE account=?1)",
                [(account, *found) for account, found in fresh.items()],
            )

        await self._store.write(keep)
        for account, found in fresh.items():
            if self._fresh.get(account) == found:
                del self._fresh[account]
