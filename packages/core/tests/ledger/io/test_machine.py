"""The store against the model: random rooms, random talk, the same answers and the same views."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule

from tacit.base.errors import Refused
from tacit.ledger.commands import Committed, Duplicate
from tacit.ledger.envelope import decode
from tests.ledger.model import Room
from tests.ledger.world import World, submit

GROUPS = st.sampled_from(["g_a", "g_a", "g_b"])
NAMES = st.sampled_from(["ann", "bob", "boss", "cid"])
WRITERS = st.sampled_from(["user", "ann", "bob", "boss", "cid", "svc:bot", "usr:eve"])
ANYBODY = WRITERS | st.just("system")
TOKENS = st.sampled_from(
    ["@all", "@peers", "@foreman", "@user", "user", "ann", "bob", "boss", "cid", "usr:eve", "@nope"]
)
LIKELY = ["@all", "@peers", "@foreman", "@user", "user", "ann", "bob", "boss", "ann", "bob"]
BACK = st.integers(0, 12)
"""How far back from the end a target lies; the newest events are the ones that people answer."""
ROLES = st.sampled_from(["foreman", "peer", "peer", None])


class Ledgers(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp(prefix="machine-"))
        self.world = World(self.folder / "data")
        self.rooms: dict[str, Room] = {}
        self.ids: dict[tuple[str, int], str] = {}
        self.raws: dict[str, list[bytes]] = {}

    def teardown(self) -> None:
        try:
            for group in self.rooms:
                assert [found.raw for found in self.world.page(group)] == self.raws[group]
            self.world.assert_rebuilds()
            self.world.reopen()
            for group in self.rooms:
                self.look(group)
        finally:
            self.world.close()
            shutil.rmtree(self.folder)

    @initialize(first=ROLES, second=ROLES, seed=st.integers(0, 2**32))
    def rooms_open(self, first: str | None, second: str | None, seed: int) -> None:
        for group in ("g_a", "g_b"):
            self.world.group(group)
            self.rooms[group] = Room()
            self.raws[group] = []
            self.rooms[group].land(_created(), self.world.clock.at)
            self.keep(group, self.world.page(group)[0].raw)
            for name, role in (("boss", "foreman"), ("ann", first), ("bob", second)):
                answer = self.rooms[group].add("user", self.world.clock.at, name, role)
                self.ask(group, "user", "actor.add", answer, actor_id=name, role=role)
        self.busy_hour(seed)

    @rule(seed=st.integers(0, 2**32))
    def busy_hour(self, seed: int) -> None:
        """Sixty likely things in a row: Hypothesis alone seldom gets a conversation going."""
        random = Random(seed)
        for _ in range(60):
            self.something(random)

    def something(self, random: Random) -> None:
        group = random.choice(["g_a", "g_a", "g_b"])
        room = self.rooms[group]
        by = random.choice(["user", "user", *room.present(), *room.people, "svc:bot"])
        back = min(random.randrange(12), random.randrange(12))
        other = random.choice([None, None, None, "ann", "user"])
        reader = random.choice([*room.present(), "user"])
        to = [random.choice(LIKELY) for _ in range(random.choice([0, 1, 1, 2, 3]))]
        reply = random.choice([None, None, back])
        dm, key = random.choice([None, None, None, "dm", "channel"]), random.choice([None, None, "k1", "k2"])
        attention, flag = random.random() < 0.5, random.random() < 0.3
        match random.randrange(40):
            case n if n < 16:
                self.say(group, by, to, attention, dm, reply, key)
            case n if n < 20:
                self.ack_what_is_owed(group, random.choice([*room.present(), "user"]), flag)
            case n if n < 22:
                self.ack(group, by, other, back)
            case n if n < 26 and (unread := room.unread(reader)):
                seq = random.choice(unread)
                self.read(group, random.choice([reader, "user"]), reader, len(room.events) - seq)
            case n if n < 28:
                self.read(group, by, other, back)
            case n if n < 30:
                self.react(group, by, other, back, random.choice("+-"), flag)
            case n if n < 32:
                self.notify(group, random.choice(["user", "system", "svc:bot"]), other, attention)
            case n if n < 34 and (asked := room.asked(reader)):
                self.acknowledge_notice(group, reader, None, len(room.events) - random.choice(asked))
            case n if n < 34:
                self.acknowledge_notice(group, by, other, back)
            case 34:
                self.add(
                    group, by, random.choice(["ann", "bob", "cid"]), random.choice(["peer", "foreman", None])
                )
            case 35:
                self.update(group, by, reader, random.choice(["peer", "foreman", None]))
            case 36:
                self.sync(group, by, [(random.choice("xyz"), random.choice([None, 1, 2]))])
            case 37 if flag:
                self.remove(group, by, reader)
            case 38:
                self.bring_a_person(group)
            case _:
                self.time_passes(random.choice([1, 299, 300, 301, -1, -400]))

    def keep(self, group: str, raw: bytes) -> None:
        self.raws[group].append(raw)
        event = decode(raw)
        self.ids[group, event.seq] = event.id

    def ask(self, group: str, by: str, kind: str, expected: Any, /, **data: Any) -> None:
        """Submit; the answer must be the model's."""
        try:
            outcome: object = submit(self.world.store, group, by, kind, **data)
        except Refused as refused:
            outcome = refused
        if isinstance(outcome, Refused):
            assert outcome.code == expected, outcome
            return
        if isinstance(outcome, Duplicate):
            assert ("repeat", outcome.event.seq) == expected
        else:
            assert isinstance(outcome, Committed)
            assert ("landed", outcome.event.seq) == expected
            self.keep(group, outcome.event.raw)
            event = decode(outcome.event.raw)
            assert (event.by, event.kind, event.seq) == (by, kind, len(self.raws[group]))
        self.look(group)

    def look(self, group: str) -> None:
        """Every view of everybody."""
        room = self.rooms[group]
        for who in ("user", "ann", "bob", "boss", "cid", "usr:eve"):
            assert [found.seq for found in self.world.page(group, who)] == room.visible(who), who
            if not room.addressable(who):
                continue
            inbox = self.world.inbox(group, who)
            assert [found.seq for found in inbox.unread] == room.unread(who), who
            assert inbox.unread_count == len(inbox.unread)
            assert [found.seq for found in inbox.attention] == room.owed(who), who
            assert inbox.attention_count == len(inbox.attention)
            assert [found.seq for found in inbox.notices] == room.asked(who), who
            assert inbox.cursor == room.cursors.get(who, (0, 0))[0]
        state = self.world.state(group)
        assert state.last_seq == len(room.events)
        assert self.world.store.read(lambda reader: reader.context(state, "context")) == room.context

    def target(self, group: str, back: int) -> tuple[int, str]:
        seq = max(1, len(self.rooms[group].events) - back)
        return seq, self.ids[group, seq]

    @rule(
        group=GROUPS,
        by=WRITERS,
        to=st.lists(TOKENS, max_size=3),
        attention=st.booleans(),
        dm=st.sampled_from([None, None, None, "dm", "channel"]),
        reply=st.none() | BACK,
        key=st.sampled_from([None, None, "k1", "k2"]),
    )
    def say(
        self,
        group: str,
        by: str,
        to: list[str],
        attention: bool,
        dm: str | None,
        reply: int | None,
        key: str | None,
    ) -> None:
        seq, event_id = self.target(group, reply) if reply is not None else (None, None)
        expected = self.rooms[group].say(by, self.world.clock.at, to, attention, dm, seq, key)
        data: dict[str, Any] = {"text": "words", "to": to, "priority": "attention" if attention else "normal"}
        data |= {"reply_to": event_id} if event_id else {}
        data |= {"conversation": {"kind": dm}} if dm else {}
        data |= {"client_id": key} if key else {}
        self.ask(group, by, "chat.message", expected, **data)

    @rule(group=GROUPS, by=WRITERS, other=st.none() | NAMES, back=BACK)
    def ack(self, group: str, by: str, other: str | None, back: int) -> None:
        seq, event_id = self.target(group, back)
        expected = self.rooms[group].ack(by, self.world.clock.at, other or by, seq, notice=False)
        self.ask(group, by, "chat.ack", expected, actor_id=other or by, event_id=event_id)

    @rule(group=GROUPS, who=NAMES, first=st.booleans())
    def ack_what_is_owed(self, group: str, who: str, first: bool) -> None:
        room = self.rooms[group]
        if owed := room.owed(who):
            seq = owed[0] if first else owed[-1]
            expected = room.ack(who, self.world.clock.at, who, seq, notice=False)
            self.ask(group, who, "chat.ack", expected, actor_id=who, event_id=self.ids[group, seq])

    @rule(group=GROUPS, by=WRITERS, other=st.none() | NAMES | st.just("user"), back=BACK)
    def read(self, group: str, by: str, other: str | None, back: int) -> None:
        seq, event_id = self.target(group, back)
        expected = self.rooms[group].read(by, self.world.clock.at, other or by, seq)
        self.ask(group, by, "chat.read", expected, actor_id=other or by, event_id=event_id)

    @rule(
        group=GROUPS,
        by=WRITERS,
        other=st.none() | NAMES,
        back=BACK,
        emoji=st.sampled_from("+-"),
        removed=st.booleans(),
    )
    def react(self, group: str, by: str, other: str | None, back: int, emoji: str, removed: bool) -> None:
        seq, event_id = self.target(group, back)
        expected = self.rooms[group].react(by, self.world.clock.at, other or by, seq, emoji, removed=removed)
        data = {"actor_id": other or by, "event_id": event_id, "emoji": emoji, "removed": removed}
        self.ask(group, by, "chat.reaction", expected, **data)

    @rule(group=GROUPS, by=ANYBODY, to=st.none() | NAMES | st.just("user"), asks=st.booleans())
    def notify(self, group: str, by: str, to: str | None, asks: bool) -> None:
        expected = self.rooms[group].notify(by, self.world.clock.at, to, requires_ack=asks)
        self.ask(group, by, "system.notify", expected, kind="info", target_actor_id=to, requires_ack=asks)

    @rule(group=GROUPS, by=WRITERS, other=st.none() | NAMES, back=BACK)
    def acknowledge_notice(self, group: str, by: str, other: str | None, back: int) -> None:
        seq, event_id = self.target(group, back)
        expected = self.rooms[group].ack(by, self.world.clock.at, other or by, seq, notice=True)
        self.ask(group, by, "system.notify_ack", expected, actor_id=other or by, notify_event_id=event_id)

    @rule(group=GROUPS, by=ANYBODY, name=NAMES, role=ROLES)
    def add(self, group: str, by: str, name: str, role: str | None) -> None:
        expected = self.rooms[group].add(by, self.world.clock.at, name, role)
        self.ask(group, by, "actor.add", expected, actor_id=name, role=role)

    @rule(group=GROUPS, by=ANYBODY, name=NAMES, role=ROLES)
    def update(self, group: str, by: str, name: str, role: str | None) -> None:
        expected = self.rooms[group].update(by, self.world.clock.at, name, role)
        self.ask(group, by, "actor.update", expected, actor_id=name, role=role)

    @rule(group=GROUPS, by=ANYBODY, name=NAMES)
    def remove(self, group: str, by: str, name: str) -> None:
        expected = self.rooms[group].remove(by, self.world.clock.at, name)
        self.ask(group, by, "actor.remove", expected, actor_id=name)

    @rule(group=GROUPS)
    def bring_a_person(self, group: str) -> None:
        expected = self.rooms[group].person(self.world.clock.at)
        self.ask(group, "user", "x.tacit.person.add", expected, principal="usr:eve")

    @rule(
        group=GROUPS,
        by=ANYBODY,
        ops=st.lists(
            st.tuples(st.sampled_from("xyz"), st.none() | st.integers(0, 9)), min_size=1, max_size=3
        ),
    )
    def sync(self, group: str, by: str, ops: list[tuple[str, int | None]]) -> None:
        expected = self.rooms[group].sync(by, self.world.clock.at, ops)
        data = [
            {"op": "delete", "key": k} if v is None else {"op": "set", "key": k, "value": v} for k, v in ops
        ]
        self.ask(group, by, "context.sync", expected, ops=data)

    @rule(seconds=st.sampled_from([0.000001, 1, 299, 300, 301, -1, -400]))
    def time_passes(self, seconds: float) -> None:
        self.world.clock.move(seconds)

    @rule()
    def restart(self) -> None:
        self.world.reopen()
        for group in self.rooms:
            self.look(group)


def _created() -> Any:
    from tests.ledger.model import Said

    return Said(1, "group.create", "user")


TestLedgers = Ledgers.TestCase
TestLedgers.settings = settings(
    max_examples=12,
    stateful_step_count=15,
    deadline=None,
    database=None,
    derandomize=True,
    suppress_health_check=list(HealthCheck),
)
TestLedgers = pytest.mark.spec(
    "CCCS-018", "CCCS-026", "CCCS-031", "CCCS-050", "CCCS-055", "CCCS-058", "CCCS-061", "CCCS-065", "CCCS-071",
    "CCCS-072", "CCCS-110",
)(TestLedgers)  # fmt: skip
