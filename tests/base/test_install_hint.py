"""Hints to install something name where this copy came from, and never a registry's name that others own."""

from __future__ import annotations

import re
import subprocess
import sys
from importlib.metadata import Distribution
from pathlib import Path

import pytest

from tacit.base import install_hint as hints

ROOT = Path(__file__).resolve().parents[2]
FROM_A_REGISTRY = re.compile(
    r"\b(?:(?:pip3?|pipx|npm|pnpm|conda|uv pip|uv tool) (?:install|i|download|run)|uvx|npx|(?:uv|poetry|yarn) add)\b"
    r"(?:\s+-\S+)*\s+[`'\"]?tacit(?![\w./-])",
    re.IGNORECASE,
)


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
            "'tacit[mcp] @ git+https://x.example/t@v1'",
        ),
        (
            '{"url": "https://x.example/t", "vcs_info": {"vcs": "git"}}',
            "'tacit[mcp] @ git+https://x.example/t'",
        ),
        ('{"url": "https://x.example/t.whl", "archive_info": {}}', "'tacit[mcp] @ https://x.example/t.whl'"),
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


@pytest.mark.parametrize(
    ("line", "is_one"),
    [
        ("pip install tacit", True),
        ("pip install 'tacit[mcp]'", True),
        ('python -m pip install -U "tacit"', True),
        ("uv tool install tacit", True),
        ("uvx tacit up", True),
        ("npx tacit", True),
        ("pip install --upgrade tacit==0.3", True),
        ("pip install -e '.[mcp]'", False),
        ("pip install ./tacit-0.1.0.whl", False),
        ("tacit crew install", False),
        ("claude mcp add tacit -- tacit mcp", False),
    ],
)
def test_the_search_for_such_names_finds_every_spelling(line: str, *, is_one: bool) -> None:
    assert bool(FROM_A_REGISTRY.search(line)) is is_one


def test_nothing_that_people_read_has_them_install_what_others_own() -> None:
    listed = subprocess.run(
        ["git", "ls-files", "-z", "src", "docs", "deploy", "skills", "web/src", "*.md", "Makefile"],
        cwd=ROOT, capture_output=True, check=True,
    )  # fmt: skip
    texts = (
        ROOT / name
        for name in listed.stdout.decode().split("\0")
        if name.endswith((".py", ".md", ".ts", ".tsx", "file"))
    )
    assert [path.name for path in texts if FROM_A_REGISTRY.search(path.read_text("utf-8"))] == []
