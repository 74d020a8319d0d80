"""Commands and outcomes as bytes, for a writer that stands in another process.

A frame is four bytes of length and one msgpack value: a list of commands on the way there; outcomes, in the
order in which the commands went, on the way back. A submission travels as the bytes that will be stored and
is read again by the writer, so that what is verified is what was sent.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias, cast

import msgspec

from tacit.attention.commands import Answer, AttentionCommand, Effect
from tacit.base.errors import Corrupt, Refused, Unavailable, WrittenByNewer
from tacit.base.io.time_service import TimeService, even_time
from tacit.base.moment import Moment
from tacit.base.ports import Clock  # noqa: TC001 - a property's type
from tacit.base.watched_time import Reckoning
from tacit.ledger.admission import AdmissionSettings
from tacit.ledger.commands import (
    Append,
    AppendedTogether,
    AppendTogether,
    BlobShare,
    Command,
    Committed,
    Decided,
    Duplicate,
    HubRecord,
    Outcome,
    Recorded,
)
from tacit.ledger.ports import Behind
from tacit.ledger.submission import Submission

if TYPE_CHECKING:
    from collections.abc import Sequence

HEAD: Final = 4
LONGEST: Final = 1 << 30


class _Submission(msgspec.Struct, frozen=True, array_like=True):
    group_id: str
    by: str
    kind: str
    raw: bytes
    scope_key: str = ""

    @classmethod
    def of(cls, given: Submission) -> _Submission:
        return cls(given.group_id, given.by, given.kind, given.raw, given.scope_key)

    def submission(self) -> Submission:
        data = _read_data(self.raw)
        return Submission(self.group_id, self.by, self.kind, data, self.raw, self.scope_key)


class _Append(msgspec.Struct, frozen=True, array_like=True, tag="append"):
    submission: _Submission
    creates: bool = False


class _Together(msgspec.Struct, frozen=True, array_like=True, tag="together"):
    submissions: tuple[_Submission, ...]
    share: BlobShare | None = None


class WriterFailure(msgspec.Struct, frozen=True, array_like=True, tag="failure"):
    """An error of one of the three kinds that an outcome may be."""

    kind: str
    message: str
    code: str = ""
    details: dict[str, Any] = {}
    hint: str = ""

    @classmethod
    def of(cls, error: Refused | Unavailable | Corrupt) -> WriterFailure:
        """An error as it travels."""
        match error:
            case Refused():
                return cls("refused", error.message, error.code, error.details)
            case Corrupt():
                details = {"damaged": list(error.damaged)} if error.damaged else {}
                return cls("corrupt", error.message, details=details, hint=error.hint)
            case Behind(groups=groups):
                return cls("behind", str(error), details={"groups": list(groups)})
            case WrittenByNewer(what=what, written=written, known=known):
                return cls("newer", str(error), details={"what": what, "written": written, "known": known})
            case _:
                return cls("unavailable", str(error), details={"unknown": True} if error.unknown else {})

    def error(self) -> Refused | Unavailable | Corrupt:
        """The error again."""
        match self.kind:
            case "refused":
                row = str(self.details.get("row", ""))
                return Refused(self.code, self.message, row=row, details=self.details)
            case "corrupt":
                damaged = tuple(self.details.get("damaged", ()))
                return Corrupt(self.message, hint=self.hint, damaged=damaged)
            case "behind":
                return Behind(self.details["groups"])
            case "newer":
                return WrittenByNewer(**self.details)
            case _:
                return Unavailable(self.message, unknown="unknown" in self.details)


class WriterOpening(msgspec.Struct, frozen=True, array_like=True):
    """The first frame: which file, and by which settings."""

    path: str
    idempotency_window: int
    profiles: tuple[str, ...]
    notice_kinds: tuple[str, ...] | None
    wal_hard_pages: int
    reckoning: tuple[int, int, int] | None = None
    """The hub's time, where that is reckoned: the writer goes on with the same."""

    @property
    def clock(self) -> Clock:
        """The writer's clock."""
        if self.reckoning is None:
            return TimeService()
        at, wall, steady = self.reckoning
        return TimeService(known=Reckoning(Moment(at), Moment(wall), steady))

    @property
    def settings(self) -> AdmissionSettings:
        """The rules' settings."""
        kinds = frozenset(self.notice_kinds) if self.notice_kinds is not None else None
        return AdmissionSettings(Moment(self.idempotency_window), frozenset(self.profiles), kinds)

    @classmethod
    def of(cls, path: str, settings: AdmissionSettings, wal_hard_pages: int, clock: Clock) -> WriterOpening:
        """The opening for a file under these settings, at this moment."""
        kinds = tuple(sorted(settings.notice_kinds)) if settings.notice_kinds is not None else None
        profiles = tuple(sorted(settings.profiles))
        even = even_time(clock)
        now = even.reckoning() if even is not None else None
        reckoning = (now.at, now.wall, now.steady) if now is not None else None
        return cls(path, settings.idempotency_window, profiles, kinds, wal_hard_pages, reckoning)


