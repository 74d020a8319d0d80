"""What `--print-config` writes, read back with the parsers that the clients' formats have."""

from __future__ import annotations

import json
import tomllib
from typing import Any

import pytest

from tacit.base.errors import Refused
from tacit.base.mcp_configs import CLIENTS, ConfigEntry, config_for, is_placeholder

URL = "http://127.0.0.1:7433"
SECRET = "s3cret-" * 6


def parsed(client: str, **given: Any) -> dict[str, Any]:
    text = config_for(client, ConfigEntry(URL, **given))
    assert (SECRET in text) == ("token" in given)
    return tomllib.loads(text) if client == "codex" else json.loads(text)


STDIO: dict[str, dict[str, Any]] = {
    "claude-code": {
        "mcpServers": {
            "tacit": {
                "type": "stdio", "command": "tacit", "args": ["mcp"],
                "env": {"TACIT_URL": URL, "TACIT_TOKEN": "${TACIT_TOKEN}"}, "alwaysLoad": True,
            }
        }
    },
    "codex": {
        "mcp_servers": {
            "tacit": {
                "startup_timeout_sec": 30,
                "command": "tacit", "args": ["mcp"], "env": {"TACIT_URL": URL}, "env_vars": ["TACIT_TOKEN"],
            }
        }
    },
    "cursor": {
        "mcpServers": {
            "tacit": {
                "type": "stdio", "command": "tacit", "args": ["mcp"],
                "env": {"TACIT_URL": URL, "TACIT_TOKEN": "${env:TACIT_TOKEN}"},
            }
        }
    },
    "gemini-cli": {
        "mcpServers": {
            "tacit": {
                "command": "tacit", "args": ["mcp"],
                "env": {"TACIT_URL": URL, "TACIT_TOKEN": "$TACIT_TOKEN"},
            }
        }
    },
    "opencode": {
        "$schema": "https://opencode.ai/config.json",
        "mcp": {
            "tacit": {
                "type": "local", "command": ["tacit", "mcp"], "enabled": True,
                "environment": {"TACIT_URL": URL, "TACIT_TOKEN": "{env:TACIT_TOKEN}"},
            }
        },
    },
}  # fmt: skip
HTTP: dict[str, dict[str, Any]] = {
    "claude-code": {
        "type": "http", "url": URL + "/mcp", "headers": {"Authorization": "Bearer ${TACIT_TOKEN}"},
        "alwaysLoad": True,
    },
    "codex": {"url": URL + "/mcp", "bearer_token_env_var": "TACIT_TOKEN", "startup_timeout_sec": 30},
    "cursor": {"url": URL + "/mcp", "headers": {"Authorization": "Bearer ${env:TACIT_TOKEN}"}},
    "gemini-cli": {"httpUrl": URL + "/mcp", "headers": {"Authorization": "Bearer $TACIT_TOKEN"}},
    "opencode": {
        "type": "remote", "url": URL + "/mcp", "enabled": True,
        "headers": {"Authorization": "Bearer {env:TACIT_TOKEN}"},
    },
}  # fmt: skip


def server(client: str, value: dict[str, Any], name: str = "tacit") -> dict[str, Any]:
    key = {"codex": "mcp_servers", "opencode": "mcp"}.get(client, "mcpServers")
    return value[key][name]


@pytest.mark.parametrize("client", CLIENTS)
def test_a_clients_text_is_in_its_format_and_names_the_variable_instead_of_the_token(client: str) -> None:
    assert parsed(client) == STDIO[client]
    assert server(client, parsed(client, http=True)) == HTTP[client]


@pytest.mark.parametrize("client", CLIENTS)
def test_a_token_is_written_where_the_client_uses_it_and_only_when_it_is_given(client: str) -> None:
    local = server(client, parsed(client, token=SECRET))
    assert (local.get("env") or local["environment"])["TACIT_TOKEN"] == SECRET
    assert "env_vars" not in local
    remote = server(client, parsed(client, token=SECRET, http=True))
    assert (remote.get("headers") or remote["http_headers"])["Authorization"] == f"Bearer {SECRET}"


@pytest.mark.parametrize("client", CLIENTS)
def test_a_command_that_finds_its_token_by_name_asks_for_no_variable(client: str) -> None:
    found = parsed(client, arguments=("mcp", "--as", "ada"), asks_for_token=False)
    assert "TACIT_TOKEN" not in str(found)
    assert "--as" in str(server(client, found))


@pytest.mark.parametrize("client", CLIENTS)
def test_odd_paths_survive_the_quoting(client: str) -> None:
    odd = 'C:\\Program Files\\"tacit"\x7f\n\u00e9\U0001f600'
    found = server(client, parsed(client, command=odd))["command"]
    assert found == ([odd, "mcp"] if client == "opencode" else odd)


def test_a_servers_name_cannot_break_out_of_its_key() -> None:
    assert server("codex", parsed("codex", name="my-room_2"), "my-room_2")
    for name in ("", "a.b", "a]", 'a"', "a b", "\u00e9"):
        with pytest.raises(Refused):
            config_for("codex", ConfigEntry(URL, name=name))


def test_a_reference_that_a_client_did_not_fill_in_is_recognised() -> None:
    assert all(is_placeholder(one) for one in ("${TACIT_TOKEN}", "$TACIT_TOKEN", "{env:TACIT_TOKEN}"))
    assert not is_placeholder(SECRET)
