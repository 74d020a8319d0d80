"""What Claude Code is told on its command line, and how its results are read.

Pure. Claude Code puts text that comes in during a turn, and text from hooks, into a system message: chat
must never stand there (C2A-100). So neither is used for chat: at a boundary the turn is halted and goes on
with a user message.
"""

from __future__ import annotations

import base64
import json
import shlex
from typing import TYPE_CHECKING, Final

from tacit.harness.drivers.failures import from_status, permanent, retryable
from tacit.harness.drivers.options import Access
from tacit.harness.drivers.port import (
    ACTIVITY_BYTES,
    TITLE_BYTES,
    ActivityState,
    Failure,
    ObservedActivity,
    PermissionRequest,
    StandingInstructions,
    TokenUsage,
    ToolAddress,
    ToolServer,
    cut,
    permission,
)
from tacit.harness.drivers.reading import Message, count, part, parts, text

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tacit.harness.drivers.port import TurnFile

_MODES: Final = {Access.READ: "default", Access.WRITE: "acceptEdits", Access.FULL: "acceptEdits"}
"""What a mode does not allow by itself is asked of the room: all outside the directory, and every command."""
_EDITS: Final = frozenset({"Edit", "MultiEdit", "Write", "NotebookEdit"})
_EVERYTHING: Final = "Bash Edit Glob Grep NotebookEdit Read WebFetch WebSearch Write"
HALTED: Final = "the room has something to say"
"""Shown to the model in a system note when a turn is halted at a boundary: our words only."""

QUIET: Final = {
    "CLAUDE_CODE_DISABLE_AUTO_MEMORY": "1",  # or one audience's talk would be recalled for another
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
}

_FORGETTING: Final = ("--print", "--no-session-persistence", "--tools=", "--safe-mode")


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
    rules_file: str = "",
) -> list[str]:
    """The command line. What is secret is in files: command lines can be read by all.

    With a `rules_file` it is for a turn that is to be forgotten: the rules in the file are all the system
    text, there are no tools, and no session is written.
    """
    line = ["--output-format", "stream-json", "--input-format", "stream-json", "--verbose"]
    line.append("--include-partial-messages")
    if rules_file:
        line += [*_FORGETTING, f"--system-prompt-file={rules_file}"]
    else:
        line.append(f"--append-system-prompt={standing.rules}")
    line += ["--permission-mode", _MODES[access], "--permission-prompt-tool", "stdio"]
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
    if not use_my_config or rules_file:
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


def user_message(words: str, pictures: Iterable[TurnFile] = ()) -> Message:
    """A message in the user role, with pictures behind its words."""
    content: list[Message] = [{"type": "text", "text": words}]
    for file in pictures:
        data = base64.b64encode(file.data).decode()
        source = {"type": "base64", "media_type": file.mime_type, "data": data}
        content.append({"type": "image", "source": source})
    said = content if len(content) > 1 else words
    return {"type": "user", "message": {"role": "user", "content": said}, "parent_tool_use_id": None}


def tool_name(name: str) -> str:
    """`mcp__server__tool` as `server.tool`; Claude's own tools keep their names."""
    if name.startswith("mcp__"):
        server, _, tool = name.removeprefix("mcp__").partition("__")
        return f"{server}.{tool}"
    return name


def asks(name: str, given: Message, *, directory: str, reason: str, call_id: str) -> PermissionRequest:
    """What Claude wants a person to allow."""
    path = text(given, "file_path") or text(given, "notebook_path")
    if name == "Bash" and text(given, "command"):
        details = "\n".join(filter(None, (text(given, "description"), reason)))
        return permission("command", text(given, "command"), details, directory=directory, call_id=call_id)
    if name in _EDITS and path:
        details = "\n".join(filter(None, (reason, diff_of(name, given))))
        return permission("edit", path, details, directory=directory, paths=(path,), call_id=call_id)
    main = path or next((value for value in given.values() if isinstance(value, str)), "")
    details = "\n".join(filter(None, (reason, json.dumps(given, ensure_ascii=False, indent=1))))
    return permission(
        "other", f"{tool_name(name)} {main}".strip(), details, directory=directory, call_id=call_id
    )


def diff_of(name: str, given: Message) -> str:
    """What an edit changes, as a diff of what it says itself: the file is not looked at."""
    path = text(given, "file_path") or text(given, "notebook_path")
    if name == "Write":
        return "\n".join([f"+++ {path}", *_signed("+", text(given, "content"))])
    edits = parts(given, "edits") or [given]
    found = [f"--- {path}", f"+++ {path}"]
    for one in edits:
        old, new = text(one, "old_string"), text(one, "new_string") or text(one, "new_source")
        found += ["@@", *_signed("-", old), *_signed("+", new)]
    return "\n".join(found)


def _signed(sign: str, said: str) -> list[str]:
    return [sign + line for line in said.splitlines()]


def began(name: str, given: Message, call_id: str) -> ObservedActivity:
    """A tool call as people watch it."""
    path = text(given, "file_path") or text(given, "notebook_path")
    if name == "Bash":
        return ObservedActivity(call_id, "command", title=cut(text(given, "command"), TITLE_BYTES))
    if name in _EDITS:
        diff = cut(diff_of(name, given), ACTIVITY_BYTES)
        return ObservedActivity(
            call_id, "edit", title=cut(path, TITLE_BYTES), text=diff, files=(path,) if path else ()
        )
    if name == "TodoWrite":
        marks = {"completed": "x", "in_progress": ">"}
        steps = [
            f"[{marks.get(text(one, 'status'), ' ')}] {text(one, 'content')}" for one in parts(given, "todos")
        ]
        return ObservedActivity("plan", "plan", text=cut("\n".join(steps), ACTIVITY_BYTES))
    main = path or next((value for value in given.values() if isinstance(value, str)), "")
    said = cut(json.dumps(given, ensure_ascii=False), ACTIVITY_BYTES) if given else ""
    return ObservedActivity(
        call_id, "tool", title=cut(f"{tool_name(name)} {main}".strip(), TITLE_BYTES), text=said
    )


def finished(name: str, given: object, call_id: str, *, ok: bool) -> ObservedActivity | None:
    """How a tool call came out; of a command also what it printed."""
    if name == "TodoWrite":
        return None
    state: ActivityState = "done" if ok else "failed"
    if name == "Bash":
        printed = "\n".join(filter(None, (text(given, "stdout"), text(given, "stderr"))))
        return ObservedActivity(call_id, "command", state, text=cut(printed, ACTIVITY_BYTES))
    return ObservedActivity(call_id, "edit" if name in _EDITS else "tool", state)


def usage(counts: object) -> TokenUsage:
    """Tokens of a turn. Claude counts cached tokens apart from the rest of the input."""
    cached = count(counts, "cache_read_input_tokens")
    fresh = count(counts, "input_tokens") + count(counts, "cache_creation_input_tokens")
    return TokenUsage(input=fresh + cached, output=count(counts, "output_tokens"), cached=cached)


def seen_usage(event: Message) -> TokenUsage | None:
    """Tokens of one model call, as they come by in its stream: its input first, its output at its end."""
    match text(event, "type"):
        case "message_start":
            given = usage(part(part(event, "message"), "usage"))
            return TokenUsage(given.input, 0, given.cached)
        case "message_delta":
            return TokenUsage(output=count(part(event, "usage"), "output_tokens"))
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
