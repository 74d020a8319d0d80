"""How the search for values that may not go grows: `python -m bench.agent_scan`.

A packet twice as long, and a hundred times as many values: the ratio of the time for one packet in each case to
that of the first. Growth by the packet alone reads about 2 and about 1.
"""

from __future__ import annotations

import random
import time

from tacit.a2acp.consent.scan import Scanner

WORDS = 400
VALUES = 50
ROUNDS = 30


def word(chance: random.Random, length: int) -> str:
    return "".join(chance.choice("abcdefghijklmnoprstuvw") for _ in range(length))


def packet(chance: random.Random, words: int) -> dict[str, object]:
    text = " ".join(word(chance, chance.randint(2, 10)) for _ in range(words))
    return {
        "intent": {"category": "scheduling", "summary": text},
        "context": {"party_size": 2, "timezone": "UTC"},
    }


def seconds(values: int, words: int) -> float:
    """The best time of one search."""
    chance = random.Random(7)
    scanner = Scanner(
        (f"known_{place}", f"{word(chance, 7)} {word(chance, chance.randint(3, 9))}")
        for place in range(values)
    )
    body = packet(chance, words)
    best = float("inf")
    for _ in range(ROUNDS):
        begun = time.thread_time()
        scanner.hits(body)
        best = min(best, time.thread_time() - begun)
    return best


def main() -> None:
    seconds(VALUES, WORDS)
    base = seconds(VALUES, WORDS)
    print(f"{WORDS} words, {VALUES} values: {base * 1000:.2f} ms")
    print(f"packet x2:   {seconds(VALUES, 2 * WORDS) / base:.2f}")
    print(f"values x100: {seconds(100 * VALUES, WORDS) / base:.2f}")


if __name__ == "__main__":
    main()
