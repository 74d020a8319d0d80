"""Epochs: whose prekeys a relay hands out, when an agent moves to another device or is set back.

A2ACP-208, A2ACP-223, A2ACP-224, A2ACP-245.

An epoch is a number that rises whenever a device begins to speak for an address: when it registers, is
restored from a backup, takes over again or finds itself set back. Every prekey is signed together with its
epoch, and a relay keeps those of one epoch alone. A device whose epoch is older than the relay's is refused
at its login: an address moves because its owner says so, not because a machine woke up. Else the device that
sleeps in a drawer would take the mail from the one in use, and could open none of it.

`begin_epoch` is the one way to start afresh: new prekeys, and a new session with every contact.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tacit.base.errors import PeerFault
from tacit.seal import replay, x3dh

if TYPE_CHECKING:
    from tacit.a2acp.post.io.store import AgentStore
    from tacit.base.moment import Moment
    from tacit.wire import frames

_EPOCH: Final = "prekey_epoch"
_PUBLISHED: Final = "prekey_epoch_published"
# A relay takes epochs up to two days ahead of its clock; ours may be behind that.
_BELIEVED: Final = 2 * replay.AHEAD
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
    if epoch_of(store) > int(now) + replay.AHEAD and not is_published(store):
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
