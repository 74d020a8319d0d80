"""The driver port: what the harness may ask of an agent, and what it hears back (C2A-082, C2A-180, C2A-219).

The rules owned here: a turn has an audience, and turns of different audiences share no session, no memory
and no folder of the driver's own (C2A-203); a turn that is to be forgotten has a session that nobody had
before it and nobody has after it; one turn at a time, and every turn that was begun ends in exactly one
`TurnOutcome`, whatever happens to the agent behind it. A failure is a value, never an exception, and says
whether trying again is sensible. Standing rules go where the agent keeps system or developer text, the prompt
goes in the user role, and neither ever takes the other's place (C2A-100).

Pure types. No driver, process, clock or room is known here.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Final, Literal, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, slots=True)
class ToolProgram:
    """An MCP server that the agent starts itself and speaks to over stdio."""

    name: str
    command: tuple[str, ...]
    environment: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)
    """What the server needs beside PATH. A token belongs here, not on a command line that others can read."""


@dataclass(frozen=True, slots=True)
class ToolAddress:
    """An MCP server reached over streamable HTTP with a bearer token."""

    name: str
    url: str
    token: str = field(default="", repr=False)


ToolServer = ToolProgram | ToolAddress


@dataclass(frozen=True, slots=True)
class StandingInstructions:
    """What holds for many turns. When it changes between turns, the driver opens its session anew with it."""

    rules: str
    """The standing rules (C2A-098, C2A-099), ours alone: they go where the agent keeps system text."""
    tools: tuple[ToolServer, ...] = ()
    """Where the model gets the chat tools. Calls to these need nobody's approval: the hub judges each one."""
    directory: str | None = None
    """The working directory; None is an empty folder of the driver's own."""


@dataclass(frozen=True, slots=True)
class Price:
    """What a million tokens cost, in dollars; `cached` is for the part of the input that was read again."""

    input: float
    output: float
    cached: float

    def cost(self, usage: TokenUsage) -> float:
        """What these tokens cost."""
        fresh = max(0, usage.input - usage.cached)
        return (fresh * self.input + usage.cached * self.cached + usage.output * self.output) / 1e6


@dataclass(frozen=True, slots=True)
class TurnAllowance:
    """What one turn may use before it is ended as `over_budget`; None is no limit."""

    tokens: int | None = None
    cost_usd: float | None = None
    price: Price | None = None

    def shared_by(self, count: int) -> TurnAllowance:
        """One of so many equal shares."""
        if count <= 1:
            return self
        tokens = None if self.tokens is None else self.tokens // count
        return TurnAllowance(tokens, None if self.cost_usd is None else self.cost_usd / count, self.price)

    def is_used_up(self, usage: TokenUsage, cost_usd: float | None) -> bool:
        """Has a turn reached it? A cost that nobody says and that cannot be reckoned reaches nothing."""
        if self.tokens is not None and usage.input + usage.output >= self.tokens:
            return True
        cost = cost_usd if cost_usd is not None else self.price.cost(usage) if self.price else None
        return self.cost_usd is not None and cost is not None and cost >= self.cost_usd


@dataclass(frozen=True, slots=True)
class TurnFile:
    """A file that came with the turn's messages."""

    name: str
    mime_type: str
    data: bytes = field(default=b"", repr=False)
    size: int = 0
    """Bytes, where the data is not here."""
    left_out: str = ""
    """Why its data is not here; our words, for the model."""


@dataclass(frozen=True, slots=True)
class TurnRequest:
    """One turn."""

    turn_id: str
    standing: StandingInstructions
    prompt: str
    """The wrapped events (C2A-096), always in the user role."""
    time_limit: float = 600.0
    """Seconds until the turn is given up as `time_limit`, a failure that may be tried again."""
    audience: str = ""
    """Who reads the answer, as a key; empty for the room. Each audience has a session of its own."""
    session_id: str | None = None
    """The audience's session, kept from an earlier process: continued where none is open and it exists."""
    files: tuple[TurnFile, ...] = ()
    """What came with the messages. The driver hands each over in a form that its agent takes, and lists all
    of them behind the prompt, those that could not be handed over too."""
    fresh: bool = False
    """Begin a new session with this turn; the one before is not continued."""
    allowance: TurnAllowance = TurnAllowance()
    forget: bool = False
    """A turn by itself: it knows of no other, the agent has no tools of its own in it where it can be told
    so, and when it is over nothing of it is on the disk, in memory or in a later request."""
    schema: Mapping[str, Any] | None = None
    """The JSON Schema of the answer, for agents that can hold their model to one; others go by the words."""
    boundary: str = ""
    """The word in the titles of the prompt's blocks, also of what a driver adds to it."""


