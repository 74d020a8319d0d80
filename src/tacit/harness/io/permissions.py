"""What the agent's own program asks a person is asked in the room, and answered within a time (C2A-207).

The rule owned here: a question has exactly one answer, and without a person's yes it is no. What a person
allowed for the turn, or for good, is not asked again. The hub is told once and asked again after every
reconnection, so that an answer that came meanwhile is heard; when the time is up, or the turn is called off,
the question is taken back and whatever is answered later changes nothing. Secrets that the harness knows are
struck out of what people are shown.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final

from tacit.base.errors import Refused, Unavailable
from tacit.base.moment import rfc3339
from tacit.c2a.notifications import PermissionDecided
from tacit.c2a.permission import PermissionAsked
from tacit.c2a.retry import OutcomeUnknown
from tacit.harness.activity import struck
from tacit.harness.drivers.port import NotPermitted, PermissionAnswer, PermissionRequest, Permitted
from tacit.harness.io.kept_patterns import KeptPattern, KeptPatterns
from tacit.harness.permission import Pattern, covers, pattern_of, time_told

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

    from tacit.harness.effects import ModelTurn
    from tacit.harness.io.context import HarnessContext

ANSWER_WITHIN: Final = 600.0
"""Seconds that people have, unless the agent's owner says otherwise."""
_REST: Final = 1.0
_WITHDRAW_WITHIN: Final = 3.0
CALLED_OFF: Final = "the turn was called off"


