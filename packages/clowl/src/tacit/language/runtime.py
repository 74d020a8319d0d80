"""`Runtime`: one agent's side of the language, from bytes to the answers it owes.

Rows: CLOWL-017, CLOWL-055, CLOWL-062. Pure: bytes in, decisions and messages out. Checks come in a fixed
order, each with its code; the first that refuses decides the answer. Policies that only the agent can know
(tokens, load, budgets, data, security) are plugged in as hooks. Does the work of no task itself.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Literal, Protocol

import msgspec

from tacit.base.errors import Refused
from tacit.base.moment import SECOND
from tacit.base.strict_json import canonical
from tacit.language.answers import answer, answer_reading
from tacit.language.build import error_data
from tacit.language.capabilities import Capabilities, fits
from tacit.language.context import References, inline_use
from tacit.language.delegation import closes_a_circle
from tacit.language.lifecycle import Lifecycle
from tacit.language.message import encode
from tacit.language.reading import check, read, value_in
from tacit.language.task import Step, TaskKey
from tacit.language.version import ForeignError, foreign_error

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from tacit.language.build import Author
    from tacit.language.context import Monitor
    from tacit.language.findings import Reading
    from tacit.language.message import Message
    from tacit.language.tables import DelegationMode
    from tacit.language.task import Advice


class Verifier(Protocol):
    """Decides whether a token belongs to a sender (CLOWL-017, CLOWL-018)."""

    def __call__(self, token: str | None, sender: str, peer: str | None) -> bool:
        """True when the sender is who it says it is."""
        ...


_NO_WORK: Final = frozenset(
    {"cycle", "illegal_reply", "late", "not_requester", "out_of_place", "unknown_task"}
)


class Hooks(msgspec.Struct, frozen=True, kw_only=True):
    """What only the agent can know; each hook returns the reason for its refusal, or None."""

    verifier: Verifier | None = None
    security: Callable[[Message], str | None] | None = None
    capacity: Callable[[Message], str | None] | None = None
    budget: Callable[[Message], str | None] | None = None
    inputs: Callable[[Message], str | None] | None = None
    data: Callable[[Message], str | None] | None = None


class Receipt(msgspec.Struct, frozen=True, kw_only=True):
    """What became of something received."""

    outcome: Literal["process", "note", "duplicate", "refused"]
    """`process`: start or stop work; `note`: nothing to do; `refused`: see `answers`."""
    message: Message | None = None
    answers: tuple[Message, ...] = ()
    step: Step = Step()
    code: str = ""
    foreign: ForeignError | None = None


class Runtime:
    """Receives and sends for one agent."""

    def __init__(
        self,
        author: Author,
        supports: Iterable[str] = (),
        *,
        hooks: Hooks | None = None,
        monitor: Monitor | None = None,
    ) -> None:
        self.author = author
        self.supports = tuple(supports)
        self.capabilities = Capabilities()
        self.lifecycle = Lifecycle()
        self._hooks = hooks or Hooks()
        self._monitor = monitor
        self._references = References()
        self._running: dict[tuple[str, str, str, bytes], TaskKey] = {}

    # --- sending ---

    def announce(self) -> bytes:
        """The CAPS to send on each new connection (CLOWL-055)."""
        return self.send(self.author.caps(self.supports))

    def send(self, message: Message, *, deadline: int | None = None) -> bytes:
        """The bytes of a message that may leave: strict, own name, no `ref` reused, inline use noted."""
        check(message)
        if message.sender != self.author.agent:
            raise Refused("E002", "an agent sends in its own name only", row="CLOWL-018")
        self._references.refuse_reuse(message)
        self._note_inline(message, "sent")
        self.lifecycle.apply(message, deadline=deadline)
        return encode(message)

    def delegate(
        self, task: Message, mode: DelegationMode, data: Mapping[str, Any] | None = None
    ) -> tuple[Message, ...]:
        """Pass a task on to the best agent known, or answer its requester E010 (CLOWL-054).

        After the DLGT of a transfer comes the INF that tells the requester (CLOWL-051).
        """
        now = self.author.now() // SECOND
        chain = tuple(str(agent) for agent in task.data.get("chain", ()))
        chain = (*chain, *((task.sender,) if task.p == "DLGT" and task.sender not in chain else ()))
        taken = {*chain, self.author.agent, task.sender}
        able = self.capabilities.who_can(task.task, now, without=taken)
        if not able:
            error = answer(self.author, task, "E010", "No agent announced this task")
            return () if error is None else (error,)
        content = {**task.data, **(data or {})}
        if mode == "transfer":
            content.setdefault("reply_to", task.sender)
        passed_on = self.author.dlgt(
            able[0],
            task.task,
            mode,
            content,
            chain=(*chain, self.author.agent),
            parent=task,
            ctx=task.context,
        )
        if mode != "transfer":
            return (passed_on,)
        told = self.author.inf(task.sender, "delegated", {"to": able[0], "task": task.task}, parent=task)
        return passed_on, told

    def expire(self, now: int) -> tuple[Message, ...]:
        """E006 for every task of this agent whose deadline has passed."""
        return tuple(
            self.author.write(
                "ERR",
                advice.to,
                "error",
                error_data("E006", "The task exceeded its time limit"),
                pid=advice.pid,
                cid=self.lifecycle.tasks_of(advice.pid)[0].cid,
                tid=self.lifecycle.tasks_of(advice.pid)[0].tid,
            )
            for advice in self.lifecycle.expire(now).advice
            if advice.sender == self.author.agent
        )

    # --- receiving ---

    def receive(self, data: bytes | str, *, peer: str | None = None, deadline: int | None = None) -> Receipt:
        """Judge what arrived from `peer`; the answers are strict messages, ready for `send`."""
        reading = read(data, now=self.author.now() // SECOND)
        message = reading.message
        if message is None:
            return self._unreadable(reading, data)
        if self.lifecycle.has_seen(message.mid):
            return Receipt(outcome="duplicate", message=message, step=self.lifecycle.apply(message))
        refused = self._refusal(message, peer)
        if refused is not None:
            code, reason = refused
            error = answer(self.author, message, code, reason)
            return Receipt(
                outcome="refused", message=message, code=code, answers=() if error is None else (error,)
            )
        if message.p == "CAPS":
            self.capabilities.hear(message, self.author.now() // SECOND)
        step = self.lifecycle.apply(message, deadline=deadline)
        return self._taken(message, step)

    def _unreadable(self, reading: Reading, data: bytes | str) -> Receipt:
        foreign = None
        if reading.code == "E014":
            foreign = foreign_error(value_in(data)[0])
        error = None if foreign is not None else answer_reading(self.author, reading, data)
        return Receipt(
            outcome="refused", code=reading.code, answers=() if error is None else (error,), foreign=foreign
        )

    def _refusal(self, message: Message, peer: str | None) -> tuple[str, str] | None:
        """The first rule that refuses, with its code (CLOWL-062)."""
        hooks = self._hooks
        if peer is not None and peer != message.sender:
            return "E002", "The sender is not the authenticated peer"
        if hooks.verifier is not None and not hooks.verifier(message.auth or None, message.sender, peer):
            return "E002", "The sender is not authorized"
        if hooks.security is not None and (reason := hooks.security(message)):
            return "E016", reason
        if self._references.conflicts(message):
            return "E011", "The ref was used for other content before"
        if message.p not in {"REQ", "DLGT"}:
            return None
        return self._refused_task(message)

    def _refused_task(self, message: Message) -> tuple[str, str] | None:
        if not fits(self.supports, message.task):
            return "E005", "This agent does not support the task"
        if message.p == "DLGT" and closes_a_circle(self.lifecycle.chain(message), (self.author.agent,)):
            return "E015", "The task would return to an agent in its chain"
        hooks = self._hooks
        for code, hook in (
            ("E004", hooks.capacity),
            ("E012", hooks.budget),
            ("E007", hooks.inputs),
            ("E008", hooks.data),
        ):
            if hook is not None and (reason := hook(message)):
                return code, reason
        if self._is_running(message):
            return "E011", "The same task is already running"
        return None

    def _is_running(self, message: Message) -> bool:
        """Whether this requester has this very task, with the same data, open in the conversation."""
        key = self._running.get(_identity(message))
        task = self.lifecycle.task(*key) if key is not None else None
        return task is not None and task.is_open

    def _taken(self, message: Message, step: Step) -> Receipt:
        own = [advice for advice in step.advice if advice.sender == self.author.agent]
        written = [self._advised(message, advice) for advice in own]
        works = message.p in {"REQ", "DLGT", "CNCL", "QRY"} and not any(
            flag.kind in _NO_WORK for flag in step.violations
        )
        if message.p in {"REQ", "DLGT"}:
            self._running[_identity(message)] = TaskKey(message.mid, self.author.agent)
        return Receipt(
            outcome="process" if works else "note",
            message=message,
            step=step,
            answers=tuple(answer for answer in written if answer is not None),
        )

    def _advised(self, message: Message, advice: Advice) -> Message | None:
        if advice.p == "INF":
            return self.author.inf(advice.to, message.task, {"status": advice.status}, parent=message)
        if advice.p == "CNCL":
            return self.author.write(
                "CNCL",
                advice.to,
                message.task,
                message.data,
                pid=advice.pid,
                cid=message.cid,
                tid=message.trace,
            )
        return answer(self.author, message, advice.code, "The message does not fit the task it names")

    def failed(self, task: Message) -> Message | None:
        """The E009 when the agent's own handler broke (CLOWL-062)."""
        return answer(self.author, task, "E009", "An unexpected internal error")

    def _note_inline(self, message: Message, direction: Literal["sent", "used"]) -> None:
        use = inline_use(message, direction)
        if use is not None and self._monitor is not None:
            self._monitor.inline_used(use)

    def used_inline(self, message: Message) -> None:
        """Tell the monitor that a received message's inline content was used (CLOWL-030)."""
        self._note_inline(message, "used")


def _identity(message: Message) -> tuple[str, str, str, bytes]:
    return message.sender, message.cid, message.task, canonical(message.data)
