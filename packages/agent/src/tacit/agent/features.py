"""The features of the personal agent: the one place that lists them."""

from __future__ import annotations

from typing import Final

from tacit.agent.brain.feature import FEATURE as BRAIN
from tacit.agent.contacts.feature import FEATURE as CONTACTS
from tacit.agent.groups.feature import FEATURE as GROUPS
from tacit.agent.guests.feature import FEATURE as GUESTS
from tacit.agent.kernel.fold import Fold
from tacit.agent.memory.feature import FEATURE as MEMORY
from tacit.agent.owner.feature import FEATURE as OWNER
from tacit.agent.scheduling.feature import FEATURE as SCHEDULING
from tacit.agent.spaces.feature import FEATURE as SPACES

FEATURES: Final = (SCHEDULING, CONTACTS, GROUPS, GUESTS, MEMORY, OWNER, BRAIN, SPACES)
FOLD: Final = Fold(*(feature.part for feature in FEATURES if feature.part is not None))
LASTING: Final = tuple(feature.lasting for feature in FEATURES if feature.lasting)
"""How the names of values in the vault begin that stay when a contact's time is over."""
NOTICES: Final = {code: text for feature in FEATURES for code, text in feature.notices.items()}
"""What the owner is told, by code: sentences that go on from what the thread is about."""
ANSWERS: Final = {kind: answers for feature in FEATURES for kind, answers in feature.questions.items()}
"""Who answers a question that is not about a thread, by its kind."""
