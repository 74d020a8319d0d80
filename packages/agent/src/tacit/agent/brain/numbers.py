"""The numbers in words about a proposal: none that its details lack.

People say yes to what they read: no date, hour or sum may stand in a summary or a reason that the details do
not have. Knows nothing of who wrote the words.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Final

from tacit.agent.brain import writing

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tacit.base.strict_json import Json

_NUMBER: Final = re.compile(r"\d{1,18}")
_HOUR: Final = re.compile(r"(?<!\d)(\d{1,2})[:.h](\d\d)(?!\d)")


def beyond(said: str, options: Sequence[Mapping[str, Json]], known: frozenset[int] = frozenset()) -> str:
    """What words say that the details of these options lack: an hour, or a number; empty when nothing.

    `known` are numbers that may stand there too. With one option, the first hour that is named is its start.
    """
    hours: list[str] = []
    numbers = set(known)
    for option in options:
        # As people read it, and as it stands: `19:00` and `7 pm` are one hour.
        text = writing.summary(option) if option.get("date") and option.get("time") else ""
        hours += [_hour(one) for one in _HOUR.findall(text)]
        found = found_in(f"{text} {json.dumps(option, default=str)}")
        numbers |= found | {one - 12 for one in found if 12 < one < 24}
    named = [_hour(one) for one in _HOUR.findall(said)]
    if not set(named) <= set(hours) or (named and len(options) == 1 and named[0] != hours[0]):
        return "an hour"
    return "" if found_in(_HOUR.sub(" ", said)) <= numbers else "a number"


def found_in(text: str) -> set[int]:
    """The whole numbers in a text."""
    return {int(one) for one in _NUMBER.findall(text)}


def _hour(found: tuple[str, str]) -> str:
    """An hour in one spelling, whichever half of the day it is said to be in."""
    return f"{int(found[0]) % 12}:{found[1]}"
