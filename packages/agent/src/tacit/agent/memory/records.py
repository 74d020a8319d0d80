"""What the journal says of memory: that it changed and why, never what is remembered.

A2ACP-185, A2ACP-193, A2ACP-194.
"""

from __future__ import annotations

from typing import Final

from tacit.agent.kernel.records import Record

LEARNED: Final = "learned"
CONTRADICTED: Final = "contradicted"
CORRECTED: Final = "corrected"
FORGOT: Final = "forgot"


class Remembered(Record, frozen=True, omit_defaults=True):
    """What is remembered of a counterpart is another value now; it lies with the counterpart in the vault."""

    peer: str
    why: str
    """One of the words above."""
    thread_id: str = ""


class Unlearned(Record, frozen=True, omit_defaults=True):
    """Nothing is remembered of a counterpart any more; it stays a contact."""

    peer: str


KINDS: Final[dict[str, type[Record]]] = {
    "x.a2acp.remembered": Remembered,
    "x.a2acp.unlearned": Unlearned,
}
