"""Two replicas compared after a reconnect: only what is missing travels (A2ACP-200, A2ACP-201).

Two that were found alike, and in which neither has written anything since, are not compared again for a day.

A member tells another which versions it holds of what that other wrote: `field_versions`. The other sends
what is missing of its own, and tells the same in turn. So a comparison is between two and names nothing of a
third's. Where one holds more of the other's than the other has itself, that one was restored from a backup,
and wants its own back.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any, Final

from tacit.agent.spaces.fields import MOST_FIELDS, is_path
from tacit.agent.spaces.merge import Version, version
from tacit.base.moment import SECOND, parse_rfc3339, rfc3339

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from tacit.a2acp.packets.bodies import PacketFieldVersion
    from tacit.agent.spaces.state import Cell, Member
    from tacit.base.moment import Moment

ANSWERED: Final = 6
WITHIN: Final = 60 * SECOND
"""So many comparisons of one member are answered within that time: a replica that was restored compares
itself a moment after its former self did."""


AGAIN: Final = 24 * 3600 * SECOND
"""After so long replicas are compared although nothing says that they differ."""


def digest(written: Mapping[str, Mapping[str, Cell]]) -> str:
    """A digest of what members wrote: by member and path, the versions."""
    lines = [
        f"{author} {path} {cell.v} {int(cell.at)}"
        for author, cells in sorted(written.items())
        for path, cell in sorted(cells.items())
    ]
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()


def is_due(member: Member, digest_now: str, now: Moment) -> bool:
    """Whether a member's replica is to be compared with ours after a reconnect."""
    if member.agreed != digest_now or member.agreed_at is None:
        return True
    return not 0 <= now - member.agreed_at < AGAIN


def field_versions(held: Iterable[tuple[str, Cell]], author: str) -> dict[str, Any]:
    """Which versions a replica holds of what one author wrote."""
    return {
        path: {"v": cell.v, "at": rfc3339(cell.at), "by": cell.by} for path, cell in held if cell.by == author
    }


def read_versions(said: Mapping[str, PacketFieldVersion], author: str) -> dict[str, Version] | None:
    """The versions that a member says it holds of an author's; None for what is none."""
    if len(said) > MOST_FIELDS:
        return None
    versions: dict[str, Version] = {}
    for path, known in said.items():
        moment = parse_rfc3339(known.at)
        if not is_path(path) or moment is None:
            return None
        versions[path] = Version(known.v, moment, author)
    return versions


def lacking(held: Iterable[tuple[str, Cell]], theirs: Mapping[str, Version], me: str) -> list[str]:
    """Which of our own fields another lacks, or holds an older version of."""
    return sorted(
        path for path, cell in held if cell.by == me and (path not in theirs or theirs[path] < version(cell))
    )


def lost(held: Mapping[str, Cell], theirs: Mapping[str, Version]) -> list[str]:
    """What another holds of ours that we lack ourselves: a former self of ours wrote it."""
    return sorted(path for path, told in theirs.items() if path not in held or version(held[path]) < told)


def may_answer(answered: tuple[Moment, ...], now: Moment) -> bool:
    """Whether one more comparison is answered."""
    return sum(1 for at in answered if now - at < WITHIN) < ANSWERED


def after_answer(answered: tuple[Moment, ...], now: Moment) -> tuple[Moment, ...]:
    """When comparisons were answered, this one among them."""
    return (*answered, now)[-ANSWERED:]
