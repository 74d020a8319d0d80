"""A script that thinks for a personal agent: it answers each of its tasks by the task's own schema.

It reads a prompt as a model would, by the words of the task at its end, and answers with the goal that the test gives
it, so that what comes of a thread is decided by the agent's code and not by the script.
"""

import json
import re
from dataclasses import dataclass, field

from .replies import Say, Tokens
from .seen import Seen

TASK = re.compile(r"^TASK\n(.*)\Z", re.MULTILINE | re.DOTALL)
GOAL = {
    "kind": "meeting",
    "summary": "Dinner",
    "event_type": "dinner",
    "times": [],
    "minutes": 120,
    "place": "",
    "urgency": "normal",
    "wants": [],
    "flexibility": {"date": "", "time": "", "location": "", "format": ""},
    "unclear": [],
    "confidence": 0.9,
}


@dataclass
class Arranger:
    """Answers every task. `goal` replaces members of a plain dinner; `around` is said before and after the object."""

    goal: dict = field(default_factory=dict)
    tokens: Tokens = Tokens(800, 60, 0)
    around: tuple[str, str] = ("", "")
    tasks: list[str] = field(default_factory=list)
    """The first words of each task, in order."""

    def __call__(self, seen: Seen) -> Say:
        asked = task_of(seen)
        self.tasks.append(asked.split("\n")[0])
        before, after = self.around
        return Say(before + json.dumps(self._answer(asked)) + after, self.tokens)

    def _answer(self, asked: str) -> dict:
        count = re.search(r"Write words for (\d+) option", asked)
        if count is None:
            return GOAL | self.goal
        summaries = [
            f"Dinner together, {name}" for name in ("the first", "the second", "the third", "another")
        ]
        return {
            "summaries": summaries[: int(count[1])],
            "reasoning": "Everybody is free then.",
            "confidence": 0.9,
        }


def task_of(seen: Seen) -> str:
    """The task at the end of a prompt; empty for a request that is none."""
    for text in reversed(seen.texts("user")):
        if found := TASK.search(text):
            return found[1]
    return ""
