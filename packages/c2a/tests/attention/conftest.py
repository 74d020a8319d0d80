"""A house with two agents that a harness speaks for."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.attention.io.house import GROUP, House

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def house(tmp_path: Path) -> Iterator[House]:
    made = House(tmp_path / "data")
    made.group(GROUP, ann="peer", ben="peer")
    made.connect("ann")
    made.connect("ben")
    yield made
    made.close()
