"""Negotiation: what a host and a harness agree on at `initialize`.

Rows: C2A-018, C2A-019, C2A-020, C2A-021, C2A-022, C2A-023, C2A-024, C2A-025, C2A-026, C2A-135, C2A-139,
C2A-170, C2A-225. The newest common version; each capability is the AND of both sides; tools that were not
agreed are not listed; no two signals share a glyph. Knows nothing of connections.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, cast

from tacit.c2a.errors import Refusal, refusal
from tacit.c2a.messages import Initialize, read_initialize
from tacit.c2a.signals import USUAL, AgreedSignals, agreed_signals
from tacit.c2a.vocabulary import NEWER, OLDER, Mode

if TYPE_CHECKING:
    from collections.abc import Mapping


VERSIONS: Final = (NEWER, OLDER)
"""The newest first."""
CAPABILITIES: Final[dict[str, tuple[str, ...]]] = {
    "delivery": ("ack", "redelivery", "idempotency"),
    "injection": ("immediate", "buffered", "notify", "tool_mailbox", "digest", "interrupt"),
    "chatTools": (
        "readThread",
        "sendMessage",
        "react",
        "reactionSignals",
        "claim",
        "defer",
        "resolve",
        "listEvents",
    ),
    "utilities": ("progress", "cancellation", "logging"),
}


@dataclass(frozen=True, slots=True)
class ChatTool:
    """One chat tool: the capability that allows it, and whether it may be repeated."""

    name: str
    capability: str
    read_only: bool
    idempotent: bool
    says: str


TOOLS: Final[tuple[ChatTool, ...]] = (
    ChatTool("chat.list_events", "listEvents", True, True, "List chat events that this session may see."),
    ChatTool(
        "chat.read_thread", "readThread", True, True, "Read a thread; without arguments the one you are in."
    ),
    ChatTool(
        "chat.send_message", "sendMessage", False, True, "Send one message; the key makes it safe to repeat."
    ),
    ChatTool("chat.react", "react", False, True, "Answer with a signal instead of a message."),
    ChatTool("chat.claim", "claim", False, True, "Take responsibility for an event or thread."),
    ChatTool("chat.defer", "defer", False, True, "Say that an obligation must wait, and why."),
    ChatTool("chat.resolve", "resolve", False, True, "Mark an event, thread or assignment resolved."),
    ChatTool("chat.search", "readThread", True, True, "Find messages that contain these words."),
    ChatTool("chat.leave", "sendMessage", False, True, "Leave a thread or channel until named again."),
    ChatTool("chat.progress", "sendMessage", False, True, "Report how far something is, without a message."),
    ChatTool(
        "chat.read_channel",
        "readThread",
        True,
        True,
        "Read the last of a channel or conversation; without arguments of the one you are in.",
    ),
    ChatTool(
        "chat.members",
        "readThread",
        True,
        True,
        "Who is here: people and agents, their roles, who is busy, and with what.",
    ),
)


@dataclass(frozen=True, slots=True)
class Agreement:
    """What holds on a connection."""

    version: str
    capabilities: dict[str, dict[str, bool]]
    signals: AgreedSignals = USUAL

    def told(self) -> dict[str, Any]:
        """The agreed capabilities as the answer says them; glyphs only where other ones were asked for."""
        if self.signals is USUAL:
            return dict(self.capabilities)
        return {**self.capabilities, "reactionGlyphs": dict(self.signals.glyphs)}

    @property
    def modes(self) -> frozenset[Mode]:
        """The injection modes that the harness takes."""
        return negotiated_modes(self.capabilities["injection"])

    def has(self, section: str, name: str) -> bool:
        """Was this agreed?"""
        return self.capabilities.get(section, {}).get(name, False)

    def tools(self) -> tuple[ChatTool, ...]:
        """The tools that are listed on this connection."""
        return tuple(tool for tool in TOOLS if self.allows(tool))

    def allows(self, tool: ChatTool) -> bool:
        """May this tool be called?"""
        return self.has("chatTools", tool.capability)


def agree(
    params: Mapping[str, Any], own: Mapping[str, Mapping[str, bool]] | None = None
) -> Agreement | Refusal:
    """The agreement with a peer that sent these `initialize` params.

    Without `own` the host can do everything.
    """
    greeting = read_initialize(params)
    if not isinstance(greeting, Initialize):
        return refusal("invalid_request", "initialize lacks a member", "C2A-019", missing=greeting)
    version = _version(greeting.protocol_version)
    if version is None:
        return refusal(
            "unsupported_version",
            "no common version",
            "C2A-025",
            supported=list(VERSIONS),
            remedy="use one of these",
        )
    offered = greeting.capabilities
    signals = agreed_signals(offered)
    if isinstance(signals, Refusal):
        return signals
    sections = {section: _section(section, offered, own) for section in CAPABILITIES}
    return Agreement(version, sections, signals)


def _version(wanted: str) -> str | None:
    """The newest version that both know: a peer knows its own and, dated as they are, those before it."""
    return next((version for version in VERSIONS if version <= wanted), None)


def _section(
    section: str, offered: Mapping[str, object], own: Mapping[str, Mapping[str, bool]] | None
) -> dict[str, bool]:
    given = offered.get(section)
    theirs = dict(cast("dict[str, object]", given)) if isinstance(given, dict) else {}
    if section == "chatTools":
        theirs.setdefault("listEvents", theirs.get("readThread"))
    ours = own.get(section, {}) if own is not None else None
    return {
        name: theirs.get(name) is True and (ours is None or ours.get(name, False))
        for name in CAPABILITIES[section]
    }


def tool_allowed(agreement: Agreement, name: str) -> Refusal | None:
    """Refuse a call of a tool that does not exist or was not agreed (C2A-017, C2A-022)."""
    tool = next((one for one in TOOLS if one.name == name), None)
    if tool is None:
        return refusal("unknown_op", "there is no such tool", "C2A-017")
    if not agreement.allows(tool):
        return refusal("unsupported_capability", "this tool was not agreed at initialize", "C2A-022")
    return None


def negotiated_modes(injection: Mapping[str, object]) -> frozenset[Mode]:
    """The modes behind `capabilities.injection`; `silent` and the mailbox need no push (C2A-021)."""
    named = {mode for mode in Mode if injection.get(mode.value) is True}
    return frozenset(named | {Mode.SILENT})
