"""Worktrees of agents, by the `git` program: made once, kept over restarts, merged, rebased or discarded.

Nothing uncommitted is ever lost: what an agent left in its tree is first written as a commit beside its
branch (by an index of our own, so that neither the branch nor the agent's index moves). A merge is tried on
that commit without touching a file (`git merge-tree`); only what fits is done. A rebase that meets a conflict
is taken back. What is discarded by force stays reachable under `refs/tacit/discarded/`. The person's own
checkout is changed by `git merge` alone, which refuses by itself what would overwrite their changes.
"""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any, Final, cast

from tacit.base.errors import Refused
from tacit.harness.io.git import Git
from tacit.harness.worktree import (
    Worktree,
    WorktreeOutcome,
    WorktreeStatus,
    branch_of,
    changed_files,
    checked_out,
    files_told,
    read_record,
)

RECORD: Final = "worktree.json"
DISCARDED: Final = "refs/tacit/discarded"
MOST_DIFF: Final = 400_000
"""Characters of a diff that are shown."""


def kept(state: Path) -> Worktree | None:
    """The tree of the agent whose state folder this is."""
    try:
        said: object = json.loads((state / RECORD).read_text(encoding="utf-8"))
        return read_record(cast("dict[str, Any]", said) if isinstance(said, dict) else {})
    except FileNotFoundError:
        return None
    except (ValueError, OSError, Refused) as error:
        raise Refused("invalid_request", f"{state / RECORD} cannot be read: mend or remove it") from error


def ensured(agent: str, directory: str, state: Path) -> Worktree:
    """The agent's tree of the project in `directory`: the one it has, or a new one from what is committed."""
    project, prefix = _project(directory)
    found = kept(state)
    if found is not None and (found.project, found.prefix) != (project, prefix):
        raise Refused(
            "worktree_elsewhere",
            f"{agent} has a worktree of {_place(found.project, found.prefix)}, not of {directory}: merge and "
            f"discard that one first (`tacit worktree discard {agent}`)",
        )
    tree = found or Worktree(
        agent, project, str(state.absolute() / "worktree" / Path(project).name), branch_of(agent), prefix
    )
    if found is None:
        _keep(state, tree)
    _set_up(tree)
    folder = Path(tree.directory)
    folder.mkdir(parents=True, exist_ok=True)
    return tree


def _place(project: str, prefix: str) -> str:
    return f"{project}/{prefix}".rstrip("/")


def _project(directory: str) -> tuple[str, str]:
    """The root of the checkout around a folder, and the folder inside it."""
    git = Git(directory)
    root = git.run("rev-parse", "--show-toplevel")
    if not root.ok or not root.line:
        raise Refused(
            "no_repository",
            f"{directory} is in no git repository, so there can be no worktree of it: `git init` and a first "
            "commit make one, or leave --worktree out",
        )
    if not git.run("rev-parse", "--verify", "--quiet", "HEAD^{commit}").ok:
        raise Refused(
            "no_repository", f"{root.line} has no commit yet, and a worktree starts from one: commit first"
        )
    return root.out.rstrip("\n"), git.ask("rev-parse", "--show-prefix").rstrip("/")


