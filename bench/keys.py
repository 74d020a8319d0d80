"""What it costs that an agent's keys are really gone, and encrypted while they live: `python -m bench.keys`.

One step as an agent takes it for every packet of 1 KB that it sends: read the session, seal, keep the session after it
and the sealed bytes in one commit that is on disk. Five ways, turn about in one run:

- kept: the house's usual file, with a write-ahead log that keeps earlier states;
- erased: what a commit replaces is in no byte of the folder when it has ended;
- protected: erased, and the keys encrypted at rest;
- counted: protected, and the count of steps signed for the relay;
- crowded: protected, with as many skipped keys as one peer may leave (64 KiB of sessions).

Everything but the commit is the same in all. The results go into bench/results/keys.json, and from there into
docs/benchmarks.md.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from bench.spine.machine import describe
from bench.spine.processes import CACHE, ROOT
from tacit.a2acp.post.io import epochs
from tacit.a2acp.post.io.store import FILE, AgentStore, Myself, SecretColumns
from tacit.base.io import sqlite
from tacit.base.io.system import SystemEntropy
from tacit.base.io.time_service import TimeService
from tacit.seal import identity, key_protection, limits, primitives, ratchet, session, x3dh
from tacit.wire import buckets

SAVED: Final = ROOT / "bench" / "results" / "keys.json"
PAGE: Final = ROOT / "docs" / "benchmarks.md"
TITLE: Final = "## Keys that are gone, and keys at rest"
WAYS: Final = {
    "kept": "a write-ahead log that keeps earlier states (not used for keys)",
    "erased": "keys erased with the commit that replaces them",
    "protected": "erased, and encrypted at rest",
    "counted": "erased, encrypted, and the count of steps signed for the relay",
    "crowded": "erased, encrypted, 1,000 skipped keys in the session",
}
PEER: Final = "agent:bob@bench.example"
ME: Final = "agent:alice@bench.example"
PAYLOAD: Final = os.urandom(1024)


class Agent:
    """An agent's file, with one session to a peer."""

    def __init__(self, folder: Path, way: str) -> None:
        entropy = SystemEntropy()
        self.way = way
        self.me, self.peer = identity.generate(entropy), identity.generate(entropy)
        self.store = store = AgentStore(folder)
        if way == "kept":
            store.close()
            store._file = sqlite.connect(folder / FILE)
            store.secrets = SecretColumns(store._file)
        signed, single = entropy.draw(32), entropy.draw(32)
        prekeys = x3dh.PublicPrekeys(
            1, primitives.agreement_public(signed), 2, primitives.agreement_public(single), x3dh.ONE_TIME
        )
        one = session.begin(self.me, self.peer.public, prekeys, entropy)
        one = replace(one, opening=None)
        if way == "crowded":
            now = int(TimeService().now())
            kept = tuple(
                ratchet.Skipped(bytes([number // 16]) * 32, number, entropy.draw(32), now)
                for number in range(limits.MAX_STORED)
            )
            one = replace(one, ratchet=replace(one.ratchet, skipped=ratchet.newest(kept)))
        with store.transaction():
            if way not in {"kept", "erased"}:
                store.secrets.protect(*protection())
            store.set_identity(Myself(ME, "https://bench.example", self.me, 1, b""))
            store.set_sessions(PEER, session.tended((one,), TimeService().now()))
            store.run(
                "INSERT INTO outbox (packet_id, peer, thread_id, payload) VALUES ('pkt_bench',?,'thr',x'')",
                PEER,
            )

    def step(self) -> None:
        store, clock = self.store, TimeService()
        binding = session.Binding(ME, PEER, "pkt_bench", b"header")
        with store.transaction():
            sessions = store.sessions(PEER)
            present = session.sealing(sessions)
            assert present is not None
            me = store.me().identity
            after, body = session.seal(
                me, self.peer.public, present, PAYLOAD, binding, buckets.bucket_for, SystemEntropy()
            )
            store.set_sessions(PEER, session.tended(session.with_new(sessions, after), clock.now()))
            store.run("UPDATE outbox SET envelope=? WHERE packet_id='pkt_bench'", body)
        if self.way == "counted":
            epochs.statement(store)


def protection() -> tuple[key_protection.Protection, key_protection.FolderKey]:
    entropy = SystemEntropy()
    return key_protection.begin(
        key_protection.PASSPHRASE, entropy.draw(16), b"a passphrase for the bench", entropy
    )


def milliseconds(agent: Agent, steps: int) -> tuple[float, float]:
    """A step by the clock on the wall, and by the processor: the second does not wait for a busy disk."""
    begun, worked = time.perf_counter(), time.process_time()
    for _ in range(steps):
        agent.step()
    each = 1000 / steps
    return (time.perf_counter() - begun) * each, (time.process_time() - worked) * each


def measure(rounds: int, steps: int) -> dict[str, Any]:
    machine = describe()
    CACHE.mkdir(parents=True, exist_ok=True)
    folder = Path(tempfile.mkdtemp(dir=CACHE))
    try:
        agents = {way: Agent(folder / way, way) for way in WAYS}
        found: list[dict[str, tuple[float, float]]] = []
        for turn in range(rounds):
            order = list(WAYS) if turn % 2 else list(reversed(WAYS))
            found.append({way: milliseconds(agents[way], steps) for way in order})
        state = len(session.encode(agents["crowded"].store.sessions(PEER)))
    finally:
        shutil.rmtree(folder)
    begun = time.perf_counter()
    protection()
    unlock = (time.perf_counter() - begun) * 1000
    return {
        "measured": time.strftime("%Y-%m-%d", time.gmtime()),
        "machine": machine,
        "rounds": rounds,
        "steps": steps,
        "unlock_ms": round(unlock),
        "crowded_bytes": state,
        "rows": {
            way: {
                "ms": round(statistics.median(one[way][0] for one in found), 2),
                "cpu_ms": round(statistics.median(one[way][1] for one in found), 2),
                "ratio": round(statistics.median(one[way][0] / one["kept"][0] for one in found), 2),
                "to_erased": round(statistics.median(one[way][0] / one["erased"][0] for one in found), 2),
                "cpu_to_erased": round(statistics.median(one[way][1] / one["erased"][1] for one in found), 2),
            }
            for way in WAYS
        },
    }


def section(results: dict[str, Any]) -> str:
    """This part of the page."""
    busy = float(results["machine"]["load before"]) > float(results["machine"]["cores"]) / 2
    lines = [
        TITLE,
        "",
        "One step of an agent of the post, from reading the session to the commit that is on disk, for a sealed packet of",
        "1 KB: the same work on five kinds of file, turn about, medians of",
        f"{results['rounds']} rounds of {results['steps']} steps. Written by `python -m bench.keys`; do not edit by hand.",
        "",
        (
            f"Measured {results['measured']} with Python {results['machine']['Python']} on {results['machine']['cores']} "
            f"cores, load before {results['machine']['load before']}."
        ),
        "",
        *(["**The machine was busy with other work**: times are long.", ""] if busy else []),
        "| What | A step | Beside a file that keeps | Beside erased | Processor | Beside erased |",
        "|---|---|---|---|---|---|",
    ]
    for way, row in results["rows"].items():
        lines.append(
            f"| {WAYS[way]} | {row['ms']:g} ms | {row['ratio']:g}x | {row['to_erased']:g}x"
            f" | {row['cpu_ms']:g} ms | {row['cpu_to_erased']:g}x |"
        )
    lines += [
        "",
        f"Opening the keys with a passphrase takes {results['unlock_ms']} ms, once for each command (Argon2id, 64 MiB).",
        f"The crowded session takes {results['crowded_bytes']:,} bytes.",
    ]
    return "\n".join([*lines, ""])


def saved_section() -> str:
    """The part as it was last measured; nothing before the first time."""
    return "\n" + section(json.loads(SAVED.read_text(encoding="utf-8"))) if SAVED.exists() else ""


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.keys", description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--steps", type=int, default=40)
    parser.add_argument("--quick", action="store_true", help="three short rounds, not for the docs")
    given = parser.parse_args()
    results = measure(3, 10) if given.quick else measure(given.rounds, given.steps)
    print(section(results))
    if not given.quick:
        from bench import cli

        SAVED.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
        rest = PAGE.read_text(encoding="utf-8")
        for title in (TITLE, cli.TITLE):
            rest = rest.partition("\n" + title)[0]
        PAGE.write_text(rest.rstrip("\n") + "\n" + saved_section() + cli.saved_section(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
