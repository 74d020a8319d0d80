"""A machine's clock that is off by as much as a file says: in every process of a hub, which finds this in its path."""

from __future__ import annotations

import os
import time
from pathlib import Path

SKEW = "TACIT_TEST_SKEW"


def skew_by(path: Path) -> None:
    """The file says by how many seconds the clock is ahead, at any time."""
    right = time.time_ns

    def skewed() -> int:
        try:
            ahead = float(path.read_text(encoding="ascii"))
        except FileNotFoundError:
            ahead = 0.0
        return right() + int(ahead * 1_000_000_000)

    time.time_ns = skewed


if SKEW in os.environ:
    skew_by(Path(os.environ[SKEW]))
