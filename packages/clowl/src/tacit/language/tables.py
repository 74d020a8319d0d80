"""The tables of CLowl v0.2: performatives, error codes, delegation modes, limits.

Rows: CLOWL-010, CLOWL-034, CLOWL-047, CLOWL-060. Validator, prompt, schema, English and the reference page
all read these tables, so that they cannot disagree. Knows no message: only what may be written in one.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

VERSION: Final = "0.2"

Performative = Literal["REQ", "INF", "ACK", "ERR", "DLGT", "DONE", "CNCL", "QRY", "PROG", "CAPS"]
DelegationMode = Literal["transfer", "fork", "assist"]
Intent = Literal["obliges", "informs", "cancels"]

MAX_NAME: Final = 128
"""Characters in an id, an agent's name or a task (CLOWL-013)."""
MAX_TS: Final = 99_999_999_999
"""Seconds; what lies above was counted in milliseconds (CLOWL-006)."""
MAX_INLINE: Final = 2000
"""Code points in `ctx.inline` (CLOWL-023)."""
MAX_BYTES: Final = 1024 * 1024
MAX_DEPTH: Final = 32
MAX_CHAIN: Final = 8
"""Agents in a delegation chain (CLOWL-053)."""
CLOCK_TOLERANCE: Final = 300
"""Seconds that a sender's clock may run ahead before it is worth a warning (CLOWL-006)."""
BROADCAST: Final = "*"
SYSTEM_CID: Final = "system"


class PerformativeRow(NamedTuple):
    """One performative: its name, who sends it to whom, what it means, and what it asks of attention."""

    name: str
    direction: str
    meaning: str
    intent: Intent
    replies: tuple[Performative, ...]
    opens: bool
    """Whether a conversation may begin with it (CLOWL-036)."""


class ErrorRow(NamedTuple):
    """One error code."""

    category: str
    meaning: str
    retryable: bool


# The reply column is Annex A with one addition: INF to a task. CLOWL-051 demands that very message (the
# delegator tells the requester), and Annex A's state table allows it.
PERFORMATIVES: Final[Mapping[Performative, PerformativeRow]] = MappingProxyType(
    {
        "REQ": PerformativeRow(
            "Request",
            "Sender to receiver",
            "Do this thing. Initiates a task.",
            "obliges",
            ("ACK", "PROG", "DONE", "ERR", "DLGT", "CNCL", "QRY", "INF"),
            opens=True,
        ),
        "INF": PerformativeRow(
            "Inform",
            "Sender to receiver",
            "Here is information. No action expected.",
            "informs",
            ("QRY", "ACK", "ERR"),
            opens=True,
        ),
        "ACK": PerformativeRow(
            "Acknowledge",
            "Receiver to sender",
            "Got it, proceeding. Confirms receipt.",
            "informs",
            ("QRY", "CNCL"),
            opens=False,
        ),
        "ERR": PerformativeRow(
            "Error", "Receiver to sender", "Failed. Here is why.", "informs", ("REQ",), opens=False
        ),
        "DLGT": PerformativeRow(
            "Delegate",
            "Agent to agent",
            "Passing this to someone better suited.",
            "obliges",
            ("ACK", "PROG", "DONE", "ERR", "DLGT", "CNCL", "QRY", "INF"),
            opens=True,
        ),
        "DONE": PerformativeRow(
            "Complete",
            "Receiver to sender",
            "Finished. Here is the result.",
            "informs",
            ("REQ", "DLGT"),
            opens=False,
        ),
        "CNCL": PerformativeRow(
            "Cancel",
            "Sender to receiver",
            "Abort this task.",
            "cancels",
            ("ACK", "ERR", "DONE", "INF"),
            opens=False,
        ),
        "QRY": PerformativeRow(
            "Query",
            "Any to any",
            "What is the status? Or: give me information without acting.",
            "obliges",
            ("INF", "PROG", "ERR"),
            opens=True,
        ),
        "PROG": PerformativeRow(
            "Progress",
            "Receiver to sender",
            "Here is an update on the running task.",
            "informs",
            ("QRY", "CNCL"),
            opens=False,
        ),
        "CAPS": PerformativeRow(
            "Capabilities",
            "Agent to everyone",
            "Here is what I can do. Sent on connection.",
            "informs",
            ("ERR",),
            opens=True,
        ),
    }
)

ERROR_CODES: Final[Mapping[str, ErrorRow]] = MappingProxyType(
    {
        "E001": ErrorRow("Parse", "Malformed CLowl message", retryable=True),
        "E002": ErrorRow("Auth", "Sender not authorized", retryable=False),
        "E003": ErrorRow("Context", "Referenced context not found or inaccessible", retryable=True),
        "E004": ErrorRow("Capacity", "Agent rate-limited or at capacity", retryable=True),
        "E005": ErrorRow("Task", "Unknown task type", retryable=False),
        "E006": ErrorRow("Timeout", "Task exceeded its time limit", retryable=True),
        "E007": ErrorRow("Dependency", "Required upstream result missing", retryable=True),
        "E008": ErrorRow("Validation", "Task data failed validation", retryable=True),
        "E009": ErrorRow("Internal", "Unexpected internal error", retryable=True),
        "E010": ErrorRow("Delegation", "No suitable agent to delegate to", retryable=False),
        "E011": ErrorRow("Conflict", "Conflicting concurrent operation", retryable=True),
        "E012": ErrorRow("Budget", "Token or cost budget exceeded", retryable=False),
        "E013": ErrorRow("Cancelled", "Task was aborted by CNCL", retryable=False),
        "E014": ErrorRow("Version", "Incompatible CLowl versions", retryable=False),
        "E015": ErrorRow("Cycle", "Delegation cycle detected", retryable=False),
        "E016": ErrorRow("Security", "Security violation", retryable=False),
    }
)

DELEGATION_MODES: Final[Mapping[DelegationMode, str]] = MappingProxyType(
    {
        "transfer": "Full handoff: the delegate owns the task.",
        "fork": "Parallel work: both continue independently.",
        "assist": "Helper role: the delegator stays accountable.",
    }
)

REQUIRED: Final = ("clowl", "mid", "ts", "p", "from", "to", "cid", "body")
OPTIONAL: Final = ("tid", "pid", "ctx", "auth", "det")
MEMBERS: Final = frozenset(REQUIRED + OPTIONAL)

REPLIES_THAT_NEED_A_PARENT: Final = frozenset({"ACK", "ERR", "DONE", "PROG", "CNCL"})
"""Performatives that name their parent in strict mode (CLOWL-045)."""
PARENTLESS_ERRORS: Final = ("E001", "E014")
"""Errors about a message whose `mid` may have been unreadable (CLOWL-045)."""
DET_MEANS_SOMETHING: Final = frozenset({"DONE", "INF", "PROG"})


def declared_intent(performative: Performative) -> Intent:
    """What the performative asks of those it addresses: to act, to know, or to stop (CLOWL-092)."""
    return PERFORMATIVES[performative].intent


def retryable(code: str) -> bool:
    """Whether the table allows a retry; codes that are not in it are not retried (CLOWL-061)."""
    row = ERROR_CODES.get(code)
    return row is not None and row.retryable
