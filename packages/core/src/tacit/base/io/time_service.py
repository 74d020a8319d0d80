"""The time, for everything that runs: what it is here, what has come for certain, what others read.

One service for agent, relay, hub and nodes. It reads the machine's two clocks, of which one can be set and
the other only says what has passed; it keeps what it saw in a file of the folder that it is for, so that
this outlasts the process; it hears witnesses. The rules are `base.watched_time`.

A ledger's time has to be even besides: spans, deadlines and leases last as long as they say whatever anybody
does to the clock, and what is stamped keeps its order. That is `base.steady_time`, for `is_even`.

A file that cannot be read says nothing of the clock; then the newest moment in the folder's own data is what
was seen last.
"""

from __future__ import annotations

import logging
import threading
from typing import TYPE_CHECKING, Final, Protocol, runtime_checkable

import msgspec

from tacit.base.errors import Bug
from tacit.base.io.private_file import write_private
from tacit.base.io.system import both_clocks, this_boot
from tacit.base.moment import SECOND, Moment
from tacit.base.watched_time import (
    LEAST_JUMP,
    Reckoning,
    Watched,
    begun,
    best,
    confirmed_by,
    doubt,
    first_look,
    heard,
    looked,
    not_before,
    overruled,
    read,
    shared,
    trusted,
    witnessed,
)

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tacit.base.moment import ConfirmedTime
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
    """What the file holds. Of the last members a program of before knows nothing."""

    believed: int
    wall: int
    watched: int = 0
    told: bool = False
    contradicted: int = 0
    overruled: int | None = None
    is_known: bool = True
    leapt_in_sight: bool = False
    steady: int = 0
    boot: str = ""
    """When the machine was started for which `steady` counts; empty where it cannot say."""

    def watched_time(self) -> Watched:
        """What was seen."""
        return Watched(
            Moment(self.believed),
            Moment(self.wall),
            self.watched,
            self.contradicted,
            self.overruled,
            is_known=self.is_known,
            leapt_in_sight=self.leapt_in_sight,
        )


def kept_doubt(folder: Path) -> str:
    """What was seen of the clock by whoever uses a folder, for one who only looks; empty without a doubt."""
    seen = _read(folder / FILE)
    return doubt(seen.watched_time()) if seen is not None else ""


def _read(path: Path) -> _Seen | None:
    try:
        return msgspec.json.decode(path.read_bytes(), type=_Seen)
    except FileNotFoundError:
        return None
    except (OSError, msgspec.DecodeError):
        _log.warning("what was seen of the clock last cannot be read; the data's newest moment is taken")
        return None


