"""The live side of a ledger: who follows which group, and what goes out when events land (CCCS-103).

Runs on the loop's thread alone. Each event is encoded once; each follower gets one write a tick. A follower
that cannot keep up is cut with the position from which to resume: it is never skipped in silence, and it
never slows the writer. A follower is there, and hears what is no event, from the moment it is told that it
follows; events reach it once its replay is over. Signals are kept nowhere: nobody could ask for them later.
What is held is counted in bytes: for one, and for all of a credential.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from typing import TYPE_CHECKING, Any, Final, Protocol

from tacit.base.errors import Unavailable
from tacit.hub.people.presence import Presence
from tacit.ledger.principal import USER, kind_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from tacit.hub.people.presence import Status
    from tacit.hub.telemetry.metrics import Metrics
    from tacit.ledger.cursor import Selection
    from tacit.ledger.envelope import StoredEvent

SETTLES_SECONDS: Final = 0.3
"""A page that is loaded again goes and comes: who comes back within this time was never gone."""
BY_NEARNESS: Final[tuple[Status, ...]] = ("online", "away", "offline")
MANY_STIRRED: Final = 20
"""If more people than this come and go at once, followers are told to ask instead of told of each."""


class Outlet(Protocol):
    """Where a follower's bytes go."""

    replaying: asyncio.Lock
    """Held by the subscription that sends what was before."""

    @property
    def owner(self) -> str:
        """The id of the credential that it is for."""
        ...

    @property
    def is_away(self) -> bool:
        """Has its person said that they look elsewhere?"""
        ...

    @property
    def pending(self) -> int:
        """Bytes that are not on the wire yet."""
        ...

    def encode(self, subscription: int, events: Sequence[StoredEvent]) -> bytes:
        """The bytes for these events; equal for all outlets of one sort and subscription number."""
        ...

    def push(self, data: bytes) -> None:
        """Send, without waiting."""
        ...

    def cut(self, subscription: int, resume: int, reason: str) -> None:
        """Say where to resume, then end."""
        ...

    def signal(self, name: str, said: dict[str, Any]) -> None:
        """Pass on what is no event: somebody types, somebody came or went."""
        ...


class LiveSubscription:
    """One subscription of one outlet to one group."""

    __slots__ = ("group_id", "outlet", "plain", "principal", "seq", "subscription", "wanted")

    def __init__(
        self, outlet: Outlet, subscription: int, group_id: str, principal: str, wanted: Selection
    ) -> None:
        self.outlet = outlet
        self.subscription = subscription
        self.group_id = group_id
        self.principal = principal
        self.wanted = wanted
        self.plain = not wanted.kinds
        self.seq = 0
        """The last event that it was given, or could not see: from here it resumes."""

    def chosen(self, events: Sequence[StoredEvent]) -> list[StoredEvent]:
        """What this follower may and wants to see."""
        return [
            event
            for event in events
            if event.seq > self.seq and event.visible_to(self.principal) and self.wanted.wants(event.kind)
        ]


def _is_person(principal: str) -> bool:
    kind = kind_of(principal)
    return kind is not None and kind.is_human


