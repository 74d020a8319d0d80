"""What an agent has outside of itself, as its owner has set it: profile, permissions, calendars, handlers.

A2ACP-007, A2ACP-077, A2ACP-119, A2ACP-166. Settings are values in the vault, named by the journal;
passwords are read from their files when they are used and kept nowhere.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, Final, cast

import aiohttp
import msgspec

from tacit.a2acp.consent.tiers import DEFAULT, Policy
from tacit.agent.scheduling.actions.io.calendar import CalendarHandler
from tacit.agent.scheduling.actions.io.command import CommandHandler
from tacit.agent.scheduling.actions.io.webhook import WebhookHandler
from tacit.agent.scheduling.calendars.entry import entry
from tacit.agent.scheduling.calendars.io import opening
from tacit.agent.scheduling.calendars.io.calendars import Calendars
from tacit.agent.scheduling.calendars.io.files import IcsFile
from tacit.base.errors import Refused
from tacit.base.strict_json import as_object

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from tacit.a2acp.packets.packet import Fields
    from tacit.agent.scheduling.actions.port import Handler
    from tacit.agent.scheduling.calendars.busy import Busy
    from tacit.agent.scheduling.calendars.io.caldav import CalDav
    from tacit.agent.scheduling.calendars.port import WritableSource
    from tacit.base.moment import Span
    from tacit.base.ports import Clock

OWN_CALENDAR: Final = "calendar.ics"
OWN_BEGUN: Final = "own_calendar_begun"
"""The setting that says that the agent's own calendar has a file."""
CALENDAR: Final = "calendar"


def check_handler(definition: Fields) -> None:
    """Refuse an action that nobody could carry out."""
    match definition:
        case {"kind": "calendar", "calendar": str()} | {"kind": "webhook", "url": str()}:
            return
        case {"kind": "command", "argv": [str(), *_]}:
            return
        case _:
            raise Refused(
                "bad_action",
                "an action is a `calendar` by name, a `webhook` with a url, or a `command` with argv",
            )


