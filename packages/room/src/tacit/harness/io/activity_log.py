"""What an agent does, told to the hub while it does it, and kept here for whoever asks later.

The rule owned here: updates leave at most every `EVERY` seconds, however fast the agent is; the ledger gets
a summary when the turn ends; the record itself stays in the agent's own folder, the last `KEPT` turns of it,
and can be forgotten. What the agent does never waits for any of this.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final

import msgspec

from tacit.c2a.activity import Activity as Told
from tacit.harness.activity import TurnActivity

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Iterable
    from pathlib import Path

    from tacit.c2a.activity import ActivityWanted
    from tacit.c2a.messages import Delivered
    from tacit.harness.drivers.port import ObservedActivity, TurnEvent, TurnOutcome
    from tacit.harness.effects import ModelTurn
    from tacit.harness.io.context import HarnessContext

log: Final = logging.getLogger("tacit.harness")
EVERY: Final = 0.25
KEPT: Final = 50
FRAME_BYTES: Final = 180_000
"""How much one answer holds: a message to the hub is at most 256 KiB."""
UNTOLD: Final = 20


class TurnRecorder:
    """One running turn, as its watch tells it."""

    def __init__(self, turn: ModelTurn, secrets: tuple[str, ...], began: float) -> None:
        self.turn = turn
        self.began = began
        self.activity = TurnActivity(secrets)
        self.events = {name: None for one in turn.events for name in _names(one)}
        """What the turn is about: every message that its model was given, in each form that it had."""
        self.updates = 0
        self.ended: float | None = None
        """When its model was done; what is still to be told of it is told behind the answer."""
        self.is_forgotten = False
        """Was a message of the turn taken back? Then nothing of it is shown or kept any more."""
        self.stirred = asyncio.Event()

    def joined(self, events: Iterable[Delivered]) -> None:
        """Messages that came into the turn on the way."""
        self.events |= {name: None for one in events for name in _names(one)}

    @property
    def is_over(self) -> bool:
        """Is the model done?"""
        return self.ended is not None

    def saw(self, event: TurnEvent) -> None:
        """What every driver tells."""
        self.activity.saw(event)
        self.stirred.set()

    def did(self, told: ObservedActivity) -> None:
        """What some drivers tell beside."""
        self.activity.did(told)
        self.stirred.set()


def _names(event: Delivered) -> tuple[str, ...]:
    return (event.event_id, event.supersedes) if event.supersedes else (event.event_id,)


class ActivityLog:
    """One agent's activity."""

    def __init__(
        self,
        context: HarnessContext,
        folder: Path,
        spawn: Callable[[Coroutine[Any, Any, None]], object],
        secrets: tuple[str, ...] = (),
    ) -> None:
        self._context = context
        self._folder = folder
        self._spawn = spawn
        self._secrets = secrets
        self._running: dict[str, TurnRecorder] = {}
        self._untold: list[Told] = []

    def begin(self, turn: ModelTurn) -> TurnRecorder:
        """A turn begins; it is told of as it goes."""
        recorder = TurnRecorder(turn, self._secrets, asyncio.get_running_loop().time())
        self._running[turn.id] = recorder
        self._spawn(self._tell(recorder))
        return recorder

    @staticmethod
    def over(recorder: TurnRecorder) -> None:
        """The model is done: nothing more is told as it goes."""
        recorder.ended = asyncio.get_running_loop().time()
        recorder.stirred.set()

    async def end(self, turn_id: str, outcome: TurnOutcome) -> None:
        """The turn is over: the last update with its summary, and the record. Of no turn that never ran."""
        recorder = self._running.get(turn_id)
        if recorder is None:
            return
        failure = outcome.failure
        recorder.activity.ended("failed" if failure else "done")
        seconds = (recorder.ended or recorder.began) - recorder.began
        shown = TurnActivity() if recorder.is_forgotten else recorder.activity
        summary = {
            **shown.summary(),
            "duration_ms": int(seconds * 1000),
            "cost_usd": outcome.cost_usd,
            "ended": failure.code if failure else "done",
        }
        while recorder.activity.has_news:
            await self._update(recorder)
        await self._say(Told(self._about(recorder), recorder.turn.id, "ended", summary=summary))
        if recorder.activity.items and not recorder.is_forgotten:
            await asyncio.to_thread(self._keep, recorder)
        self._running.pop(recorder.turn.id, None)

    async def connected(self) -> None:
        """The hub is back: what it missed, and the running turn as it stands."""
        untold, self._untold = self._untold, []
        for told in untold:
            await self._say(told)
        for running in self._running.values():
            running.activity.tell_all()
            running.stirred.set()

    @staticmethod
    def _about(recorder: TurnRecorder) -> str:
        return recorder.turn.carrier.event_id

    async def _tell(self, recorder: TurnRecorder) -> None:
        while not recorder.is_over:
            await recorder.stirred.wait()
            recorder.stirred.clear()
            if recorder.is_over:
                return
            await self._update(recorder)
            if recorder.activity.has_news:
                recorder.stirred.set()
            await asyncio.sleep(EVERY)

    async def _update(self, recorder: TurnRecorder) -> None:
        items = recorder.activity.update()
        if not items or recorder.is_forgotten:
            return
        recorder.updates += 1
        told = Told(self._about(recorder), recorder.turn.id, "running", recorder.updates, tuple(items))
        await self._context.session.tell(told)

    async def _say(self, told: Told) -> None:
        """A summary, said now or when the hub is back."""
        if not await self._context.session.tell(told):
            self._untold = [*self._untold, told][-UNTOLD:]

    # -- the record

    def _file(self, turn_id: str) -> Path:
        return self._folder / f"{hashlib.sha256(turn_id.encode()).hexdigest()[:24]}.json"

    def _keep(self, recorder: TurnRecorder) -> None:
        """Write the record and let go of the oldest; a disk that is full costs the record, not the turn."""
        turn = recorder.turn
        record = {
            "turn": turn.id,
            "events": list(recorder.events),
            "items": recorder.activity.snapshot(),
        }
        try:
            self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            fresh = self._folder / "fresh"
            fresh.write_bytes(msgspec.json.encode(record))
            fresh.replace(self._file(turn.id))
            if recorder.is_forgotten:  # in this very moment
                self._file(turn.id).unlink(missing_ok=True)
            for old in self._files()[:-KEPT]:
                old.unlink(missing_ok=True)
        except OSError as error:
            log.warning("a turn's record was not kept", extra={"fault": error.strerror})

    def _files(self) -> list[Path]:
        """The records, the oldest first."""
        found: list[tuple[int, Path]] = []
        for path in self._folder.glob("*.json"):
            with suppress(OSError):  # gone in between: several may look and let go at once
                found.append((path.stat().st_mtime_ns, path))
        return [path for _, path in sorted(found)]

    def records_of(self, event_id: str) -> list[tuple[Path, dict[str, Any]]]:
        """The kept turns about an event, the oldest first."""
        found: list[tuple[Path, dict[str, Any]]] = []
        for path in self._files():
            try:
                record = msgspec.json.decode(path.read_bytes(), type=dict[str, Any])
            except (OSError, msgspec.DecodeError):
                continue
            if event_id in record.get("events", ()):
                found.append((path, record))
        return found

    def forget(self, event_id: str) -> int:
        """Remove every record about an event and make none of a turn that runs; how many there were."""
        for running in self._running.values():
            running.is_forgotten |= event_id in running.events
        records = self.records_of(event_id)
        for path, _ in records:
            try:
                path.unlink(missing_ok=True)
            except OSError as error:
                log.warning("a turn's record was not removed", extra={"fault": error.strerror})
        return len(records)

    def joined(self, turn_id: str, events: Iterable[Delivered]) -> None:
        """Messages that came into a running turn."""
        if (running := self._running.get(turn_id)) is not None:
            running.joined(events)

    async def taken_back(self, event_id: str) -> None:
        """A message is no more: nothing of a turn that was given it is shown, here or at the hub."""
        await asyncio.to_thread(self.forget, event_id)
        for running in self._running.values():
            if event_id in running.events:
                await self._context.session.tell(Told(self._about(running), running.turn.id, "ended"))

    async def wanted(self, wanted: ActivityWanted) -> None:
        """Somebody who may know asks; or wants it forgotten."""
        if wanted.forget:
            await self.taken_back(wanted.event_id)
            await self._context.session.tell(Told(wanted.event_id, answers=wanted.request))
            return
        kept = await asyncio.to_thread(self.records_of, wanted.event_id)
        cards = [{"turn": one["turn"], "state": "ended", "items": one["items"]} for _, one in kept[-3:]]
        await self._context.session.tell(
            Told(wanted.event_id, answers=wanted.request, cards=tuple(fitted(cards)))
        )


def fitted(cards: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Cards that fit into one message: texts give way from the oldest on."""
    while len(msgspec.json.encode(cards)) > FRAME_BYTES:
        items = [item for card in cards for item in card["items"] if item.get("text")]
        if not items:
            return cards[-1:]
        for item in items[: max(1, len(items) // 4)]:
            item["text"], item["cut"] = "", True
    return cards
