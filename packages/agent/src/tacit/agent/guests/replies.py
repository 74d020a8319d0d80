"""A reply that the owner pasted, read by rules (A2ACP-275): a first reading, which the owner corrects.

It is never more than a suggestion of how to read: what cannot be read for certain has no choice, and what
is kept is what the owner lets stand.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from tacit.agent.guests.answers import (
    CONFIRM,
    DECLINE,
    LONGEST_ANSWER,
    LONGEST_SUGGESTION,
    SUGGEST,
    GuestReply,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

LONGEST: Final = 4000
_NUMBERED: Final = re.compile(r"\s{0,8}\(?([1-5])[.):]\s{0,8}(\S.{0,500})")
_WORD: Final = re.compile(r"[a-z']+", re.ASCII)
_YES: Final = (
    "yes", "yeah", "yep", "yup", "sure", "ok", "okay", "of course", "with pleasure", "gladly", "perfect",
    "sounds good", "sounds great", "sounds lovely", "great", "lovely", "that works", "works for me",
    "suits me", "i'll be there", "i will be there", "count me in", "see you", "looking forward", "fine",
    "no problem", "absolutely", "definitely", "i'd love to", "i would love to", "can do",
)  # fmt: skip
_NO: Final = (
    "no", "nope", "sorry", "unfortunately", "i can't", "i cannot", "can't make it", "cannot make it",
    "afraid not", "i'm afraid", "i am afraid", "not possible", "doesn't work", "does not work",
    "won't be able", "will not be able", "i'm busy", "i am busy", "not this time", "i have to decline",
)  # fmt: skip
_ELSE: Final = (
    "how about", "what about", "instead", "rather", "could we", "can we", "would be better", "is better",
    "suits me better", "works better", "any chance", "but only", "alternatively", "prefer",
)  # fmt: skip
_UNSURE: Final = ("not sure", "don't know", "do not know", "maybe", "perhaps", "let you know", "might")


def read_reply(text: str, questions: Sequence[str], *, proposed: bool) -> GuestReply:
    """What a pasted reply seems to say; without a choice where it cannot be told."""
    lines = [line for line in text[:LONGEST].splitlines() if not line.lstrip().startswith(">")]
    answers = _numbered(lines, len(questions))
    rest = " ".join(line.strip() for line in lines if not _NUMBERED.fullmatch(line)).strip()
    if questions and not any(answers) and not proposed:
        return GuestReply("", (rest[:LONGEST_ANSWER],), "")
    choice = _choice(rest)
    return GuestReply(choice, answers, rest[:LONGEST_SUGGESTION] if choice == SUGGEST else "")


def _numbered(lines: Sequence[str], count: int) -> tuple[str, ...]:
    found = [""] * count
    for line in lines:
        match = _NUMBERED.fullmatch(line)
        if match is not None and int(match[1]) <= count:
            found[int(match[1]) - 1] = match[2].strip()[:LONGEST_ANSWER]
    return tuple(found)


def _choice(text: str) -> str:
    plain = text.lower().replace("\u2019", "'")
    words = f" {' '.join(_WORD.findall(plain))} "
    if _has(words, _UNSURE):
        return ""
    if _has(words, _ELSE):
        return SUGGEST
    # "No problem" is no no.
    no = _has(words.replace(" no problem ", " "), _NO)
    yes = _has(words, _YES)
    if yes == no:
        return ""
    return CONFIRM if yes else DECLINE


def _has(words: str, phrases: Sequence[str]) -> bool:
    return any(f" {one} " in words for one in phrases)
