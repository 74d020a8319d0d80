"""The outbox on its way to the hub: in order, each under its key until the hub has it (C2A-167, C2A-168).

Rows: C2A-113, C2A-149, C2A-153, C2A-167, C2A-168, C2A-174. A body is in the store before it is sent, so that
after a crash the same body goes out under the same key. A refusal that has a remedy is remedied once (claim,
look at the thread, signal instead of words); any other ends it, and the hub is told how the event ended.
"""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING, Any, Final

from tacit.base.errors import Refused, TacitError, Unavailable
from tacit.c2a.errors import Refusal
from tacit.c2a.retry import OutcomeUnknown, passes
from tacit.c2a.tools import DURING, SEND, read_send
from tacit.c2a.vocabulary import Policy
from tacit.harness.io.store import OutboxRow
from tacit.harness.naming import declared

if TYPE_CHECKING:
    from tacit.harness.io.context import HarnessContext
    from tacit.harness.io.store import StoreTransaction

log: Final = logging.getLogger("tacit.harness")
DISPOSITION: Final = "chat/disposition"
REST: Final = 5.0
"""Seconds before the outbox is tried again while the hub is away."""
SAID_BEFORE: Final = (
    "Your answer was not sent. C2A-197: a reply between agents brings a new fact, question or action; this "
    "one says nothing that was not just said. Say it once more, otherwise, with what is new in it, or stay "
    "silent."
)
_ANSWERABLE: Final = frozenset({Policy.MUST_RESPOND, Policy.MAY_RESPOND})
_ANSWERED: Final = frozenset({"already_responded", "idempotency_conflict"})


def disposition(event_id: str, how: str, more: dict[str, object]) -> OutboxRow:
    """A report to be made; the same report twice is one."""
    arguments = {"eventId": event_id, "disposition": how, **more}
    return OutboxRow(f"disposition:{event_id}:{how}", "", event_id, DISPOSITION, arguments, "ready")


