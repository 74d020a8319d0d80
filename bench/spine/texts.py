"""What the load says: messages of about eighty characters, the same for the hub and for what stands beside it."""

from __future__ import annotations

import random
from typing import Final

PROSE: Final = (
    "the build is green again but one test still fails on slow machines when reader connects late we should "
    "check whether retry keeps order after restart I pushed a fix for parser and added two cases please look "
    "at cursor before merging deploy waits until somebody has read notes about migration from old schema "
    "nobody answered customer question yesterday so this goes first can you take review while I finish "
    "profile memory grows only with open connections not with history writer commits batch every few "
    "milliseconds which seems fine numbers are in table below thanks will do now"
)
WORDS: Final = PROSE.split()
POOL: Final = 4096


def messages(seed: int = 7) -> list[str]:
    """A pool of distinct messages, each around eighty characters, with a number as people drop them."""
    dice = random.Random(seed)
    pool: list[str] = []
    for _ in range(POOL):
        words: list[str] = []
        while sum(len(word) + 1 for word in words) < 70:
            words.append(dice.choice(WORDS))
        pool.append(" ".join((*words, f"#{dice.randrange(10_000)}")).capitalize())
    return pool


class ClientIds:
    """Idempotency keys as most clients make them: random, so that they fall anywhere in an index."""

    def __init__(self, seed: int) -> None:
        self._draw = random.Random(seed).getrandbits

    def __call__(self) -> str:
        return f"{self._draw(128):032x}"
