from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.ledger.world import World

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    made = World(tmp_path / "data")
    yield made
    made.close()


@pytest.fixture
def room(world: World) -> World:
    """A world with one group `g_one`: boss (foreman), ann and bob (peers), mute (no role)."""
    world.group("g_one", boss="foreman", ann="peer", bob="peer", mute=None)
    return world
