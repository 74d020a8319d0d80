"""The compose window: people type in pieces, an agent waits and reads once.

Rows: C2A-083, C2A-084, C2A-085, C2A-086, C2A-087, C2A-188, C2A-221. Fragments of one author in one
conversation gather until the author is quiet, typing or not, up to a cap. The newest carries the turn, the
others are superseded. A fragment that comes before anything was sent restarts the turn. Values only; whoever
holds the window asks `closes_at` and supplies the time.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final

from tacit.attention.settings import DEFAULTS, Settings
from tacit.base.moment import Moment
from tacit.c2a.vocabulary import EXPOSURE, STRENGTH, Mode, Policy

MS: Final = 1000


@dataclass(frozen=True, slots=True)
class Fragment:
    """One message in the making of a turn."""

    event_id: str
    author: str
    conversation: str
    text: str
    at: Moment
    policy: Policy = Policy.MUST_RESPOND
    mode: Mode = Mode.BUFFERED
    deadline_at: Moment | None = None


@dataclass(frozen=True, slots=True)
class Window:
    """An open window: the fragments so far and the last sign of life of their author."""

    fragments: tuple[Fragment, ...]
    last_sign: Moment
    typing: bool = False

    @property
    def first(self) -> Fragment:
        """The fragment that opened it."""
        return self.fragments[0]


@dataclass(frozen=True, slots=True)
class ComposedTurn:
    """What a model gets: one text, one carrier, the strongest policy and the earliest deadline."""

    carrier: str
    superseded: tuple[str, ...]
    text: str
    policy: Policy
    mode: Mode
    deadline_at: Moment | None


def opened(fragment: Fragment) -> Window:
    """A window with its first fragment."""
    return Window((fragment,), fragment.at)


def accepts(window: Window, fragment: Fragment, settings: Settings = DEFAULTS) -> bool:
    """Does a fragment belong here? Same author, same place, before the window closed."""
    same = (fragment.author, fragment.conversation) == (window.first.author, window.first.conversation)
    return same and fragment.at < closes_at(window, settings)


def added(window: Window, fragment: Fragment) -> Window:
    """The window with one more fragment; writing it ended the typing. A repeat changes nothing."""
    if any(known.event_id == fragment.event_id for known in window.fragments):
        return window
    return Window((*window.fragments, fragment), Moment(max(window.last_sign, fragment.at)))


def edited(window: Window, old: str, fragment: Fragment) -> Window:
    """An edit before injection takes its original's place (C2A-185)."""
    kept = tuple(fragment if known.event_id == old else known for known in window.fragments)
    return replace(window, fragments=kept, last_sign=Moment(max(window.last_sign, fragment.at)))


def typed(window: Window, at: Moment, *, typing: bool = True) -> Window:
    """The author types, or has stopped: both restart the wait; while typing the window stays open.

    Row C2A-084.
    """
    return replace(window, last_sign=Moment(max(window.last_sign, at)), typing=typing)


def closes_at(window: Window, settings: Settings = DEFAULTS) -> Moment:
    """When the window closes if nothing more happens."""
    cap = Moment(window.first.at + settings.compose_cap_ms * MS)
    if window.typing:
        return cap
    return Moment(min(cap, window.last_sign + settings.compose_quiet_ms * MS))


def merged(window: Window) -> ComposedTurn:
    """The turn that the fragments make."""
    fragments = window.fragments
    deadlines = [one.deadline_at for one in fragments if one.deadline_at is not None]
    return ComposedTurn(
        fragments[-1].event_id,
        tuple(one.event_id for one in fragments[:-1]),
        "\n".join(one.text for one in fragments),
        max((one.policy for one in fragments), key=STRENGTH.index),
        max((one.mode for one in fragments), key=EXPOSURE.index),
        min(deadlines) if deadlines else None,
    )


class Late(StrEnum):
    """What a fragment does that comes when the turn already runs."""

    RESTART = "restart"
    WAIT = "wait"


def late_fragment(*, sent: bool, side_effects: bool, restarts: int, settings: Settings = DEFAULTS) -> Late:
    """Restart with merged content while nothing has left the house; else it waits for a turn of its own."""
    if sent or side_effects or restarts >= settings.compose_restarts:
        return Late.WAIT
    return Late.RESTART
