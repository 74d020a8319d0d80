"""What Codex's app-server says, read into our words; and what it is told, written in its own.

Pure: messages in, values out. Steering, interrupting and processes are `io/codex.py`. The texts of errors
are read only to sort them and are never passed on: they may quote the conversation.
"""

from __future__ import annotations

import json
from typing import Final

from tacit.harness.drivers.failures import from_status, permanent, retryable
from tacit.harness.drivers.options import Access
from tacit.harness.drivers.port import (
    Failure,
    StandingInstructions,
    TextDelta,
    ToolAddress,
    ToolEnded,
    ToolServer,
    ToolStarted,
    TurnEvent,
    Usage,
)
from tacit.harness.drivers.reading import Message, count, part, text

SANDBOX: Final = {
    Access.READ: "read-only",
    Access.WRITE: "workspace-write",
    Access.FULL: "danger-full-access",
}
_BUILT_IN: Final = {
    "commandExecution": "shell",
    "fileChange": "apply_patch",
    "webSearch": "web_search",
    "imageView": "view_image",
    "imageGeneration": "image_generation",
    "collabAgentToolCall": "sub_agent",
}
_QUIET: Final[tuple[str, ...]] = (
    "analytics.enabled=false",
    "feedback.enabled=false",
    "check_for_update_on_startup=false",
    'otel.exporter="none"',
    "features.memories=false",  # or one audience's talk would be recalled for another
)
_ALONE: Final[tuple[str, ...]] = (
    'web_search="disabled"',
    "features.plugins=false",
    "features.remote_plugin=false",
    "features.apps=false",
    "features.skill_search=false",
    "features.tool_suggest=false",
    "features.unbounded_connection_retries=false",
)
KEY: Final = "TACIT_MODEL_KEY"
"""The variable that holds the model's key in the agent's process, named to Codex in its provider's
settings."""


def settings(
    *, model: str, base_url: str, retries: int, access: Access, binary: str, use_my_config: bool
) -> list[str]:
    """`-c` values: no telemetry, and a provider and bounds of ours unless it is the person's own Codex."""
    lines: list[str] = [*_QUIET, *(() if use_my_config else _ALONE)]
    lines.append(f'shell_environment_policy.set.{KEY}=""')  # or anybody in the room could ask to see it
    if model:
        lines.append(f"model={_quoted(model)}")
    if base_url or not use_my_config:
        address = _quoted(base_url or "https://api.openai.com/v1")
        limits = f"request_max_retries={retries},stream_max_retries={retries}"
        provider = f'name="tacit",base_url={address},wire_api="responses",env_key="{KEY}",{limits}'
        lines += ['model_provider="tacit"', f"model_providers.tacit={{{provider}}}"]
    if _bounded(access, use_my_config=use_my_config):
        own = "write" if access is Access.WRITE else "read"
        files = f'":minimal"="read",{_quoted(binary)}="read",":workspace_roots"={{"."="{own}"}}'
        lines += ['default_permissions="tacit"', f"permissions.tacit.filesystem={{{files}}}"]
    return lines


def _bounded(access: Access, *, use_my_config: bool) -> bool:
    """Whether commands see only the working directory and the system's programs.

    Codex's own modes let a command read every file of the account: not for an agent that strangers talk to.
    """
    return access is not Access.FULL and not use_my_config


def _quoted(word: str) -> str:
    """A TOML string: what JSON writes is one, for all that a name or an address may hold."""
    return json.dumps(word, ensure_ascii=False)


def opening(
    standing: StandingInstructions, *, directory: str, access: Access, use_my_config: bool
) -> Message:
    """The params of `thread/start` and `thread/resume`."""
    servers = {server.name: _server(server) for server in standing.tools}
    bounds = {} if _bounded(access, use_my_config=use_my_config) else {"sandbox": SANDBOX[access]}
    return {
        "cwd": directory,
        "approvalPolicy": "never",
        **bounds,
        "developerInstructions": standing.rules,
        "config": {"mcp_servers": servers} if servers else {},
    }


def _server(server: ToolServer) -> Message:
    common: Message = {"default_tools_approval_mode": "approve", "required": True, "startup_timeout_sec": 30}
    if isinstance(server, ToolAddress):
        headers = {"http_headers": {"Authorization": f"Bearer {server.token}"}} if server.token else {}
        return {"url": server.url, **headers, **common}
    program, *arguments = server.command
    return {"command": program, "args": arguments, "env": dict(server.environment), **common}


