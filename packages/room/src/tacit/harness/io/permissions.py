"""What the agent's own program asks a person is asked in the room, and waits for the answer (C2A-207).

The rule owned here: a question has exactly one answer, a person's, and there is none before it. Nobody's
silence is one: the question waits, over restarts of the hub and of this process too. What a person allowed
for the turn, or for good, is not asked again, of those for whom it was allowed. The hub is told once and
asked again after every reconnection, so that an answer that came meanwhile is heard. When the program that
asked is gone, because its turn made room for others or the process was ended, the question stays and is
followed by nobody but this; the answer lets the turn be run again (`tacit.harness.orders`), and the same
wish then finds it. Called off, the question is taken back, and whatever is answered later changes nothing.
Secrets that the harness knows are struck out of what people are shown.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final, Protocol

import msgspec

from tacit.base.errors import Refused, Unavailable
from tacit.base.moment import rfc3339
from tacit.c2a.notifications import PermissionDecided
from tacit.c2a.permission import MOST_BESIDE, PermissionAsked, read_permission
from tacit.c2a.retry import OutcomeUnknown
from tacit.harness.activity import struck
from tacit.harness.drivers.port import NotPermitted, PermissionAnswer, PermissionRequest, Permitted
from tacit.harness.io.kept_patterns import KeptPattern, KeptPatterns
from tacit.harness.io.store import KeptRequest
from tacit.harness.permission import Pattern, covers, note_of, pattern_of, refusal_of, wish_of

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Iterable, Sequence

    from tacit.harness.effects import ModelTurn
    from tacit.harness.io.context import HarnessContext

_REST: Final = 1.0
CALLED_OFF: Final = "the turn was called off"
_WITHDRAWN: Final = "withdrawn"
"""How a request is kept that the hub has still to hear is taken back."""
_DEEDS: Final = {"command": "run a command", "edit": "change files"}


class WaitingTurns(Protocol):
    """Where the turns are that wait."""

    async def waits(self, turn_id: str, message: str) -> None:
        """A turn waits for a person, which the message says; without one it goes on."""
        ...

    async def permitted(self, event_ids: Sequence[str], note: str) -> None:
        """A person has answered what these events wait for, without a turn that hears it."""
        ...

    def goes_on(self, event_ids: Sequence[str]) -> bool:
        """Is a turn run for these events, or will one be?"""
        ...

    def worktree(self, turn: ModelTurn) -> str:
        """The name of the working tree in which a turn runs, where it has one."""
        ...


@dataclass(slots=True)
class _Question:
    """One question that waits for a person."""

    kept: KeptRequest
    asked: PermissionAsked
    turn_id: str = ""
    """The turn whose program waits; empty while none does."""
    is_stale: bool = False
    """Was what it is for settled while its program waited?"""
    answered: asyncio.Event = field(default_factory=asyncio.Event)
    again: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when the hub is to be asked once more."""


