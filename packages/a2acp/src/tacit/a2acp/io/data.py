"""Where the JSON Schemas and test vectors lie, which come with this package."""

from __future__ import annotations

from pathlib import Path
from typing import Final

_DATA: Final = Path(__file__).parents[1] / "data"


def schemas() -> Path:
    """The folder of JSON Schemas, two for each type: `context.sent.json`, `context.received.json`, …"""
    return _DATA / "schemas"


def vectors() -> Path:
    """The folder of vectors: `a2acp-packets`, `seal` (signed and encrypted) and `seal-reference`."""
    return _DATA / "vectors"
