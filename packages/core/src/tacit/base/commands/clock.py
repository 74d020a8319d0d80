"""Is the clock believed? What every `clock` command shows: of a hub, of a relay and of an agent."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import click

from tacit.base.commands.outcome import show
from tacit.base.errors import Unavailable
from tacit.base.io.time_service import FILE, TimeService

if TYPE_CHECKING:
    from pathlib import Path


def clock_of(folder: Path) -> TimeService:
    """The clock as whatever runs on a folder has seen it; `Unavailable` where nothing has run."""
    if not (folder / FILE).exists():
        raise Unavailable(f"nothing has run in {folder} yet, so nothing is known of the clock there")
    clock = TimeService()
    clock.remember_in(folder, lambda: None)
    return clock


def show_clock(clock: TimeService, *, trust: bool, as_json: bool) -> None:
    """Say what is known of the clock; `trust` says that it is right, to whatever runs on the folder, too."""
    if trust:
        clock.trust()
    doubt = clock.doubt()
    show({"believed": not doubt, "doubt": doubt or None}, doubt or "the clock is believed", as_json=as_json)


TRUST: Final = click.option("--trust", is_flag=True, help="Say that the clock is right, also after it leapt.")
