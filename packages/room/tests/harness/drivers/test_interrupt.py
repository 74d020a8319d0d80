"""A program of one's own that is to stop is ended at once."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from tacit.harness.drivers.io.command import Command


@pytest.mark.spec("C2A-180")
@pytest.mark.parametrize("runs", [True, False])
async def test_an_interrupted_turn_ends_its_program_without_asking_it(runs):
    ended = []

    async def end(*, politely):
        ended.append(politely)

    driver = SimpleNamespace(_child=SimpleNamespace(end=end) if runs else None)
    await Command.interrupt(driver, None)  # type: ignore[arg-type]
    assert ended == [False] * runs
