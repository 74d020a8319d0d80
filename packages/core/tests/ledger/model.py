"""A second, much simpler ledger for the state machine: lists and sets, no store, none of the product's code.

Each verb answers what the ledger must answer: `("landed", seq)`, `("repeat", seq)` or a code.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

WINDOW = 300_000_000
HUMANS = ("user", "usr:eve")
ROLES = {"@peers": "peer", "@foreman": "foreman"}
Answer = tuple[Any, ...] | str


@dataclass
class Said:
    seq: int
    kind: str
    by: str
    everyone: bool = False
    named: frozenset[str] = frozenset()
    private: bool = False
    attention: bool = False

    @property
    def parties(self) -> frozenset[str]:
        return self.named | {self.by}

    def visible_to(self, who: str) -> bool:
        return not self.private or who == "user" or who in self.parties


@dataclass
class Member:
    role: str | None
    joined: int
    here: bool = True


@dataclass
class Room:
    events: list[Said] = field(default_factory=list)
    actors: dict[str, Member] = field(default_factory=dict)
    people: dict[str, int] = field(default_factory=dict)
    cursors: dict[str, tuple[int, int]] = field(default_factory=dict)
    duties: set[tuple[str, int]] = field(default_factory=set)
    notices: set[tuple[str, int]] = field(default_factory=set)
    marks: dict[tuple[Any, ...], tuple[int, bool]] = field(default_factory=dict)
    keys: dict[tuple[str, str], tuple[int, int, Any]] = field(default_factory=dict)
    context: dict[str, Any] = field(default_factory=dict)
    clock: int = 0

    # Who is who

    def present(self) -> list[str]:
        return [name for name, member in self.actors.items() if member.here]

    def addressable(self, who: str) -> bool:
        return who == "user" or who in self.present() or who in self.people

    def member(self, who: str) -> bool:
        return self.addressable(who) or who == "system" or who.startswith("svc:")

    def recipients(self, said: Said) -> set[str]:
        """At the time of saying."""
        names = set(said.named) | (set(self.present()) if said.everyone else set())
        return {name for name in names if self.addressable(name)} - {said.by}

    def was_addressed(self, said: Said, who: str) -> bool:
        if said.by == who:
            return False
        if who in said.named:
            return True
        return said.everyone and who in self.actors and self.actors[who].joined < said.seq

    # What is asked

    def unread(self, who: str) -> list[int]:
        joined = self.actors[who].joined if who in self.actors else self.people.get(who, 0)
        start = max(self.cursors.get(who, (0, 0))[0], joined)
        return [
            said.seq
            for said in self.events
            if said.seq > start
            and said.kind in {"chat.message", "system.notify"}
            and said.by != who
            and (who in said.named or said.everyone)
        ]

    def owed(self, who: str) -> list[int]:
        return sorted(seq for name, seq in self.duties if name == who)

    def asked(self, who: str) -> list[int]:
        return sorted(seq for name, seq in self.notices if name == who)

    def visible(self, who: str) -> list[int]:
        return [said.seq for said in self.events if said.visible_to(who)]

    # What happens

    def land(self, said: Said, now: int) -> Answer:
        self.clock = max(now, self.clock)
        self.events.append(said)
        return ("landed", said.seq)

    @property
    def next(self) -> int:
        return len(self.events) + 1

    def target(self, seq: int, by: str) -> Said | None:
        found = self.events[seq - 1] if 0 < seq <= len(self.events) else None
        return found if found is not None and found.visible_to(by) else None

    def audience(self, by: str, to: list[str], dm: str | None, replied: Said | None) -> Said | str:
        inside = replied is not None and replied.private
        tokens = list(dict.fromkeys("user" if token == "@user" else token for token in to))
        if inside and replied is not None and not tokens and dm in {None, "dm"}:
            others = {name for name in replied.parties if name != by and self.member(name)}
            return Said(0, "chat.message", by, named=frozenset(others), private=True)
        everyone, named = not tokens, set()
        for token in tokens:
            if token == "@all":
                everyone = True
            elif token in {"@peers", "@foreman"}:
                named |= {name for name in self.present() if self.actors[name].role == ROLES[token]}
            elif token.startswith("@"):
                return "invalid_request"
            elif not self.addressable(token):
                return "actor_not_found"
            else:
                named.add(token)
        named.discard(by)
        concrete = bool(tokens) and not any(token.startswith("@") for token in tokens)
        if dm == "dm":
            if not concrete:
                return "invalid_request"
            private = True
        elif dm == "channel":
            private = False
        elif replied is None:
            private = concrete and len(tokens) == 1
        else:
            private = inside and not everyone
        return Said(0, "chat.message", by, everyone, frozenset(named), private)

    def say(
        self,
        by: str,
        now: int,
        to: list[str],
        attention: bool,
        dm: str | None,
        reply: int | None,
        key: str | None,
    ) -> Answer:
        if not self.member(by):
            return "permission_denied"
        payload = (to, attention, dm, reply)
        if key is not None and (by, key) in self.keys:
            seq, at, before = self.keys[by, key]
            if now - at <= WINDOW:
                return ("repeat", seq) if before == payload else "idempotency_conflict"
        replied = None
        if reply is not None and (replied := self.target(reply, by)) is None:
            return "event_not_found"
        said = self.audience(by, to, dm, replied)
        if isinstance(said, str):
            return said
        said.seq, said.attention = self.next, attention
        if attention:
            self.duties |= {(name, said.seq) for name in self.recipients(said)}
        answer = self.land(said, now)
        if key is not None:
            self.keys[by, key] = (said.seq, self.clock, payload)
        return answer

    def sign(self, kind: str, by: str, target: Said, now: int) -> int:
        """An event about another one is as private as that one."""
        named = target.parties if target.private else frozenset()
        said = Said(self.next, kind, by, named=named, private=target.private)
        self.land(said, now)
        return said.seq

    def ack(self, by: str, now: int, actor: str, seq: int, *, notice: bool) -> Answer:
        if not self.member(by):
            return "permission_denied"
        if notice and by.startswith("svc:"):
            return "permission_denied"
        if not self.addressable(actor):
            return "actor_not_found"
        if by != actor:
            return "permission_denied"
        target = self.target(seq, by)
        if target is None:
            return "event_not_found"
        if notice:
            human = actor in HUMANS and target.everyone and target.by != actor
            if target.kind != "system.notify" or not (self.was_addressed(target, actor) or human):
                return "invalid_request"
        elif not target.attention or not self.was_addressed(target, actor):
            return "invalid_request"
        key = ("notice" if notice else "ack", seq, actor)
        if key in self.marks:
            return ("repeat", self.marks[key][0])
        made = self.sign("system.notify_ack" if notice else "chat.ack", by, target, now)
        self.marks[key] = (made, True)
        (self.notices if notice else self.duties).discard((actor, seq))
        return ("landed", made)

    def read(self, by: str, now: int, actor: str, seq: int) -> Answer:
        if not self.member(by):
            return "permission_denied"
        if not self.addressable(actor):
            return "actor_not_found"
        if by not in {actor, "user"}:
            return "permission_denied"
        target = self.target(seq, by)
        if target is None:
            return "event_not_found"
        human = actor in HUMANS and target.everyone and target.by != actor
        if target.kind not in {"chat.message", "system.notify"} or not (
            self.was_addressed(target, actor) or human
        ):
            return "invalid_request"
        position, said = self.cursors.get(actor, (0, 0))
        if position >= seq:
            return ("repeat", said)
        made = self.sign("chat.read", by, target, now)
        self.cursors[actor] = (seq, made)
        return ("landed", made)

    def react(self, by: str, now: int, actor: str, seq: int, emoji: str, *, removed: bool) -> Answer:
        if not self.member(by):
            return "permission_denied"
        target = self.target(seq, by)
        if target is None:
            return "event_not_found"
        if by != actor:
            return "permission_denied"
        if target.kind != "chat.message":
            return "invalid_request"
        key = ("reaction", seq, actor, emoji)
        made, holds = self.marks.get(key, (0, False))
        if not made and removed:
            return "invalid_request"
        if made and holds != removed:
            return ("repeat", made)
        seq = self.sign("chat.reaction", by, target, now)
        self.marks[key] = (seq, not removed)
        return ("landed", seq)

    def notify(self, by: str, now: int, target: str | None, *, requires_ack: bool) -> Answer:
        if not self.member(by) or not (by in {"user", "system"} or by.startswith("svc:")):
            return "permission_denied"
        if target is not None and not self.addressable(target):
            return "actor_not_found"
        named = frozenset() if target in {None, by} else frozenset({target})
        said = Said(self.next, "system.notify", by, everyone=target is None, named=named)
        if requires_ack:
            self.notices |= {(name, said.seq) for name in self.recipients(said)}
        return self.land(said, now)

    def keeper(self, by: str) -> bool:
        return by in {"user", "system"} or (by in self.present() and self.actors[by].role == "foreman")

    def add(self, by: str, now: int, name: str, role: str | None) -> Answer:
        if not self.member(by) or not self.keeper(by):
            return "permission_denied"
        if name in self.actors:
            return "invalid_request"
        self.actors[name] = Member(role, self.next)
        return self.land(Said(self.next, "actor.add", by), now)

    def remove(self, by: str, now: int, name: str) -> Answer:
        if not self.member(by) or not self.keeper(by):
            return "permission_denied"
        if name not in self.present():
            return "actor_not_found"
        self.actors[name].here = False
        self.duties = {duty for duty in self.duties if duty[0] != name}
        self.notices = {duty for duty in self.notices if duty[0] != name}
        return self.land(Said(self.next, "actor.remove", by), now)

    def update(self, by: str, now: int, name: str, role: str | None) -> Answer:
        if not self.member(by) or not self.keeper(by):
            return "permission_denied"
        if name not in self.present():
            return "actor_not_found"
        self.actors[name].role = role
        return self.land(Said(self.next, "actor.update", by), now)

    def person(self, now: int) -> Answer:
        if "usr:eve" in self.people:
            return "invalid_request"
        self.people["usr:eve"] = self.next
        return self.land(Said(self.next, "x.tacit.person.add", "user"), now)

    def sync(self, by: str, now: int, ops: list[tuple[str, int | None]]) -> Answer:
        if not self.member(by) or by == "system":
            return "permission_denied"
        for key, value in ops:
            if value is None:
                self.context.pop(key, None)
            else:
                self.context[key] = value
        return self.land(Said(self.next, "context.sync", by), now)
