"""The agent's journal as the ledger's own commands follow it, with every feature's part of the state."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tacit.agent.features import FOLD
from tacit.agent.kernel.io.journal import JournalEngine

if TYPE_CHECKING:
    import apsw


def journal_engine(connection: apsw.Connection) -> JournalEngine:
    """What follows an agent's journal in the ledger's writer."""
    return JournalEngine(connection, FOLD)
