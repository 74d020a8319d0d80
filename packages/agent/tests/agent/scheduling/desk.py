"""One agent's engine on plain dictionaries, and two of them face to face: no relay, no files, no clock.

What runs is the product's: receiving, ticking, considering, acting, the consent filter, the schemas. What is
replaced is only what carries: packets go from one desk's list to the other's, values lie in a dictionary.
"""

from __future__ import annotations

import asyncio
import hashlib
from dataclasses import replace
from functools import lru_cache
from itertools import count
from typing import TYPE_CHECKING, Any

from tacit.a2acp.consent.tiers import DEFAULT, Policy
from tacit.a2acp.packets import schemas
from tacit.a2acp.packets.windows import read_windows
from tacit.a2acp.threads.states import State
from tacit.agent.brain import port
from tacit.agent.brain.rules import Rules
from tacit.agent.brain.scenes import scene_of
from tacit.agent.consent import answering
from tacit.agent.consent.answering import Answer
from tacit.agent.features import FOLD
from tacit.agent.kernel import fold, records
from tacit.agent.kernel.workspace import Peer, Workspace, absorb, layered
from tacit.agent.memory import remembering
from tacit.agent.scheduling import (
    acting,
    asking,
    considering,
    proposal_slots,
    proposing,
    receiving,
    ticking,
    turns,
)
from tacit.agent.scheduling.actions import port as actions
from tacit.agent.scheduling.calendars.busy import Busy
from tacit.agent.scheduling.view import view_of
from tacit.base.moment import Moment, Span, parse_rfc3339
from tacit.base.strict_json import canonical, parse
from tacit.seal.identity import Identity
from tacit.wire import version

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from tacit.agent.kernel.state import Question, Thread

MONDAY = "2026-03-23T09:00:00Z"
HOUR = 3600 * 1_000_000
DAY = 24 * HOUR
FEATURES = frozenset(
    {
        version.CONTEXT_NEGOTIATION,
        version.RESOLUTION_WITH_ALTERNATIVES,
        version.THREAD_FORKING,
        version.THREAD_STATUS,
        version.MULTI_PARTY,
        version.BLACKOUTS,
    }
)


def span(start: str, end: str) -> Span:
    """A stretch between two moments in RFC 3339."""
    return Span(parse_rfc3339(start), parse_rfc3339(end))


@lru_cache(maxsize=256)
def identity_of(address: str) -> Identity:
    """The keys of somebody, always the same."""
    seed = hashlib.blake2b(address.encode(), digest_size=32).digest()
    return Identity(seed, seed)


class Packet:
    """A packet on its way: its header's part and its fields."""

    def __init__(
        self, thread_id: str, packet_id: str, kind: str, fields: dict[str, Any], to: str = ""
    ) -> None:
        self.to = to
        self.thread_id = thread_id
        self.packet_id = packet_id
        self.type = kind
        self.fields = fields


