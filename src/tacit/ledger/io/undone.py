"""Why a writer's batch was undone although no disk failed: signals inside of the writer, never an outcome."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tacit.base.errors import Refused
    from tacit.ledger.commands import Outcome


class Again(Exception):
    """The batch was rolled back: the outcomes that hold all the same, None for what is decided again."""

    def __init__(self, outcomes: list[Outcome | None]) -> None:
        super().__init__()
        self.outcomes = outcomes


class HalfDone(Exception):
    """A refusal that came after part of its command was staged: the batch is undone, each tried apart."""

    def __init__(self, refused: Refused) -> None:
        super().__init__(refused.code)
        self.refused = refused
