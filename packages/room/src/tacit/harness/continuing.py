"""Going on: the lines that an author adds in a channel without naming the agent again (C2A-083, C2A-086).

People write "@ada" and then the question, or a question and then its other half. Only the first line is aimed
at the agent; what the same author says next, before anybody else speaks and to nobody else, belongs to it.
Pure: the lines come from a look at the conversation.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from tacit.base.moment import Moment, parse_rfc3339
from tacit.c2a.vocabulary import ConversationKind, Mode

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tacit.c2a.messages import Delivered


def may_go_on(event: Delivered) -> bool:
    """Can more of it come without a name? A person's words in a channel or thread; a dm is aimed anyway."""
    return (
        event.author.kind == "human"
        and event.kind is not ConversationKind.DM
        and event.mode is Mode.BUFFERED
        and event.knock is None
        and event.signal is None
    )


def went_on(event: Delivered, said: Iterable[object], cap_ms: int) -> list[tuple[Moment, str]]:
    """The author's further lines, each with its time: until somebody else speaks, or the cap is reached."""
    found: list[tuple[Moment, str]] = []
    for item in said:
        line = cast("dict[str, Any]", item) if isinstance(item, dict) else {}
        at = parse_rfc3339(str(line.get("createdAt", "")))
        if int(line.get("sequence") or 0) <= event.sequence or at is None or line.get("deleted"):
            continue
        author = cast("dict[str, Any]", line.get("author") or {})
        late = at - event.created_at > cap_ms * 1000
        if author.get("id") != event.author.id or late or line.get("directedness") == "to_other":
            break
        if line.get("directedness") == "ambient" and isinstance(line.get("content"), str):
            found.append((at, str(line["content"])))
    return found
