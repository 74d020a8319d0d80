"""The `git` program, run so that nothing of a repository's choosing runs with it.

No hooks, no pager, no editor, no prompt, no signing; the environment of whoever started us does not say which
repository is meant. Names reach git after `--` or as full reference names, never where an option could stand.
"""

from __future__ import annotations

import os
import subprocess
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from tacit.base.errors import Refused, Unavailable

if TYPE_CHECKING:
    from collections.abc import Mapping

SECONDS: Final = 120.0
"""How long one run of git may take."""
_SETTINGS: Final = (
    "-c", "core.hooksPath=/dev/null",
    "-c", "core.fsmonitor=false",
    "-c", "commit.gpgSign=false",
    "-c", "merge.verifySignatures=false",
    "-c", "rebase.autoStash=false",
    "-c", "gc.auto=0",
    "-c", "core.quotePath=false",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class GitAnswer:
    """How a run of git ended, and what it said."""

    code: int
    out: str
    err: str

    @property
    def ok(self) -> bool:
        """Did it do what was asked?"""
        return self.code == 0

    @property
    def line(self) -> str:
        """Its answer, when that is one line."""
        return self.out.strip()


class Git:
    """Git in one folder."""

    def __init__(self, folder: str) -> None:
        self.folder = folder

    def run(self, *words: str, environment: Mapping[str, str] | None = None) -> GitAnswer:
        """One command, whatever comes of it."""
        clean = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
        ours = {"LC_ALL": "C", "GIT_TERMINAL_PROMPT": "0", "GIT_EDITOR": "true", "GIT_PAGER": "cat"}
        try:
            done = subprocess.run(  # noqa: S603 - one program, its arguments as a list, no shell
                ["git", *_SETTINGS, *words],  # noqa: S607 - the person's own git
                cwd=self.folder,
                env={**clean, **ours, **(environment or {})},
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=SECONDS,
                check=False,
            )
        except FileNotFoundError as error:
            if not os.path.isdir(self.folder):  # noqa: PTH112
                raise Refused("no_repository", f"there is no folder {self.folder}") from error
            raise Refused(
                "git_missing", "worktrees need the program `git`, which is not installed"
            ) from error
        except subprocess.TimeoutExpired as error:
            raise Unavailable(f"git {words[0]} took longer than {SECONDS:.0f} s") from error
        except OSError as error:
            raise Unavailable(f"git cannot be run in {self.folder}: {error.strerror}") from error
        return GitAnswer(
            done.returncode, done.stdout.decode("utf-8", "replace"), done.stderr.decode("utf-8", "replace")
        )

    def ask(self, *words: str, environment: Mapping[str, str] | None = None) -> str:
        """One command that has to succeed; its output without the last line's end."""
        answer = self.run(*words, environment=environment)
        if not answer.ok:
            said = answer.err.strip().splitlines()
            raise Refused("git_refused", f"git {words[0]}: {said[-1] if said else f'code {answer.code}'}")
        return answer.out.rstrip("\n")
