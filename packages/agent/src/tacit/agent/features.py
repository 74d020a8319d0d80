"""The features of the personal agent: the one place that lists them."""

from __future__ import annotations

from typing import Final

from tacit.agent.groups.feature import FEATURE as GROUPS
from tacit.agent.guests.feature import FEATURE as GUESTS
from tacit.agent.kernel.fold import Fold
from tacit.agent.memory.feature import FEATURE as MEMORY
from tacit.agent.owner.feature import FEATURE as OWNER
from tacit.agent.spaces.feature import FEATURE as SPACES

FEATURES: Final = (GROUPS, GUESTS, MEMORY, OWNER, SPACES)
FOLD: Final = Fold(*(feature.part for feature in FEATURES if feature.part is not None))
LASTING: Final = tuple(feature.lasting for feature in FEATURES if feature.lasting)
"""How the names of values in the vault begin that stay when a contact's time is over."""
