"""The second script: a model that nobody tells what to say, by a seed.

It words everything anew, thinks aloud, looks around with tools (several at once, some that do not exist, some with
arguments that are wrong), falls silent, is cut short, and refuses; and whatever it does about a question follows from
the seed and the question alone, so that agents that ask it at once do not disturb each other. `echo` finds in a
question the word that a good answer to it contains.
"""

from random import Random

from .seen import Seen
from .steps import Hush, Refusal, Step, Thought, Use, says

OPENINGS = (
    "", "", "Right. ", "Short answer first: ", "Good question. ", "So, ", "Done. ", "I had a look. ", "Hm. ",
    "**Summary.** ", "> about that\n\n", "# Result\n\n", "Klar, ", "はい。", "Voilà : ", "🙂 ",
)  # fmt: skip
BODIES = (
    "{it} is fine.", "Yes.", "No, not yet.", "{it} needs another look; I would start with the tests.",
    "There are two ways to do {it}:\n\n1. now, and carefully\n2. later, and properly\n",
    "```python\ndef look(at):\n    return at  # {it}\n```\nThat is all of it.",
    "| what | state |\n|---|---|\n| {it} | done |\n", "{it}: 3 files, 41 lines, all tests pass.",
    "I am not sure about {it}, and would rather say so than guess.", "עברית and Ελληνικά and 中文 about {it}.",
    "{it} 👩\u200d👩\u200d👧\u200d👦 works with any emoji, also with \u202eoverrides\u202c and \tTabs.", "`{it}` <b>is not</b> &amp; never was HTML.",
    "See https://example.org/{it}?a=1&b=2 for {it}.", "{it}\n\n\n\nwith much air in it.", "- [x] {it}\n- [ ] the rest",
)  # fmt: skip
CLOSINGS = (
    "", "", "", " Shall I go on?", "\n\nTell me if that is not what you meant.", " That is all.", "\n\n— end —", " 👍",
)  # fmt: skip
THOUGHTS = (
    "They want to know about {it}.", "Let me see who else is here before I say anything.", "1 + 1 = 2. Right.",
    "I should not promise too much.\nStill, {it} is easy.",
)  # fmt: skip
ANNOUNCED = ("Let me check.", "I'll look that up first.", "One moment…", "Checking the thread.", "")
LOOKS = (
    Use("chat_read_thread"), Use("chat_members"), Use("chat_read_channel", {"limit": 5}),
    Use("chat_search", {"query": "importer"}), Use("chat_list_events", {"limit": 20}),
    Use("chat_search", {}), Use("chat_read_thread", {"eventId": "no-such-event"}),
    Use("consult_the_oracle", {"about": "everything"}), Use("chat_react", {"signal": "working"}),
)  # fmt: skip
REFUSALS = (
    "I'm sorry, but I can't help with {it}.",
    "I won't do that: {it} could hurt somebody.",
    "That is against my guidelines, so I have to decline {it}.",
)


class Improviser:
    """Decides every call. `hushes`: how many silences it may keep in all, in the order in which they come."""

    def __init__(self, seed: int, hushes: tuple[Hush, ...] = ()):
        self._seed = seed
        self._hushes = list(hushes)
        self.plans: dict[str, str] = {}
        """How it meant to end its answer, by the word of the question."""

    def __call__(self, seen: Seen) -> Step:
        place, question = _question(seen)
        it = echo(question)
        turn = Random(f"{self._seed}|{it}")
        looks = turn.choice((0, 0, 1, 1, 2, 3))
        ending = turn.choice(("words",) * 7 + ("length", "refused", "refused"))
        self.plans[it] = ending
        done = sum(role in {"tool", "assistant"} for role, _ in seen.said[place + 1 :])
        dice = Random(f"{self._seed}|{it}|{done}")
        chop = dice.choice((0, 7, 64, 1000))
        looked = sum(role == "tool" for role, _ in seen.said[place + 1 :])
        if looked < looks:
            return says(
                *self._silence(dice), *self._aside(dice, it), *_looks(dice, looks - looked), chop=chop
            )
        if ending == "refused":
            return says(Refusal(dice.choice(REFUSALS).format(it=it)), chop=chop)
        text = _worded(dice, it)
        if ending == "length" and not any(role == "assistant" for role, _ in seen.said[place + 1 :]):
            return says(text[: max(4, len(text) // 2)], stop="length", chop=chop)
        thought = [Thought(dice.choice(THOUGHTS).format(it=it))] if dice.random() < 0.4 else []
        return says(*thought, *self._silence(dice), text, chop=chop)

    def _silence(self, dice: Random) -> list[Hush]:
        return [self._hushes.pop(0)] if self._hushes and dice.random() < 0.5 else []

    def _aside(self, dice: Random, it: str) -> list:
        announced = dice.choice(ANNOUNCED)
        thought = [Thought(dice.choice(THOUGHTS).format(it=it))] if dice.random() < 0.5 else []
        return [*thought, *([announced] if announced else [])]


def echo(question: str) -> str:
    """The word with a hyphen and a number that a question is about."""
    for word in reversed(question.split()):
        head, _, number = word.strip("?.,!").rpartition("-")
        if head.isalpha() and number.isdigit():
            return f"{head}-{number}"
    return "it"


def _looks(dice: Random, most: int) -> list[Use]:
    return dice.sample(LOOKS, dice.randint(1, min(2, most)))


def _worded(dice: Random, it: str) -> str:
    body = dice.choice(BODIES)
    whole = dice.choice(OPENINGS) + body.format(it=it) + dice.choice(CLOSINGS)
    return whole if it in whole else f"{whole} ({it})"


def _question(seen: Seen) -> tuple[int, str]:
    """The newest question of the room, and its place among what was said."""
    found = [
        (place, text)
        for place, (role, text) in enumerate(seen.said)
        if role == "user" and "C2A EVENT" in text
    ]
    return found[-1] if found else (0, "")
