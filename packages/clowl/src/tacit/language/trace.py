"""Reconstruction: from a heap of messages in any order to conversations and traces.

Rows: CLOWL-076, CLOWL-077, CLOWL-078, CLOWL-079. A conversation is a tree over `pid` within one `cid`, a
trace the same across conversations within one `tid`. Broken links are marked, never guessed. The same
messages give the same result; tokens are taken out on entry. Trees are flat lists with depths, so that no
chain of messages is too long for them.
"""

from __future__ import annotations

import heapq
from functools import cached_property
from typing import TYPE_CHECKING

import msgspec

from tacit.language.lifecycle import Lifecycle
from tacit.language.message import Message, encode, without_auth
from tacit.language.task import Obligation, Task, Violation

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence


class TraceEntry(msgspec.Struct, frozen=True):
    """One place in a tree: a message, or a placeholder for a parent that is missing."""

    mid: str
    message: Message | None
    depth: int
    is_last: bool
    """Whether no sibling follows."""
    flags: tuple[str, ...] = ()


class Tree(msgspec.Struct, frozen=True, kw_only=True, dict=True):
    """A conversation or a trace; what is told of it as a whole is counted once."""

    id: str
    entries: tuple[TraceEntry, ...]
    """The tree, parents before children."""
    timeline: tuple[Message, ...]
    """The same messages in the order in which they count."""
    tasks: tuple[Task, ...]
    violations: tuple[Violation, ...]
    owed: tuple[Obligation, ...]

    @cached_property
    def agents(self) -> tuple[str, ...]:
        """Everyone who wrote or was addressed, in order of appearance."""
        seen: dict[str, None] = {}
        for message in self.timeline:
            seen[message.sender] = None
            for agent in message.recipients:
                if agent != "*":
                    seen[agent] = None
        return tuple(seen)

    @cached_property
    def conversations(self) -> tuple[str, ...]:
        """The `cid`s that it runs through."""
        return tuple(dict.fromkeys(message.cid for message in self.timeline))

    @cached_property
    def started(self) -> int:
        """The earliest time in it, in seconds."""
        return min(message.ts for message in self.timeline)

    @cached_property
    def duration(self) -> int:
        """Seconds from the earliest to the latest message."""
        return max(message.ts for message in self.timeline) - self.started


class Chronicle(msgspec.Struct, frozen=True):
    """Everything that a heap of messages tells."""

    conversations: Mapping[str, Tree]
    traces: Mapping[str, Tree]
    timeline: tuple[Message, ...]
    tasks: tuple[Task, ...]
    violations: tuple[Violation, ...]
    owed: tuple[Obligation, ...]


def reconstruct(messages: Iterable[Message]) -> Chronicle:
    """Conversations, traces, tasks and violations from messages in any order."""
    violations: list[Violation] = []
    arrived = _first_of_each(messages, violations)
    parents = _parents(arrived, violations)
    timeline = _in_order(arrived, parents)
    _check_links(timeline, arrived, violations)
    lifecycle = Lifecycle()
    for message in timeline:
        violations.extend(lifecycle.apply(message).violations)
    whole = Chronicle({}, {}, timeline, lifecycle.tasks, tuple(violations), lifecycle.obligations())
    by_cid: dict[str, list[Message]] = {}
    by_tid: dict[str, list[Message]] = {}
    for message in timeline:
        by_cid.setdefault(message.cid, []).append(message)
        if message.trace is not None:
            by_tid.setdefault(message.trace, []).append(message)
    return msgspec.structs.replace(
        whole,
        conversations=_trees(by_cid, parents, whole, "cid"),
        traces=_trees(by_tid, parents, whole, "tid"),
    )


def _first_of_each(messages: Iterable[Message], violations: list[Violation]) -> dict[str, Message]:
    """The first message with each `mid`; another one with other content is a conflict (CLOWL-068)."""
    arrived: dict[str, Message] = {}
    for message in map(without_auth, messages):
        first = arrived.setdefault(message.mid, message)
        if first is not message and encode(first) != encode(message):
            violations.append(
                Violation("mid_conflict", message.mid, "another message has this mid", "CLOWL-068")
            )
    return arrived


