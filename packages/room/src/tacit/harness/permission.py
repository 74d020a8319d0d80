"""Patterns: what a person's "always" covers (C2A-207).

The rule owned here: no pattern is wider than what the person was shown. A command is covered when it begins
with the very words that were shown, in the same directory, and adds nothing but names: no option beyond a
few that change only what is printed (nobody can say what another does: `git fetch --upload-pack=...` runs a
program), no setting (`pytest X=...`), no address, no path out of the directory, nothing that a shell reads
as more than a word. Where the shown command is more than plain words, or its program does something else
with every further word, the whole of it must be the same. An edit is covered when every file of it lies under
the folder that was shown, and none of them tells a program what to run (`.git/hooks`, an agent's settings):
who may write those may run anything. What was not shown whole, or is neither, has no pattern: it is allowed
once.

Pure: paths are compared as they are written, after `.` and `..`; nothing is looked up on a disk.
"""

from __future__ import annotations

import hashlib
import posixpath
import re
import shlex
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Literal, cast

from tacit.base.quoting import set_off, single_line

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tacit.harness.drivers.port import PermissionRequest

_PLAIN: Final = re.compile(r"[A-Za-z0-9_@%+=:,./ \-]+\Z")
"""What a shell reads as words and nothing else: no quotes, variables, globs, operators, redirections."""
_EXACT: Final = frozenset(
    {
        "act", "ansible", "ansible-playbook", "ant", "apk", "apptainer", "apt", "apt-get", "ash", "at",
        "awk", "aws", "az", "bash", "bazel", "bmake", "brew", "buck", "buck2", "bun", "bundle", "bundler",
        "bunx", "busybox", "cabal", "chgrp", "chmod", "chown", "chroot", "cmake", "command", "composer",
        "conda", "coverage", "cp", "cpan", "cpanm", "crontab", "csh", "curl", "dagger", "dash", "dd",
        "deno", "direnv", "dnf", "doas", "docker", "doit", "earthly", "ed", "emacs", "emerge", "entr",
        "env", "eval", "ex", "exec", "expect", "fab", "find", "fish", "flatpak", "flock", "fly", "flyctl",
        "gawk", "gcloud", "gdb", "gem", "gh", "ghci", "glab", "gmake", "gradle", "gradlew", "groovy",
        "gsutil", "guile", "hatch", "helm", "heroku", "hyperfine", "install", "inv", "invoke", "ionice",
        "ip", "iptables", "ipython", "irb", "java", "jshell", "julia", "jupyter", "just", "kill",
        "killall", "ksh", "kubectl", "kubectx", "lein", "ln", "lua", "luarocks", "mage", "make", "mamba",
        "meson", "micromamba", "mise", "mix", "mongo", "mongosh", "mount", "mv", "mvn", "mvnw", "mysql",
        "nc", "ncat", "netlify", "nice", "ninja", "nix", "nix-env", "nix-shell", "node", "nodejs", "nohup",
        "nox", "npx", "nsenter", "opam", "open", "osascript", "pacman", "pants", "parallel", "pdm", "perl",
        "php", "pip", "pipx", "pkexec", "pkill", "podman", "poetry", "powershell", "psql", "pwsh", "pypy",
        "python", "racket", "rake", "redis-cli", "remake", "rm", "rmdir", "rscript", "rsync", "ruby",
        "runghc", "sbt", "scala", "scons", "scp", "screen", "script", "sed", "service", "setsid", "sftp",
        "sh", "shred", "snap", "socat", "source", "sqlite", "ssh", "stack", "stdbuf", "strace", "su",
        "sudo", "supabase", "swift", "systemctl", "tar", "task", "taskset", "tclsh", "tcsh", "tee",
        "telnet", "terraform", "time", "timeout", "tmux", "tox", "truncate", "ts-node", "tsx", "unlink",
        "unshare", "unzip", "uv", "uvx", "vercel", "vi", "vim", "waf", "watch", "wget", "wrangler",
        "xargs", "xdg-open", "yum", "zsh", "zypper",
    }
)  # fmt: skip
"""Programs for which a further word is a further deed: of these only the very same command is covered.

A version behind the name (`python3.12`) is no other program.
"""
_TELLS_PROGRAMS: Final = frozenset(
    {
        ".git", ".hg", ".svn", ".claude", ".codex", ".gemini", ".cursor", ".mcp.json", ".vscode", ".idea",
        ".husky", ".envrc", ".direnv", ".ssh", ".gitmodules", ".pre-commit-config.yaml",
    }
)  # fmt: skip
"""Files, and folders with all in them, from which git, an editor or an agent's program reads what to run."""
_SCRIPTS: Final = frozenset({"test", "t", "run"})
_DEEDS: Final[dict[str, frozenset[str]]] = {
    "git": frozenset({"add", "blame", "diff", "fetch", "log", "ls-files", "show", "status"}),
    "npm": _SCRIPTS,
    "pnpm": _SCRIPTS,
    "yarn": _SCRIPTS,
    "cargo": frozenset({"build", "check", "clippy", "doc", "fmt", "test"}),
    "go": frozenset({"build", "fmt", "list", "test", "vet"}),
    "dotnet": frozenset({"build", "test"}),
}
"""Programs of many deeds, and those of them that do the same with one name more."""
_PRINTED: Final = frozenset(
    {"-v", "-vv", "-vvv", "-q", "-qq", "--verbose", "--quiet", "--watch", "--color", "--no-color"}
)
"""Options that change only what is printed, with every program that has them."""
_NAME: Final = re.compile(r"(?:\./)?[A-Za-z0-9_](?:[A-Za-z0-9_.,/@+-]|::)*\Z")
"""A file under the directory, a target, a test."""