class FailureKind(StrEnum):
    """What the harness should make of a turn without an answer."""

    RETRYABLE = "retryable"
    """The same turn may succeed later: model overloaded, line lost, process died, time limit (C2A-163)."""
    PERMANENT = "permanent"
    """Trying again would fail alike until a person acts: no credit, wrong key, unknown model."""
    CANCELLED = "cancelled"
    """The harness asked for it."""


FailureCode = Literal[
    "cancelled",
    "time_limit",
    "agent_died",
    "agent_error",
    "model_unavailable",
    "rate_limited",
    "rubbish",
    "model_refused",
    "signed_out",
    "over_budget",
    "context_full",
    "cut_short",
    "no_answer",
]
"""Why, in a word that logs and people can read. It never holds what anybody wrote."""


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a turn has no answer."""

    kind: FailureKind
    code: FailureCode
    hint: str = ""
    """What a person can do about it; our own words."""
    retry_after: float | None = None
    """Seconds the model's server asked us to wait, when it did."""
    cause: str = ""
    """What the agent's program said last of it, a line at most; for its owner's eyes, never for the room."""


@dataclass(frozen=True, slots=True)
class TokenUsage:
    """Tokens of one turn. `cached` is the part of `input` that was read from the model's cache."""

    input: int = 0
    output: int = 0
    cached: int = 0

    def __add__(self, other: TokenUsage) -> TokenUsage:
        return TokenUsage(self.input + other.input, self.output + other.output, self.cached + other.cached)


@dataclass(frozen=True, slots=True)
class TurnOutcome:
    """How a turn ended. Without a failure, `text` is the agent's last word; empty text is silence."""

    turn_id: str
    text: str = ""
    usage: TokenUsage = field(default_factory=TokenUsage)
    cost_usd: float | None = None
    """What the agent says the turn cost; None when it does not say."""
    estimated: bool = False
    """Nobody counted the tokens: they are reckoned by bytes."""
    session_id: str | None = None
    """The agent's own name for the session of the turn's audience, to be kept and given back after a
    restart: for the room to `start`, for another audience with its next turn."""
    failure: Failure | None = None


@dataclass(frozen=True, slots=True)
class TextDelta:
    """A piece of what the model is saying."""

    text: str


@dataclass(frozen=True, slots=True)
class ToolStarted:
    """A tool call began."""

    call_id: str
    name: str
    """As `server.tool` for MCP tools."""


@dataclass(frozen=True, slots=True)
class ToolEnded:
    """A tool call ended: a tool boundary. `ok` is false when the tool said that it failed."""

    call_id: str
    name: str
    ok: bool


TurnEvent = TextDelta | ToolStarted | ToolEnded


@dataclass(frozen=True, slots=True)
class Proceed:
    """Go on."""


@dataclass(frozen=True, slots=True)
class Insert:
    """Put this text before the model, in the user role, before it goes on (`immediate`, C2A-081, C2A-082).

    From then on it is part of the turn: when the turn fails, whoever runs it again says it again.
    """

    text: str
    files: tuple[TurnFile, ...] = ()
    """What came with it, handed over as the files of the turn are."""


@dataclass(frozen=True, slots=True)
class Stop:
    """End the turn here as cancelled: no further model call, no further tool."""


BoundaryOrder = Proceed | Insert | Stop

TITLE_BYTES: Final = 2_000
"""How much of a title is shown of what an agent does."""
WISH_BYTES: Final = 16_000
DETAILS_BYTES: Final = 8_000
"""How much of a request for permission is shown; what was cut says so, and is allowed once at most."""


@dataclass(frozen=True, slots=True)
class PermissionRequest:
    """What the agent's own program wants to be allowed, as a person is shown it. Made by `permission`."""

    kind: Literal["command", "edit", "other"]
    title: str
    """The command itself, or the thing to be done in one line."""
    details: str = ""
    """More to look at: the diff, the arguments, the agent's reason."""
    directory: str = ""
    paths: tuple[str, ...] = ()
    """For an edit, every file that it touches."""
    call_id: str = ""
    """The tool call that waits for it, where there is one."""
    whole: bool = True
    """Is all of it shown? What was cut may hide anything, so it is allowed once at most."""


@dataclass(frozen=True, slots=True)
class Permitted:
    """Go ahead, by a person's word for this once, for the rest of the turn, or for a pattern kept earlier."""

    scope: Literal["once", "turn", "pattern"] = "once"


@dataclass(frozen=True, slots=True)
class NotPermitted:
    """No, and why, for the model to read: our own words, with a person's set off in them."""

    reason: str


PermissionAnswer = Permitted | NotPermitted


