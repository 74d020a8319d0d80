"""A conduct whose inputs are meant for the turn that runs, as tests of one slot say them."""

from __future__ import annotations

from dataclasses import replace

from tacit.harness.conduct import Conduct


def reach_the_model(conduct: Conduct) -> None:
    """What runs is put together, and its model has it."""
    for running in conduct.turns.values():
        running.at_model = True


class OneTurn(Conduct):
    """Fills in the name of the running turn."""

    @property
    def running(self):
        return self.turns.get(0)

    @property
    def _name(self) -> str:
        return self.running.turn.id if self.running is not None else ""

    def ended(self, outcome, now):
        return super().ended(replace(outcome, turn_id=self._name), now)

    def boundary(self, call_id, now):
        return super().boundary(self._name, call_id, now)

    def tool_started(self, call_id, name):
        if self.running is not None:
            self.running.tool_started(call_id, name)

    def tool_waits(self, call_id, *, waits):
        if self.running is not None:
            self.running.tool_waits(call_id, waits=waits)
