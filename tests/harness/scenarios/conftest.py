"""One hub, one scripted model for each scenario."""

from __future__ import annotations

import pytest

from tests.harness.clocked_hub import clocked_hub
from tests.harness.live_hub import live_hub
from tests.model_server import ModelServer


@pytest.fixture
async def home(tmp_path):
    async with live_hub(tmp_path) as opened:
        yield opened


@pytest.fixture
async def clocked(tmp_path):
    """The same with a clock that stands still until the test moves it."""
    async with clocked_hub(tmp_path) as opened:
        yield opened


@pytest.fixture
async def model():
    async with ModelServer() as server:
        yield server