class Desk:
    """One owner's engine."""

    def __init__(
        self,
        name: str,
        *,
        now: str = MONDAY,
        zone: str = "Europe/London",
        policy: Policy = DEFAULT,
        profile: Mapping[str, Any] | None = None,
        busy: Iterable[Span] = (),
    ) -> None:
        self.me = f"agent:{name}@relay.example"
        self.now = parse_rfc3339(now)
        self.policy = policy
        self.busy = list(busy)
        self.unclear: tuple[str, ...] = ()
        """What the calendars have that is not understood, in the owner's words."""
        self.own = {"timezone": zone, "dietary": f"{name} eats no meat"} if profile is None else dict(profile)
        self.book = FOLD.book()
        self.contents: dict[str, bytes] = {}
        self.log: list[records.Record] = []
        self._dated: list[tuple[records.Record, Moment]] = []
        self.out: list[Packet] = []
        self.sent: list[Packet] = []
        self.peers: dict[str, Peer] = {}
        self.identity = identity_of(self.me)
        self.keys: dict[str, bytes] = {}
        """Keys of others that are not those of their names; empty for one that is not known."""
        self.handlers: dict[str, dict[str, Any]] = {}
        self.done: list[tuple[str, str]] = []
        self.implicit = False
        self.thoughts: list[port.Task] = []
        self.brain = Rules(read_windows)
        self._numbers = count(1)

    # The engine's ports.

    def value(self, value_id: str) -> Any:
        found = self.contents.get(value_id)
        return parse(found) if found is not None else None

    def packet(self, _peer: str, packet_id: str, _side: str) -> Any:
        return self.value(packet_id)

    def keyed_hash(self, data: bytes) -> str:
        return hashlib.blake2b(data, digest_size=16).hexdigest()

    def draw(self, size: int) -> bytes:
        seed = f"{self.me} {next(self._numbers)}".encode()
        return hashlib.blake2b(seed, digest_size=size).digest()

    def _peer(self, peer: str) -> Peer:
        key = self.keys.get(peer, identity_of(peer).signing_public)
        return replace(self.peers.get(peer, Peer(peer)), key=key)

    def workspace(self) -> Workspace:
        return Workspace(
            book=layered(self.book),
            values=self,
            me=self.me,
            now=self.now,
            draw=self.draw,
            peer_of=self._peer,
            signer=lambda: self.identity,
            policy=self.policy,
            profile=self.own,
            handlers=self.handlers,
            minded=not isinstance(self.brain, Rules),
            ended=remembering.finished,
            choices={"implicit_consent": "auto", "autonomy": "high"} if self.implicit else {},
        )

    def decide(self, decision: Callable[[Workspace], Any]) -> Any:
        """One decision, kept whole."""
        ws = self.workspace()
        found = decision(ws)
        self._keep(ws)
        return found

    def _keep(self, ws: Workspace) -> bool:
        self.contents.update((name, value) for name, (_, value) in ws.kept.items())
        self.log.extend(ws.records)
        self._dated.extend((one, ws.now) for one in ws.records)
        absorb(ws.book)
        self.policy = ws.policy
        for one in ws.records:
            if isinstance(one, records.Sent):
                wire = self.book.threads[one.thread_id].wire
                packet = Packet(wire, one.packet_id, one.type, self.value(one.packet_id), one.peer)
                self.out.append(packet)
                self.sent.append(packet)
                self.book.unposted.pop(one.packet_id, None)
        return bool(ws.records)

    def restarted(self) -> None:
        """What a restart leaves: the state that the records give."""
        fresh = FOLD.book()
        for record, at in self._dated:
            fold.apply(fresh, record, at)
        fresh.unposted.clear()
        assert fresh == self.book
        self.book = fresh

    # What arrives, and what the owner says.

    def receive(self, peer: str, thread_id: str, packet_id: str, kind: str, fields: dict[str, Any]) -> None:
        """Take a packet as the agent does."""
        read = schemas.normalised(kind, fields)
        self.contents[packet_id] = canonical(read)
        known = self.peers.get(peer, Peer(peer))
        if not known.heard:
            self.peers[peer] = Peer(peer, FEATURES, heard=True, version="a2acp/0.2")
        self.decide(
            lambda ws: receiving.receive(
                ws,
                peer=peer,
                packet_id=packet_id,
                thread_id=thread_id,
                packet_type=kind,
                fields=read,
                ready=next(self._numbers),
            )
        )

    def think(self, task: port.Task) -> port.Thought:
        self.thoughts.append(task)
        return asyncio.run(self.brain.think(task))

    def goal(self, text: str, peer: str = "") -> Any:
        ws = self.workspace()
        scene = scene_of(ws, peer) if ws.minded else None
        return self.think(
            port.Task(port.READ_REQUEST, self.now, self.own["timezone"], text=text, scene=scene)
        ).goal

    def ask(self, text: str, peer: str, *, urgent: bool = False) -> str:
        goal = self.goal(text, peer)
        thread_id = self.decide(lambda ws: asking.ask(ws, goal, peer, urgent=urgent))
        self.settle()
        return thread_id

    def answer(self, question: Question | None, said: Answer | None = None, **how: Any) -> None:
        """Answer; for a consent question by default with all that was asked."""
        assert question is not None
        answer = said or Answer(**how)
        self.decide(lambda ws: answering.answer(ws, question.question_id, answer))
        self.settle()

    def share_all(self, question: Question | None) -> None:
        assert question is not None
        self.answer(question, share=dict.fromkeys(self.asked(question)))

    def asked(self, question: Question) -> list[str]:
        """The fields of a consent question."""
        return [one["field"] for one in self.content(question)["fields"]]

    def content(self, question: Question) -> dict[str, Any]:
        return self.value(question.content)

    def questions(self, *kinds: str) -> list[Question]:
        return [
            one for one in self.book.questions.values() if one.is_open and (not kinds or one.kind in kinds)
        ]

    def question(self, kind: str) -> Question:
        """The one open question of a kind."""
        found = self.questions(kind)
        assert len(found) == 1, [one.kind for one in self.questions()]
        return found[0]

    def thread(self, thread_id: str) -> Thread:
        return self.book.threads[thread_id]

    def state(self, thread_id: str) -> str:
        return self.book.threads[thread_id].state.value

    def notices(self) -> list[str]:
        return [one.code for one in self.log if isinstance(one, records.Noticed)]

    def violations(self) -> list[str]:
        return [one.rule for one in self.log if isinstance(one, records.Violated)]

    # The wheel, as `tacit.agent.shell.io.agent` turns it.

    def settle(self) -> None:
        while self._turn():
            pass

    def _turn(self) -> bool:
        did = False
        if any(at <= self.now for at in self.book.due.values()):
            did = bool(self.decide(ticking.tick))
        for thread_id in list(self.book.considering):
            did = self._consider(thread_id) or did
        for thread_id in list(self.book.acting):
            did = self._act(thread_id) or did
        return did

    def _consider(self, thread_id: str) -> bool:
        ws = self.workspace()
        thread = ws.thread(thread_id)
        token = thread.consider
        waits = ws.open_questions(thread_id, "consent", "scope", "escalation")
        if not token or thread.paused or (waits and not thread.urgent):
            return False
        task = considering.reading_task(ws, thread)
        if task is not None:
            try:
                thought = self.think(task)
            except port.GenerationFailed:
                self.decide(lambda ws: considering.unwritten(ws, thread_id, token))
                return True
            self.decide(lambda ws: considering.goal_read(ws, thread_id, token, thought))
            return True
        within = considering.calendar_span(ws, view_of(ws, thread))
        busy = self._busy(within) if within is not None else None
        seen = turns.outlook(ws, thread, busy)
        try:
            thought = self.think(seen.task) if seen.task is not None else None
        except port.GenerationFailed:
            self.decide(lambda ws: considering.unwritten(ws, thread_id, token))
            return True
        ws = self.workspace()
        turns.take(ws, seen, thought)
        return self._keep(ws)

    def _busy(self, within: Span) -> Busy:
        inside = [
            Span(max(one.start, within.start), min(one.end, within.end))
            for one in self.busy
            if one.start < within.end and within.start < one.end
        ]
        return Busy(tuple(sorted(inside)), self.unclear)

    def _act(self, thread_id: str) -> bool:
        ws = self.workspace()
        thread = ws.thread(thread_id)
        found = acting.next_deed(ws, thread)
        if found is None:
            ws = self.workspace()
            acting.advance(ws, thread_id, slot_free=self._slot_free(ws, thread))
            return self._keep(ws)
        deed, undoing = found
        self.done.append(("undo" if undoing else "do", deed.action))
        result = actions.Result(actions.DONE)
        ended = acting.undone if undoing else acting.ended
        self.decide(lambda ws: ended(ws, thread_id, deed.action_id, result))
        return True

    def _slot_free(self, ws: Workspace, thread: Thread) -> bool:
        if thread.state is not State.CONFIRMED or thread.proposal is None:
            return True
        choice = proposing.choice_of(thread.proposal)
        slot = proposal_slots.slot_of(proposal_slots.chosen_details(ws, thread, choice), ws)
        return slot is None or not self._busy(slot).spans


