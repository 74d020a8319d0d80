"""Injection modes: what each shows, and the way down when a harness cannot take one.

Rows: C2A-021, C2A-026, C2A-036, C2A-079, C2A-081, C2A-083, C2A-088, C2A-091, C2A-092, C2A-094, C2A-095. The
host picks; a harness may lower exposure and never raise it. An obligation that would end below a knock is not
delivered at all but escalated. Knows nothing of connections.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from tacit.attention.decide.decision import Decision, Rule
from tacit.c2a.vocabulary import EXPOSURE, Mode, Policy

STEPS: Final[dict[Mode, Mode]] = {
    Mode.IMMEDIATE: Mode.BUFFERED,
    Mode.BUFFERED: Mode.NOTIFY,
    Mode.NOTIFY: Mode.TOOL_MAILBOX,
    Mode.DIGEST: Mode.TOOL_MAILBOX,
}
STEPPED: Final = Rule("mode.step_down", "C2A-026", "the agent's harness cannot take it otherwise")
TOO_LOW: Final = Rule(
    "mode.too_low", "C2A-026", "the agent's harness could not even be knocked at, so it goes on to another"
)
PUSHED: Final = frozenset({Mode.IMMEDIATE, Mode.BUFFERED, Mode.NOTIFY})
"""In these the harness hears of the event when it happens."""
SHOWS: Final[dict[Mode, str]] = {
    Mode.IMMEDIATE: "the full text, at the next boundary of the running turn, without a compose window",
    Mode.BUFFERED: "the full text, once the author has stopped typing",
    Mode.NOTIFY: "a knock: who, where and a topic; the text only when it is pulled",
    Mode.TOOL_MAILBOX: "nothing; the message can be read with a tool",
    Mode.DIGEST: "a line of the next digest",
    Mode.SILENT: "nothing; the message is kept",
}


def step_down(decision: Decision, modes: frozenset[Mode]) -> Decision:
    """The decision in a mode that the harness negotiated; escalated when an obligation would go unseen."""
    mode = decision.mode
    while mode not in modes and mode in STEPS:
        mode = STEPS[mode]
    if mode is decision.mode:
        return decision
    if decision.policy is Policy.MUST_RESPOND and EXPOSURE.index(mode) < EXPOSURE.index(Mode.NOTIFY):
        return replace(
            decision, mode=Mode.TOOL_MAILBOX, escalate=True, because=(*decision.because, ("mode", TOO_LOW))
        )
    return replace(decision, mode=mode, because=(*decision.because, ("mode", STEPPED)))


def is_listed(mode: Mode) -> bool:
    """Does `chat.list_events` show it? Silent events are only in thread windows (C2A-094, C2A-095)."""
    return mode is not Mode.SILENT


def content_shown(mode: Mode) -> bool:
    """Does the delivery carry the text? A knock never does (C2A-036)."""
    return mode in {Mode.IMMEDIATE, Mode.BUFFERED}
