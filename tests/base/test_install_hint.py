"""Hints to install something name where this copy came from, and never a registry's name that others own."""

from __future__ import annotations

import sys
from importlib.metadata import Distribution, distribution
from typing import TYPE_CHECKING

import pytest
from tools.distributions import ROOT, canonical, distributions

import tacit
from tacit.base import install_hint as hints

if TYPE_CHECKING:
    from pathlib import Path


class Installed(Distribution):
    """An installation of which Python kept this record."""

    def __init__(self, record: str | None) -> None:
        self.record = record

    def read_text(self, filename: str) -> str | None:
        return self.record if filename == "direct_url.json" else None

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
    assert hints.install_hint("mcp") == f"{sys.executable} -m pip install {source}"


@pytest.mark.parametrize("record", [None, "{}"])
def test_where_nobody_wrote_that_down_no_command_is_invented(
    monkeypatch: pytest.MonkeyPatch, record: str | None
) -> None:
    monkeypatch.setattr(hints, "distribution", lambda _name: Installed(record))
    assert hints.install_hint("mcp") == "pip, from where you got Tacit, with its extra 'mcp'"


def test_a_hint_speaks_of_the_distribution_that_this_copy_is() -> None:
    assert hints.DISTRIBUTION in {canonical(own.name) for own in distributions(ROOT)}
    installed = distribution(hints.DISTRIBUTION)
    assert installed.version == tacit.__version__
    for extra in installed.metadata.get_all("Provides-Extra") or ():
        assert extra in hints.install_hint(extra)
