"""An agent's options, read and placed: its folder and its program are there, or it is refused.

Loads no driver: a hub asks this before it takes an agent into its crew.
"""

from __future__ import annotations

import os
import shutil
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from tacit.base.errors import Refused
from tacit.harness.drivers import catalogue
from tacit.harness.drivers.options import Access
from tacit.harness.team import MOST_SESSIONS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tacit.harness.drivers.options import DriverOptions
    from tacit.harness.team import TeamMember


def checked(
    member: TeamMember, state: Path, *, base: Path, environment: Mapping[str, str]
) -> tuple[DriverOptions, bool]:
    """A member's options, and whether it may change files where it works; `Refused` says what is wrong."""
    options = catalogue.parse(
        member.driver, member.options, state=str(state / "driver"), environment=environment
    )
    found = catalogue.entry(member.driver)
    if not found.installed:
        message = f"the {found.name} driver is not installed: {found.install}"
        raise Refused("driver_missing", message, details={"install": found.install})
    # A program of one's own may do as it likes where it was told to work.
    writes = options.access is not Access.READ or (
        member.driver == "command" and options.directory is not None
    )
    _require_room(member, options, writes=writes)
    return placed(member.driver, options, base), writes


def _require_room(member: TeamMember, options: DriverOptions, *, writes: bool) -> None:
    """Is there a folder for each of its sessions, where each needs one?"""
    if member.worktree and options.directory is None and member.driver != "command":
        raise Refused("driver_option", "a worktree is one of a project: say which with --cwd")
    if not 1 <= member.sessions <= MOST_SESSIONS:
        raise Refused("driver_option", f"an agent has 1 to {MOST_SESSIONS} sessions")
    if member.sessions > 1 and writes and options.directory is not None and not member.worktree:
        raise Refused(
            "driver_option",
            f"{member.sessions} sessions that write in one folder would undo each other's work: give each a "
            "branch and a folder of its own with --worktree, or let the agent only read (--access read)",
        )


def placed(driver: str, options: DriverOptions, base: Path) -> DriverOptions:
    """The options with paths as whoever wrote them meant them: from `base`, and there.

    A program of the person's own runs where they are, unless they say where; agents have their own folder.
    """
    directory = options.directory or ("." if driver == "command" else None)
    if directory is not None:
        folder = _from(base, directory)
        if not folder.is_dir():
            raise Refused("driver_unusable", f"there is no folder {folder} to work in")
        options = replace(options, directory=str(folder))
    if not options.command:
        return options
    program, *rest = options.command
    path = _from(base, program)
    if "/" not in program:
        if shutil.which(program) is None:
            at = f"; for the one in this folder write ./{program}" if path.is_file() else ""
            raise Refused("driver_unusable", f"there is no program {program} on the PATH{at}")
        return options
    if not path.is_file():
        raise Refused("driver_unusable", f"there is no program {path}")
    if not os.access(path, os.X_OK):
        raise Refused("driver_unusable", f"{path} may not be run: chmod +x makes it a program")
    return replace(options, command=(str(path), *rest))


def _from(base: Path, path: str) -> Path:
    try:
        return (base / Path(path).expanduser()).absolute()
    except RuntimeError as error:  # a home that nobody has
        raise Refused("driver_unusable", f"there is nobody whose home {path} could be in") from error
