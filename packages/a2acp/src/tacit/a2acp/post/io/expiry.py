"""Secrets past their time, let go: replaced keys, unused one-time keys, old sessions and skipped keys.

A2ACP-222, A2ACP-245. How long and how many: `seal.limits`. Each function works inside a transaction of the
caller's.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tacit.base.moment import earlier
from tacit.seal import session, x3dh
from tacit.seal.limits import CROWDED_OUT_AFTER, MAX_ONE_TIME, REPLACED_KEPT

if TYPE_CHECKING:
    from tacit.a2acp.post.io.store import AgentStore
    from tacit.base.moment import ConfirmedTime, Moment

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
