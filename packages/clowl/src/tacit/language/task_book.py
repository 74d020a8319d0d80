"""What is known of tasks after the messages so far: states, debts, chains (CLOWL-036, CLOWL-053, CLOWL-070).

Keeps and answers questions; which message moves which task is decided in `lifecycle`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from tacit.language.delegation import chain_of
from tacit.language.tables import BROADCAST
from tacit.language.task import Advice, Obligation, Task, TaskKey, TaskState, Violation

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from tacit.language.message import Message
    from tacit.language.tables import Performative


class RememberedMessage(msgspec.Struct, frozen=True, gc=False):
    """What is remembered of a message: enough to answer for it, without its data."""

    p: Performative
    sender: str
    recipients: tuple[str, ...]
    digest: bytes
    tasks: tuple[TaskKey, ...] = ()
    error_allows_retry: bool = False


class TaskBook:
    """All tasks of the messages applied so far."""

    def __init__(self) -> None:
        self._seen: dict[str, RememberedMessage] = {}
        self._tasks: dict[TaskKey, Task] = {}
        self._open: dict[TaskKey, None] = {}
        self._in_cid: dict[str, list[TaskKey]] = {}
        # By trace and delegate: who delegated, and the task that came of it.
        self._given: dict[tuple[str, str], list[tuple[str, TaskKey]]] = {}
        self._children: dict[TaskKey, list[TaskKey]] = {}
        self._broadcasts: dict[str, Message] = {}
        self._queries: dict[tuple[str, str], Obligation] = {}
        self._forwards: dict[TaskKey, Obligation] = {}
        self._changed: dict[TaskKey, Task] = {}
        self._violations: list[Violation] = []
        self._advice: list[Advice] = []

    @property
    def tasks(self) -> tuple[Task, ...]:
        """Every task, in the order they opened."""
        return tuple(self._tasks.values())

    def task(self, mid: str, agent: str) -> Task | None:
        """One task."""
        return self._tasks.get(TaskKey(mid, agent))

    def has_seen(self, mid: str) -> bool:
        """Whether this `mid` was processed already (CLOWL-070)."""
        return mid in self._seen

    def tasks_of(self, mid: str) -> tuple[Task, ...]:
        """The tasks that a message opened, moved or named."""
        seen = self._seen.get(mid)
        return tuple(self._tasks[key] for key in seen.tasks) if seen else ()

    def is_closed(self, cid: str) -> bool:
        """Whether every task of the conversation is terminal (CLOWL-036)."""
        return not any(self._tasks[key].is_open for key in self._in_cid.get(cid, ()))

    def chain(self, message: Message) -> tuple[str, ...]:
        """Those who owned the task that this DLGT passes on (CLOWL-053)."""
        trace = trace_of(message)
        return chain_of(message, lambda agent: self._giver(trace, agent))

    def _giver(self, trace: str, agent: str) -> str | None:
        """Who was the last to pass a task on to `agent` that still stands."""
        given = self._given.get((trace, agent), ())
        return next((giver for giver, key in reversed(given) if self._tasks[key].is_open), None)

    def obligations(self) -> tuple[Obligation, ...]:
        """Who owes what to whom now."""
        return tuple(self._owed())

    def _owed(self) -> Iterator[Obligation]:
        for key in self._open:
            task = self._tasks[key]
            if task.state is TaskState.TRANSFERRED:
                continue
            owes = "stop and say so" if task.state is TaskState.CANCELLING else "outcome"
            creditor = task.requester if task.state is TaskState.CANCELLING else task.reports_to
            yield Obligation(task.owner, creditor, owes, task.name, key.mid, task.changed)
        yield from self._queries.values()
        yield from self._forwards.values()

    def _with_children(self, keys: Iterable[TaskKey]) -> Iterator[TaskKey]:
        waiting = list(reversed(tuple(keys)))
        while waiting:
            key = waiting.pop()
            yield key
            waiting.extend(reversed(self._children.get(key, ())))

    def _keep(self, task: Task) -> None:
        self._tasks[task.key] = self._changed[task.key] = task
        if task.is_open:
            self._open[task.key] = None
        else:
            self._open.pop(task.key, None)
            self._forwards.pop(task.key, None)

    def _flag(self, kind: str, message: Message, reason: str, row: str) -> None:
        self._violations.append(Violation(kind, message.mid, reason, row))

    def _advise(
        self, p: str, sender: str, to: str, pid: str, row: str, *, code: str = "", status: str = ""
    ) -> None:
        self._advice.append(Advice(p, sender, to, pid, row, code, status))

    def _advise_all(self, p: str, message: Message, code: str) -> None:
        for agent in message.recipients:
            if agent != BROADCAST:
                self._advise(p, agent, message.sender, message.mid, "CLOWL-041", code=code)


def trace_of(message: Message) -> str:
    """What groups delegations: the trace, or without one the conversation, the widest thing shared then."""
    return f"t:{message.trace}" if message.trace else f"c:{message.cid}"