@dataclass(slots=True)
class _Question:
    """One question that waits for a person."""

    asked: PermissionAsked
    approval_id: str = ""
    decided: asyncio.Future[PermissionDecided] = field(
        default_factory=lambda: asyncio.get_running_loop().create_future()
    )
    again: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when the hub is to be asked once more."""


class Permissions:
    """One agent's questions, and what it was allowed."""

    def __init__(
        self,
        context: HarnessContext,
        kept: KeptPatterns,
        spawn: Callable[[Coroutine[Any, Any, None]], object],
        waits: Callable[[ModelTurn, str], None],
        *,
        within: float = ANSWER_WITHIN,
        secrets: tuple[str, ...] = (),
    ) -> None:
        self.kept = kept
        self._context = context
        self._spawn = spawn
        self._waits = waits
        self._within = within
        self._secrets = secrets
        self._open: dict[str, _Question] = {}
        self._for_turn: dict[str, list[Pattern]] = {}
        """What was allowed for the rest of a turn, by turn."""
        self._asked = 0

    # -- what the hub says

    def heard(self, told: PermissionDecided) -> None:
        """A person answered, or took back what was allowed."""
        if told.state == "revoked":
            self._revoke(told.approval_id)
            return
        for question in self._open.values():
            if question.approval_id == told.approval_id and not question.decided.done():
                question.decided.set_result(told)
                return
        if told.state == "granted":
            late = "an answer came after its turn was over: it changes nothing"
            self._context.tell("permission_late", approval_id=told.approval_id)
            self._spawn(self._log(late, told.approval_id))

    def connected(self) -> None:
        """The hub is back: whatever was answered or revoked meanwhile is asked for."""
        for question in self._open.values():
            question.again.set()
        if kept := self.kept.all():
            self._spawn(self._recheck([one.approval_id for one in kept]))

    async def _recheck(self, approval_ids: list[str]) -> None:
        for approval_id in approval_ids:
            try:
                found = await self._context.session.permission(PermissionAsked(f"of:{approval_id}"))
            except (Refused, Unavailable, OutcomeUnknown):
                continue
            if found.get("state") == "revoked":
                self._revoke(approval_id)

    def _revoke(self, approval_id: str) -> None:
        if self.kept.revoke(approval_id):
            self._for_turn.clear()
            self._context.tell("permission_revoked", approval_id=approval_id)

    async def _log(self, message: str, approval_id: str) -> None:
        await self._context.session.log("notice", message, {"approvalId": approval_id})

    # -- asking

    async def ask(self, turn: ModelTurn, wanted: PermissionRequest) -> PermissionAnswer:
        """The one answer to a question of a running turn."""
        shown = replace(
            wanted,
            title=struck(wanted.title, self._secrets),
            details=struck(wanted.details, self._secrets),
        )
        # What is not shown whole is allowed once at most, and a secret is not shown.
        pattern = pattern_of(wanted) if shown == wanted else None
        if any(covers(one, wanted) for one in self._for_turn.get(turn.id, ())):
            return Permitted("turn")
        if any(covers(one.pattern, wanted) for one in self.kept.all()):
            return Permitted("pattern")
        question = _Question(self._question(turn, shown, pattern))
        self._open[question.asked.key] = question
        self._context.tell("permission_asked", turn_id=turn.id, kind=wanted.kind)
        self._stands(turn)
        try:
            answer = await self._answered(question)
        except asyncio.CancelledError:
            self._withdraw(question, CALLED_OFF)
            raise
        finally:
            del self._open[question.asked.key]
            self._stands(turn)
        if isinstance(answer, PermissionDecided):
            answer = self._taken(turn, answer, pattern)
        else:
            self._withdraw(question, answer.reason)
        allowed = isinstance(answer, Permitted)
        self._context.tell("permission_answered", turn_id=turn.id, allowed=allowed)
        return answer

    def _question(
        self, turn: ModelTurn, wanted: PermissionRequest, pattern: Pattern | None
    ) -> PermissionAsked:
        self._asked += 1
        return PermissionAsked(
            key=f"{turn.id}:{self._asked}:{self._context.clock.now()}"[-200:],
            event_id=turn.carrier.event_id,
            turn=turn.id,
            kind=wanted.kind,
            title=wanted.title,
            details=wanted.details,
            directory=wanted.directory,
            pattern=pattern.members() if pattern is not None else None,
            covers=pattern.says() if pattern is not None else "",
            within_ms=int(self._within * 1000),
        )

    async def _answered(self, question: _Question) -> PermissionDecided | NotPermitted:
        try:
            async with asyncio.timeout(self._within):
                return await self._decided(question)
        except TimeoutError:
            return NotPermitted(f"nobody answered within {time_told(self._within)}")

    async def _decided(self, question: _Question) -> PermissionDecided | NotPermitted:
        while True:
            question.again.clear()
            try:
                found = await self._context.session.permission(question.asked)
            except Refused as refused:
                return NotPermitted(f"nobody could be asked ({refused.code})")
            except (Unavailable, OutcomeUnknown):
                await asyncio.sleep(_REST)
                continue
            question.approval_id = str(found.get("approvalId", ""))
            if found.get("state") != "asked":
                words = {name: str(found.get(name) or "") for name in ("scope", "by", "reason")}
                return PermissionDecided(question.approval_id, str(found.get("state")), **words)
            again = asyncio.create_task(question.again.wait())
            try:
                await asyncio.wait({question.decided, again}, return_when=asyncio.FIRST_COMPLETED)
            finally:
                again.cancel()
            if question.decided.done():
                return question.decided.result()

    def over(self, turn_id: str) -> None:
        """The turn has ended, and with it what was allowed for its rest."""
        self._for_turn.pop(turn_id, None)

    def _taken(self, turn: ModelTurn, told: PermissionDecided, pattern: Pattern | None) -> PermissionAnswer:
        """What a person's answer means, and what of it is kept."""
        if told.state != "granted":
            return NotPermitted(told.reason or f"{told.by or 'a person'} said no")
        if pattern is None or told.scope not in {"turn", "always"}:
            return Permitted("once")
        if told.scope == "turn":
            self._for_turn.setdefault(turn.id, []).append(pattern)
            return Permitted("turn")
        at = rfc3339(self._context.clock.now())
        self.kept.keep(KeptPattern(told.approval_id, pattern, told.by, at))
        return Permitted("pattern")

    def _withdraw(self, question: _Question, why: str) -> None:
        """Take the question back; told to the hub beside, as nobody waits for it."""
        self._spawn(self._withdrawn(PermissionAsked(question.asked.key, withdrawn=why)))

    async def _withdrawn(self, asked: PermissionAsked) -> None:
        try:
            async with asyncio.timeout(_WITHDRAW_WITHIN):
                await self._context.session.permission(asked)
        except (Refused, Unavailable, OutcomeUnknown, TimeoutError) as error:
            # It lapses at the hub by itself, and an answer to it finds no question here.
            self._context.tell("permission_left_open", reason=type(error).__name__)

    def _stands(self, turn: ModelTurn) -> None:
        """Say what the turn waits for, or that it goes on."""
        kinds = [one.asked.kind for one in self._open.values() if one.asked.turn == turn.id]
        what = {"command": "run a command", "edit": "change files"}.get(kinds[0], "go on") if kinds else ""
        self._waits(turn, f"waits for leave to {what}" if what else "")
