"""Our prekeys: made in stock, handed out by the relay, destroyed when used (A2ACP-245).

The signed prekey changes weekly, a stock of one-time keys that nobody uses up monthly. What is replaced is
kept for two months after that, so that late first packets still open. Numbers: `seal.limits`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from tacit.a2acp.post.io.epochs import epoch_of
from tacit.a2acp.post.io.purging import crowd_out, room_for_one_time
from tacit.a2acp.post.io.store import SIGNED
from tacit.seal import primitives, x3dh
from tacit.seal.limits import ONE_TIME_RENEWED, REFILL_BELOW, REPLACED_KEPT, SIGNED_RENEWED, STOCK
from tacit.wire import frames, records
from tacit.wire.encoding import b64

if TYPE_CHECKING:
    from tacit.a2acp.post.io.store import AgentStore, Myself
    from tacit.base.moment import ConfirmedTime, Moment
    from tacit.base.ports import Clock, Entropy
    from tacit.seal.identity import Identity

_NAMES: Final = {x3dh.ONE_TIME: "one_time", x3dh.LAST_RESORT: "last_resort", SIGNED: "signed"}


def restock(
    store: AgentStore,
    clock: Clock,
    entropy: Entropy,
    left: int,
    held: int | None = None,
    *,
    confirmed: ConfirmedTime,
) -> frames.PrekeysFrame | None:
    """The frame that fills the relay's stock, its private halves on disk first; None when nothing is due.

    `held` is the signed prekey that the relay has: an upload that got lost is made good.
    `safe` is the time by which old keys may be let go, where that is not the clock's.
    """
    now = clock.now()
    left = min(max(left, 0), STOCK)
    with store.transaction():
        me = store.me()
        newest = store.row(
            "SELECT made_at, id FROM prekeys WHERE kind=? AND replaced_at IS NULL"
            " ORDER BY made_at DESC LIMIT 1",
            SIGNED,
        )
        made = newest[0] if newest else None
        # Whatever the relay still has is of no use then, and is replaced.
        left = 0 if made is None else left
        lost = held is not None and newest is not None and held != newest[1]
        low = left < REFILL_BELOW
        # With a lost upload the relay may hand out one-time keys that are gone here: it gets all anew.
        anew = made is None or lost or _stock_is_old(store, now) or (low and crowd_out(store, confirmed))
        renew = anew or made is None or now - made > SIGNED_RENEWED
        missing = min(STOCK if anew else STOCK - left if low else 0, room_for_one_time(store))
        if not renew and not missing:
            return None
        for kind in (SIGNED, x3dh.LAST_RESORT, *([x3dh.ONE_TIME] if anew else [])) if renew else ():
            store.run("UPDATE prekeys SET replaced_at=? WHERE kind=? AND replaced_at IS NULL", int(now), kind)
        store.step()
        return frames.PrekeysFrame(
            signed=_make(store, me, entropy, SIGNED, int(now)) if renew else None,
            last_resort=_make(store, me, entropy, x3dh.LAST_RESORT, int(now)) if renew else None,
            one_time=[_make(store, me, entropy, x3dh.ONE_TIME, int(now)) for _ in range(missing)],
            reset=anew,
            epoch=epoch_of(store),
        )


def _stock_is_old(store: AgentStore, now: Moment) -> bool:
    row = store.row("SELECT min(made_at) FROM prekeys WHERE kind=? AND replaced_at IS NULL", x3dh.ONE_TIME)
    return row is not None and row[0] is not None and now - row[0] > ONE_TIME_RENEWED


def replace_keys(store: AgentStore, former: Identity, now: Moment) -> None:
    """Begin anew under other keys, inside a transaction of the caller's.

    What was sealed for the former keys still opens for two months: a first letter may wait in the mailbox.
    What waits in the outbox is sealed and signed again.
    """
    store.add_former(former, int(now) + REPLACED_KEPT)
    store.run("UPDATE prekeys SET replaced_at=? WHERE replaced_at IS NULL", int(now))
    # Sessions stay to open what comes; our own next packet begins another one.
    store.run("UPDATE contacts SET fresh_session=1")
    store.run("UPDATE outbox SET envelope=NULL, sig=NULL WHERE state='waiting'")


def _make(store: AgentStore, me: Myself, entropy: Entropy, kind: int, now: int) -> dict[str, Any]:
    private = entropy.draw(32)
    identifier = int.from_bytes(entropy.draw(6), "big")
    key = b64(primitives.agreement_public(private))
    store.add_prekey(kind, identifier, private, now)
    epoch = epoch_of(store)
    signed = records.prekey_signed_bytes(me.address, _NAMES[kind], identifier, key, epoch)
    made = {"id": identifier, "key": key, "sig": b64(me.identity.sign(signed))}
    return {**made, "epoch": epoch} if epoch else made
