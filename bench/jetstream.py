"""What a journal on other machines costs: the same batches on SQLite, on one NATS server and on three, turn about.

python -m bench.jetstream [--rounds 30] [--batch 128]

Real servers on the loopback, each write synced. The medians of rounds that take turns are compared, so that what else
runs meets all alike. Beside them a bare guarded publish of the same bytes: what the journal adds to it is ours.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

import msgspec

from tacit.base.shipping import Tracking
from tacit.ledger.commands import Append, Committed
from tacit.ledger.io.jetstream.cache import open_cache
from tacit.ledger.io.store import Store, StoreOptions
from tacit.ledger.shipment import Shipment, ShipmentPart
from tacit.ledger.submission import Submission
from tests.ledger.io.jetstream.servers import new_name, one, opened, three

if TYPE_CHECKING:
    from collections.abc import Callable

    from tacit.ledger.io.jetstream.stream import JetStream

TEXT: Final = "lorem ipsum " * 7
GROUP: Final = "g_one"


def submission(kind: str, data: dict[str, str]) -> Submission:
    """Of the owner, into the one group."""
    return Submission(GROUP, "user", kind, data, msgspec.json.encode(data))


def started(store: Store) -> Store:
    """With its group."""
    store.start()
    store.append(submission("group.create", {"title": "One"}), creates=True)
    return store


def batch(store: Store, count: int, number: int) -> None:
    """One commit of many appends."""
    first = (count << 32) + number * count
    data = [{"text": f"{first + one} {TEXT}", "client_id": f"c{first + one}"} for one in range(count)]
    outcomes = store.writer.commit([Append(submission("chat.message", one)) for one in data])
    if not all(isinstance(outcome, Committed) for outcome in outcomes):
        raise SystemExit("a batch was not taken")


class Bare:
    """Guarded publishes of as many bytes as a batch has, with nothing of the ledger around them."""

    def __init__(self, stream: JetStream, size: int) -> None:
        self._stream = stream
        self._payload = b"x" * size
        self._end = 0

    def publish(self, number: int) -> None:
        """One message behind the last."""
        shipment = Shipment(f"bare{number}", (ShipmentPart("bare", "bare", self._end, self._payload),))
        (found,) = self._stream.carry([(shipment, Tracking(shipment.batch_id, 1))])
        self._end = found.sequence


def measured(what: dict[str, Callable[[int], None]], rounds: int) -> dict[str, float]:
    """The median of each, in milliseconds, in turns."""
    times: dict[str, list[float]] = {name: [] for name in what}
    for number in range(rounds + 3):
        for name, run in what.items():
            begun = time.perf_counter()
            run(number)
            if number >= 3:
                times[name].append((time.perf_counter() - begun) * 1000)
    return {name: statistics.median(found) for name, found in times.items()}


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=30)
    parser.add_argument("--batch", type=int, default=128)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        run(Path(folder), asked.rounds, asked.batch)


def run(folder: Path, rounds: int, size: int) -> None:
    """SQLite, R1, R3."""
    alone, cluster = one(folder / "alone"), three(folder / "cluster")
    try:
        streams = {
            "R1": opened([alone.url], new_name(), 1),
            "R3": opened([server.url for server in cluster], new_name(), 3),
        }
        stores = {"SQLite": started(Store(folder / "sqlite"))}
        for name, stream in streams.items():
            stores[name] = started(open_cache(folder / name, StoreOptions(), stream))
        bares = {name: Bare(stream, size * 400) for name, stream in streams.items()}
        for count in (size, 1):
            what: dict[str, Callable[[int], None]] = {
                name: partial(batch, store, count) for name, store in stores.items()
            }
            if count == size:
                what |= {f"bare {name}": bare.publish for name, bare in bares.items()}
            found = measured(what, rounds)
            for name, took in found.items():
                ratio = found["SQLite"] / took
                print(
                    f"{name}, {count} appends a batch: {took:.2f} ms, {count / took * 1000:,.0f}/s, {ratio:.2f} of SQLite"
                )
        for store in stores.values():
            store.close()
        for stream in streams.values():
            stream.close()
    finally:
        for server in (alone, *cluster):
            server.kill()


if __name__ == "__main__":
    main()
