"""`notifications/activity`: what an agent does in a turn, told while it does it; and the asking for it later.

Never chat, never in the ledger but for the summary. A value for each way, with every bound: a receiver takes
at most so many things of so many bytes, whatever it is sent, and knows no kind or state but these. The same
thing under the same id takes the place of what it was. Who may see it is not known here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, cast

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

TELL: Final = "notifications/activity"
WANT: Final = "notifications/activity_wanted"
KINDS: Final = frozenset({"command", "edit", "tool", "plan", "text", "thought"})
STATES: Final = frozenset({"running", "done", "failed", "refused"})
MOST_ITEMS: Final = 200
MOST_FILES: Final = 50
MOST_CARDS: Final = 5
TEXT_BYTES: Final = 16_000
TITLE_BYTES: Final = 2_000
NAME_BYTES: Final = 500


@dataclass(frozen=True, slots=True)
class Activity:
    """What changed in a turn since the last update, or a whole record in answer to `ActivityWanted`."""

    event_id: str
    turn: str = ""
    state: str = "running"
    """`running`, or `ended` with the last update."""
    update: int = 0
    """Counts the updates of a turn: who misses one asks for all."""
    items: tuple[Mapping[str, Any], ...] = ()
    summary: Mapping[str, Any] | None = None
    answers: str = ""
    """The request that this record answers."""
    cards: tuple[Mapping[str, Any], ...] = ()
    """In answer to a request: the turns that are kept, each with `turn`, `state` and `items`."""

    def members(self) -> dict[str, Any]:
        """As on the wire."""
        said: dict[str, Any] = {
            "turn": self.turn,
            "update": self.update,
            "items": list(self.items),
            "summary": self.summary,
            "answers": self.answers,
            "cards": list(self.cards),
        }
        found = {name: value for name, value in said.items() if value}
        return {"eventId": self.event_id, "state": self.state, **found}


@dataclass(frozen=True, slots=True)
class ActivityWanted:
    """Somebody wants to see what an agent did about an event, or to have it forgotten; to the harness."""

    event_id: str
    request: str
    forget: bool = False

    def members(self) -> dict[str, Any]:
        """As on the wire."""
        return {
            "eventId": self.event_id,
            "request": self.request,
            **({"forget": True} if self.forget else {}),
        }


def read_activity(params: Mapping[str, Any]) -> Activity | None:
    """The update in a notification, within its bounds; None when it is about nothing."""
    event_id = _text(params, "eventId", NAME_BYTES)
    if not event_id:
        return None
    summary = params.get("summary")
    return Activity(
        event_id,
        turn=_text(params, "turn", NAME_BYTES),
        state="ended" if params.get("state") == "ended" else "running",
        update=_count(params.get("update")),
        items=tuple(read_items(params.get("items"))),
        summary=read_summary(cast("dict[str, Any]", summary)) if isinstance(summary, dict) else None,
        answers=_text(params, "answers", NAME_BYTES),
        cards=tuple(_card(one) for one in _objects(params.get("cards"), MOST_CARDS)),
    )


def read_wanted(params: Mapping[str, Any]) -> ActivityWanted | None:
    """What is wanted."""
    event_id, request = _text(params, "eventId", NAME_BYTES), _text(params, "request", NAME_BYTES)
    if not event_id or not request:
        return None
    return ActivityWanted(event_id, request, params.get("forget") is True)


def read_items(given: object) -> list[dict[str, Any]]:
    """Things that were done, as many and as long as they may be; what is none of them is left out."""
    found: list[dict[str, Any]] = []
    for one in _objects(given, MOST_ITEMS):
        item_id, kind, state = _text(one, "id", NAME_BYTES), one.get("kind"), one.get("state")
        if not item_id or kind not in KINDS or state not in STATES:
            continue
        item: dict[str, Any] = {"id": item_id, "kind": kind, "state": state}
        for name, most in (("title", TITLE_BYTES), ("text", TEXT_BYTES)):
            if text := _text(one, name, most):
                item[name] = text
        if files := _texts(one.get("files")):
            item["files"] = files
        code = one.get("exitCode")
        if isinstance(code, int) and not isinstance(code, bool) and abs(code) < 2**31:
            item["exitCode"] = code
        if one.get("cut") is True:
            item["cut"] = True
        found.append(item)
    return found


def read_summary(given: Mapping[str, Any]) -> dict[str, Any]:
    """A turn in a few lines, as the ledger may keep it."""
    lines = {
        name: [
            {"command": _text(one, "command", 200), "ok": one.get("ok") is True}
            for one in _objects(given.get(name), 20)
        ]
        for name in ("commands", "tests")
    }
    counts = {
        name: _count(given.get(name))
        for name in ("file_count", "added", "removed", "command_count", "tools", "duration_ms")
    }
    cost = given.get("cost_usd")
    paid = (
        float(cost) if isinstance(cost, (int, float)) and not isinstance(cost, bool) and cost >= 0 else None
    )
    ended = _text(given, "ended", 40)
    return {"files": _texts(given.get("files")), **lines, **counts, "cost_usd": paid, "ended": ended}


def _card(given: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "turn": _text(given, "turn", NAME_BYTES),
        "state": "ended" if given.get("state") == "ended" else "running",
        "items": read_items(given.get("items")),
    }


def _objects(given: object, most: int) -> Sequence[dict[str, Any]]:
    rows = cast("list[object]", given)[:most] if isinstance(given, list) else []
    return [cast("dict[str, Any]", one) for one in rows if isinstance(one, dict)]


def _texts(given: object) -> list[str]:
    rows = cast("list[object]", given)[:MOST_FILES] if isinstance(given, list) else []
    return [one[:NAME_BYTES] for one in rows if isinstance(one, str)]


def _text(given: Mapping[str, Any], name: str, most: int) -> str:
    found = given.get(name)
    if not isinstance(found, str):
        return ""
    data = found.encode(errors="replace")
    return found if len(data) <= most else data[:most].decode(errors="ignore")


def _count(value: object) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**53 else 0
