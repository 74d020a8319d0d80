"""The other nodes of this node's ledger: which there are, and who is connected to them.

Each node says of itself, now and then, that it lives (`Beat`), and of each group who is connected to it there
(`NodePresence`): whole, whenever that changes, with the next beat when an agent gave a sign of life, and else
in its turn, so that what was lost on the way is made good and a node of many groups says little at a time.
A node that falls silent for as long as a lease lasts is forgotten, with all who were there. What is said to
those who are there and kept nowhere (typing, whispers) is passed on as it comes. Nothing of this is in the
ledger, and nothing in the ledger depends on it, but for one thing: the node that writes counts the silence
of agents, and those of other nodes are heard of by their nodes.
"""

from __future__ import annotations

import asyncio
import socket
from collections import deque
from dataclasses import dataclass
from math import ceil
from typing import TYPE_CHECKING, Any, Final

import msgspec

from tacit.attention.state.work import OFFLINE
from tacit.base.moment import SECOND
from tacit.hub.nodes.codec import (
    Acts,
    AllHere,
    Beat,
    GoesOn,
    Greets,
    Informs,
    Inquires,
    Leaves,
    NodePresence,
    Types,
    Whispers,
    all_here,
    here_of,
)
from tacit.hub.nodes.inquiries import Inquiries

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from tacit.attention.commands import AuthorContinued
    from tacit.hub.host.host import Host
    from tacit.hub.live import Live
    from tacit.hub.nodes.codec import Word
    from tacit.hub.nodes.transport import NodeTransport
    from tacit.hub.people.presence import Status

LONGEST_PAUSE: Final = 2.0
"""Seconds between two beats, at most."""
BEATS: Final = 8
"""How many there are in the span of a lease, at least."""
ROUND: Final = 30.0
"""Seconds in which everything is said again that nobody changed."""


@dataclass(slots=True)
class _Neighbour:
    beat: Beat
    heard_at: float


