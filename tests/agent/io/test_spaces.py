"""What of a space's change list is still kept, and read."""

from __future__ import annotations

import pytest
from tests.agent.spaces.test_receiving import Replica

from tacit.agent.io.spaces import _kept
from tacit.agent.spaces.state import KEPT_CHANGES


@pytest.mark.spec("A2ACP-201")
@pytest.mark.parametrize(
    ("changes", "after", "places"),
    [
        (3, 0, [1, 2, 3]),
        (3, 1, [2, 3]),
        (3, 3, []),
        (KEPT_CHANGES, 0, [*range(1, KEPT_CHANGES + 1)]),
        (KEPT_CHANGES + 2, 0, [*range(3, KEPT_CHANGES + 3)]),
        (KEPT_CHANGES + 2, KEPT_CHANGES, [KEPT_CHANGES + 1, KEPT_CHANGES + 2]),
    ],
)
def test_the_last_changes_are_read_each_once(changes: int, after: int, places: list[int]) -> None:
    anna = Replica()
    for number in range(changes):
        anna.write(f"status{number}", number)
    assert anna.space.changes == changes
    assert [one["n"] for one in _kept(anna.workspace(), anna.space, after)] == places
