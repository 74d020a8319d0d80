"""How a program of ours is started as a process of its own.

With Python's safe path: modules come from where Tacit is installed, and never from the current folder, where
a file named like a module of ours, or of a library's, would be run in its place.
"""

from __future__ import annotations

import sys


def own_program(module: str, *words: str) -> list[str]:
    """The command line that runs a module of ours under this Python."""
    return [sys.executable, "-P", "-m", module, *words]