@dataclass(frozen=True, slots=True)
class Pattern:
    """What is allowed until it is revoked, as it is shown and kept."""

    kind: Literal["command", "edit"]
    value: str
    """The command, or the folder."""
    directory: str = ""
    """Where the command runs."""
    more: bool = False
    """May further plain words follow the command?"""

    def members(self) -> dict[str, Any]:
        """As on the wire and on the disk."""
        return {"kind": self.kind, "value": self.value, "directory": self.directory, "more": self.more}

    def says(self) -> str:
        """The pattern in words, as the person reads it who grants or revokes it."""
        if self.kind == "edit":
            return f"edits under {self.value}"
        place = f" in {self.directory}" if self.directory else ""
        return f"commands that begin with `{self.value}`{place}" if self.more else f"`{self.value}`{place}"


def wish_of(wanted: PermissionRequest) -> str:
    """A name for what is wanted: the same deed, asked for again by another run of the question.

    Of a command the reason may differ each time; of everything else the details say what it is.
    """
    details = "" if wanted.kind == "command" else wanted.details
    parts = (wanted.kind, wanted.title, wanted.directory, details, str(wanted.whole), *wanted.paths)
    framed = "".join(f"{len(part)}:{part}" for part in parts)
    return hashlib.blake2b(framed.encode(errors="surrogatepass"), digest_size=16).hexdigest()


def note_of(*, granted: bool, title: str, reason: str) -> str:
    """What a model is told when it goes on with a question that waited for a person."""
    asked = f"You had asked for permission for this:\n{set_off(single_line(title, 300))}"
    if granted:
        return f"{asked}\nIt is granted now: do it, and check what is done already."
    why = f", with these words:\n{set_off(single_line(reason, 300))}\n" if reason else ". "
    return f"{asked}\nIt was refused{why}Go on without it."


def refusal_of(reason: str) -> str:
    """What a model is told at once when a person says no: their words are quoted, whatever they say."""
    return f"a person said no:\n{set_off(single_line(reason, 500))}" if reason else "a person said no"


def read_pattern(given: object) -> Pattern | None:
    """The pattern in something that was kept or sent; None when it is none."""
    if not isinstance(given, dict):
        return None
    said = cast("Mapping[str, object]", given)
    kind, value, directory = said.get("kind"), said.get("value"), said.get("directory", "")
    if kind not in {"command", "edit"} or not isinstance(value, str) or not isinstance(directory, str):
        return None
    return Pattern(cast("Any", kind), value, directory, said.get("more") is True) if value else None


def pattern_of(wanted: PermissionRequest) -> Pattern | None:
    """The widest pattern that may be offered for a request; None when it can be allowed once alone."""
    if not wanted.whole:
        return None
    if wanted.kind == "command" and wanted.title.strip():
        return Pattern("command", wanted.title, wanted.directory, _takes_more(wanted.title))
    if wanted.kind == "edit" and wanted.paths:
        places = [_placed(path, wanted.directory) for path in wanted.paths]
        folders = [posixpath.dirname(place) for place in places]
        tells = any(_tells_programs(place, wanted.directory) for place in places)
        if all(posixpath.isabs(folder) for folder in folders) and not tells:
            shared = posixpath.commonpath(folders)
            return Pattern("edit", shared) if shared not in {"", "/"} else None
    return None


def covers(pattern: Pattern, wanted: PermissionRequest) -> bool:
    """Does a pattern that was granted allow this?"""
    if not wanted.whole or pattern.kind != wanted.kind:
        return False
    if pattern.kind == "edit":
        places = [_placed(path, wanted.directory) for path in wanted.paths]
        return bool(places) and all(
            _is_under(place, pattern.value) and not _tells_programs(place, wanted.directory)
            for place in places
        )
    if wanted.directory != pattern.directory:
        return False
    if wanted.title == pattern.value:
        return True
    if not pattern.more or not _takes_more(wanted.title) or not _takes_more(pattern.value):
        return False
    known, given = pattern.value.split(), wanted.title.split()
    more = given[len(known) :]
    return given[: len(known)] == known and all(_is_harmless(word, known[0]) for word in more)


def _takes_more(line: str) -> bool:
    if not _PLAIN.match(line):
        return False
    words = shlex.split(line)
    if not words or "=" in words[0]:
        return False
    program = words[0].rsplit("/", 1)[-1].casefold()
    if program in _EXACT or program.rstrip("0123456789.-") in _EXACT:
        return False
    return program not in _DEEDS or (len(words) > 1 and words[1] in _DEEDS[program])


def _is_harmless(word: str, program: str) -> bool:
    """May this follow a command that was shown?"""
    if word in _PRINTED:
        return True
    if not _NAME.match(word) or ".." in word.split("/"):
        return False
    return "::" not in word or program.rsplit("/", 1)[-1].casefold() != "git"  # to git this names a program


def _placed(path: str, directory: str) -> str:
    return posixpath.normpath(posixpath.join(directory, path))


def _tells_programs(place: str, directory: str) -> bool:
    """Does a program read from this file what it is to run? Where the directory itself lies says nothing."""
    inside = place.removeprefix(directory.rstrip("/") + "/") if _is_under(place, directory) else place
    return not _TELLS_PROGRAMS.isdisjoint(inside.casefold().split("/"))


def _is_under(path: str, folder: str) -> bool:
    return posixpath.isabs(path) and path.startswith(folder.rstrip("/") + "/")
