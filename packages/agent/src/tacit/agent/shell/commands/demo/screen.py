"""How `tacit agent demo` looks: one pane for each person, and between them what travels.

Rows are printed as they happen, so that it reads the same at a terminal of any height, in a file and in a
pipe; nothing is drawn over.
"""

from __future__ import annotations

import json
import sys
import textwrap
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import click

from tacit.agent.terminal.commands.values import BASES, plain, value_text
from tacit.base.commands.terminal import Terminal, styled

if TYPE_CHECKING:
    from pathlib import Path

Lines: TypeAlias = list[tuple[str, str]]
"""Each with its style."""
EMPTY: Final[Lines] = [("", "")]
WORDS: Final = {
    "specific_availability": "free times",
    "time_windows": "free times",
    "blackouts": "times that cannot be",
    "dietary": "dietary",
    "budget_range": "budget",
    "general_location_area": "area",
    "location_preference": "area",
    "timezone": "timezone",
    "event_type": "kind of event",
    "home_address": "home address",
    "health_info": "health",
    "availability_overlap": "the sums",
    "party_size": "how many",
    "participants": "who takes part",
}
TYPES: Final = {
    "context": "context",
    "context_request": "request",
    "context_response": "answer",
    "resolution": "proposal",
    "resolution_response": "yes",
}
"""What is shown of the post; the rest keeps both sides in step and says nothing of anybody."""
OWN: Final = "Part of what you asked for"
MIDDLE: Final = 12


class JsonScreen:
    """One line a step."""

    pace = 0.0

    def step(self, one: dict[str, Any]) -> None:
        """A step as it is."""
        click.echo(json.dumps(one, sort_keys=True))

    def end(self, kept: Path | None) -> None:
        """The last line."""
        click.echo(json.dumps({"step": "ended", "kept": str(kept) if kept is not None else None}))


def name_of(address: str) -> str:
    """Whose an address is."""
    return plain(address).removeprefix("agent:").partition("@")[0]


def word(field: str) -> str:
    """A field's name as people say it."""
    return WORDS.get(field, plain(field).replace("_", " "))


class ReadScreen(ABC):
    """What every screen for people has: a pace, the commands that were typed, and a last word."""

    def __init__(self) -> None:
        self.pace = 0.6 if sys.stdout.isatty() else 0.0
        self._out = Terminal()
        self._people: list[str] = []
        self._typed: list[tuple[str, str]] = []

    def step(self, one: dict[str, Any]) -> None:
        """A step, as this screen draws it."""
        if "command" in one:
            self._typed.append((one["who"], plain(one["command"])))
        if one["step"] == "began":
            self._people = [name_of(address) for address in one["people"]]
        self._draw(one)

    @abstractmethod
    def _draw(self, one: dict[str, Any]) -> None:
        """One step, in this screen's own way."""

    def _title(self, what: str, relay: str) -> None:
        self._out.print()
        self._out.print(f"{what} over a blind relay on this machine", style="bold")
        self._out.print(f"relay {relay}: carries sealed packets, can open none of them", style="dim")
        self._out.print()

    def end(self, kept: Path | None) -> None:
        """How to go on."""
        width = max(map(len, self._people), default=0)
        self._out.print()
        self._out.print("All that they had to say, as they would type it:", style="bold")
        for who, command in self._typed:
            self._out.print(f"  {who:<{width}} $ {command}")
        self._out.print()
        if kept is not None:
            self._out.print(f"Everything is in {kept}; look, for example, with")
            self._out.print(f"  tacit agent --data {kept}/{self._people[0]} threads --all")
            self._out.print(f"  tacit agent --data {kept}/{self._people[1]} disclosures")
        else:
            self._out.print(
                "All of it is gone again; `--keep DIR` leaves it for you to look at.", style="dim"
            )
        self._out.print("Your own: docs/agent.md, or `tacit agent --help`.", style="dim")


class PaneScreen(ReadScreen):
    """Two panes, Alice's on the left and Bob's on the right; the post goes between them."""

    def _draw(self, one: dict[str, Any]) -> None:
        match one["step"]:
            case "began":
                self._began(one)
            case "sent":
                self._sent(one)
            case "knows":
                self._both(*(known(name, found) for name, found in one["people"].items()))
            case "calendar":
                self._both(*(_entry(entry) for entry in one["entries"].values()))
            case "left":
                self._rule()
                self._both(*(left(name, found) for name, found in one["people"].items()))
            case _:
                lines = lines_of(one)
                self._both(*((lines, None) if one["who"] == self._people[0] else (None, lines)))

    def _began(self, one: dict[str, Any]) -> None:
        names = [plain(address).removeprefix("agent:") for address in one["people"]]
        self._title("A dinner, arranged by two agents", one["relay"])
        self._both([(names[0], "bold cyan")], [(names[1], "bold magenta")])
        self._rule()

    def _both(self, left: Lines | None, right: Lines | None, middle: Lines | None = None) -> None:
        self._print(left or EMPTY, middle or EMPTY, right or EMPTY)

    def _sent(self, one: dict[str, Any]) -> None:
        name = TYPES.get(one["type"])
        if name is None:
            return
        told = told_lines(one["left"])
        if one["who"] == self._people[0]:
            self._both(told, None, [(f"{name} ─▶", "yellow")])
        else:
            self._both(None, told, [(f"◀─ {name}", "yellow")])

    def _rule(self) -> None:
        pane = self._pane()
        self._out.print("┼".join(["─" * (pane + 1), "─" * (MIDDLE + 2), "─" * (pane + 1)]), style="dim")

    def _pane(self) -> int:
        return (max(70, min(self._out.width, 120)) - MIDDLE - 7) // 2

    def _print(self, left: Lines, middle: Lines, right: Lines) -> None:
        """One row, by lines: words wrap inside their pane, and later lines keep the indent of the first."""
        pane = self._pane()
        sizes = (pane, MIDDLE, pane)
        columns = [wrapped(cell, size) for cell, size in zip((left, middle, right), sizes, strict=True)]
        for number in range(max(map(len, columns))):
            cells = [column[number] if number < len(column) else ("", "") for column in columns]
            shown = [
                styled(text.center(size) if place == 1 else text.ljust(size), style)
                for place, ((text, style), size) in enumerate(zip(cells, sizes, strict=True))
            ]
            self._out.print(f" {styled('│', 'dim')} ".join(shown).rstrip())


