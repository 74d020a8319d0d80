"""One line of English for every message, from its content alone.

Rows: CLOWL-071, CLOWL-072, CLOWL-073, CLOWL-074, CLOWL-075, Annex B. No value can forge a line or hide its
direction: control characters, line breaks and bidi marks are escaped, and names that are not plain are
quoted. Tokens are never printed. Knows nothing of tasks, clocks or locales.
"""

from __future__ import annotations

import json
import re
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from tacit.base.moment import SECOND, Moment, rfc3339
from tacit.language.message import ExtendedMessage
from tacit.language.tables import BROADCAST, ERROR_CODES, retryable

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    from tacit.language.findings import Reading
    from tacit.language.message import Message

_PLAIN: Final = re.compile(r"[A-Za-z0-9:._-]+")
_PLAIN_REF: Final = re.compile(r"[A-Za-z0-9:._~/?#@!$&*+=%,-]+")
# Cc, the line and paragraph separators, every bidi control, the byte order mark, and lone surrogates.
_UNSAFE: Final = re.compile(
    "[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff\ud800-\udfff]"
)
_SHORT_ESCAPES: Final = MappingProxyType({"\n": "\\n", "\r": "\\r", "\t": "\\t", "\b": "\\b", "\f": "\\f"})
_MAX_VALUE: Final = 200
_HASH_DIGITS: Final = 12


def english(message: Message, *, verbose: bool = False) -> str:
    """The reading of one message; `verbose` adds ids and time, never the token."""
    parts = [_SENTENCES[message.p](message), *_suffixes(message)]
    if verbose:
        parts.append(_metadata(message))
    return " ".join(parts)


def english_of(reading: Reading, *, verbose: bool = False) -> str:
    """The reading of what was received, valid or not; never raises (CLOWL-075)."""
    if reading.message is not None:
        return english(reading.message, verbose=verbose)
    first = reading.faults[0]
    more = len(reading.faults) - 1
    rest = f"; and {more} more" if more else ""
    return f"Invalid CLowl message: {reading.code} {safe(first.path)} {safe(first.reason)}{rest}."


def safe(text: str) -> str:
    """The text on one line, readable in one direction."""
    return _UNSAFE.sub(_escape, text)


def name(text: str) -> str:
    """An agent, an id or a task: as it is when plain, quoted otherwise."""
    return text if _PLAIN.fullmatch(text) else value(text)


def names(entries: Sequence[str]) -> str:
    """`a, b and c`."""
    quoted = [name(entry) for entry in entries]
    return quoted[0] if len(quoted) == 1 else f"{', '.join(quoted[:-1])} and {quoted[-1]}"


def value(item: object) -> str:
    """Any JSON value, compact and with sorted keys."""
    return safe(json.dumps(item, ensure_ascii=False, sort_keys=True, separators=(",", ":")))


def iso(ts: int) -> str:
    """`2024-02-28T00:01:01Z`; a time beyond the calendar stays a number."""
    try:
        return rfc3339(Moment(ts * SECOND))[:19] + "Z"
    except OverflowError:
        return str(ts)


def _escape(match: re.Match[str]) -> str:
    char = match[0]
    return _SHORT_ESCAPES.get(char) or f"\\u{ord(char):04x}"


def _text(text: str) -> str:
    """Free text inside a sentence: its own backslashes are doubled so that no escape can be imitated."""
    return safe(text.replace("\\", "\\\\"))


def _sentence(text: str) -> str:
    return _text(text.removesuffix("."))


def _data(data: Mapping[str, Any], without: Collection[str] = ()) -> str:
    printed = [f"{name(key)}={_cut(value(data[key]))}" for key in sorted(data) if key not in without]
    return f" ({'; '.join(printed)})" if printed else ""


def _cut(text: str) -> str:
    return text if len(text) <= _MAX_VALUE else text[:_MAX_VALUE] + "…"


def _recipients(message: Message) -> str:
    return "everyone" if message.to == BROADCAST else names(message.recipients)


def _simple(template: str) -> Callable[[Message], str]:
    def sentence(message: Message) -> str:
        return template.format(
            F=name(message.sender), R=_recipients(message), T=name(message.task), D=_data(message.data)
        )

    return sentence


