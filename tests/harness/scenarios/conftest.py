"""One house, one scripted model for each scenario."""

from __future__ import annotations

import pytest

from tests.harness.house import house
from tests.model_server import ModelServer


@pytest.fixture
async def home(tmp_path):
    async with house(tmp_path) as opened:
        yield opened


@pytest.fixture
async def model():
    async with ModelServer() as server:
        yield server
