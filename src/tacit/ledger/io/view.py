"""What the rules may look up in one group while a batch is open: the `Lookup` port on the read model."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tacit.ledger.codes import denied, missing
from tacit.ledger.principal import USER, PrincipalKind, kind_of

if TYPE_CHECKING:
    from tacit.ledger.io.read_model import ReadModel
    from tacit.ledger.io.writer import Writer
    from tacit.ledger.ports import Blob, Earlier, StoredEvent
    from tacit.ledger.state import Group


class View:
    """One group's look-ups for the rules (the `Lookup` port)."""

    __slots__ = ("_model", "_number", "_writer")

    def __init__(self, writer: Writer, group: Group) -> None:
        self._writer = writer
        self._model = writer.model
        self._number = group.number

    def event(self, event_id: str) -> StoredEvent | None:
        """The event with this id, in this group."""
        return self._model.event(self._number, event_id)

    def at(self, seq: int) -> StoredEvent | None:
        """The event at this position, in this group."""
        return self._model.at(self._number, seq)

    def messages(self, limit: int) -> list[StoredEvent]:
        """The last messages, oldest first."""
        return self._model.messages(self._number, limit)

    def submission(self, by: str, client_id: str) -> Earlier | None:
        """The last submission under this idempotency key."""
        return self._model.submission(self._number, by, client_id)

    def mark(self, mark: str, target: int, actor: str, detail: str = "") -> tuple[int, bool] | None:
        """The event that set a mark, and whether it still holds."""
        return self._model.mark(self._number, mark, target, actor, detail)

    def owes(self, actor: str, target: int) -> bool:
        """Is an acknowledgement by this actor open?"""
        return self._model.owes(self._number, actor, target)

    def read_position(self, actor: str) -> tuple[int, int] | None:
        """(position read, event that said so)."""
        return self._model.read_position(self._number, actor)

    def blob(self, path: str, reader: str) -> Blob | None:
        """The blob, if this reader may see it."""
        return self._model.blob(self._number, path, reader)

    def has_task(self, task_id: str) -> bool:
        """Does the group's task store have it?"""
        return self._model.has_task(self._number, task_id)

    def speech(self, mid: str) -> StoredEvent | None:
        """The first message of the group that carries this CLowl id."""
        return self._model.speech(self._number, mid)

    def require_source(self, group_id: str, event_id: str, reader: str) -> None:
        """Refuses unless it is an event of another group that `reader` may read."""
        self._writer.require_source(group_id, event_id, reader)


def require_readable(model: ReadModel, group: Group, event_id: str, reader: str) -> None:
    """Refuses unless it is an event of this group that `reader` may read (CCCS-095)."""
    if reader != USER and kind_of(reader) is not PrincipalKind.SERVICE and not group.has_member(reader):
        raise denied("this principal takes no part in the source group", "CCCS-095")
    found = model.event(group.number, event_id)
    if found is None:
        raise missing("event", "the source event does not exist", "CCCS-095")
    if not found.visible_to(reader):
        raise denied("this principal may not read the source event", "CCCS-095")
    if model.mark(group.number, "delete", found.seq, "", "") is not None:
        raise missing("event", "the source event was deleted", "C2A-187")
