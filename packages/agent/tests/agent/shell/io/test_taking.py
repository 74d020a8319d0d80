"""What becomes of a packet that cannot be taken: kept for a fault of ours, let go for any other."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from tacit.agent.shell.io.taking import Taking
from tacit.base.errors import PeerFault, Refused, Unavailable


@pytest.mark.spec("A2ACP-072")
@pytest.mark.parametrize(
    ("fault", "decisions"),
    [
        (None, 1),
        (Unavailable("the disk is full"), 1),
        (Refused("bad_packet", "no"), 2),
        (PeerFault("bad_packet", "no"), 2),
        (ZeroDivisionError(), 2),
    ],
)
async def test_only_a_fault_of_this_device_keeps_a_packet_for_later(fault, decisions):
    asked = []

    async def decide(decision):
        asked.append(decision)
        if fault is not None and len(asked) == 1:
            raise fault

    taking = Taking._taken(SimpleNamespace(decide=decide), None)  # type: ignore[arg-type]
    if isinstance(fault, Unavailable):
        with pytest.raises(Unavailable):
            await taking
    else:
        await taking
    assert len(asked) == decisions
