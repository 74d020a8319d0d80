"""Half-written commits: found in the write-ahead log before it is used, kept aside, and reported (CCCS-115).

SQLite ignores frames after the last complete commit. They were never acknowledged, yet they are not thrown
away in silence: their bytes are copied into `quarantine/` and the groups are told.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Final, NamedTuple

from tacit.base.io.private_file import make_private

if TYPE_CHECKING:
    from pathlib import Path

_HEADER: Final = 32
_FRAME_HEADER: Final = 24
_MAGIC: Final = {0x377F0682: "<", 0x377F0683: ">"}


class Torn(NamedTuple):
    """What was found after the last complete commit."""

    kept_in: Path
    size: int


def _checksum(order: str, data: bytes, start: tuple[int, int]) -> tuple[int, int]:
    one, two = start
    words = struct.unpack(f"{order}{len(data) // 4}I", data)
    for index in range(0, len(words), 2):
        one = (one + words[index] + two) & 0xFFFFFFFF
        two = (two + words[index + 1] + one) & 0xFFFFFFFF
    return one, two


class _Ends(NamedTuple):
    """How far a log can be used."""

    sound: int
    """Bytes up to the last complete commit."""
    end: int
    """Bytes that belong to this generation of the log at all."""
    hides: bool
    """Is there a commit behind a frame that cannot be read? A crash leaves none: it ends where it tore."""


def _ends(log: bytes) -> _Ends:
    magic, _version, page, _number, salt1, salt2, sum1, sum2 = struct.unpack(">8I", log[:_HEADER])
    order = _MAGIC.get(magic)
    if order is None or _checksum(order, log[:24], (0, 0)) != (sum1, sum2):
        return _Ends(0, len(log), hides=True)
    at, sums, sound, broken, hides = _HEADER, (sum1, sum2), _HEADER, False, False
    size = _FRAME_HEADER + page
    while at < len(log):
        frame = log[at : at + size]
        salts = struct.unpack(">2I", frame[8:16]) if len(frame) >= 16 else (salt1, salt2)
        if salts != (salt1, salt2):
            break  # left over from before the log was last started anew
        if len(frame) < size:
            return _Ends(sound, len(log), hides)
        commits = struct.unpack(">I", frame[4:8])[0] > 0
        if broken:
            hides = hides or commits
        else:
            sums = _checksum(order, frame[:8], sums)
            sums = _checksum(order, frame[_FRAME_HEADER:], sums)
            broken = sums != struct.unpack(">2I", frame[16:24])
        at += size
        if commits and not broken:
            sound = at
    return _Ends(sound, at, hides)


def _log_of(database: Path) -> tuple[bytes, _Ends]:
    path = database.with_name(database.name + "-wal")
    if not path.is_file() or path.stat().st_size <= _HEADER:
        return b"", _Ends(0, 0, hides=False)
    log = path.read_bytes()
    return log, _ends(log)


def hidden_bytes(database: Path) -> int:
    """How much of the log of a database that nobody has open lies behind damage, commits among it.

    What a crash tore is no damage: it was never acknowledged, and is set aside at the next start.
    """
    _log, ends = _log_of(database)
    return max(0, ends.end - ends.sound) if ends.hides else 0


def set_aside(database: Path, stamp: str) -> Torn | None:
    """Copy the torn end of the database's log into `quarantine/`; None when there is none."""
    log, (sound, end, _) = _log_of(database)
    if end <= sound:
        return None
    folder = database.parent / "quarantine"
    folder.mkdir(exist_ok=True, mode=0o700)
    kept = folder / f"torn-{stamp.replace(':', '')}.wal"
    make_private(kept)
    kept.write_bytes(log[sound:end])
    return Torn(kept, end - sound)
