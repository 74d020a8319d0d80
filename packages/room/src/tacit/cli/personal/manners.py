"""How the agent behaves in a room: one person commands it, in private; all others get its manners.

What counts as the owner's word is decided from the ledger's own record of a message: who wrote it (not whom
a bridge says it speaks for), and who alone can read it. A room's ledger keeps what is said there, so even to
the owner the agent names fields and reasons and never a value, and takes no answer: what may be shared is
decided where the value is seen, on a page or at a terminal. Decided from values; who carries words is
`tacit.cli.personal.join`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

OWNER: Final = "user"
POLITE: Final = "Thank you. I take word from my owner alone."
IN_PRIVATE: Final = "Please write to me in private."
INTERRUPTED: Final = (
    "I was stopped while I was at this, and do not know whether I had begun. Write “threads” to see what "
    "there is, and say it again if it is missing."
)
AWAY: Final = "Your agent cannot be asked just now. Nothing was begun; please say it again later."
UNREADABLE: Final = "I could not read that. Please say it again, as a new message."
HELP: Final = (
    "Tell me what to arrange, for example: dinner with ben on Friday evening. “pending” lists what waits for "
    "you, “threads” what is under way, “stop ID” ends one. Questions are answered on my page or at a "
    "terminal, not here."
)
LONGEST: Final = 280
MOST: Final = 20


@dataclass(frozen=True, slots=True)
class RoomMessage:
    """A message as the ledger has it: who wrote it, and who alone can read it (nobody named: everyone)."""

    by: str
    parties: frozenset[str]
    text: str


@dataclass(frozen=True, slots=True)
class Order:
    """A command of the owner's, as the agent's own table has it."""

    command: str
    arguments: Mapping[str, Any]


def is_the_owners_word(said: RoomMessage, me: str) -> bool:
    """Written by the owner, and for nobody else's eyes but the agent's."""
    return said.by == OWNER and said.parties == frozenset({OWNER, me})


def reply_to_others(said: RoomMessage | None) -> str:
    """What anybody else gets who may expect an answer; it never depends on what they wrote."""
    return IN_PRIVATE if said is not None and said.by == OWNER else POLITE


def order(text: str) -> Order | None:
    """What the owner wants; None when it is help. What is no known word is a wish."""
    words = text.strip().rstrip(".!?").split()
    match [word.casefold() for word in words]:
        case [] | ["help"]:
            return None
        case ["pending"] | ["what", "waits"]:
            return Order("pending", {})
        case ["threads"]:
            return Order("threads", {})
        case ["stop", _]:
            return Order("stop", {"thread_id": words[1]})
        case _:
            return Order("ask", {"text": text.strip(), "to": [], "urgent": False})


def told(asked: Order, found: Mapping[str, Any]) -> str:
    """What the agent says to its owner of what came of an order."""
    match asked.command:
        case "pending":
            return _pending(found["questions"])
        case "threads":
            return _threads(found["threads"])
        case "stop":
            return f"{_plain(found['thread_id'])} is at an end ({_plain(found['state'])})."
        case _:
            return f"I have begun ({_plain(found['thread_id'])}). “pending” says what it needs from you."


def refused(code: str, message: str) -> str:
    """What the owner is told of an order that is not carried out; a question is asked as it stands."""
    words = message.translate(_QUOTED)
    return f"{words}." if code == "unclear_request" else f"I cannot: {words}."


def _pending(questions: list[dict[str, Any]]) -> str:
    if not questions:
        return "Nothing waits for you."
    lines = [f"{len(questions)} waits for you:" if len(questions) == 1 else f"{len(questions)} wait for you:"]
    for one in questions[:MOST]:
        lines.append(
            f"- {_plain(one['kind'])}, with {_who(one['counterpart'])} ({_plain(one['question_id'])})"
        )
        for field in one["fields"]:
            reason = _plain(field.get("reason") or "")
            lines.append(f"  - {_plain(field['field'])}" + (f": “{reason}”" if reason else ""))
    if len(questions) > MOST:
        lines.append(f"- and {len(questions) - MOST} more")
    return "\n".join([*lines, "Answer on my page or at a terminal: there you see what would be shared."])


def _threads(threads: list[dict[str, Any]]) -> str:
    if not threads:
        return "Nothing is under way."
    lines = [
        f"- {_plain(one['thread_id'])}, with {_who(one['with'])}: {_plain(one['state'])}"
        for one in threads[:MOST]
    ]
    return "\n".join([*lines, *([f"- and {len(threads) - MOST} more"] if len(threads) > MOST else [])])


def _who(address: object) -> str:
    return _plain(str(address).removeprefix("agent:").partition("@")[0])


def _plain(text: object) -> str:
    """In one line, naming nobody and forming nothing: what a counterpart wrote is only ever quoted."""
    line = "".join(letter if letter.isprintable() else " " for letter in str(text))[:LONGEST]
    return line.translate(_QUOTED)


_QUOTED: Final = str.maketrans(
    {"@": " at ", "“": '"', "”": '"', "`": "'", "*": "·", "[": "(", "]": ")", "<": "(", ">": ")"}
)
