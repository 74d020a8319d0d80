"""Where the JSON Schemas and test vectors lie: inside the installed package, or beside it in a checkout."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from tacit.base.errors import Unavailable

_PACKAGE: Final = Path(__file__).parents[1] / "data"
_CHECKOUT: Final = Path(__file__).parents[4]


def schemas() -> Path:
    """The folder of JSON Schemas, two for each type: `context.sent.json`, `context.received.json`, …"""
    return _found(_PACKAGE / "schemas", _CHECKOUT / "docs" / "schemas" / "a2acp")


def vectors() -> Path:
    """The folder of vectors: `a2acp-packets`, `seal` (signed and encrypted) and `seal-reference`."""
    return _found(_PACKAGE / "vectors", _CHECKOUT / "tests" / "conformance" / "vectors")


def _found(*places: Path) -> Path:
    for one in places:
        if one.is_dir():
            return one
    raise Unavailable("this installation has no schemas and vectors; install the wheel")
