"""What nodes of one ledger say to each other, as bytes.

Commands go to the node that writes to their group, each under a number of the asking node's; answers come
back under those numbers, with the position of the stream behind which the asking node has everything that
they tell of. Each travels by itself inside of a message, so that a message can be cut where one ends: servers
take no more than so many bytes at once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, TypeAlias

import msgspec

from tacit.attention.commands import (
    EditMessage,
    RecordSession,
    ReportWork,
    RunDueTimers,
    SetPresence,
)
from tacit.attention.state.work import AgentStatus, SessionLife
from tacit.base.errors import Unavailable
from tacit.hub.people.presence import Status
from tacit.hub.writer.codec import HEAD, decode_commands, decode_reply, encode_commands, encode_reply
from tacit.ledger.commands import (
    Append,
    AppendedTogether,
    AppendTogether,
    Committed,
    Decided,
    DropWebhook,
    Ping,
    RecordBlob,
    SetWebhook,
    UseCredential,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from tacit.ledger.commands import Command, Duplicate, Outcome

SPARE: Final = 1024
"""What a message needs beside what travels in it."""
UNTELLABLE: Final = "what was written is more than one node can tell another: look for it"
Numbered: TypeAlias = tuple[int, bytes]


class CommandsAsked(msgspec.Struct, frozen=True, array_like=True, tag="asked"):
    """Commands, and where their answers go; who asks has applied the stream up to `seen`."""

    address: str
    commands: list[Numbered]
    seen: int = 0


class CommandsAnswered(msgspec.Struct, frozen=True, array_like=True, tag="answered"):
    """Outcomes; whoever has applied the stream up to `sequence` has all of it."""

    sequence: int
    outcomes: list[Numbered]


class NotTaken(msgspec.Struct, frozen=True, array_like=True, tag="not taken"):
    """The numbers of commands that were asked of a node that does not write there: nothing was done."""

    address: str
    numbers: list[int]


class Beat(msgspec.Struct, frozen=True, array_like=True, tag="beat"):
    """A node lives: its machine, to how many groups it writes, how far it has followed the stream.

    `asleep`: of how many groups, that nobody reads there, it has only noted what is new.
    """

    address: str
    machine: str
    groups: int
    reached: int
    asleep: int = 0


class NodePresence(msgspec.Struct, frozen=True, array_like=True):
    """Who is connected to a node in one group, whole: it takes the place of what was said before.

    Agents by what they are at, with their signs of life; people by how they are.
    """

    address: str
    group_id: str
    agents: dict[str, AgentStatus] = {}
    lives: tuple[SessionLife, ...] = ()
    people: dict[str, Status] = {}


class AllHere(msgspec.Struct, frozen=True, array_like=True, tag="here"):
    """Who is connected to a node in some groups, each a `NodePresence` by itself."""

    address: str
    groups: list[msgspec.Raw]


class Greets(msgspec.Struct, frozen=True, array_like=True, tag="greets"):
    """Said to a node of which nothing was known: it tells who is connected to it."""

    address: str


class Types(msgspec.Struct, frozen=True, array_like=True, tag="types"):
    """Somebody is writing; in private the parties alone hear of it."""

    address: str
    group_id: str
    by: str
    conversation_id: str | None
    parties: frozenset[str] | None


class Whispers(msgspec.Struct, frozen=True, array_like=True, tag="whispers"):
    """A message that is kept nowhere."""

    address: str
    group_id: str
    by: str
    said: dict[str, Any]
    parties: frozenset[str] | None


class GoesOn(msgspec.Struct, frozen=True, array_like=True, tag="goes on"):
    """The author of what a session has not answered said more."""

    address: str
    group_id: str
    session: str
    event_id: str


class Leaves(msgspec.Struct, frozen=True, array_like=True, tag="leaves"):
    """A node stops."""

    address: str


class Acts(msgspec.Struct, frozen=True, array_like=True, tag="acts"):
    """What an agent does, for people who look on; in private for the parties alone."""

    address: str
    group_id: str
    said: dict[str, Any]
    parties: frozenset[str] | None


class FindLink(msgspec.Struct, frozen=True, array_like=True, tag="find link"):
    """Whom does the sign-in link with this digest sign in? `spends`: it is worth nothing from then on."""

    code_hash: bytes
    spends: bool


class ListLinks(msgspec.Struct, frozen=True, array_like=True, tag="list links"):
    """Which links of somebody are there?"""

    group_id: str
    principal: str


class EndLink(msgspec.Struct, frozen=True, array_like=True, tag="end link"):
    """Let a link sign nobody in any more."""

    link_id: str


class RedeemCode(msgspec.Struct, frozen=True, array_like=True, tag="redeem code"):
    """Which agent of another machine does the code with this digest let in? It is worth nothing then."""

    code_hash: str


class ShowTurns(msgspec.Struct, frozen=True, array_like=True, tag="show turns"):
    """What have these sessions done about a message, each in the form that it was given?

    `about`: the message's first form. `forget`: their harnesses are to keep nothing of it any more.
    """

    group_id: str
    about: str
    given: list[tuple[str, str]]
    forget: bool = False


class LinkFound(msgspec.Struct, frozen=True, array_like=True, tag="link found"):
    """Whom a link signs in."""

    principal: str
    group_id: str | None


class AgentInvited(msgspec.Struct, frozen=True, array_like=True, tag="agent invited"):
    """The agent that a code lets in."""

    group_id: str
    name: str


class LinkIds(msgspec.Struct, frozen=True, array_like=True, tag="link ids"):
    """The public ids of somebody's links."""

    ids: list[str]