def _err(message: Message) -> str:
    data = message.data
    code = data["code"]
    category = ERROR_CODES[code].category if code in ERROR_CODES else "Unknown"
    retry = data.get("retry", True) and retryable(code)
    rest = _data(data, ("code", "msg", "retry"))
    return (
        f"{name(message.sender)} reports to {_recipients(message)} that the task failed with {code} "
        f"({category}): {_sentence(data['msg'])}{rest}. Retry is {'possible' if retry else 'not possible'}."
    )


_DELEGATIONS: Final = MappingProxyType(
    {
        "transfer": "{F} hands {T} over to {R}, who now owns it{D}.",
        "fork": "{F} gives {T} to {R} to work on in parallel and continues itself{D}.",
        "assist": "{F} asks {R} to help with {T} and stays accountable{D}.",
    }
)


def _dlgt(message: Message) -> str:
    return _DELEGATIONS[message.data["delegation_mode"]].format(
        F=name(message.sender),
        R=_recipients(message),
        T=name(message.task),
        D=_data(message.data, ("delegation_mode",)),
    )


def _prog(message: Message) -> str:
    data = message.data
    parts = [f"{value(data['pct'])}% done"] if "pct" in data else []
    if data.get("note"):
        parts.append(_sentence(data["note"]))
    said = f": {', '.join(parts)}" if parts else ""
    rest = _data(data, ("pct", "note"))
    return f"{name(message.sender)} updates {_recipients(message)} on {name(message.task)}{said}{rest}."


def _caps(message: Message) -> str:
    supports = message.data["supports"]
    return (
        f"{name(message.sender)} announces to {_recipients(message)} that it speaks CLowl "
        f"{name(message.data['clowl'])} and supports {names(supports) if supports else 'nothing yet'}"
        f"{_data(message.data, ('supports', 'clowl'))}."
    )


_SENTENCES: Final[Mapping[str, Callable[[Message], str]]] = MappingProxyType(
    {
        "REQ": _simple("{F} asks {R} to do {T}{D}."),
        "INF": _simple("{F} informs {R} about {T}{D}; no action is expected."),
        "ACK": _simple("{F} confirms to {R} that it received {T} and is proceeding{D}."),
        "ERR": _err,
        "DLGT": _dlgt,
        "DONE": _simple("{F} tells {R} that {T} is finished{D}."),
        "CNCL": _simple("{F} tells {R} to abort {T}{D}."),
        "QRY": _simple("{F} asks {R} for status or information on {T}, without any action{D}."),
        "PROG": _prog,
        "CAPS": _caps,
    }
)


def _suffixes(message: Message) -> list[str]:
    parts: list[str] = []
    context = message.context
    if context is not None:
        if context.reference is not None:
            ref = context.reference
            parts.append(f"Context: {ref if _PLAIN_REF.fullmatch(ref) else value(ref)}.")
        if context.digest is not None:
            parts.append(f"Context hash: {context.digest[:_HASH_DIGITS]}.")
        if context.text is not None:
            parts.append(f"Inline context, {len(context.text)} characters.")
    if message.is_reproducible:
        parts.append("The result is declared reproducible.")
    if isinstance(message, ExtendedMessage):
        kept = sorted({**message.extra, **message.body_extra, **message.ctx_extra})
        parts.append(f"Members beyond v0.2: {names(kept)}.")
    return parts


def _metadata(message: Message) -> str:
    parts = [f"ts={iso(message.ts)}", f"mid={name(message.mid)}"]
    if message.parent is not None:
        parts.append(f"pid={name(message.parent)}")
    if message.trace is not None:
        parts.append(f"tid={name(message.trace)}")
    parts.append(f"cid={name(message.cid)}")
    # Two templates have no place for the task; only an unusual one is worth it.
    if (message.p, message.task) not in {("ERR", "error"), ("CAPS", "capabilities")} and message.p in {
        "ERR",
        "CAPS",
    }:
        parts.append(f"t={name(message.task)}")
    if message.auth:
        parts.append("auth=present")
    return f"[{' '.join(parts)}]"
