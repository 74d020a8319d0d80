"""Texts that have somebody install another project's package are refused, in every spelling."""

from __future__ import annotations

import pytest

from tools import name_check


@pytest.mark.parametrize(
    "text",
    [
        "pip install tacit",
        "pip install Tacit",
        "pip install 'tacit[mcp]'",
        'python -m pip install -U "tacit"',
        "python3 -m pip3.11 install --upgrade tacit==0.3",
        "pip install rich tacit",
        "pip install --index-url https://x.example/simple tacit",
        "pip install \\\n    tacit",
        "pip download tacit-room",
        "pipx install tacit-room",
        "pipx run tacit",
        "uv tool install tacit",
        "uv pip install tacit-core",
        "uv add tacit",
        "uvx tacit up",
        "uvx --from tacit-room tacit up",
        "npx tacit",
        "npx -y @tacit/room",
        "npm install -g tacit",
        "npm i tacit",
        "pnpm dlx tacit",
        "yarn add tacit",
        "brew install tacit",
        "conda install -c conda-forge tacit",
        "poetry add tacit",
        '["pip", "install", "tacit"]',
        '{"command": "uvx", "args": ["tacit", "mcp"]}',
        '{"command": "npx", "args": ["-y", "tacit"]}',
        "`tacit[keyring]` brings it",
        "tacit==0.1.0",
        "tacit @ https://x.example/t.whl",
        'dependencies = ["tacit>=0.1"]',
    ],
)
def test_the_name_of_others_is_refused(text: str) -> None:
    assert name_check.strangers(text)


@pytest.mark.parametrize(
    "text",
    [
        "pip install -e '.[mcp]'",
        "pip install ./tacit-0.1.0.whl",
        "pip install --no-deps dist/tacit_room-0.1.0-py3-none-any.whl",
        "pip install --require-hashes -r requirements.txt && tacit up",
        "tacit crew install",
        "claude mcp add tacit -- tacit mcp",
        "podman run -d --name tacit tacit",
        "npm ci && npm test",
        "pip, from where you got Tacit, with its extra 'mcp'",
        "tacit-room[mcp]",
        "the room `tacit` opens",
    ],
)
def test_what_is_here_and_what_is_run_may_be_named(text: str) -> None:
    assert name_check.strangers(text) == []


def test_a_second_place_that_writes_such_commands_and_an_extra_that_is_none_are_named() -> None:
    text = "add it with: pip install -e '.[bells]'"
    extras = frozenset({"mcp"})
    assert name_check.faults(name_check.HINT, text, extras) == [
        f"{name_check.HINT}: there is no extra 'bells'"
    ]
    assert len(name_check.faults("src/tacit/cli/doctor.py", text, extras)) == 2
    assert len(name_check.faults("docs/sdk.md", text, extras)) == 1


def test_all_that_people_read_is_looked_at() -> None:
    names = set(name_check.files())
    assert {"README.md", "docs/sdk.md", "Makefile", "deploy/Containerfile", "pyproject.toml"} <= names
    assert {name_check.HINT, "skills/tacit-a2acp/SKILL.md", "locks/run.txt"} <= names
    assert any(name.startswith("web/src/") for name in names)
