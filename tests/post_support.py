"""What the tests of wire, seal, relay and agent share: entropy that repeats, and a pair of people."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field

from tacit.seal import identity, x3dh
from tacit.wire import buckets

ALICE = "agent:alice@a.example"
BOB = "agent:bob@b.example"


class Repeatable:
    """Entropy from a seed, the same in every run."""

    def __init__(self, seed: str = "seed") -> None:
        self._seed = seed.encode()
        self._count = 0

    def draw(self, count: int) -> bytes:
        out = b""
        while len(out) < count:
            self._count += 1
            out += hashlib.sha256(self._seed + self._count.to_bytes(8, "big")).digest()
        return out[:count]


@dataclass
class Secrets:
    """Our own prekeys by id."""

    signed_keys: dict[int, bytes] = field(default_factory=dict)
    singles: dict[tuple[int, int], bytes] = field(default_factory=dict)

    def signed(self, identifier: int) -> bytes | None:
        return self.signed_keys.get(identifier)

    def single(self, kind: int, identifier: int) -> bytes | None:
        return self.singles.get((kind, identifier))


@dataclass
class Person:
    """An identity with prekeys."""

    name: str
    address: str
    entropy: Repeatable = field(init=False)
    me: identity.Identity = field(init=False)
    secrets: Secrets = field(init=False)

    def __post_init__(self) -> None:
        self.entropy = Repeatable(self.name)
        self.me = identity.generate(self.entropy)
        self.secrets = Secrets(
            {1: self.entropy.draw(32)},
            {(x3dh.ONE_TIME, 7): self.entropy.draw(32), (x3dh.LAST_RESORT, 9): self.entropy.draw(32)},
        )

    def prekeys(self, kind: int = x3dh.ONE_TIME) -> x3dh.PublicPrekeys:
        from tacit.seal.primitives import agreement_public

        single = 7 if kind == x3dh.ONE_TIME else 9
        return x3dh.PublicPrekeys(
            1,
            agreement_public(self.secrets.signed_keys[1]),
            single,
            agreement_public(self.secrets.singles[kind, single]),
            kind,
        )


def people() -> tuple[Person, Person]:
    return Person("alice", ALICE), Person("bob", BOB)


fit = buckets.bucket_for
