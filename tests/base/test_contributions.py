"""What packages contribute to each other: read from what installers leave, loaded when it is used."""

from __future__ import annotations

import importlib
import subprocess
import sys
import tomllib
from importlib.metadata import entry_points
from pathlib import Path

import pytest

from tacit.base.io import contributions
from tacit.base.io.contributions import contributed, loaded
from tacit.cli.main import tacit

PROJECT = Path(__file__).parents[2] / "pyproject.toml"
GROUPS = tomllib.loads(PROJECT.read_text(encoding="utf-8"))["project"]["entry-points"]


def installed(folder: Path, name: str, text: str) -> None:
    metadata = folder / f"{name}-1.0.dist-info"
    metadata.mkdir(parents=True)
    (metadata / "entry_points.txt").write_text(text, encoding="utf-8")


def test_a_group_is_read_with_its_places_and_no_other_group(tmp_path, monkeypatch):
    installed(
        tmp_path / "a",
        "one",
        "[console_scripts]\nx = one:main\n\n[a.group]\nlook = one.look:it\nsee=one.see:it [extra]\n",
    )
    installed(tmp_path / "b", "two", "[a.group]\nlook = two:late\nmore = two:more\n[b.group]\nz = two:z\n")
    monkeypatch.setattr(sys, "path", [str(tmp_path / "none"), str(tmp_path / "a"), str(tmp_path / "b")])
    assert contributed("a.group") == {"look": "one.look:it", "see": "one.see:it", "more": "two:more"}
    assert contributed("c.group") == {}


def test_what_is_read_is_what_the_library_for_it_reads():
    for group in GROUPS:
        assert contributed(group) == {one.name: one.value for one in entry_points(group=group)}, group


def test_the_groups_of_the_project_are_those_that_are_asked_for():
    asked = {contributions.TACIT_COMMANDS, contributions.AGENT_COMMANDS}
    assert set(GROUPS) == asked | {contributions.AGENT_MODELS, contributions.JOURNALS}


@pytest.mark.parametrize("place", [place for group in GROUPS.values() for place in group.values()])
def test_every_place_of_the_project_has_something(place):
    assert loaded(place) is not None


def test_a_journal_is_contributed_under_the_group_that_it_has():
    journal = importlib.import_module("tacit.agent.io.journal")
    assert GROUPS[contributions.JOURNALS] == {journal.GROUP: "tacit.agent.io.journal:JournalEngine"}


def test_a_command_of_a_package_that_is_not_installed_is_not_there(monkeypatch):
    monkeypatch.setattr("tacit.cli.main.contributed", lambda _: {"clowl": GROUPS["tacit.commands"]["clowl"]})
    context = tacit.make_context("tacit", ["--help"], resilient_parsing=True)
    assert {"send", "clowl"} <= set(tacit.list_commands(context))
    assert not {"agent", "relay"} & set(tacit.list_commands(context))
    assert tacit.get_command(context, "agent") is None


def test_the_list_of_commands_loads_none_of_the_packages_that_contribute():
    script = (
        "import sys; from click.testing import CliRunner; from tacit.cli.main import tacit\n"
        "CliRunner().invoke(tacit, ['--help'], catch_exceptions=False)\n"
        "print(sorted({name.split('.')[1] for name in sys.modules if name.startswith('tacit.')}))"
    )
    shown = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout
    assert not {"agent", "a2acp", "relay", "language", "hub"} & set(eval(shown))
