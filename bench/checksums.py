"""What the checksum of each page costs: the same appends and reads with and without it, turn about.

python -m bench.checksums      writes its part of docs/benchmarks.md

Processor time, not the clock: a busy machine makes it longer for both alike. The medians of rounds that take turns
are compared, so that what else runs meets both.
"""

from __future__ import annotations

import platform
import statistics
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Final

import msgspec

from tacit.ledger.commands import Append
from tacit.ledger.cursor import selection
from tacit.ledger.io.store import Store, StoreOptions
from tacit.ledger.submission import Submission

if TYPE_CHECKING:
    from collections.abc import Callable

PAGE: Final = Path(__file__).parent.parent / "docs" / "benchmarks.md"
TITLE: Final = "## Checksums of pages"
NEXT: Final = "\n## Starting a command"
ROUNDS: Final = 30
TEXT: Final = "lorem ipsum " * 7


def _append(number: int) -> Append:
    data = {"text": f"message {number} {TEXT}", "client_id": f"c{number}"}
    return Append(Submission("g_one", "user", "chat.message", data, msgspec.json.encode(data)))


def _opened(folder: Path, vfs: str | None) -> Store:
    store = Store(folder, StoreOptions(vfs=vfs))
    store.start()
    data = {"title": "One"}
    store.append(Submission("g_one", "user", "group.create", data, msgspec.json.encode(data)), creates=True)
    return store


def _one_at_a_time(store: Store, number: int) -> None:
    for one in range(20):
        store.execute(_append(number * 100 + one))


def _batch(store: Store, number: int) -> None:
    store.writer.commit([_append(1_000_000 + number * 100 + one) for one in range(64)])


def _read(store: Store, _number: int) -> None:
    store.read(lambda reader: reader.page(reader.group("g_one"), "user", selection(limit=500)))


def _medians(stores: dict[str, Store], work: Callable[[Store, int], None], each: int) -> tuple[float, float]:
    taken: dict[str, list[float]] = {name: [] for name in stores}
    for turn in range(ROUNDS):
        for name in sorted(stores, reverse=bool(turn % 2)):
            start = time.process_time()
            work(stores[name], turn)
            taken[name].append((time.process_time() - start) / each * 1e6)
    return statistics.median(taken["with"]), statistics.median(taken["without"])


def measured() -> list[str]:
    """The rows of the table."""
    rows: list[str] = []
    with tempfile.TemporaryDirectory() as folder:
        stores = {"with": _opened(Path(folder, "a"), None), "without": _opened(Path(folder, "b"), "unix")}
        for what, work, each in (
            ("append, one at a time, each durable", _one_at_a_time, 20),
            ("append, 64 in one commit", _batch, 64),
            ("event read, 500 in one answer", _read, 500),
        ):
            on, off = _medians(stores, work, each)
            rows.append(f"| {what} | {on:.1f} µs | {off:.1f} µs | {on / off:.2f}x |")
        for store in stores.values():
            store.close()
    return rows


def main() -> None:
    """Measure, and write the part of the page."""
    text = "\n".join([
        TITLE,
        "",
        "Processor time with every page's checksum written and verified (SQLite's checksum VFS), and without; medians of",
        f"{ROUNDS} rounds, turn about. Written by `python -m bench.checksums`; do not edit by hand.",
        "",
        f"Measured {datetime.now(UTC):%Y-%m-%d} with Python {platform.python_version()}.",
        "",
        "| For each | With | Without | Ratio |",
        "|---|---|---|---|",
        *measured(),
        "",
    ])  # fmt: skip
    page = PAGE.read_text(encoding="utf-8")
    start = page.find(TITLE)
    if start >= 0:
        page = page[:start] + page[page.find(NEXT, start) + 1 :]
    at = page.find(NEXT) + 1
    PAGE.write_text(page[:at] + text + "\n" + page[at:], encoding="utf-8")


if __name__ == "__main__":
    main()
