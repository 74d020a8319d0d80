"""What an owner is told of a thread beside its state."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from tacit.a2acp.threads.states import State
from tacit.agent.kernel import records
from tacit.agent.kernel.state import Thread
from tacit.agent.shell.io.commands import Commands, _flags
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


async def test_a_thread_that_is_written_down_and_not_folded_yet_is_not_listed_yet() -> None:
    known = Thread("thr_1", "agent:ben@relay.example", True, State.NEGOTIATING, Moment(1), Moment(2))
    began = [(records.Began(name, "agent:ben@relay.example", ours=True), None) for name in ("thr_1", "thr_2")]

    async def refreshed() -> None: ...

    agent: Any = SimpleNamespace(
        refresh=refreshed,
        journal=SimpleNamespace(
            book=SimpleNamespace(open_threads=["thr_1"], threads={"thr_1": known}),
            records=lambda _kind: began,
        ),
        _line_of=lambda one: one.thread_id,
    )
    assert await Commands.threads(agent, every=True) == {"threads": ["thr_1"]}
