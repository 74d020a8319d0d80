"""Events that the rules asked for lately are held: few, small ones, and never what was not committed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tacit.ledger.io import read_model

if TYPE_CHECKING:
    from tests.ledger.world import World

GROUP = "g_one"


@pytest.mark.spec("CCCS-020")
def test_what_was_asked_for_is_held_in_measure_and_stays_what_it_was(
    room: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(read_model, "RECENT", 3)
    said = [room.say(GROUP, "user", f"line {number}") for number in range(8)]
    large = room.say(GROUP, "user", "x" * (read_model.RECENT_BYTES + 1))
    writer = room.store.writer
    view = writer.views[writer._group(GROUP).number]
    for one in [*said, large, *said]:
        for _ in range(2):
            found = view.event(one.id)
            assert found is not None
            assert (found.seq, found.event_id) == (one.seq, one.id)
    held = [event_id for _, event_id in writer.model._recent]
    assert held == [one.id for one in said[-3:]]
    writer.model.forget()
    assert not writer.model._recent
