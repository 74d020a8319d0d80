"""What Claude Code is told on its command line, and how its results are read.

Pure. Claude Code puts text that comes in during a turn, and text from hooks, into a system message: chat
must never stand there (C2A-100). So neither is used for chat: at a boundary the turn is halted and goes on
with a user message.
"""

from __future__ import annotations

import json
import shlex
from typing import Final

from tacit.harness.drivers.failures import from_status, permanent, retryable
from tacit.harness.drivers.options import Access
from tacit.harness.drivers.port import Failure, StandingInstructions, ToolAddress, ToolServer, Usage
from tacit.harness.drivers.reading import Message, count, part, text

_MODES: Final = {Access.READ: "dontAsk", Access.WRITE: "acceptEdits", Access.FULL: "acceptEdits"}
"""Nobody is there to ask, so what a mode does not allow by itself is denied: all outside the directory."""
_EVERYTHING: Final = "Bash Edit Glob Grep NotebookEdit Read WebFetch WebSearch Write"
HALTED: Final = "the room has something to say"
"""Shown to the model in a system note when a turn is halted at a boundary: our words only."""

QUIET: Final = {
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    "DISABLE_TELEMETRY": "1",
    "DISABLE_ERROR_REPORTING": "1",
    "DISABLE_AUTOUPDATER": "1",
    "DISABLE_BUG_COMMAND": "1",
    "DISABLE_FEEDBACK_COMMAND": "1",
    "CLAUDE_CODE_DISABLE_FEEDBACK_SURVEY": "1",
}
_ALONE: Final = {
    "CLAUDE_CODE_DISABLE_NONSTREAMING_FALLBACK": "1",
    "CLAUDE_CODE_DISABLE_BACKGROUND_TASKS": "1",
    "CLAUDE_CODE_DISABLE_AUTO_MEMORY": "1",
}


def settings(*, base_url: str, retries: int, config: str, use_my_config: bool) -> dict[str, str]:
    """Variables for the process. The chat tools are always at hand, never behind a search.

    The key is not among them: the agent's shell would inherit it, and anybody in the room could ask for it.
    """
    found = {**QUIET, "ENABLE_TOOL_SEARCH": "false", "CLAUDE_CODE_MAX_RETRIES": str(retries)}
    found["CLAUDE_CODE_ENTRYPOINT"] = "sdk-py"
    if base_url:
        found["ANTHROPIC_BASE_URL"] = base_url
    if not use_my_config:
        found |= {**_ALONE, "CLAUDE_CONFIG_DIR": config}
    return found


def arguments(
    standing: StandingInstructions,
    *,
    model: str,
    access: Access,
    session_id: str | None,
    tools_file: str,
    key_file: str,
    use_my_config: bool,
) -> list[str]:
    """The command line. What is secret is in files: command lines can be read by all."""
    line = ["--output-format", "stream-json", "--input-format", "stream-json", "--verbose"]
    line += ["--include-partial-messages", f"--append-system-prompt={standing.rules}"]
    line += ["--permission-mode", _MODES[access]]
    if allowed := _allowed(standing, access):
        line.append(f"--allowedTools={','.join(allowed)}")
    if model:
        line += ["--model", model]
    if session_id:
        line.append(f"--resume={session_id}")
    if standing.tools:
        line += ["--mcp-config", tools_file]
    if key_file:
        line.append("--settings=" + json.dumps({"apiKeyHelper": f"cat {shlex.quote(key_file)}"}))
    if not use_my_config:
        line += ["--strict-mcp-config", "--setting-sources="]
    return line


def _allowed(standing: StandingInstructions, access: Access) -> list[str]:
    own = _EVERYTHING.split() if access is Access.FULL else []
    return [*(f"mcp__{server.name}" for server in standing.tools), *own]


def tools_file(standing: StandingInstructions) -> Message:
    """The file with the tool servers."""
    return {"mcpServers": {server.name: _server(server) for server in standing.tools}}


def _server(server: ToolServer) -> Message:
    if isinstance(server, ToolAddress):
        headers = {"Authorization": f"Bearer {server.token}"} if server.token else {}
        return {"type": "http", "url": server.url, "headers": headers}
    program, *rest = server.command
    return {"type": "stdio", "command": program, "args": rest, "env": dict(server.environment)}


def tool_name(name: str) -> str:
    """`mcp__server__tool` as `server.tool`; Claude's own tools keep their names."""
    if name.startswith("mcp__"):
        server, _, tool = name.removeprefix("mcp__").partition("__")
        return f"{server}.{tool}"
    return name


def usage(counts: object) -> Usage:
    """Tokens of a turn. Claude counts cached tokens apart from the rest of the input."""
    cached = count(counts, "cache_read_input_tokens")
    fresh = count(counts, "input_tokens") + count(counts, "cache_creation_input_tokens")
    return Usage(input=fresh + cached, output=count(counts, "output_tokens"), cached=cached)


def seen_usage(event: Message) -> Usage | None:
    """Tokens of one model call, as they come by in its stream: its input first, its output at its end."""
    match text(event, "type"):
        case "message_start":
            given = usage(part(part(event, "message"), "usage"))
            return Usage(given.input, 0, given.cached)
        case "message_delta":
            return Usage(output=count(part(event, "usage"), "output_tokens"))
        case _:
            return None


_BY_WORD: Final = {
    "authentication_failed": permanent("signed_out"),
    "billing_error": permanent("over_budget"),
    "rate_limit": retryable("rate_limited"),
    "invalid_request": permanent("model_refused"),
    "server_error": retryable("model_unavailable"),
}


_TOO_LONG: Final = "Prompt is too long"


def failure(word: str | None, status: int | None, subtype: str, says: str = "") -> Failure:
    """Why a turn failed: by the model server's status, else by Claude Code's own word."""
    if says.startswith(_TOO_LONG):
        return permanent("context_full")
    if status is not None:
        return from_status(status)
    if word in _BY_WORD:
        return _BY_WORD[word]
    if subtype == "error_max_budget_usd":
        return permanent("over_budget")
    return retryable("rubbish" if word == "unknown" else "agent_error")
