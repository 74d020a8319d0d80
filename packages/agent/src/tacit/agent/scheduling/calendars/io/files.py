"""A calendar in a file: read as a whole, changed as a whole.

An entry of our own is put between what is there and taken out again; every other byte stays what it was.
Written beside its place, synced and moved there, so that whoever reads finds the old file or the new one.
Changes of one file come one after the other: whoever makes several objects for it gives them one `turn`.
Knows nothing of what an entry says.
"""

from __future__ import annotations

import asyncio
import re
from typing import TYPE_CHECKING, Final

from tacit.agent.scheduling.calendars.components import LARGEST, parse
from tacit.agent.scheduling.calendars.entry import checked_name
from tacit.agent.scheduling.calendars.ics import read_busy
from tacit.agent.scheduling.calendars.port import ABSENT, CREATED, EXISTED, REMOVED
from tacit.base.errors import Refused, Unavailable
from tacit.base.io.private_file import write_private

if TYPE_CHECKING:
    from pathlib import Path

    from tacit.agent.scheduling.calendars.busy import Busy
    from tacit.base.moment import Span

_EMPTY: Final = b"BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//Tacit//Personal agent//EN\r\nEND:VCALENDAR\r\n"
_EVENT: Final = re.compile(
    rb"^BEGIN:VEVENT[ \t]*\r?\n.*?^END:VEVENT[ \t]*(?:\r?\n|\Z)", re.DOTALL | re.MULTILINE | re.IGNORECASE
)
_END: Final = re.compile(rb"^END:VCALENDAR[ \t]*\r?$", re.MULTILINE | re.IGNORECASE)


class IcsFile:
    """One calendar file; `ours` is one that we keep ourselves, and that is empty until its first entry."""

    def __init__(
        self,
        path: Path,
        *,
        zone: str,
        owners: frozenset[str] = frozenset(),
        write: bool = False,
        ours: bool = False,
        turn: asyncio.Lock | None = None,
    ) -> None:
        self._path = path
        self._zone = zone
        self._owners = owners
        self._write = write or ours
        self._ours = ours
        self._turn = turn or asyncio.Lock()

    async def busy(self, asked: Span) -> Busy:
        """When the owner is busy."""
        return await asyncio.to_thread(self._busy, asked)

    async def first_read(self, asked: Span) -> Busy:
        """The same; `Refused` when the file cannot be read, as nothing says that it ever could."""
        try:
            return await self.busy(asked)
        except Unavailable as unavailable:
            raise Refused("calendar_unreadable", str(unavailable)) from None

    async def put(self, name: str, data: bytes) -> str:
        """Have an entry there once; a repeat finds it."""
        async with self._turn:
            return await asyncio.to_thread(self._put, checked_name(name), data)

    async def remove(self, name: str) -> str:
        """Have it gone; a repeat finds nothing."""
        async with self._turn:
            return await asyncio.to_thread(self._remove, checked_name(name))

    def begin(self) -> None:
        """Have the file there, empty if it is new."""
        if not self._path.exists():
            self._replace(_EMPTY)

    def _busy(self, asked: Span) -> Busy:
        return read_busy(self._text(), asked, self._zone, owners=self._owners)

    def _text(self) -> bytes:
        try:
            if self._path.exists() and not self._path.is_file():
                raise Unavailable("this is a folder or a device: give the .ics file itself")
            with self._path.open("rb") as file:
                return file.read(LARGEST + 1)
        except FileNotFoundError:
            if self._ours:
                return _EMPTY
            raise Unavailable("there is no file at its path on this machine") from None
        except PermissionError:
            raise Unavailable("this account may not read the file") from None
        except OSError:
            raise Unavailable("the file cannot be read") from None

    def _put(self, name: str, data: bytes) -> str:
        text = self._writable()
        if _named(text, name):
            return EXISTED
        event = _EVENT.search(data)
        if event is None:
            raise Refused("bad_entry", "the entry is no event")
        end = list(_END.finditer(text))[-1].start()
        self._replace(text[:end] + event[0].rstrip(b"\r\n") + b"\r\n" + text[end:])
        return CREATED

    def _remove(self, name: str) -> str:
        text = self._writable()
        found = _named(text, name)
        for start, end in reversed(found):
            text = text[:start] + text[end:]
        if found:
            self._replace(text)
        return REMOVED if found else ABSENT

    def _writable(self) -> bytes:
        if not self._write:
            raise Refused("calendar_read_only", "this calendar was added without --write")
        text = self._text()
        if parse(text) is None or _END.search(text) is None:
            raise Refused("calendar_unreadable", "the file is no calendar; nothing is written into it")
        return text

    def _replace(self, text: bytes) -> None:
        try:
            mode = self._path.stat().st_mode & 0o777 if self._path.exists() else 0o600
            write_private(self._path.resolve(), text)
            self._path.chmod(mode)
        except OSError:
            raise Unavailable("the file cannot be written") from None


def _named(text: bytes, name: str) -> list[tuple[int, int]]:
    """Where the events of a name stand."""
    line = re.compile(rb"^(?i:UID):" + re.escape(name.encode()) + rb"[ \t]*\r?$", re.MULTILINE)
    return [one.span() for one in _EVENT.finditer(text) if line.search(one[0])]