def told_lines(left: dict[str, str]) -> Lines:
    """What a packet disclosed, by what allowed it."""
    by_basis: dict[str, list[str]] = {}
    for field, basis in left.items():
        by_basis.setdefault(basis, []).append(word(field))
    return [
        (f"→ {', '.join(fields)} ({BASES.get(basis, basis)})", "dim") for basis, fields in by_basis.items()
    ]


def wrapped(lines: Lines, width: int) -> Lines:
    """Lines broken at this width; later parts of one keep the indent of its first."""
    found: Lines = []
    for text, style in lines:
        indent = " " * (len(text) - len(text.lstrip()) + 2)
        broken = textwrap.wrap(text, width, subsequent_indent=indent, drop_whitespace=True) or [""]
        found += [(one, style) for one in broken]
    return found


def known(name: str, found: dict[str, Any]) -> Lines:
    """What somebody's agent was told beforehand."""
    told = [value_text(value) for key, value in found["profile"].items() if key != "timezone"]
    lines = [(f"{name.capitalize()}'s agent knows: {', '.join(told)}", "dim")]
    busy = [f"{what} on {day} {begin}-{end}" for day, begin, end, what in found["busy"]]
    return [*lines, (f"and from the calendar: {', '.join(busy)}", "dim")] if busy else lines


def _entry(entry: dict[str, Any]) -> Lines:
    """What stands in a calendar now."""
    where = f", {plain(entry['place'])}" if entry["place"] else ""
    return [("✓ in the calendar", "bold green"), (f"  {plain(entry['when'])}{where}", "green")]


def left(name: str, found: dict[str, Any]) -> Lines:
    """What left one person in all, and what did not."""
    lines: Lines = [(f"What left {name.capitalize()}", "bold")]
    told: dict[str, list[str]] = {}
    for row in found["disclosures"]:
        values = told.setdefault(word(row["field"]), [])
        text = value_text(row["value"])
        if text not in values:
            values.append(text)
    lines += [(f"  {field}: {', then '.join(values)}", "") for field, values in told.items()]
    if found["stayed"]:
        lines.append((f"What stayed: {', '.join(map(word, found['stayed']))}", "green"))
    return lines


def lines_of(one: dict[str, Any]) -> Lines:
    """What a pane says for a step."""
    name = one["who"].capitalize()
    match one["step"]:
        case "says":
            return [(f"{name}: “{plain(one['text'])}”", "bold")]
        case "asked":
            return _asked(one["question"])
        case "answers":
            said: list[str] = []
            if one.get("chooses"):
                said.append(f"{plain(one['chooses'])}, then; I move {plain(one['moves'])}")
            if one.get("confirms"):
                said.append("yes")
            if one.get("shares"):
                said.append("share " + ", ".join(map(word, one["shares"])))
            if one.get("keeps"):
                said.append("not " + ", ".join(map(word, one["keeps"])))
            text = "; ".join(said)
            return [(f"{name}: “{text[:1].upper()}{text[1:]}.”", "bold")]
        case "booked":
            return [("✓ table booked by Alice's agent", "bold green")]
        case other:
            return [(str(other), "")]


def _asked(question: dict[str, Any]) -> Lines:
    """A question as its person sees it."""
    if question["kind"] == "checkpoint":
        proposal = question["proposal"]
        who = "Your agent" if proposal["by"] == "us" else "Their agent"
        return [(f"? {who} proposes:", "yellow"), (f"  {plain(proposal['summary'])}", "yellow")]
    if question["kind"] == "escalation":
        lines = [(f"? {plain(question['about']['suggested_prompt'])}", "yellow")]
        lines.append((f"  {plain(question['about']['reason'])}", "dim"))
        return [
            *lines,
            *((f"  {number}: {plain(one)}", "yellow") for number, one in enumerate(question["choices"])),
        ]
    lines = [("? May this go?", "yellow")]
    for field in question["fields"]:
        values = ", ".join(value_text(value) for value in field["values"])
        lines.append((f"  {word(field['field'])}: {values}", "yellow"))
        if field["reason"] and field["reason"] != OWN:
            lines.append((f"    {plain(field['reason'])}", "dim"))
    return lines
