"""Our prekeys: made in stock, handed out by the relay, destroyed when used (A2ACP-245).

The signed prekey changes weekly; a replaced one is kept for two months so that late first packets still open.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from tacit.agent.io.epochs import epoch_of
from tacit.agent.io.store import SIGNED
from tacit.base.moment import SECOND
from tacit.seal import primitives, x3dh
from tacit.wire import frames, records
from tacit.wire.encoding import b64

if TYPE_CHECKING:
    from tacit.agent.io.store import AgentStore, Myself
    from tacit.base.moment import Moment
    from tacit.base.ports import Clock, Entropy
    from tacit.seal.identity import Identity

STOCK: Final = 100
REFILL_BELOW: Final = 30
_WEEK: Final = 7 * 24 * 3600 * SECOND
KEPT: Final = 60 * 24 * 3600 * SECOND
_NAMES: Final = {x3dh.ONE_TIME: "one_time", x3dh.LAST_RESORT: "last_resort", SIGNED: "signed"}


def restock(
    store: AgentStore, clock: Clock, entropy: Entropy, left: int, held: int | None = None
) -> frames.Prekeys | None:
    """The frame that fills the relay's stock, its private halves on disk first; None when nothing is due.

    `held` is the signed prekey that the relay has: an upload that got lost is made good.
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
        renew = made is None or lost or now - made > _WEEK
        if not renew and left >= REFILL_BELOW:
            return None
        for kind in (SIGNED, x3dh.LAST_RESORT):
            store.run("DELETE FROM prekeys WHERE kind=? AND made_at<?", kind, now - KEPT)
        return frames.Prekeys(
            signed=_make(store, me, entropy, SIGNED, int(now)) if renew else None,
            last_resort=_make(store, me, entropy, x3dh.LAST_RESORT, int(now)) if renew else None,
            one_time=[
                _make(store, me, entropy, x3dh.ONE_TIME, int(now)) for _ in range(STOCK - left)
            ] if left < REFILL_BELOW or made is None else [],
            reset=made is None,
            epoch=epoch_of(store),
        )  # fmt: skip


def replace_keys(store: AgentStore, former: Identity, now: Moment) -> None:
    """Begin anew under other keys, inside a transaction of the caller's.

    What was sealed for the former keys still opens for two months: a first letter may wait in the mailbox.
    What waits in the outbox is sealed and signed again.
    """
    store.run(
        "INSERT OR REPLACE INTO former VALUES (?,?,?)",
        former.agreement_private, former.signing_seed, int(now) + KEPT,
    )  # fmt: skip
    store.run("UPDATE prekeys SET replaced_at=? WHERE replaced_at IS NULL", int(now))
    # Sessions stay to open what comes; our own next packet begins another one.
    store.run("UPDATE contacts SET fresh_session=1")
    store.run("UPDATE outbox SET envelope=NULL, sig=NULL WHERE state='waiting'")


def forget_replaced(store: AgentStore, now: Moment) -> None:
    """Destroy keys that were replaced two months ago, inside a transaction of the caller's."""
    store.run("DELETE FROM former WHERE until<=?", int(now))
    store.run("DELETE FROM prekeys WHERE replaced_at<=?", int(now) - KEPT)


def _make(store: AgentStore, me: Myself, entropy: Entropy, kind: int, now: int) -> dict[str, Any]:
    private = entropy.draw(32)
    identifier = int.from_bytes(entropy.draw(6), "big")
    key = b64(primitives.agreement_public(private))
    store.run("INSERT INTO prekeys VALUES (?,?,?,?,NULL)", kind, identifier, private, now)
    epoch = epoch_of(store)
    signed = records.prekey_signed_bytes(me.address, _NAMES[kind], identifier, key, epoch)
    made = {"id": identifier, "key": key, "sig": b64(me.identity.sign(signed))}
    return {**made, "epoch": epoch} if epoch else made
