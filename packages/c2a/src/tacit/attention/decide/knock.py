"""Knocks: that something is there, without what it says.

Rows: C2A-036, C2A-088, C2A-089, C2A-090, C2A-224. The topic is intent plus a label the host keeps (thread
title, stream or channel name), never words of the body: a topic that shares four words in a row with it falls
back to the intent alone. Knows no glyphs.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from tacit.attention.decide.redaction import redacted
from tacit.attention.read.form import prose
from tacit.attention.settings import DEFAULTS, Settings
from tacit.c2a.messages import Knock
from tacit.c2a.vocabulary import Intent

if TYPE_CHECKING:
    from tacit.attention.decide.decision import Decision
    from tacit.attention.read.conversation import Conversation

TOPICS: Final[dict[Intent, str]] = {
    Intent.LEAVE_REQUEST: "request to leave",
    Intent.SAFETY: "safety matter",
    Intent.CANCELLATION: "cancellation",
    Intent.HOLD: "request to wait",
    Intent.APPROVAL: "approval request",
    Intent.BLOCKER: "blocker",
    Intent.ASSIGNMENT: "assignment",
    Intent.REQUEST: "request",
    Intent.QUESTION: "question",
    Intent.PLAIN: "message",
    Intent.GREETING: "greeting",
    Intent.RESULT: "result",
    Intent.ERROR: "error",
    Intent.INFORM: "information",
    Intent.STATUS: "status",
    Intent.RECEIPT: "receipt",
    Intent.WITHDRAWAL: "withdrawal",
    Intent.THANKS: "thanks",
    Intent.ACKNOWLEDGEMENT: "receipt",
    Intent.FILLER: "small talk",
}
PULL_THREAD: Final = "chat.read_thread"
PULL_LIST: Final = "chat.list_events"
_WORD: Final = re.compile(r"\w+")
_DIGITS: Final = re.compile(r"\d{2,}")
_LABEL: Final = re.compile(r"[^\w .,'&()+-]")


def topic_of(intent: Intent, label: str, body: str, settings: Settings = DEFAULTS) -> tuple[str, bool]:
    """A topic that gives nothing of the body away, and whether a label had to be dropped (audited)."""
    word = TOPICS[intent]
    plain = _cleaned(label)
    if not plain:
        return word, False
    topic = f"{word} in {plain}"[: settings.topic_chars].rstrip(" .,'&(+-")
    if _reveals(topic, body):
        return word, True
    return topic, False


def _cleaned(label: str) -> str:
    """A label without links, code, digits in a row, secrets or signs."""
    plain = _LABEL.sub(
        " ", _DIGITS.sub(" ", prose(redacted(label).replace("[redacted:", " ")).replace("@", " "))
    )
    return " ".join(plain.split())


def _reveals(topic: str, body: str) -> bool:
    """Do four consecutive words, or a long unspaced run, of the body appear in the topic?"""
    said, shown = _WORD.findall(body.casefold()), _WORD.findall(topic.casefold())
    runs = {tuple(said[at : at + 4]) for at in range(len(said) - 3)}
    if any(tuple(shown[at : at + 4]) in runs for at in range(len(shown) - 3)):
        return True
    joined = "".join(said)
    return any(len(word) >= 8 and not word.isascii() and word in joined for word in shown)


def knock_of(
    decision: Decision,
    *,
    sender: str,
    conversation: Conversation,
    intent: Intent,
    body: str,
    settings: Settings = DEFAULTS,
) -> tuple[Knock, bool]:
    """The knock for a delivery, and whether its topic had to be cut back."""
    label = conversation.title or conversation.stream or ""
    topic, cut = topic_of(intent, label, body, settings)
    pull = PULL_THREAD if conversation.thread else PULL_LIST
    knock = Knock(
        _name(sender),
        _name(conversation.place),
        decision.directedness.value,
        decision.policy.value,
        decision.priority.value,
        topic,
        pull,
    )
    return knock, cut


def _name(text: str) -> str:
    """An id on one line, as one word: ids may come from clients, and a knock carries no sentences."""
    return "_".join(text.split())[:120]


def collapsed(knocks: list[Knock]) -> list[Knock]:
    """Knocks that wait for the next turn, those of one thread made one with a count (C2A-090).

    The newest stands for all of them and keeps the strongest policy that any of them had.
    """
    found: dict[str, Knock] = {}
    for knock in knocks:
        known = found.pop(knock.where, None)
        if known is not None:
            obliges = "must_respond" in {known.policy, knock.policy}
            knock = replace(  # noqa: PLW2901 - the collapsed knock takes its place
                knock, count=known.count + knock.count, policy="must_respond" if obliges else knock.policy
            )
        found[knock.where] = knock
    return list(found.values())
