"""What a thread is about, as a value: read out of a person's sentence or out of a counterpart's packet.

A2ACP-041, A2ACP-077, A2ACP-078, A2ACP-091. Everything that follows (which fields matter, what has to be
asked, which times are looked at) is computed from it. Knows nothing of who reads it or how.
"""

from __future__ import annotations

from typing import Any, Final

import msgspec

from tacit.base.moment import Span

MEETING: Final = "meeting"
HANDOVER: Final = "handover"
INFORMATION: Final = "information"

DURATION: Final = "duration"
"""Among a goal's details: the length that its owner named, which binds whoever proposes."""

REQUIRED: Final = "required"
HELPFUL: Final = "helpful"
NICE_TO_HAVE: Final = "nice_to_have"


class Need(msgspec.Struct, frozen=True):
    """A field that is asked of the other side, and why (A2ACP-035)."""

    field: str
    reason: str
    priority: str = HELPFUL


class Goal(msgspec.Struct, frozen=True, kw_only=True):
    """One thing to arrange."""

    kind: str
    category: str
    summary: str
    urgency: str = "normal"
    event_type: str = ""
    """`dinner`, `lunch`, `call`, …: the format of a meeting, where one was named."""
    spans: tuple[Span, ...] = ()
    """The stretches that were asked for, as wide as the words: nothing outside them is offered."""
    minutes: int = 0
    """How long it takes; 0 for what takes no time together."""
    place: str = ""
    flexibility: dict[str, str] = {}
    """Of a dimension (`date`, `time`, `location`, `format`): flexible, somewhat_flexible or not_flexible."""
    wants: tuple[Need, ...] = ()
    """What is needed of the other side, most important first."""
    offers: tuple[str, ...] = ()
    """Fields of our own that matter here, in the packets' words."""
    details: dict[str, Any] = {}
    """What the sentence says beyond that and may travel: `party_size`, `topic`, `duration`, `deadline`."""
    excluded: tuple[Span, ...] = ()
    """What was ruled out, within the weeks that may be looked at: no time of ours, whoever proposes it."""
    unclear: tuple[str, ...] = ()
    """What could not be read for certain, each as a question to whoever said it."""
    by_program: bool = False
    """Whether a program of the owner's asked for it: then nothing follows from the wish alone (A2ACP-266)."""
