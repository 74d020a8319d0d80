"""The language of the `command` driver: a turn as one JSON object in, the reply as JSON lines or text out.

In, one object: `turn_id`, `rules`, `prompt`, `session_id`, `audience` (empty for the room; each audience has
a session of its own), `directory`, `files`, a list of objects with `name`, `mime_type` and `path`, and
`tools`, a list of objects with `name` and either `command` and `environment` or `url` and `token`.

Out, one object a line. Any number of `{"type": "text", "text"}`, of `{"type": "tool_started" |
"tool_ended", "id", "name", "ok"}` and of `{"type": "usage", "input", "output", "cached"}`, tokens since the
last of these, and at the end `{"type": "reply", "text", "usage": {"input", "output",
"cached"}, "cost_usd", "session_id", "failure": {"kind", "code", "retry_after"}}`. All but `text` may be
left out, so a program that prints `{"text": "hello"}` is a whole agent.

Pure.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import msgspec

from tacit.harness.drivers.failures import permanent, retryable
from tacit.harness.drivers.port import (
    Failure,
    TextDelta,
    TokenUsage,
    ToolAddress,
    ToolEnded,
    ToolServer,
    ToolStarted,
    TurnEvent,
)
from tacit.harness.drivers.reading import Message, amount, count, part, text

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tacit.harness.drivers.port import TurnFile, TurnRequest

_HOPELESS: Final = frozenset({64, 65, 66, 67, 68, 69, 70, 72, 73, 76, 77, 78, 126, 127})
"""Exit codes that say "used wrongly" or "not allowed" by the custom of `sysexits` and of shells."""
_WORDS: Final = {"rate_limited", "model_unavailable", "rubbish", "time_limit", "agent_error"}
_FINAL_WORDS: Final = {"model_refused", "signed_out", "over_budget", "context_full"}


@dataclass(frozen=True, slots=True)
class ProgramReply:
    """A program's last word."""

    text: str = ""
    usage: TokenUsage = TokenUsage()
    cost_usd: float | None = None
    session_id: str | None = None
    failure: Failure | None = None


def turn(
    request: TurnRequest,
    session_id: str | None,
    prompt: str,
    files: Iterable[tuple[TurnFile, str]] = (),
) -> bytes:
    """The turn for stdin; `prompt` names the files that lie at these paths."""
    standing = request.standing
    return msgspec.json.encode(
        {
            "turn_id": request.turn_id,
            "rules": standing.rules,
            "prompt": prompt,
            "session_id": session_id,
            "audience": request.audience,
            "files": [{"name": file.name, "mime_type": file.mime_type, "path": path} for file, path in files],
            "directory": standing.directory,
            "tools": [_server(server) for server in standing.tools],
            **({"forget": True} if request.forget else {}),
            **({"schema": dict(request.schema)} if request.schema is not None else {}),
        }
    )


def _server(server: ToolServer) -> Message:
    if isinstance(server, ToolAddress):
        return {"name": server.name, "url": server.url, "token": server.token}
    return {"name": server.name, "command": list(server.command), "environment": dict(server.environment)}


def line(data: bytes) -> TurnEvent | ProgramReply | TokenUsage | None:
    """One line of stdout; None when it is nothing of ours."""
    try:
        message = msgspec.json.decode(data, type=dict[str, object])
    except (msgspec.DecodeError, RecursionError):
        return None
    match text(message, "type"):
        case "text":
            return TextDelta(text(message, "text"))
        case "tool_started":
            return ToolStarted(text(message, "id"), text(message, "name"))
        case "tool_ended":
            return ToolEnded(text(message, "id"), text(message, "name"), ok=message.get("ok") is not False)
        case "usage":
            return _counts(message)
        case "reply" | "":
            return _reply(message)
        case _:
            return None


def _reply(message: Message) -> ProgramReply:
    return ProgramReply(
        text=text(message, "text"),
        usage=_counts(part(message, "usage")),
        cost_usd=amount(message, "cost_usd"),
        session_id=text(message, "session_id") or None,
        failure=_failure(part(message, "failure")) if message.get("failure") else None,
    )


def _counts(counts: Message) -> TokenUsage:
    return TokenUsage(count(counts, "input"), count(counts, "output"), count(counts, "cached"))


def _failure(said: Message) -> Failure:
    word = text(said, "code")
    if text(said, "kind") == "permanent":
        return permanent(word if word in _FINAL_WORDS else "agent_error")  # pyright: ignore[reportArgumentType]
    code = word if word in _WORDS else "agent_error"
    return retryable(code, retry_after=amount(said, "retry_after"))  # pyright: ignore[reportArgumentType]


def ended(code: int) -> Failure | None:
    """What a program's exit code says about its turn."""
    if code == 0:
        return None
    if code < 0:
        return retryable("agent_died", hint="the program was ended by a signal")
    if code in _HOPELESS:
        return permanent("agent_error", hint=f"the program ended with code {code}")
    return retryable("agent_error", hint=f"the program ended with code {code}")
