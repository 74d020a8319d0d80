"""What an agent did in a turn, as people may watch it: bounded, coalesced, and summed up at the end.

The rule owned here: whatever a driver tells, a turn holds at most `MOST_ITEMS` things of `ITEM_BYTES` each
and `TURN_BYTES` in all, and one update at most `UPDATE_BYTES`; the oldest texts give way first, the things
that were done stay named. Secrets that the harness knows are struck out before anything is kept. Pure: no
clock, no file; who may see it is the hub's to say.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final

from tacit.harness.drivers.port import (
    ActivityKind,
    ActivityState,
    ObservedActivity,
    TextDelta,
    ToolEnded,
    ToolStarted,
    cut,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tacit.harness.drivers.port import TurnEvent

MOST_ITEMS: Final = 200
ITEM_BYTES: Final = 16_000
TURN_BYTES: Final = 192_000
UPDATE_BYTES: Final = 24_000
SUMMARY_COMMANDS: Final = 20
SUMMARY_FILES: Final = 50
SUMMARY_BYTES: Final = 200
STRUCK: Final = "[redacted]"
SHORTEST_SECRET: Final = 8
_TESTS: Final = re.compile(
    r"(^|[\s/;&|])(pytest|tox|nox|jest|vitest|rspec|phpunit|ctest|unittest"
    r"|(npm|pnpm|yarn|cargo|go|make|mvn|gradle|bun|deno|dotnet|swift|bazel)\s+(run\s+)?(test|check))\b"
)


@dataclass(frozen=True, slots=True)
class ActivityItem:
    """One thing that was done."""

    id: str
    kind: ActivityKind
    state: ActivityState = "running"
    title: str = ""
    text: str = ""
    files: tuple[str, ...] = ()
    exit_code: int | None = None
    cut: bool = False
    """Was text left out?"""

    def members(self) -> dict[str, Any]:
        """As on the wire and in the record; what is empty is left out."""
        said: dict[str, Any] = {
            "title": self.title,
            "text": self.text,
            "files": list(self.files),
            "cut": self.cut,
        }
        code = {} if self.exit_code is None else {"exitCode": self.exit_code}
        found = {name: value for name, value in said.items() if value}
        return {"id": self.id, "kind": self.kind, "state": self.state, **found, **code}


@dataclass(slots=True)
class TurnActivity:
    """The things of one turn, in the order in which they began."""

    secrets: tuple[str, ...] = field(default=(), repr=False)
    items: dict[str, ActivityItem] = field(default_factory=dict[str, ActivityItem])
    left_out: int = 0
    """Things beyond the most that are kept."""
    _changed: dict[str, None] = field(default_factory=dict[str, None])
    _sizes: dict[str, int] = field(default_factory=dict[str, int])
    _size: int = 0
    _texts: int = 0
    _speaking: str = ""

    # -- inputs

    def saw(self, event: TurnEvent) -> None:
        """What every driver tells: words, and calls by their names."""
        match event:
            case TextDelta(said):
                if not self._speaking:
                    self._texts += 1
                    self._speaking = f"text-{self._texts}"
                self.did(ObservedActivity(self._speaking, "text", text=said, appends=True))
            case ToolStarted(call_id, name):
                self._stop_speaking()
                if call_id not in self.items:
                    self.did(ObservedActivity(call_id, "tool", title=name))
            case ToolEnded(call_id, name, ok):
                known = self.items.get(call_id)
                if known is None:
                    self.did(ObservedActivity(call_id, "tool", "done" if ok else "failed", title=name))
                elif known.state == "running":
                    self.did(ObservedActivity(call_id, known.kind, "done" if ok else "failed"))

    def did(self, told: ObservedActivity) -> None:
        """Something more of a thing; what was not said stays as it stood."""
        if told.kind != "text":
            self._stop_speaking()
        known = self.items.get(told.id)
        if known is None:
            if len(self.items) >= MOST_ITEMS:
                self.left_out += 1
                return
            known = ActivityItem(told.id, told.kind)
        text = known.text + told.text if told.appends else told.text or known.text
        text, is_cut = self._bounded(told.kind, self._struck(text))
        state = known.state if known.state != "running" and told.state == "running" else told.state
        self._put(
            replace(
                known,
                kind=known.kind if known.kind != "tool" else told.kind,
                state=state,
                title=self._struck(told.title) or known.title,
                text=text,
                files=told.files or known.files,
                exit_code=told.exit_code if told.exit_code is not None else known.exit_code,
                cut=is_cut or (known.cut and told.appends) or (known.cut and not told.text),
            )
        )

    def ended(self, state: ActivityState) -> None:
        """The turn is over: what still ran did not come to its own end."""
        self._stop_speaking()
        for item in list(self.items.values()):
            if item.state == "running":
                self._put(replace(item, state="done" if item.kind in {"plan", "thought"} else state))

    def _stop_speaking(self) -> None:
        speaking, self._speaking = self._speaking, ""
        if speaking and (item := self.items.get(speaking)) is not None:
            self._put(replace(item, state="done"))

    def _put(self, item: ActivityItem) -> None:
        if self.items.get(item.id) == item:
            return
        self._store(item)
        for one in list(self.items.values()) if self._size > TURN_BYTES else ():
            if self._size <= TURN_BYTES:
                break
            if one.text and one.id != item.id:
                self._store(replace(one, text="", cut=True))

    def _store(self, item: ActivityItem) -> None:
        size = len(item.text.encode(errors="replace"))
        self._size += size - self._sizes.get(item.id, 0)
        self._sizes[item.id] = size
        self.items[item.id] = item
        self._changed[item.id] = None

    def _struck(self, text: str) -> str:
        return struck(text, self.secrets)

    @staticmethod
    def _bounded(kind: ActivityKind, text: str) -> tuple[str, bool]:
        """Of output and words the end is kept, of everything else the beginning."""
        data = text.encode(errors="replace")
        if len(data) <= ITEM_BYTES:
            return text, False
        if kind in {"command", "text", "thought"}:
            return data[-ITEM_BYTES:].decode(errors="ignore"), True
        return cut(text, ITEM_BYTES), True

    # -- what leaves

    @property
    def has_news(self) -> bool:
        """Has anything changed since the last update?"""
        return bool(self._changed)

    def update(self) -> list[dict[str, Any]]:
        """What changed, in order, as much as one update holds; the rest stays for the next."""
        found: list[dict[str, Any]] = []
        size = 0
        for item_id in [one for one in self.items if one in self._changed]:
            item = self.items[item_id]
            size += self._sizes[item_id] + len(item.title) + sum(map(len, item.files)) + 100
            if found and size > UPDATE_BYTES:
                break
            del self._changed[item_id]
            found.append(item.members())
        return found

    def tell_all(self) -> None:
        """Whoever listens knows nothing: everything is news again."""
        self._changed = dict.fromkeys(self.items)

    def snapshot(self) -> list[dict[str, Any]]:
        """Everything, as it stands."""
        return [item.members() for item in self.items.values()]

    def summary(self) -> dict[str, Any]:
        """The turn in a few lines: files, commands, tests. No output and no text of anybody's."""
        edits = [one for one in self.items.values() if one.kind == "edit" and one.state == "done"]
        commands = [one for one in self.items.values() if one.kind == "command"]
        files = dict.fromkeys(path for one in edits for path in one.files)
        lines = [_line(one) for one in commands]
        tests = [line for one, line in zip(commands, lines, strict=True) if _TESTS.search(one.title)]
        return {
            "files": [cut(one, SUMMARY_BYTES) for one in files][:SUMMARY_FILES],
            "file_count": len(files),
            "added": _count(edits, "+"),
            "removed": _count(edits, "-"),
            "commands": lines[:SUMMARY_COMMANDS],
            "command_count": len(commands),
            "tests": tests[-3:],
            "tools": sum(1 for one in self.items.values() if one.kind == "tool"),
        }


def struck(text: str, secrets: Sequence[str]) -> str:
    """The text without the secrets that the harness knows."""
    for secret in secrets:
        if len(secret) >= SHORTEST_SECRET:
            text = text.replace(secret, STRUCK)
    return text


def _line(item: ActivityItem) -> dict[str, Any]:
    ok = item.state == "done" and not item.exit_code
    return {"command": cut(item.title, SUMMARY_BYTES), "ok": ok}


def _count(edits: Sequence[ActivityItem], sign: str) -> int:
    head = sign * 3
    return sum(
        1
        for one in edits
        for line in one.text.splitlines()
        if line.startswith(sign) and not line.startswith(head)
    )
