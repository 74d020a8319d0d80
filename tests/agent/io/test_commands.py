"""What an owner is told of a thread beside its state."""

from __future__ import annotations

import pytest

from tacit.agent.io.commands import _flags
from tacit.agent.threads.state import Thread
from tacit.agent.threads.states import State
from tacit.base.moment import Moment


@pytest.mark.spec("A2ACP-119", "A2ACP-122")
@pytest.mark.parametrize(
    "flags", [[], ["paused"], ["awaiting_user"], ["urgent"], ["paused", "awaiting_user", "urgent"]]
)
def test_a_thread_that_rests_waits_or_hurries_says_so(flags: list[str]) -> None:
    marked = dict.fromkeys(flags, True)
    thread = Thread(
        "thr_1", "agent:ben@relay.example", True, State.NEGOTIATING, Moment(1), Moment(2), **marked
    )
    assert _flags(thread) == flags
