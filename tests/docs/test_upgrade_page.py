"""The page on upgrades: its commands take a hub of this version to the next, and back.

The next version is this one with one step more in the ledger's format, as a program of its own.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import signal
import subprocess
import sys
from contextlib import closing
from functools import partial
from inspect import isawaitable
from pathlib import Path

import pytest

from tacit.a2acp.post.io.store import AgentStore
from tacit.base.errors import WrittenByNewer
from tacit.base.io.sqlite import connect
from tacit.base.moment import Moment
from tacit.ledger.io.schema import SCHEMA
from tacit.ledger.io.store import DATABASE
from tacit.relay.io.store import RelayStore
from tests.shell import TACIT, Shell
from tools import release, sbom
from tools.distributions import ROOT, distributions

PAGE = (ROOT / "docs" / "upgrade.md").read_text(encoding="utf-8")
NEXT = f"""#!{sys.executable}
from tacit.ledger.io.schema import SCHEMA
object.__setattr__(SCHEMA, "steps", (*SCHEMA.steps, "CREATE TABLE of_the_next_version (x INTEGER) STRICT"))
from tacit.base.commands.main import main
main()
"""


def lines(how: str) -> list[str]:
    blocks = re.findall(r"```sh ?(\w*)\n(.*?)```", PAGE, re.DOTALL)
    return [line for word, block in blocks if word == how for line in block.splitlines() if line]


class Upgrading(Shell):
    """A person with both programs: `tacit` is whichever of them is installed."""

    def install(self, program: Path) -> None:
        self.env["PATH"] = f"{program.parent}:{os.environ['PATH']}"

    def does(self, how: str) -> str:
        said = ""
        for line in lines(how):
            done = subprocess.run(
                ["sh", "-c", line], env=self.env, cwd=self.home, capture_output=True, text=True,
                timeout=120, check=False,
            )  # fmt: skip
            assert done.returncode == 0, f"{line}: {done.stdout}{done.stderr}"
            said += done.stdout
        assert said, f"the page has commands of this kind: {how}"
        return said

    @property
    def ledger(self) -> Path:
        return self.home / "data" / "tacit" / DATABASE


@pytest.fixture
def person(tmp_path):
    person = Upgrading(tmp_path)
    person.install(Path(TACIT))
    yield person
    if person.hub is not None and person.hub.poll() is None:
        person.stop(signal.SIGKILL)


@pytest.fixture
def newer(tmp_path):
    program = tmp_path / "next" / "tacit"
    program.parent.mkdir()
    program.write_text(NEXT)
    program.chmod(0o755)
    return program


def test_the_page_leads_from_this_version_to_the_next_and_back(person, newer):
    person.start()
    person.run("group", "new", "My room")
    person.run("send", "My room", "hello")
    person.does("")
    assert person.stop() == 0
    person.does("stopped")

    person.install(newer)
    assert "older, healthy" in person.does("next")
    words = [str(newer), "--json", "up", "--port", "0", "--no-crew", "--writer", "thread"]
    with subprocess.Popen(words, env=person.env, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as hub:
        try:
            person.env["TACIT_URL"] = json.loads(hub.stdout.readline())["url"]
            assert "hello" in person.run("tail", "My room", "--no-follow")
            assert "older" not in person.does("started")
        finally:
            hub.terminate()
            hub.communicate(timeout=60)

    left = hashlib.sha256(person.ledger.read_bytes()).digest()
    refused = person.run("up", "--port", "0", code=3)
    [shown] = re.findall(r"```text\n(.*?)```", PAGE, re.DOTALL)
    assert re.sub(r"\d+", "N", shown).strip() in re.sub(r"\d+", "N", refused)
    assert str(len(SCHEMA.steps)) in shown
    assert "newer version of Tacit" in person.run("ledger", "verify", code=3)
    assert hashlib.sha256(person.ledger.read_bytes()).digest() == left

    person.install(Path(TACIT))
    person.does("back")
    person.env["TACIT_DATA"] = str(person.home / "earlier")
    person.start()
    assert "hello" in person.run("tail", "My room", "--no-follow")


@pytest.mark.parametrize("kind", [partial(RelayStore, now=Moment(1)), AgentStore])
async def test_a_relay_and_an_agent_refuse_a_newer_folder_in_the_same_words(tmp_path, kind):
    closed = kind(tmp_path).close()
    if isawaitable(closed):
        await closed
    [path] = tmp_path.glob("*.sqlite")
    with closing(connect(path)) as file:
        file.execute("PRAGMA user_version=99")
    [shown] = re.findall(r"```text\n(.*?)```", PAGE, re.DOTALL)
    with pytest.raises(WrittenByNewer) as caught:
        kind(tmp_path)
    assert re.sub(r"\d+", "N", str(caught.value)) == re.sub(r"\d+", "N", shown.strip()).replace(
        DATABASE, path.name
    )


def test_the_page_names_for_each_purpose_the_files_that_this_needs():
    rows = re.findall(r"(?m)^\| [^|`]+ \| ((?:`tacit_\w+`(?:, )?)+) \|$", PAGE)
    ours = distributions(ROOT)
    shown = [set(re.findall(r"tacit_\w+", row)) for row in rows]
    needed = []
    for own in ours[1:]:
        names = sbom.resolved(ours, [own.name])
        needed.append({each.name.replace("-", "_") for each in ours if each.name in names})
    assert sorted(map(sorted, shown)) == sorted(map(sorted, needed))
    [line] = [line for line in lines("shown") if "tacit_core-VERSION" in line]
    assert set(re.findall(r"\./(tacit_\w+)-VERSION-py3-none-any\.whl", line)) in shown


def test_what_is_shown_of_a_release_is_what_a_release_leaves():
    shown = "\n".join(lines("shown"))
    assert release.SUMS in shown
    assert release.REQUIREMENTS in shown
    assert {minor for own in distributions(ROOT) for minor in own.pythons} >= {"3.11", "3.12", "3.13"}
