"""`Message`: one message as it stands on the wire, frozen and lossless (CLOWL-001, CLOWL-021, CLOWL-091).

Members keep the wire's short names and the wire's three states (a value, null, absent); the properties with
whole words are how a program reads them, with null and absent being the same. A message with members that
the draft does not name is an `ExtendedMessage`, which writes them out again.

Decoding here checks shapes only, in compiled code; `rules` knows why something is wrong, `reading` decides.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Final, Literal

import msgspec
from msgspec import UNSET, Meta, UnsetType

from tacit.language.tables import BROADCAST, MAX_INLINE, MAX_NAME, MAX_TS, Performative

if TYPE_CHECKING:
    from collections.abc import Mapping

Name = Annotated[str, Meta(min_length=1, max_length=MAX_NAME)]
Inline = Annotated[str, Meta(max_length=MAX_INLINE)]
Sha256 = Annotated[str, Meta(min_length=64, max_length=64)]
Timestamp = Annotated[int, Meta(ge=0, le=MAX_TS)]


if TYPE_CHECKING:
    Data = dict[str, Any]
else:
    # What the compiled decoder takes by itself: 64-bit integers and three levels. `reading` takes the rest.
    _Scalar = str | bool | float | Annotated[int, Meta(ge=-(2**63), le=2**63 - 1)] | None
    _Inner = _Scalar | list[_Scalar] | dict[str, _Scalar]
    Data = dict[str, _Scalar | list[_Inner] | dict[str, _Inner]]


class Body(msgspec.Struct, frozen=True, gc=False):
    """A task and its data."""

    t: Name
    d: Data


class Context(msgspec.Struct, frozen=True, gc=False):
    """Where the shared context is, a short copy of it, and its SHA-256."""

    ref: str | UnsetType | None = UNSET
    inline: Inline | UnsetType | None = UNSET
    hash: Sha256 | UnsetType | None = UNSET

    @property
    def reference(self) -> str | None:
        """The path or URL."""
        return self.ref or None

    @property
    def text(self) -> str | None:
        """The inline copy; an empty text is a text."""
        return None if isinstance(self.inline, UnsetType) else self.inline

    @property
    def digest(self) -> str | None:
        """The SHA-256 in lower case (CLOWL-025)."""
        return self.hash.lower() if self.hash else None

    @property
    def says_something(self) -> bool:
        """Three nulls are no context at all (CLOWL-025)."""
        return self.reference is not None or self.text is not None or self.digest is not None


class Message(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """One CLowl message; build it with `Author`, read it with `parse` or `read`."""

    # No required member has a default: decoding must never add what the text does not spell out.
    clowl: Literal["0.2"]
    mid: Name
    ts: Timestamp
    tid: Name | UnsetType = UNSET
    pid: Name | UnsetType | None = UNSET
    p: Performative
    from_: Name = msgspec.field(name="from")
    to: Name | Annotated[tuple[Name, ...], Meta(min_length=1)]
    cid: Name
    body: Body
    ctx: Context | UnsetType = UNSET
    auth: str | UnsetType = UNSET
    det: bool | UnsetType = UNSET

    @property
    def sender(self) -> str:
        """The agent that wrote it."""
        return self.from_

    @property
    def recipients(self) -> tuple[str, ...]:
        """Whom it addresses; one entry in an array is the same as the plain string (CLOWL-013)."""
        return (self.to,) if isinstance(self.to, str) else self.to

    @property
    def is_broadcast(self) -> bool:
        """Whether it goes to everyone."""
        return self.to == BROADCAST

    @property
    def task(self) -> str:
        """The task's name, free-form (CLOWL-015)."""
        return self.body.t

    @property
    def data(self) -> Mapping[str, Any]:
        """The task's data."""
        return self.body.d

    @property
    def parent(self) -> str | None:
        """The `mid` it answers or follows; None for a root, written as null or left out (CLOWL-009)."""
        return self.pid or None

    @property
    def trace(self) -> str | None:
        """The trace it belongs to."""
        return self.tid or None

    @property
    def context(self) -> Context | None:
        """The context, unless there is none or all of it is null."""
        return self.ctx if isinstance(self.ctx, Context) and self.ctx.says_something else None

    @property
    def is_reproducible(self) -> bool:
        """The sender's claim about its own data (CLOWL-019, CLOWL-020)."""
        return self.det is True


class ExtendedMessage(Message, frozen=True, gc=False, kw_only=True):
    """A received message with members, or nulls, that v0.2 does not have; they are kept (CLOWL-021)."""

    extra: dict[str, Any] = {}
    body_extra: dict[str, Any] = {}
    ctx_extra: dict[str, Any] = {}


class ErrorReport(msgspec.Struct, frozen=True):
    """What an ERR says, with `retry` as the table allows it (CLOWL-059, CLOWL-061)."""

    code: str
    msg: str
    retry: bool


_encoder: Final = msgspec.json.Encoder()


def encode(message: Message) -> bytes:
    """The message as one line of JSON, the same bytes on every transport (CLOWL-091)."""
    if type(message) is Message:
        return _encoder.encode(message)
    return _encoder.encode(to_value(message))


def to_value(message: Message) -> dict[str, Any]:
    """The message as plain JSON values."""
    value: dict[str, Any] = msgspec.to_builtins(message)
    if isinstance(value["to"], tuple):
        value["to"] = list(value["to"])  # pyright: ignore[reportUnknownArgumentType]
    if isinstance(message, ExtendedMessage):
        for name in ("extra", "body_extra", "ctx_extra"):
            del value[name]
        value["body"].update(message.body_extra)
        if message.ctx_extra:
            value["ctx"].update(message.ctx_extra)
        value.update(message.extra)
    return value


def without_auth(message: Message) -> Message:
    """The same message for logs, traces and files: the token is not in it (CLOWL-018, CLOWL-079)."""
    return msgspec.structs.replace(message, auth=UNSET) if message.auth else message
