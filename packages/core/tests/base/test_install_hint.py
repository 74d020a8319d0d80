"""Hints to install something name where this copy came from, and never a registry's name that others own."""

from __future__ import annotations

import sys
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from typing import TYPE_CHECKING

import pytest

from tacit.base import install_hint as hints
from tacit.base.version import version
from tools.distributions import Distribution as Distributed
from tools.distributions import distributions
from tools.places import ROOT

if TYPE_CHECKING:
    from pathlib import Path


class Installed(Distribution):
    """An installation of which Python kept this record."""

    def __init__(self, record: str | None, metadata: str = "") -> None:
        self.files_of_it = {"direct_url.json": record, "METADATA": metadata}

    def read_text(self, filename: str) -> str | None:
        return self.files_of_it.get(filename)

    def locate_file(self, path: object) -> Path:
        raise FileNotFoundError(path)


@pytest.mark.parametrize(
    ("record", "source"),
    [
        ('{"url": "file:///a/tacit", "dir_info": {"editable": true}}', "-e '/a/tacit[mcp]'"),
        ('{"url": "file:///a/my%20folder", "dir_info": {}}', "'/a/my folder[mcp]'"),
        ('{"url": "file:///a/tacit-1-py3-none-any.whl"}', "'/a/tacit-1-py3-none-any.whl[mcp]'"),
        (
            '{"url": "https://x.example/t", "vcs_info": {"vcs": "git", "requested_revision": "v1"}}',
            "'tacit-room[mcp] @ git+https://x.example/t@v1'",
        ),
        (
            '{"url": "https://x.example/t", "vcs_info": {"vcs": "git"}}',
            "'tacit-room[mcp] @ git+https://x.example/t'",
        ),
        (
            '{"url": "https://x.example/t", "vcs_info": {"vcs": "git"}, "subdirectory": "packages/room"}',
            "'tacit-room[mcp] @ git+https://x.example/t#subdirectory=packages/room'",
        ),
        (
            '{"url": "https://x.example/t.whl", "archive_info": {}}',
            "'tacit-room[mcp] @ https://x.example/t.whl'",
        ),
    ],
)
def test_a_hint_names_where_this_copy_came_from(
    monkeypatch: pytest.MonkeyPatch, record: str, source: str
) -> None:
    monkeypatch.setattr(hints, "distribution", lambda _name: Installed(record))
    assert hints.install_hint("room", "mcp") == f"{sys.executable} -m pip install {source}"


@pytest.mark.parametrize("record", [None, "{}"])
def test_where_nobody_wrote_that_down_no_command_is_invented(
    monkeypatch: pytest.MonkeyPatch, record: str | None
) -> None:
    monkeypatch.setattr(hints, "distribution", lambda _name: Installed(record))
    assert hints.install_hint("room", "mcp") == "pip, from where you got Tacit: the extra 'mcp' of tacit-room"


@pytest.mark.parametrize(
    ("installed", "hint"),
    [
        ({"tacit-room", "tacit-a2acp"}, f"{sys.executable} -m pip install '/t/room[scale]'"),
        ({"tacit-room"}, "pip, from where you got Tacit: the extra 'scale' of tacit-room and tacit-a2acp"),
    ],
)
def test_no_command_has_pip_look_elsewhere_for_another_package_of_ours(
    monkeypatch: pytest.MonkeyPatch, installed: set[str], hint: str
) -> None:
    needs = (
        "Requires-Dist: tacit-a2acp==1; extra == 'scale'\nRequires-Dist: tacit-agent==1; extra == 'agent'\n"
    )

    def known(name: str) -> Installed:
        if name not in installed:
            raise PackageNotFoundError(name)
        return Installed('{"url": "file:///t/room", "dir_info": {}}', needs)

    monkeypatch.setattr(hints, "distribution", known)
    assert hints.install_hint("room", "scale") == hint


@pytest.mark.parametrize("own", distributions(ROOT), ids=lambda own: own.name)
def test_every_extra_of_every_package_has_its_hint(own: Distributed) -> None:
    installed = distribution(own.name)
    assert installed.version == version() == own.version
    for extra in installed.metadata.get_all("Provides-Extra") or ():
        assert f"packages/{own.folder.name}[{extra}]" in hints.install_hint(own.folder.name, extra)
