"""Two real agents on one project: in one folder they are told of each other, in two worktrees a conflict harms nobody."""

from __future__ import annotations

import asyncio
import subprocess
from contextlib import asynccontextmanager

import pytest

from tests.harness.io.test_worktrees import git
from tests.harness.live_hub import TACIT
from tests.model_server import Say, Use, says

CODER = {"ada": "codex", "bea": "claude"}


@pytest.fixture
def project(tmp_path):
    folder = tmp_path / "importer"
    folder.mkdir()
    git(folder, "init", "--quiet", "--initial-branch", "main")
    (folder / "app.txt").write_text("first\n")
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "-m", "first")
    return folder


def writing(seen):
    """Each agent writes its name into the same file, then says so."""
    me = next(name for name in CODER if f"You are @{name}" in seen.system)
    if seen.said[-1][0] == "tool":
        return Say(f"Written by {me}.")
    line = f"echo 'of {me}' > app.txt"
    tool = Use("exec_command", {"cmd": line}) if CODER[me] == "codex" else Use("Bash", {"command": line})
    return says("I write it.", tool)


@asynccontextmanager
async def joined(home, model, project, name: str, *options: str):
    """`tacit join` as a person types it; what it prints."""
    url = model.url + ("/v1" if CODER[name] == "codex" else "")
    words = [TACIT, "join", home.group, "--as", name, "--driver", CODER[name], *options, "--"]
    words += ["--base-url", url, "--model", "scripted", "--key-env", "MODEL_KEY"]
    process = await asyncio.create_subprocess_exec(
        *words, "--cwd", str(project), "--access", "full",
        env={**home.environment, "MODEL_KEY": "k3y"},
        stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT,
    )  # fmt: skip
    said = ""
    try:
        async with asyncio.timeout(60):
            while "is in the room" not in said:
                line = await process.stdout.readline()
                assert line, said
                said += line.decode()
        yield said
    finally:
        process.terminate()
        await process.communicate()


def tacit(home, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([TACIT, *words], env=home.environment, capture_output=True, text=True, check=False)


async def test_a_conflict_of_two_worktrees_is_named_and_both_sides_stay_as_they_were(house, model, project):
    model.follow(writing)
    async with (
        joined(house, model, project, "ada", "--worktree"),
        joined(house, model, project, "bea", "--worktree"),
    ):
        for name in CODER:
            await house.until_reply(await house.say(f"@{name} write your name"), name)
        assert (project / "app.txt").read_text() == "first\n"
        assert (await asyncio.to_thread(tacit, house, "worktree", "merge", "ada")).returncode == 0
        assert (project / "app.txt").read_text() == "of ada\n"
        refused = await asyncio.to_thread(tacit, house, "worktree", "merge", "bea")
        assert refused.returncode != 0
        assert "app.txt" in refused.stdout + refused.stderr
        assert (project / "app.txt").read_text() == "of ada\n"
        kept = await asyncio.to_thread(tacit, house, "worktree", "diff", "bea")
        assert "+of bea" in kept.stdout


async def test_two_that_write_in_one_folder_are_told_so_and_so_are_their_models(house, model, project):
    model.follow(writing)
    async with joined(house, model, project, "ada"), joined(house, model, project, "bea") as said:
        assert "they can overwrite each other's work" in said
        for name in CODER:
            await house.until_reply(await house.say(f"@{name} write your name"), name)
    for name, other in (("ada", "bea"), ("bea", "ada")):
        asked = [seen for seen in model.calls if f"You are @{name}" in seen.system]
        assert f"These work in this folder too, at the same time:\n| {other}\n" in asked[0].texts("user")[-1]
