"""Requests about something that is arranged already: to cancel it, to move it, to hear how it stands.

None of these is a new arrangement, and a new one is not begun for it: the owner is told what can be done.
Reads which of them a request is; knows nothing of threads.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tacit.agent.brain import occasions

if TYPE_CHECKING:
    from tacit.agent.brain.wish import Wish

CANCEL: Final = (
    "Nothing was begun: a request begins something new. To call something off, look for it with "
    "“threads” and "
    "end it with “stop” and its id. What both sides have confirmed you have to call off yourself"
)
MOVE: Final = (
    "Nothing was begun: a request begins something new. To move something, look for it with “threads” "
    "and say "
    "what it is to be with “change” and its id. What both sides have confirmed cannot be moved yet: stop or "
    "cancel it yourself, and ask anew"
)
STATUS: Final = (
    "Nothing was begun: this asks how something stands. “threads” lists what is being arranged, and "
    "“pending” "
    "what waits for you"
)
FREE: Final = (
    "Nothing was begun: your agent does not look into other people's calendars. Say what to arrange, such as "
    "“coffee with Ben on Friday”, and it finds a time that suits both"
)
ABOUT_ME: Final = (
    "Your agent arranges a time with somebody, hands something over, or asks somebody a question: "
    "“dinner with "
    "Ben on Friday evening”, “ask Ben for his address”"
)

ANSWERS: Final = frozenset({CANCEL, MOVE, STATUS, FREE, ABOUT_ME})

_CANCELS: Final = (
    ("cancel",), ("cancels",), ("cancelling",), ("canceling",), ("cancelled",), ("canceled",), ("call",
    "off"),
    ("calling", "off"), ("called", "off"), ("call", "it", "off"), ("uninvite",), ("disinvite",),
)  # fmt: skip
_CANCELS_FIRST: Final = (
    ("scrap",), ("drop",), ("bin",), ("abandon",), ("forget",), ("never", "mind"), ("delete",), ("remove",),
    ("undo",), ("don't", "book"), ("don't", "arrange"), ("don't", "schedule"), ("don't", "organise"),
    ("don't", "organize"), ("don't", "plan"), ("don't", "ask"), ("don't", "invite"), ("do", "not", "book"),
    ("do", "not", "arrange"), ("stop",), ("get", "out", "of"), ("get", "me", "out", "of"), ("withdraw",),
)  # fmt: skip
_MOVES: Final = (
    ("reschedule",), ("rescheduling",), ("rescheduled",), ("postpone",), ("postponed",), ("postponing",),
    ("bring", "forward"), ("put", "back"), ("put", "off"), ("push", "back"),
)  # fmt: skip
_MOVES_FIRST: Final = (
    ("move",), ("moving",), ("push",), ("shift",), ("delay",), ("change",), ("swap",), ("switch",),
    ("bring",),
    ("update",), ("extend",), ("shorten",), ("make", "it"), ("make", "my"), ("make", "our"), ("make",
    "the"), ("rearrange",),
)  # fmt: skip
_STANDS_FIRST: Final = frozenset(
    {"has", "did", "is", "are", "was", "were", "when", "when's", "what", "what's", "where", "where's",
     "which", "who", "who's", "how", "any", "am", "does"}
)  # fmt: skip
_REPLIES: Final = frozenset(
    {"wish", "say", "replied", "reply", "answered", "answer", "confirmed", "accepted", "agreed", "responded",
     "still", "yet", "happening", "status", "news", "declined", "heard"}
)  # fmt: skip
_FREE_WORDS: Final = frozenset({"free", "available", "busy", "availability", "around"})
_ASKS: Final = frozenset(
    {("have", "i"), ("have", "we"), ("have", "they"), ("do", "you"), ("do", "i"), ("do", "we")}
)
_SUGGESTS: Final = frozenset({"about", "like", "fancy"})
_MAY: Final = frozenset({"can", "could", "shall", "should"})


def about(wish: Wish, words: tuple[str, ...]) -> str:
    """What the owner is told of a request that is no new one, empty for one that is.

    `words` are those of the request without its polite beginning.
    """
    if wish.first(_CANCELS) or _begins(words, _CANCELS_FIRST):
        return CANCEL
    if wish.first(_MOVES) or _begins(words, _MOVES_FIRST):
        return MOVE
    return _question(words)


def _question(words: tuple[str, ...]) -> str:
    """A question about a matter, about somebody's time, or about the agent itself."""
    event = bool(occasions.named(words)) and words[:1] != ("any",)
    if words[:1] in {("ask",), ("can",), ("could",)} and not event:
        able = words[0] != "ask" and words[1:2] not in {("you",), ("we",), ("i",)}
        return FREE if able or _FREE_WORDS & set(words) else ""
    asks = words[:1] and (words[0] in _STANDS_FIRST or words[:2] in _ASKS)
    if not asks or (_SUGGESTS | _MAY) & set(words[1:3]):
        return ""
    if "you" in words and words[0] in {"what", "what's", "which", "how", "who", "who's", "are", "do"}:
        return ABOUT_ME
    if _FREE_WORDS & set(words):
        return "" if event and words[0] in {"is", "are", "when"} else FREE
    if words[0] in {"has", "have", "did", "am"} or _REPLIES & set(words):
        return STATUS
    owned = any(word.endswith("'s") for word in words[1:] if word not in {"it's", "let's"})
    return STATUS if event and not owned else ""


def _begins(words: tuple[str, ...], phrases: tuple[tuple[str, ...], ...]) -> bool:
    return any(words[: len(phrase)] == phrase for phrase in phrases)