def permission(
    kind: Literal["command", "edit", "other"],
    title: str,
    details: str = "",
    *,
    directory: str = "",
    paths: tuple[str, ...] = (),
    call_id: str = "",
) -> PermissionRequest:
    """A request within its bounds."""
    shown, more = _marked(title, WISH_BYTES), _marked(details, DETAILS_BYTES)
    known = paths[:MOST_FILES]
    whole = (shown, more, known) == (title, details, paths)
    return PermissionRequest(kind, shown, more, directory, known, call_id, whole)


def _marked(text: str, limit: int) -> str:
    """The beginning of a text; where something is missing, how much."""
    shown = cut(text, limit)
    missing = len(text.encode(errors="replace")) - len(shown.encode(errors="replace"))
    return f"{shown}\n({missing} more bytes are not shown)" if missing else shown


ActivityKind = Literal["command", "edit", "tool", "plan", "text", "thought"]
ActivityState = Literal["running", "done", "failed", "refused"]
ACTIVITY_BYTES: Final = 16_000
"""How much text one piece of activity carries from a driver at a time."""
MOST_FILES: Final = 50


@dataclass(frozen=True, slots=True)
class ObservedActivity:
    """Something that the agent does in a turn, as people may watch it. The same id twice is the same thing.

    What was not said is left as it stood, so that an end need not repeat its beginning.
    """

    id: str
    kind: ActivityKind
    state: ActivityState = "running"
    title: str = ""
    """The command, the tool with its main argument, the files."""
    text: str = ""
    """Output, diff, plan or words."""
    appends: bool = False
    """The text goes behind what is there; else it takes its place."""
    files: tuple[str, ...] = ()
    exit_code: int | None = None


def cut(text: str, limit: int) -> str:
    """The beginning of a text within so many bytes; half a character is left out."""
    data = text.encode(errors="replace")
    return text if len(data) <= limit else data[:limit].decode(errors="ignore")


@dataclass(frozen=True, slots=True)
class Traits:
    """What a driver can do, so that the harness knows beforehand."""

    name: str
    steers: bool
    """`steer` merges text into a running turn. Where not, the harness cancels and merges (C2A-188)."""
    inserts: bool
    """`Insert` at a tool boundary is obeyed. Where not, it is ignored: the harness must cancel and merge."""
    boundaries: bool
    """Tool boundaries are seen at all. Where not, a turn is one piece: only `cancel` reaches into it."""
    resumes: bool
    """A session survives a restart of the process by its `session_id`."""


class Watch(Protocol):
    """What the harness sees of one running turn. No method may raise; all are awaited, `saw` in order."""

    async def saw(self, event: TurnEvent) -> None:
        """Something happened in the turn. `ToolEnded` comes before `at_boundary` for the same call."""
        ...

    async def at_boundary(self, ended: ToolEnded) -> BoundaryOrder:
        """What to do at this tool boundary. The agent waits for the answer where it can be made to."""
        ...

    async def did(self, activity: ObservedActivity) -> None:
        """Something that people may watch went on."""
        ...

    async def in_session(self, session_id: str) -> None:
        """The agent's own name for the turn's session: told as soon as it is known, for a crash's sake."""
        ...

    async def asked(self, wanted: PermissionRequest) -> PermissionAnswer:
        """May it? Takes as long as people take; cancelled when the turn is ended from outside."""
        ...


class Driver(Protocol):
    """An agent that runs turns, one at a time."""

    @property
    def traits(self) -> Traits:
        """What this driver can do."""
        ...

    def workplace(self, audience: str) -> str | None:
        """The folder in which the agent works for this audience, unless the turn names another."""
        ...

    async def start(self, standing: StandingInstructions, session_id: str | None = None) -> None:
        """Open the agent for the room, continuing the session `session_id` where it still exists.

        Raises `Unavailable` when the agent cannot be run (not installed, does not start), `Refused` when
        its options are wrong. Starting again after the agent died is the way back; a second start of a live
        agent does nothing.
        """
        ...

    async def run(self, turn: TurnRequest, watch: Watch) -> TurnOutcome:
        """Run one turn to its outcome. A second call waits for the first; a dead agent is started again.

        Never raises for what the agent or its model did. When the calling task is cancelled the turn is
        cancelled too.
        """
        ...

    async def steer(self, turn_id: str, text: str, files: tuple[TurnFile, ...] = ()) -> bool:
        """Offer more text to the running turn, with its files; true when the model will see it in this turn.

        False when no such turn runs, it is ending, or the driver cannot: nothing was done then.
        """
        ...

    async def cancel(self, turn_id: str) -> None:
        """End the turn: its `run` gives `cancelled`, and after this returns its watch hears nothing more.

        A turn that is waiting to run never begins; an unknown or ended turn is no fault.
        """
        ...

    async def close(self) -> None:
        """End every process this driver started, the turn in it as cancelled. Can be called twice."""
        ...