def _keep(state: Path, tree: Worktree) -> None:
    """Write the record as a whole; it comes first, so that whatever is made later is found again."""
    state.mkdir(parents=True, exist_ok=True, mode=0o700)
    fresh = state / (RECORD + ".new")
    with os.fdopen(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
        json.dump(tree.as_record(), file)
        file.flush()
        os.fsync(file.fileno())
    fresh.replace(state / RECORD)


def _set_up(tree: Worktree) -> None:
    if (Path(tree.path) / ".git").exists():
        return
    git = Git(tree.project)
    known = checked_out(git.ask("worktree", "list", "--porcelain", "-z"))
    for one in known:
        if one.branch == tree.branch and one.path != tree.path and Path(one.path).exists():
            raise Refused(
                "worktree_taken",
                f"the branch {tree.branch} of {tree.project} is checked out in {one.path}: another agent of "
                "this name has it; join under another name, or discard that worktree",
            )
    Path(tree.path).parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    # Registered, but somebody removed the folder: git wants to hear that this is known.
    again = ["--force"] if any(tree.path == one.path for one in known) else []
    if git.run("rev-parse", "--verify", "--quiet", f"refs/heads/{tree.branch}").ok:
        git.ask("worktree", "add", "--quiet", *again, "--", tree.path, tree.branch)
    else:
        git.ask("worktree", "add", "--quiet", *again, "-b", tree.branch, "--", tree.path, "HEAD")


# -- looking


def status(tree: Worktree) -> WorktreeStatus:
    """How the tree stands to its project."""
    git = _tree(tree)
    branch = git.run("symbolic-ref", "--quiet", "--short", "HEAD").line
    base = Git(tree.project).run("symbolic-ref", "--quiet", "--short", "HEAD").line
    against = Git(tree.project).ask("rev-parse", "HEAD")
    behind, ahead = git.ask("rev-list", "--left-right", "--count", f"{against}...HEAD").split()
    said = git.ask(
        "status", "--porcelain=v1", "-z", "--untracked-files=all", environment={"GIT_OPTIONAL_LOCKS": "0"}
    )
    return WorktreeStatus(branch, base, int(ahead), int(behind), changed_files(said))


def diff(tree: Worktree) -> str:
    """All that the tree has and its project had not when they parted, uncommitted and new files too."""
    git = _tree(tree)
    tip, against = _snapshot(tree), Git(tree.project).ask("rev-parse", "HEAD")
    parted = git.ask("merge-base", against, tip)
    told = git.ask("diff", "--no-ext-diff", "--no-textconv", "--no-color", "--find-renames", parted, tip)
    if len(told) > MOST_DIFF:
        return told[:MOST_DIFF] + f"\n... and {len(told) - MOST_DIFF} more characters\n"
    return told


def _tree(tree: Worktree) -> Git:
    if not (Path(tree.path) / ".git").exists():
        raise Refused(
            "worktree_missing",
            f"the worktree {tree.path} is not there; it comes back when {tree.agent} starts",
        )
    if not _is_of_its_project(tree):
        raise Refused(
            "worktree_elsewhere",
            f"{tree.path}/.git does not lead to {tree.project} any more, and git is not run there: look at "
            "what is in it, then remove the folder",
        )
    return Git(tree.path)


def _is_of_its_project(tree: Worktree) -> bool:
    """Does git find the project's own repository there?

    The agent writes in its tree. Another repository in the place of ours would bring settings of its own,
    and with them programs that would run for whoever looks at the tree (filters, for one).
    """
    link = Path(tree.path) / ".git"
    common = Git(tree.project).ask("rev-parse", "--path-format=absolute", "--git-common-dir")
    try:
        said = "" if link.is_symlink() else link.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return False
    name, _, target = said.partition(":")
    home = Path(common).resolve() / "worktrees"
    return name == "gitdir" and (Path(tree.path) / target.strip()).resolve().parent == home


def _snapshot(tree: Worktree) -> str:
    """A commit of the tree as it is now, which no branch knows yet; the branch's own when nothing is open."""
    git = _tree(tree)
    head = git.ask("rev-parse", "HEAD")
    ours = Path(git.ask("rev-parse", "--path-format=absolute", "--git-path", "tacit-index"))
    index = Path(git.ask("rev-parse", "--path-format=absolute", "--git-path", "index"))
    try:
        if index.exists():
            # With its time: by it git knows which files it must look into, those changed in the same second.
            shutil.copy2(index, ours)
        elsewhere = {"GIT_INDEX_FILE": str(ours)}
        git.ask("add", "--all", "--", ":/", environment=elsewhere)
        content = git.ask("write-tree", environment=elsewhere)
    finally:
        ours.unlink(missing_ok=True)
    if content == git.ask("rev-parse", f"{head}^{{tree}}"):
        return head
    email = f"{branch_of(tree.agent).removeprefix('tacit/')}@tacit.invalid"
    who = {
        f"GIT_{part}_{name}": value
        for part in ("AUTHOR", "COMMITTER")
        for name, value in (("NAME", tree.agent), ("EMAIL", email))
    }
    return git.ask(
        "commit-tree", "-m", f"What {tree.agent} left uncommitted", "-p", head, content, environment=who
    )


# -- changing


def _require_own_branch(tree: Worktree, what: str) -> None:
    git = _tree(tree)
    branch = git.run("symbolic-ref", "--quiet", "--short", "HEAD").line
    if branch != tree.branch:
        on = f"on {branch}" if branch else "on no branch, perhaps in the middle of a rebase"
        raise Refused("worktree_branch", f"{tree.agent}'s tree is {on}: there is nothing to {what} by itself")


def _base(tree: Worktree) -> str:
    """The branch that the project is on."""
    git = Git(tree.project)
    base = git.run("symbolic-ref", "--quiet", "--short", "HEAD").line
    if not base:
        raise Refused("worktree_base", f"{tree.project} is on no branch: check one out first")
    if git.run("rev-parse", "--verify", "--quiet", "MERGE_HEAD").ok:
        raise Refused("worktree_base", f"{tree.project} is in the middle of a merge: end that first")
    return base


def merge(tree: Worktree) -> WorktreeOutcome:
    """Bring the agent's work into the branch that the project is on; a conflict changes nothing."""
    _require_own_branch(tree, "merge")
    base, project = _base(tree), Git(tree.project)
    before, tip = _tree(tree).ask("rev-parse", "HEAD"), _snapshot(tree)
    if project.run("merge-base", "--is-ancestor", tip, "HEAD").ok:
        return WorktreeOutcome(done=True, message=f"{base} has all of {tree.agent}'s work already")
    tried = project.run("merge-tree", "--write-tree", "--name-only", "-z", "--no-messages", "HEAD", tip)
    if tried.code == 1:
        files = tuple(sorted(set(tried.out.split("\0")[1:]) - {""}))
        told = f"{tree.agent}'s work and {base} both changed {files_told(files)}; nothing was merged"
        return WorktreeOutcome(done=False, message=told, conflicts=files)
    if not tried.ok:
        raise Refused("git_refused", f"git merge-tree (2.38 or later is needed): {tried.err.strip()[:200]}")
    words = f"Merge {tree.agent}'s work ({tree.branch})"
    done = project.run("merge", "--quiet", "--no-ff", "--no-edit", "-m", words, tip, environment=_me(project))
    if not done.ok:
        if project.run("rev-parse", "--verify", "--quiet", "MERGE_HEAD").ok:
            project.ask("merge", "--abort")
        files = tuple(sorted(line.strip() for line in done.err.splitlines() if line.startswith("\t")))
        told = f"your own uncommitted changes in {tree.project} are in the way"
        told = f"{told}: {files_told(files)}" if files else f"git merge: {done.err.strip()[-200:]}"
        return WorktreeOutcome(done=False, message=f"{told}; nothing was merged", conflicts=files)
    _adopt(tree, tip, before)
    return WorktreeOutcome(done=True, message=f"merged {tree.agent}'s work into {base}")


def rebase(tree: Worktree) -> WorktreeOutcome:
    """Put the agent's work on top of the branch that the project is on; a conflict is taken back."""
    _require_own_branch(tree, "rebase")
    base, git = _base(tree), _tree(tree)
    before, tip = git.ask("rev-parse", "HEAD"), _snapshot(tree)
    onto = Git(tree.project).ask("rev-parse", "HEAD")
    _adopt(tree, tip, before)
    done = git.run("rebase", "--quiet", "--no-autostash", onto, environment=_me(git))
    if done.ok:
        return WorktreeOutcome(done=True, message=f"{tree.agent}'s work now stands on {base}")
    listed = git.run("diff", "--name-only", "--diff-filter=U", "-z")
    files = tuple(sorted(set(listed.out.split("\0")) - {""}))
    git.run("rebase", "--abort")
    _adopt(tree, before, tip)
    told = (
        f"{tree.agent}'s work and {base} both changed {files_told(files)}"
        if files
        else done.err.strip()[-200:]
    )
    return WorktreeOutcome(done=False, message=f"{told}; nothing was rebased", conflicts=files)


def discard(tree: Worktree, state: Path, *, force: bool = False) -> WorktreeOutcome:
    """Remove the tree and its branch; work that the project has not needs `force`, and is kept aside."""
    git = Git(tree.project)
    here = (Path(tree.path) / ".git").exists()
    lost = [tip for tip in _tips(tree) if not git.run("merge-base", "--is-ancestor", tip, "HEAD").ok]
    if lost and not force:
        now = status(tree) if here else None
        told = now.words if now is not None else f"commits on {tree.branch}"
        raise Refused(
            "worktree_unmerged",
            f"{tree.agent}'s worktree has work that {tree.project} does not have ({told}): merge it, or "
            "discard it with --force",
            details=now.as_json() if now is not None else None,
        )
    aside = [_set_aside(tree, tip) for tip in lost]
    if here:
        git.ask("worktree", "remove", "--force", "--", tree.path)
    elif _is_ours_alone(tree):
        git.ask("worktree", "prune", "--expire", "now")
    git.run("update-ref", "-d", f"refs/heads/{tree.branch}")
    (state / RECORD).unlink(missing_ok=True)
    note = f"; what was in it is kept: git branch again {aside[0]}" if aside else ""
    return WorktreeOutcome(done=True, message=f"discarded {tree.agent}'s worktree{note}")


def _tips(tree: Worktree) -> list[str]:
    """The commits that a discard could lose: the tree as it is, and its branch where that is elsewhere."""
    found = [_snapshot(tree)] if (Path(tree.path) / ".git").exists() else []
    branch = Git(tree.project).run("rev-parse", "--verify", "--quiet", f"refs/heads/{tree.branch}")
    if branch.ok and not any(
        Git(tree.project).run("merge-base", "--is-ancestor", branch.line, tip).ok for tip in found
    ):
        found.append(branch.line)
    return found


def _is_ours_alone(tree: Worktree) -> bool:
    """Is ours the only tree that git knows and cannot find? Others' are not ours to forget."""
    known = checked_out(Git(tree.project).ask("worktree", "list", "--porcelain", "-z"))
    return all(one.path == tree.path or Path(one.path).exists() for one in known)


def _set_aside(tree: Worktree, tip: str) -> str:
    name = f"{DISCARDED}/{branch_of(tree.agent).removeprefix('tacit/')}/{tip[:12]}"
    Git(tree.project).ask("update-ref", name, tip)
    return name


def _adopt(tree: Worktree, tip: str, before: str) -> None:
    """Move the branch; the files stay as they are."""
    if tip != before:
        git = _tree(tree)
        git.ask("update-ref", f"refs/heads/{tree.branch}", tip, before)
        git.ask("reset", "--quiet")


def _me(git: Git) -> dict[str, str]:
    """Who commits, where the person has told git nothing about themselves."""
    if git.run("config", "user.email").line:
        return {}
    return {
        f"GIT_{part}_{name}": value
        for part in ("AUTHOR", "COMMITTER")
        for name, value in (("NAME", "Tacit"), ("EMAIL", "tacit@tacit.invalid"))
    }
