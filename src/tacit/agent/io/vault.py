"""The vault: contents that the journal names and does not hold, by contact, really gone when they go.

A2ACP-195, A2ACP-212. It lies in the agent's own file, which overwrites what it frees. Packets that arrived
are read from the post's history, where they are anyway; packets that are to leave lie here until the post has
them. What is replaced goes at once; what an ended thread said goes when the owner's history does.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any, cast

from tacit.agent.packets import packet, schemas
from tacit.agent.threads.state import US
from tacit.base.strict_json import parse

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from tacit.agent.packets.packet import Fields
    from tacit.agent.post.io.store import AgentStore
    from tacit.base.moment import Moment
    from tacit.base.ports import Entropy

_KEY = "vault_key"


class Vault:
    """The values of one agent (the engine's `Values` port)."""

    def __init__(self, store: AgentStore, entropy: Entropy) -> None:
        self._store = store
        kept = store.setting(_KEY, "")
        if not kept:
            kept = entropy.draw(32).hex()
            with store.transaction():
                store.choose(_KEY, kept)
        self._key = bytes.fromhex(kept)

    def keyed_hash(self, data: bytes) -> str:
        """By which the journal names content: without the key it says nothing of it."""
        return hashlib.blake2b(data, key=self._key, digest_size=16).hexdigest()

    def raw(self, value_id: str) -> bytes | None:
        """A kept value's bytes; None when it is gone."""
        row = self._store.row("SELECT value FROM vault WHERE value_id=?", value_id)
        return bytes(row[0]) if row else None

    def value(self, value_id: str) -> Any:
        """A kept value; None when it is gone."""
        kept = self.raw(value_id)
        return parse(kept) if kept is not None else None

    def packet(self, peer: str, packet_id: str, side: str) -> Fields | None:
        """The fields of a packet, from here while it has not left, else from the post's history."""
        found = self.value(packet_id) if side == US else None
        if found is not None:
            return cast("Fields", found)
        row = self._store.row(
            "SELECT payload FROM history WHERE direction=? AND peer=? AND packet_id=? AND payload<>x''",
            "out" if side == US else "in", peer, packet_id,
        )  # fmt: skip
        if row is None:
            return None
        inner = packet.read(bytes(row[0]))
        return inner.fields if side == US else schemas.normalised(inner.type, inner.fields)

    def keep(self, values: Mapping[str, tuple[str, bytes]], at: Moment) -> None:
        """Keep values, durable before anything names them."""
        if not values:
            return
        keep = "INSERT OR REPLACE INTO vault VALUES (?,?,?,?)"
        with self._store.transaction():
            for value_id, (contact, value) in values.items():
                self._store.run(keep, value_id, contact, int(at), value)

    def replaced(self, value_ids: Iterable[str]) -> None:
        """Let go of what other values took the place of."""
        gone = [one for one in value_ids if one]
        if gone:
            with self._store.transaction():
                for value_id in gone:
                    self.drop(value_id)

    def tidy(self, settings: Iterable[str], open_with: Iterable[str], until: Moment | None) -> None:
        """Let go of the owner's values that nothing names, and of contacts' when their time is over.

        `open_with` are the contacts with whom something is still being arranged: theirs stay.
        """
        named, busy = set(settings), set(open_with)
        with self._store.transaction():
            for (value_id,) in self._store.rows("SELECT value_id FROM vault WHERE contact=''"):
                if value_id not in named:
                    self.drop(value_id)
            if until is None:
                return
            for (contact,) in self._store.rows("SELECT DISTINCT contact FROM vault WHERE contact<>''"):
                if contact not in busy:
                    self._store.run("DELETE FROM vault WHERE contact=? AND at<?", contact, int(until))

    def drop(self, value_id: str) -> None:
        """Let go of one value, inside a transaction of the caller's."""
        self._store.run("DELETE FROM vault WHERE value_id=?", value_id)

    def forget(self, contact: str) -> None:
        """Let go of every content of one contact, here and in the post's history (A2ACP-195, A2ACP-196)."""
        erase(self._store, contact)


def erase(store: AgentStore, contact: str) -> None:
    """Every content of one contact goes from an agent's file; ids, times and states stay."""
    with store.transaction():
        store.run("DELETE FROM vault WHERE contact=?", contact)
        store.run("UPDATE history SET payload=x'' WHERE peer=? AND payload<>x''", contact)
        store.run("DELETE FROM outbox WHERE peer=?", contact)
