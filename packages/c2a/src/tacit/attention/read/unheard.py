"""Calls that nobody hears: an `@name` that is neither a name nor a role here (C2A-071, C2A-208).

"@reviewers who has time?" in a room without a reviewer reaches nobody, and so does a name with a slip in it.
Such a word counts as a call where people call: at the start, perhaps after a greeting, or as the last word.
Anywhere else a sign before a word is more often a piece of code ("why does @Override fail"). Whom a text does
name is for `mentions`. Knows nothing of who is told.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from tacit.attention.read.calls import worded
from tacit.attention.read.lexicon import MARKS
from tacit.attention.read.mentions import is_known
from tacit.attention.read.prose import prose

if TYPE_CHECKING:
    from tacit.attention.read.parsed_message import ParsedMessage
    from tacit.attention.read.roster import Roster

_WORD: Final = r"@([^\W_](?:[\w-]{0,60}[^\W_])?)(?![\w@./('\u2019]|-\w)"
_FIRST: Final = re.compile(rf"[\W_]{{0,8}}?{_WORD}")
_LAST: Final = re.compile(rf"(?:^|[\s,(]){_WORD}[\s?!.)]{{0,8}}\Z")


def is_unheard(parsed: ParsedMessage, text: str, roster: Roster) -> bool:
    """Does a message call somebody, and is nobody there who bears that name or role?"""
    target = parsed.target
    if target.agents or target.people or target.members or target.everyone:
        return False
    return bool(target.roles or unknown_names(text, roster))


def unknown_names(text: str, roster: Roster) -> list[str]:
    """The names that a text calls and that nobody here has, in their order."""
    if "@" not in text and "\uff20" not in text:
        return []
    said = prose(text.translate(MARKS)).strip()
    greeting = worded().greeting.match(said)
    calls = (_FIRST.match(said, greeting.end() if greeting is not None else 0), _LAST.search(said[-200:]))
    names = dict.fromkeys(call[1] for call in calls if call is not None)
    return [name for name in names if not is_known(name, roster)]
