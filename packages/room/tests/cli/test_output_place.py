"""Where commands write: a folder is made when the path ends with a slash, and the file in it gets a name."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click
import pytest
from click.testing import CliRunner

from tacit.attention.io.engine import AttentionEngine
from tacit.base.commands.main import tacit
from tacit.base.commands.output_place import OutputPlace
from tacit.ledger.io.store import Store, StoreOptions

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def data(tmp_path: Path) -> Path:
    Store(tmp_path / "data", StoreOptions(readers=1), engine=AttentionEngine).close()
    return tmp_path / "data"


def run(*words: object) -> None:
    CliRunner().invoke(tacit, [str(word) for word in words], catch_exceptions=False)


def test_a_backup_into_a_folder_that_is_not_there_yet_makes_the_folder(data: Path, tmp_path: Path) -> None:
    run("--data", data, "backup", f"{tmp_path}/new/backups/")
    (file,) = (tmp_path / "new" / "backups").iterdir()
    assert file.name.endswith(".tacit-backup")
    run("--data", data, "backup", tmp_path / "one.tacit-backup")
    assert (tmp_path / "one.tacit-backup").is_file()


def test_a_trace_is_written_into_a_folder_or_a_file(tmp_path: Path) -> None:
    messages = tmp_path / "messages.jsonl"
    messages.write_text("")
    (tmp_path / "there").mkdir()
    for place in (f"{tmp_path}/made/", tmp_path / "there", tmp_path / "a file"):
        run("clowl", "trace", messages, "--out", place)
    assert sorted(path.parent.name for path in tmp_path.glob("*/trace.txt")) == ["made", "there"]
    assert (tmp_path / "a file").is_file()


@pytest.mark.parametrize(
    ("command", "parameter"),
    [
        ("backup", "target"),
        ("clowl trace", "out"),
        ("agent backup", "file"),
        ("agent me", "png"),
        ("agent me", "svg"),
        ("agent guest result", "ics"),
    ],
)
def test_every_command_that_writes_where_it_is_told_takes_a_folder(
    tmp_path: Path, command: str, parameter: str
) -> None:
    found: click.Command = tacit
    context = click.Context(found)
    for word in command.split():
        assert isinstance(found, click.Group)
        found = found.get_command(context, word) or pytest.fail(f"there is no command {command}")
    place = next(one for one in found.params if one.name == parameter)
    assert isinstance(place.type, OutputPlace)
    written = place.type.convert(f"{tmp_path}/folder/", place, context)
    assert (tmp_path / "folder").is_dir()
    assert written.is_dir() == (command == "backup")


def test_a_folder_that_cannot_be_made_is_a_usage_error_and_completion_makes_none(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    kind, context = OutputPlace(lambda: "name"), click.Context(tacit, resilient_parsing=True)
    with pytest.raises(click.BadParameter, match="file"):
        kind.convert(f"{tmp_path}/file/folder/", None, None)
    assert kind.convert(f"{tmp_path}/folder/", None, context) == tmp_path / "folder" / "name"
    assert not (tmp_path / "folder").exists()
