"""Commands: all that can reach the writer, as values; and what becomes of each.

Nothing but these crosses the writer's queue, so that the writer may stand behind a thread, a process or a
network. A command says what is wanted and holds everything that is needed to decide it: run again against the
same ledger it does the same again. Who asked and whether they may has been settled by the doors where a
credential is enough; what depends on the ledger as it stands is settled here, in the writer.

A `GroupCommand` is decided by the engine above the ledger, which this room does not know: the writer hands it
over and appends what the engine plans.
"""

from __future__ import annotations

from typing import Any, Final, TypeAlias

import msgspec

from tacit.base.errors import Corrupt, Refused, Unavailable
from tacit.ledger.envelope import StoredEvent
from tacit.ledger.submission import Submission


class Append(msgspec.Struct, frozen=True, tag=True, array_like=True):
    """Append one event. `creates` is set for the one submission that opens a group."""

    submission: Submission
    creates: bool = False


class BlobShare(msgspec.Struct, frozen=True):
    """The blobs of a message in one group, to be readable in another: the bytes are shared (CCCS-098)."""

    source_group_id: str
    group_id: str
    paths: tuple[str, ...]
    principal: str


class AppendTogether(msgspec.Struct, frozen=True, tag=True, array_like=True):
    """Append several, all or none: a relay and its send record, with the blobs that come along."""

    submissions: tuple[Submission, ...]
    share: BlobShare | None = None


class RecordBlob(msgspec.Struct, frozen=True, tag=True, array_like=True):
    """A blob's bytes are on disk: remember it, and who brought it."""

    group_id: str
    sha256: str
    size: int
    mime_type: str
    principal: str


class IssueCredential(msgspec.Struct, frozen=True, tag=True, array_like=True):
    """Keep a new token's hash.

    For a service also its name and groups, which are registered once (CCCS-005).
    """

    token_hash: bytes
    token_id: str
    principal: str
    group_id: str | None = None
    groups: tuple[str, ...] | None = None
    browser: bool = False


class AdoptOwnerToken(msgspec.Struct, frozen=True, tag=True, array_like=True):
    """The owner's token is this one from now on: every other of the owner's dies."""

    token_hash: bytes
    token_id: str
    principal: str


class UseCredential(msgspec.Struct, frozen=True, tag=True, array_like=True):
    """A browser's token was used."""

    token_id: str


class RevokeCredential(msgspec.Struct, frozen=True, tag=True, array_like=True):
    """Make a token worthless."""

    token_id: str


class SetWebhook(msgspec.Struct, frozen=True, tag=True, array_like=True):
    """Remember where a session's events are posted."""

    group_id: str
    session: str
    url: str
    secret: str
    version: str

    def __repr__(self) -> str:
        """Whose webhook: address and secret stand in no trace."""
        return f"SetWebhook(group_id={self.group_id!r}, session={self.session!r})"


class DropWebhook(msgspec.Struct, frozen=True, tag=True, array_like=True):
    """Forget it again."""

    group_id: str
    session: str


class Ping(msgspec.Struct, frozen=True, tag=True, array_like=True):
    """Is the writer there? Nothing is written, unless it is asked whether the disk takes anything."""

    writes: bool = False


class Awaken(msgspec.Struct, frozen=True, tag=True, array_like=True):
    """Somebody here reads these groups: apply what was only noted of them, and from now on what comes.

    None: apply what was noted of any group, this once. Answered when that is done. For this node's writer.
    """

    groups: tuple[str, ...] | None = None


class LetRest(msgspec.Struct, frozen=True, tag=True, array_like=True):
    """Nobody here reads these groups any more: what comes of them need only be noted."""

    groups: tuple[str, ...]


class GroupCommand(msgspec.Struct, frozen=True):
    """Decided by the engine against one group as it stands; each kind is a struct of its own."""

    group_id: str


KeptRecord: TypeAlias = (
    RecordBlob
    | IssueCredential
    | AdoptOwnerToken
    | UseCredential
    | RevokeCredential
    | SetWebhook
    | DropWebhook
)
"""What is no event of a group: records of the hub's own."""
HubRecord: TypeAlias = KeptRecord | Ping | Awaken | LetRest
"""The same, and what is for this node's writer alone: nothing of it is kept."""
HUB: Final = "@hub"
"""Where a journal has the records of the hub's own, beside the groups; no group has this id."""


class DatedRecord(msgspec.Struct, frozen=True, array_like=True):
    """A record of the hub's own with its moment: written again, with that moment, it gives the same rows."""

    at: int
    record: KeptRecord


Command: TypeAlias = Append | AppendTogether | HubRecord | GroupCommand


class Committed(msgspec.Struct, frozen=True, tag=True, array_like=True):
    """It is in the ledger, durable.

    `event` carries its bytes and its audience, `then` what followed from it in the same transaction,
    `effects` what the outside must now be told: values of the engine's. This event and then, each with its
    own, what followed: that is the order of the ledger.
    """

    group_id: str
    event: StoredEvent
    then: tuple[Committed, ...] = ()
    effects: tuple[Any, ...] = ()


class Duplicate(msgspec.Struct, frozen=True, tag=True, array_like=True):
    """It was there already."""

    event: StoredEvent


class AppendedTogether(msgspec.Struct, frozen=True, tag="Appended", array_like=True):
    """Several were appended together, or were there already."""

    outcomes: tuple[Committed | Duplicate, ...]


class Decided(msgspec.Struct, frozen=True, tag=True, array_like=True):
    """The engine decided a command: its answer, and what was appended."""

    answer: Any
    outcomes: tuple[Committed | Duplicate, ...] = ()


class Recorded(msgspec.Struct, frozen=True, tag=True, array_like=True):
    """A record of the hub's own is kept; `principal` is whose credential was revoked."""

    principal: str = ""


Success: TypeAlias = Committed | Duplicate | AppendedTogether | Decided | Recorded
Failure: TypeAlias = Refused | Unavailable | Corrupt
Outcome: TypeAlias = Success | Failure


def groups_asked(command: Command) -> tuple[str, ...]:
    """The groups that a command is decided in; `HUB` for a record of the hub's own; else none."""
    match command:
        case Append(submission=submission):
            return (submission.group_id,)
        case AppendTogether(submissions=submissions, share=share):
            asked = [submission.group_id for submission in submissions]
            return tuple(dict.fromkeys([*asked, HUB] if share is not None else asked))
        case GroupCommand(group_id=group_id):
            return (group_id,)
        case Ping() | Awaken() | LetRest():
            return ()
        case _:
            return (HUB,)


def groups_of(command: Command, outcome: Outcome) -> frozenset[str]:
    """The groups that a command was decided in and appended to."""
    return frozenset(groups_asked(command)).union(group_id for group_id, _seq in places_of(outcome))


def places_of(outcome: Outcome) -> set[tuple[str, int]]:
    """Group and position of every event that an outcome tells of."""
    match outcome:
        case Committed(group_id=group_id, event=event, then=then):
            return {(group_id, event.seq)}.union(*map(places_of, then))
        case AppendedTogether(outcomes=outcomes) | Decided(outcomes=outcomes):
            return set[tuple[str, int]]().union(*map(places_of, outcomes))
        case _:
            return set()
