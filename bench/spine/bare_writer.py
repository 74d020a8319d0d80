"""What stands beside the hub's ledger: one thread that writes the same rows into the same tables, bare.

Fed by an asyncio queue: whoever submits waits for the commit; all that waited while the last commit ran go
into one transaction. The rows of an event are made beforehand but for their keys; nothing is parsed, checked,
hashed or sent. `single` measures one row a commit, and `whole` all rows of one event.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import statistics
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import apsw
import uvloop

from bench.spine.bare_server import EVENT
from bench.spine.texts import ClientIds, messages
from tacit.base import ids
from tacit.base.io.sqlite import Checkpointer, connect
from tacit.ledger.io.audience_index import AudienceIndex
from tacit.ledger.io.read_model import INSERTS
from tacit.ledger.io.schema import SCHEMA, SHIFT

GROUP = 1
CLIENTS = 8


class BareWriter:
    """The hub's tables, pragmas and checkpoints, with nothing else around them."""

    def __init__(self, folder: Path) -> None:
        path = folder / "bare.db"
        self.connection = connect(path)
        SCHEMA.migrate(self.connection, path)
        self.connection.execute("INSERT INTO groups VALUES(1,'g',0,0,x'00')")
        self._checkpointer = Checkpointer(path)
        self._checkpointer.watch(self.connection)
        self._checkpointer.start()
        self._index = AudienceIndex(self.connection)
        self._seq = 0
        self._uuid = ids.Uuid7()
        self._bodies = [
            (text, EVENT % json.dumps({"text": text, "client_id": "0" * 32}).encode()) for text in messages()
        ]

    def commit(self, client_ids: list[tuple[str, str]]) -> None:
        """One transaction for all that wait."""
        connection = self.connection
        events, lanes, search, submissions = [], [], [], []
        now = time.time_ns() // 1000
        for by, client_id in client_ids:
            self._seq = seq = self._seq + 1
            text, raw = self._bodies[seq % len(self._bodies)]
            pos = GROUP << SHIFT | seq
            events.append((pos, self._uuid.next(now // 1000, seq), 1, raw[:32], raw, raw[:16]))
            lanes.append((GROUP, "@all", seq, seq))
            lanes.append((GROUP, "-" + by, seq, seq))
            search.append((pos, self._index.document(GROUP, 0, text)))
            submissions.append((GROUP, by, client_id, seq, now))
        connection.execute("BEGIN IMMEDIATE")
        connection.executemany("INSERT INTO events VALUES(?,?,?,?,?,?)", events)
        connection.execute(
            "UPDATE groups SET last_seq=?, last_ts=?, chain=? WHERE number=?", (self._seq, now, b"", GROUP)
        )
        connection.executemany(INSERTS["lanes"], lanes)
        connection.executemany(INSERTS["search"], search)
        connection.executemany(INSERTS["submissions"], submissions)
        connection.execute("COMMIT")

    def close(self) -> None:
        self._checkpointer.close()
        self.connection.close()


async def measure(folder: Path, seconds: float, in_flight: int) -> dict[str, float]:
    """Events a second with `in_flight` callers that each wait for their commit."""
    writer = BareWriter(folder)
    thread = ThreadPoolExecutor(1)
    loop = asyncio.get_running_loop()
    queue: asyncio.Queue[tuple[tuple[str, str], asyncio.Future[None]]] = asyncio.Queue()
    end = time.perf_counter() + seconds
    done = batches = 0

    async def caller(number: int) -> None:
        nonlocal done
        by, client_id = f"a{number % CLIENTS}", ClientIds(number)
        while time.perf_counter() < end:
            committed: asyncio.Future[None] = loop.create_future()
            await queue.put(((by, client_id()), committed))
            await committed
            done += 1

    async def feed() -> None:
        nonlocal batches
        while True:
            waiting = [await queue.get()]
            while not queue.empty():
                waiting.append(queue.get_nowait())
            await loop.run_in_executor(thread, writer.commit, [keys for keys, _ in waiting])
            batches += 1
            for _, committed in waiting:
                committed.set_result(None)

    feeding = asyncio.create_task(feed())
    started, used = time.perf_counter(), time.process_time()
    await asyncio.gather(*(caller(number) for number in range(in_flight)))
    took = time.perf_counter() - started
    feeding.cancel()
    thread.shutdown()
    writer.close()
    return {
        "per_second": done / took,
        "batch": done / max(1, batches),
        "cpu_us": (time.process_time() - used) / done * 1e6,
    }


def single(folder: Path, count: int) -> dict[str, float]:
    """The median time of a commit with one row, synced, in microseconds."""
    connection = connect(folder / "single.db")
    connection.execute("CREATE TABLE rows(number INTEGER PRIMARY KEY, raw BLOB)")
    raw = b"x" * 330
    took: list[float] = []
    for _ in range(count):
        before = time.perf_counter()
        connection.execute("INSERT INTO rows(raw) VALUES(?)", (raw,))
        took.append(time.perf_counter() - before)
        if len(took) % 1000 == 0:
            connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_PASSIVE)
    connection.close()
    return {"p50_us": statistics.median(took) * 1e6}


def whole(folder: Path, count: int) -> dict[str, float]:
    """The median time of a commit with all rows of one event, synced, in microseconds."""
    writer, client_id, took = BareWriter(folder), ClientIds(0), list[float]()
    for _ in range(count):
        keys = [("a0", client_id())]
        before = time.perf_counter()
        writer.commit(keys)
        took.append(time.perf_counter() - before)
    writer.close()
    return {"p50_us": statistics.median(took) * 1e6}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("what", choices=("group", "single", "whole"))
    parser.add_argument("folder", type=Path)
    parser.add_argument("--seconds", type=float, default=3.0)
    parser.add_argument("--in-flight", type=int, default=128)
    parser.add_argument("--count", type=int, default=1000)
    given = parser.parse_args()
    if given.what != "group":
        print(json.dumps((single if given.what == "single" else whole)(given.folder, given.count)))
    else:
        print(json.dumps(uvloop.run(measure(given.folder, given.seconds, given.in_flight))))


if __name__ == "__main__":
    main()
