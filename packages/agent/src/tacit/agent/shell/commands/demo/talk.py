"""How `tacit agent demo --people 4` looks: one column of who, and beside it what is said, asked and sent.

Four panes fit no terminal; a transcript does. What goes to several at once is one row.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from tacit.agent.shell.commands.demo.screen import (
    TYPES,
    ReadScreen,
    known,
    left,
    lines_of,
    name_of,
    told_lines,
    wrapped,
)
from tacit.agent.terminal.commands.values import plain
from tacit.base.commands.terminal import styled

if TYPE_CHECKING:
    from tacit.agent.shell.commands.demo.screen import Lines

COLOURS: Final = ("cyan", "magenta", "blue", "green")
WHO: Final = 8


class TalkScreen(ReadScreen):
    """A transcript: a row for each step, with its person in front."""

    def __init__(self) -> None:
        super().__init__()
        self._held: list[dict[str, Any]] = []

    def _draw(self, one: dict[str, Any]) -> None:
        if one["step"] == "sent":
            if one["type"] in TYPES:
                self._hold(one)
            return
        self._flush()
        match one["step"]:
            case "began":
                self._title(f"A game night, arranged by {len(self._people)} agents", one["relay"])
            case "knows" | "left":
                draw = known if one["step"] == "knows" else left
                for name, found in one["people"].items():
                    self._row(name, draw(name, found))
                self._out.print()
            case "calendar":
                for name, entry in one["entries"].items():
                    self._row(name, [(f"✓ in the calendar: {plain(entry['when'])}", "bold green")])
                self._out.print()
            case "sums":
                self._row(one["who"], _sums(one, len(self._people)))
            case _:
                spoken = f"{one['who'].capitalize()}: "
                self._row(one["who"], [(text.removeprefix(spoken), style) for text, style in lines_of(one)])

    def _hold(self, one: dict[str, Any]) -> None:
        """Wait whether the same goes to somebody else too."""
        if self._held and any(self._held[0][key] != one[key] for key in ("who", "type", "left")):
            self._flush()
        self._held.append(one)

    def _flush(self) -> None:
        held, self._held = self._held, []
        if held:
            to = ", ".join(plain(one["to"]) for one in held)
            self._row(held[0]["who"], [(f"─▶ {to}: {TYPES[held[0]['type']]}", "yellow")])
            self._row("", told_lines(held[0]["left"]))

    def _row(self, who: str, lines: Lines) -> None:
        width = max(40, min(self._out.width, 110) - WHO - 3)
        place = self._people.index(who) if who in self._people else 0
        for number, (text, style) in enumerate(wrapped(lines, width) if lines else ()):
            front = styled(f"{who if number == 0 else '':<{WHO}}", COLOURS[place % len(COLOURS)])
            self._out.print(f"{front} {styled('│', 'dim')} {styled(text, style)}".rstrip())


def _sums(one: dict[str, Any], people: int) -> Lines:
    """What the answers come to, and who stands in the way."""
    lines: Lines = [("the answers so far, added up:", "bold")]
    for window in one["windows"]:
        missing = [name_of(each) for each in window["missing"]]
        without = f", without {', '.join(missing)}" if missing else ""
        lines.append((f"  {plain(window['window'])}: {window['available_count']} of {people}{without}", ""))
    if one["binding"]:
        binds = name_of(one["binding"]["agent"]).capitalize()
        lines.append((f"  with {binds} it would be one more: {binds} is asked, nobody else", "yellow"))
    return lines
