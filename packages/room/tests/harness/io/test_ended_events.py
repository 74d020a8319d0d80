"""What an event that comes again is, by how it ended the first time."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from tacit.base.moment import Moment
from tacit.harness.effects import Postpone, Settle
from tacit.harness.io.harness import Harness
from tests.c2a_peer import delivery


@pytest.mark.spec("C2A-162")
@pytest.mark.parametrize(
    ("effect", "state", "repeat"), [(Settle("e1"), "done", True), (Postpone("e1"), "deferred", False)]
)
async def test_what_we_deferred_ourselves_is_no_repeat_when_it_comes_again(effect, state, repeat):
    async def write(_):
        """On disk."""

    harness = object.__new__(Harness)
    harness._known = {"e1": ("waiting", "buffered", "must_respond")}
    harness._context = SimpleNamespace(write=write)  # type: ignore[assignment]
    settled: list[str] = []
    harness._permissions = SimpleNamespace(settled=settled.append)  # type: ignore[assignment]
    event = delivery("e1")
    assert harness._is_repeat(event) is True
    await harness._persist([effect], Moment(1), None)
    assert harness._known["e1"] == (state, "buffered", "must_respond")
    assert harness._is_repeat(event) is repeat
    assert harness._is_repeat(delivery("e2")) is False
    assert settled == ["e1"], "what a person was asked about it is over too"
