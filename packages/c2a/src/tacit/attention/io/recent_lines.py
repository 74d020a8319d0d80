"""The last open lines of each conversation, for the questions that are asked there (C2A-223).

Only their places and ids are held, in the writer, which sees every line pass; what a line says is taken from
its newest form when a question goes out, so that an edit or a deletion counts at once. Nothing is held before
the first question: then the last messages of the group are looked through. May be lost at any time. Says when
it does not know enough: lines may lie further back than it looked.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from tacit.attention.decide.delivery import content
from tacit.attention.read.conversation import author_of, conversation_of
from tacit.c2a.messages import Earlier
from tacit.ledger.envelope import decode

if TYPE_CHECKING:
    from tacit.attention.io.archive import Archive
    from tacit.ledger.envelope import Event
    from tacit.ledger.ports import EventLookup
    from tacit.ledger.stored_event import StoredEvent

LOOKED_THROUGH: Final = 256
"""How many messages of a group are looked through when its first question is asked."""
SPARE: Final = 8
"""Lines that are held beyond those that go along: some are taken back later."""
MOST_PLACES: Final = 500
MOST_MADE: Final = 2_000


@dataclass(frozen=True, slots=True)
class LineSource:
    """Where lines are looked up."""

    archive: Archive
    lookup: EventLookup


class RecentLines:
    """One group's last lines."""

    def __init__(self) -> None:
        self._since: int | None = None
        """The position from which on every line is known; None before the first question."""
        self._most = 0
        """How many lines of a conversation are held: another measure, another look."""
        self._lines: dict[str, deque[tuple[int, str]]] = {}
        self._made: dict[str, Earlier] = {}

    def said(self, found: StoredEvent, event: Event) -> None:
        """A message was said."""
        if self._since is not None:
            self._hold(found, event)

    def before(self, place: str, seq: int, source: LineSource) -> tuple[Earlier, ...] | None:
        """The lines before a position, oldest first; None when there may be more than are known."""
        settings = source.archive.attention.settings
        if not settings.lines_before:
            return None
        if self._since is None or self._most != settings.lines_before + SPARE:
            self._look_through(source)
        held = self._lines.get(place, ())
        is_whole = self._since == 1 and len(held) < self._most
        chosen: list[Earlier] = []
        room = settings.lines_before_chars
        for at, event_id in reversed(held):
            line = self._line(at, event_id, source.archive) if at < seq else None
            room -= len(line.text) if line is not None else 0
            if room < 0 or len(chosen) == settings.lines_before:
                is_whole = bool(chosen)
                break
            if line is not None:
                chosen.append(line)
        return tuple(reversed(chosen)) if is_whole or len(chosen) == settings.lines_before else None

    def _look_through(self, source: LineSource) -> None:
        self._lines, self._most = {}, source.archive.attention.settings.lines_before + SPARE
        messages = source.lookup.messages(LOOKED_THROUGH)
        self._since = messages[0].seq if len(messages) == LOOKED_THROUGH else 1
        for found in messages:
            self._hold(found, decode(found.raw))

    def _hold(self, found: StoredEvent, event: Event) -> None:
        """Only what everybody may read and what stands in no thread."""
        if found.kind != "chat.message" or found.private or found.root:
            return
        place = conversation_of(event.data, event.by)
        if place.id not in self._lines and len(self._lines) >= MOST_PLACES:
            # Begin anew: from here on every line is known.
            self._lines, self._since = {}, found.seq
        lines = self._lines.setdefault(place.id, deque(maxlen=self._most))
        if not lines or lines[-1][0] < found.seq:
            lines.append((found.seq, found.event_id))

    def _line(self, seq: int, event_id: str, archive: Archive) -> Earlier | None:
        latest = archive.attention.versions.shown(event_id)
        if latest is None:
            self._made.pop(event_id, None)
            return None
        made = self._made.get(event_id)
        if made is not None and made.event_id == latest:
            return made
        form = archive.past.form(latest)
        if form is None:
            return None
        if len(self._made) >= MOST_MADE:
            self._made.clear()
        made = Earlier(latest, author_of(form), content(form.data), form.ts, seq).cut()
        self._made[event_id] = made
        return made
