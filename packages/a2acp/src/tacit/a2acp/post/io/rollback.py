"""A folder that was set back to an earlier copy notices it at login and begins anew (A2ACP-243, A2ACP-245).

A disk restored from a snapshot, a virtual machine set back, a folder copied and copied back: its ratchets
would repeat message keys, and open nothing that was sealed for the states that came after. So every change of
a session or of the prekeys counts one step (`AgentStore.step`), in the transaction that makes it; the agent
tells its relay the number, signed, before anything leaves that this step has sealed or taken; and the relay
hands the furthest one back when the agent logs in. Further than the folder itself: the folder is old.

The relay can only repeat what this agent has signed. After beginning anew the folder counts on from far
beyond what it was shown, so that no older statement is news again, however they are dealt out: one beginning
for each time that a folder was really set back. A relay that shows nothing changes nothing here.

The other way round the number tells of the relay: one that shows less than it was told before it accepted
our packets was set back to an earlier copy, or fell within the second in which it had not written that down.
What it had accepted since may be gone. Threads are compared at every login; with whom nothing can be compared
yet, the last packets go out again, under the same ids.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from tacit.a2acp.post.io.epochs import begin_epoch, epoch_of, is_published
from tacit.base.moment import SECOND
from tacit.seal import primitives
from tacit.wire import address, frames
from tacit.wire.encoding import b64, unb64

if TYPE_CHECKING:
    from tacit.a2acp.post.io.store import AgentStore
    from tacit.base.moment import Moment

_LEAP: Final = 2**20
_FURTHEST: Final = 2**52
_HOUR: Final = 3600 * SECOND
_TOLD: Final = "relay_was_told"
_BEHIND_AT: Final = "relay_was_behind_at"
RELAY_NOTE: Final = (
    "the relay knows less of this agent than it did: it was set back to an earlier copy, or fell;"
    " what it had accepted since is compared, or sent again"
)
NOTE: Final = (
    "this agent's folder was set back to an earlier copy; sessions with all contacts begin anew,"
    " and what came since then is asked for again"
)


def _signed_bytes(owner: str, steps: int) -> bytes:
    return frames.steps_bytes(relay=address.parse(owner).domain, address=owner, steps=steps)


def statement(store: AgentStore) -> frames.StepsFrame:
    """How far this folder has come, signed."""
    me, steps = store.me(), store.steps()
    return frames.StepsFrame(steps, b64(me.identity.sign(_signed_bytes(me.address, steps))))


def compare(store: AgentStore, welcome: frames.AuthOkFrame, now: Moment) -> bool:
    """Whether the relay has seen this agent further than this folder is; then the folder has begun anew."""
    seen = welcome.steps or 0
    with store.transaction():
        if not store.steps() < seen < _FURTHEST:
            return False
        me = store.me()
        signature = unb64(welcome.steps_sig) or b""
        if not primitives.verify(me.identity.signing_public, _signed_bytes(me.address, seen), signature):
            return False
        # Nothing to begin anew where nothing was kept: a backup brought to a new device. Whoever takes over
        # begins anyway, and knows that another device was further.
        if store.row("SELECT 1 FROM sessions UNION ALL SELECT 1 FROM prekeys LIMIT 1") is not None:
            taken_over = not is_published(store)
            begin_anew(store, now)
            if not taken_over:
                store.note(NOTE, now)
        store.step(to=seen + _LEAP)
    return True


def beginnings(store: AgentStore) -> str:
    """Which beginning of this folder, and of its relay as far as it was seen to fall back, this is."""
    return f"{epoch_of(store)} {store.setting(_BEHIND_AT, '0')}"


def told(store: AgentStore, steps: int) -> None:
    """The relay has accepted what stood behind this many steps, inside a transaction of the caller's."""
    store.choose(_TOLD, f"{b64(store.me().identity.signing_public)} {steps}")


def relay_is_behind(store: AgentStore, welcome: frames.AuthOkFrame, now: Moment) -> bool:
    """Whether the relay knows less of us than it did, inside a transaction of the caller's.

    Said once for each time, and once an hour at most: a relay that pretends must not make us send for ever.
    """
    key, _, steps = store.setting(_TOLD, " 0").partition(" ")
    if welcome.steps is None or key != b64(store.me().identity.signing_public) or welcome.steps >= int(steps):
        return False
    if now - int(store.setting(_BEHIND_AT, "0")) < _HOUR:
        return False
    store.choose(_TOLD, f"{key} {welcome.steps}")
    store.choose(_BEHIND_AT, str(int(now)))
    return True


def begin_anew(store: AgentStore, now: Moment) -> None:
    """Seal nothing more under what is kept, inside a transaction of the caller's.

    What the sessions can still open they open. What waits in the outbox is sealed again, contacts get other
    prekeys, and each thread is compared with its other side.
    """
    for (peer,) in store.rows("SELECT address FROM sessions"):
        kept = store.sessions(peer)
        store.set_sessions(
            peer, tuple(replace(one, ratchet=replace(one.ratchet, sending=None)) for one in kept)
        )
    begin_epoch(store, now)
    store.run("UPDATE threads SET synced_at=NULL, answered_at=NULL")
