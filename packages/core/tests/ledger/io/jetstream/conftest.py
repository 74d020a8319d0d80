from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.ledger.io.jetstream.servers import Server, one, three

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    made = one(tmp_path_factory.mktemp("nats"))
    yield made
    made.kill()


@pytest.fixture(scope="session")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[Server]]:
    made = three(tmp_path_factory.mktemp("cluster"))
    yield made
    for server in made:
        server.kill()
