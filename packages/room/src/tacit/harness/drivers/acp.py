"""What an ACP agent tells during a turn, read into our words. Pure."""

from __future__ import annotations

import json
import shlex
from typing import TYPE_CHECKING, Final, cast

from tacit.c2a.errors import INVALID_PARAMS, NOT_A_REQUEST, UNKNOWN_METHOD
from tacit.harness.drivers.failures import permanent, retryable
from tacit.harness.drivers.options import Access
from tacit.harness.drivers.port import (
    ACTIVITY_BYTES,
    MOST_FILES,
    TITLE_BYTES,
    ActivityState,
    Failure,
    ObservedActivity,
    PermissionRequest,
    TextDelta,
    ToolEnded,
    ToolStarted,
    TurnEvent,
    cut,
    permission,
)
from tacit.harness.drivers.reading import Message, part, parts, text

if TYPE_CHECKING:
    from collections.abc import Set as AbstractSet

SIGN_IN: Final = -32000
SIGN_IN_HINT: Final = "the agent wants to be signed in: run it once by itself, then give --use-my-config"
YES: Final = ("allow_once", "allow_always")
NO: Final = ("reject_once", "reject_always")
_READING: Final = frozenset({"read", "search", "think", "fetch"})
_WRITING: Final = _READING | {"edit", "delete", "move"}


def event(update: Message, calls: dict[str, str]) -> TurnEvent | None:
    """The turn event in a session update. `calls` keeps the names of calls under way and is changed."""
    match text(update, "sessionUpdate"):
        case "agent_message_chunk":
            return TextDelta(text(part(update, "content"), "text"))
        case "tool_call" | "tool_call_update":
            return _call(update, calls)
        case _:
            return None


def _call(update: Message, calls: dict[str, str]) -> TurnEvent | None:
    call_id, status = text(update, "toolCallId"), text(update, "status")
    if call_id not in calls:
        calls[call_id] = text(update, "title") or text(update, "kind") or "tool"
        if status not in {"completed", "failed"}:
            return ToolStarted(call_id, calls[call_id])
    if status in {"completed", "failed"} and calls[call_id]:
        name, calls[call_id] = calls[call_id], ""
        return ToolEnded(call_id, name, ok=status == "completed")
    return None


def allowed(call: Message, servers: AbstractSet[str], access: Access) -> bool:
    """Is this call within what the person granted when the agent was started? The chat tools always are."""
    title, kind = text(call, "title"), text(call, "kind")
    if any(title.startswith((f"{server}.", f"mcp__{server}__", f"{server}__")) for server in servers):
        return True
    granted = {Access.READ: _READING, Access.WRITE: _WRITING, Access.FULL: frozenset({kind})}[access]
    return kind in granted


def asks(call: Message, directory: str) -> PermissionRequest:
    """What the agent wants a person to allow."""
    given, call_id = part(call, "rawInput"), text(call, "toolCallId")
    title, kind = text(call, "title") or text(call, "kind") or "something", text(call, "kind")
    # Where it says that it works, and what its diffs change: they need not be the same.
    changed = [one for one in parts(call, "content") if one.get("type") == "diff"]
    paths = tuple(
        dict.fromkeys(path for one in (*parts(call, "locations"), *changed) if (path := text(one, "path")))
    )
    line = command_of(given)
    if kind == "execute" and line:
        details = title if title != line else ""
        return permission("command", line, details, directory=directory, call_id=call_id)
    details = shown(call) or (json.dumps(given, ensure_ascii=False, indent=1) if given else "")
    if kind in {"edit", "delete"} and paths:  # where a move ends nothing says for sure
        return permission("edit", title, details, directory=directory, paths=paths, call_id=call_id)
    return permission("other", title, details, directory=directory, call_id=call_id)


def command_of(given: Message) -> str:
    """The command line in a call's raw input, where it has one."""
    line: object = given.get("command")
    if isinstance(line, list):
        return shlex.join(str(word) for word in cast("list[object]", line))
    return line if isinstance(line, str) else ""


def shown(call: Message) -> str:
    """What a call shows of itself: diffs and texts."""
    found: list[str] = []
    for one in parts(call, "content"):
        if one.get("type") == "diff":
            path, old, new = text(one, "path"), text(one, "oldText"), text(one, "newText")
            lines = [f"-{line}" for line in old.splitlines()] + [f"+{line}" for line in new.splitlines()]
            found.append("\n".join([f"--- {path}", f"+++ {path}", "@@", *lines]))
        elif said := text(part(one, "content"), "text"):
            found.append(said)
    return "\n".join(found)


_STATES: Final[dict[str, ActivityState]] = {"completed": "done", "failed": "failed"}


def activity(update: Message) -> ObservedActivity | None:
    """What people may watch of a session update, if anything."""
    match text(update, "sessionUpdate"):
        case "tool_call" | "tool_call_update":
            return _called(update)
        case "plan":
            marks = {"completed": "x", "in_progress": ">"}
            steps = [
                f"[{marks.get(text(one, 'status'), ' ')}] {text(one, 'content')}"
                for one in parts(update, "entries")
            ]
            return ObservedActivity("plan", "plan", text=cut("\n".join(steps), ACTIVITY_BYTES))
        case "agent_thought_chunk":
            said = cut(text(part(update, "content"), "text"), ACTIVITY_BYTES)
            return ObservedActivity("thought", "thought", text=said, appends=True)
        case _:
            return None


def _called(update: Message) -> ObservedActivity:
    kind, line = text(update, "kind"), command_of(part(update, "rawInput"))
    files = tuple(path for one in parts(update, "locations") if (path := text(one, "path")))[:MOST_FILES]
    diffs = any(one.get("type") == "diff" for one in parts(update, "content"))
    is_edit = diffs or kind in {"edit", "delete", "move"}
    return ObservedActivity(
        text(update, "toolCallId"),
        "edit" if is_edit else "command" if kind == "execute" or line else "tool",
        _STATES.get(text(update, "status"), "running"),
        title=cut(line or text(update, "title"), TITLE_BYTES),
        text=cut(shown(update), ACTIVITY_BYTES),
        files=files if is_edit else (),
    )


def failure(code: int) -> Failure:
    """What a JSON-RPC error to a prompt means."""
    if code == SIGN_IN:
        return permanent("signed_out", hint=SIGN_IN_HINT)
    if code in {NOT_A_REQUEST, UNKNOWN_METHOD, INVALID_PARAMS}:
        return permanent("agent_error", hint="the agent does not take such a prompt")
    return retryable("agent_error")
