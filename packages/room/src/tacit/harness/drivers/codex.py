"""What Codex's app-server says, read into our words; and what it is told, written in its own.

Pure: messages in, values out. Steering, interrupting and processes are `io/codex.py`. The texts of errors
are read only to sort them and are never passed on: they may quote the conversation.
"""

from __future__ import annotations

import json
import posixpath
import shlex
import tomllib
from typing import TYPE_CHECKING, Final

from tacit.harness.drivers.failures import from_status, permanent, retryable
from tacit.harness.drivers.options import Access
from tacit.harness.drivers.port import (
    ACTIVITY_BYTES,
    MOST_FILES,
    TITLE_BYTES,
    ActivityState,
    Failure,
    ObservedActivity,
    PermissionAnswer,
    PermissionRequest,
    Permitted,
    StandingInstructions,
    TextDelta,
    TokenUsage,
    ToolAddress,
    ToolEnded,
    ToolServer,
    ToolStarted,
    TurnEvent,
    cut,
    permission,
)
from tacit.harness.drivers.reading import Message, count, part, parts, text

if TYPE_CHECKING:
    from collections.abc import Iterable

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
    "features.shell_snapshot=false",  # outside what may be read, and a plain sh ends at that
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
_FORGETTING: Final[tuple[str, ...]] = (
    "features.shell_tool=false",
    "features.unified_exec=false",
    "features.view_image=false",
    "features.image_generation=false",
    "features.multi_agent=false",
    "features.sleep_tool=false",
    "features.goals=false",
    "features.hooks=false",
    "features.code_mode_host=false",
    "features.browser_use=false",
    "features.computer_use=false",
    "features.apps=false",
    "features.plugins=false",
    "features.skill_search=false",
    "features.tool_suggest=false",
    'web_search="disabled"',
    "project_doc_max_bytes=0",
    "include_environment_context=false",
    "include_permissions_instructions=false",
    "include_apps_instructions=false",
    "skills.include_instructions=false",
    "skills.bundled.enabled=false",
    'history.persistence="none"',
)
"""For a turn that is to be forgotten: no tools, and nobody's instructions but ours."""
ALONE: Final = "You answer one question from what it says. You have no tools, and nobody can be asked."
"""In place of what Codex tells a model of tools that are not there."""
TOOLS_START_SECONDS: Final = 120
"""What our tool server may take to start: on a busy machine half a minute is soon over."""

_SHELLS: Final = frozenset({"sh", "bash", "zsh", "dash"})
_SHELLS_IN: Final = frozenset({"", "/bin", "/usr/bin", "/usr/local/bin", "/opt/homebrew/bin"})
"""Where a shell is the system's own. The model may name any other: that one is shown."""
KEY: Final = "TACIT_MODEL_KEY"
"""The variable that holds the model's key in the agent's process, named to Codex in its provider's
settings."""


def settings(
    *,
    model: str,
    base_url: str,
    retries: int,
    access: Access,
    binary: str,
    use_my_config: bool,
    forgets: bool = False,
) -> list[str]:
    """`-c` values: no telemetry, and a provider and bounds of ours unless it is the person's own Codex."""
    lines: list[str] = [*_QUIET, *(() if use_my_config else _ALONE), *(_FORGETTING if forgets else ())]
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
    standing: StandingInstructions,
    *,
    directory: str,
    access: Access,
    use_my_config: bool,
    forgets: bool = False,
    unwanted: Iterable[str] = (),
) -> Message:
    """The params of `thread/start` and `thread/resume`. `unwanted` are tool servers of the person's own."""
    servers: Message = {name: {"enabled": False} for name in unwanted}
    servers |= {server.name: _server(server) for server in standing.tools}
    bounds = {} if _bounded(access, use_my_config=use_my_config) else {"sandbox": SANDBOX[access]}
    return {
        "cwd": directory,
        "approvalPolicy": "never" if access is Access.FULL else "on-request",
        **bounds,
        "developerInstructions": standing.rules,
        "config": {"mcp_servers": servers} if servers else {},
        **({"ephemeral": True, "baseInstructions": ALONE} if forgets else {}),
    }


