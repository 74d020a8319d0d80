"""A turn that waits for its tree while a person changes that can still be called off."""

from __future__ import annotations

import pytest

from tacit.harness.io.turn_lock import changing
from tests.c2a_peer import delivery, peering
from tests.harness.living import Desk, living


@pytest.mark.spec("C2A-180")
async def test_a_turn_that_is_called_off_while_it_waits_for_its_tree_is_not_begun(tmp_path):
    desk = Desk(tmp_path / "desk")
    desk.script([{"text": "Port eight thousand."}])
    async with peering() as peer, living(peer.url, "token", tmp_path, desk) as harness:
        await peer.until(lambda: harness.told.of("connected"))
        with changing(harness.config.state, "ada"):
            request = await peer.accepted(delivery("e1", "Do the long job?"))
            await peer.until(lambda: (turn := harness._conduct.turn("e1.1")) is not None and turn.at_model)
            await peer.notify("notifications/cancelled", requestId=request, reason="deleted")
            await peer.until(lambda: harness._conduct.turn("e1.1").is_ending)
        await peer.until(lambda: harness.told.of("turn_ended"))
        assert desk.turns == []
        await peer.accepted(delivery("e2", "Which port is it?"))
        await peer.until(lambda: peer.sends)
    assert [send["inReplyTo"] for send in peer.sends] == ["e2"]
