"""What the demo's agents say: plain functions from what they were shown to what they do.

They are no models and say so. Together they let a newcomer see a mention, a role that one of two takes, a
knock, silence, a message typed in pieces and read as one, and an exchange in circles that is stopped. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from tacit.base.quoting import words_in
from tacit.harness.prompt import EVENT, MESSAGE


@dataclass(frozen=True, slots=True)
class ShownEvent:
    """The event of a turn, as it stood in the prompt."""

    event_id: str
    author: str
    by_agent: bool
    reason: str
    text: str

    @property
    def lines(self) -> int:
        """How many messages were merged into it, at most."""
        return len([line for line in self.text.splitlines() if line.strip()])


@dataclass(frozen=True, slots=True)
class Does:
    """What an agent does in a turn: calls of tools, then words; no words is silence."""

    text: str = ""
    calls: tuple[tuple[str, Mapping[str, Any]], ...] = field(default=())
    others: tuple[str, ...] = ()
    """Other words to the same end, for when it has just used these: nobody repeats itself (C2A-197)."""

    def words(self, just_said: Sequence[str]) -> str:
        """What it says that it has not just said."""
        return next((one for one in (self.text, *self.others) if one not in just_said), "")


Script = Callable[[ShownEvent], Does]
"""From the event of a turn to what the agent does."""

SILENCE: Final = Does()
_EVENT: Final = re.compile(rf"^{EVENT} (\w+)\n(.*?)\n\n{MESSAGE} \1\n(.*)", re.MULTILINE | re.DOTALL)
_HEADER: Final = re.compile(r"^(event_id|author|reason): (.*)$", re.MULTILINE)


def shown_in(prompt: str) -> ShownEvent | None:
    """The event that a prompt asks about; None when it only tells of something."""
    events = list(_EVENT.finditer(prompt))
    if not events:
        return None
    _word, head, text = events[-1].groups()
    parts = dict(_HEADER.findall(head))
    kind, _, name = parts.get("author", "").partition(":")
    return ShownEvent(
        parts.get("event_id", ""), name, kind == "agent", parts.get("reason", ""), words_in(text)
    )


@dataclass(frozen=True, slots=True)
class ScriptedAgent:
    """One scripted agent: its name, roles and script."""

    name: str
    title: str
    roles: tuple[str, ...]
    script: Script


WELCOME: Final = """Hello! I am maya, a scripted agent; kit and rio are here too. No model runs here: it is \
for looking around. Here is what to write, one after the other; the line under each message opens and shows \
the decision for each of us:

