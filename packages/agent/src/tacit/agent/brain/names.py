"""The people that a request names: whom it goes to, and anybody else, who is asked about.

Whom a request goes to is said by address, elsewhere. Their names are understood; so is one name that nobody
knows, where none of theirs is said: it is what the owner calls them. Any other name stays unread
(`coverage`), so that nobody whom the owner named is dropped.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tacit.agent.brain.coverage import HARMLESS, turns

if TYPE_CHECKING:
    from tacit.agent.brain.wish import Wish

_WITH: Final = frozenset({"with", "w"})
_LEADS: Final = _WITH | {"ask", "asking", "call", "ring", "phone", "see", "meet", "invite", "inviting"}
_NO_OBJECTS: Final = frozenset(
    {"about", "near", "before", "after", "over", "if", "whether", "when", "what", "where", "which", "out",
    "off",
     "back", "around", "between", "during", "regarding", "re", "again", "or", "how", "why"}
)  # fmt: skip
"""Words that follow such a verb and name nobody."""
_BETWEEN_US: Final = (("between", "me", "and"), ("between", "us", "and"), ("between", "myself", "and"))
_RELATIONS: Final = frozenset(
    {"sister", "brother", "mother", "father", "mum", "mom", "dad", "wife", "husband", "partner", "boyfriend",
     "girlfriend", "son", "daughter", "cousin", "aunt", "uncle", "grandma", "grandpa", "granny", "boss",
     "colleague", "friend", "neighbour", "neighbor", "flatmate", "mate"}
)  # fmt: skip
_AGENTS: Final = frozenset({"assistant", "agent"})
_KIN: Final = frozenset({"my", "our", "the"})
_ALL: Final = frozenset({"everyone", "everybody", "all", "them", "group", "gang", "guys", "team", "lot"})
_NO_NAMES: Final = _ALL | frozenset(
    {"anyone", "anybody", "someone", "somebody", "people", "friends", "family", "kids", "children", "others"}
)
_SUBJECTS: Final = frozenset(
    {"he", "she", "they", "he's", "she's", "they're", "he'd", "she'd", "they'd", "everyone"}
)
_VERBS: Final = frozenset(
    {"is", "are", "be", "would", "could", "can", "might", "has", "have", "'d", "to", "a"}
)
_WILLING: Final = frozenset(
    {"free", "available", "around", "keen", "interested", "like", "likes", "love", "want", "wants", "fancy",
     "fancies", "time", "come", "join", "make", "do", "up"}
)  # fmt: skip


def read_names(wish: Wish, led_by: str = "with") -> None:
    """Report the names of those whom a request goes to, and the words that ask whether they want to.

    `led_by` is the word that leads to a name in a request of this kind.
    """
    known = wish.addressees.names
    named = [at for at, word in enumerate(wish.words) if bare(word) in known]
    for at in named:
        _use_name(wish, at, at + 1)
    if wish.addressees.several:
        for at, word in enumerate(wish.words):
            if word in _ALL:
                wish.use(at, at + 1)
    elif not named:
        _read_unknown(wish, led_by)
    _read_willingness(wish)


def bare(word: str) -> str:
    """A name without its possessive."""
    return word.removesuffix("'s") if word.endswith("'s") else word.removesuffix("'")


def is_capital(wish: Wish, at: int) -> bool:
    """Whether a word is written as names are."""
    return wish.sentence.tokens[at].written[:1].isupper()


def _read_unknown(wish: Wish, led_by: str) -> None:
    """The one name that nobody knows, with a second part of it: what the owner calls the addressee."""
    for at in range(len(wish.words)):
        if not _may_name(wish, at):
            continue
        capital = is_capital(wish, at)
        if not (capital if wish.addressees.names else capital or _is_led(wish, at, led_by)):
            continue
        end = at + 1
        leads = capital or wish.words[at] in _RELATIONS
        if leads and end < len(wish.words) and wish.touches(end) and _may_name(wish, end):
            end += is_capital(wish, end)
        _use_name(wish, at, end)
        return


def _use_name(wish: Wish, at: int, end: int) -> None:
    """A name, with who they are to the owner: `my sister Nell`, `between me and Ben`, `Ben's assistant`."""
    start = at - (at > 0 and wish.words[at - 1] in _RELATIONS)
    for words in _BETWEEN_US:
        if wish.words[max(start - len(words), 0) : start] == words:
            start -= len(words)
    if wish.words[end - 1].endswith("'s") and wish.words[end : end + 1] and wish.words[end] in _AGENTS:
        end += 1
    wish.use(start, end)


def _may_name(wish: Wish, at: int) -> bool:
    word = wish.words[at]
    return (
        wish.sentence.kind(at) == "word"
        and not wish.is_used(at)
        and not turns(word)
        and word not in HARMLESS
        and bare(word) not in _NO_NAMES | _NO_OBJECTS | wish.addressees.others
    )


def _is_led(wish: Wish, at: int, led_by: str) -> bool:
    before = at - 1
    if before > 0 and wish.words[before] in _KIN:
        return wish.words[before - 1] in _WITH
    return before >= 0 and (wish.words[before] in _LEADS or wish.words[before] == led_by)


def _read_willingness(wish: Wish) -> None:
    """`if she'd like to`, `whether Ben is free`, `is he free for`: they are asked that in any case."""
    for at, word in enumerate(wish.words):
        if word not in {"if", "whether", "when", "is", "are"} or wish.is_used(at):
            continue
        place = at + 1
        subject = wish.words[place : place + 1]
        if not subject or not (subject[0] in _SUBJECTS or wish.is_used(place)):
            continue
        place += 1
        while place < len(wish.words) and wish.words[place] in _VERBS:
            place += 1
        if place < len(wish.words) and wish.words[place] in _WILLING:
            end = place + 1 + (wish.words[place : place + 2] == ("up", "for"))
            wish.use(at, end)
