"""Where a hub, a relay and an agent keep their data unless told otherwise."""

from __future__ import annotations

import os
from pathlib import Path


def default_data() -> Path:
    """Where a hub keeps its data unless told otherwise."""
    base = os.environ.get("XDG_DATA_HOME") or str(Path.home() / ".local" / "share")
    return Path(os.environ.get("TACIT_DATA") or Path(base) / "tacit")


def beside_hub(what: str) -> Path:
    """The default folder of a relay or an agent: next to the hub's own."""
    return default_data().parent / f"tacit-{what}"
