"""One decision being made: the state it reads, and the records and values that it adds.

A2ACP-072, A2ACP-145, A2ACP-156, A2ACP-215. A decision is made against a layer over the state. Each record
is applied to the layer as soon as it is made, so that the next step of the same decision sees it; nothing
is durable, and nothing has left, until the caller has kept the values, appended the records and absorbed
the layer. Thrown away halfway it has done nothing.

The only way out for a packet is `send`: it goes through consent, which alone makes what the post accepts.
"""

from __future__ import annotations

from collections.abc import Iterator, MutableMapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, Generic, Protocol, TypeVar, cast

from tacit.a2acp.packets import packet, schemas
from tacit.a2acp.threads.states import CATEGORIES, Cause, State, after
from tacit.agent.kernel import fold, records, timers
from tacit.agent.kernel.state import Question, Thread
from tacit.base.errors import Refused
from tacit.base.strict_json import canonical

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from tacit.a2acp.consent.tiers import Policy
    from tacit.a2acp.packets.packet import Fields
    from tacit.a2acp.packets.schemas import Kind
    from tacit.agent.kernel.book import Book
    from tacit.base.moment import Moment

K = TypeVar("K")
V = TypeVar("V")
_GONE: Final = object()
OF_A_THREAD: Final = ("consent", "checkpoint", "escalation", "scope")
"""Questions that end with their thread; an offer to share always, or something left undone, does not."""
OWNER: Final = ""
"""The owner's own values belong to no contact."""


class Values(Protocol):
    """Where contents are read."""

    def value(self, value_id: str) -> Any:
        """A kept value; None when it is gone."""
        ...

    def packet(self, peer: str, packet_id: str, side: str) -> Fields | None:
        """The fields of a packet; None when they are gone."""
        ...

    def keyed_hash(self, data: bytes) -> str:
        """By which the journal names content that it does not hold."""
        ...


class Signer(Protocol):
    """This agent's signing key."""

    @property
    def signing_public(self) -> bytes:
        """The public half."""
        ...

    def sign(self, message: bytes) -> bytes:
        """A detached signature."""
        ...


@dataclass(frozen=True, slots=True)
class Peer:
    """What the post knows of a counterpart."""

    address: str
    features: frozenset[str] = frozenset()
    heard: bool = False
    """Whether any packet of theirs has told us what they can do."""
    version: str = ""
    welcome: bool = True
    blocked: bool = False
    key: bytes = b""
    """Its signing key, as it is pinned; empty while none is."""

    def can(self, feature: str) -> bool:
        """Whether a feature may be used with it; before its first packet nothing is known, and all may."""
        return not self.heard or feature in self.features


class Layer(MutableMapping[K, V], Generic[K, V]):
    """A mapping over another: changes stay in the layer until they are absorbed."""

    def __init__(self, below: MutableMapping[K, V]) -> None:
        self._below = below
        self.changes: dict[K, Any] = {}

    def __getitem__(self, key: K) -> V:
        found = self.changes.get(key, self)
        if found is self:
            return self._below[key]
        if found is _GONE:
            raise KeyError(key)
        return cast("V", found)

    def __setitem__(self, key: K, value: V) -> None:
        self.changes[key] = value

    def __delitem__(self, key: K) -> None:
        if key not in self:
            raise KeyError(key)
        self.changes[key] = _GONE

    def __contains__(self, key: object) -> bool:
        found = self.changes.get(cast("K", key), self)
        return key in self._below if found is self else found is not _GONE

    def __iter__(self) -> Iterator[K]:
        for key in self._below:
            if self.changes.get(key) is not _GONE:
                yield key
        for key, value in self.changes.items():
            if value is not _GONE and key not in self._below:
                yield key

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def absorb(self) -> None:
        """Let the changes go down."""
        for key, value in self.changes.items():
            if value is _GONE:
                self._below.pop(key, None)
            else:
                self._below[key] = value
        self.changes.clear()


def layered(book: Book) -> Book:
    """A layer over every table of a state."""
    return book.over(Layer)


def absorb(layer: Book) -> None:
    """Let a layer's changes go down into the state below it."""
    for table in layer.by_name().values():
        cast("Layer[Any, Any]", table).absorb()


