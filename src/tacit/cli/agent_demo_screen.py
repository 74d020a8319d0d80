"""How `tacit agent demo` looks: one pane for each person, and between them what travels.

Rows are printed as they happen, so that it reads the same at a terminal of any height, in a file and in a
pipe; nothing is drawn over.
"""

from __future__ import annotations

import json
import sys
import textwrap
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import click

from tacit.cli.arrange_show import BASES, plain, value_text
from tacit.cli.terminal import Terminal, styled

if TYPE_CHECKING:
    from pathlib import Path

Lines: TypeAlias = list[tuple[str, str]]
"""Each with its style."""
EMPTY: Final[Lines] = [("", "")]
WORDS: Final = {
    "specific_availability": "free times",
    "time_windows": "free times",
    "dietary": "dietary",
    "budget_range": "budget",
    "general_location_area": "area",
    "location_preference": "area",
    "timezone": "timezone",
    "event_type": "kind of event",
    "home_address": "home address",
    "health_info": "health",
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


def _word(field: str) -> str:
    return WORDS.get(field, plain(field).replace("_", " "))


class PaneScreen:
    """Two panes, Alice's on the left and Bob's on the right; the post goes between them."""

    def __init__(self) -> None:
        self.pace = 0.6 if sys.stdout.isatty() else 0.0
        self._out = Terminal()
        self._left = ""
        self._typed: list[str] = []

    def step(self, one: dict[str, Any]) -> None:
        """A step as a row."""
        if "command" in one:
            self._typed.append(f"{one['who']:<6} $ {plain(one['command'])}")
        match one["step"]:
            case "began":
                self._began(one)
            case "sent":
                self._sent(one)
            case "knows":
                self._both(*(_known(name, found, one["day"]) for name, found in one["people"].items()))
            case "calendar":
                self._both(*(_entry(entry) for entry in one["entries"].values()))
            case "left":
                self._rule()
                self._both(*(_left(name, found) for name, found in one["people"].items()))
            case _:
                lines = _lines(one)
                self._both(*((lines, None) if one["who"] == self._left else (None, lines)))

    def _began(self, one: dict[str, Any]) -> None:
        names = [plain(address).removeprefix("agent:") for address in one["people"]]
        self._left = names[0].partition("@")[0]
        self._out.print()
        self._out.print("A dinner, arranged by two agents over a blind relay on this machine", style="bold")
        self._out.print(f"relay {one['relay']}: carries sealed packets, can open none of them", style="dim")
        self._out.print()
        self._both([(names[0], "bold cyan")], [(names[1], "bold magenta")])
        self._rule()

    def _both(self, left: Lines | None, right: Lines | None, middle: Lines | None = None) -> None:
        self._print(left or EMPTY, middle or EMPTY, right or EMPTY)

    def _sent(self, one: dict[str, Any]) -> None:
        name = TYPES.get(one["type"])
        if name is None:
            return
        by_basis: dict[str, list[str]] = {}
        for field, basis in one["left"].items():
            by_basis.setdefault(basis, []).append(_word(field))
        told = [
            (f"→ {', '.join(fields)} ({BASES.get(basis, basis)})", "dim")
            for basis, fields in by_basis.items()
        ]
        if one["who"] == self._left:
            self._both(told, None, [(f"{name} ─▶", "yellow")])
        else:
            self._both(None, told, [(f"◀─ {name}", "yellow")])

    def _rule(self) -> None:
        pane = self._pane()
        self._out.print("┼".join(["─" * (pane + 1), "─" * (MIDDLE + 2), "─" * (pane + 1)]), style="dim")

    def _pane(self) -> int:
        return (max(70, min(self._out.console.width, 120)) - MIDDLE - 7) // 2

    def _print(self, left: Lines, middle: Lines, right: Lines) -> None:
        """One row, by lines: words wrap inside their pane, and later lines keep the indent of the first."""
        pane = self._pane()
        sizes = (pane, MIDDLE, pane)
        columns = [_wrapped(cell, size) for cell, size in zip((left, middle, right), sizes, strict=True)]
        for number in range(max(map(len, columns))):
            cells = [column[number] if number < len(column) else ("", "") for column in columns]
            shown = [
                styled(text.center(size) if place == 1 else text.ljust(size), style)
                for place, ((text, style), size) in enumerate(zip(cells, sizes, strict=True))
            ]
            self._out.print(f" {styled('│', 'dim')} ".join(shown).rstrip())

    def end(self, kept: Path | None) -> None:
        """How to go on."""
        self._out.print()
        self._out.print("All that the two of them had to say, as they would type it:", style="bold")
        for line in self._typed:
            self._out.print(f"  {line}")
        self._out.print()
        if kept is not None:
            self._out.print(f"Everything is in {kept}; look, for example, with")
            self._out.print(f"  tacit agent --data {kept}/alice threads --all")
            self._out.print(f"  tacit agent --data {kept}/bob disclosures")
        else:
            self._out.print(
                "All of it is gone again; `--keep DIR` leaves it for you to look at.", style="dim"
            )
        self._out.print("Your own: docs/agent.md, or `tacit agent --help`.", style="dim")


def _wrapped(lines: Lines, width: int) -> Lines:
    found: Lines = []
    for text, style in lines:
        indent = " " * (len(text) - len(text.lstrip()) + 2)
        broken = textwrap.wrap(text, width, subsequent_indent=indent, drop_whitespace=True) or [""]
        found += [(one, style) for one in broken]
    return found


def _known(name: str, found: dict[str, Any], day: str) -> Lines:
    begin, end, what = found["busy"]
    told = [value_text(value) for key, value in found["profile"].items() if key != "timezone"]
    return [
        (f"{name.capitalize()}'s agent knows: {', '.join(told)}", "dim"),
        (f"and from the calendar: {what} on {day} {begin}-{end}", "dim"),
    ]


def _entry(entry: dict[str, Any]) -> Lines:
    """What stands in a calendar now."""
    where = f", {plain(entry['place'])}" if entry["place"] else ""
    return [("✓ in the calendar", "bold green"), (f"  {plain(entry['when'])}{where}", "green")]


def _left(name: str, found: dict[str, Any]) -> Lines:
    """What left one person in all, and what did not."""
    lines: Lines = [(f"What left {name.capitalize()}", "bold")]
    seen: set[str] = set()
    for row in found["disclosures"]:
        if row["field"] not in seen:
            seen.add(row["field"])
            lines.append((f"  {_word(row['field'])}: {value_text(row['value'])}", ""))
    if found["stayed"]:
        lines.append((f"What stayed: {', '.join(map(_word, found['stayed']))}", "green"))
    return lines


def _lines(one: dict[str, Any]) -> Lines:
    """What a pane says for a step."""
    name = one["who"].capitalize()
    match one["step"]:
        case "says":
            return [(f"{name}: “{plain(one['text'])}”", "bold")]
        case "asked":
            return _asked(one["question"])
        case "answers":
            said: list[str] = []
            if one.get("confirms"):
                said.append("yes")
            if one.get("shares"):
                said.append("share " + ", ".join(map(_word, one["shares"])))
            if one.get("keeps"):
                said.append("not " + ", ".join(map(_word, one["keeps"])))
            return [(f"{name}: “{'; '.join(said).capitalize()}.”", "bold")]
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
    lines = [("? May this go?", "yellow")]
    for field in question["fields"]:
        values = ", ".join(value_text(value) for value in field["values"])
        lines.append((f"  {_word(field['field'])}: {values}", "yellow"))
        if field["reason"] and field["reason"] != OWN:
            lines.append((f"    {plain(field['reason'])}", "dim"))
    return lines