class Outside:
    """The owner's settings, as objects; made anew when one changes."""

    def __init__(self, folder: Path, setting: Callable[[str], Any], clock: Clock) -> None:
        self._folder = folder
        self._setting = setting
        self._clock = clock
        self._http: aiohttp.ClientSession | None = None
        self._turns: dict[Path, asyncio.Lock] = {}
        self.changed()

    def changed(self) -> None:
        """A setting has changed: read them again when they are asked for."""
        self._policy: Policy | None = None
        self._profile: Fields | None = None
        self._calendars: Calendars | None = None

    async def close(self) -> None:
        """Let go of connections."""
        if self._http is not None:
            await self._http.close()

    def _session(self) -> aiohttp.ClientSession:
        if self._http is None:
            self._http = aiohttp.ClientSession()
        return self._http

    def policy(self) -> Policy:
        """The owner's permissions."""
        if self._policy is None:
            kept = self._setting("policy")
            self._policy = msgspec.convert(kept, Policy) if kept is not None else DEFAULT
        return self._policy

    def profile(self) -> Fields:
        """What the owner has told of itself."""
        if self._profile is None:
            self._profile = as_object(self._setting("profile"))
        return self._profile

    def handlers(self) -> Mapping[str, Fields]:
        """What can be done: by name, each definition."""
        return cast("dict[str, Fields]", self._setting("handlers") or {})

    def calendar_definitions(self) -> Mapping[str, Fields]:
        """The owner's calendars, by name."""
        return cast("dict[str, Fields]", self._setting("calendars") or {})

    def choices(self) -> Fields:
        """How much the agent may do unasked."""
        return as_object(self._setting("choices"))

    def zone(self) -> str:
        """The owner's zone."""
        return str(self.profile().get("timezone") or "UTC")

    def _own(self) -> IcsFile:
        """The agent's own calendar, for owners who have added none that may be written.

        Empty without a file, until the first entry was written; from then on a missing file is unreadable.
        """
        path = self._folder / OWN_CALENDAR
        begun = bool(self._setting(OWN_BEGUN))
        return IcsFile(path, zone=self.zone(), write=True, ours=not begun, turn=self._turn(path))

    def begins_own(self, action: str) -> bool:
        """Whether an action writes the first entry into the agent's own calendar; then its file is there."""
        definition = self._definition(action)
        named = definition is not None and definition.get("calendar") == OWN_CALENDAR
        if not named or self._setting(OWN_BEGUN):
            return False
        self._own().begin()
        return True

    def _turn(self, path: Path) -> asyncio.Lock:
        """Whose turn it is to change a file: actions of several threads are carried out at the same time."""
        return self._turns.setdefault(path.resolve(), asyncio.Lock())

    def _sources(self) -> dict[str, WritableSource]:
        sources: dict[str, WritableSource] = {OWN_CALENDAR: self._own()}
        for name, definition in self.calendar_definitions().items():
            try:
                sources[name] = self._opened(definition)
            except Refused as refused:
                sources[name] = opening.Unopened(refused)
        return sources

    def _opened(self, definition: Fields) -> IcsFile | CalDav:
        return opening.opened(definition, zone=self.zone(), turn=self._turn)

    async def first_reading(self, definition: Fields, span: Span) -> Busy:
        """What a calendar says that is to be added; raises when it cannot be read, with what to do."""
        return await opening.first_reading(self._opened(definition), span)

    def facts(self) -> Fields:
        """What another program of the owner's said of the calendar, for every thread without its own."""
        return as_object(self._setting("facts"))

    def heard(self) -> int:
        """Up to where of the journal the owner was told by whoever ticks."""
        return int(self._setting("heard") or 0)

    async def own_busy(self, span: Span) -> Busy:
        """When the owner is busy by what this agent entered itself."""
        return await Calendars({OWN_CALENDAR: self._own()}).busy(span)

    async def busy(self, span: Span) -> Busy:
        """When the owner is busy, by all calendars, read now."""
        if self._calendars is None:
            self._calendars = Calendars(self._sources())
        return await self._calendars.busy(span)

    async def readable(self, span: Span) -> list[Fields]:
        """Each calendar by itself: whether it can be read, and what its owner should know of it."""
        listed: list[Fields] = []
        for name, source in self._sources().items():
            answer = await Calendars({name: source}).busy(span)
            definition = self.calendar_definitions().get(name, {"kind": "ics", "write": True})
            kind, write = definition.get("kind"), bool(definition.get("write"))
            state: Fields = {"readable": answer.complete, "notices": list(answer.notices)}
            listed.append({"name": name, "kind": kind, "write": write, **state})
        return listed

    def _writable(self) -> str:
        """The calendar that entries go to: the first that may be written, else the agent's own."""
        written = (name for name, one in self.calendar_definitions().items() if one.get("write"))
        return next(written, OWN_CALENDAR)

    def _definition(self, action: str) -> Fields | None:
        """What the owner said of an action; entries go into a calendar also where nothing was said."""
        definition = self.handlers().get(action)
        if action == CALENDAR and definition is None:
            return {"kind": "calendar", "calendar": self._writable()}
        return definition

    def handler(self, action: str) -> Handler | None:
        """Who carries out an action; None when nobody does."""
        definition = self._definition(action)
        match definition:
            case {"kind": "calendar", "calendar": str(name)} if name in (sources := self._sources()):
                return CalendarHandler(name, sources[name], entry, self._clock)
            case {"kind": "webhook", "url": str(url)}:
                return WebhookHandler(url, self._session())
            case {"kind": "command", "argv": argv}:
                words = cast("list[Any]", argv)
                return CommandHandler(
                    [str(word) for word in words], reversible=bool(definition.get("reversible", True))
                )
            case _:
                return None
