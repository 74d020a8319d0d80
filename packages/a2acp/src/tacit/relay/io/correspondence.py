"""Whom the agents of this relay have written to, over restarts (A2ACP-222, A2ACP-258).

One memory for two questions. *Is this recipient new to this sender?* At most twenty are, each hour. *Is this
sender a stranger to this recipient?* Not if the recipient has written to it, or has said that it is accepted:
the relay sees the first anyway, and needs no list of contacts for it.

The file holds no names: a pair is the account and a digest of the address under a key of the relay's own, so
that the file is no address book. Whoever has file and key can still try an address; docs/relay.md says so.
A pair is written in the same order as the packets, before the first packet of the pair is answered. In memory
is only what was asked for lately; whatever is forgotten there is read again.
"""

# apsw's types name a buffer type that Python 3.11 lacks.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false

from __future__ import annotations

import hashlib
import logging
from collections import OrderedDict, deque
from typing import TYPE_CHECKING, Final, cast

from tacit.base.moment import Moment
from tacit.relay.rate import first_contact_wait
from tacit.relay.settings import HOUR
from tacit.wire import records

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Callable, Iterable, Sequence

    import apsw

    from tacit.relay.io.store import RelayStore

_log: Final = logging.getLogger("tacit.relay")
_MOST_CACHED: Final = 50_000
MOST_OF_ONE: Final = 20_000
"""Pairs of one account; at twenty an hour that is six weeks without a pause. The oldest go first."""
ACCEPTED_UNWRITTEN: Final = Moment(0)
"""When an accepted contact was first written to: never, so it counts in no hour."""


class Correspondence:
    """Who of this relay has written to whom; `met` hears of each new pair."""

    def __init__(
        self, store: RelayStore, *, domain: str, key: bytes, per_hour: int, met: Callable[[int, str], None]
    ) -> None:
        self._store = store
        self._domain = domain
        self._key = key
        self._per_hour = per_hour
        self._met = met
        self._known: OrderedDict[tuple[int, str], int | None] = OrderedDict()
        self._recent: OrderedDict[int, deque[Moment]] = OrderedDict()

    def digest(self, address: str) -> bytes:
        """What stands for an address in the file."""
        return self._digest_of(records.contact_tag(self._domain, address))

    def _digest_of(self, tag: str) -> bytes:
        return hashlib.blake2b(tag.encode(), key=self._key, digest_size=12).digest()

    def knows(self, account: int, address: str) -> bool:
        """Whether an account has written to an address, or accepted it."""
        return self._since(account, address) is not None

    def _since(self, account: int, address: str) -> int | None:
        """When an account first wrote to an address, 0 for one only accepted; None for a stranger."""
        pair = account, address
        if pair not in self._known:
            found = self._store.reader.execute(
                "SELECT at FROM written WHERE account=? AND whom=?", (account, self.digest(address))
            ).get
            self._remember(account, address, cast("int | None", found))
        return self._known[pair]

    def admit(self, account: int, to: str, now: Moment) -> int:
        """0 when an account may write to an address, else the seconds until it may.

        Whom an agent calls accepted is new all the same when it first writes there: else the word would be a
        way around the limit.
        """
        if self._since(account, to):
            return 0
        recent = self._recent_of(account, now)
        wait = first_contact_wait(tuple(recent), self._per_hour, now)
        if wait:
            return wait
        recent.append(now)
        rows = [(account, self.digest(to), now)]
        # Its place in the order is before the packet that follows.
        self._store.write(lambda file: note(file, rows)).add_done_callback(self._noted)
        self._remember(account, to, now)
        self._met(account, to)
        return 0

    async def accept(
        self, account: int, tags: Sequence[str], waiting: Callable[[int], Iterable[str]]
    ) -> None:
        """An agent says whom its owner has accepted: they are no strangers, though nothing was written yet.

        `waiting` tells the senders whose packets are in its mailbox: asked behind the write, as some may come
        in during it.
        """
        rows = [(account, self._digest_of(tag), ACCEPTED_UNWRITTEN) for tag in tags]
        await self._store.write(lambda file: note(file, rows))
        for pair in [pair for pair, at in self._known.items() if pair[0] == account and at is None]:
            del self._known[pair]
        for sender in waiting(account):
            if self.knows(account, sender):
                self._met(account, sender)

    def met_elsewhere(self, account: int, whom: bytes, waiting: Iterable[str]) -> None:
        """Another node has written down a pair; `waiting` are senders whose packets are in that mailbox."""
        self._recent.pop(account, None)
        for pair in [pair for pair in self._known if pair[0] == account]:
            del self._known[pair]
        for sender in waiting:
            if self.digest(sender) == whom:
                self._met(account, sender)

    def forget(self, account: int) -> None:
        """An account is gone; its pairs went with it."""
        self._recent.pop(account, None)
        for pair in [pair for pair in self._known if pair[0] == account]:
            del self._known[pair]

    def _noted(self, writing: asyncio.Future[None]) -> None:
        if not writing.cancelled() and writing.exception() is not None:
            # The packet was not stored either. Ask the file again rather than believe what it does not hold.
            self._known.clear()
            self._recent.clear()
            _log.warning("a first contact could not be written down")

    def _recent_of(self, account: int, now: Moment) -> deque[Moment]:
        recent = self._recent.get(account)
        if recent is None:
            rows = self._store.reader.execute(
                "SELECT at FROM written WHERE account=? AND at>? ORDER BY at DESC LIMIT ?",
                (account, int(now) - HOUR, self._per_hour),
            ).fetchall()
            found = [Moment(cast("int", row[0])) for row in reversed(rows)]
            recent = self._recent[account] = deque(found, self._per_hour)
            if len(self._recent) > _MOST_CACHED:
                self._recent.popitem(last=False)
        return recent

    def _remember(self, account: int, address: str, at: int | None) -> None:
        self._known[account, address] = at
        if len(self._known) > _MOST_CACHED:
            self._known.popitem(last=False)


def note(file: apsw.Connection, rows: Sequence[tuple[int, bytes, Moment]]) -> None:
    """Keep pairs of one account, with the time of their first packet."""
    file.executemany(
        "INSERT INTO written VALUES (?,?,?)"
        " ON CONFLICT (account, whom) DO UPDATE SET at=excluded.at WHERE at=0",
        rows,
    )
    account = rows[0][0]
    many = int(cast("int", file.execute("SELECT count(*) FROM written WHERE account=?", (account,)).get))
    if many > MOST_OF_ONE:
        file.execute(
            "DELETE FROM written WHERE account=?1 AND whom IN"
            " (SELECT whom FROM written WHERE account=?1 ORDER BY at LIMIT ?2)",
            (account, many - MOST_OF_ONE),
        )