def _server(server: ToolServer) -> Message:
    common: Message = {
        "default_tools_approval_mode": "approve",
        "required": True,
        "startup_timeout_sec": TOOLS_START_SECONDS,
    }
    if isinstance(server, ToolAddress):
        headers = {"http_headers": {"Authorization": f"Bearer {server.token}"}} if server.token else {}
        return {"url": server.url, **headers, **common}
    program, *arguments = server.command
    return {"command": program, "args": arguments, "env": dict(server.environment), **common}


def own_servers(config: str) -> list[str]:
    """The tool servers that a person's settings name; none where Codex cannot read them either."""
    try:
        return list(part(tomllib.loads(config), "mcp_servers"))
    except tomllib.TOMLDecodeError:
        return []


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


def asks(method: str, params: Message, item: Message) -> PermissionRequest | None:
    """What Codex wants a person to allow; None for questions that nobody is asked.

    `item` is what it is about, as it was told before: an edit names its files only there.
    """
    reason, directory, call_id = text(params, "reason"), text(params, "cwd"), text(params, "itemId")
    match method:
        case "item/commandExecution/requestApproval":
            line = bare_command(text(params, "command") or text(item, "command"))
            network = text(part(params, "networkApprovalContext"), "host")
            if network or not line:
                return permission("other", f"reach {network or 'the network'}", reason, call_id=call_id)
            return permission("command", line, reason, directory=directory, call_id=call_id)
        case "item/fileChange/requestApproval":
            changes = parts(item, "changes")
            paths = _touched(changes)
            root = text(params, "grantRoot")
            if root or not paths:
                return permission("other", f"write under {root}" if root else "change files", reason)
            details = "\n".join(filter(None, (reason, diff_of(changes))))
            return permission("edit", ", ".join(paths), details, paths=paths, call_id=call_id)
        case "item/permissions/requestApproval":
            wanted = json.dumps(params.get("permissions"), ensure_ascii=False, indent=1)
            details = "\n".join(filter(None, (reason, wanted)))
            return permission("other", "more permissions for this turn", details, directory=directory)
        case _:
            return None


def bare_command(line: str) -> str:
    """The command that a person would type, without the shell that Codex puts around it."""
    try:
        words = shlex.split(line)
    except ValueError:
        return line
    if len(words) == 3 and words[1] in {"-c", "-lc"}:
        folder, name = posixpath.split(words[0])
        if name in _SHELLS and folder in _SHELLS_IN:
            return words[2]
    return line


def decision(method: str, params: Message, answer: PermissionAnswer) -> Message | None:
    """The answer to a question, in Codex's words; what nobody is asked is answered with no.

    Never for its session: how long a yes holds is kept by the harness, where it can be taken back.
    """
    yes = isinstance(answer, Permitted)
    match method:
        case "item/commandExecution/requestApproval" | "item/fileChange/requestApproval":
            return {"decision": "accept" if yes else "decline"}
        case "execCommandApproval" | "applyPatchApproval":
            return {"decision": "denied"}
        case "mcpServer/elicitation/request":
            return {"action": "decline", "content": None, "_meta": None}
        case "item/tool/requestUserInput":
            return {"answers": {}}
        case "item/permissions/requestApproval":
            return {"permissions": params.get("permissions") if yes else {}, "scope": "turn"}
        case _:
            return None


def refusal_note(wanted: PermissionRequest, reason: str) -> str:
    """Why it was not allowed, for the model: the protocol's own no has no room for a reason."""
    what = {"command": "run this command", "edit": "make this edit"}.get(wanted.kind, "do this")
    return f"You were not allowed to {what} ({cut(wanted.title, 200)}): {reason}\nGo on without it."


