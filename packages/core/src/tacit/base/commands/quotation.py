"""Somebody else's words at a terminal: data, and never anything that could be taken for ours (A2ACP-066).

In quotation marks, on one line, with codes for control and direction marks and for marks that stack on a
letter, without signs that our own lines begin with, 280 characters at most.
"""

from __future__ import annotations

import json
from typing import Final

from tacit.base.quoting import SHOWN_CHARS, one_line

LONGEST: Final = SHOWN_CHARS
LONGEST_LABEL: Final = 60
_LOOK_ALIKE: Final = str.maketrans({"“": "'", "”": "'", "│": "|", "»": ">", "›": ">", "★": "*"})  # noqa: RUF001


def clean(text: object) -> str:
    """Words in one line without marks that steer, that stack, or that look like ours."""
    said = text if isinstance(text, str) else json.dumps(text, ensure_ascii=False)
    return one_line(said).translate(_LOOK_ALIKE)


def quoted(text: object) -> str:
    """Somebody's words in quotation marks."""
    words = clean(text)
    return f"“{words[: LONGEST - 1]}…”" if len(words) > LONGEST else f"“{words}”"


def label(text: object) -> str:
    """The name of a field or an action, which somebody else may have chosen."""
    return clean(text)[:LONGEST_LABEL]
