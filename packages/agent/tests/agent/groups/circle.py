"""Several engines in a group: no relay, no files, no clock; packets go to whom they are for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tacit.agent.groups import grouping
from tacit.agent.groups.fold import GroupTables
from tacit.agent.kernel.workspace import Peer
from tacit.base.moment import Moment
from tacit.wire import version
from tests.agent.scheduling.desk import FEATURES, Desk, span

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tacit.agent.groups.fold import Group
    from tacit.agent.kernel.state import Thread
    from tacit.base.moment import Span
    from tests.agent.scheduling.desk import Packet

WEEK = ("2026-03-23T00:00:00Z", "2026-04-06T00:00:00Z")
FRIDAY = ("2026-03-27T18:00:00Z", "2026-03-27T23:00:00Z")
SATURDAY = ("2026-03-28T18:00:00Z", "2026-03-28T23:00:00Z")
GAME_NIGHT = "game night on Friday or Saturday evening"


def busy_but(*free: tuple[str, str]) -> list[Span]:
    """A calendar that is full, but for some stretches."""
    from tacit.base.moment import without

    return list(without([span(*WEEK)], [span(*one) for one in free]))


class Circle:
    """Owners who know each other; the first begins."""

    acquainted = False
    """Whether their agents have met before: then each knows what the others can."""

    def __init__(self, *desks: Desk) -> None:
        self.desks = {one.me: one for one in desks}
        if self.acquainted:
            for desk in desks:
                for other in self.desks:
                    desk.peers[other] = Peer(other, FEATURES, heard=True, version=version.NEWEST)
        self.first = desks[0]
        self.carried: list[tuple[str, Packet]] = []
        self.cut: set[str] = set()

    def __getitem__(self, name: str) -> Desk:
        return self.desks[f"agent:{name}@relay.example"]

    def ask(self, text: str = GAME_NIGHT, *, by: Desk | None = None, share: bool = True, **how: Any) -> str:
        """The owner's sentence, to all others."""
        desk = by or self.first
        others = [one for one in self.desks if one != desk.me]
        goal = desk.goal(text)
        group_id = desk.decide(lambda ws: grouping.begin(ws, goal, others, **how))
        self.settle(share=share)
        return group_id

    def settle(self, *, share: bool = True) -> None:
        """Until nothing is on its way; owners share what they are asked for."""
        while True:
            for one in self.desks.values():
                one.settle()
            did = self.carry()
            for one in self.desks.values() if share else ():
                did |= self._shared(one)
            if not did:
                return

    def share(self, name: str) -> None:
        """One owner shares what it is asked for."""
        assert self._shared(self[name])

    def _shared(self, one: Desk) -> bool:
        asked = one.questions("consent")
        for question in asked:
            fields = one.content(question)["fields"]
            known = [each["field"] for each in fields if len(each["values"]) == 1]
            one.answer(question, share=dict.fromkeys(known), decline_all=not known)
        return bool(asked)

    def carry(self) -> bool:
        """Hand over what waits; whether there was anything."""
        did = False
        for sender in list(self.desks.values()):
            for _ in range(len(sender.out)):
                one = sender.out[0]
                if one.to not in self.cut and sender.me not in self.cut:
                    # Whoever dies over a packet gets it again.
                    self.desks[one.to].receive(sender.me, one.thread_id, one.packet_id, one.type, one.fields)
                    did = True
                sender.out.pop(0)
                self.carried.append((sender.me, one))
        return did

    def later(self, microseconds: int, *, share: bool = True) -> None:
        """Let time pass for all."""
        for one in self.desks.values():
            one.now = Moment(one.now + microseconds)
        self.settle(share=share)

    def confirm(self, *names: str) -> None:
        """Owners say yes to what stands, in this order; all of them when none is named."""
        for one in names or [one.removeprefix("agent:").partition("@")[0] for one in self.desks]:
            self[one].answer(self[one].question("checkpoint"), confirm=True)
        self.settle()

    def sent(self, sender: Desk, kind: str) -> list[Packet]:
        """What somebody has sent of a type."""
        return [one for who, one in self.carried if who == sender.me and one.type == kind]

    def group(self, group_id: str) -> Group:
        return self.first.book.part(GroupTables).groups[group_id]

    def states(self, group_id: str) -> dict[str, str]:
        """Where the group stands with everybody, by name."""
        return {
            one.me[6:].partition("@")[0]: own_thread(one, group_id).state.value for one in self.desks.values()
        }


def own_thread(desk: Desk, group_id: str) -> Thread:
    """Somebody's thread of a group: the hub, or that with the coordinator."""
    group = desk.book.part(GroupTables).groups[group_id]
    peer = desk.me if group.coordinator == desk.me else group.coordinator
    return desk.thread(desk.book.part(GroupTables).legs[group_id, peer])


def circle(free: dict[str, Iterable[tuple[str, str]]], **more: dict[str, Any]) -> Circle:
    """Owners by name, each with the times that they have; the first begins."""
    return Circle(*(Desk(name, busy=busy_but(*times), **more.get(name, {})) for name, times in free.items()))
