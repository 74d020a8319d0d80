"""The grade: how likely a line is for somebody, from its cues, by a table of small trees.

The table (`grade_table`) is made by `tools/learn_dialogue.py`, which names the data. A tree is a leaf, a
whole number, or `[cue, most, left, right]`: left when the cue is at most that. Their sum, in thousandths, is
the logit of the confidence. A score of trees of a few steps: microseconds, no dependency.
"""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any, Final

from tacit.attention.read.grade_table import TABLE

if TYPE_CHECKING:
    from collections.abc import Sequence

_THOUSANDTHS: Final = 1000.0
trees: list[Any] = json.loads(TABLE)


def confidence(cues: Sequence[int]) -> float:
    """How likely the line is for the candidate, between 0 and 1."""
    total = 0
    for tree in trees:
        node = tree
        while node.__class__ is list:
            node = node[2] if cues[node[0]] <= node[1] else node[3]
        total += node
    return 1.0 / (1.0 + math.exp(-total / _THOUSANDTHS))