SentCommand: TypeAlias = _Append | _Together | HubRecord | AttentionCommand
"""A command as it travels."""
SentOutcome: TypeAlias = Committed | Duplicate | AppendedTogether | Decided | Recorded | WriterFailure
"""An outcome as it travels."""


class _Reply(msgspec.Struct, frozen=True, array_like=True):
    outcomes: list[SentOutcome]
    failures: int
    log_pages: int


class CommitReply(NamedTuple):
    """The outcomes of one commit, and how the writer is."""

    outcomes: list[Outcome]
    failures: int
    log_pages: int


_FAILURES: Final = (Refused, Unavailable, Corrupt)
_read_data: Final = msgspec.json.Decoder(dict[str, Any]).decode
_encode: Final = msgspec.msgpack.Encoder().encode
_commands: Final = msgspec.msgpack.Decoder(list[SentCommand])
_reply: Final = msgspec.msgpack.Decoder(_Reply)
_opening: Final = msgspec.msgpack.Decoder(WriterOpening)


def framed(body: bytes) -> bytes:
    """A body behind its length."""
    return len(body).to_bytes(HEAD, "big") + body


def frames(buffer: bytearray) -> list[bytes]:
    """Take the whole frames off the front of a buffer."""
    found: list[bytes] = []
    at = 0
    while len(buffer) - at >= HEAD:
        end = at + HEAD + int.from_bytes(buffer[at : at + HEAD], "big")
        if len(buffer) < end:
            break
        found.append(bytes(buffer[at + HEAD : end]))
        at = end
    del buffer[:at]
    return found


def encode_opening(opening: WriterOpening) -> bytes:
    """The first frame of a connection."""
    return framed(_encode(opening))


def decode_opening(body: bytes) -> WriterOpening:
    """The first frame, read."""
    return _opening.decode(body)


def encode_commands(commands: list[Command]) -> bytes:
    """A frame of commands."""
    return framed(_encode(sent(commands)))


def sent(commands: Sequence[Command]) -> list[SentCommand]:
    """Commands as they travel."""
    return [_sent(command) for command in commands]


def _sent(command: Command) -> SentCommand:
    if isinstance(command, Append):
        return _Append(_Submission.of(command.submission), command.creates)
    if isinstance(command, AppendTogether):
        return _Together(tuple(_Submission.of(one) for one in command.submissions), command.share)
    return cast("SentCommand", command)


def decode_commands(body: bytes) -> list[Command]:
    """The commands of a frame."""
    return received(_commands.decode(body))


def received(commands: Sequence[SentCommand]) -> list[Command]:
    """The commands again."""
    return [_received(one) for one in commands]


def _received(one: SentCommand) -> Command:
    if isinstance(one, _Append):
        return Append(one.submission.submission(), one.creates)
    if isinstance(one, _Together):
        return AppendTogether(tuple(each.submission() for each in one.submissions), one.share)
    return one


def encode_reply(outcomes: list[Outcome], failures: int, log_pages: int) -> bytes:
    """A frame of outcomes."""
    return framed(_encode((told(outcomes), failures, log_pages)))


def told(outcomes: Sequence[Outcome]) -> list[SentOutcome]:
    """Outcomes as they travel."""
    return [WriterFailure.of(one) if isinstance(one, _FAILURES) else one for one in outcomes]


def decode_reply(body: bytes) -> CommitReply:
    """The outcomes of a frame."""
    reply = _reply.decode(body)
    return CommitReply(heard(reply.outcomes), reply.failures, reply.log_pages)


def heard(outcomes: Sequence[SentOutcome]) -> list[Outcome]:
    """The outcomes again."""
    return [_heard(outcome) for outcome in outcomes]


def _heard(outcome: SentOutcome) -> Outcome:
    if isinstance(outcome, Committed):
        return _typed(outcome)
    match outcome:
        case WriterFailure():
            return outcome.error()
        case AppendedTogether(outcomes):
            return AppendedTogether(tuple(_each(one) for one in outcomes))
        case Decided(answer, outcomes):
            found = msgspec.convert(answer, Answer) if answer is not None else None
            return Decided(found, tuple(_each(one) for one in outcomes))
        case _:
            return outcome


def _each(one: Committed | Duplicate) -> Committed | Duplicate:
    return _typed(one) if isinstance(one, Committed) else one


def _typed(committed: Committed) -> Committed:
    """Effects are values of the engine's: they travel as plain data and are read back here."""
    if not committed.effects and not committed.then:
        return committed
    effects = tuple(cast("object", msgspec.convert(effect, Effect)) for effect in committed.effects)
    then = tuple(_typed(one) for one in committed.then)
    return Committed(committed.group_id, committed.event, then, effects)