class OutboxSender:
    """Empties the outbox."""

    def __init__(self, context: HarnessContext) -> None:
        self._context = context
        self._one = asyncio.Lock()
        self._asked: set[str] = set()
        self._tried = asyncio.Event()
        self._is_over = False

    async def run(self) -> None:
        """For as long as the harness runs."""
        context = self._context
        try:
            while True:
                await context.outgoing.wait()
                context.outgoing.clear()
                all_said = await self.drain()
                tried, self._tried = self._tried, asyncio.Event()
                tried.set()
                if not all_said:
                    await asyncio.sleep(REST)
                    context.outgoing.set()
        finally:
            self._is_over = True
            self._tried.set()

    async def tried(self) -> None:
        """Return when what is ready now was said, or could not be said yet."""
        while (self._context.outgoing.is_set() or self._one.locked()) and not self._is_over:
            # A round that was under way before may not have seen it.
            await self._tried.wait()

    async def drain(self) -> bool:
        """Say everything that is ready; false when the hub could not take it now."""
        async with self._one:
            all_said = True
            for row in self._context.store.outgoing():
                if row.key in self._context.in_flight:
                    continue
                try:
                    all_said &= await self._deliver(row)
                except (Unavailable, OutcomeUnknown):
                    return False
            return all_said

    async def _deliver(self, row: OutboxRow) -> bool:
        """Say one thing; false when it has to wait while others may go on."""
        context = self._context
        try:
            if row.name == DISPOSITION:
                await context.session.disposition(**_named(row.arguments))
                result: dict[str, Any] = {}
            else:
                result = await self.say(row)
        except Refused as refused:
            if passes(refused) or self._waits_for_a_person(row, refused):
                return False
            self._decided(row)
            await self._refused(row, refused)
            return True
        except TacitError:
            raise
        except Exception as fault:
            # A fault of our own costs the one thing to be said: it must not be met again at each start.
            log.exception("a row of the outbox failed")
            await self._refused(row, Refused("internal", f"a fault of Tacit's own ({type(fault).__name__})"))
            return True
        self._decided(row)
        await context.said(row.key, "sent", str(result.get("eventId", "")))
        if row.name == SEND:
            context.tell("posted", event_id=row.event_id, message_id=str(result.get("eventId", "")))
        return True

    def _decided(self, row: OutboxRow) -> None:
        """Nobody is asked about it any more."""
        self._asked.discard(row.key)
        self._context.asked.pop(row.event_id, None)

    def _waits_for_a_person(self, row: OutboxRow, refused: Refused) -> bool:
        """Somebody was asked whether this may be said (C2A-207): it waits for the answer."""
        if refused.code != "approval_required" or refused.details.get("state") == "denied":
            return False
        if row.key not in self._asked:
            self._asked.add(row.key)
            self._context.tell("approval", event_id=row.event_id)
        if row.event_id and row.event_id not in self._context.asked:
            self._context.asked[row.event_id] = "a person is asked whether the answer may be said here"
            self._context.work_changed.set()
        return True

    async def say(self, row: OutboxRow) -> dict[str, Any]:
        """Make the call behind a row, after our own judgement."""
        context = self._context
        if row.name != SEND:
            return await context.session.call(row.name, **row.arguments)
        arguments = await self._naming(row)
        send = read_send(arguments, context.name)
        if isinstance(send, Refusal):
            raise _refused_by_us(send)
        refusal = context.view.judge(send, context.clock.now(), context.settings)
        if refusal is not None:
            raise _refused_by_us(refusal)
        result = await context.session.call(SEND, **arguments)
        if result.get("status") == "failed_permanent":
            raise Refused("delivery_failed", "the platform did not take it", details={"permanent": True})
        context.view.said(send, str(result.get("eventId", "")), context.clock.now())
        return result

    async def _naming(self, row: OutboxRow) -> dict[str, Any]:
        """A last word with the names in it declared; a send by the tool has been read already (C2A-111)."""
        about = self._context.view.event(row.event_id)
        if about is None or "mentions" in row.arguments or DURING in row.arguments:
            return row.arguments
        named = await self._context.named(row.arguments, about)
        if named.unreached:
            self._context.unreached[about.audience] = named
            self._context.tell("unreached", event_id=row.event_id, names=len(named.unreached))
        return declared(row.arguments, named)

    async def _refused(self, row: OutboxRow, refused: Refused) -> None:
        """A no: remedy it, or end it."""
        context = self._context
        context.tell("refused", event_id=row.event_id, code=refused.code)
        if row.name == SEND and row.result != "remedied" and await self._remedy(row, refused):
            return
        if (
            row.name == SEND
            and refused.code == "no_new_information"
            and await self._said_before(row, refused)
        ):
            return
        await context.said(row.key, "refused", refused.code)
        if row.name != SEND or not row.event_id or refused.code in _ANSWERED:
            return
        event = context.view.event(row.event_id)
        obliged = event is not None and event.policy is Policy.MUST_RESPOND
        how = "superseded" if refused.code == "event_superseded" else "failed" if obliged else "ignored"
        more: dict[str, object] = (
            {"error": {"code": refused.code, "message": refused.message}} if how == "failed" else {}
        )
        await context.write(
            lambda writing: writing.say(disposition(row.event_id, how, more), context.clock.now())
        )
        context.outgoing.set()

    async def _said_before(self, row: OutboxRow, refused: Refused) -> bool:
        """An agent's answer that says nothing new (C2A-197): one chance to say it otherwise, then a signal.

        True when the asker gets the one or the other. Calls of the model's own tools have told it already.
        """
        context, ask_again = self._context, self._context.ask_again
        event = context.view.event(row.event_id)
        if event is None or ask_again is None or event.policy not in _ANSWERABLE or ":reply:" not in row.key:
            return False
        is_first = context.store.refusals(row.event_id, refused.code) == 0
        signal = OutboxRow(
            f"react:{row.event_id}:done",
            "",
            row.event_id,
            "chat.react",
            {"inReplyTo": row.event_id, "signal": "done"},
            "ready",
        )

        def write(writing: StoreTransaction) -> None:
            writing.said(row.key, "refused", refused.code)
            if is_first:
                writing.reopen(row.event_id)
            else:
                writing.say(signal, context.clock.now())

        await context.write(write)
        if is_first:
            await ask_again(event, SAID_BEFORE)
        context.outgoing.set()
        return True

    async def _remedy(self, row: OutboxRow, refused: Refused) -> bool:
        """What the refusal asks for, done once; true when the row has been dealt with."""
        context = self._context
        try:
            match refused.code:
                case "use_reaction":
                    signal = str(refused.details.get("signal") or "seen")
                    await context.session.call("chat.react", inReplyTo=row.event_id, signal=signal)
                    await context.said(row.key, "sent", f"signal:{signal}")
                    context.tell("signalled", event_id=row.event_id, signal=signal)
                    return True
                case "claim_required":
                    await context.session.call("chat.claim", eventId=row.event_id)
                case "stale_event":
                    await context.session.call("chat.read_thread", eventId=row.event_id)
                case _:
                    return False
        except (Refused, Unavailable, OutcomeUnknown):
            return False
        await context.said(row.key, "ready", "remedied")
        context.outgoing.set()
        return True


def _named(arguments: dict[str, Any]) -> dict[str, Any]:
    """A report's arguments as `AgentSession.disposition` takes them."""
    names = {"eventId": "event_id", "mergedInto": "merged_into"}
    return {names.get(key, key): value for key, value in arguments.items()}


def _refused_by_us(refusal: Refusal) -> Refused:
    details = {"row": refusal.row, "remedy": refusal.remedy, "by": "harness", **refusal.details}
    return Refused(refusal.code, refusal.message, details=details)