class TimeService:
    """One machine's time, for any thread."""

    def __init__(
        self,
        clocks: Callable[[], tuple[Moment, int]] = both_clocks,
        *,
        is_even: bool = False,
        known: Reckoning | None = None,
        boot: Callable[[], str] = this_boot,
    ) -> None:
        """`known` is another process's reckoning, which this one goes on with: then it is even."""
        self._clocks = clocks
        self._boot = boot
        self._lock = threading.RLock()
        self.is_even: Final = is_even or known is not None
        """Whether `now` neither leaps nor goes back."""
        self._reckoning = known or begun(*clocks())
        self._stamped = Moment(0)
        self.jumps = 0
        self.on_jump: Callable[[int], None] = lambda _by: None
        """Told, where time is even, by how much the wall was set."""
        self._path: Path | None = None
        self._newest: Callable[[], int | None] = lambda: None
        self._seen: Watched | None = None
        self._steady = 0
        self._witness: tuple[Moment, int] | None = None
        self._told = False
        self._kept: _Seen | None = None

    # What time it is.

    def now(self) -> Moment:
        """The time here."""
        if self.is_even:
            return self.reckoning().at
        with self._lock:
            return best(self._look(), self._witness_now())

    def shared(self) -> Moment:
        """The time that others read on what is sent."""
        with self._lock:
            return shared(self._look(), self._witness_now())

    def for_others(self, moment: Moment) -> Moment:
        """A moment of here as others read it on what is sent."""
        with self._lock:
            seen, witness = self._look(), self._witness_now()
            return Moment(moment + shared(seen, witness) - best(seen, witness))

    def confirmed(self) -> ConfirmedTime:
        """The time that has come for certain: erase nothing, and end nothing for good, by a later one."""
        with self._lock:
            return confirmed_by(self._look(), self._witness_now())

    def span(self) -> tuple[ConfirmedTime, Moment]:
        """The earliest and the latest that it may be, whoever is right."""
        with self._lock:
            seen, witness = self._look(), self._witness_now()
            return confirmed_by(seen, witness), max(seen.believed, seen.wall, witness or seen.wall)

    def look(self) -> Watched:
        """How the clock stands now."""
        with self._lock:
            return self._look()

    def both(self) -> tuple[Moment, int]:
        """What the machine's two clocks say."""
        return self._clocks()

    # Even time.

    def reckoning(self) -> Reckoning:
        """The present moment of even time, with what it was reckoned from."""
        with self._lock:
            self._reckoning, by = read(self._reckoning, *self._clocks())
            reckoning = self._reckoning
        if by:
            self._jumped(by)
        return reckoning

    def not_before(self, moment: Moment) -> None:
        """Go on from what was stamped already, where that is later: a clock that lags is a jump, too."""
        if not self.is_even:
            return
        with self._lock:
            lags = moment - self._reckoning.at
            self._stamped = max(self._stamped, moment)
            self._reckoning = not_before(self._reckoning, moment)
        if lags >= LEAST_JUMP:
            self._jumped(-lags)

    def begin_anew(self) -> None:
        """Go by the wall again, which was wrong and is not any more; for who has stamped nothing by it."""
        with self._lock:
            self._reckoning = not_before(begun(*self._clocks()), self._stamped)

    def _jumped(self, by: int) -> None:
        self.jumps += 1
        self.on_jump(by)

    # What was seen of the clock.

    def remember_in(self, folder: Path, newest: Callable[[], int | None]) -> None:
        """Keep what is seen in a folder from now on, and go on from what was seen there before.

        `newest` says the newest moment in the folder's data; it is asked at the first look alone, when no
        file says what was seen.
        """
        with self._lock:
            if self._path not in {None, folder / FILE}:
                raise Bug("what is seen of a clock is kept in one folder")
            self._path, self._newest = folder / FILE, newest
            self._seen, self._kept = None, None

    def witness(self, moment: Moment) -> None:
        """Somebody else's clock says this."""
        with self._lock:
            self._look()
            self._witness = moment, self._steady
            self._hear_witness()

    def trust(self) -> None:
        """The owner says that the clock is right."""
        with self._lock:
            self._note(overruled(self._look()), self._steady)

    def said(self) -> Moment | None:
        """What may be told to others as the time: nothing while it is in doubt."""
        seen = self.look()
        return None if seen.leapt else seen.wall

    def news(self) -> str:
        """What the owner must be told and was not yet, once for each doubt; empty mostly."""
        with self._lock:
            seen = self._look()
            says = doubt(seen)
            if not says or self._told:
                return ""
            self._told = True
            self._keep(seen)
            return says

    def doubt(self) -> str:
        """The same for whoever asks how things stand: also when it was told already."""
        return doubt(self.look())

    def _look(self) -> Watched:
        wall, steady = self._clocks()
        before, passed = self._seen, steady - self._steady
        if before is None:
            seen = self._first_look(wall, steady)
        else:
            if doubt(before) and self._kept is not None and self._settled_elsewhere():
                before = self._kept.watched_time()
                passed = steady - self._kept.steady
            seen = looked(before, wall, passed)
        seen = self._note(seen, steady)
        return self._hear_witness() if self._witness is not None else seen

    def _first_look(self, wall: Moment, steady: int) -> Watched:
        kept = _read(self._path) if self._path is not None else None
        if kept is not None:
            self._kept, self._told = kept, kept.told
            is_same_boot = bool(kept.boot) and kept.boot == self._boot() and steady >= kept.steady
            return looked(kept.watched_time(), wall, steady - kept.steady if is_same_boot else None)
        newest = self._newest()
        if newest is None:
            return first_look(wall)
        return looked(trusted(first_look(Moment(newest)), Moment(newest)), wall, None)

    def _settled_elsewhere(self) -> bool:
        """Another process of this folder has settled the doubt."""
        kept = _read(self._path) if self._path is not None else None
        if kept is None or doubt(kept.watched_time()):
            return False
        self._kept = kept
        return True

    def _witness_now(self) -> Moment | None:
        if self._witness is None or self._seen is None:
            return None
        moment, at = self._witness
        return heard(self._seen, Moment(moment + self._steady - at))

    def _hear_witness(self) -> Watched:
        seen = self._seen
        if seen is None or self._witness is None:
            return self._look()
        moment, at = self._witness
        return self._note(witnessed(seen, Moment(moment + self._steady - at)), self._steady)

    def _note(self, seen: Watched, steady: int) -> Watched:
        before = self._seen
        self._seen, self._steady = seen, steady
        in_doubt = bool(doubt(seen))
        if not in_doubt:
            self._told = False
        elif before is not None and not doubt(before):
            off = seen.leapt or seen.contradicted
            _log.warning("the machine's clock is in doubt", extra={"off_by_seconds": off // SECOND})
        kept = self._kept
        if (
            kept is None
            or bool(doubt(kept.watched_time())) != in_doubt
            or kept.overruled != seen.overruled
            or abs(seen.wall - kept.wall) >= _KEPT_EVERY
        ):
            self._keep(seen)
        return seen

    def _keep(self, seen: Watched) -> None:
        self._kept = _Seen(
            seen.believed,
            seen.wall,
            seen.watched,
            self._told,
            seen.contradicted,
            seen.overruled,
            seen.is_known,
            seen.leapt_in_sight,
            self._steady,
            self._boot(),
        )
        if self._path is None:
            return
        try:
            write_private(self._path, msgspec.json.encode(self._kept))
        except OSError as error:
            _log.warning("what was seen of the clock cannot be kept: %s", error.strerror)


def time_of(clock: Clock | None) -> TimeService:
    """The service by a clock that was handed in: the machine's where none was."""
    if clock is None or isinstance(clock, TimeService):
        return clock or TimeService()
    if isinstance(clock, BothClocks):
        return TimeService(clock.both, boot=_no_boot)

    def by_hand() -> tuple[Moment, int]:
        """A clock that only goes by hand is the time that passes."""
        return (now := clock.now()), int(now)

    return TimeService(by_hand, boot=_no_boot)


def even_time(clock: Clock) -> TimeService | None:
    """The service, where it is one whose time is even."""
    return clock if isinstance(clock, TimeService) and clock.is_even else None


def _no_boot() -> str:
    return ""