@dataclass(slots=True)
class Workspace:
    """What one decision has at hand, and what it has added so far."""

    book: Book
    values: Values
    me: str
    now: Moment
    draw: Callable[[int], bytes]
    peer_of: Callable[[str], Peer]
    signer: Callable[[], Signer]
    policy: Policy
    profile: Mapping[str, Any]
    handlers: Mapping[str, Fields]
    """What this agent can do once all have confirmed: by name, each handler's definition."""
    ended: Callable[[Workspace, Thread], None]
    """What a thread teaches that has come to its end."""
    choices: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """How much the owner lets the agent do unasked (A2ACP-134)."""
    minded: bool = False
    """Whether models think here: only then is gathered what they may know."""
    records: list[records.Record] = field(default_factory=list[records.Record])
    kept: dict[str, tuple[str, bytes]] = field(default_factory=dict[str, tuple[str, bytes]])
    """New values: by id, whose they are and their bytes."""

    # The state, and what is added to it.

    def thread(self, thread_id: str) -> Thread:
        """A thread; `Refused` for one that is not ours."""
        found = self.book.threads.get(thread_id)
        if found is None:
            raise Refused("unknown_thread", "this agent has no such thread")
        return found

    def say(self, record: records.Record) -> None:
        """Add a record."""
        fold.apply(self.book, record, self.now)
        self.records.append(record)

    def change(self, thread: Thread | str, **changes: Any) -> Thread:
        """Change what is known of a thread; says nothing when nothing changes."""
        name = thread if isinstance(thread, str) else thread.thread_id
        before = self.thread(name)
        new = {key: value for key, value in changes.items() if getattr(before, key) != value}
        if new:
            self.say(records.Changed(name, **new))
        return self.thread(name)

    def move(self, thread_id: str, cause: Cause, reason: str = "") -> bool:
        """Move a thread by the table; False, and a record of it, when the table says nothing (A2ACP-156)."""
        before = self.thread(thread_id).state
        to = after(before, cause)
        if to is None:
            self.say(records.NotMoved(thread_id, cause, before))
            return False
        if to is not before or reason:
            self.say(records.Moved(thread_id, cause, before, to, reason))
        if to is State.COMPLETED and to is not before and cause is not Cause.FORKED:
            self._count(self.thread(thread_id))
        if to is not before and cause is not Cause.FORKED:
            self.ended(self, self.thread(thread_id))
        return True

    def _count(self, thread: Thread) -> None:
        """One more that came to its end with this counterpart, in words of ours (A2ACP-084)."""
        intent: Any = self.read(thread.intent)
        category: Any = cast("Fields", intent).get("category") if isinstance(intent, dict) else None
        if category in CATEGORIES:
            count = self.book.completions.get((thread.peer, category), 0) + 1
            self.say(records.Completed(thread.peer, category, count))

    def notice(self, thread_id: str, code: str, subject: str = "") -> None:
        """Tell the owner something."""
        self.say(records.Noticed(thread_id, code, subject))

    # Values.

    def keep(self, contact: str, value: Any, *, name: str = "") -> str:
        """Keep a content in the vault, with its contact; its id."""
        value_id = name or packet.identifier("val_", self.draw(17))
        self.kept[value_id] = (contact, canonical(value))
        return value_id

    def read(self, value_id: str) -> Any:
        """A content, also one that was kept a moment ago; None when there is none."""
        from tacit.base.strict_json import parse

        if not value_id:
            return None
        if value_id in self.kept:
            return parse(self.kept[value_id][1])
        return self.values.value(value_id)

    def packet(self, thread: Thread, packet_id: str, side: str) -> Fields:
        """The fields of a packet of a thread; empty when its content is gone."""
        if packet_id in self.kept:
            return cast("Fields", self.read(packet_id))
        return self.values.packet(thread.peer, packet_id, side) or {}

    def body(self, thread: Thread, packet_id: str, side: str, kind: type[Kind]) -> Kind | None:
        """A packet of a thread as a value of its type; None when its content is gone."""
        fields = self.packet(thread, packet_id, side)
        return schemas.valued_as(kind, fields) if fields else None

    # Questions.

    def open_questions(self, thread_id: str, *kinds: str) -> list[Question]:
        """Questions of a thread that wait for their answer."""
        return [
            one
            for one in map(self.book.questions.get, list(self.book.questions))
            if one is not None
            and one.is_open
            and one.thread_id == thread_id
            and (not kinds or one.kind in kinds)
        ]

    def ask(
        self, thread: Thread, kind: str, content: dict[str, Any], *, subject: str = "", fingerprint: str = ""
    ) -> Question:
        """Ask the owner; the question lasts until it is answered or withdrawn (A2ACP-217)."""
        question = Question(
            question_id=packet.identifier("qst_", self.draw(17)),
            kind=kind,
            thread_id=thread.thread_id,
            peer=thread.peer,
            asked_at=self.now,
            content=self.keep(thread.peer, content),
            fingerprint=fingerprint,
            subject=subject,
            remind_at=timers.reminder_of(thread, kind, self.now),
        )
        self.say(records.Asked(question))
        return question

    def withdraw(self, thread_id: str, reason: str, *kinds: str) -> None:
        """Take back open questions of a thread."""
        for question in self.open_questions(thread_id, *kinds):
            self.say(records.Withdrawn(question.question_id, reason))

    def close(self, thread_id: str, cause: Cause, reason: str) -> bool:
        """End a thread, with the questions that were open in it."""
        if not self.move(thread_id, cause, reason):
            return False
        if not self.thread(thread_id).is_open:
            self.withdraw(thread_id, reason, *OF_A_THREAD)
        return True
