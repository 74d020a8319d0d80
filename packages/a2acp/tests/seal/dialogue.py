"""A conversation of our own sealing with the reference peer, over a way that reorders; each step is recorded."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from typing import Any

from tacit.seal import session, x3dh
from tests.post_support import ALICE, BOB, Person, Repeatable
from tests.seal.reference import Bound, Keys, ReferencePeer, dh_public

OURS, REFERENCE, BOTH = "ours", "reference", "both"


def fit(length: int) -> int:
    return -(-length // 64) * 64


def keys_of(person: Person) -> Keys:
    return Keys(
        person.me.signing_seed,
        person.me.agreement_private,
        person.secrets.signed_keys[1],
        dict(person.secrets.singles),
    )


@dataclass
class Flying:
    by: str
    bound: Bound
    body: bytes
    payload: bytes


@dataclass
class Dialogue:
    """Ours is alice, the reference peer is bob."""

    seed: str
    kind: int = x3dh.ONE_TIME
    steps: list[dict[str, Any]] = field(default_factory=list)
    flying: list[Flying] = field(default_factory=list)
    opened: int = 0

    def __post_init__(self) -> None:
        self.us, self.them = Person(f"{self.seed} us", ALICE), Person(f"{self.seed} them", BOB)
        self.peer = ReferencePeer(
            keys_of(self.them),
            (self.us.me.signing_public, self.us.me.agreement_public),
            Repeatable(f"{self.seed} peer"),
        )
        self.sessions: tuple[session.RatchetSession, ...] = ()
        self._count = 0

    def begin(self, by: str) -> None:
        if by in {OURS, BOTH}:
            begun = session.begin(
                self.us.me, self.them.me.public, self.them.prekeys(self.kind), self.us.entropy
            )
            self.sessions = session.with_new(self.sessions, begun)
            self.steps.append({"do": "begin", "kind": self.kind})
        if by in {REFERENCE, BOTH}:
            ours = keys_of(self.us)
            single = 7 if self.kind == x3dh.ONE_TIME else 9
            signature = ours.state(b"").bundle.signed_pre_key_sig
            self.peer.begin(
                (1, dh_public(ours.signed), signature),
                (self.kind, single, dh_public(ours.singles[self.kind, single])),
            )

    def say(self, by: str) -> Flying:
        self._count += 1
        payload = f"message {self._count} of {by}".encode()
        ways = (ALICE, BOB) if by == OURS else (BOB, ALICE)
        bound = Bound(*ways, f"pkt_{self._count:08d}", b'{"n":%d}' % self._count)
        body = self._ours(payload, bound) if by == OURS else self.peer.seal(payload, bound, 192)
        said = Flying(by, bound, body, payload)
        self.flying.append(said)
        return said

    def _ours(self, payload: bytes, bound: Bound) -> bytes:
        after, body = session.seal(
            self.us.me, self.them.me.public, self.sessions[0], payload, _binding(bound), fit, self.us.entropy
        )
        self.sessions = session.with_new(self.sessions, after)
        self.steps.append({"do": "seal", **_fields(bound, payload, body)})
        return body

    def hear(self, said: Flying) -> None:
        """The other side opens it; anything but the payload is a failure."""
        self.flying.remove(said)
        if said.by == OURS:
            assert self.peer.open(said.body, said.bound) == said.payload
        else:
            opened = session.open_body(
                self.us.me,
                self.them.me.public,
                self.sessions,
                self.us.secrets,
                said.body,
                _binding(said.bound),
                self.us.entropy,
            )
            assert opened.payload == said.payload
            self.sessions = opened.sessions
            self.steps.append({"do": "open", **_fields(said.bound, said.payload, said.body)})
        self.opened += 1

    def can_say(self, by: str) -> bool:
        return bool(self.sessions if by == OURS else self.peer.sessions)

    def run(self, turns: int) -> int:
        """Say and hear at random, then hear all that is left, in any order; how many were opened."""
        chance = random.Random(self.seed)
        for _ in range(turns):
            if self.flying and chance.random() < 0.5:
                self.hear(chance.choice(self.flying))
            else:
                self.say(chance.choice([by for by in (OURS, REFERENCE) if self.can_say(by)]))
        while self.flying:
            self.hear(chance.choice(self.flying))
        return self.opened


def _binding(bound: Bound) -> session.Binding:
    return session.Binding(bound.sender, bound.recipient, bound.packet_id, bound.header)


def _fields(bound: Bound, payload: bytes, body: bytes) -> dict[str, str]:
    return {
        "packet_id": bound.packet_id,
        "header": bound.header.decode(),
        "payload": payload.decode(),
        "body": body.hex(),
    }
