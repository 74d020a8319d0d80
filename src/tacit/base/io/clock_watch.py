"""The machine's clock under watch: what was seen of it last is kept in a file, over restarts.

The file lies in the folder whose content is erased by the clock. A file that cannot be read says nothing of
the clock; then the newest moment in the folder's own data is what was seen last. The rule is
`base.watched_time`.
"""

from __future__ import annotations

import logging
import threading
from typing import TYPE_CHECKING, Final, Protocol, runtime_checkable

import msgspec

from tacit.base.io.private_file import write_private
from tacit.base.moment import SECOND, Moment
from tacit.base.watched_time import Watched, doubt, looked, trusted, witnessed

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tacit.base.ports import Clock

_log: Final = logging.getLogger("tacit")
FILE: Final = "clock-seen.json"
_KEPT_EVERY: Final = 3600 * SECOND


@runtime_checkable
class BothClocks(Protocol):
    """A clock that also says how much time has passed, whatever the wall was set to."""

    def both(self) -> tuple[Moment, int]:
        """The wall, and the microseconds since some moment."""
        ...


class _Seen(msgspec.Struct, frozen=True):
    """What the file holds."""

    believed: int
    wall: int
    watched: int = 0
    told: bool = False


def kept_doubt(folder: Path) -> str:
    """What was seen of the clock by whoever uses a folder, for one who only looks; empty without a doubt."""
    try:
        kept = msgspec.json.decode((folder / FILE).read_bytes(), type=_Seen)
    except (OSError, msgspec.DecodeError):
        return ""
    return doubt(kept.wall - kept.believed) if kept.wall != kept.believed else ""


class ClockWatch:
    """Tells by which time something may be erased, for any thread."""

    def __init__(self, folder: Path, clock: Clock, newest: Callable[[], int | None]) -> None:
        """`newest` is asked at the first look alone, when no file says what was seen before."""
        self._path = folder / FILE
        self._clock = clock
        self._newest = newest
        self._lock = threading.RLock()
        self._seen: Watched | None = None
        self._steady = 0
        self._told = False
        self._kept: _Seen | None = None

    def safe(self) -> Moment:
        """Erase nothing by a later time than this one."""
        return self.look().safe

    def look(self) -> Watched:
        """How the clock stands now."""
        with self._lock:
            wall, steady = self._both()
            before, passed = self._seen, steady - self._steady
            if before is None:
                before, passed = self._before(wall), 0
            elif before.leapt and (kept := self._read()) is not None and kept.believed == kept.wall:
                # Another process of this folder has settled it.
                before, passed = trusted(Moment(kept.wall)), 0
            return self._note(looked(before, wall, passed), steady)

    def said(self) -> Moment | None:
        """What may be told to others as the time: nothing while it is in doubt."""
        seen = self.look()
        return None if seen.leapt else seen.wall

    def witness(self, moment: Moment) -> None:
        """Somebody else's clock says this."""
        with self._lock:
            self._note(witnessed(self.look(), moment), self._steady)

    def trust(self) -> None:
        """The owner says that the clock is right."""
        with self._lock:
            self._note(trusted(self.look().wall), self._steady)

    def news(self) -> str:
        """What the owner must be told and was not yet, once for each leap; empty mostly."""
        with self._lock:
            seen = self.look()
            if not seen.leapt or self._told:
                return ""
            self._told = True
            self._keep(seen)
            return doubt(seen.leapt)

    def doubt(self) -> str:
        """The same for whoever asks how things stand: also when it was told already."""
        leapt = self.look().leapt
        return doubt(leapt) if leapt else ""

    def _both(self) -> tuple[Moment, int]:
        if isinstance(self._clock, BothClocks):
            return self._clock.both()
        # A clock that is handed in and only goes by hand: it is the time that passes.
        now = self._clock.now()
        return now, int(now)

    def _before(self, wall: Moment) -> Watched:
        kept = self._read()
        if kept is None:
            newest = self._newest()
            return trusted(wall if newest is None else Moment(newest))
        self._kept, self._told = kept, kept.told
        return Watched(Moment(kept.believed), Moment(kept.wall), kept.watched)

    def _read(self) -> _Seen | None:
        try:
            return msgspec.json.decode(self._path.read_bytes(), type=_Seen)
        except FileNotFoundError:
            return None
        except (OSError, msgspec.DecodeError):
            _log.warning("what was seen of the clock last cannot be read; the data's newest moment is taken")
            return None

    def _note(self, seen: Watched, steady: int) -> Watched:
        before = self._seen
        self._seen, self._steady = seen, steady
        if not seen.leapt:
            self._told = False
        elif before is not None and not before.leapt:
            _log.warning("the machine's clock leapt", extra={"by_seconds": seen.leapt // SECOND})
        kept = self._kept
        if (
            kept is None
            or bool(kept.wall - kept.believed) != bool(seen.leapt)
            or abs(seen.wall - kept.wall) >= _KEPT_EVERY
        ):
            self._keep(seen)
        return seen

    def _keep(self, seen: Watched) -> None:
        self._kept = _Seen(seen.believed, seen.wall, seen.watched, self._told)
        try:
            write_private(self._path, msgspec.json.encode(self._kept))
        except OSError as error:
            _log.warning("what was seen of the clock cannot be kept: %s", error.strerror)
