"""The lifecycle of tasks: messages in, task states and violations out.

Rows: CLOWL-035, CLOWL-036, CLOWL-037, CLOWL-038, CLOWL-039, CLOWL-040, CLOWL-041, CLOWL-042, CLOWL-043,
CLOWL-044, CLOWL-045, CLOWL-046, CLOWL-047, CLOWL-048, CLOWL-049, CLOWL-050, CLOWL-051, CLOWL-052, CLOWL-053,
CLOWL-054. Streaming and idempotent by `mid` (CLOWL-070); the first message with a `mid` wins (CLOWL-068).
Messages come in the order they were received; `trace` sorts a heap first. Deadlines and the present are
arguments. Sends nothing: what the rules ask someone to send is returned as advice.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Final

import msgspec

from tacit.language.delegation import CYCLE, closes_a_circle
from tacit.language.message import encode
from tacit.language.retry import refusal
from tacit.language.tables import BROADCAST, PERFORMATIVES
from tacit.language.task import (
    CHILD_TRIGGERS,
    TRANSITIONS,
    Obligation,
    Step,
    Task,
    TaskKey,
    TaskState,
    Trigger,
)
from tacit.language.task_book import RememberedMessage, TaskBook, trace_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tacit.language.message import Message

_ABOUT_CONTEXT: Final = frozenset({"E003", "E011", "E016"})
_ACCEPTING: Final = frozenset({"ACK", "PROG", "DONE"})


class Lifecycle(TaskBook):
    """All tasks of the messages applied so far."""

    def apply(self, message: Message, *, deadline: int | None = None) -> Step:
        """Take one message; `deadline` in seconds since 1970 holds for the tasks it opens."""
        self._changed, self._violations, self._advice = {}, [], []
        digest = hashlib.blake2b(encode(message), digest_size=16).digest()
        known = self._seen.get(message.mid)
        if known is not None:
            if known.digest != digest:
                self._flag("mid_conflict", message, "another message has this mid", "CLOWL-068")
            return Step((), tuple(self._violations), (), duplicate=True)
        self._seen[message.mid] = RememberedMessage(message.p, message.sender, message.recipients, digest)
        if self._is_in_place(message):
            concerned = self._dispatch(message, deadline)
            self._remember(message, concerned)
        return Step(tuple(self._changed.values()), tuple(self._violations), tuple(self._advice))

    def expire(self, now: int) -> Step:
        """Fail every open task whose deadline has passed; its owner's runtime sends E006 (CLOWL-062)."""
        self._changed, self._violations, self._advice = {}, [], []
        for key in tuple(self._open):
            task = self._tasks[key]
            if task.is_open and task.deadline is not None and task.deadline <= now:
                self._advise("ERR", task.owner, task.reports_to, key.mid, "CLOWL-062", code="E006")
                self._move(task, Trigger.DEADLINE, now, code="E006")
        return Step(tuple(self._changed.values()), (), tuple(self._advice))

    def _remember(self, message: Message, concerned: Iterable[TaskKey]) -> None:
        retry = bool(message.p == "ERR" and refusal(message) is None)
        seen = self._seen[message.mid]
        self._seen[message.mid] = msgspec.structs.replace(
            seen, tasks=tuple(concerned), error_allows_retry=retry
        )

    def _dispatch(self, message: Message, deadline: int | None) -> tuple[TaskKey, ...]:
        match message.p:
            case "REQ":
                return self._request(message, deadline)
            case "DLGT":
                return self._delegate(message, deadline)
            case "ACK" | "PROG" | "DONE" | "ERR":
                return self._report(message)
            case "CNCL":
                return self._cancel(message)
            case "QRY":
                return self._query(message)
            case "INF":
                return self._inform(message)
            case "CAPS":
                return ()

    def _is_in_place(self, message: Message) -> bool:
        """Whether the message may stand where it stands (Annex A, legal replies; CLOWL-036)."""
        parent = self._seen.get(message.parent or "")
        if parent is None:
            if (
                message.parent is None
                and not PERFORMATIVES[message.p].opens
                and not self._in_cid.get(message.cid)
            ):
                self._flag("bad_opening", message, f"{message.p} may not open a conversation", "CLOWL-036")
            return True
        if message.p in PERFORMATIVES[parent.p].replies:
            code = message.data.get("code")
            out_of_place = message.p == "ERR" and (
                (parent.p == "INF" and code not in _ABOUT_CONTEXT) or (parent.p == "CAPS" and code != "E014")
            )
        else:
            # A message that goes on to somebody else is a consequence of its parent, not a reply to it.
            goes_on = (
                message.p in {"REQ", "INF", "QRY", "CAPS", "DLGT"} and parent.sender not in message.recipients
            )
            out_of_place = not goes_on
        if out_of_place:
            self._flag("illegal_reply", message, f"{message.p} does not answer {parent.p}", "CLOWL-035")
        return not out_of_place

    # --- opening ---

    def _request(self, message: Message, deadline: int | None) -> tuple[TaskKey, ...]:
        retry_of, attempt = self._retried(message)
        if message.is_broadcast:
            self._broadcasts[message.mid] = message
            return ()
        for agent in message.recipients:
            self._open_task(
                message,
                agent,
                reports_to=message.sender,
                deadline=deadline,
                retry_of=retry_of,
                attempt=attempt,
            )
        return tuple(TaskKey(message.mid, agent) for agent in message.recipients)

    def _retried(self, message: Message) -> tuple[TaskKey | None, int]:
        parent = self._seen.get(message.parent or "")
        if parent is None or parent.p != "ERR" or not parent.tasks:
            return None, 1
        failed = self._tasks[parent.tasks[0]]
        if not parent.error_allows_retry:
            self._flag("retry_refused", message, "the error does not allow a retry", "CLOWL-063")
        elif failed.attempt > 3:
            self._flag("retry_refused", message, "three retries were made already", "CLOWL-064")
        if (failed.cid, failed.tid) != (message.cid, message.trace):
            self._flag("retry_elsewhere", message, "a retry keeps cid and tid", "CLOWL-064")
        return failed.key, failed.attempt + 1

    def _open_task(
        self,
        message: Message,
        agent: str,
        *,
        reports_to: str,
        deadline: int | None = None,
        retry_of: TaskKey | None = None,
        attempt: int = 1,
        delegated_from: TaskKey | None = None,
    ) -> Task:
        task = Task(
            key=TaskKey(message.mid, agent),
            name=message.task,
            cid=message.cid,
            tid=message.trace,
            requester=message.sender,
            owner=agent,
            reports_to=reports_to,
            mode=message.data["delegation_mode"] if message.p == "DLGT" else None,
            opened=message.ts,
            changed=message.ts,
            deadline=deadline,
            delegated_from=delegated_from,
            retry_of=retry_of,
            attempt=attempt,
            owners=((message.ts, agent),),
        )
        self._in_cid.setdefault(message.cid, []).append(task.key)
        self._keep(task)
        return task

    def _delegate(self, message: Message, deadline: int | None) -> tuple[TaskKey, ...]:
        chain = self.chain(message)
        owned = self._owned_by(message.sender, message)
        requester = owned.reports_to if owned is not None else message.sender
        if closes_a_circle(chain, message.recipients):
            self._flag("cycle", message, "the task would return to someone in its chain", "CLOWL-052")
            for agent in message.recipients:
                self._advise("ERR", agent, message.sender, message.mid, "CLOWL-052", code=CYCLE)
            return ()
        if owned is None and self._was_transferred_away(message):
            self._flag("not_owner", message, "the task was handed over before", "CLOWL-048")
        mode = message.data["delegation_mode"]
        default = requester if mode == "transfer" else message.sender
        parent = owned.key if owned is not None else None
        for agent in message.recipients:
            task = self._open_task(
                message,
                agent,
                reports_to=str(message.data.get("reply_to", default)),
                deadline=deadline,
                delegated_from=parent,
            )
            given = self._given.setdefault((trace_of(message), agent), [])
            given.append((message.sender, task.key))
            if parent is not None:
                self._children.setdefault(parent, []).append(task.key)
        return tuple(TaskKey(message.mid, agent) for agent in message.recipients)

    def _owned_by(self, agent: str, message: Message) -> Task | None:
        """The open task of `agent` that the message's parent belongs to."""
        parent = self._seen.get(message.parent or "")
        if parent is None:
            return None
        for key in self._with_children(parent.tasks):
            task = self._tasks[key]
            if task.owner == agent and task.is_open and task.state is not TaskState.TRANSFERRED:
                return task
        return None

    def _was_transferred_away(self, message: Message) -> bool:
        parent = self._seen.get(message.parent or "")
        keys = parent.tasks if parent else ()
        return any(
            self._tasks[key].key.agent == message.sender and self._tasks[key].state is TaskState.TRANSFERRED
            for key in keys
        )

    # --- moving ---

    def _report(self, message: Message) -> tuple[TaskKey, ...]:
        parent = self._seen.get(message.parent or "")
        if parent is not None and parent.p == "QRY":
            return self._answer(message)
        if parent is not None and parent.p in {"INF", "CAPS"}:
            return ()
        task = self._reported_task(message)
        if task is None:
            return ()
        if message.sender != task.owner:
            row = "CLOWL-048" if task.key.agent == message.sender else "CLOWL-039"
            self._flag("not_owner", message, "only the owner reports on a task", row)
            return (task.key,)
        if not {task.requester, task.reports_to} & {*message.recipients, BROADCAST}:
            self._flag("misdirected", message, "it goes to who asked for the task", "CLOWL-039")
        if message.p in _ACCEPTING and task.is_open:
            self._accept_transfer(task, message.ts)
        self._advance(task, message)
        return (task.key,)

    def _reported_task(self, message: Message) -> Task | None:
        """The task that an ACK, PROG, DONE or ERR is about (CLOWL-045)."""
        if message.parent is None:
            return self._only_open_task(message)
        parent = self._seen.get(message.parent)
        if parent is None:
            self._flag("orphan", message, "its parent is not known", "CLOWL-043")
            return None
        if message.parent in self._broadcasts and TaskKey(message.parent, message.sender) not in self._tasks:
            return self._join_broadcast(message)
        tasks = [self._tasks[key] for key in self._with_children(parent.tasks)]
        own = [
            task for task in tasks if task.owner == message.sender and task.state is not TaskState.TRANSFERRED
        ]
        if own:
            return next((task for task in own if task.is_open), own[0])
        if not tasks:
            self._flag("orphan", message, "its parent belongs to no task", "CLOWL-043")
            return None
        return next((task for task in tasks if task.key.agent == message.sender), tasks[0])

    def _only_open_task(self, message: Message) -> Task | None:
        keys = self._in_cid.get(message.cid, ())
        between = [
            task
            for task in (self._tasks[key] for key in keys)
            if task.is_open
            and task.state is not TaskState.TRANSFERRED
            and task.owner == message.sender
            and {task.requester, task.reports_to} & set(message.recipients)
        ]
        if len(between) == 1:
            return between[0]
        self._flag("orphan", message, "it names no parent and no single open task fits", "CLOWL-045")
        return None

    def _join_broadcast(self, message: Message) -> Task | None:
        """Whoever answers a broadcast REQ has taken a task of its own (CLOWL-046)."""
        request = self._broadcasts[message.parent or ""]
        if message.sender == request.sender:
            self._flag("not_owner", message, "the requester cannot report on its own task", "CLOWL-039")
            return None
        task = self._open_task(request, message.sender, reports_to=request.sender)
        seen = self._seen[request.mid]
        self._seen[request.mid] = msgspec.structs.replace(seen, tasks=(*seen.tasks, task.key))
        return task

    def _accept_transfer(self, task: Task, ts: int) -> None:
        """A transfer takes effect when the delegate starts to answer for it (CLOWL-051)."""
        parent = self._tasks.get(task.delegated_from) if task.delegated_from else None
        if (
            task.mode != "transfer"
            or parent is None
            or (parent.state, Trigger.DELEGATE_ACCEPTS) not in TRANSITIONS
        ):
            return
        self._move(parent, Trigger.DELEGATE_ACCEPTS, ts, owner=task.owner)

    def _advance(self, task: Task, message: Message) -> None:
        trigger = _trigger(message)
        if not task.is_open:
            self._flag("late", message, f"the task is {task.state} already", "CLOWL-035")
            return
        if (task.state, trigger) not in TRANSITIONS:
            self._flag(
                "out_of_place", message, f"{trigger} does not fit a task that is {task.state}", "CLOWL-035"
            )
            return
        if trigger is Trigger.ERR_CANCELLED and task.state is not TaskState.CANCELLING:
            self._flag("not_cancelled", message, "E013 although nobody cancelled", "CLOWL-041")
        code = str(message.data.get("code", "")) if message.p == "ERR" else ""
        self._move(task, trigger, message.ts, code=code)

    def _move(
        self, task: Task, trigger: Trigger, ts: int, *, owner: str | None = None, code: str = ""
    ) -> None:
        """Make one transition, and pass an end upwards to whoever handed the task over."""
        owners = task.owners if owner is None or owner == task.owner else (*task.owners, (ts, owner))
        task = msgspec.structs.replace(task, owner=owner or task.owner, owners=owners)
        while True:
            state = TRANSITIONS[task.state, trigger]
            task = msgspec.structs.replace(task, state=state, changed=ts, code=code or task.code)
            self._keep(task)
            above = self._tasks.get(task.delegated_from) if task.delegated_from else None
            if task.is_open or above is None or task.mode != "transfer":
                return
            if above.state is not TaskState.TRANSFERRED or above.owner != task.key.agent:
                return
            task, trigger = above, CHILD_TRIGGERS[state]

    def _cancel(self, message: Message) -> tuple[TaskKey, ...]:
        parent = self._seen.get(message.parent or "")
        if message.parent in self._broadcasts:
            keys = parent.tasks if parent else ()
        else:
            keys = tuple(key for key in (parent.tasks if parent else ()) if self._is_addressed(key, message))
        if not keys and message.parent not in self._broadcasts:
            self._flag("unknown_task", message, "it names no task of the addressed agents", "CLOWL-041")
            self._advise_all("ERR", message, "E008")
            return ()
        for key in keys:
            self._cancel_one(self._tasks[key], message)
        return keys

    def _is_addressed(self, key: TaskKey, message: Message) -> bool:
        return message.is_broadcast or key.agent in message.recipients

    def _cancel_one(self, task: Task, message: Message) -> None:
        if message.sender != task.requester:
            self._flag("not_requester", message, "only the requester may cancel", "CLOWL-041")
            self._advise("ERR", task.key.agent, message.sender, message.mid, "CLOWL-041", code="E002")
        elif not task.is_open:
            self._flag("late", message, f"the task is {task.state} already", "CLOWL-041")
            self._advise("INF", task.key.agent, message.sender, message.mid, "CLOWL-041", status=task.state)
        elif task.state is TaskState.TRANSFERRED:
            self._forward(task, message)
        elif (task.state, Trigger.CNCL) in TRANSITIONS:
            self._move(task, Trigger.CNCL, message.ts)
            self._forwarded(task)
        else:
            self._flag("out_of_place", message, f"the task is {task.state} already", "CLOWL-035")

    def _forward(self, task: Task, message: Message) -> None:
        """The former owner passes a cancellation on to the delegate."""
        for key in self._children.get(task.key, ()):
            if self._tasks[key].mode == "transfer" and key.agent == task.owner:
                self._advise("CNCL", task.key.agent, task.owner, key.mid, "CLOWL-041")
                owes = "forward the cancellation"
                self._forwards[task.key] = Obligation(
                    task.key.agent, task.owner, owes, task.name, task.key.mid, message.ts
                )

    def _forwarded(self, task: Task) -> None:
        if task.delegated_from is not None:
            self._forwards.pop(task.delegated_from, None)

    def _query(self, message: Message) -> tuple[TaskKey, ...]:
        for agent in message.recipients:
            if agent != BROADCAST:
                owed = Obligation(agent, message.sender, "answer", message.task, message.mid, message.ts)
                self._queries[message.mid, agent] = owed
        parent = self._seen.get(message.parent or "")
        return parent.tasks if parent else ()

    def _inform(self, message: Message) -> tuple[TaskKey, ...]:
        parent = self._seen.get(message.parent or "")
        return self._answer(message) if parent is not None and parent.p == "QRY" else ()

    def _answer(self, message: Message) -> tuple[TaskKey, ...]:
        """A query gets exactly one INF, PROG or ERR from each who was asked (CLOWL-035)."""
        query = message.parent or ""
        if (
            self._queries.pop((query, message.sender), None) is None
            and BROADCAST not in self._seen[query].recipients
        ):
            self._flag("extra_answer", message, "the query was answered or asked of another", "CLOWL-035")
        return self._seen[query].tasks


def _trigger(message: Message) -> Trigger:
    match message.p:
        case "ACK":
            return Trigger.ACK_STOPPED if message.data.get("status") == "cancelled" else Trigger.ACK
        case "PROG":
            return Trigger.PROG
        case "DONE":
            return Trigger.DONE
        case _:
            return Trigger.ERR_CANCELLED if message.data.get("code") == "E013" else Trigger.ERR