def user_input(text: str) -> list[Message]:
    """Text in the user role."""
    return [{"type": "text", "text": text}]


def picture(address: str) -> Message:
    """A picture in the user role, by an address that holds it."""
    return {"type": "image", "url": address}


def reminder(thread: str, rules: str) -> Message:
    """The params that put the rules into a resumed thread, which otherwise keeps those it began with."""
    content = [{"type": "input_text", "text": rules}]
    return {"threadId": thread, "items": [{"type": "message", "role": "developer", "content": content}]}


def refusal(method: str, params: Message) -> Message | None:
    """The answer to whatever Codex would ask a person: nobody is there to approve, so no."""
    del params
    match method:
        case "item/commandExecution/requestApproval" | "item/fileChange/requestApproval":
            return {"decision": "decline"}
        case "execCommandApproval" | "applyPatchApproval":
            return {"decision": "denied"}
        case "mcpServer/elicitation/request":
            return {"action": "decline", "content": None, "_meta": None}
        case "item/tool/requestUserInput":
            return {"answers": {}}
        case "item/permissions/requestApproval":
            return {"permissions": {}, "scope": "turn"}
        case _:
            return None


def event(method: str, params: Message) -> TurnEvent | None:
    """The turn event in a notification, if it is one."""
    if method == "item/agentMessage/delta":
        return TextDelta(text(params, "delta"))
    item = part(params, "item")
    name = tool_name(item)
    if name is None:
        return None
    call_id = text(item, "id")
    if method == "item/started":
        return ToolStarted(call_id, name)
    if method == "item/completed":
        failed = item.get("status") in {"failed", "declined"} or item.get("error") or _says_error(item)
        return ToolEnded(call_id, name, ok=not failed)
    return None


def _says_error(item: Message) -> bool:
    return bool(part(item, "result").get("isError")) or item.get("success") is False


def tool_name(item: Message) -> str | None:
    """The name of the tool behind an item; None when the item is no tool call."""
    kind = text(item, "type")
    if kind == "mcpToolCall":
        return f"{text(item, 'server')}.{text(item, 'tool')}"
    if kind == "dynamicToolCall":
        return text(item, "tool")
    return _BUILT_IN.get(kind)


def final_text(messages: list[Message]) -> str:
    """The agent's last word: the last message marked as final, else the last without a mark."""
    unmarked = ""
    for message in reversed(messages):
        if message.get("phase") == "final_answer":
            return text(message, "text")
        if message.get("phase") is None and not unmarked:
            unmarked = text(message, "text")
    return unmarked


def usage(counts: Message) -> Usage:
    """Tokens of one model call or of a whole thread."""
    return Usage(
        input=count(counts, "inputTokens"),
        output=count(counts, "outputTokens"),
        cached=count(counts, "cachedInputTokens"),
    )


_BY_WORD: Final = {
    "contextWindowExceeded": permanent("context_full"),
    "sessionBudgetExceeded": permanent("over_budget"),
    "usageLimitExceeded": permanent("over_budget"),
    "rateLimitExceeded": retryable("rate_limited"),
    "flexUnavailable": retryable("model_unavailable"),
    "serverOverloaded": retryable("model_unavailable"),
    "internalServerError": retryable("model_unavailable"),
    "unauthorized": permanent("signed_out"),
    "badRequest": permanent("model_refused"),
    "cyberPolicy": permanent("model_refused"),
    "misalignmentPolicyViolation": permanent("model_refused"),
    "tooManyDenials": permanent("model_refused"),
}


def failure(error: Message) -> Failure:
    """Why a turn failed."""
    info = error.get("codexErrorInfo")
    if isinstance(info, str) and info in _BY_WORD:
        return _BY_WORD[info]
    for kind in part(error, "codexErrorInfo"):
        return from_status(count(part(info, kind), "httpStatusCode") or None)
    message = text(error, "message")
    if message.startswith("stream disconnected"):
        return retryable("rubbish" if "before response.completed" in message else "model_unavailable")
    if message.lstrip().startswith("{"):  # the body of a 400, passed on as it came
        return permanent("model_refused")
    return retryable("agent_error")