class Desks:
    """Two owners who know each other."""

    def __init__(self, anna: Desk, ben: Desk) -> None:
        self.anna = anna
        self.ben = ben

    def settle(self) -> None:
        """Until nothing is on its way."""
        while True:
            self.anna.settle()
            self.ben.settle()
            if not self.carry():
                return

    def carry(self) -> bool:
        """Hand over what waits; whether there was anything."""
        did = False
        for sender, receiver in ((self.anna, self.ben), (self.ben, self.anna)):
            going, sender.out = sender.out, []
            for one in going:
                receiver.receive(sender.me, one.thread_id, one.packet_id, one.type, one.fields)
                did = True
        return did

    def later(self, microseconds: int) -> None:
        """Let time pass for both."""
        for one in (self.anna, self.ben):
            one.now = Moment(one.now + microseconds)
        self.settle()

    def confirmed(self) -> None:
        """Both owners say yes to what stands."""
        for one in (self.anna, self.ben):
            one.answer(one.question("checkpoint"), confirm=True)
        self.settle()


def desks(**more: Any) -> Desks:
    """Anna and Ben; `anna` and `ben` hold what differs from the usual."""
    return Desks(Desk("anna", **more.get("anna", {})), Desk("ben", **more.get("ben", {})))


def begun(both: Desks, text: str, **more: Any) -> str:
    """Anna's sentence, with her consent to all that it would send; the thread."""
    thread_id = both.anna.ask(text, both.ben.me, **more)
    for question in both.anna.questions("consent"):
        both.anna.share_all(question)
    both.settle()
    return thread_id
