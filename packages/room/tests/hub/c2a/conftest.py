"""Fixtures of the C2A host's tests."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.hub.c2a.stage import Stage, staged

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path


@pytest.fixture
async def stage(tmp_path: Path) -> AsyncIterator[Stage]:
    """A hub with one group and a clock that stands still."""
    async with staged(tmp_path / "data") as opened:
        await opened.open()
        yield opened
