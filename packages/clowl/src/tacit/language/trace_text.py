"""A trace as text: a tree, a timeline, and a Mermaid sequence diagram (CLOWL-079).

Every line is English from `english`, so no value can forge one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tacit.language.english import english, iso, name, safe
from tacit.language.task import TaskState

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tacit.language.message import Message
    from tacit.language.task import Obligation, Task
    from tacit.language.trace import Chronicle, Tree

_MAX_INDENT: Final = 24


def timeline(messages: Sequence[Message], *, verbose: bool = False) -> Iterator[str]:
    """One line a message: its time, then its reading."""
    for message in messages:
        yield f"{iso(message.ts)} {english(message, verbose=verbose)}"


def summary(tree: Tree) -> str:
    """`6 messages, 3 agents, 2 conversations, 61 s`."""
    parts = [
        _count(len(tree.timeline), "message"),
        _count(len(tree.agents), "agent"),
        _count(len(tree.conversations), "conversation"),
        _count(len(tree.tasks), "task"),
        duration(tree.duration),
    ]
    if tree.violations:
        parts.append(_count(len(tree.violations), "violation"))
    return ", ".join(parts)


def duration(seconds: int) -> str:
    """`61 s` below two minutes, then minutes, hours or days."""
    for size, unit in ((86400, "d"), (3600, "h"), (60, "min")):
        if seconds >= 2 * size:
            return f"{seconds / size:.1f}".removesuffix(".0") + f" {unit}"
    return f"{seconds} s"


def tree_lines(tree: Tree, *, kind: str = "trace") -> Iterator[str]:
    """The tree, its tasks, what is owed, and what is wrong."""
    yield f"{kind} {name(tree.id)}: {summary(tree)}"
    open_levels: list[bool] = []
    for entry in tree.entries:
        del open_levels[entry.depth :]
        shown = open_levels[1:][-_MAX_INDENT:]
        stem = "".join("│  " if still_open else "   " for still_open in shown)
        branch = ("└─ " if entry.is_last else "├─ ") if entry.depth else ""
        open_levels.append(not entry.is_last)
        flags = f" [{', '.join(entry.flags)}]" if entry.flags else ""
        if entry.message is None:
            yield f"{stem}{branch}(message {name(entry.mid)} is missing)"
        else:
            yield f"{stem}{branch}{iso(entry.message.ts)} {entry.message.p} {english(entry.message)}{flags}"
    yield from _section("tasks", [task_line(task) for task in tree.tasks])
    yield from _section("owed", [debt_line(debt) for debt in tree.owed])
    yield from _section(
        "violations",
        [f"{flag.kind} at {name(flag.mid)}: {safe(flag.reason)} ({flag.row})" for flag in tree.violations],
    )


def chronicle_lines(chronicle: Chronicle) -> Iterator[str]:
    """Every trace, then the conversations that belong to none."""
    first = True
    for tree, kind in trees(chronicle):
        if not first:
            yield ""
        first = False
        yield from tree_lines(tree, kind=kind)


def trees(chronicle: Chronicle) -> Iterator[tuple[Tree, str]]:
    """Traces, and conversations with messages outside any trace."""
    for tree in chronicle.traces.values():
        yield tree, "trace"
    for tree in chronicle.conversations.values():
        if any(message.trace is None for message in tree.timeline):
            yield tree, "conversation"


def task_line(task: Task) -> str:
    """One task: who asked whom, who owned it, where it stands."""
    owners = " → ".join(name(agent) for _, agent in task.owners)
    took = f" after {duration(task.duration)}" if task.duration is not None else ""
    code = f" with {task.code}" if task.code and task.state in {TaskState.FAILED, TaskState.CANCELLED} else ""
    mode = f", {task.mode}" if task.mode else ""
    attempt = f", attempt {task.attempt}" if task.attempt > 1 else ""
    return (
        f"{name(task.name)}{mode}: {name(task.requester)} asked {owners}; {task.state}{code}{took}{attempt}"
    )


def debt_line(debt: Obligation) -> str:
    """Who owes what to whom."""
    return f"{name(debt.debtor)} owes {name(debt.creditor)}: {debt.owes} ({name(debt.task)})"


def mermaid(tree: Tree) -> Iterator[str]:
    """A Mermaid sequence diagram."""
    alias = {agent: f"A{index}" for index, agent in enumerate(tree.agents)}
    yield "sequenceDiagram"
    for agent, short in alias.items():
        yield f"    participant {short} as {_mermaid(name(agent))}"
    flagged = {flag.mid: flag.kind for flag in tree.violations}
    for message in tree.timeline:
        label = _mermaid(f"{message.p} {name(message.task)}")
        arrow = (
            "--x" if message.p == "ERR" else "-->>" if message.p in {"ACK", "PROG", "DONE", "INF"} else "->>"
        )
        sender = alias[message.sender]
        if message.is_broadcast:
            yield f"    Note over {sender}: {label} to everyone"
        for agent in message.recipients:
            if agent in alias:
                yield f"    {sender}{arrow}{alias[agent]}: {label}"
        if message.mid in flagged:
            yield f"    Note right of {sender}: {_mermaid(flagged[message.mid])}"


def _mermaid(text: str) -> str:
    """Text that Mermaid prints as it is: everything it could read as syntax becomes an entity."""
    return "".join(char if char.isalnum() or char in " .,:_-/()" else f"#{ord(char)};" for char in text)


def _section(title: str, lines: Sequence[str]) -> Iterator[str]:
    if lines:
        yield f"{title}:"
        yield from (f"  {line}" for line in lines)


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
