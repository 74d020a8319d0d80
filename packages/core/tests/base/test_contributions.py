"""What packages contribute to each other: read from what installers leave, loaded when it is used."""

from __future__ import annotations

import importlib
import re
import subprocess
import sys
import tomllib
from importlib.metadata import entry_points
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

from tacit.base.commands.main import tables, tacit
from tacit.base.io import contributions
from tacit.base.io.contributions import contributed, loaded
from tools.places import projects

if TYPE_CHECKING:
    from pathlib import Path

GROUPS: dict[str, dict[str, str]] = {}
for project in projects():
    described = tomllib.loads(project.read_text(encoding="utf-8"))["project"]
    for group, places in described.get("entry-points", {}).items():
        GROUPS.setdefault(group, {}).update(places)


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
        assert contributed(group) == {entry.name: entry.value for entry in entry_points(group=group)}, group


def test_the_groups_of_the_project_are_those_that_are_asked_for():
    asked = {contributions.TACIT_COMMANDS, contributions.AGENT_COMMANDS}
    assert set(GROUPS) == asked | {contributions.AGENT_MODELS, contributions.JOURNALS}


@pytest.mark.parametrize("place", [place for group in GROUPS.values() for place in group.values()])
def test_every_place_of_the_project_has_something(place):
    assert loaded(place) is not None


def test_a_journal_is_contributed_under_the_group_that_it_has():
    journal = importlib.import_module("tacit.agent.kernel.io.journal")
    assert GROUPS[contributions.JOURNALS] == {journal.GROUP: "tacit.agent.shell.io.journal:journal_engine"}


def test_commands_are_there_as_far_as_their_packages_are(monkeypatch):
    places = {name: place for name, place in GROUPS["tacit.commands"].items() if name in {"room", "language"}}
    monkeypatch.setattr("tacit.base.commands.main.contributed", lambda _: places)
    context = tacit.make_context("tacit", ["--help"], resilient_parsing=True)
    names = tacit.list_commands(context)
    assert {"send", "clowl", "completion"} <= set(names)
    assert names[0] == "up", "the room comes first"
    assert not {"agent", "relay"} & set(names)
    assert tacit.get_command(context, "agent") is None


def test_a_command_that_is_not_there_may_be_of_a_package_that_is_not(monkeypatch):
    places = {name: place for name, place in GROUPS["tacit.commands"].items() if name in {"room", "language"}}
    monkeypatch.setattr("tacit.base.commands.main.contributed", lambda _: places)
    done = CliRunner().invoke(tacit, ["agent", "--help"])
    assert done.exit_code == 2
    assert (
        "No such command 'agent'. It may be of what is not installed here: tacit-a2acp, tacit-agent."
        in done.output
    )


def test_where_all_packages_are_a_command_that_is_not_there_is_only_that():
    done = CliRunner().invoke(tacit, ["sned"])
    assert done.exit_code == 2
    assert "No such command 'sned'" in done.output
    assert "installed" not in done.output


def test_help_names_every_command_under_its_package_with_what_it_does(monkeypatch):
    shown = CliRunner().invoke(tacit, ["--help"]).output
    for table in tables():
        assert f"{table.title}:" in shown
        for name, (_, about) in table.places.items():
            assert re.search(rf"^  {name} +{re.escape(about)}$", shown, re.MULTILINE)


def test_every_command_that_a_table_names_is_there():
    for table in tables():
        for name, (place, _) in table.places.items():
            assert loaded(place).name == name


def test_the_list_of_commands_loads_none_of_the_packages_that_contribute():
    script = (
        "import sys; from click.testing import CliRunner; from tacit.base.commands.main import tacit\n"
        "CliRunner().invoke(tacit, ['--help'], catch_exceptions=False)\n"
        "print(*sorted(name for name in sys.modules if name.startswith('tacit.')))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    modules = {name for name in done.stdout.split() if not name.startswith("tacit.base")}
    tables = {place.partition(":")[0] for place in GROUPS["tacit.commands"].values()}
    above = {table.rsplit(".", depth)[0] for table in tables for depth in range(1, table.count("."))}
    assert modules == tables | above - {"tacit"}
