"""Worktrees of agents, with the real `git` in real repositories."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from tacit.base.errors import Refused
from tacit.harness.io import worktrees
from tacit.harness.worktree import branch_of

CLEAN = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}


def git(folder: Path, *words: str) -> str:
    identity = ("-c", "user.name=Ann", "-c", "user.email=ann@example.org")
    done = subprocess.run(
        ["git", *identity, *words], cwd=folder, env=CLEAN, capture_output=True, text=True, check=True
    )
    return done.stdout.rstrip("\n")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "importer"
    folder.mkdir()
    git(folder, "init", "--quiet", "--initial-branch", "main")
    (folder / "app.txt").write_text("one\ntwo\nthree\n")
    (folder / "lib").mkdir()
    (folder / "lib" / "part.txt").write_text("part\n")
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "-m", "first")
    return folder


def picture(folder: Path) -> dict[str, object]:
    """All that a person would miss: files, branches, index, what is open."""
    files = {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and ".git" not in path.relative_to(folder).parts
    }
    return {
        "files": files,
        "head": git(folder, "rev-parse", "HEAD"),
        "status": git(folder, "status", "--porcelain"),
        "staged": git(folder, "diff", "--cached"),
    }


def tree_of(tmp_path: Path, project: Path, name: str = "ada"):
    state = tmp_path / "state" / name
    return worktrees.ensured(name, str(project), state), state


def test_a_tree_is_made_once_on_a_branch_of_its_own_and_kept(tmp_path, project):
    tree, state = tree_of(tmp_path, project)
    assert tree.branch == "tacit/ada"
    assert Path(tree.directory, "app.txt").read_text() == "one\ntwo\nthree\n"
    Path(tree.path, "new.txt").write_text("not committed\n")
    again, _ = tree_of(tmp_path, project)
    assert again == tree == worktrees.kept(state)
    assert Path(tree.path, "new.txt").read_text() == "not committed\n"
    assert git(project, "branch", "--show-current") == "main"


def test_an_agent_in_a_folder_of_the_project_works_in_that_folder(tmp_path, project):
    tree = worktrees.ensured("ada", str(project / "lib"), tmp_path / "state" / "ada")
    assert Path(tree.directory) == Path(tree.path) / "lib"
    assert Path(tree.directory, "part.txt").exists()


def test_a_tree_that_somebody_removed_comes_back_with_its_commits(tmp_path, project):
    tree, _ = tree_of(tmp_path, project)
    Path(tree.path, "done.txt").write_text("done\n")
    git(Path(tree.path), "add", "--all")
    git(Path(tree.path), "commit", "--quiet", "-m", "work")
    subprocess.run(["rm", "-rf", tree.path], check=True)
    with pytest.raises(Refused, match="comes back when ada starts"):
        worktrees.status(tree)
    again, _ = tree_of(tmp_path, project)
    assert Path(again.path, "done.txt").read_text() == "done\n"


def test_status_and_diff_tell_of_commits_changes_and_new_files(tmp_path, project):
    tree, _ = tree_of(tmp_path, project)
    assert worktrees.status(tree).words == "same as main"
    folder = Path(tree.path)
    (folder / "app.txt").write_text("one\nTWO\nthree\n")
    git(folder, "commit", "--quiet", "--all", "-m", "work")
    (folder / "lib" / "part.txt").write_text("changed\n")
    (folder / "a file.txt").write_text("new\n")
    (project / "other.txt").write_text("x\n")
    git(project, "add", "--all")
    git(project, "commit", "--quiet", "-m", "mine")
    before = picture(folder)
    now = worktrees.status(tree)
    assert (now.branch, now.base, now.ahead, now.behind) == ("tacit/ada", "main", 1, 1)
    assert now.files == ("a file.txt", "lib/part.txt")
    told = worktrees.diff(tree)
    assert "+TWO" in told
    assert "+changed" in told
    assert "a file.txt" in told
    assert "other.txt" not in told
    assert picture(folder) == before


def test_a_merge_brings_everything_and_leaves_the_persons_changes_alone(tmp_path, project):
    tree, _ = tree_of(tmp_path, project)
    folder = Path(tree.path)
    (folder / "app.txt").write_text("one\nTWO\nthree\n")
    git(folder, "commit", "--quiet", "--all", "-m", "work")
    (folder / "new.txt").write_text("uncommitted\n")
    (project / "lib" / "part.txt").write_text("the person is at this\n")
    (project / "notes.txt").write_text("untracked\n")
    done = worktrees.merge(tree)
    assert done.done, done
    assert (project / "app.txt").read_text() == "one\nTWO\nthree\n"
    assert (project / "new.txt").read_text() == "uncommitted\n"
    assert (project / "lib" / "part.txt").read_text() == "the person is at this\n"
    assert (project / "notes.txt").read_text() == "untracked\n"
    after = worktrees.status(tree)
    assert (after.ahead, after.files) == (0, ())
    assert "has all" in worktrees.merge(tree).message


def test_a_change_in_the_second_of_the_checkout_that_keeps_the_length_is_not_lost(tmp_path, project):
    tree, _ = tree_of(tmp_path, project)
    folder = Path(tree.path)
    # As if checkout and change were of one second, an hour ago: only then does git see no difference in the times.
    git(folder, "config", "core.checkStat", "minimal")
    git(folder, "config", "core.trustctime", "false")
    file = folder / "app.txt"
    index = Path(git(folder, "rev-parse", "--path-format=absolute", "--git-path", "index"))
    then = file.stat().st_mtime_ns - 3600 * 10**9
    os.utime(file, ns=(then, then))
    git(folder, "update-index", "--refresh")
    file.write_text("one\nTWO\nthree\n")
    for path in (file, index):
        os.utime(path, ns=(then, then))
    assert "+TWO" in worktrees.diff(tree)
    assert worktrees.merge(tree).done
    assert (project / "app.txt").read_text() == "one\nTWO\nthree\n"


def test_two_agents_with_a_conflict_are_told_the_files_and_both_sides_stay(tmp_path, project):
    (ada, _), (bob, _) = tree_of(tmp_path, project, "ada"), tree_of(tmp_path, project, "bob")
    Path(ada.path, "app.txt").write_text("one\nADA\nthree\n")
    Path(bob.path, "app.txt").write_text("one\nBOB\nthree\n")
    Path(bob.path, "new.txt").write_text("of bob\n")
    assert worktrees.merge(ada).done
    before = picture(project), picture(Path(bob.path))
    for act in (worktrees.merge, worktrees.rebase):
        came = act(bob)
        assert (came.done, came.conflicts) == (False, ("app.txt",))
        assert "app.txt" in came.message
        assert (picture(project), picture(Path(bob.path))) == before


def test_what_the_person_has_not_committed_is_never_overwritten(tmp_path, project):
    tree, _ = tree_of(tmp_path, project)
    Path(tree.path, "app.txt").write_text("one\nADA\nthree\n")
    Path(tree.path, "new.txt").write_text("of ada\n")
    for name, text in (("app.txt", "one\ntwo\nmine\n"), ("new.txt", "of the person\n")):
        (project / name).write_text(text)
        before = picture(project), picture(Path(tree.path))
        came = worktrees.merge(tree)
        assert (came.done, came.conflicts) == (False, (name,))
        assert (picture(project), picture(Path(tree.path))) == before
        git(project, "checkout", "--quiet", "--", "app.txt")


def test_a_rebase_brings_the_projects_news_under_the_agents_work(tmp_path, project):
    tree, _ = tree_of(tmp_path, project)
    Path(tree.path, "new.txt").write_text("of ada\n")
    (project / "other.txt").write_text("x\n")
    git(project, "add", "--all")
    git(project, "commit", "--quiet", "-m", "mine")
    assert worktrees.rebase(tree).done
    assert Path(tree.path, "other.txt").exists()
    assert Path(tree.path, "new.txt").read_text() == "of ada\n"
    assert (worktrees.status(tree).ahead, worktrees.status(tree).behind) == (1, 0)


def test_unmerged_work_is_discarded_by_force_alone_and_can_be_had_back(tmp_path, project):
    tree, state = tree_of(tmp_path, project)
    Path(tree.path, "new.txt").write_text("of ada\n")
    with pytest.raises(Refused, match="1 uncommitted file"):
        worktrees.discard(tree, state)
    assert Path(tree.path, "new.txt").exists()
    told = worktrees.discard(tree, state, force=True).message
    assert not Path(tree.path).exists()
    assert worktrees.kept(state) is None
    assert "tacit/ada" not in git(project, "branch", "--list")
    git(project, "branch", "again", told.split()[-1])
    assert git(project, "show", "again:new.txt") == "of ada"
    fresh, _ = tree_of(tmp_path, project)
    assert not Path(fresh.path, "new.txt").exists()


def test_merged_work_is_discarded_without_force(tmp_path, project):
    tree, state = tree_of(tmp_path, project)
    Path(tree.path, "new.txt").write_text("of ada\n")
    worktrees.merge(tree)
    assert worktrees.discard(tree, state).done
    assert git(project, "worktree", "list").count("\n") == 0


def test_no_hook_of_the_repository_runs(tmp_path, project):
    hooks = project / ".git" / "hooks"
    hooks.mkdir(exist_ok=True)
    ran = tmp_path / "ran"
    for name in ("post-checkout", "pre-commit", "commit-msg", "post-merge", "pre-merge-commit", "pre-rebase",
                 "post-rewrite", "reference-transaction", "post-index-change"):  # fmt: skip
        (hooks / name).write_text(f"#!/bin/sh\necho {name} >> {ran}\n")
        (hooks / name).chmod(0o755)
    tree, state = tree_of(tmp_path, project)
    Path(tree.path, "new.txt").write_text("of ada\n")
    worktrees.rebase(tree)
    worktrees.merge(tree)
    worktrees.discard(tree, state)
    assert not ran.exists(), ran.read_text()


@pytest.mark.parametrize("how", ["folder", "file", "link"])
def test_no_repository_that_an_agent_puts_in_its_trees_place_says_what_runs(tmp_path, project, how):
    tree, state = tree_of(tmp_path, project)
    ran = tmp_path / "ran"
    theirs = Path(tree.path, "theirs")
    theirs.mkdir()
    git(theirs, "init", "--quiet", "--initial-branch", tree.branch)
    git(theirs, "config", "filter.x.clean", f"touch {ran}; cat")
    git(theirs, "commit", "--quiet", "--allow-empty", "-m", "theirs")
    link = Path(tree.path, ".git")
    link.unlink()
    if how == "folder":
        (theirs / ".git").rename(link)
    elif how == "file":
        link.write_text(f"gitdir: {theirs / '.git'}\n")
    else:
        link.symlink_to(theirs / ".git")
    Path(tree.path, ".gitattributes").write_text("*.txt filter=x\n")
    Path(tree.path, "new.txt").write_text("of ada\n")
    looks = (worktrees.status, worktrees.diff, worktrees.merge, worktrees.rebase)
    for look in (*looks, lambda one: worktrees.discard(one, state, force=True)):
        with pytest.raises(Refused, match="does not lead to"):
            look(tree)
    assert not ran.exists()


@pytest.mark.parametrize(
    "name",
    ["ada", "a..b", "x.lock", "-n", "--help", "a.", ".a", "e@{1}", "sp ace", "new\nline", "ü", "a/../../b"],
)
def test_every_name_gives_a_branch_that_git_takes_and_no_option(tmp_path, project, name):
    subprocess.run(["git", "check-ref-format", "--branch", branch_of(name)], check=True, capture_output=True)
    tree = worktrees.ensured(name, str(project), tmp_path / "state")
    Path(tree.path, "new.txt").write_text("x\n")
    assert worktrees.merge(tree).done
    assert worktrees.discard(tree, tmp_path / "state").done


def test_what_cannot_be_a_worktree_is_told_plainly(tmp_path, project):
    bare = tmp_path / "bare"
    bare.mkdir()
    with pytest.raises(Refused, match="in no git repository"):
        worktrees.ensured("ada", str(bare), tmp_path / "state")
    git(bare, "init", "--quiet")
    with pytest.raises(Refused, match="no commit yet"):
        worktrees.ensured("ada", str(bare), tmp_path / "state")
    tree_of(tmp_path, project)
    with pytest.raises(Refused, match="another agent of this name"):
        worktrees.ensured("ada", str(project), tmp_path / "elsewhere")
    with pytest.raises(Refused, match="merge and discard that one first"):
        worktrees.ensured("ada", str(project / "lib"), tmp_path / "state" / "ada")


def test_an_agent_on_another_branch_is_not_merged_by_guess(tmp_path, project):
    tree, _ = tree_of(tmp_path, project)
    git(Path(tree.path), "checkout", "--quiet", "-b", "its-own")
    for act in (worktrees.merge, worktrees.rebase):
        with pytest.raises(Refused, match="on its-own"):
            act(tree)
    git(Path(tree.path), "checkout", "--quiet", "tacit/ada")
    git(project, "checkout", "--quiet", "--detach")
    Path(tree.path, "new.txt").write_text("x\n")
    with pytest.raises(Refused, match="on no branch"):
        worktrees.merge(tree)


def test_commits_that_only_the_agents_branch_has_are_not_discarded_unnoticed(tmp_path, project):
    tree, state = tree_of(tmp_path, project)
    folder = Path(tree.path)
    (folder / "done.txt").write_text("done\n")
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "-m", "work")
    tip = git(folder, "rev-parse", "HEAD")
    git(folder, "checkout", "--quiet", "--detach", "main")
    with pytest.raises(Refused, match="--force"):
        worktrees.discard(tree, state)
    subprocess.run(["rm", "-rf", tree.path], check=True)
    with pytest.raises(Refused, match="commits on tacit/ada"):
        worktrees.discard(tree, state)
    assert tip[:12] in worktrees.discard(tree, state, force=True).message
    assert git(project, "worktree", "list").count("\n") == 0


def test_a_change_in_the_tick_of_the_checkout_is_not_overlooked(tmp_path, project):
    tree, _ = tree_of(tmp_path, project)
    git(project, "config", "core.trustctime", "false")
    git(Path(tree.path), "update-index", "--refresh")
    file, index = Path(tree.path) / "app.txt", Path(git(Path(tree.path), "rev-parse", "--git-path", "index"))
    tick = file.stat().st_mtime_ns
    file.write_text("ONE\nTWO\nTHREE\n")
    os.utime(file, ns=(tick, tick))
    os.utime(Path(tree.path) / index, ns=(tick, tick))
    assert "+ONE" in worktrees.diff(tree)
