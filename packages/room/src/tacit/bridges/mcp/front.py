"""The thin server of `tacit mcp`: the versions of MCP that begin with `initialize`, answered by hand.

A client asks its model as soon as the server has answered; a server that is late has no tools in that first
request. The SDK takes a second to import, so what every client asks first is answered here, from tables; and
since that is the whole of what these versions ask of a server without subscriptions, the rest is answered
here too. A client that begins otherwise speaks a later version: `is_greeting` says so, and the SDK serves it.
Rows: C2A-139, C2A-169, C2A-201.

Bytes in, an answer or a piece of work out; knows no stream, no thread and no time.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, cast

import msgspec

from tacit.base.errors import PeerFault
from tacit.bridges.mcp import results, surface
from tacit.c2a.errors import INTERNAL, INVALID_PARAMS, NOT_A_REQUEST, PARSE_ERROR, UNKNOWN_METHOD
from tacit.c2a.rpc import Correlator, Notification, Request

if TYPE_CHECKING:
    from tacit.base.tool_results import Fault, ToolResult
    from tacit.c2a.errors import Refusal
    from tacit.c2a.rpc import RpcId

VERSIONS: Final = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
"""The versions that begin with `initialize`; the last one is offered to a client that knows none of them."""
CHANNEL_EVENT: Final = "notifications/claude/channel"


@dataclass(frozen=True, slots=True)
class ToolRun:
    """A tool is to be run, and the request answered with what comes of it."""

    id: RpcId
    name: str
    arguments: dict[str, Any]


@dataclass(frozen=True, slots=True)
class ResourceRead:
    """An address is to be read, and the request answered with what stands there."""

    id: RpcId
    uri: str


@dataclass(frozen=True, slots=True)
class RequestWithdrawn:
    """The client no longer wants an answer to this request."""

    id: object


Work = ToolRun | ResourceRead | RequestWithdrawn


def is_greeting(line: bytes) -> bool:
    """Does a client that begins with this line speak a version that is served here?"""
    try:
        value: object = msgspec.json.decode(line)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return True  # it is answered with an error here as well as anywhere
    return not isinstance(value, dict) or cast("dict[str, Any]", value).get("method") in {
        "initialize",
        "ping",
    }


class Front:
    """One client's connection."""

    def __init__(self, *, channel: bool = False) -> None:
        self._rpc = Correlator()
        self._channel = channel

    def take(self, line: bytes) -> bytes | Work | None:
        """What a message comes to: an answer, something to do, or nothing."""
        try:
            received = self._rpc.receive(line)
        except PeerFault:
            return self._fault(line)
        match received:
            case Request(id=request, method=method, params=params):
                given = cast("dict[str, Any]", params) if isinstance(params, dict) else {}
                return self._asked(request, method, given)
            case Notification(method="notifications/cancelled", params=params) if isinstance(params, dict):
                return RequestWithdrawn(cast("dict[str, Any]", params).get("requestId"))
            case _:
                return None

    def _fault(self, line: bytes) -> bytes:
        try:
            msgspec.json.decode(line)
        except (msgspec.DecodeError, UnicodeError, RecursionError):
            return self._rpc.error(None, {"code": PARSE_ERROR, "message": "this is not JSON"})
        return self._rpc.error(None, {"code": NOT_A_REQUEST, "message": "this is not a JSON-RPC message"})

    def _asked(self, request: RpcId, method: str, params: dict[str, Any]) -> bytes | Work:
        if method in surface.LISTS:
            return self._rpc.result(request, surface.LISTS[method]())
        match method:
            case "ping":
                return self._rpc.result(request, {})
            case "initialize":
                asked = params.get("protocolVersion")
                version = asked if asked in VERSIONS else VERSIONS[-1]
                return self._rpc.result(request, surface.greeting(str(version), channel=self._channel))
            case "tools/call" if isinstance(params.get("name"), str):
                arguments: object = params.get("arguments")
                given = cast("dict[str, Any]", arguments) if isinstance(arguments, dict) else {}
                return ToolRun(request, params["name"], given)
            case "resources/read" if isinstance(params.get("uri"), str):
                return ResourceRead(request, params["uri"])
            case "prompts/get":
                return self._result(request, surface.prompt(params.get("name")))
            case "tools/call" | "resources/read":
                return self._no(request, "a member is missing")
            case _:
                return self._rpc.error(request, {"code": UNKNOWN_METHOD, "message": "Method not found"})

    def _result(self, request: RpcId, result: dict[str, Any] | Fault) -> bytes:
        if isinstance(result, dict):
            return self._rpc.result(request, result)
        error = {"code": result.code, "message": result.message}
        return self._rpc.error(request, error if result.data is None else {**error, "data": result.data})

    def _no(self, request: RpcId, message: str) -> bytes:
        return self._rpc.error(request, {"code": INVALID_PARAMS, "message": message})

    # -- the answers to work

    def called(self, request: RpcId, result: ToolResult) -> bytes:
        """The answer to a tool call."""
        content = [{"type": "text", "text": result.text}]
        return self._rpc.result(
            request,
            {"content": content, "structuredContent": result.structure, "isError": result.is_error},
        )

    def read(self, request: RpcId, uri: str, text: str | Refusal | None) -> bytes:
        """The answer to the reading of an address."""
        return self._result(request, results.read(uri, text))

    def failed(self, request: RpcId) -> bytes:
        """The answer to work in which something of our own broke; says nothing of it."""
        return self._rpc.error(request, {"code": INTERNAL, "message": "a fault of the door's own"})

    def pushed(self, content: str, meta: dict[str, str]) -> bytes:
        """Something for a live session of Claude Code."""
        return self._rpc.notification(CHANNEL_EVENT, {"content": content, "meta": meta})