class Neighbours:
    """What this node knows of the others, and tells them of itself. Lives on the loop's thread."""

    def __init__(self, nodes: NodeTransport, host: Host, live: Live) -> None:
        self._nodes = nodes
        self._host = host
        self._live = live
        self._known: dict[str, _Neighbour] = {}
        self._here: dict[str, dict[str, NodePresence]] = {}
        """By group and address."""
        self._stirred: dict[str, None] = {}
        self._heard_in: dict[str, None] = {}
        """The groups in which an agent gave a sign of life since the last beat."""
        self._told: dict[str, None] = {}
        """The groups of which something was said; until it was said in its turn that nobody is there."""
        self._round: deque[str] = deque()
        self._at_a_time = 0
        self.on_left: Callable[[str, str], None] = lambda _group_id, _session: None
        """Told of a session that was connected to another node and is no more."""
        self.inquiries: Final = Inquiries(nodes, lambda: self._known)
        """What each node keeps for itself, and others ask for."""
        nodes.on_word = self._heard
        host.elsewhere = self.in_group
        host.elsewhere_late_by = ceil(self._pause * SECOND)
        host.on_present = self._changed
        host.on_heard = self._heard_from
        host.goes_on = self._goes_on
        live.elsewhere = self._people
        live.on_stirred = self._changed

    def in_group(self, group_id: str) -> list[NodePresence]:
        """Who is connected to each other node."""
        return list(self._here.get(group_id, {}).values())

    def groups(self) -> list[str]:
        """The groups in which somebody is connected to another node."""
        return list(self._here)

    def count(self) -> int:
        """How many nodes there are, this one too."""
        return 1 + len(self._known)

    def beats(self) -> list[Beat]:
        """What every node said of itself last; this one first."""
        return [self._beat(), *(one.beat for one in self._known.values())]

    def _people(self, group_id: str) -> dict[str, Status]:
        found: dict[str, Status] = {}
        for one in self._here.get(group_id, {}).values():
            for name, status in one.people.items():
                if found.get(name) != "online":
                    found[name] = status
        return found

    # -- what this node says

    @property
    def _pause(self) -> float:
        return min(LONGEST_PAUSE, self._nodes.seconds / BEATS)

    async def run(self) -> None:
        """Say that this node lives, and forget those that have not for long."""
        while True:
            self.beat()
            await asyncio.sleep(self._pause)

    def beat(self) -> None:
        """One sign of life, with those of the agents that gave one here."""
        silent = asyncio.get_running_loop().time() - self._nodes.seconds
        for address in [address for address, one in self._known.items() if one.heard_at < silent]:
            self._forget(address)
        self._nodes.say_to_all(self._beat())
        heard, self._heard_in = self._heard_in, {}
        self._say(heard | dict.fromkeys(self._in_turn()))

    def _in_turn(self) -> list[str]:
        """The groups of which it is said once more, though nothing may have changed, who is there."""
        if not self._round:
            self._round = deque(self._told | dict.fromkeys(self._everywhere()))
            self._at_a_time = ceil(len(self._round) * self._pause / ROUND)
        found = [self._round.popleft() for _ in range(min(self._at_a_time, len(self._round)))]
        here = set(self._everywhere()) if found else ()
        for group_id in found:
            if group_id not in here:
                self._told.pop(group_id, None)
        return found

    def _everywhere(self) -> list[str]:
        """The groups in which somebody is connected here."""
        return [*self._host.groups(), *self._live.groups()]

    def _say(self, groups: Iterable[str], address: str | None = None) -> None:
        """Tell one node, or all, who is connected here in these groups."""
        if not self._known:
            return  # whoever comes is told of everything
        here = [self._in(group_id) for group_id in groups]
        for told in all_here(self._nodes.address, here, self._nodes.room):
            if address is None:
                self._nodes.say_to_all(told)
            else:
                self._nodes.say_to(address, told)

    def _beat(self) -> Beat:
        nodes = self._nodes
        return Beat(nodes.address, socket.gethostname(), nodes.held, nodes.reached, nodes.asleep)

    def _in(self, group_id: str) -> NodePresence:
        lives, people = self._host.lives(group_id), self._live.people_here(group_id)
        return NodePresence(self._nodes.address, group_id, self._host.statuses_here(group_id), lives, people)

    def _changed(self, group_id: str) -> None:
        if not self._stirred:
            asyncio.get_running_loop().call_soon(self._say_changed)
        self._stirred[group_id] = None

    def _say_changed(self) -> None:
        stirred, self._stirred = self._stirred, {}
        self._told |= stirred
        self._say(stirred)

    def _heard_from(self, group_id: str) -> None:
        self._heard_in[group_id] = None

    def _introduce(self, address: str) -> None:
        """A node is new, or forgot this one: it hears of everybody who is here."""
        self._nodes.say_to(address, self._beat())
        self._say(dict.fromkeys(self._everywhere()), address)

    def types(
        self, group_id: str, by: str, conversation_id: str | None, parties: frozenset[str] | None
    ) -> None:
        """Tell the others that somebody is writing."""
        self._nodes.say_to_all(Types(self._nodes.address, group_id, by, conversation_id, parties))

    def whispers(self, group_id: str, by: str, said: dict[str, Any], parties: set[str] | None) -> None:
        """Tell the others a message that is kept nowhere."""
        told = frozenset(parties) if parties is not None else None
        self._nodes.say_to_all(Whispers(self._nodes.address, group_id, by, said, told))

    def acts(self, group_id: str, said: dict[str, Any], parties: frozenset[str] | None) -> None:
        """Tell the others what an agent does, if people look on there."""
        if any(one.people for one in self.in_group(group_id)):
            self._nodes.say_to_all(Acts(self._nodes.address, group_id, said, parties))

    def _goes_on(self, group_id: str, effect: AuthorContinued) -> None:
        self._nodes.say_to_all(GoesOn(self._nodes.address, group_id, effect.session, effect.event_id))

    def leave(self) -> None:
        """This node stops: nobody is connected to it any more."""
        self._nodes.say_to_all(Leaves(self._nodes.address))

    # -- what others say

    def _heard(self, word: Word) -> None:
        match word:
            case Beat(address=address):
                is_new = address not in self._known
                self._known[address] = _Neighbour(word, asyncio.get_running_loop().time())
                if is_new:
                    self._introduce(address)
                    # It may have known this node all along, and would say nothing by itself.
                    self._nodes.say_to(address, Greets(self._nodes.address))
            case AllHere():
                for one in here_of(word):
                    self._take(one)
            case Greets(address=address):
                self._introduce(address)
            case Types(group_id=group_id, by=by, conversation_id=conversation_id, parties=parties):
                self._live.signal(group_id, by, conversation_id, parties)
                self._host.typing(group_id, by, conversation_id, parties)
            case Whispers(group_id=group_id, by=by, said=said, parties=parties):
                told = set(parties) if parties is not None else None
                self._live.whisper(group_id, by, said, told)
                self._host.whisper(group_id, by, said, told)
            case GoesOn(group_id=group_id, session=session, event_id=event_id):
                self._host.go_on(group_id, session, event_id)
            case Leaves(address=address):
                self._forget(address)
            case _:
                self._heard_of_turns_and_links(word)

    def _heard_of_turns_and_links(self, word: Acts | Inquires | Informs) -> None:
        match word:
            case Acts(group_id=group_id, said=said, parties=parties):
                self._live.activity(group_id, said, parties)
            case Inquires():
                self._host.spawn(self.inquiries.inform(word))
            case Informs():
                self.inquiries.heard(word)

    def _take(self, word: NodePresence) -> None:
        """Who is there now; and what has changed by it."""
        group_id, there = word.group_id, self._here.setdefault(word.group_id, {})
        before = there.get(word.address, NodePresence(word.address, group_id))
        if word.agents or word.people or word.lives:
            there[word.address] = word
        else:
            there.pop(word.address, None)
        if not there:
            del self._here[group_id]
        for life in word.lives:
            self._host.connected_elsewhere(group_id, life)
        for name in before.people.keys() | word.people.keys():
            if before.people.get(name) != word.people.get(name):
                self._live.stir(group_id, name)
        self._tell_of_agents(before, word)

    def _tell_of_agents(self, before: NodePresence, now: NodePresence) -> None:
        group_id, statuses = now.group_id, self._host.statuses(now.group_id)
        for session in before.agents.keys() | now.agents.keys():
            if before.agents.get(session) == now.agents.get(session):
                continue
            came, status = session not in before.agents, statuses.get(session, OFFLINE).status
            self._live.tell_presence(group_id, session, "online" if came else status)
        if before.agents.keys() != now.agents.keys():
            self._host.tell_writer(group_id)
            for session in before.agents.keys() - now.agents.keys():
                self.on_left(group_id, session)

    def _forget(self, address: str) -> None:
        """A node is gone; its agents keep their last word, and are not connected."""
        self._known.pop(address, None)
        self.inquiries.gone(address)
        for group_id, there in list(self._here.items()):
            if address in there:
                lives = tuple(msgspec.structs.replace(one, connected=False) for one in there[address].lives)
                self._take(NodePresence(address, group_id, lives=lives))
