"""Who else writes in an agent's folder: told to both, at join and with each turn.

Each agent's state folder says where it works (`place.json`), and its lock whether it runs. Two that run, may
write, and have one folder inside the other share it. Knows agents of this machine and account alone.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast

from tacit.base.io.folder_lock import is_held
from tacit.base.quoting import set_off, single_line

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

PLACE: Final = "place.json"


def write_place(state: Path, name: str, directory: str | None, *, writes: bool) -> None:
    """Say where an agent works, and whether it may change anything there."""
    state.mkdir(parents=True, exist_ok=True, mode=0o700)
    fresh = state / (PLACE + ".new")
    fresh.write_text(json.dumps({"name": name, "directory": directory, "writes": writes}), encoding="utf-8")
    fresh.replace(state / PLACE)


def _place(state: Path) -> tuple[str, Path] | None:
    """Name and folder of an agent that writes; None of any other."""
    try:
        said = cast("dict[str, Any]", json.loads((state / PLACE).read_text(encoding="utf-8")))
    except (OSError, ValueError):
        return None
    directory = said.get("directory")
    if not said.get("writes") or not isinstance(directory, str):
        return None
    return str(said.get("name")), Path(directory).resolve()


def sharers(state: Path, roots: Iterable[Path], starting: Collection[Path] = ()) -> list[str]:
    """The running agents that write where this one does; `roots` hold state folders by group and name.

    Those that are `starting` count as running.
    """
    mine = _place(state)
    if mine is None:
        return []
    found: set[str] = set()
    for path in (path for root in {*roots} for path in root.glob(f"*/*/{PLACE}")):
        other = _place(path.parent)
        if other is None or path.parent.resolve() == state.resolve():
            continue
        if path.parent not in starting and not is_held(path.parent):
            continue
        if mine[1].is_relative_to(other[1]) or other[1].is_relative_to(mine[1]):
            found.add(other[0])
    return sorted(found)


def warning(name: str, directory: str | None, others: list[str]) -> str:
    """For people, in one sentence; empty when the agent is alone there."""
    if not others:
        return ""
    who = ", ".join([name, *others[:-1]]) + f" and {others[-1]}"
    return (
        f"{who} all write in {directory}: they can overwrite each other's work; "
        "--worktree gives each a branch and a folder of its own"
    )


def note(state: Path, roots: Iterable[Path]) -> str:
    """For the agent's model, before a turn; empty when it is alone."""
    others = sharers(state, roots)
    if not others:
        return ""
    return (
        f"These work in this folder too, at the same time:\n{set_off(single_line(', '.join(others), 400))}\n"
        "Before you change a file, claim its path with chat_claim; if another has it, leave it alone."
    )
