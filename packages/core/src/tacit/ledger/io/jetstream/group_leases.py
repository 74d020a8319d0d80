"""Which node writes to which group: a lease for each, at the price of one for each node.

A group is assigned to a node by a message in a stream that keeps the last one of each group; it is written
by who takes the group, guarded by the one before, so that of two who want it one has it. It says in which
term of its node's own lease it holds (`tacit.base.io.jetstream.lease`), and is worth nothing once that term
is over: nothing has to be renewed for a group, and a node that dies, stops or stands still for too long has
lost all its groups at once. They are not handed on: whoever is asked for one that nobody living has takes it.
Every node follows these messages, so it knows where a group is written without asking.

What is in the ledger does not depend on this, as for any lease: two who write to one group are kept apart by
the guards of the ledger's stream. That time and webhooks of a group are seen to by one node does.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Final

import msgspec

from tacit.base.errors import Refused, Unavailable
from tacit.base.io.jetstream.connection import GUARD
from tacit.base.io.jetstream.lease import RENEWALS, Holder
from tacit.base.io.jetstream.safety import last_of_each
from tacit.base.io.system import steady_seconds
from tacit.base.shipping import BatchStored, Elsewhere
from tacit.ledger.shipment import group_of, token

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from tacit.base.io.jetstream.connection import NatsConnection
    from tacit.base.io.jetstream.consuming import Delivery
    from tacit.base.io.jetstream.lease import Lease

SUFFIX: Final = "_GROUPS"
NODES: Final = "node."
"""Before the id of a node: the key of its own lease."""
HEARTBEAT: Final = 2.0
AT_ONCE: Final = 256
"""How many groups are asked for side by side."""


class GroupLeases:
    """The groups that this node writes to, and where others are written. Lives on the connection's loop."""

    def __init__(self, connection: NatsConnection, ledger: str, lease: Lease, replicas: int = 3) -> None:
        """Makes the stream when there is none, and learns how it stands; blocks."""
        self._connection = connection
        self._name = ledger + SUFFIX
        self._lease = lease
        self._known: dict[str, tuple[int, Holder]] = {}
        self._held: dict[str, str] = {}
        """By group: the term in which it was taken."""
        self._gained: dict[str, None] = {}
        self._finding: dict[str, asyncio.Task[str | None]] = {}
        self._lived: dict[str, float] = {}
        """By term: when it was last known to go on."""
        self._over: set[str] = set()
        self._reach = 0
        self._whole = asyncio.Event()
        self._at_once = asyncio.Semaphore(AT_ONCE)
        self.on_taken: Callable[[], None] = lambda: None
        """Told at once that a group was taken: others may have written to it."""
        self.on_change: Callable[[frozenset[str], bool], None] = lambda _groups, _held: None
        """Told, on the connection's loop, that groups were taken, or lost."""
        self.on_free: Callable[[], None] = lambda: None
        """Told that a node is gone, with all its groups, or that this one may take groups again."""
        upto = connection.wait(self._open(replicas))
        self._following = connection.start(self._follow(upto))
        lease.on_renewed = self._look_who_lives
        lease.on_change = self._renewed
        connection.wait(self._whole.wait())

    async def _open(self, replicas: int) -> int:
        await self._connection.require_permitted(self._name, "CREATE")
        made = await self._connection.ask(self._name, "CREATE", last_of_each(self._name, replicas))
        if made.error is not None:
            raise Refused("no_stream", f"groups cannot be assigned (NATS error {made.error.err_code})")
        await self._connection.require_permitted(self._name, "MSG.GET")
        await self._connection.require_allowed(
            f"$JS.API.CONSUMER.CREATE.{self._name}", f"$JS.FC.{self._name}.probe"
        )
        reply = await self._connection.ask(self._name, "INFO", {})
        return reply.state.last_seq if reply.state is not None else 0

    # -- what is known

    def holds(self, group_id: str) -> bool:
        """May this node write to a group now? On any thread."""
        term = self._held.get(group_id)
        return term is not None and term == self._lease.term

    @property
    def groups(self) -> frozenset[str]:
        """To which groups this node writes."""
        return frozenset(list(self._held)) if self._lease.is_held else frozenset()

    @property
    def held(self) -> int:
        """To how many groups this node writes."""
        return len(self._held) if self._lease.is_held else 0

    async def _follow(self, upto: int) -> None:
        if not upto:
            self._whole.set()

        async def came(delivery: Delivery) -> bool:
            if delivery is not None:
                self._reach = delivery.seq
                group_id = group_of(delivery.subject.removeprefix(f"{self._name}."))
                self._learn(group_id, delivery.seq, delivery.payload)
            if self._reach >= upto:
                self._whole.set()
            return True

        while True:
            await self._connection.consume(self._name, self._reach, HEARTBEAT, came)
            await asyncio.sleep(self._connection.patience.pause)

    def _learn(self, group_id: str, revision: int, payload: bytes) -> None:
        if revision <= self._known.get(group_id, (0, None))[0]:
            return
        try:
            holder = msgspec.json.decode(payload, type=Holder)
        except msgspec.DecodeError:
            holder = Holder("")  # of another version: nobody's, for this one
        self._known[group_id] = revision, holder
        if holder.term != self._held.get(group_id, holder.term):
            del self._held[group_id]
            self.on_change(frozenset({group_id}), False)

    # -- taking

    async def find(self, groups: Iterable[str]) -> dict[str, str | None]:
        """Where each group is written; here, from now on, where nobody living did. None: not known now."""
        asked = list(groups)
        return dict(zip(asked, await asyncio.gather(*map(self._find_once, asked)), strict=True))

    async def _find_once(self, group_id: str) -> str | None:
        if self.holds(group_id):
            return self._lease.mine.address
        running = self._finding.get(group_id)
        if running is None:
            running = self._finding[group_id] = asyncio.create_task(self._find(group_id))
            running.add_done_callback(lambda _done: self._finding.pop(group_id, None))
        return await running

    async def _find(self, group_id: str) -> str | None:
        try:
            async with self._at_once:
                return await self._found_or_taken(group_id)
        except Unavailable:
            return None

    async def _found_or_taken(self, group_id: str) -> str | None:
        revision, holder = self._known.get(group_id, (0, None))
        if holder is not None and await self._lives(holder):
            return holder.address
        mine = self._lease.mine
        if not self._lease.term or mine.term != self._lease.term:
            return None
        subject = f"{self._name}.{token(group_id)}"
        payload = msgspec.json.encode(mine)
        answer = await self._connection.publish(subject, payload, {GUARD: str(revision)})
        if isinstance(answer, BatchStored):
            self._learn(group_id, answer.sequence, payload)
            self._take(group_id, mine.term)
            return mine.address if self.holds(group_id) else None
        if isinstance(answer, Elsewhere):
            reply = await self._connection.ask(self._name, "MSG.GET", {"last_by_subj": subject})
            if reply.message is not None:
                self._learn(group_id, reply.message.seq, reply.message.payload)
                holder = self._known[group_id][1]
                return holder.address if await self._lives(holder) else None
        return None

    def _take(self, group_id: str, term: str) -> None:
        self._held[group_id] = term
        self.on_taken()
        if not self._gained:
            asyncio.get_running_loop().call_soon(self._tell_gained)
        self._gained[group_id] = None

    def _tell_gained(self) -> None:
        # What was taken in a term that has ended meanwhile is not told of: nobody would take it back.
        gained, self._gained = frozenset(filter(self.holds, self._gained)), {}
        if gained:
            self.on_change(gained, True)

    # -- who lives

    async def _lives(self, holder: Holder) -> bool:
        """Does its term go on, and is it not this node's own? Asked of the servers now and then."""
        term = holder.term
        if not term or term == self._lease.mine.term or term in self._over:
            return False
        known_at = self._lived.get(term)
        if known_at is not None and steady_seconds() < known_at + self._lease.seconds / RENEWALS:
            return True
        found, _revision = await self._lease.found(NODES + holder.node)
        if found is not None and found.term == term:
            self._lived[term] = steady_seconds()
            return True
        self._over.add(term)
        self._lived.pop(term, None)
        self.on_free()
        return False

    async def _look_who_lives(self) -> None:
        """A few times in a span, and when one has let go: of each other term that is not over, is it now?"""
        self._lived.clear()
        holders = {holder.term: holder for _revision, holder in self._known.values()}
        for holder in holders.values():
            await self._lives(holder)

    def _renewed(self, held: bool) -> None:
        if held:
            self.on_free()
        else:
            lost = frozenset(group_id for group_id, term in self._held.items() if term != self._lease.term)
            for group_id in lost:
                del self._held[group_id]
            self.on_change(lost, False)

    def close(self) -> None:
        """Follow no more; blocks. Safe to call twice."""
        self._connection.stop(self._following)
