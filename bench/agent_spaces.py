"""The merge of a space's updates beside decoding them, and what a replica takes: `python -m bench.agent_spaces`.

Ten thousand updates of one space in packets of a hundred, decoded as the post hands them on; then judged and taken by the
merge. And the memory of a replica with as many updates to few fields as to many: it grows with the fields, not the
updates.
"""

from __future__ import annotations

import time
import tracemalloc
from typing import Any

from tacit.agent.spaces import merge
from tacit.agent.spaces.levels import FULL_WRITE
from tacit.agent.spaces.state import Cell
from tacit.base.moment import SECOND, Moment, parse_rfc3339, rfc3339
from tacit.base.strict_json import canonical, parse

UPDATES = 10_000
IN_ONE = 100
CREATED = Moment(1_700_000_000 * SECOND)
NOW = Moment(CREATED + 30 * 24 * 3600 * SECOND)
AUTHORS = ("agent:anna@relay.test", "agent:ben@relay.test", "agent:carl@relay.test")


def packets(fields: int) -> list[tuple[str, bytes]]:
    """Updates as they come: their authors and their bytes."""
    found: list[tuple[str, bytes]] = []
    for start in range(0, UPDATES, IN_ONE):
        changes = [
            {
                "field": f"next_actions/itm_{number % fields:06d}",
                "value": {"task": f"run playtest {number}", "assigned_to": "ben", "due": "2026-03-28"},
                "v": 1 + number // fields,
                "at": rfc3339(Moment(CREATED + number * SECOND)),
                "mark": "00" * 16,
            }
            for number in range(start, start + IN_ONE)
        ]
        body = {"space_id": "spc_project_alpha", "changes": changes}
        found.append((AUTHORS[start // IN_ONE % 3], canonical(body)))
    return found


def merged(decoded: list[tuple[str, Any]]) -> dict[str, Cell]:
    """A replica that has taken them all."""
    held: dict[str, Cell] = {}
    for author, body in decoded:
        for one in body["changes"]:
            at = parse_rfc3339(one["at"])
            before = held.get(one["field"])
            new = merge.Version(one["v"], at or Moment(0), author)
            if merge.fault(before, new, level=FULL_WRITE, created=CREATED, now=NOW, room=True) is None:
                owner = before.owner if before is not None else author
                held[one["field"]] = Cell(new.v, new.at, author, owner, mark=one["mark"])
    return held


def spaces() -> dict[str, Any]:
    """Seconds of both, best of three, and bytes of a replica for each field."""
    said = packets(500)
    decoding = merging = float("inf")
    for _ in range(3):
        begun = time.thread_time()
        decoded = [(author, parse(raw)) for author, raw in said]
        decoding = min(decoding, time.thread_time() - begun)
        begun = time.thread_time()
        merged(decoded)
        merging = min(merging, time.thread_time() - begun)
    each: list[float] = []
    for fields in (50, 500):
        decoded = [(author, parse(raw)) for author, raw in packets(fields)]
        tracemalloc.start()
        held = merged(decoded)
        each.append(tracemalloc.get_traced_memory()[0] / len(held))
        tracemalloc.stop()
    return {
        "updates": UPDATES,
        "decode_ms": round(decoding * 1000, 1),
        "merge_ms": round(merging * 1000, 1),
        "ratio": round(decoding / merging, 2),
        "few_bytes": round(each[0]),
        "many_bytes": round(each[1]),
    }


def rows(found: dict[str, Any]) -> list[tuple[str, str, str, str, str, bool]]:
    """For the table: what, ours, beside it, ratio, target, met."""
    return [
        (
            f"Merge of {found['updates']:,} updates of one space", f"{found['merge_ms']:g} ms",
            f"decoding them: {found['decode_ms']:g} ms", f"{found['ratio']:g}x", "≥ 0.33x", found["ratio"] >= 0.33,
        ),
        (
            "A replica's memory for each field, 500 fields", f"{found['many_bytes']} bytes",
            f"50 fields, the same updates: {found['few_bytes']} bytes",
            f"{found['many_bytes'] / found['few_bytes']:.2f}x", "≤ 1.5x",
            found["many_bytes"] <= 1.5 * found["few_bytes"],
        ),
    ]  # fmt: skip


if __name__ == "__main__":
    print(spaces())
