"""The folders of private audiences: so many are kept, and those that were used longest ago go.

With a folder goes what the agent remembers of that private conversation; it begins anew when it goes on.
"""

from __future__ import annotations

import logging
import os
import shutil
from contextlib import suppress
from pathlib import Path
from typing import Final

log: Final = logging.getLogger("tacit.harness")
KEPT: Final = 200


def use(folder: str, kept: int = KEPT) -> None:
    """An audience's folder is opened: it is the newest, and beyond so many the oldest beside it go."""
    own = Path(folder)
    try:
        own.mkdir(parents=True, exist_ok=True, mode=0o700)
        os.utime(own)
        for old in _by_use(own.parent)[:-kept]:
            shutil.rmtree(old, ignore_errors=True)
    except OSError as error:  # a disk that is full costs the tidying, not the turn
        log.warning("old private folders were not removed", extra={"fault": error.strerror})


def _by_use(folder: Path) -> list[Path]:
    """The folders of all audiences, the oldest first."""
    found: list[tuple[int, Path]] = []
    for path in folder.iterdir():
        with suppress(OSError):
            found.append((path.stat().st_mtime_ns, path))
    return [path for _, path in sorted(found)]
