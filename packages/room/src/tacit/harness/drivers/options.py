"""What a person says about an agent before it starts, as one value for all drivers.

Knows what each word means, not how any agent is told: that is the driver's.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

PRIVATE: Final = "private"
"""The folder in a driver's own that holds one for each audience other than the room."""

PASSING: Final = "passing"
"""The folder in a driver's own for a turn that is to be forgotten; it is there only while the turn is."""


class Access(StrEnum):
    """How far an agent's own tools may reach. The chat tools are not concerned."""

    READ = "read"
    """It may look at the files of its working directory and change nothing."""
    WRITE = "write"
    """It may also change them."""
    FULL = "full"
    """It may do whatever the account that runs it may do."""


@dataclass(frozen=True, slots=True)
class DriverOptions:
    """How to run an agent. Each driver reads the fields that concern it."""

    state: str
    """The driver's own folder: sessions, settings and an empty working directory live here, nothing
    elsewhere."""
    model: str = ""
    base_url: str = ""
    """Where the model is, when not where the agent would look for it."""
    key: str = field(default="", repr=False)
    """The key for the model. Reaches the agent through its environment only."""
    directory: str | None = None
    """The working directory when the turn names none."""
    access: Access = Access.READ
    use_my_config: bool = False
    """Run the agent as the person's own: their account, settings and environment, read and written."""
    command: tuple[str, ...] = ()
    """The program, where the driver runs one, or another binary in place of the one that was installed."""
    plain_text: bool = False
    """For `command`: the prompt alone on stdin, and all of stdout is the reply."""
    model_retries: int = 2
    """How often the agent itself repeats a failed model call before the turn fails."""
    forgets: bool = False
    """It lives for one turn at a time, has no tools of its own, and keeps no session."""
    start_limit: float = 60.0
    """Seconds an agent may take to be ready."""
