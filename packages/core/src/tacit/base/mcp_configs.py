"""How each client is told of the door: the text for its configuration file, and where that file is.

One table row a client. A token is written only when it is given; otherwise the text names the environment
variable, each client in its own way of saying it, or nothing at all when the command finds its token by the
actor's name. Texts, not files: nothing is read or written here.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from tacit.base.errors import Refused

if TYPE_CHECKING:
    from collections.abc import Callable

TOKEN: Final = "TACIT_TOKEN"  # noqa: S105 - the name of a variable
URL: Final = "TACIT_URL"
PATIENCE: Final = 30
"""Seconds that a client shall wait for the server to answer, where it can be told."""


@dataclass(frozen=True, slots=True)
class ConfigEntry:
    """One way into a room: over stdio by a command, or over HTTP."""

    url: str
    name: str = "tacit"
    command: str = "tacit"
    arguments: tuple[str, ...] = ("mcp",)
    token: str | None = field(default=None, repr=False)
    """Written into the text when given."""
    asks_for_token: bool = True
    """Does the command need the variable? Not when it finds the token by the actor's name."""
    http: bool = False

    @property
    def door(self) -> str:
        """The address of the hub's own MCP door."""
        return self.url.rstrip("/") + "/mcp"

    def environment(self, reference: str | None) -> dict[str, str]:
        """What the command is started with; `reference` is how the client names the variable, if it can."""
        found = {URL: self.url} if self.url else {}
        if self.token is not None:
            found[TOKEN] = self.token
        elif self.asks_for_token and reference is not None:
            found[TOKEN] = reference
        return found

    def headers(self, reference: str) -> dict[str, str]:
        """What goes along with each request."""
        return {"Authorization": f"Bearer {self.token if self.token is not None else reference}"}


@dataclass(frozen=True, slots=True)
class Client:
    """A client: where its configuration lives, and how an entry is written there."""

    file: str
    write: Callable[[ConfigEntry], str]


def _json(value: dict[str, Any]) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False)


def _started(entry: ConfigEntry, reference: str) -> dict[str, Any]:
    """The command, as most clients write one that they start themselves."""
    return {
        "command": entry.command,
        "args": list(entry.arguments),
        "env": entry.environment(reference),
    }


def _servers(entry: ConfigEntry, server: dict[str, Any]) -> str:
    """The list that most clients have agreed upon."""
    return _json({"mcpServers": {entry.name: server}})


def _claude_code(entry: ConfigEntry) -> str:
    """JSON. `alwaysLoad`: it waits for the server before its first request, which so has the room's tools."""
    reference = f"${{{TOKEN}}}"
    server: dict[str, Any] = (
        {"type": "http", "url": entry.door, "headers": entry.headers(reference)}
        if entry.http
        else {"type": "stdio", **_started(entry, reference)}
    )
    return _servers(entry, {**server, "alwaysLoad": True})


def _codex(entry: ConfigEntry) -> str:
    """TOML. Codex hands no variable on unless it is listed, and takes no inline bearer token.

    It gives up a server that has not answered after ten seconds, which a busy machine can take to start one.
    """
    lines = [f"[mcp_servers.{entry.name}]", f"startup_timeout_sec = {PATIENCE}"]
    if entry.http:
        lines.append(f"url = {_toml(entry.door)}")
        if entry.token is None:
            lines.append(f"bearer_token_env_var = {_toml(TOKEN)}")
        else:
            lines.append(f"http_headers = {_toml_table(entry.headers(''))}")
        return "\n".join(lines)
    lines.append(f"command = {_toml(entry.command)}")
    lines.append(f"args = [{', '.join(_toml(one) for one in entry.arguments)}]")
    lines.append(f"env = {_toml_table(entry.environment(None))}")
    if entry.token is None and entry.asks_for_token:
        lines.append(f"env_vars = [{_toml(TOKEN)}]")
    return "\n".join(lines)


def _toml(text: str) -> str:
    """A basic string: JSON's escapes are TOML's, but for one control character."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _toml_table(values: dict[str, str]) -> str:
    return "{ " + ", ".join(f"{name} = {_toml(value)}" for name, value in values.items()) + " }"


def _cursor(entry: ConfigEntry) -> str:
    reference = f"${{env:{TOKEN}}}"
    if entry.http:
        return _servers(entry, {"url": entry.door, "headers": entry.headers(reference)})
    return _servers(entry, {"type": "stdio", **_started(entry, reference)})


def _gemini_cli(entry: ConfigEntry) -> str:
    reference = f"${TOKEN}"
    if entry.http:
        return _servers(entry, {"httpUrl": entry.door, "headers": entry.headers(reference)})
    return _servers(entry, _started(entry, reference))


def _opencode(entry: ConfigEntry) -> str:
    reference = f"{{env:{TOKEN}}}"
    server: dict[str, Any] = (
        {"type": "remote", "url": entry.door, "enabled": True, "headers": entry.headers(reference)}
        if entry.http
        else {
            "type": "local",
            "command": [entry.command, *entry.arguments],
            "enabled": True,
            "environment": entry.environment(reference),
        }
    )
    return _json({"$schema": "https://opencode.ai/config.json", "mcp": {entry.name: server}})


CLIENTS: Final[dict[str, Client]] = {
    "claude-code": Client(".mcp.json in the project", _claude_code),
    "codex": Client("~/.codex/config.toml", _codex),
    "cursor": Client("~/.cursor/mcp.json, or .cursor/mcp.json in the project", _cursor),
    "gemini-cli": Client("~/.gemini/settings.json, or .gemini/settings.json in the project", _gemini_cli),
    "opencode": Client("opencode.json in the project, or ~/.config/opencode/opencode.json", _opencode),
}


def config_for(client: str, entry: ConfigEntry) -> str:
    """The text for a client's configuration file."""
    if not entry.name or not all(one.isascii() and (one.isalnum() or one in "-_") for one in entry.name):
        raise Refused("invalid_request", "a server's name has letters, digits, - and _", row="C2A-139")
    return CLIENTS[client].write(entry)


def is_placeholder(token: str) -> bool:
    """Did a client hand on the reference itself, since the variable was not set where it started?"""
    return token.startswith(("$", "{env:"))
