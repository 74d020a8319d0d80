"""Reads and what they found as bytes, for readers that stand in processes of their own.

Frames as the writer's (`writer_codec`). A result is the JSON that the caller will get: whoever carries it on
does not have to read it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, cast

import msgspec

from tacit.attention.io.read_tools import Attendance
from tacit.attention.state.work import AgentStatus
from tacit.c2a.errors import Refusal
from tacit.hub.host.tools import ReadCall
from tacit.hub.people.credentials import Credential
from tacit.hub.writer.codec import WriterFailure, framed

if TYPE_CHECKING:
    from tacit.base.errors import Corrupt, Refused, Unavailable


class ReadAsked(msgspec.Struct, frozen=True, array_like=True, tag="read"):
    """An operation that reads, for a credential."""

    number: int
    name: str
    token_id: str
    principal: str
    group_id: str | None
    groups: tuple[str, ...] | None
    params: bytes

    @classmethod
    def of(cls, number: int, name: str, who: Credential, params: msgspec.Struct) -> ReadAsked:
        """As it travels."""
        groups = tuple(who.groups) if who.groups is not None else None
        given = msgspec.json.encode(params)
        return cls(number, name, who.token_id, who.principal, who.group_id, groups, given)

    @property
    def credential(self) -> Credential:
        """For whom."""
        groups = frozenset(self.groups) if self.groups is not None else None
        return Credential(self.token_id, self.principal, self.group_id, groups)


class LookAsked(msgspec.Struct, frozen=True, array_like=True, tag="look"):
    """A reading tool, for a session."""

    number: int
    group_id: str
    session: str
    name: str
    arguments: bytes
    version: str
    agents: dict[str, AgentStatus]
    people: dict[str, str]

    @classmethod
    def of(cls, number: int, call: ReadCall) -> LookAsked:
        """As it travels."""
        arguments = msgspec.json.encode(call.arguments)
        here = call.here
        return cls(
            number,
            call.group_id,
            call.session,
            call.name,
            arguments,
            call.version,
            dict(here.agents),
            dict(here.people),
        )

    @property
    def call(self) -> ReadCall:
        """The call again."""
        arguments = msgspec.json.decode(self.arguments, type=dict[str, Any])
        here = Attendance(self.agents, self.people)
        return ReadCall(self.group_id, self.session, self.name, arguments, self.version, here)


class StopAsked(msgspec.Struct, frozen=True, array_like=True, tag="stop"):
    """Nobody wants this read any more."""

    number: int


class ReadTold(msgspec.Struct, frozen=True, array_like=True):
    """What a read found, or why it failed."""

    number: int
    body: bytes
    is_refusal: bool = False
    failure: WriterFailure | None = None

    @classmethod
    def found(cls, number: int, value: object) -> ReadTold:
        """A result; a tool's refusal is one too."""
        if not isinstance(value, Refusal):
            return cls(number, msgspec.json.encode(value))
        told = (value.code, value.message, value.row, value.remedy, dict(value.details))
        return cls(number, msgspec.json.encode(told), is_refusal=True)

    @classmethod
    def failed(cls, number: int, error: Refused | Unavailable | Corrupt) -> ReadTold:
        """A failure."""
        return cls(number, b"", failure=WriterFailure.of(error))

    def raw(self) -> msgspec.Raw:
        """The JSON of the result; raises what it failed with."""
        if self.failure is not None:
            raise self.failure.error()
        return msgspec.Raw(self.body)

    def looked(self) -> dict[str, Any] | Refusal:
        """A tool's answer; raises what it failed with."""
        value: object = msgspec.json.decode(self.raw())
        return Refusal(*cast("list[Any]", value)) if self.is_refusal else cast("dict[str, Any]", value)


Asked = ReadAsked | LookAsked | StopAsked
_encode: Final = msgspec.msgpack.Encoder().encode
_asked: Final = msgspec.msgpack.Decoder(Asked)
_told: Final = msgspec.msgpack.Decoder(ReadTold)


def encode_asked(asked: Asked) -> bytes:
    """A frame on the way there."""
    return framed(_encode(asked))


def decode_asked(body: bytes) -> Asked:
    """The same, read."""
    return _asked.decode(body)


def encode_told(told: ReadTold) -> bytes:
    """A frame on the way back."""
    return framed(_encode(told))


def decode_told(body: bytes) -> ReadTold:
    """The same, read."""
    return _told.decode(body)
