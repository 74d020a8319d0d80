"""From an owner's words on a calendar to the calendar: opened, and read before it counts (A2ACP-077).

Every way to add a calendar goes through `opened` and `first_reading`, so that none is accepted that says
nothing. A calendar that was added by an older program and cannot be opened counts as one that cannot be read.
Knows nothing of where definitions are kept.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from tacit.agent.scheduling.calendars.addresses import file_path, pasted
from tacit.agent.scheduling.calendars.io.caldav import CalDav
from tacit.agent.scheduling.calendars.io.files import IcsFile
from tacit.base.errors import Refused

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Callable, Mapping

    from tacit.agent.scheduling.calendars.busy import Busy
    from tacit.base.moment import Span


def opened(
    definition: Mapping[str, object], *, zone: str, turn: Callable[[Path], asyncio.Lock]
) -> IcsFile | CalDav:
    """The calendar that a definition names; `Refused` when there can be none. Nothing is read yet."""
    match definition:
        case {"kind": "ics", "path": str(text)}:
            path = Path(file_path(text))
            return IcsFile(path, zone=zone, write=bool(definition.get("write")), turn=turn(path))
        case {"kind": "caldav", "url": str(url), "user": str(user), "password_file": str(password_file)}:
            return CalDav(url, pasted(user), Path(password_file), zone=zone)
        case _:
            raise Refused(
                "bad_calendar",
                "a calendar is an `ics` with a path, or a `caldav` with a url, a user and a password_file",
            )


async def first_reading(source: IcsFile | CalDav, asked: Span) -> Busy:
    """What a calendar says of a stretch; whatever keeps it from being read is raised, with what to do."""
    answer = await source.first_read(asked)
    if not answer.complete:
        raise Refused("calendar_unreadable", "; ".join(answer.notices))
    return answer


class Unopened:
    """A calendar whose definition cannot be opened: whatever it is asked for is refused with the reason."""

    def __init__(self, refused: Refused) -> None:
        self._refused = refused

    def _refuse(self) -> NoReturn:
        raise Refused(self._refused.code, self._refused.message)

    async def busy(self, asked: Span) -> Busy:  # noqa: ARG002 - a port's
        """Refused."""
        self._refuse()

    async def put(self, name: str, data: bytes) -> str:  # noqa: ARG002 - a port's
        """Refused."""
        self._refuse()

    async def remove(self, name: str) -> str:  # noqa: ARG002 - a port's
        """Refused."""
        self._refuse()
