"""Fixtures of the hub's tests."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.hub.room import Room, running

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path


@pytest.fixture
async def room(tmp_path: Path) -> AsyncIterator[Room]:
    """A hub with the settings that a user gets."""
    async with running(tmp_path / "data") as opened:
        yield opened
