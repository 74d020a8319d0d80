"""What the conduct of an agent asks the outside to do, as values, in the order in which it must be done.

Whoever carries them out first makes durable what is to be remembered, then acts (append, then act). Nothing
here happens by itself.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tacit.base.moment import Moment
    from tacit.c2a.messages import Delivered
    from tacit.c2a.notifications import Work
    from tacit.harness.drivers.port import TokenUsage


@dataclass(frozen=True, slots=True)
class ModelTurn:
    """One run of the model."""

    id: str
    events: tuple[Delivered, ...]
    knocks: tuple[Delivered, ...] = ()
    digests: tuple[Delivered, ...] = ()
    attempt: int = 1
    """Which try of the model this is; failures count."""
    note: str = ""
    series: str = ""
    """The same for every run of the same question, so that the hub can tell a rerun (C2A-164, C2A-166)."""
    run: int = 1
    """Which run of the series this is; interruptions and crashes count too."""
    fresh: bool = False
    """Run it in a new session of the agent: the old one is full."""
    slot: int = 0
    """Which of the agent's slots runs it."""
    boundary: str = ""
    """The word in the titles of its prompt, which nobody knew who wrote what the prompt quotes."""

    @property
    def carrier(self) -> Delivered:
        """The event that the turn answers."""
        return self.events[-1]

    @property
    def deadline_at(self) -> Moment | None:
        """When an answer is due: the earliest deadline of all that it answers (C2A-087)."""
        return min((at for one in self.events if (at := one.deadline_at) is not None), default=None)

    @property
    def audience(self) -> str:
        """Who reads the answer; all events of a turn have the same."""
        return self.carrier.audience


@dataclass(frozen=True, slots=True)
class Begin:
    """Run this turn; its events belong to it from now on."""

    turn: ModelTurn


@dataclass(frozen=True, slots=True)
class Join:
    """Events that came into a running turn belong to it from now on."""

    turn_id: str
    events: tuple[Delivered, ...]


@dataclass(frozen=True, slots=True)
class Return:
    """These events wait again; the turn that had them ended without an answer."""

    event_ids: tuple[str, ...]
    failed: bool = False
    """Did the model fail on them? Counted; interruptions are not."""


@dataclass(frozen=True, slots=True)
class Abort:
    """End the running turn now."""

    turn_id: str


@dataclass(frozen=True, slots=True)
class SteerTurn:
    """Offer an event to the running turn; the answer comes back as `steered`."""

    turn_id: str
    event: Delivered
    text: str


@dataclass(frozen=True, slots=True)
class Claim:
    """Take an event on before anybody answers it; the answer comes back as `heard` or ends it."""

    event: Delivered


@dataclass(frozen=True, slots=True)
class React:
    """Answer with a signal, without a model and without a message."""

    event_id: str
    signal: str


@dataclass(frozen=True, slots=True)
class Defer:
    """Say that an obligation must wait, and why (C2A-145); the event stays in the inbox."""

    event_id: str
    reason: str
    until: Moment


@dataclass(frozen=True, slots=True)
class Settle:
    """An event is finished here; `disposition` is told to the hub where no tool has told it."""

    event_id: str
    disposition: str | None = None
    more: dict[str, object] = field(default_factory=dict[str, object])


@dataclass(frozen=True, slots=True)
class Postpone:
    """The session itself deferred the event; the hub will bring it again."""

    event_id: str


@dataclass(frozen=True, slots=True)
class PostAnswer:
    """Say this as the turn's one answer; stored under a key before it is sent."""

    turn: ModelTurn
    body: str
    attachments: tuple[dict[str, object], ...] = ()


@dataclass(frozen=True, slots=True)
class Spent:
    """What a turn cost."""

    turn: ModelTurn
    usage: TokenUsage
    cost_usd: float | None
    duration_ms: int
    ended: str
    estimated: bool = False
    """Nobody counted the tokens: they are reckoned by bytes."""


@dataclass(frozen=True, slots=True)
class Tell:
    """Something a person should know; our own words."""

    level: str
    message: str
    data: dict[str, object] = field(default_factory=dict[str, object])


@dataclass(frozen=True, slots=True)
class Report:
    """How work on an event ended, where the hub does not see it by itself."""

    work: Work


Effect = (
    Begin
    | Join
    | Return
    | Abort
    | SteerTurn
    | Claim
    | React
    | Defer
    | Settle
    | Postpone
    | PostAnswer
    | Spent
    | Tell
    | Report
)
