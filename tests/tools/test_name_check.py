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
        "pip install tacit-clowl",
        "pip install tacit_core",
        "pip install Tacit.C2A",
        "pip install 'tacit-a2acp[scale]'",
        "pip install ./packages/core tacit-agent",
        "pip install --find-links . tacit-room",
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
        "pip install -e 'packages/room[mcp]'",
        "pip install ./packages/core ./packages/a2acp './packages/agent[mcp]'",
        "pip install ./tacit_core-VERSION-py3-none-any.whl ./tacit_a2acp-VERSION-py3-none-any.whl",
        "pip install -e packages/core && python -m tacit.agent",
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


EXTRAS = {
    "core": frozenset({"cli", "journal"}),
    "room": frozenset({"mcp", "scale"}),
    **dict.fromkeys(("clowl", "c2a", "a2acp", "agent"), frozenset({"mcp"})),
}


def test_a_second_place_that_writes_such_commands_and_an_extra_that_is_none_are_named() -> None:
    text = "add it with: pip install -e 'packages/room[bells]'"
    none = f"{name_check.HINT}: packages/room has no extra 'bells'"
    assert name_check.faults(name_check.HINT, text, EXTRAS) == [none]
    assert len(name_check.faults("packages/room/src/tacit/cli/doctor.py", text, EXTRAS)) == 2
    assert len(name_check.faults("packages/room/README.md", text, EXTRAS)) == 1
    assert len(name_check.faults("docs/sdk.md", text, EXTRAS)) == 1


@pytest.mark.parametrize(
    ("text", "missing"),
    [
        ("`pip install -e 'packages/room[mcp,scale]'`", []),
        ("`pip install -e 'packages/room[mcp, cli]'`", ["packages/room has no extra 'cli'"]),
        (
            "pip install './packages/core[cli]' './packages/agent[scale]'",
            ["packages/agent has no extra 'scale'"],
        ),
        ('"tacit-core[cli,htp,journal]==0.1.0"', ["packages/core has no extra 'htp'"]),
        ('"tacit_room[ mcp ]"', []),
        ("`tacit-room[brain]` brings it", ["packages/room has no extra 'brain'"]),
        ("other-packages/pack[x] and packages[x]", []),
    ],
)
def test_an_extra_is_one_of_the_package_that_is_named(text: str, missing: list[str]) -> None:
    assert name_check.faults("docs/sdk.md", text, EXTRAS) == [f"docs/sdk.md: {fault}" for fault in missing]


@pytest.mark.parametrize(
    "text",
    ["pip install -e .", "pip install -e '.[mcp]'", "pip install -q --editable=.[mcp]", "`pip install -e .`"],
)
def test_the_checkout_itself_is_no_package(text: str) -> None:
    [fault] = name_check.faults("docs/sdk.md", text, EXTRAS)
    assert "is no package" in fault


def test_all_that_people_read_is_looked_at() -> None:
    names = set(name_check.files())
    assert {"README.md", "docs/sdk.md", "Makefile", "deploy/Containerfile", "pyproject.toml"} <= names
    assert {
        name_check.HINT,
        "packages/room/README.md",
        "packages/c2a/pyproject.toml",
        "locks/run.txt",
    } <= names
    assert "packages/agent/src/tacit/agent/skills/tacit-a2acp/SKILL.md" in names
    assert not any("/tests/" in name for name in names), "there the spellings stand that are refused"
    assert any(name.startswith("web/src/") for name in names)
