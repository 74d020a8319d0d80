"""`Author`: builds messages of all ten performatives, complete and strictly valid.

Rows: CLOWL-002, CLOWL-003, CLOWL-004, CLOWL-005, CLOWL-006, CLOWL-007, CLOWL-008, CLOWL-009, CLOWL-010,
CLOWL-011, CLOWL-012, CLOWL-013, CLOWL-014. Fills version, id (UUIDv7, strictly rising), time, trace and
parent. A root REQ, QRY or DLGT starts a trace; a reply takes conversation and trace from what it answers
(CLOWL-007, CLOWL-008, CLOWL-014). Clock and randomness are ports. Knows nothing of task state.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from msgspec import UNSET

from tacit.base import ids
from tacit.base.moment import SECOND
from tacit.language.message import Body, Context, Message
from tacit.language.reading import check
from tacit.language.tables import BROADCAST, ERROR_CODES, SYSTEM_CID, VERSION, retryable

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from tacit.base.moment import Moment
    from tacit.base.ports import Clock, Entropy
    from tacit.language.tables import DelegationMode, Performative

_RANDOM_BYTES: Final = 10
_STARTS_A_TRACE: Final = frozenset({"REQ", "QRY", "DLGT"})


class Author:
    """Writes for one agent."""

    def __init__(self, agent: str, clock: Clock, entropy: Entropy) -> None:
        self.agent = agent
        self._clock = clock
        self._entropy = entropy
        self._ids = ids.Uuid7()

    def now(self) -> Moment:
        """The present, by this author's clock."""
        return self._clock.now()

    def new_id(self) -> str:
        """A fresh UUIDv7."""
        random = int.from_bytes(self._entropy.draw(_RANDOM_BYTES), "big")
        return ids.text(self._ids.next(self._clock.now() // 1000, random))

    def write(
        self,
        performative: Performative,
        to: str | Iterable[str],
        task: str,
        data: Mapping[str, Any] | None = None,
        *,
        parent: Message | None = None,
        pid: str | None = None,
        cid: str | None = None,
        tid: str | None = None,
        ctx: Context | None = None,
        auth: str | None = None,
        det: bool = False,
    ) -> Message:
        """Any message; raises `Invalid` rather than build one that may not be sent.

        `pid` stands for a parent of which only the id is known.
        """
        if parent is not None:
            pid, cid, tid = parent.mid, cid or parent.cid, tid or parent.trace
        elif tid is None and pid is None and performative in _STARTS_A_TRACE:
            tid = self.new_id()
        message = Message(
            clowl=VERSION,
            mid=self.new_id(),
            ts=self._clock.now() // SECOND,
            tid=tid or UNSET,
            pid=pid or UNSET,
            p=performative,
            from_=self.agent,
            to=to if isinstance(to, str) else tuple(to),
            cid=cid or self.new_id(),
            body=Body(task, dict(data or {})),
            ctx=ctx if ctx is not None else UNSET,
            auth=auth or UNSET,
            det=det or UNSET,
        )
        return check(message)

    def req(
        self, to: str | Iterable[str], task: str, data: Mapping[str, Any] | None = None, **rest: Any
    ) -> Message:
        """Ask for a task to be done."""
        return self.write("REQ", to, task, data, **rest)

    def inf(
        self, to: str | Iterable[str], task: str, data: Mapping[str, Any] | None = None, **rest: Any
    ) -> Message:
        """Tell something; nobody has to act."""
        return self.write("INF", to, task, data, **rest)

    def qry(
        self, to: str | Iterable[str], task: str, data: Mapping[str, Any] | None = None, **rest: Any
    ) -> Message:
        """Ask for status or information."""
        return self.write("QRY", to, task, data, **rest)

    def ack(self, parent: Message, data: Mapping[str, Any] | None = None, **rest: Any) -> Message:
        """Confirm receipt to whom asked."""
        return self._reply("ACK", parent, data, rest)

    def prog(
        self,
        parent: Message,
        *,
        pct: float | None = None,
        note: str = "",
        data: Mapping[str, Any] | None = None,
        **rest: Any,
    ) -> Message:
        """Report on a running task."""
        said: dict[str, Any] = dict(data or {})
        if pct is not None:
            said["pct"] = pct
        if note:
            said["note"] = note
        return self._reply("PROG", parent, said, rest)

    def done(self, parent: Message, data: Mapping[str, Any] | None = None, **rest: Any) -> Message:
        """Deliver the result."""
        return self._reply("DONE", parent, data, rest)

    def cncl(self, parent: Message, data: Mapping[str, Any] | None = None, **rest: Any) -> Message:
        """Ask those who were asked to abort; it goes to the same recipients (CLOWL-040, CLOWL-046)."""
        return self.write("CNCL", parent.to, parent.task, data, parent=parent, **rest)

    def err(
        self,
        parent: Message,
        code: str,
        msg: str,
        *,
        retry: bool | None = None,
        data: Mapping[str, Any] | None = None,
        **rest: Any,
    ) -> Message:
        """Report failure; `retry` comes from the table and may only be lowered (CLOWL-059, CLOWL-061)."""
        return self.write(
            "ERR", parent.from_, "error", error_data(code, msg, retry, data), parent=parent, **rest
        )

    def dlgt(
        self,
        to: str | Iterable[str],
        task: str,
        mode: DelegationMode,
        data: Mapping[str, Any] | None = None,
        *,
        chain: Sequence[str] = (),
        **rest: Any,
    ) -> Message:
        """Pass a task on; `chain` names those who owned it, oldest first (CLOWL-047, CLOWL-053)."""
        said: dict[str, Any] = {**(data or {}), "delegation_mode": mode}
        if chain:
            said["chain"] = list(chain)
        return self.write("DLGT", to, task, said, **rest)

    def caps(self, supports: Iterable[str], **rest: Any) -> Message:
        """Announce what this agent can do, as on each new connection (CLOWL-055)."""
        data = {"supports": list(supports), "clowl": VERSION}
        return self.write("CAPS", BROADCAST, "capabilities", data, cid=SYSTEM_CID, **rest)

    def _reply(
        self, p: Performative, parent: Message, data: Mapping[str, Any] | None, rest: dict[str, Any]
    ) -> Message:
        to = rest.pop("to", parent.from_)
        return self.write(p, to, rest.pop("task", parent.task), data, parent=parent, **rest)


def error_data(
    code: str, msg: str, retry: bool | None = None, data: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """The data of an ERR, with `retry` from the table."""
    allowed = retryable(code) if code in ERROR_CODES else False
    return {**(data or {}), "code": code, "msg": msg, "retry": allowed if retry is None else retry}