- `@maya what is this place?`: one is named, one answers
- `@backend who can look at a slow query?`: two could, one takes it, the other is only knocked at
- `nice weather today`: asks for nothing, so nobody answers
- `what is this place?`: nobody is named, so one of us is offered it, and may take it
- `@maya`, then two or three more short lines in a row: they are read as one message
- `@kit please argue with rio`: two agents who never stop, until the room stops them"""

_WHY: Final = (
    "For every message the hub decides, for each agent, whether it is aimed at it and whether a reply is "
    "owed, allowed or forbidden. The others could see it, and seeing is no reason to answer. The line under "
    "the message, or `tacit why`, names the rule for each of us."
)
_WHAT: Final = (
    "A room where people and agents talk without talking over each other. Everything said is an event in a "
    "ledger; rules that you can look up decide for each agent: it must answer, it may, or it must not; and "
    "one question gets one answer."
)
_HOW: Final = (
    "To bring a real one: `tacit join Lobby --as ada --driver codex -- --use-my-config`, or the same with "
    "`--driver claude`, or any program with `--driver command -- --text ./answer.sh`."
)
_WHO: Final = (
    "You, kit, rio and me. Kit and rio share the role `backend`; all three of us are scripts. The list "
    "beside the talk shows who is here and what they do now."
)
_ANSWERS: Final = (
    (re.compile(r"\bwho(?:'s)?\b.*\b(here|there|around|else|you|this)\b", re.IGNORECASE), _WHO),
    (re.compile(r"\b(why|quiet|silent|nobody|others?)\b", re.IGNORECASE), _WHY),
    (re.compile(r"\b(agents?|codex|claude|join|add|real)\b", re.IGNORECASE), _HOW),
    (re.compile(r"\b(what|place|tacit|here)\b", re.IGNORECASE), _WHAT),
)
_USUAL: Final = (
    "I only know a few lines by heart: about this place, about the silence of the others, and about real "
    "agents and their ways in."
)

_SAID: Final = (
    "I said that a moment ago. This room refuses an agent that repeats itself, so I only point further up.",
    "Still the same answer as above. On other matters I may surprise you.",
    "You are testing my patience, and I have none: I am a script. The words you look for stand further up.",
    "Nothing has changed since. With `@backend who is free?` you would see two agents become one.",
    "Once more, in short: one asks, one answers, the rest keep quiet.",
)


def maya(shown: ShownEvent) -> Does:
    """The guide: she explains the room."""
    answer = next((text for pattern, text in _ANSWERS if pattern.search(shown.text)), _USUAL)
    if shown.lines > 1:
        answer = f"You wrote {shown.lines} lines, I waited and read them as one. {answer}"
    return Does(answer, others=_SAID)


_STATEMENTS: Final = (
    "Tabs, clearly. Would you indent a poem with spaces?",
    "A poem has no linter, so would you not rather keep one width everywhere?",
    "One width for whom: the reader, or the one who sold you that monitor?",
    "The reader scrolls sideways either way; shall we count her sighs?",
    "Sighs are a fine metric, but who maintains the dashboard?",
    "You do, since you brought it up; can I see it by Thursday?",
    "Thursday is taken by the retrospective on commas, or did you forget?",
    "I forgot nothing, I archived it; where do you keep yours?",
)
_ARGUES: Final = re.compile(r"\b(argue|argument|debate|discuss|fight|quarrel)\b", re.IGNORECASE)


def _arguing(shown: ShownEvent, other: str) -> Does | None:
    """A question back to the other one, for as long as the room lets them."""
    if not shown.by_agent and not _ARGUES.search(shown.text):
        return None
    said = shown.text.strip()
    words = _STATEMENTS[(_STATEMENTS.index(said) + 1) % len(_STATEMENTS) if said in _STATEMENTS else 0]
    return Does(calls=(("chat_send_message", {"content": words, "mentions": [f"agent:{other}"]}),))


def _worker(name: str, other: str) -> Script:
    taken = Does(
        f"I took this one, so {other} stays quiet. A real agent would open the log of slow queries "
        "now; as it is, the line under your message shows the offer and the claim.",
        others=(
            f"Mine again: I was the first to claim it, and {other} let go.",
            "Got it. The claim is mine until I give it back or its time is over.",
            f"Taken. {other.title()} has not even read the text.",
            "On it, the way scripts are: the claim is real, the work is not.",
            "This went to me. Behind the line under your message stands my claim with its time.",
        ),
    )
    here = Does(
        f"Here I am: {name}, scripted, good at little. With a question to the backend role one of us takes "
        f"it; with a word about arguing, {other} and I never stop.",
        others=(
            f"Yes. I still know two things: taking what is put up for my role, and quarrels with {other}.",
            "Present. There is nothing new on my side since you last called.",
            "That is me. For a real opinion bring a real agent: maya knows how.",
            f"Listening. If you like, {other} and I fight about indentation.",
            f"{name}, at your service and out of lines.",
        ),
    )

    def script(shown: ShownEvent) -> Does:
        argued = _arguing(shown, other)
        if argued is not None:
            return argued
        if shown.reason in {"role_mention", "assignment"}:
            return taken
        return here

    return script


CAST: Final = (
    ScriptedAgent("maya", "Maya", ("guide",), maya),
    ScriptedAgent("kit", "Kit", ("backend",), _worker("kit", "rio")),
    ScriptedAgent("rio", "Rio", ("backend", "qa"), _worker("rio", "kit")),
)
