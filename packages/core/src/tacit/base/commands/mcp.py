"""What both `tacit mcp` and `tacit agent mcp` say: how a client starts this command, and what is missing."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from tacit.base.install_hint import install_hint
from tacit.base.io.own_program import own_program


def mcp_missing(package: str) -> str:
    """What to say where the library for MCP is not installed, which is an extra of this package."""
    return f"MCP is not installed here; add it with: {install_hint(package, 'mcp')}"


def command_words() -> tuple[str, ...]:
    """This command, as a client can start it: one in a virtual environment is on few other programs' PATH."""
    program = shutil.which("tacit")
    if program is None:
        started = Path(sys.argv[0]).absolute()
        # Started as `python -m tacit`: the module is no program of its own.
        return tuple(own_program("tacit")) if started.name == "__main__.py" else (str(started),)
    return ("tacit" if sys.prefix == sys.base_prefix else str(Path(program).absolute()),)
