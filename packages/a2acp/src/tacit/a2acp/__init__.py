"""A2ACP for other programs: five jobs, each usable alone, and none that needs a model (A2ACP-262, A2ACP-263).

- `Line`: the relay connection: register, send, receive (`tacit.a2acp.io.line`).
- `packets`: building, checking and reading packets, and their JSON Schemas.
- `seal`: keys, safety numbers, sealing and opening.
- `tiers`: what may be shared with whom, and the filter that says so of a packet.
- `threads`: the states of a thread and what moves it.

`schemas()` and `vectors()` are the folders of JSON Schemas and of signed and encrypted test vectors, for
those who build their own. Names are imported when they are used: whoever seals does not pay for a connection.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from tacit.a2acp import packets, seal, threads, tiers
    from tacit.a2acp.io.data import schemas, vectors
    from tacit.a2acp.io.line import Line

__all__ = ["Line", "packets", "schemas", "seal", "threads", "tiers", "vectors"]

_NAMES: Final = {
    "Line": "tacit.a2acp.io.line",
    "schemas": "tacit.a2acp.io.data",
    "vectors": "tacit.a2acp.io.data",
}


def __getattr__(name: str) -> Any:
    if name in _NAMES:
        return getattr(importlib.import_module(_NAMES[name]), name)
    if name in __all__:
        return importlib.import_module(f"tacit.a2acp.{name}")
    raise AttributeError(name)
