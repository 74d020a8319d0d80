"""Why one window and not another, in words that name nobody's values (A2ACP-054, A2ACP-179, A2ACP-180).

Windows are told with how many can be there and who cannot; never with what anybody said. The draft's own keys
are filled beside ours.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final
from zoneinfo import ZoneInfo

from tacit.a2acp.packets.dates import wall
from tacit.agent.groups import aggregation
from tacit.base.moment import MINUTE

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tacit.agent.groups.aggregation import Aggregate, Window

PROPOSE: Final = "propose_best_window"
ASK_TO_BEND: Final = "ask_the_one_who_binds"
WINDOWS_TOLD: Final = 5
BINDING: Final = {aggregation.TIMES: "free time", aggregation.PLACES: "choice of area"}
"""What somebody would have to have more of, in words."""


def words(window: Window, zone: str) -> str:
    """`Friday 27 March 20:00-23:00`."""
    start, end = (wall(one, ZoneInfo(zone)) for one in window.span)
    return f"{start:%A} {start.day} {start:%B} {start:%H:%M}-{end:%H:%M}"


def attendance(window: Window, people: int) -> str:
    """How many can be there."""
    return f"all {people}" if window.count == people else f"{window.count} of {people}"


def trade_off(windows: Sequence[Window], people: int, zone: str) -> str:
    """What the first window has over the second, and what it costs."""
    if len(windows) < 2:
        return ""
    best, other = windows[0], windows[1]
    said = f"{words(best, zone)} suits {attendance(best, people)}"
    if other.count < best.count:
        longer = (other.length - best.length) // MINUTE
        but = f" but is {longer} minutes shorter than" if longer > 0 else ", against"
        return f"{said}{but} {words(other, zone)}, which suits {attendance(other, people)}"
    if other.length < best.length:
        return f"{said} and leaves more time than {words(other, zone)}"
    return f"{said}, as does {words(other, zone)}"


def overlap_told(found: Aggregate, statuses: Mapping[str, str], zone: str) -> dict[str, Any]:
    """The `aggregated_context` of a packet: derived, nobody's raw values (A2ACP-181)."""
    shown = found.windows[:WINDOWS_TOLD]
    people = max((one.count + len(one.missing) for one in shown), default=0)
    overlap: dict[str, Any] = {
        "windows": [
            {
                "window": words(one, zone),
                "available_count": one.count,
                "missing": list(one.missing),
            }
            for one in shown
        ]
    }
    for window, keys in zip(shown, _DRAFT, strict=False):
        overlap[keys[0]] = words(window, zone)
        overlap[keys[1]] = window.count
    if shown:
        overlap["missing"] = list(shown[0].missing)
    if told := trade_off(shown, people, zone):
        overlap["trade_off"] = told
    return {
        "participants": [{"agent": name, "status": status} for name, status in statuses.items()],
        "availability_overlap": overlap,
    }


_DRAFT: Final = (("best_window", "available_count"), ("second_best", "available_count_2"))
