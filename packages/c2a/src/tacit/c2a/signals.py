"""Reaction signals: nine words, their glyphs, and what they settle.

Rows: C2A-124, C2A-125, C2A-126, C2A-127, C2A-128, C2A-129, C2A-130, C2A-131, C2A-132, C2A-133, C2A-134,
C2A-135, C2A-136, C2A-137, C2A-138, C2A-143, C2A-211, C2A-225.

The protocol carries the word; only the host knows the glyph. Outbound a signal becomes a `chat.reaction`
with `signal` beside the glyph; inbound `signal` leads and the glyph is the fallback. Knows nothing of
claims' owners.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, cast

from tacit.c2a.errors import Refusal, refusal
from tacit.c2a.vocabulary import Disposition

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, slots=True)
class Signal:
    """One signal: its name, default glyph, meaning, and the disposition that it sets."""

    name: str
    glyph: str
    meaning: str
    disposition: Disposition | None
    row: str


SIGNALS: Final[dict[str, Signal]] = {
    one.name: one
    for one in (
        Signal("seen", "\U0001f440", "read, no commitment", Disposition.ACKNOWLEDGED, "C2A-124"),
        Signal("agree", "\U0001f44d", "acknowledge or approve", Disposition.ACKNOWLEDGED, "C2A-125"),
        Signal("working", "\U0001f527", "on it now", Disposition.CLAIMED, "C2A-126"),
        Signal(
            "queued", "\U0001f550", "accepted, behind more important work", Disposition.DEFERRED, "C2A-127"
        ),
        Signal("claimed", "\u270b", "this agent owns it", Disposition.CLAIMED, "C2A-128"),
        Signal("done", "\u2705", "resolved", Disposition.RESPONDED, "C2A-129"),
        Signal(
            "declined", "\U0001f645", "not this agent, or it will not act", Disposition.IGNORED, "C2A-130"
        ),
        Signal("blocked", "\U0001f6a7", "cannot go on, needs input", Disposition.DEFERRED, "C2A-131"),
        Signal("unclear", "\u2753", "needs clarification", None, "C2A-132"),
    )
}
INBOUND: Final[dict[str, str]] = {"agree": "proceed", "declined": "revise", "done": "already handled"}
GLYPHS: Final[dict[str, str]] = {one.name: one.glyph for one in SIGNALS.values()}
LONGEST_GLYPH: Final = 32
"""Characters: a family with skin tones is eleven, a platform's `:name:` may be longer."""
_TONES: Final = {chr(code): "" for code in (*range(0x1F3FB, 0x1F400), 0xFE0F)}
_BARE: Final = str.maketrans(_TONES)
_BY_GLYPH: Final = {glyph: name for name, glyph in GLYPHS.items()}


def signal_of(data: Mapping[str, Any], glyphs: Mapping[str, str] = GLYPHS) -> str | None:
    """The signal behind a `chat.reaction`; None for an emoji that means nothing here."""
    named = data.get("signal")
    if isinstance(named, str):
        return named if named in glyphs else None
    emoji = data.get("emoji")
    if not isinstance(emoji, str):
        return None
    table = _BY_GLYPH if glyphs is GLYPHS else {glyph: name for name, glyph in glyphs.items()}
    return table.get(emoji) or table.get(emoji.translate(_BARE))


def reaction_data(
    event_id: str, session: str, signal: str, eta: str | None = None, glyphs: Mapping[str, str] = GLYPHS
) -> dict[str, object]:
    """The `chat.reaction` that carries a signal (C2A-211)."""
    data: dict[str, object] = {
        "event_id": event_id,
        "actor_id": session,
        "emoji": glyphs.get(signal, f"[{signal}]"),
        "signal": signal,
    }
    if eta is not None:
        data["eta"] = eta
    return data


def agreed_glyphs(
    wanted: Mapping[str, str], own: Mapping[str, Disposition | None] | None = None
) -> dict[str, str] | Refusal:
    """The glyphs of a workspace: the defaults with its replacements, all different (C2A-135).

    `own` declares further `x.<name>` signals with the disposition of each (C2A-225).
    """
    known = {*SIGNALS, *(name for name in own or {} if name.startswith("x.") and len(name) > 2)}
    if not set(wanted) <= known:
        return refusal("invalid_request", "a glyph is given to an unknown signal", "C2A-135")
    found = {**GLYPHS, **wanted}
    if len(set(found.values())) != len(found):
        return refusal("invalid_request", "two signals share one glyph", "C2A-135")
    return found


@dataclass(frozen=True, slots=True)
class AgreedSignals:
    """The signals of a connection: the glyph of each, and those beside the nine with what they settle."""

    glyphs: dict[str, str] = field(default_factory=lambda: GLYPHS)
    own: dict[str, Disposition | None] = field(default_factory=dict[str, Disposition | None])


USUAL: Final = AgreedSignals()


def agreed_signals(capabilities: Mapping[str, Any]) -> AgreedSignals | Refusal:
    """What `initialize` asks for: `reactionGlyphs` (C2A-135) and `ownSignals` (C2A-225), or why not.

    `reactionGlyphs` gives signals other glyphs; `ownSignals` declares `x.<name>` signals, each with `glyph`,
    `meaning` and a `disposition` or none. A fault rejects the greeting, and so the defaults stay.
    """
    wanted, declared = capabilities.get("reactionGlyphs"), capabilities.get("ownSignals")
    if wanted is None and declared is None:
        return USUAL
    if not isinstance(wanted or {}, dict) or not isinstance(declared or {}, dict):
        return refusal("invalid_request", "reactionGlyphs and ownSignals are objects", "C2A-135")
    glyphs = dict(cast("dict[str, object]", wanted or {}))
    own: dict[str, Disposition | None] = {}
    for name, given in cast("dict[str, object]", declared or {}).items():
        said = cast("dict[str, object]", given) if isinstance(given, dict) else {}
        settles = said.get("disposition")
        fits = settles is None or (isinstance(settles, str) and settles in set(Disposition))
        if not name.startswith("x.") or len(name) < 3 or not isinstance(said.get("meaning"), str) or not fits:
            return refusal(
                "invalid_request",
                "an own signal is x.<name>, with a glyph, a meaning and a disposition or none",
                "C2A-225",
                wrong=[f"ownSignals.{name}"],
            )
        own[name] = Disposition(settles) if isinstance(settles, str) else None
        glyphs.setdefault(name, said.get("glyph"))
    if not all(isinstance(glyph, str) and 0 < len(glyph) <= LONGEST_GLYPH for glyph in glyphs.values()):
        return refusal("invalid_request", "a glyph is a short text", "C2A-135")
    agreed = agreed_glyphs(cast("dict[str, str]", glyphs), own)
    return agreed if isinstance(agreed, Refusal) else AgreedSignals(agreed, own)


def known_signal(name: str, own: Mapping[str, Disposition | None] | None = None) -> Refusal | None:
    """Refuse a signal that is neither one of the nine nor declared (C2A-143, C2A-225)."""
    if name in SIGNALS or name in (own or {}):
        return None
    return refusal("invalid_request", "unknown signal", "C2A-143", remedy=f"use one of {', '.join(SIGNALS)}")
