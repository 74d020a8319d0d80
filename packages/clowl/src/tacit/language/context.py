"""Context references: what may be used, what is verified, what may never change.

Rows: CLOWL-024, CLOWL-025, CLOWL-026, CLOWL-027, CLOWL-028, CLOWL-029, CLOWL-030, CLOWL-031, CLOWL-032,
CLOWL-033. Decides over what a resolver brought back; fetching itself lives in `io.resolvers`. Content whose
hash differs counts as never fetched. Inline content is the degraded path, and each use of it is an event.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Literal, Protocol

import msgspec

from tacit.base.errors import Refused

if TYPE_CHECKING:
    from tacit.language.message import Context, Message


class Content(msgspec.Struct, frozen=True):
    """Bytes that a resolver found behind a `ref`."""

    data: bytes


class Unreachable(msgspec.Struct, frozen=True):
    """The `ref` could not be fetched, or no resolver serves its scheme."""

    reason: str


class Blocked(msgspec.Struct, frozen=True):
    """The `ref` points where this agent may not look."""

    reason: str


Fetched = Content | Unreachable | Blocked


class Resolver(Protocol):
    """Fetches what a `ref` points at; never raises for what is found there."""

    async def fetch(self, ref: str) -> Fetched:
        """The content, or why there is none."""
        ...


class Usable(msgspec.Struct, frozen=True):
    """Context that may be used."""

    data: bytes
    source: Literal["ref", "inline"]


class Unusable(msgspec.Struct, frozen=True):
    """No context; `code` is what to answer with."""

    code: str
    reason: str


def digest(data: bytes) -> str:
    """SHA-256 over the raw bytes, in lower-case hex digits (CLOWL-024, CLOWL-025)."""
    return hashlib.sha256(data).hexdigest()


def judge(context: Context, fetched: Fetched | None, *, guarded: bool = False) -> Usable | Unusable | None:
    """What to use: the `ref` if it can be had and is what it should be, else `inline`.

    Rows: CLOWL-026, CLOWL-027, CLOWL-028, CLOWL-029. `fetched` is None when there is no `ref`; `guarded`
    answers a wrong hash with E016 instead of E003. None means that the context says nothing.
    """
    if not context.says_something:
        return None
    wanted = context.digest
    mismatch = False
    reason = "there is no ref"
    match fetched:
        case Content(data):
            if wanted is None or digest(data) == wanted:
                return Usable(data, "ref")
            mismatch, reason = True, "the content at ref does not match its hash"
        case Blocked(why):
            return Unusable("E016", f"the ref is blocked: {why}")
        case Unreachable(why):
            reason = f"the ref cannot be reached: {why}"
        case None:
            pass
    text = context.text
    if text is not None:
        inline = text.encode("utf-8")
        if wanted is None or digest(inline) == wanted:
            return Usable(inline, "inline")
        mismatch, reason = True, f"{reason}; the inline copy does not match the hash"
    return Unusable("E016" if mismatch and guarded else "E003", reason)


class InlineUse(msgspec.Struct, frozen=True):
    """A monitoring event: the degraded path was taken (CLOWL-030). Holds no content."""

    mid: str
    length: int
    direction: Literal["sent", "used"]


class Monitor(Protocol):
    """Whoever counts and logs inline use."""

    def inline_used(self, use: InlineUse) -> None:
        """Take note."""
        ...


def inline_use(message: Message, direction: Literal["sent", "used"]) -> InlineUse | None:
    """The event for a message that carries inline content."""
    text = message.context.text if message.context is not None else None
    return None if text is None else InlineUse(message.mid, len(text), direction)


class References:
    """Which content each `ref` stands for, per trace: it never changes (CLOWL-031, CLOWL-032)."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, str], str] = {}

    def conflicts(self, message: Message) -> bool:
        """Whether the message gives a known `ref` another hash; otherwise the pair is remembered."""
        context = message.context
        if context is None or context.reference is None or context.digest is None:
            return False
        # Without a trace the conversation is the widest thing that messages share.
        key = (f"t:{message.trace}" if message.trace else f"c:{message.cid}", context.reference)
        return self._known.setdefault(key, context.digest) != context.digest

    def refuse_reuse(self, message: Message) -> None:
        """Refuse to send a `ref` with other content than before."""
        if self.conflicts(message):
            raise Refused(
                "E011", "the ref was used for other content; an update needs a new ref", row="CLOWL-032"
            )
