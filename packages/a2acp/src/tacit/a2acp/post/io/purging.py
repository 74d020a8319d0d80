"""A contact that is blocked or removed: its keys, its sessions and all that waits for it go, for certain.

A2ACP-195, A2ACP-196.

What has to go is written down in the transaction that blocks or removes, and crossed out when everything is
gone, the agent's own part too: a full disk or a kill in between is a pause. Of a blocked agent the
fingerprint of its key stays, so that nobody can come in its place when it is let in again. Ids and dates of
packets stay too, so that none comes twice. Each statement finds its rows by the contact: what it takes grows
with that contact, not with the folder. Every call is made inside a transaction of the caller's.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tacit.seal import identity

if TYPE_CHECKING:
    from tacit.a2acp.post.io.store import AgentStore

BLOCK: Final = "block"
REMOVE: Final = "remove"
DONE: Final = "done"
_ROWS: Final = (
    "DELETE FROM sessions WHERE address=?",
    "DELETE FROM handshakes WHERE address=?",
    "DELETE FROM sealings WHERE peer=?",
    "DELETE FROM dropped WHERE sender=?",
    "DELETE FROM resent WHERE peer=?",
    "DELETE FROM unjudged WHERE sender=?",
)
_NO_KEYS: Final = (
    "UPDATE contacts SET signing=NULL, agreement=NULL, serial=0, trust='pinned', offered_signing=NULL,"
    " offered_agreement=NULL, offered_serial=0, encryption='', versions='', features='' WHERE address=?"
)


def ordered(store: AgentStore, peer: str, why: str) -> None:
    """Write down that a contact has to go."""
    contact = store.contact(peer)
    pin = contact.pin if contact is not None else None
    kept = identity.fingerprint(peer, pin.keys.signing) if pin is not None else fingerprint_of(store, peer)
    store.run("INSERT OR REPLACE INTO purges VALUES (?,?,?)", peer, why, kept)


def called_off(store: AgentStore, peer: str) -> None:
    """A contact is let in again; what is not gone yet stays, and its key has to be the one it had."""
    store.run("UPDATE purges SET state=? WHERE address=?", DONE, peer)


def due(store: AgentStore) -> list[str]:
    """Contacts of whom something may still be here."""
    return [str(row[0]) for row in store.rows("SELECT address FROM purges WHERE state<>?", DONE)]


def contents(store: AgentStore, peer: str) -> None:
    """What was said, and what waits to be."""
    store.run(
        "UPDATE history SET payload=x'' WHERE direction IN ('in', 'out') AND peer=? AND payload<>x''", peer
    )
    store.run("DELETE FROM outbox WHERE peer=?", peer)


def keys(store: AgentStore, peer: str) -> None:
    """The post's own part, of a contact that has to go: contents, sessions and keys."""
    contents(store, peer)
    if store.row("SELECT 1 FROM purges WHERE address=? AND state<>?", peer, DONE) is None:
        return
    for one in _ROWS:
        store.run(one, peer)
    store.run(_NO_KEYS, peer)
    store.step()


def finished(store: AgentStore, peer: str) -> None:
    """Everything is gone; a removed contact with its name."""
    row = store.row("SELECT state FROM purges WHERE address=?", peer)
    if row is not None and row[0] == REMOVE:
        store.run("DELETE FROM contacts WHERE address=?", peer)
        store.run("DELETE FROM purges WHERE address=?", peer)
    elif row is not None:
        store.run("UPDATE purges SET state=? WHERE address=?", DONE, peer)


def fingerprint_of(store: AgentStore, peer: str) -> str:
    """Of the key that a contact had when it was blocked; empty when it never was."""
    row = store.row("SELECT fingerprint FROM purges WHERE address=?", peer)
    return str(row[0]) if row is not None else ""


def known_again(store: AgentStore, peer: str) -> None:
    """Its key was seen again, and is the one it had."""
    store.run("DELETE FROM purges WHERE address=? AND state=?", peer, DONE)
