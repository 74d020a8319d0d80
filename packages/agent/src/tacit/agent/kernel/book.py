"""The agent's state: the kernel's own tables, and a part for each feature that keeps something in it.

A2ACP-210. The kernel's tables:

- `threads` and `questions`, by id; `due`, the next moment of each thread and question that time will move;
- `considering`, the threads in which it is the agent's turn; `unposted`, packets that the post may lack;
- `holds`, the slots of standing proposals; `acting`, threads with an action under way;
- `approvals` by field and counterpart; `completions` by counterpart and category; `settings`, the names
  of the owner's values; `open_threads`, each with the moment since which it is in its state.

What it is kept in is the caller's: tables of the ledger's file in the writer, a layer over them while a
decision is being made. Records carry no content, so the state holds none.
"""

from __future__ import annotations

from collections.abc import Callable, MutableMapping
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any, Final, TypeAlias, TypeVar

from tacit.a2acp.threads.states import CATEGORIES
from tacit.agent.kernel.state import Approvals, Question, Thread
from tacit.base.moment import Moment

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tacit.agent.kernel.records import Record

Pair: TypeAlias = tuple[str, str]
Tables = TypeVar("Tables")
Table: TypeAlias = MutableMapping[Any, Any]
Apply: TypeAlias = "Callable[[Book, Record, Moment], None]"

TABLES: Final[dict[str, tuple[Any, Any]]] = {
    "threads": (str, Thread),
    "questions": (str, Question),
    "due": (str, Moment),
    "considering": (str, str),
    "unposted": (str, str),
    "holds": (str, str),
    "acting": (str, str),
    "approvals": (Pair, Approvals),
    "settings": (str, str),
    "open_threads": (str, Moment),
    "completions": (Pair, int),
}
"""Each of the kernel's tables with the types of its keys and values."""
ALWAYS_LOADED: Final = frozenset(
    {"due", "considering", "unposted", "holds", "acting", "settings", "open_threads"}
)
"""Small tables that are gone through; the others are looked up by key, except for open questions."""


@dataclass(frozen=True, slots=True)
class Part:
    """A feature's part of the state, and how its records and the kernel's move it."""

    kinds: Mapping[str, type[Record]]
    """The feature's own kinds of record, each with its body."""
    apply: Apply
    """Moves the part past a record; the kernel's own tables are still as they were before it."""
    tables: type[Any]
    """A dataclass whose attributes are the tables, each named as on disk."""
    types: Mapping[str, tuple[Any, Any]]
    """Each table with the types of its keys and values."""
    always_loaded: frozenset[str]
    """Of these tables the small ones that are gone through."""


@dataclass(slots=True)
class Book:
    """The state; every table is a mapping."""

    threads: MutableMapping[str, Thread] = field(default_factory=dict[str, Thread])
    questions: MutableMapping[str, Question] = field(default_factory=dict[str, Question])
    due: MutableMapping[str, Moment] = field(default_factory=dict[str, Moment])
    considering: MutableMapping[str, str] = field(default_factory=dict[str, str])
    unposted: MutableMapping[str, str] = field(default_factory=dict[str, str])
    holds: MutableMapping[str, str] = field(default_factory=dict[str, str])
    acting: MutableMapping[str, str] = field(default_factory=dict[str, str])
    approvals: MutableMapping[Pair, Approvals] = field(default_factory=dict[Pair, Approvals])
    settings: MutableMapping[str, str] = field(default_factory=dict[str, str])
    open_threads: MutableMapping[str, Moment] = field(default_factory=dict[str, Moment])
    completions: MutableMapping[Pair, int] = field(default_factory=dict[Pair, int])
    parts: dict[type[Any], Any] = field(default_factory=dict[type[Any], Any])
    """Each feature's tables, by their type."""
    applies: tuple[Apply, ...] = ()
    """What moves these parts past a record."""

    def part(self, tables: type[Tables]) -> Tables:
        """The tables of one feature."""
        part: Tables = self.parts[tables]
        return part

    def by_name(self) -> dict[str, Table]:
        """Every table, by its name on disk."""
        own: dict[str, Table] = {name: getattr(self, name) for name in TABLES}
        for part in self.parts.values():
            own |= tables_of(part)
        return own

    def over(self, made: Callable[[Table], Table]) -> Book:
        """The same state on other tables, each made of one of these."""
        parts = {kind: kind(**_each(made, tables_of(part))) for kind, part in self.parts.items()}
        own = _each(made, {name: getattr(self, name) for name in TABLES})
        return Book(**own, parts=parts, applies=self.applies)

    def uncount(self, peer: str) -> None:
        """Forget how many threads with a counterpart came to their end."""
        for category in CATEGORIES:
            self.completions.pop((peer, category), None)


def tables_of(part: Any) -> dict[str, Table]:
    """The tables of a feature's part, by name."""
    return {one.name: getattr(part, one.name) for one in fields(part)}


def _each(made: Callable[[Table], Table], tables: dict[str, Table]) -> dict[str, Any]:
    return {name: made(table) for name, table in tables.items()}
