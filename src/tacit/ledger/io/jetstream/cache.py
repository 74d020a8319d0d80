"""A data folder whose ledger follows a stream: it may be empty, damaged, cut off or of yesterday.

What it lacks is read from the stream before anything is answered: events, and the records of the hub's own
(credentials, blobs and who brought them, webhooks). A damaged file is no loss: it is removed and made anew.
Two things are not in the stream's hands yet, so that no command offers this: the bytes of blobs, which lie
in the folder, and erasing, since what was taken back leaves the folder and stays in the stream.
"""

from __future__ import annotations

import logging
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from tacit.base.errors import Corrupt
from tacit.ledger.io.jetstream.journal import JetStreamJournal
from tacit.ledger.io.store import DATABASE, Options, Store

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    import apsw

    from tacit.ledger.engine import Engine
    from tacit.ledger.io.jetstream.stream import JetStream

log: Final = logging.getLogger("tacit.ledger")


def open_cache(
    folder: Path,
    options: Options,
    stream: JetStream,
    engine: Callable[[apsw.Connection], Engine] | None = None,
) -> Store:
    """A store that has applied all of the stream, not started yet."""

    def journal(connection: apsw.Connection) -> JetStreamJournal:
        return JetStreamJournal(connection, stream)

    # A half-written commit is no news: what it was is in the stream, or was never acknowledged.
    options = replace(options, journal=journal, keeps_torn=False)
    try:
        return _caught_up(folder, options, engine)
    except Corrupt:
        log.warning("the ledger's file is damaged: it is made anew from the stream")
    for name in (DATABASE, f"{DATABASE}-wal", f"{DATABASE}-shm"):
        (folder / name).unlink(missing_ok=True)
    return _caught_up(folder, options, engine)


def _caught_up(folder: Path, options: Options, engine: Callable[[apsw.Connection], Engine] | None) -> Store:
    store = Store(folder, options, engine=engine)
    try:
        store.writer.catch_up()
    except BaseException:
        store.close()
        raise
    return store