class Live:
    """All followers of all groups."""

    def __init__(self, metrics: Metrics, max_pending: int, max_of_credential: int) -> None:
        self._present: defaultdict[str, dict[LiveSubscription, None]] = defaultdict(dict)
        self._followers: defaultdict[str, dict[LiveSubscription, None]] = defaultdict(dict)
        self._ends: dict[str, int] = {}
        self._metrics = metrics
        self._max_pending = max_pending
        self._max_of_credential = max_of_credential
        self._closed = False
        self._presence = Presence()
        self._stirred: defaultdict[str, dict[str, None]] = defaultdict(dict)
        self._told: dict[tuple[str, str], Status] = {}
        self.settle_seconds = SETTLES_SECONDS
        self.elsewhere: Callable[[str], Mapping[str, Status]] = lambda _group_id: {}
        """How people are at other nodes of the ledger."""
        self.on_stirred: Callable[[str], None] = lambda _group_id: None
        """Told of a group in which somebody came, went, or looks elsewhere."""

    def enter(self, follower: LiveSubscription) -> None:
        """Be there: hear signals, and be seen; events come once it is attached."""
        self._present[follower.group_id][follower] = None
        self._metrics.followers.inc()
        self._presence.enter(follower.group_id, follower.principal, follower.outlet)
        self._stir(follower.group_id, follower.principal)

    def attach(self, follower: LiveSubscription, seq: int) -> bool:
        """Go live from `seq`; False when newer events were published meanwhile: read them first.

        One that has gone meanwhile stays gone.
        """
        if not self.is_there(follower):
            return True
        if self._closed:
            raise Unavailable("the hub is stopping")
        if self._ends.get(follower.group_id, 0) > seq:
            return False
        follower.seq = seq
        self._followers[follower.group_id][follower] = None
        return True

    def is_there(self, follower: LiveSubscription) -> bool:
        """Has it come and not gone? One that was told where to resume has gone."""
        return follower in self._present.get(follower.group_id, ())

    def detach(self, follower: LiveSubscription) -> bool:
        """Stop following; False for one that had gone already."""
        self._followers[follower.group_id].pop(follower, None)
        if not self.is_there(follower):
            return False
        del self._present[follower.group_id][follower]
        self._metrics.followers.dec()
        self._presence.leave(follower.group_id, follower.principal, follower.outlet)
        self._stir(follower.group_id, follower.principal)
        return True

    def publish(self, group_id: str, events: Sequence[StoredEvent]) -> None:
        """Hand events that just became durable to all followers of their group."""
        first, last = events[0].seq, events[-1].seq
        self._ends[group_id] = last
        followers = self._followers.get(group_id)
        if not followers:
            return
        public = not any(event.private for event in events)
        shared: dict[tuple[type[Outlet], int], bytes] = {}
        sent = 0
        held: defaultdict[str, int] = defaultdict(int)
        for follower in list(followers):
            if first > follower.seq + 1:
                # What lies between was written by a writer that died before it could tell of it.
                self._resume(follower)
                continue
            outlet = follower.outlet
            pending = outlet.pending
            if pending:
                held[outlet.owner] += pending
                if pending > self._max_pending or held[outlet.owner] > self._max_of_credential:
                    held[outlet.owner] -= pending
                    self._cut(follower)
                    continue
            if public and follower.plain and first > follower.seq:
                key = (type(outlet), follower.subscription)
                data = shared.get(key)
                if data is None:
                    data = shared[key] = outlet.encode(follower.subscription, events)
                outlet.push(data)
                sent += len(events)
            elif chosen := follower.chosen(events):
                outlet.push(outlet.encode(follower.subscription, chosen))
                sent += len(chosen)
            follower.seq = max(last, follower.seq)
        self._metrics.delivered.inc(sent)

    def _cut(self, follower: LiveSubscription) -> None:
        self.detach(follower)
        self._metrics.cut.inc()
        follower.outlet.cut(follower.subscription, follower.seq, "too_slow")

    def _resume(self, follower: LiveSubscription) -> None:
        if self.detach(follower):
            follower.outlet.cut(follower.subscription, follower.seq, "resume")

    def resume(self) -> None:
        """Have every follower resume from what it has: there may be something of which nobody was told."""
        for followers in list(self._present.values()):
            for follower in list(followers):
                self._resume(follower)

    def close(self) -> None:
        """Tell every follower where to resume, those in their replay too (the hub is stopping)."""
        self._closed = True
        for followers in list(self._present.values()):
            for follower in list(followers):
                if self.detach(follower):
                    follower.outlet.cut(follower.subscription, follower.seq, "stopping")

    # -- who is there

    def present(self, group_id: str) -> dict[Status, list[str]]:
        """The principals that follow a group now, by how they are."""
        here, elsewhere = self._presence.present(group_id), self.elsewhere(group_id)
        if not elsewhere:
            return here
        everybody = sorted({*here["online"], *here["away"], *elsewhere})
        found: dict[Status, list[str]] = {"online": [], "away": []}
        for one in everybody:
            found[self._status(group_id, one)].append(one)
        return found

    def groups(self) -> list[str]:
        """The groups that somebody follows here."""
        return [group_id for group_id, followers in self._present.items() if followers]

    def people_here(self, group_id: str) -> dict[str, Status]:
        """How the people are who follow a group at this node."""
        present = self._presence.present(group_id)
        return {one: status for status, names in present.items() for one in names if _is_person(one)}

    def _status(self, group_id: str, principal: str) -> Status:
        """How somebody is, at whatever node they are most there."""
        known = {
            self._presence.status(group_id, principal),
            self.elsewhere(group_id).get(principal, "offline"),
        }
        return next(status for status in BY_NEARNESS if status in known)

    def looked(self, followers: Iterable[LiveSubscription]) -> None:
        """Somebody looks at the connection of these again, or looks elsewhere."""
        for follower in followers:
            self._stir(follower.group_id, follower.principal)

    def _stir(self, group_id: str, principal: str) -> None:
        """Tell how a person is by now, once it has settled; agents say it themselves (`presence`)."""
        if _is_person(principal):
            self.on_stirred(group_id)
            self.stir(group_id, principal)

    def stir(self, group_id: str, principal: str) -> None:
        """A person may be otherwise now, here or at another node."""
        if self._closed:
            return
        if not self._stirred:
            asyncio.get_running_loop().call_later(self.settle_seconds, self.settled)
        self._stirred[group_id][principal] = None

    def settled(self) -> None:
        """Tell what has changed since it was last told."""
        stirred, self._stirred = self._stirred, defaultdict(dict)
        for group_id, principals in stirred.items():
            changed = [one for one in principals if self._has_changed(group_id, one)]
            if len(changed) > MANY_STIRRED:
                self._tell(group_id, "presence", {"group_id": group_id}, "", None)
                continue
            for one in changed:
                self.tell_presence(group_id, one, self._status(group_id, one))

    def _has_changed(self, group_id: str, principal: str) -> bool:
        now = self._status(group_id, principal)
        before = self._told.pop((group_id, principal), "offline")
        if now != "offline":
            self._told[group_id, principal] = now
        return now != before

    def signal(
        self, group_id: str, by: str, conversation_id: str | None, parties: frozenset[str] | None
    ) -> None:
        """Tell the other followers of a group that somebody is typing; in private only the parties."""
        said = {"group_id": group_id, "by": by, "conversation_id": conversation_id}
        self._tell(group_id, "typing", said, by, {USER, *parties} if parties is not None else None)

    def presence(self, group_id: str, actor_id: str, status: str) -> None:
        """Tell the followers of a group that somebody came, went, looks elsewhere, or has something to do."""
        self.on_stirred(group_id)
        self.tell_presence(group_id, actor_id, status)

    def tell_presence(self, group_id: str, actor_id: str, status: str) -> None:
        """The same of somebody at another node."""
        said = {"group_id": group_id, "actor_id": actor_id, "status": status}
        self._tell(group_id, "presence", said, actor_id, None)

    def whisper(self, group_id: str, by: str, said: dict[str, Any], parties: set[str] | None) -> None:
        """Pass on a message that is kept nowhere."""
        self._tell(group_id, "ephemeral", said, by, parties | {USER} if parties is not None else None)

    def activity(self, group_id: str, said: dict[str, Any], parties: frozenset[str] | None) -> None:
        """Tell people what an agent does, in private the owner and the parties; agents are not told."""
        followers = self._present.get(group_id, {})
        people = {one.principal for one in followers if _is_person(one.principal)}
        told = people if parties is None else people & {USER, *parties}
        self._tell(group_id, "activity", said, "", told)

    def _tell(
        self, group_id: str, name: str, said: dict[str, Any], by: str, parties: set[str] | None
    ) -> None:
        followers = self._present.get(group_id, {})
        told = (
            one for one in followers if one.principal != by and (parties is None or one.principal in parties)
        )
        for outlet in {follower.outlet: None for follower in told}:
            if outlet.pending <= self._max_pending:
                outlet.signal(name, said)
