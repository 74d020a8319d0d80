"""A file leaves only from the folder in which the agent works."""

from __future__ import annotations

import os

import pytest

from tacit.base.errors import Refused
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
