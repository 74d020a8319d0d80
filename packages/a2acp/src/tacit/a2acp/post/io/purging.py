"""A contact that is blocked or removed: its keys, its sessions and all that waits for it go, for certain.

A2ACP-195, A2ACP-196.

What has to go is written down in the transaction that blocks or removes, and crossed out when everything is
gone, the agent's own part too: a full disk or a kill in between is a pause. Of a blocked agent the
fingerprint of its key stays, so that nobody can come in its place when it is let in again. Ids and dates of
packets stay too, so that none comes twice. Each statement finds its rows by the contact: what it takes grows
with that contact, not with the folder. Every call is made inside a transaction of the caller's.

Secrets past their time, let go: replaced keys, unused one-time keys, old sessions and skipped keys.

A2ACP-222, A2ACP-245. How long and how many: `seal.limits`. Each function works inside a transaction of the
caller's.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tacit.base.moment import earlier
from tacit.seal import identity, session, x3dh
from tacit.seal.limits import CROWDED_OUT_AFTER, MAX_ONE_TIME, REPLACED_KEPT

if TYPE_CHECKING:
    from tacit.a2acp.post.io.store import AgentStore
    from tacit.base.moment import ConfirmedTime, Moment


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


# Contacts looked at in one go, so that somebody with thousands of them waits for nothing.
PAGE: Final = 200
_LOOKED_AT: Final = "sessions_looked_at"


def forget_expired(store: AgentStore, now: Moment, confirmed: ConfirmedTime) -> None:
    """Destroy what is past its time by `confirmed`; of the sessions the next page of contacts."""
    store.run("DELETE FROM former WHERE until<=?", confirmed)
    store.run("DELETE FROM prekeys WHERE replaced_at<=?", earlier(confirmed, REPLACED_KEPT))
    after = store.setting(_LOOKED_AT, "")
    page = [
        row[0]
        for row in store.rows(
            "SELECT address FROM sessions WHERE address>? ORDER BY address LIMIT ?", after, PAGE
        )
    ]
    for address in page:
        before = store.sessions(address)
        kept = session.tended(before, now, confirmed)
        if kept != before:
            store.set_sessions(address, kept)
    following = page[-1] if len(page) == PAGE else ""
    if following != after:
        store.choose(_LOOKED_AT, following)


def room_for_one_time(store: AgentStore) -> int:
    """How many more one-time keys may be kept."""
    row = store.row("SELECT count(*) FROM prekeys WHERE kind=?", x3dh.ONE_TIME)
    return max(0, MAX_ONE_TIME - (row[0] if row else 0))


def crowd_out(store: AgentStore, confirmed: ConfirmedTime) -> bool:
    """When there is no room for another one-time key, let go of old ones; whether any went.

    Whoever asks for one-time keys without end makes us keep no more than that, and costs nobody a key that
    was handed out within the last days. What the relay still holds of them must be replaced.
    """
    if room_for_one_time(store):
        return False
    old = earlier(confirmed, CROWDED_OUT_AFTER)
    return store.run("DELETE FROM prekeys WHERE kind=? AND made_at<?", x3dh.ONE_TIME, old) > 0
