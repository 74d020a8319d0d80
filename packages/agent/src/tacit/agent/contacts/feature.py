"""What contacts add to the agent."""

from __future__ import annotations

from typing import Final

from tacit.agent.contacts.io import first_contact
from tacit.agent.kernel.feature import Feature

FEATURE: Final = Feature(questions={first_contact.KIND: first_contact.answer}, turn=first_contact.turn)
