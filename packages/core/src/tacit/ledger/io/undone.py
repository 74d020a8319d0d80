"""Why a writer's batch was undone although no disk failed: signals inside of the writer, never an outcome."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tacit.ledger.commands import groups_of, places_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tacit.base.errors import Refused, Unavailable
    from tacit.ledger.commands import Command, Outcome


class Again(Exception):
    """The batch was rolled back: the outcomes that hold all the same, None for what is decided again."""

    def __init__(self, outcomes: list[Outcome | None]) -> None:
        super().__init__()
        self.outcomes = outcomes
        self.is_try = True
        """Does it count as one of the times that others came before?"""

    @classmethod
    def after(
        cls,
        commands: Sequence[Command],
        outcomes: Sequence[Outcome],
        kept: frozenset[str],
        failed: Mapping[str, Unavailable],
    ) -> Again:
        """Which outcomes hold when the groups in `kept` have their events, and those in `failed` have not.

        Without outcomes not all of the batch was decided: none holds.
        """
        found: list[Outcome | None] = []
        for command, outcome in zip(commands, outcomes or [None] * len(commands), strict=True):
            groups = groups_of(command, outcome) if outcome is not None else frozenset[str]()
            faults = [failed[group] for group in groups if group in failed]
            found.append(faults[0] if faults else outcome if groups and groups <= kept else None)
        return cls(found)

    @property
    def places(self) -> set[tuple[str, int]]:
        """Where the events stand of which those who asked are told."""
        held = [outcome for outcome in self.outcomes if outcome is not None]
        return {place for outcome in held for place in places_of(outcome)}


class HalfDone(Exception):
    """A refusal that came after part of its command was staged: the batch is undone, each tried apart."""

    def __init__(self, refused: Refused) -> None:
        super().__init__(refused.code)
        self.refused = refused
