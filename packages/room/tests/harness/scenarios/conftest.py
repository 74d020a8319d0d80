"""One group, one scripted model for each scenario; a hub for all of them, or of its own for one that stops it."""

from __future__ import annotations

import pytest

from tests.harness.clocked_hub import clocked_hub
from tests.harness.live_hub import Guest, LiveHub, lobby
from tests.model_server import ModelServer


@pytest.fixture(scope="session")
def host(tmp_path_factory):
    """A hub takes two seconds of a processor to start, and groups do not see one another."""
    opened = LiveHub(tmp_path_factory.mktemp("host"))
    opened.start()
    yield opened
    opened.stop()


@pytest.fixture
async def home(tmp_path, host):
    async with lobby(Guest(tmp_path, host)) as opened:
        yield opened


@pytest.fixture
async def house(tmp_path):
    """The same in a hub that the scenario may stop, and whose folder is its own."""
    opened = LiveHub(tmp_path)
    opened.start()
    try:
        async with lobby(opened):
            yield opened
    finally:
        opened.stop()


@pytest.fixture
async def clocked(tmp_path):
    """The same with a clock that stands still until the test moves it."""
    async with clocked_hub(tmp_path) as opened:
        yield opened


@pytest.fixture
async def model():
    async with ModelServer() as server:
        yield server
