"""With which keys sessions are begun: none of a device that is no more, and few on a last-resort key.

A2ACP-245, A2ACP-251.

A last-resort key serves whoever finds no one-time key, so what it opens can be opened again by a thief of
the recipient's device. A relay can pretend that none is left; hence it is used seldom for each peer, the
owner hears of it, and the peer's next answer, which brings a fresh key, ends it. Every call is made inside a
transaction of the caller's.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tacit.base.errors import PeerFault
from tacit.base.moment import SECOND
from tacit.seal import replay, x3dh

if TYPE_CHECKING:
    from tacit.a2acp.post.io.store import AgentStore
    from tacit.base.moment import Moment
    from tacit.seal.x3dh import PublicPrekeys

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
        peer, min(signed, int(now) + replay.AHEAD),
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
