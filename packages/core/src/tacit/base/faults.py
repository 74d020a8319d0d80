"""A mistake of ours, told without its text: that may hold somebody's words, and logs hold none."""

from __future__ import annotations

import traceback


def place_of(fault: BaseException) -> str:
    """What kind of mistake it was, and where it came about."""
    steps = traceback.extract_tb(fault.__traceback__)
    if not steps:
        return type(fault).__name__
    return f"{type(fault).__name__} in {steps[-1].name}, line {steps[-1].lineno}"
