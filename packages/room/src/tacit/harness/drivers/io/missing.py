"""What is said when a driver's package is not installed."""

from __future__ import annotations

from tacit.base.errors import Refused
from tacit.base.install_hint import install_hint


def needs(extra: str) -> Refused:
    """A usage error that names the extra to install."""
    hint = install_hint("room", extra)
    return Refused("driver_missing", f"this driver is not installed: {hint}", details={"install": hint})
