"""Which models an owner has chosen: the setting `brain`, checked, as a value (A2ACP-081, A2ACP-084).

The setting is plain JSON:

    {"tiers": {"small": "rules", "medium": DEFINITION, "large": DEFINITION},
     "secondary": DEFINITION or null,
     "budget": {"usd_per_day": 1.5 or null, "tokens_per_day": 200000 or null}}

with a DEFINITION of `{"driver": NAME, "model": NAME, "options": {…}}`. A tier that is not named is that below
it, and the smallest is the rules. What the options of a driver mean is the driver's matter. No key and no
password belongs here: options name the file or the variable that holds one.
"""

from __future__ import annotations

from typing import Final, Literal

import msgspec

from tacit.base.errors import Refused
from tacit.base.strict_json import JsonObject

RULES: Final = "rules"
SMALL: Final = "small"
MEDIUM: Final = "medium"
LARGE: Final = "large"
TIERS: Final = (SMALL, MEDIUM, LARGE)
"""The smallest first."""
SETTING: Final = "brain"
"""By which name the agent keeps it."""
_LONGEST: Final = 16 * 1024


class Definition(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One model: by which driver, which model of it, and how."""

    driver: Literal["openai", "codex", "claude", "acp", "command"]
    model: str = ""
    """Empty for what the driver takes by itself."""
    options: JsonObject = {}


class Budget(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What the models of a day may take; the rules go on beyond it."""

    usd_per_day: float | None = None
    tokens_per_day: int | None = None


class Configured(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The setting, checked."""

    tiers: dict[Literal["small", "medium", "large"], Definition | Literal["rules"]] = {}
    secondary: Definition | None = None
    """For when a tier's own model stays away (A2ACP-086)."""
    budget: Budget = Budget()

    def tier(self, name: str) -> Definition | None:
        """The model of a tier, or of the nearest one below it; None for the rules."""
        below = {TIERS.index(tier): model for tier, model in self.tiers.items()}
        model = next((below[at] for at in range(TIERS.index(name), -1, -1) if at in below), None)
        return model if isinstance(model, Definition) else None

    @property
    def has_models(self) -> bool:
        """Whether any tier is more than the rules."""
        return any(isinstance(one, Definition) for one in self.tiers.values())


def configured(value: object) -> Configured:
    """The setting as a value; without one, the rules for everything. `Refused` says what is wrong with it."""
    if value is None:
        return Configured()
    try:
        if len(msgspec.json.encode(value)) > _LONGEST:
            raise Refused("bad_brain", "the choice of a brain is too long")
        found = msgspec.convert(value, Configured)
    except (msgspec.ValidationError, TypeError, ValueError) as wrong:
        # The library's words name the place and the type, and quote no value.
        said = str(wrong) if isinstance(wrong, msgspec.ValidationError) else "it is no plain JSON"
        raise Refused("bad_brain", f"this is no choice of a brain: {said}", row="A2ACP-081") from None
    budget = found.budget
    for amount in (budget.usd_per_day, budget.tokens_per_day):
        if amount is not None and not 0 <= amount < float("inf"):
            raise Refused("bad_brain", "a budget is a number that is not negative", row="A2ACP-084")
    if found.secondary is not None and not found.has_models:
        raise Refused("bad_brain", "a secondary model stands in for another; name that one", row="A2ACP-086")
    return found


def plain(value: Configured | Definition) -> JsonObject:
    """The same as plain JSON: what is kept, and what a driver is opened with."""
    fields: JsonObject = msgspec.to_builtins(value)
    return fields
