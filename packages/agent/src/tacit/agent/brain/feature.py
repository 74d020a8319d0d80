"""What brains add to the agent."""

from __future__ import annotations

from typing import Final

from tacit.agent.kernel.feature import Feature

NOTICES: Final = {
    "model_away": "No model answers now; what waits for one is kept and dealt with later, in order",
    "budget_spent": "The models' budget of the day is spent; the rules go on alone",
    "brain_refused": "The chosen brain cannot be opened; the rules go on alone",
}

FEATURE: Final = Feature(notices=NOTICES)
