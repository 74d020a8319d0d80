"""What cannot be, as a field: blocked stretches inside the days that were asked about, and nothing else.

A2ACP-174, A2ACP-176, A2ACP-181. `within` is what an answer speaks of, `blocked` what of it cannot be: so
nothing counts as free that nobody spoke of, however differently two sides read the same words. It says as
much as free windows do, and no reason. Gaps that are too short for the purpose are blocked too.

`left` is what can be at all once all blackouts are in, `concerns` whom it concerns: only those are asked for
more. Knows nothing of threads or packets' ways.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, cast

from tacit.a2acp.packets import formats
from tacit.a2acp.packets.windows import ReadSpans, read_windows
from tacit.base.moment import merged, without

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from datetime import tzinfo

    from tacit.a2acp.packets.packet import Fields
    from tacit.agent.groups.aggregation import Window
    from tacit.base.moment import Moment, Span

FIELD: Final = "blackouts"
REASON: Final = "Need to know when it cannot be for you"
_WITHIN: Final = "within"
_BLOCKED: Final = "blocked"


def is_value(value: object) -> bool:
    """Whether a value says what cannot be, under whatever name."""
    return isinstance(value, dict) and _BLOCKED in value


def blocked_in(value: Any) -> Any:
    """What is blocked by a value; a bare list or text is what it says."""
    return value[_BLOCKED] if is_value(value) else value


def written(asked: Iterable[Span], free: Iterable[Span], zone: tzinfo) -> Fields:
    """The blackouts of somebody who has this free time in what was asked about."""
    free = merged(free)
    spoken_of = merged((*asked, *free))
    return {
        _WITHIN: formats.write_windows(spoken_of, zone),
        _BLOCKED: formats.write_windows(without(spoken_of, free), zone),
    }


def corrected(shown: object, blocked: Sequence[Span], zone: tzinfo) -> Fields:
    """The same in its owner's own words: blocked is what the owner says, of what the question spoke of."""
    before = cast("Fields", shown) if is_value(shown) else {}
    spoken_of = {_WITHIN: before[_WITHIN]} if _WITHIN in before else {}
    return {**spoken_of, _BLOCKED: formats.write_windows(blocked, zone)}


def read(
    value: object, asked: Sequence[Span], *, timezone: str | None, proposed_date: str | None, now: Moment
) -> ReadSpans:
    """The free time that blackouts leave; none while any of them cannot be read for certain.

    Without `within` they speak of what was `asked`; a bare list or text is blocked time.
    """
    said: Fields = cast("Fields", value) if is_value(value) else {_BLOCKED: value}

    def spans(part: Any) -> ReadSpans:
        return read_windows(part, timezone=timezone, proposed_date=proposed_date, now=now)

    blocked = spans(said[_BLOCKED])
    spoken_of = spans(said[_WITHIN]) if _WITHIN in said else ReadSpans(tuple(asked))
    if blocked.unclear or spoken_of.unclear:
        return ReadSpans(unclear=(*blocked.unclear, *spoken_of.unclear))
    return ReadSpans(without(spoken_of.spans, blocked.spans))


def come_first(wanted: Iterable[str]) -> bool:
    """Whether these fields are those of a first question, which asks for nothing but blackouts."""
    return FIELD in wanted


def left(windows: Sequence[Window], quorum: int) -> tuple[Window, ...]:
    """The windows that can be at all: for everybody who told a time, or for a quorum where there is one."""
    return tuple(one for one in windows if not one.missing or 0 < quorum <= one.count)


def concerns(member: str, windows: Iterable[Window]) -> bool:
    """Whether what somebody would say beyond times still matters: it could be there in one of these."""
    return any(member not in one.missing for one in windows)
