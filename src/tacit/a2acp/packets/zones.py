"""Time zones by their IANA names: how a counterpart's declared `timezone` is read (A2ACP-075).

A name is looked up in the zone data alone. `localtime` and its like, which mean another thing on each
machine, are names of nothing; so are abbreviations, of which several zones share one.
"""

from __future__ import annotations

import re
from datetime import UTC
from typing import TYPE_CHECKING, Final
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

if TYPE_CHECKING:
    from datetime import tzinfo

_NAME: Final = re.compile(r"[A-Z][A-Za-z]{1,13}(?:/[A-Z][A-Za-z0-9_+-]{1,29}){1,2}", re.ASCII)
_UTC: Final = frozenset({"UTC", "GMT", "Z"})


def zone(name: object) -> tzinfo | None:
    """The zone of that name; None when there is none."""
    if not isinstance(name, str):
        return None
    if name in _UTC:
        return UTC
    if _NAME.fullmatch(name) is None:
        return None
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return None
