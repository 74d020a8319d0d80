"""Labelled lines and how the intent rules do on them."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from tacit.attention.read.form import prose
from tacit.attention.read.intent import of_text
from tacit.c2a.vocabulary import OBLIGING, SOCIAL, Intent

HERE = Path(__file__).parent
LANGUAGE_FILES = {path.stem: f"languages/{path.name}" for path in sorted((HERE / "languages").glob("*.txt"))}
"""The lines of each language beside English; `other` are languages that have no file."""
SOCIAL_LINES = HERE / "social_lines.jsonl"
"""Small talk and what is none, each line labelled with whether it needs an answer, by somebody who had not read the rules."""
DESTRUCTIVE = frozenset({Intent.LEAVE_REQUEST, Intent.CANCELLATION})


def lines(name: str = "lines.txt") -> list[tuple[Intent, str]]:
    """Every labelled line."""
    found: list[tuple[Intent, str]] = []
    label = None
    for line in (HERE / name).read_text(encoding="utf-8").splitlines():
        if line.startswith("[") and line.endswith("]"):
            label = Intent(line[1:-1])
        elif line and not line.startswith("#") and label is not None:
            found.append((label, line.replace("\\n", "\n")))
    return found


@dataclass(frozen=True)
class Score:
    """How the rules do for one label or one class of labels."""

    name: str
    precision: float
    recall: float
    count: int


def read(text: str) -> Intent:
    """What the rules make of a line."""
    return of_text(prose(text))


def klass(intent: Intent) -> str:
    """What decides: does it ask, does it say, or neither?"""
    if intent in OBLIGING:
        return "asks"
    return "social" if intent in SOCIAL else ("status" if intent is Intent.STATUS else "says")


def scores(labelled: list[tuple[Intent, str]]) -> list[Score]:
    """Precision and recall for each label, then for each class."""
    pairs = [(label, read(text)) for label, text in labelled]
    rows = [
        _score(label.value, [(a is label, b is label) for a, b in pairs])
        for label in dict.fromkeys(a for a, _ in pairs)
    ]
    rows += [
        _score(f"({name})", [(klass(a) == name, klass(b) == name) for a, b in pairs])
        for name in ("asks", "says", "status", "social")
    ]
    return rows


def _score(name: str, pairs: list[tuple[bool, bool]]) -> Score:
    counts = Counter(pairs)
    hit, missed, wrong = counts[True, True], counts[True, False], counts[False, True]
    return Score(
        name,
        hit / (hit + wrong) if hit + wrong else 1.0,
        hit / (hit + missed) if hit + missed else 1.0,
        hit + missed,
    )


def silenced(labelled: list[tuple[Intent, str]]) -> list[str]:
    """Lines that ask or say something and would be taken for small talk: the one mistake that loses an obligation."""
    return [text for label, text in labelled if label not in SOCIAL and read(text) in SOCIAL]


def destroyed(labelled: list[tuple[Intent, str]]) -> list[str]:
    """Lines that are no order and would send somebody away or end work: the one mistake that cannot be taken back."""
    return [text for label, text in labelled if label not in DESTRUCTIVE and read(text) in DESTRUCTIVE]


def agreement(labelled: list[tuple[Intent, str]], *, by_class: bool = False) -> float:
    """The share of lines that are read as they are labelled, or at least in the class that decides."""
    hits = sum(
        klass(read(text)) == klass(label) if by_class else read(text) is label for label, text in labelled
    )
    return hits / len(labelled)
