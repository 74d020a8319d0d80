"""The journal on JetStream promises what every journal promises (one server; the traps are tried on three too)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tacit.ledger.io.jetstream.journal import JetStreamJournal
from tests.ledger.io.jetstream.servers import new_name, opened
from tests.ledger.io.test_journal import SqliteBench
from tests.ledger.journal_contract import SharedJournalContract

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    import apsw

    from tests.ledger.io.jetstream.servers import Server


class StreamBench(SqliteBench):
    """One node: a cache of its own, a connection of its own."""

    def __init__(self, path: Path, server: Server, name: str) -> None:
        self.stream = opened([server.url], name, 1)
        super().__init__(path, self._on)

    def _on(self, connection: apsw.Connection) -> JetStreamJournal:
        return JetStreamJournal(connection, self.stream)

    def close(self) -> None:
        super().close()
        self.stream.close()


class TestJetStreamJournal(SharedJournalContract):
    @pytest.fixture
    def name(self) -> str:
        return new_name()

    @pytest.fixture
    def bench(self, tmp_path: Path, server: Server, name: str) -> Iterator[StreamBench]:
        made = StreamBench(tmp_path / "one.db", server, name)
        yield made
        made.close()

    @pytest.fixture
    def other(self, tmp_path: Path, server: Server, name: str) -> Iterator[StreamBench]:
        made = StreamBench(tmp_path / "other.db", server, name)
        yield made
        made.close()
