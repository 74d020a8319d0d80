"""What agents have in common whose process lives between turns, with one session in it.

Each has a home of its own and an empty working directory in the driver's folder, and is alive while its
process is. Knows nothing of any agent's language.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from tacit.harness.drivers.io.turns import NoSteering

if TYPE_CHECKING:
    from tacit.harness.drivers.io.child import Child
    from tacit.harness.drivers.options import DriverOptions
    from tacit.harness.drivers.port import StandingInstructions, Traits


class OneProcess(NoSteering):
    """The part of a backend that says how its process stands."""

    def __init__(self, options: DriverOptions, traits: Traits) -> None:
        self._options = options
        self._traits = traits
        self._child: Child | None = None
        self._session: str | None = None

    @property
    def traits(self) -> Traits:
        """What it can do."""
        return self._traits

    @property
    def alive(self) -> bool:
        """Whether the process runs."""
        return self._child is not None and self._child.alive

    async def last_words(self) -> str:
        """What the process said last to nobody."""
        return await self._child.last_words() if self._child is not None else ""

    @property
    def session_id(self) -> str | None:
        """The session's id."""
        return self._session


def scratch(options: DriverOptions) -> dict[str, str]:
    """The variable that keeps scattered files in the folder, where the folder goes with the turn."""
    if not options.forgets:
        return {}
    folder = Path(options.state) / "tmp"
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    return {"TMPDIR": str(folder)}


def places(options: DriverOptions, standing: StandingInstructions) -> tuple[Path, str]:
    """The agent's own home, and where it works: where it is told to, or in an empty folder of its own."""
    home, work = Path(options.state) / "home", Path(options.state) / "work"
    for folder in (home, work):
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    return home, standing.directory or options.directory or str(work)
