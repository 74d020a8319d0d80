"""Lines before the writer: commands wait by member, take turns, and a small one passes large ones.

The writer decides one command after the other, so what waits there is waited for by whoever comes next. Only
as much is handed to it as makes a good batch; the rest waits here. A member's own commands keep their order.
What the hub does by itself stands in the house's line.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from tacit.attention.commands import CallTool, DeleteMessage, EditMessage, ReportWork, Steer
from tacit.base.errors import Refused
from tacit.base.fair_turns import HOUSE, FairTurns
from tacit.ledger.commands import Append, AppendTogether, RecordBlob
from tacit.ledger.principal import SYSTEM

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tacit.ledger.commands import Command
    from tacit.ledger.io.writer_thread import Done

AT_THE_WRITER: Final = 128
"""How many commands the writer has at once: batches of this size are nearly as cheap as larger ones."""
ANY: Final = 1 << 40
OF_ONE_MEMBER: Final = 96
"""How many of them may be of one member."""
HEAVY_BYTES: Final = 16 * 1024
"""From this size on a command keeps the writer for longer than a batch of small ones."""
MOST_WAITING: Final = 64 * 1024
"""How many commands of one member may wait."""
MOST_BYTES: Final = 64 * 1024 * 1024
"""How large they may be together."""


class QueuedCommand(NamedTuple):
    """A command in its line, and who gets its outcome."""

    owner: str
    command: Command
    done: Done
    size: int

    @property
    def is_heavy(self) -> bool:
        """Is it a large one?"""
        return self.size >= HEAVY_BYTES


def owner_of(command: Command) -> str:
    """In whose line a command stands: a person's or a service's, or that of an actor in its group."""
    match command:
        case Append(submission=submission):
            member, group_id = submission.by, submission.group_id
        case AppendTogether(submissions=[submission, *_]):
            member, group_id = submission.by, submission.group_id
        case CallTool(session=member, group_id=group_id) | ReportWork(session=member, group_id=group_id):
            pass
        case (
            EditMessage(principal=member, group_id=group_id)
            | DeleteMessage(principal=member, group_id=group_id)
            | Steer(principal=member, group_id=group_id)
            | RecordBlob(principal=member, group_id=group_id)
        ):
            pass
        case _:
            return HOUSE
    if member == SYSTEM:
        return HOUSE
    return member if ":" in member else f"{group_id} {member}"


def size_of(command: Command) -> int:
    """How much there is to read in a command, as far as its size is its sender's choice."""
    match command:
        case Append(submission=submission):
            return len(submission.raw)
        case AppendTogether(submissions=submissions):
            return sum(len(submission.raw) for submission in submissions)
        case CallTool(arguments=arguments):
            return sum(len(value) for value in arguments.values() if isinstance(value, str))
        case EditMessage(text=text):
            return len(text)
        case _:
            return 0


class CommandLines:
    """All lines before one writer."""

    def __init__(self, *, bounded: bool = True) -> None:
        """Nobody waits in lines without bounds: of several writers one may be out of reach, others not."""
        self._turns: FairTurns[QueuedCommand] = FairTurns(
            AT_THE_WRITER if bounded else ANY,
            OF_ONE_MEMBER if bounded else ANY,
            MOST_WAITING,
            lambda waiting: bounded and waiting.is_heavy,
        )
        self._bytes: dict[str, int] = {}

    @property
    def waiting(self) -> int:
        """How many commands have not been handed to the writer yet."""
        return self._turns.waiting

    def ask(self, command: Command, done: Done) -> None:
        """Stand in line; refuses a member's command when too many of its own wait already."""
        waiting = QueuedCommand(owner_of(command), command, done, size_of(command))
        held = self._bytes.get(waiting.owner, 0) + waiting.size
        is_full = waiting.owner != HOUSE and held > max(MOST_BYTES, waiting.size)
        if is_full or not self._turns.ask(waiting.owner, waiting):
            raise Refused(
                "rate_limited",
                "too much of this member waits to be written already; slow down",
                details={"reason": "too_many_writes", "retry_after_s": 1},
            )
        self._bytes[waiting.owner] = held

    def next(self) -> Iterator[QueuedCommand]:
        """The commands whose turn has come."""
        return self._turns.next()

    def over(self, waiting: QueuedCommand) -> None:
        """A command has its outcome."""
        self._turns.done(waiting.owner, heavy=waiting.is_heavy)
        left = self._bytes.pop(waiting.owner, 0) - waiting.size
        if left:
            self._bytes[waiting.owner] = left