def _touched(changes: list[Message]) -> tuple[str, ...]:
    """Every file of an edit, those too to which others are moved."""
    found = (path for one in changes for path in (text(one, "path"), text(part(one, "kind"), "move_path")))
    return tuple(dict.fromkeys(path for path in found if path))


def diff_of(changes: list[Message]) -> str:
    """The changes of an edit as one diff."""
    found: list[str] = []
    for one in changes:
        path, kind, diff = text(one, "path"), text(part(one, "kind"), "type"), text(one, "diff")
        moved = text(part(one, "kind"), "move_path") or path
        head = {"add": ("/dev/null", path), "delete": (path, "/dev/null")}.get(kind, (path, moved))
        if kind in {"add", "delete"} and not diff.startswith("@@"):
            sign = "+" if kind == "add" else "-"
            diff = "\n".join(sign + line for line in diff.splitlines())
        found.append(f"--- {head[0]}\n+++ {head[1]}\n{diff}".rstrip("\n"))
    return "\n".join(found)


_STATES: Final[dict[str, ActivityState]] = {
    "inProgress": "running",
    "completed": "done",
    "failed": "failed",
    "declined": "refused",
}


def activity(method: str, params: Message) -> ObservedActivity | None:
    """What people may watch of a notification, if anything."""
    match method:
        case "item/started" | "item/completed":
            return _item(part(params, "item"))
        case "item/commandExecution/outputDelta":
            said = cut(text(params, "delta"), ACTIVITY_BYTES)
            return ObservedActivity(text(params, "itemId"), "command", text=said, appends=True)
        case "item/reasoning/summaryTextDelta":
            return ObservedActivity(
                text(params, "itemId"), "thought", text=text(params, "delta"), appends=True
            )
        case "turn/plan/updated":
            marks = {"completed": "x", "inProgress": ">"}
            steps = [
                f"[{marks.get(text(one, 'status'), ' ')}] {text(one, 'step')}"
                for one in parts(params, "plan")
            ]
            return ObservedActivity("plan", "plan", text=cut("\n".join(steps), ACTIVITY_BYTES))
        case _:
            return None


def _item(item: Message) -> ObservedActivity | None:
    item_id, kind = text(item, "id"), text(item, "type")
    state = _STATES.get(text(item, "status"), "running")
    match kind:
        case "commandExecution":
            code = item.get("exitCode")
            return ObservedActivity(
                item_id,
                "command",
                state,
                title=cut(bare_command(text(item, "command")), TITLE_BYTES),
                text=cut(text(item, "aggregatedOutput"), ACTIVITY_BYTES),
                exit_code=code if isinstance(code, int) else None,
            )
        case "fileChange":
            changes = parts(item, "changes")
            files = _touched(changes)[:MOST_FILES]
            diff = cut(diff_of(changes), ACTIVITY_BYTES)
            return ObservedActivity(
                item_id, "edit", state, title=cut(", ".join(files), TITLE_BYTES), text=diff, files=files
            )
        case "reasoning" if isinstance(item.get("summary"), list) and item["summary"]:
            said = "\n".join(str(one) for one in item["summary"])
            return ObservedActivity(item_id, "thought", "done", text=cut(said, ACTIVITY_BYTES))
        case "webSearch":
            return ObservedActivity(
                item_id, "tool", state, title=cut(f"web_search {text(item, 'query')}", TITLE_BYTES)
            )
        case "mcpToolCall":
            said = json.dumps(item.get("arguments"), ensure_ascii=False)
            return ObservedActivity(
                item_id, "tool", state, title=tool_name(item) or "tool", text=cut(said, ACTIVITY_BYTES)
            )
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


def usage(counts: Message) -> TokenUsage:
    """Tokens of one model call or of a whole thread."""
    return TokenUsage(
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
    if message.startswith("Incomplete response"):  # it hands on nothing of what the model had said
        return permanent("cut_short" if "max_output_tokens" in message else "model_refused")
    if message.lstrip().startswith("{"):  # the body of a 400, passed on as it came
        return permanent("model_refused")
    return retryable("agent_error")
