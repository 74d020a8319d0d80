"""The agents of the tests: a clock that is told the time, entropy that counts, and short ways to messages."""

from __future__ import annotations

import itertools
import json
from typing import Any

from tacit.base.moment import SECOND, Moment
from tacit.language import Author, Message, parse
from tools.places import ROOT

VECTORS = ROOT / "tests" / "conformance" / "vectors" / "clowl"
START = 1_709_078_400


class Clock:
    def __init__(self, seconds: int = START) -> None:
        self.seconds = seconds

    def now(self) -> Moment:
        return Moment(self.seconds * SECOND)


class Entropy:
    """Counts upwards, for all agents together, so that no two ever draw the same."""

    counter = itertools.count(1)

    def draw(self, count: int) -> bytes:
        return (next(self.counter) << 17).to_bytes(count, "big")


def value(p: str = "REQ", d: dict[str, Any] | None = None, **members: Any) -> dict[str, Any]:
    """A message as plain JSON; `from_` and `t` stand for `from` and `body.t`; `...` leaves a member out."""
    found: dict[str, Any] = {
        "clowl": "0.2",
        "mid": "m1",
        "ts": START,
        "p": p,
        "from": "oscar",
        "to": "radar",
        "cid": "c1",
        "body": {"t": members.pop("t", "search"), "d": d or {}},
    }
    for written, item in members.items():
        name = written.removesuffix("_")
        if item is ...:
            found.pop(name, None)
        else:
            found[name] = item
    return found


def message(p: str = "REQ", d: dict[str, Any] | None = None, **members: Any) -> Message:
    return parse(json.dumps(value(p, d, **members)).encode())


def author(agent: str, clock: Clock | None = None) -> Author:
    return Author(agent, clock or Clock(), Entropy())


def vectors(kind: str) -> list[dict[str, Any]]:
    return [
        {**vector, "file": path.stem}
        for path in sorted(VECTORS.glob(f"{kind}/*.json"))
        for vector in json.loads(path.read_text(encoding="utf-8"))
    ]


def text_of(vector: dict[str, Any]) -> bytes:
    return bytes.fromhex(vector["hex"]) if "hex" in vector else vector["text"].encode()