class Permissions:
    """One agent's questions, and what it was allowed."""

    def __init__(
        self,
        context: HarnessContext,
        kept: KeptPatterns,
        spawn: Callable[[Coroutine[Any, Any, None]], object],
        turns: WaitingTurns,
        *,
        secrets: tuple[str, ...] = (),
    ) -> None:
        self.kept = kept
        self._context = context
        self._spawn = spawn
        self._turns = turns
        self._secrets = secrets
        self._open: dict[str, _Question] = {}
        self._for_turn: dict[str, list[tuple[Pattern, str]]] = {}
        """What was allowed for the rest of a turn, and whose asking that was for, by turn."""
        self._left_open: list[KeptRequest] = []
        """What an earlier process took back, and the hub may not have heard of."""
        self._asked = 0
        self._is_closed = False

    # -- over restarts

    def restore(self) -> dict[str, str]:
        """What an earlier process asked; gives the events that wait for an answer, and for what."""
        for kept in self._context.store.permissions_asked():
            asked = read_permission(kept.params)
            if kept.state == _WITHDRAWN:
                self._left_open.append(kept)
            elif isinstance(asked, PermissionAsked):
                question = self._open[kept.key] = _Question(kept, asked)
                if kept.state:
                    question.answered.set()
        return {
            event_id: _waiting_words(question.asked.kind)
            for question in self._open.values()
            if not question.answered.is_set()
            for event_id in question.kept.events
        }

    async def follow_all(self) -> None:
        """Hear what people answer to what an earlier process asked; tell of what they have answered."""
        for kept in self._left_open:
            self._spawn(self._take_back(kept))
        self._left_open.clear()
        for question in list(self._open.values()):
            if not self._turns.goes_on(question.kept.events):
                await self._withdraw(question, CALLED_OFF)
            elif question.answered.is_set():
                await self._tell_answered(question)
            else:
                self._spawn(self._follow(question))

    def close(self) -> None:
        """Follow no question any more; each is taken up again by the next process."""
        self._is_closed = True
        self.connected_again()

    def settled(self, event_id: str) -> None:
        """An event is finished here: what was asked for it matters no longer."""
        for question in list(self._open.values()):
            if event_id not in question.kept.events:
                continue
            if question.turn_id:
                question.is_stale = True
            else:
                self._spawn(self._withdraw(question, CALLED_OFF))

    # -- what the hub says

    def heard(self, told: PermissionDecided) -> None:
        """A person answered, or took back what was allowed."""
        if told.state == "revoked":
            self._revoke(told.approval_id)
            return
        for question in self._open.values():
            if question.kept.approval_id == told.approval_id and not question.answered.is_set():
                self._spawn(self._decided(question, told))
                return
        if not all(question.kept.approval_id for question in self._open.values()):
            self.connected_again()  # it may be the answer to one that the hub has not named yet
        elif told.state == "granted":
            late = "an answer came after its turn was over: it changes nothing"
            self._context.tell("permission_late", approval_id=told.approval_id)
            self._spawn(self._log(late, told.approval_id))

    def connected(self) -> None:
        """The hub is back: whatever was answered or revoked meanwhile is asked for."""
        self.connected_again()
        if kept := self.kept.all():
            self._spawn(self._recheck([one.approval_id for one in kept]))

    def connected_again(self) -> None:
        """Ask the hub once more how every open question stands."""
        for question in self._open.values():
            question.again.set()

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

    async def ask(
        self, turn: ModelTurn, wanted: PermissionRequest, events: Sequence[str]
    ) -> PermissionAnswer:
        """The one answer to a question of a running turn that works on these events, its carrier first."""
        shown = replace(
            wanted,
            title=struck(wanted.title, self._secrets),
            details=struck(wanted.details, self._secrets),
        )
        # What is not shown whole is allowed once at most, and a secret is not shown.
        pattern = pattern_of(wanted) if shown == wanted else None
        if (allowed := await self._allowed_before(turn, wanted, events)) is not None:
            return allowed
        question = self._known(wanted, events) or await self._new(turn, wanted, shown, pattern, events)
        question.turn_id = turn.id
        self._context.tell("permission_asked", turn_id=turn.id, kind=wanted.kind)
        self._stands(turn)
        try:
            await question.answered.wait()
        except asyncio.CancelledError:
            question.turn_id = ""
            self._spawn(self._left(question))
            raise
        finally:
            self._stands(turn)
        await self._drop(question.kept.key)
        answer = self._meant(turn, question.kept, pattern)
        self._context.tell("permission_answered", turn_id=turn.id, allowed=isinstance(answer, Permitted))
        return answer

    async def _allowed_before(
        self, turn: ModelTurn, wanted: PermissionRequest, events: Sequence[str]
    ) -> Permitted | None:
        """What a person has allowed for the turn or for good, for those who ask for this."""
        for_turn = [asker for pattern, asker in self._for_turn.get(turn.id, ()) if covers(pattern, wanted)]
        for_good = [one.asker for one in self.kept.all() if covers(one.pattern, wanted)]
        if not for_turn and not for_good:
            return None
        asker = await self._asker(events)
        if asker and asker in for_turn:
            return Permitted("turn")
        return Permitted("pattern") if asker and asker in for_good else None

    async def _asker(self, events: Sequence[str]) -> str:
        """Who asked for it, as the hub names them; nobody where it does not say."""
        asked = PermissionAsked(f"by:{events[0]}", event_id=events[0], beside=_beside(events))
        while True:
            try:
                return str((await self._context.session.permission(asked)).get("asker") or "")
            except Refused:
                return ""
            except (Unavailable, OutcomeUnknown):
                await asyncio.sleep(_REST)

    def _known(self, wanted: PermissionRequest, events: Sequence[str]) -> _Question | None:
        """The same wish of an earlier run of the question, answered or not."""
        wants = wish_of(wanted)
        for question in self._open.values():
            kept = question.kept
            if not question.turn_id and kept.wants == wants and set(kept.events) & set(events):
                return question
        return None

    async def _new(
        self,
        turn: ModelTurn,
        wanted: PermissionRequest,
        shown: PermissionRequest,
        pattern: Pattern | None,
        events: Sequence[str],
    ) -> _Question:
        """A question that is kept, and asked from now on."""
        self._asked += 1
        asked = PermissionAsked(
            key=f"{turn.id}:{self._asked}:{self._context.clock.now()}"[-200:],
            event_id=turn.carrier.event_id,
            beside=_beside(events),
            turn=turn.id,
            kind=shown.kind,
            title=shown.title,
            details=shown.details,
            directory=shown.directory,
            worktree=self._turns.worktree(turn),
            pattern=pattern.members() if pattern is not None else None,
            covers=pattern.says() if pattern is not None else "",
        )
        kept = KeptRequest(key=asked.key, events=tuple(events), params=asked.members(), wants=wish_of(wanted))
        question = self._open[asked.key] = _Question(kept, asked, turn.id)
        await self._keep(question, kept)
        self._spawn(self._follow(question))
        return question

    # -- the answer

    async def _follow(self, question: _Question) -> None:
        """Ask the hub until a person has answered, however long that takes."""
        while question.kept.key in self._open and not self._is_closed and not question.answered.is_set():
            question.again.clear()
            try:
                found = await self._context.session.permission(question.asked)
            except Refused as refused:
                said = PermissionDecided("", "denied", reason=f"nobody could be asked ({refused.code})")
                await self._decided(question, said)
                return
            except (Unavailable, OutcomeUnknown):
                await asyncio.sleep(_REST)
                continue
            approval_id, asker = (str(found.get(name) or "") for name in ("approvalId", "asker"))
            await self._keep(
                question, msgspec.structs.replace(question.kept, approval_id=approval_id, asker=asker)
            )
            if found.get("state") != "asked":
                words = {name: str(found.get(name) or "") for name in ("scope", "by", "reason")}
                await self._decided(
                    question, PermissionDecided(approval_id, str(found.get("state")), **words)
                )
                return
            await question.again.wait()

    async def _decided(self, question: _Question, told: PermissionDecided) -> None:
        """Keep the answer, then let whoever waits for it go on."""
        if question.answered.is_set() or question.kept.key not in self._open:
            return
        answer = msgspec.structs.replace(
            question.kept, state=told.state, scope=told.scope, by=told.by, reason=told.reason
        )
        question.kept = answer  # before the write: two answers are never both taken
        question.answered.set()
        question.again.set()
        await self._keep(question, answer)
        if not question.turn_id:
            await self._tell_answered(question)

    async def _tell_answered(self, question: _Question) -> None:
        """Nobody waits for it at this moment: what it is for is run again, once all of it is answered."""
        together = [one for one in self._open.values() if set(one.kept.events) & set(question.kept.events)]
        if all(one.answered.is_set() for one in together):
            notes = [
                note_of(granted=one.kept.state == "granted", title=one.asked.title, reason=one.kept.reason)
                for one in together
            ]
            await self._turns.permitted(question.kept.events, " ".join(notes))

    async def _left(self, question: _Question) -> None:
        """The program that asked is gone: the question stays, unless what it is for was called off."""
        if self._is_closed:
            return
        if question.is_stale or not self._turns.goes_on(question.kept.events):
            await self._withdraw(question, CALLED_OFF)
        elif question.answered.is_set():
            await self._tell_answered(question)

    def _meant(self, turn: ModelTurn, kept: KeptRequest, pattern: Pattern | None) -> PermissionAnswer:
        """What a person's answer means, and what of it is kept."""
        if kept.state != "granted":
            return NotPermitted(refusal_of(kept.reason))
        if pattern is None or kept.scope not in {"turn", "always"}:
            return Permitted("once")
        if kept.scope == "turn":
            self._for_turn.setdefault(turn.id, []).append((pattern, kept.asker))
            return Permitted("turn")
        at = rfc3339(self._context.clock.now())
        self.kept.keep(KeptPattern(kept.approval_id, pattern, kept.by, at, kept.asker))
        return Permitted("pattern")

    def over(self, turn_id: str) -> None:
        """The turn has ended, and with it what was allowed for its rest."""
        self._for_turn.pop(turn_id, None)

    # -- inside

    async def _keep(self, question: _Question, kept: KeptRequest) -> None:
        question.kept = kept
        await self._context.write(lambda writing: writing.keep_permission(kept))

    async def _drop(self, key: str) -> None:
        """Remember it no longer: from here on the same wish is a new question."""
        self._open.pop(key, None)
        await self._context.write(lambda writing: writing.drop_permission(key))

    async def _withdraw(self, question: _Question, why: str) -> None:
        """Take the question back; told to the hub beside, as nobody waits for it."""
        if self._open.pop(question.kept.key, None) is None:
            return
        question.again.set()
        if question.answered.is_set():
            await self._drop(question.kept.key)
        else:
            await self._keep(question, msgspec.structs.replace(question.kept, state=_WITHDRAWN, reason=why))
            await self._take_back(question.kept)

    async def _take_back(self, kept: KeptRequest) -> None:
        """Tell the hub that nobody has to answer any more, until it has heard it."""
        while not self._is_closed:
            try:
                await self._context.session.permission(PermissionAsked(kept.key, withdrawn=kept.reason))
            except (Unavailable, OutcomeUnknown):
                await asyncio.sleep(_REST)
                continue
            except Refused as refused:  # it was never asked there
                self._context.tell("permission_left_open", reason=refused.code)
            await self._drop(kept.key)
            return

    def _stands(self, turn: ModelTurn) -> None:
        """Say what the turn waits for, or that it goes on."""
        open_ones = [
            one for one in self._open.values() if one.turn_id == turn.id and not one.answered.is_set()
        ]
        message = _waiting_words(open_ones[0].asked.kind) if open_ones else ""
        self._spawn(self._turns.waits(turn.id, message))


def _waiting_words(kind: str) -> str:
    return f"waits for permission to {_DEEDS.get(kind, 'go on')}"


def _beside(events: Iterable[str]) -> tuple[str, ...]:
    return tuple(events)[1 : MOST_BESIDE + 1]
