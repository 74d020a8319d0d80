"""Where an agent's journal lies in its folder."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tacit.ledger.io.store import DATABASE

if TYPE_CHECKING:
    from pathlib import Path

FOLDER: Final = "journal"


def journal_file(folder: Path) -> Path:
    """The file of the journal and the vault."""
    return folder / FOLDER / DATABASE