class TurnsFound(msgspec.Struct, frozen=True, array_like=True, tag="turns found"):
    """The turns that run, those that harnesses kept, and which sessions were reached."""

    running: list[dict[str, Any]]
    kept: list[dict[str, Any]]
    reached: list[str]


Inquiry: TypeAlias = FindLink | ListLinks | EndLink | RedeemCode | ShowTurns
"""What a node can be asked that it alone has."""
Finding: TypeAlias = LinkFound | LinkIds | AgentInvited | TurnsFound | None


class Inquires(msgspec.Struct, frozen=True, array_like=True, tag="inquires"):
    """A node asks all others."""

    address: str
    number: int
    inquiry: Inquiry


class Informs(msgspec.Struct, frozen=True, array_like=True, tag="informs"):
    """What one of them has found."""

    address: str
    number: int
    finding: Finding


Word: TypeAlias = Beat | AllHere | Greets | Types | Whispers | GoesOn | Leaves | Acts | Inquires | Informs
"""What a node says to others, of itself and of those who are connected to it."""
NodeMessage: TypeAlias = CommandsAsked | CommandsAnswered | NotTaken | Word
_encode: Final = msgspec.msgpack.Encoder().encode
_decode: Final = msgspec.msgpack.Decoder(NodeMessage).decode


_decode_here: Final = msgspec.msgpack.Decoder(NodePresence).decode


def all_here(address: str, groups: Iterable[NodePresence], room: int) -> Iterator[AllHere]:
    """As few messages as there may be; a group that is larger than a message is one by itself."""
    part: list[msgspec.Raw] = []
    size = SPARE
    for one in groups:
        told = _encode(one)
        if part and size + len(told) > room:
            yield AllHere(address, part)
            part, size = [], SPARE
        part.append(msgspec.Raw(told))
        size += len(told)
    if part:
        yield AllHere(address, part)


def here_of(told: AllHere) -> list[NodePresence]:
    """Who is connected, for each group."""
    return [_decode_here(one) for one in told.groups]


def encode(message: NodeMessage) -> bytes:
    """What one node says to another."""
    return _encode(message)


def decode(payload: bytes) -> NodeMessage:
    """What was said."""
    return _decode(payload)


def command_bytes(command: Command) -> bytes:
    """A command as it travels."""
    return encode_commands([command])[HEAD:]


def command_of(body: bytes) -> Command:
    """The command again."""
    return decode_commands(body)[0]


def outcome_bytes(outcome: Outcome, room: int) -> bytes:
    """An outcome as it travels: without its effects, which are for the node that writes.

    When it is too large, without what followed from it: the asking node has that from the stream.
    """
    for told in (_without_effects(outcome), _without_more(outcome)):
        body = encode_reply([told], 0, 0)[HEAD:]
        if len(body) <= room - SPARE:
            return body
    return encode_reply([Unavailable(UNTELLABLE, unknown=True)], 0, 0)[HEAD:]


def outcome_of(body: bytes) -> Outcome:
    """The outcome again."""
    return decode_reply(body).outcomes[0]


def _each(one: Committed | Duplicate) -> Committed | Duplicate:
    if not isinstance(one, Committed):
        return one
    return Committed(one.group_id, one.event, tuple(_bare(then) for then in one.then))


def _bare(committed: Committed) -> Committed:
    return Committed(committed.group_id, committed.event, tuple(_bare(then) for then in committed.then))


def _without_effects(outcome: Outcome) -> Outcome:
    match outcome:
        case Committed():
            return _bare(outcome)
        case AppendedTogether(outcomes=outcomes):
            return AppendedTogether(tuple(_each(one) for one in outcomes))
        case Decided(answer=answer, outcomes=outcomes):
            return Decided(answer, tuple(_each(one) for one in outcomes))
        case _:
            return outcome


def _without_more(outcome: Outcome) -> Outcome:
    match outcome:
        case Committed(group_id=group_id, event=event):
            return Committed(group_id, event)
        case Decided(answer=answer):
            return Decided(answer)
        case _:
            return outcome


def cut(numbered: Iterable[Numbered], room: int) -> Iterator[list[Numbered]]:
    """What fits into one message each, in order; none of them is larger than that by itself."""
    part: list[Numbered] = []
    size = SPARE
    for one in numbered:
        needed = len(one[1]) + 16
        if part and size + needed > room:
            yield part
            part, size = [], SPARE
        part.append(one)
        size += needed
    if part:
        yield part


def is_repeatable(command: Command) -> bool:
    """Is it the same whether it is done once or twice? By its key, or as it says how something is."""
    match command:
        case Append(submission=submission, creates=creates):
            return not creates and isinstance(submission.data.get("client_id"), str)
        case AppendTogether(submissions=submissions):
            return all(isinstance(one.data.get("client_id"), str) for one in submissions)
        case EditMessage(client_id=client_id):
            return client_id is not None
        case _:
            return isinstance(
                command,
                RecordBlob
                | UseCredential
                | SetWebhook
                | DropWebhook
                | Ping
                | RecordSession
                | SetPresence
                | ReportWork
                | RunDueTimers,
            )
