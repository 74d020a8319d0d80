"""A strict reader of a prompt: which lines are ours, and which quote somebody; no model is as strict."""

from __future__ import annotations

import re
from dataclasses import dataclass

from tacit.base.quoting import MARK, words_in

TITLE = re.compile(r"(C2A (?:EVENT|THREAD|KNOCKS|DIGEST|NOTE|FILES)|MESSAGE) ([0-9a-f]+)")
LINE_ENDS = re.compile("\r\n|[\n\r\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029]")
"""Everything that any reader may take for the end of a line."""


@dataclass(frozen=True)
class Prompt:
    """What a strict reader made of it."""

    titles: list[str]
    ours: list[str]
    """Every line that quotes nobody, titles included."""
    quoted: list[str]
    """Every line that does, without its mark."""


def read(prompt: str, word: str) -> Prompt:
    """Read a prompt whose titles end in this word."""
    lines = LINE_ENDS.split(prompt)
    ours = [line for line in lines if not line.startswith(MARK)]
    matches = (TITLE.fullmatch(line) for line in ours)
    titles = [title[1] for title in matches if title is not None and title[2] == word]
    return Prompt(titles, ours, [line.removeprefix(MARK) for line in lines if line.startswith(MARK)])


def message_of(prompt: str) -> str:
    """The text of the last message in a prompt, without its marks."""
    messages = list(re.finditer(r"^MESSAGE [0-9a-f]+$", prompt, re.MULTILINE))
    return words_in(prompt[messages[-1].end() :]) if messages else ""
