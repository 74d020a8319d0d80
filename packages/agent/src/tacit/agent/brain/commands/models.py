"""Which models an agent may think with: whatever an installed package knows to open (A2ACP-064, A2ACP-085).

The agent itself opens none. Without such a package it works by its rules.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from tacit.base.errors import Refused
from tacit.base.io.contributions import AGENT_MODELS, contributed, loaded
from tacit.base.language_model import Model

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from tacit.base.strict_json import Json


class PricedModel(Model, Protocol):
    """A model of which one may know what a thought costs."""

    @property
    def knows_cost(self) -> bool:
        """Whether a thought's cost is known."""
        ...


class Opener(Protocol):
    """Opens models for one folder of an agent."""

    def open(self, definition: Mapping[str, Json]) -> PricedModel:
        """The model of a definition; `Refused` (`bad_brain`) when it can never work."""
        ...


def models_for(folder: Path) -> Opener | None:
    """What opens models for the agent of a folder; None where no installed package does."""
    for place in contributed(AGENT_MODELS).values():
        opener: Opener = loaded(place)(folder)
        return opener
    return None


def required_models(folder: Path) -> Opener:
    """The same; `Refused` where none does."""
    opener = models_for(folder)
    if opener is None:
        raise Refused("bad_brain", "nothing that is installed here can open a model", row="A2ACP-081")
    return opener
