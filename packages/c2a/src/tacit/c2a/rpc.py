"""JSON-RPC 2.0 on one connection, without the connection (C2A-012, C2A-013, C2A-014).

Either side may ask: `Correlator` gives each call of this side its id and its bytes, reads what the other side
sends, and says which call an answer belongs to. Every call ends in exactly one way: an answer, `forget` (the
caller does not wait any longer) or `end` (the connection is gone; what was sent may have happened or not). An
answer that belongs to no open call, because it is late, repeated or made up, is an `Unmatched` and nothing
else happens. What is not JSON-RPC at all is a `PeerFault`; whether that ends the connection is for its owner
to say. At most `most` calls are open at a time, so that a peer which never answers costs a bounded amount.

Pure: bytes and values in, bytes and values out. Knows no socket, no task and no time; who waits for an
answer, and for how long, is `tacit.c2a.io.socket`. What the codes mean is `tacit.c2a.errors`. Its values are
structs: they are made with every command that a person types, and a dataclass takes a millisecond to be made.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, cast

import msgspec

from tacit.base.errors import OUTCOME_UNKNOWN, PeerFault, Refused, TacitError, Unavailable

if TYPE_CHECKING:
    from collections.abc import Mapping

MOST: Final = 4096
"""Calls that one side may have open; four times what the hub works on at once for one connection."""
RpcId = str | int | float
"""What the other side may name its requests by. Our own ids are whole numbers, counted from 1."""
Object = dict[str, Any]


class Request(msgspec.Struct, frozen=True):
    """The other side asks; it gets exactly one answer, under this id."""

    id: RpcId
    method: str
    params: object = None


class Notification(msgspec.Struct, frozen=True):
    """The other side tells; it is never answered."""

    method: str
    params: object = None


class CallResult(msgspec.Struct, frozen=True):
    """A call of ours has its result."""

    call: int
    result: Any


class CallError(msgspec.Struct, frozen=True):
    """A call of ours was refused; the error object as it came."""

    call: int
    error: Object


class Unmatched(msgspec.Struct, frozen=True):
    """An answer to no call that is open: late, repeated or made up."""

    id: object


Received = Request | Notification | CallResult | CallError | Unmatched


class CallFailed(TacitError):
    """The other side answered a call with an error. Its text may be anything, so it is not in ours."""

    def __init__(self, error: Mapping[str, Any]) -> None:
        super().__init__(f"refused with code {error.get('code')}")
        self.error = dict(error)


class ConnectionLost(TacitError):
    """No answer will come: the connection ended, or the answer was not waited for any longer."""


def error_of(error: Mapping[str, Any]) -> Exception:
    """The error of an answer, as the kind that it is."""
    data: Mapping[str, Any] = error.get("data") or error
    code, message = str(data.get("code", "internal")), str(data.get("message", "the call failed"))
    if code == "daemon_unavailable":
        details: Mapping[str, Any] = data.get("details") or {}
        return Unavailable(message, unknown=details.get("reason") == OUTCOME_UNKNOWN)
    return Refused(code, message, details=data.get("details"))


class _Frame(msgspec.Struct, omit_defaults=True):
    """A message as it travels; members in the order in which people read them."""

    jsonrpc: Any = msgspec.UNSET
    id: Any = msgspec.UNSET
    method: Any = msgspec.UNSET
    params: Any = msgspec.UNSET
    result: Any = msgspec.UNSET
    error: Any = msgspec.UNSET


_encode: Final = msgspec.json.Encoder().encode
_decode: Final = msgspec.json.Decoder(_Frame).decode


class Correlator:
    """The calls of one connection, from its first message to its end; not used again after that."""

    def __init__(self, *, most: int = MOST, version: str | None = "2.0") -> None:
        """`version` is the member `jsonrpc` of what is sent; None leaves it out, as some agents want it."""
        self.most = most
        self._version: Any = msgspec.UNSET if version is None else version
        self._open: set[int] = set()
        self._last = 0
        self._ended = False

    # -- what this side says

    def request(self, method: str, params: bytes | Mapping[str, Any] | None = None) -> tuple[int, bytes]:
        """A call: its id, and its bytes. Params that are bytes go out as they are: a repeat is the same."""
        if self._ended:
            raise ConnectionLost("the connection has ended")
        if len(self._open) >= self.most:
            raise Unavailable("too many calls are open on this connection")
        self._last += 1
        data = self._frame(id=self._last, method=method, params=_params(params))
        self._open.add(self._last)
        return self._last, data

    def notification(self, method: str, params: Mapping[str, Any] | None = None) -> bytes:
        """Something that nobody answers."""
        return self._frame(method=method, params=_params(params))

    def result(self, request_id: object, result: object) -> bytes:
        """The answer to a request of the other side."""
        return self._frame(id=request_id, result=result)

    def error(self, request_id: object, error: object) -> bytes:
        """The refusal of a request of the other side."""
        return self._frame(id=request_id, error=error)

    def _frame(self, **members: Any) -> bytes:
        return _encode(_Frame(jsonrpc=self._version, **members))

    # -- how a call ends

    def receive(self, data: bytes | str) -> Received:
        """Read one message; an answer closes its call. `PeerFault` when it is none."""
        try:
            frame = _decode(data)
        except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
            raise PeerFault("a message is not one JSON object") from error
        if frame.method is not msgspec.UNSET:
            return _asked(frame)
        if frame.result is msgspec.UNSET and frame.error is msgspec.UNSET:
            raise PeerFault("a message has neither a method nor an answer")
        call = frame.id
        # True is 1 to a set; an id is taken for ours only as the very number that was sent.
        if type(call) is not int or call not in self._open:
            return Unmatched(None if call is msgspec.UNSET else call)
        self._open.remove(call)
        if frame.error is msgspec.UNSET or frame.error is None:
            return CallResult(call, None if frame.result is msgspec.UNSET else frame.result)
        return CallError(call, cast("Object", frame.error) if isinstance(frame.error, dict) else {})

    def forget(self, call: int) -> None:
        """Nobody waits for this call any more; its answer will be an `Unmatched`. Again is nothing."""
        self._open.discard(call)

    def end(self) -> tuple[int, ...]:
        """The connection is gone: the calls that will never be answered, oldest first. Again is nothing."""
        self._ended = True
        left = tuple(sorted(self._open))
        self._open.clear()
        return left


def _params(params: bytes | Mapping[str, Any] | None) -> Any:
    if params is None:
        return msgspec.UNSET
    return msgspec.Raw(params) if isinstance(params, bytes) else params


def _asked(frame: _Frame) -> Request | Notification:
    if not isinstance(frame.method, str):
        raise PeerFault("the method of a message is not a text")
    params = None if frame.params is msgspec.UNSET else frame.params
    if frame.id is msgspec.UNSET:
        return Notification(frame.method, params)
    if not isinstance(frame.id, (str, int, float)) or isinstance(frame.id, bool):
        raise PeerFault("the id of a request is neither a text nor a number")
    return Request(frame.id, frame.method, params)
