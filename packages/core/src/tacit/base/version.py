"""Which version of Tacit is installed: all of its packages have one.

Read once, from the name of the record that the installer left: `importlib.metadata` says the same, and takes
as long as a whole command.
"""

from __future__ import annotations

import sys
from functools import cache
from pathlib import Path
from typing import Final

from tacit.base.errors import Unavailable

_BEFORE: Final = "tacit_core-"
_AFTER: Final = ".dist-info"


@cache
def version() -> str:
    """The version of this installation."""
    for folder in sys.path:
        for record in Path(folder or ".").glob(f"{_BEFORE}*{_AFTER}"):
            return record.name.removeprefix(_BEFORE).removesuffix(_AFTER)
    raise Unavailable("this copy of Tacit was not installed: its version is not known")