def _parents(arrived: Mapping[str, Message], violations: list[Violation]) -> dict[str, str | None]:
    """Who hangs below whom, with every `pid` loop cut at its earliest message."""
    parents = {mid: message.parent for mid, message in arrived.items()}
    settled: set[str] = set()
    for start in arrived:
        path: dict[str, None] = {}
        current: str | None = start
        while current is not None and current in arrived and current not in settled and current not in path:
            path[current] = None
            current = parents[current]
        if current is not None and current in path:
            walked = list(path)
            loop = walked[walked.index(current) :]
            first = min(loop, key=lambda mid: (arrived[mid].ts, mid))
            parents[first] = None
            violations.append(Violation("pid_loop", first, "its parents lead back to itself", "CLOWL-078"))
        settled.update(path)
    return parents


def _in_order(arrived: Mapping[str, Message], parents: Mapping[str, str | None]) -> tuple[Message, ...]:
    """Parents before children, then by time, then by `mid`, then by arrival."""
    arrival = {mid: index for index, mid in enumerate(arrived)}
    waiting: dict[str, list[str]] = {}
    ready: list[tuple[int, str, int]] = []
    for mid, message in arrived.items():
        parent = parents[mid]
        if parent is not None and parent in arrived:
            waiting.setdefault(parent, []).append(mid)
        else:
            ready.append((message.ts, mid, arrival[mid]))
    heapq.heapify(ready)
    ordered: list[Message] = []
    while ready:
        _, mid, _ = heapq.heappop(ready)
        ordered.append(arrived[mid])
        for child in waiting.get(mid, ()):
            heapq.heappush(ready, (arrived[child].ts, child, arrival[child]))
    return tuple(ordered)


def _check_links(
    timeline: Sequence[Message], arrived: Mapping[str, Message], violations: list[Violation]
) -> None:
    for message in timeline:
        if message.parent is None:
            continue
        parent = arrived.get(message.parent)
        if parent is None:
            violations.append(Violation("missing_parent", message.mid, "its parent is missing", "CLOWL-078"))
            continue
        if message.ts < parent.ts:
            violations.append(Violation("clock_skew", message.mid, "older than its parent", "CLOWL-078"))
        if message.trace != parent.trace:
            reason = "its trace differs from its parent's"
            violations.append(Violation("trace_mismatch", message.mid, reason, "CLOWL-008"))
        if message.cid != parent.cid and (message.trace is None or message.trace != parent.trace):
            reason = "its parent is in another conversation outside its trace"
            violations.append(Violation("foreign_parent", message.mid, reason, "CLOWL-078"))


def _trees(
    groups: Mapping[str, list[Message]], parents: Mapping[str, str | None], whole: Chronicle, member: str
) -> dict[str, Tree]:
    tasks: dict[str, list[Task]] = {}
    for task in whole.tasks:
        tasks.setdefault((task.cid if member == "cid" else task.tid) or "", []).append(task)
    flags: dict[str, list[Violation]] = {}
    for violation in whole.violations:
        flags.setdefault(violation.mid, []).append(violation)
    owed: dict[str, list[Obligation]] = {}
    for obligation in whole.owed:
        owed.setdefault(obligation.about, []).append(obligation)
    return {
        name: Tree(
            id=name,
            entries=tuple(_entries(group, parents, flags)),
            timeline=tuple(group),
            tasks=tuple(tasks.get(name, ())),
            violations=tuple(flag for message in group for flag in flags.get(message.mid, ())),
            owed=tuple(debt for message in group for debt in owed.get(message.mid, ())),
        )
        for name, group in groups.items()
    }


def _entries(
    group: Sequence[Message], parents: Mapping[str, str | None], flags: Mapping[str, list[Violation]]
) -> Iterator[TraceEntry]:
    """The group's tree in order; a parent outside the group makes a root, one nowhere a placeholder."""
    inside = {message.mid: message for message in group}
    below: dict[str, list[str]] = {}
    roots: dict[str, None] = {}
    for message in group:
        parent = parents[message.mid]
        if parent is None:
            roots[message.mid] = None
        elif parent in inside:
            below.setdefault(parent, []).append(message.mid)
        elif parent in parents:
            roots[message.mid] = None
        else:
            roots[parent] = None
            below.setdefault(parent, []).append(message.mid)
    stack = [(mid, 0, index == 0) for index, mid in enumerate(reversed(roots))]
    while stack:
        mid, depth, is_last = stack.pop()
        message = inside.get(mid)
        kinds = [flag.kind for flag in flags.get(mid, ())] if message else ["missing"]
        if message is not None and depth == 0 and parents[mid] is not None:
            kinds.append("continues")
        yield TraceEntry(mid, message, depth, is_last, tuple(dict.fromkeys(kinds)))
        children = below.get(mid, ())
        stack.extend((child, depth + 1, index == 0) for index, child in enumerate(reversed(children)))
