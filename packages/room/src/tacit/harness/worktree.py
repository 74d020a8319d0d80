"""An agent's own working tree of a project: its names, its record, and what git says about it, as values.

The branch is `tacit/NAME`. Whatever is wanted of a tree (merge, rebase, discard) is a person's to say; an
outcome names the files that stand against it. Runs no program and opens no file: `harness/io/worktrees.py`
does.
"""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Final

from tacit.base.errors import Refused

if TYPE_CHECKING:
    from collections.abc import Mapping

PREFIX: Final = "tacit/"
_UNSAFE: Final = re.compile(r"[^A-Za-z0-9._-]|\.(?=\.|$)|\.(?=lock$)|^[.-]")
"""What git does not take in the name of a branch, and what could pass for an option."""


def branch_of(agent: str) -> str:
    """The branch of an agent: git takes it, and it cannot be read as an option."""
    return PREFIX + _UNSAFE.sub("_", agent)


@dataclass(frozen=True, slots=True)
class Worktree:
    """An agent's tree: of which project, where, on which branch, in which folder of it the agent works."""

    agent: str
    project: str
    path: str
    branch: str
    prefix: str = ""

    @property
    def directory(self) -> str:
        """Where the agent works."""
        return f"{self.path}/{self.prefix}".rstrip("/")

    def as_record(self) -> dict[str, str]:
        """As it is kept."""
        return asdict(self)


def read_record(given: Mapping[str, Any]) -> Worktree:
    """The tree of a kept record."""
    names = ("agent", "project", "path", "branch", "prefix")
    if any(not isinstance(given.get(name), str) for name in names):
        raise Refused("invalid_request", "this record of a worktree is not whole")
    return Worktree(**{name: given[name] for name in names})


@dataclass(frozen=True, slots=True)
class WorktreeStatus:
    """How a tree stands to the branch that its project is on."""

    branch: str
    base: str
    """The branch that the project has checked out; empty when it has none."""
    ahead: int
    behind: int
    files: tuple[str, ...]
    """What is changed and not committed, new files too."""

    @property
    def is_unmerged(self) -> bool:
        """Is there work that the project does not have?"""
        return self.ahead > 0 or bool(self.files)

    @property
    def words(self) -> str:
        """In one line, for people."""
        parts = [f"{self.ahead} ahead" if self.ahead else "", f"{self.behind} behind" if self.behind else ""]
        count = len(self.files)
        parts.append(f"{count} uncommitted file{'s' if count != 1 else ''}" if count else "")
        told = ", ".join(part for part in parts if part)
        return told or ("same as " + self.base if self.base else "nothing of its own")

    def as_json(self) -> dict[str, Any]:
        """For a page or a program."""
        return {**asdict(self), "files": list(self.files), "unmerged": self.is_unmerged, "words": self.words}


@dataclass(frozen=True, slots=True)
class WorktreeOutcome:
    """What came of a merge, a rebase or a discard: done, or the files that stood against it.

    When it was not done, both sides are as they were.
    """

    done: bool
    message: str
    conflicts: tuple[str, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """For a page or a program."""
        return {"done": self.done, "message": self.message, "conflicts": list(self.conflicts)}


def changed_files(porcelain: str) -> tuple[str, ...]:
    """The paths of `git status --porcelain=v1 -z`; of what was renamed, the new one."""
    found: list[str] = []
    parts = iter(porcelain.split("\0"))
    for part in parts:
        if len(part) < 4:
            continue
        found.append(part[3:])
        if "R" in part[:2] or "C" in part[:2]:
            next(parts, None)
    return tuple(sorted(found))


@dataclass(frozen=True, slots=True)
class CheckedOut:
    """A tree that git knows, and the branch it is on."""

    path: str
    branch: str


def checked_out(porcelain: str) -> tuple[CheckedOut, ...]:
    """The trees of `git worktree list --porcelain -z`."""
    found: list[CheckedOut] = []
    for block in porcelain.split("\0\0"):
        parts = [line.partition(" ") for line in block.split("\0") if line]
        lines = {name: value for name, _, value in parts}
        if "worktree" in lines:
            found.append(CheckedOut(lines["worktree"], lines.get("branch", "").removeprefix("refs/heads/")))
    return tuple(found)


def files_told(files: tuple[str, ...], most: int = 8) -> str:
    """Names of files in a sentence."""
    shown = ", ".join(files[:most])
    return shown if len(files) <= most else f"{shown} and {len(files) - most} more"
