"""Epochs: whose prekeys a relay hands out, when an agent moves to another device or is set back.

A2ACP-208, A2ACP-223, A2ACP-224, A2ACP-245.

An epoch is a number that rises whenever a device begins to speak for an address: when it registers, is
restored from a backup, takes over again or finds itself set back. Every prekey is signed together with its
epoch, and a relay keeps those of one epoch alone. A device whose epoch is older than the relay's is refused
at its login: an address moves because its owner says so, not because a machine woke up. Else the device that
sleeps in a drawer would take the mail from the one in use, and could open none of it.

`begin_epoch` is the one way to start afresh: new prekeys, and a new session with every contact.

A folder that was set back to an earlier copy notices it at login and begins anew (A2ACP-243, A2ACP-245).

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

With which keys sessions are begun: none of a device that is no more, and few on a last-resort key.

A2ACP-245, A2ACP-251.

A last-resort key serves whoever finds no one-time key, so what it opens can be opened again by a thief of
the recipient's device. A relay can pretend that none is left; hence it is used seldom for each peer, the
owner hears of it, and the peer's next answer, which brings a fresh key, ends it. Every call is made inside a
transaction of the caller's.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from tacit.base.errors import PeerFault
from tacit.base.moment import SECOND
from tacit.seal import primitives, session, x3dh
from tacit.wire import address, frames
from tacit.wire.encoding import b64, unb64

if TYPE_CHECKING:
    from tacit.a2acp.post.io.store import AgentStore
    from tacit.base.moment import Moment
    from tacit.seal.x3dh import PublicPrekeys


_EPOCH: Final = "prekey_epoch"
_PUBLISHED: Final = "prekey_epoch_published"
# A relay takes epochs up to two days ahead of its clock; ours may be behind that.
_BELIEVED: Final = 2 * session.AHEAD
_AHEAD_OF_US: Final = (
    "the relay holds keys of a time far ahead of this device's clock, and cannot be used;"
    " see that the clock is right"
)


def epoch_of(store: AgentStore) -> int:
    """The present epoch of this device; 0 before its first."""
    return int(store.setting(_EPOCH, "0"))


def is_published(store: AgentStore) -> bool:
    """Whether a relay has prekeys of the present epoch; until then this device may begin it."""
    return store.setting(_PUBLISHED, "no") == "yes"


def begin_epoch(store: AgentStore, now: Moment) -> int:
    """Start afresh, inside a transaction of the caller's: nothing is sealed with a key of before any more.

    The next login replaces every prekey at the relay, and the next packet to each contact begins a session.
    What was sealed for the keys of before still opens: they are kept as replaced ones are.
    """
    number = _renew(store, now)
    store.run("UPDATE contacts SET fresh_session=1")
    store.run("UPDATE outbox SET envelope=NULL, sig=NULL WHERE state='waiting'")
    return number


def _renew(store: AgentStore, now: Moment) -> int:
    number = max(int(now), epoch_of(store) + 1)
    store.choose(_EPOCH, str(number))
    store.choose(_PUBLISHED, "no")
    _retire(store, now)
    return number


def _retire(store: AgentStore, now: Moment) -> None:
    store.run("UPDATE prekeys SET replaced_at=? WHERE replaced_at IS NULL", int(now))


def agree(store: AgentStore, welcome: frames.AuthOkFrame, now: Moment) -> None:
    """Compare with what the relay holds, after a login: whatever does not fit there is replaced whole.

    `PeerFault` for an epoch that lies ahead of all clocks: following it, this device would be refused by
    every honest relay.
    """
    if epoch_of(store) > int(now) + session.AHEAD and not is_published(store):
        # It was begun by a clock that was wrong, and no relay takes an epoch of the future.
        with store.transaction():
            store.choose(_EPOCH, str(max(int(now), welcome.prekey_epoch + 1)))
    if welcome.prekey_epoch > max(epoch_of(store), int(now) + _BELIEVED):
        with store.transaction():
            if store.row("SELECT 1 FROM notes WHERE text=?", _AHEAD_OF_US) is None:
                store.note(_AHEAD_OF_US, now)
        raise PeerFault("the relay names an epoch that lies in the future")
    with store.transaction():
        number = epoch_of(store) or _renew(store, now)
        if welcome.prekey_epoch != number:
            if welcome.prekey_epoch > number:
                # Only whoever begins is let in with a lower number: its clock is behind.
                store.choose(_EPOCH, str(welcome.prekey_epoch + 1))
            _retire(store, now)
            return
        store.choose(_PUBLISHED, "yes")
        ours = {row[0] for row in store.rows("SELECT id FROM prekeys WHERE kind=?", x3dh.ONE_TIME)}
        if not ours.issuperset(welcome.one_time_ids):
            # Who writes to us for the first time would get a key that is used up. Sessions are left alone: a
            # relay's word moves none.
            _renew(store, now)
            store.note("the relay held keys that were used up, as after a restore; they were replaced", now)


def published(store: AgentStore) -> None:
    """The relay has stored prekeys of the present epoch."""
    with store.transaction():
        store.choose(_PUBLISHED, "yes")


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


MOST_WEAK: Final = 2
"""How often a day a session with one peer is begun on its last-resort key."""
DAY: Final = 24 * 3600 * SECOND


def check_epoch(store: AgentStore, peer: str, signed: int, single: int, now: Moment) -> None:
    """`PeerFault` for prekeys of two epochs, or of an older one than we have seen of this peer."""
    if signed != single:
        raise PeerFault("the relay handed out prekeys of two devices")
    row = store.row("SELECT epoch FROM handshakes WHERE address=?", peer)
    if row is not None and signed < row[0]:
        raise PeerFault("the relay handed out prekeys of a device that is no more")
    # A number far ahead is taken but not held against those that follow.
    store.run(
        "INSERT INTO handshakes (address, epoch) VALUES (?1,?2)"
        " ON CONFLICT (address) DO UPDATE SET epoch=max(epoch, ?2)",
        peer, min(signed, int(now) + session.AHEAD),
    )  # fmt: skip


def may_begin(store: AgentStore, peer: str, prekeys: PublicPrekeys, now: Moment) -> bool:
    """Whether a session may be begun with these keys, or waits for better ones; the owner is told once."""
    if prekeys.single_kind != x3dh.LAST_RESORT:
        return True
    row = store.row("SELECT weak_at, told_at FROM handshakes WHERE address=?", peer) or ("", 0)
    if len(_recent(row[0], now)) < MOST_WEAK:
        return True
    if now - row[1] >= DAY:
        store.run("UPDATE handshakes SET told_at=? WHERE address=?", int(now), peer)
        store.note(f"packets to {peer} wait: its relay hands out no one-time key for it", now)
    return False


def began(store: AgentStore, peer: str, prekeys: PublicPrekeys, ephemeral: bytes, now: Moment) -> None:
    """A session was begun; on a last-resort key it is remembered, and told."""
    weak = prekeys.single_kind == x3dh.LAST_RESORT
    row = store.row("SELECT weak_at FROM handshakes WHERE address=?", peer) or ("",)
    at = [*_recent(row[0], now), int(now)] if weak else _recent(row[0], now)
    store.run(
        "INSERT INTO handshakes (address, weak_session, weak_at) VALUES (?1,?2,?3)"
        " ON CONFLICT (address) DO UPDATE SET weak_session=?2, weak_at=?3",
        peer, ephemeral if weak else b"", " ".join(map(str, at)),
    )  # fmt: skip
    if weak:
        store.note(f"no one-time key was left for {peer}: less protected until it answers", now)


def answered(store: AgentStore, peer: str, ephemeral: bytes, now: Moment) -> None:
    """A peer has answered in a session of ours; what was less protected is so no more."""
    mended = store.run(
        "UPDATE handshakes SET weak_session=x'' WHERE address=? AND weak_session=? AND weak_session<>x''",
        peer, ephemeral,
    )  # fmt: skip
    if mended:
        store.note(f"{peer} has answered: fully protected again", now)


def _recent(moments: str, now: Moment) -> list[int]:
    return [int(at) for at in moments.split() if now - int(at) < DAY]
