"""A file leaves only from the folder in which the agent works."""

from __future__ import annotations

import os
from types import SimpleNamespace

import pytest

from tacit.base.errors import Refused
from tacit.c2a.attachments import Attached
from tacit.harness.io import files
from tacit.harness.io.files import taken


@pytest.fixture
def folder(tmp_path):
    work = tmp_path / "work"
    (work / "out").mkdir(parents=True)
    (work / "out" / "plot.png").write_bytes(b"plot")
    (tmp_path / "secret").write_bytes(b"secret")
    return work


@pytest.mark.parametrize("given", ["out/plot.png", "./out/plot.png"])
def test_a_file_of_the_folder_is_taken(folder, given):
    assert taken(folder, given) == ("plot.png", b"plot")
    assert taken(folder, str(folder / "out" / "plot.png")) == ("plot.png", b"plot")


@pytest.mark.parametrize(
    "given",
    [
        "../secret",
        "out/../../secret",
        "/etc/passwd",
        "",
        ".",
        "..",
        "out",
        "none.png",
        "a\0b",
        "out/pipe",
        "\ud800",
    ],
)
def test_nothing_else_is(folder, given):
    os.mkfifo(folder / "out" / "pipe")
    with pytest.raises(Refused):
        taken(folder, given)


def test_no_link_leads_out(folder, tmp_path):
    (folder / "link").symlink_to(tmp_path / "secret")
    (folder / "up").symlink_to(tmp_path)
    (folder / "inside").symlink_to(folder / "out" / "plot.png")
    for given in ("link", "up/secret", "inside"):
        with pytest.raises(Refused):
            taken(folder, given)


def test_a_file_beyond_the_measure_is_refused(folder, monkeypatch):
    monkeypatch.setattr(files, "ATTACHED_BYTES", 3)
    with pytest.raises(Refused, match="at most"):
        taken(folder, "out/plot.png")


def test_where_there_is_no_folder_there_is_no_file(tmp_path):
    with pytest.raises(Refused):
        taken(tmp_path / "none", "plot.png")


MIB = 2**20


class Here(files.AgentFiles):
    """Files that are at hand: what is handed out is decided as ever."""

    async def _fetched(self, http, group, attached):
        return files._named(attached, bytes(attached.size))


@pytest.mark.spec("C2A-203")
@pytest.mark.parametrize(
    ("sizes", "handed"),
    [
        ([], ""),
        ([5 * MIB, 5 * MIB + 1, 1], "yny"),
        # Fifteen in a turn, and not a byte more.
        ([5 * MIB, 5 * MIB, 5 * MIB, 1], "yyyn"),
        ([5 * MIB, 5 * MIB, 5 * MIB - 1, 2, 1], "yyyny"),
        ([1] * 9, "yyyyyyyyn"),
    ],
)
async def test_a_turn_takes_so_many_files_and_bytes_also_when_they_come_in_its_middle(sizes, handed):
    given = [Attached(f"p{number}", title="a.txt", size=size) for number, size in enumerate(sizes)]
    events = [SimpleNamespace(group="g", attachments=(one,)) for one in given]
    whole = Here("http://hub", "")
    assert shown(await whole.of_events("t1", events)) == handed
    parts = Here("http://hub", "")
    assert "".join([shown(await parts.of_events("t1", [one])) for one in events]) == handed
    # Another turn has its own measure, and the same one again once it is over.
    assert shown(await parts.of_events("t2", events)) == handed
    parts.over("t1")
    assert shown(await parts.of_events("t1", events)) == handed


def shown(found) -> str:
    return "".join("n" if one.left_out else "y" for one in found)


@pytest.mark.spec("C2A-203")
@pytest.mark.parametrize(
    ("title", "mime", "why"),
    [
        ("a.png", "", ""),
        ("a.pdf", "", ""),
        ("a", "text/plain; charset=utf-8", ""),
        ("a.zip", "", "only texts"),
        ("a.txt", "application/zip", "only texts"),
        ("a", "", "only texts"),
    ],
)
def test_a_model_gets_texts_pictures_and_pages_by_their_kind_or_else_their_name(title, mime, why):
    found = files._refused(Attached("p", title=title, mime_type=mime, size=1), 0, 10)
    assert found.startswith(why)
    assert bool(found) is bool(why)
