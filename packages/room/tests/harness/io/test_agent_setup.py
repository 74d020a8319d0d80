"""An agent made ready: several sessions have room, or it is refused with a sentence."""

from __future__ import annotations

import pytest

from tacit.base.errors import Refused
from tacit.harness.io import worktrees
from tacit.harness.io.agent_setup import ready
from tacit.harness.team import MOST_SESSIONS, TeamMember
from tests.harness.io.test_worktrees import git


def made(tmp_path, *options, driver="codex", **more):
    member = TeamMember("ada", driver, "Lobby", options, **more)
    environment = {"OPENAI_API_KEY": "k", "CODEX_API_KEY": "k"}
    return ready(member, tmp_path / "state", base=tmp_path, environment=environment)


@pytest.fixture
def project(tmp_path):
    folder = tmp_path / "importer"
    folder.mkdir()
    git(folder, "init", "--quiet", "--initial-branch", "main")
    (folder / "app.txt").write_text("first\n")
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "-m", "first")
    return folder


def test_sessions_that_write_in_one_folder_are_refused(tmp_path, project):
    words = ("--use-my-config", "--cwd", str(project), "--access", "write")
    with pytest.raises(Refused, match="2 sessions that write in one folder"):
        made(tmp_path, *words, sessions=2)
    with pytest.raises(Refused, match="3 sessions that write in one folder"):
        made(tmp_path, "--cwd", str(project), "--", "cat", driver="command", sessions=3)


def test_with_worktrees_each_session_has_its_own(tmp_path, project):
    words = ("--use-my-config", "--cwd", str(project), "--access", "write")
    agent = made(tmp_path, *words, sessions=3, worktree=True)
    folders = [agent.options.directory, *(options.directory for _, options in agent.beside)]
    assert len(set(folders)) == 3
    assert [worktrees.kept(state).branch for state, _ in agent.beside] == ["tacit/ada.2", "tacit/ada.3"]
    assert len({agent.options.state, *(options.state for _, options in agent.beside)}) == 3
    again = made(tmp_path, *words, sessions=3, worktree=True)
    assert again.beside == agent.beside
    harness = agent.harness("http://127.0.0.1:1", "token", lambda *_, **__: None)
    assert [one.directory for one in harness.config.slots] == folders


def test_sessions_that_only_read_share_the_folder_and_those_without_one_have_their_own(tmp_path, project):
    reads = made(tmp_path, "--use-my-config", "--cwd", str(project), sessions=2)
    assert reads.beside[0][1].directory == str(project)
    alone = made(tmp_path, "--use-my-config", "--access", "write", sessions=2)
    assert alone.beside[0][1].directory is None


@pytest.mark.parametrize("count", [0, MOST_SESSIONS + 1])
def test_their_number_is_bounded(tmp_path, count):
    with pytest.raises(Refused, match="1 to 8 sessions"):
        made(tmp_path, "--use-my-config", sessions=count)
