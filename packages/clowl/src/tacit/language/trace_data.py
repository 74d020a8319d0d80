"""A trace as plain data, for programs (CLOWL-079). Tokens are not in it: `reconstruct` took them out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from tacit.language.english import english
from tacit.language.message import to_value

if TYPE_CHECKING:
    from tacit.language.trace import Chronicle, Tree


def chronicle_value(chronicle: Chronicle) -> dict[str, Any]:
    """Everything, as JSON values."""
    return {
        "traces": [tree_value(tree) for tree in chronicle.traces.values()],
        "conversations": [tree_value(tree) for tree in chronicle.conversations.values()],
        "violations": msgspec.to_builtins(chronicle.violations),
        "owed": msgspec.to_builtins(chronicle.owed),
    }


def tree_value(tree: Tree) -> dict[str, Any]:
    """One trace or conversation, as JSON values."""
    return {
        "id": tree.id,
        "started": tree.started,
        "duration": tree.duration,
        "agents": list(tree.agents),
        "conversations": list(tree.conversations),
        "tree": [
            {
                "mid": entry.mid,
                "depth": entry.depth,
                "flags": list(entry.flags),
                "message": to_value(entry.message) if entry.message else None,
                "english": english(entry.message) if entry.message else None,
            }
            for entry in tree.entries
        ],
        "tasks": [
            {**msgspec.to_builtins(task), "duration": task.duration, "is_open": task.is_open}
            for task in tree.tasks
        ],
        "violations": msgspec.to_builtins(tree.violations),
        "owed": msgspec.to_builtins(tree.owed),
    }
