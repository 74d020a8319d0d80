"""Whatever a node's clock does: it writes by no wrong time, the servers say what time it is, nothing hurries."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tacit.base.io.system import both_clocks
from tacit.base.io.time_service import TimeService
from tacit.base.moment import SECOND, Moment
from tests.clocks.disturbed import OFFSETS, WAYS
from tests.ledger.io.jetstream.test_lease import Machine, new_name
from tests.two_clocks import DAY

if TYPE_CHECKING:
    from pathlib import Path

    from tests.ledger.io.jetstream.servers import Server

STEPS = 8
TRIES = 2
"""A server on a busy machine may leave a question without an answer."""
NEAR = DAY + 120 * SECOND


class Node:
    """A node whose wall can be set; what passes is what passes here."""

    def __init__(self, machine: Machine, folder: Path) -> None:
        self.machine = machine
        self.folder = folder
        self.begin()

    def begin(self) -> None:
        """A process of it."""
        self.time = TimeService(self.both, boot=lambda: "")
        self.time.remember_in(self.folder, lambda: None)
        self.time.look()
        self.machine.served.lease.on_witness = self.time.witness

    def both(self) -> tuple[Moment, int]:
        return self.machine.clock.now(), both_clocks()[1]

    def off(self, by: int) -> None:
        self.machine.clock.seconds = by / SECOND

    def renew(self) -> bool:
        """Try for the lease, as it does a few times in each span; whether this node may write."""
        served = self.machine.served
        for _ in range(TRIES):
            served.stream.connection.wait(served.lease._take_or_retake())
        self.time.look()
        return served.lease.is_held


def believed(node: Node) -> bool:
    """Whether all that is done for good, and all that others read, goes by the day that it is."""
    now = both_clocks()[0]
    return node.time.confirmed() <= now + NEAR and abs(node.time.shared() - now) <= NEAR


@pytest.mark.spec("C2A-173", "CCCS-042")
@pytest.mark.parametrize("by", OFFSETS.values(), ids=OFFSETS)
def test_a_node_whose_clock_is_off_writes_nothing_and_ends_nothing(
    tmp_path: Path, server: Server, by: int
) -> None:
    machine = Machine(tmp_path / "one", server, new_name())
    store = machine.serve()
    try:
        # It tries at the test's word alone: a try that began before the clock was moved would end after it.
        machine.served.stream.connection.stop(machine.served.lease._renewing)
        node = Node(machine, tmp_path)
        assert node.renew()
        for way in WAYS:
            for step in range(1, STEPS + 1 if way == "drift" else 2):
                node.off(by * step // STEPS if way == "drift" else by)
                if way == "restart":
                    node.begin()
                assert not node.renew(), way
                assert believed(node), way
            node.off(0)
            assert node.renew(), way
            assert believed(node), way
            assert not node.time.doubt(), way
    finally:
        store.close()
