"""A trace as one HTML file, without scripts or outside parts: who wrote what to whom, and what came of it.

Everything from a message is escaped twice over: once so that it stays on its line, once for HTML (CLOWL-079).
"""

from __future__ import annotations

import html
import json
from typing import TYPE_CHECKING, Final

from tacit.language.english import english, iso, name, safe
from tacit.language.message import to_value
from tacit.language.task import TaskState
from tacit.language.trace_style import STYLE
from tacit.language.trace_text import duration, summary, trees

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from tacit.language.message import Message
    from tacit.language.task import Task
    from tacit.language.trace import Chronicle, TraceEntry, Tree

_LANE: Final = 104
_ROW: Final = 40
_MAX_INDENT: Final = 12
_LABEL: Final = 12


def page(chronicle: Chronicle, *, title: str = "CLowl traces") -> str:
    """The whole page."""
    body = "".join(_tree(tree, kind) for tree, kind in trees(chronicle))
    return (
        "<!doctype html>\n<html lang='en'><head><meta charset='utf-8'>"
        "<meta name='viewport' content='width=device-width, initial-scale=1'>"
        "<meta http-equiv='Content-Security-Policy' "
        "content=\"default-src 'none'; style-src 'unsafe-inline'\">"
        f"<title>{_text(title)}</title><style>{STYLE}</style></head>"
        f"<body>{body or '<p class=empty>There are no messages.</p>'}</body></html>\n"
    )


def _text(text: str) -> str:
    return html.escape(safe(text))


def _tree(tree: Tree, kind: str) -> str:
    lanes = {agent: index for index, agent in enumerate(tree.agents)}
    width = max(1, len(lanes)) * _LANE
    rows = "".join(_row(tree, entry, lanes) for entry in tree.entries)
    return (
        f"<section style='--lanes:{width}px'><header><p class=kind>{kind}</p><h1>{_text(name(tree.id))}</h1>"
        f"<p class=sum>{iso(tree.started)} · {_text(summary(tree))}</p>{_states(tree)}</header>"
        f"{_gantt(tree)}{_debts(tree)}"
        f"<div class=scroll><div class=seq><div class='row head'><span class=time>after</span>"
        f"<span class=lanes>{_heads(lanes)}</span><span class=what>what was said</span></div>{rows}"
        "</div></div>"
        f"{_violations(tree)}</section>"
    )


def _states(tree: Tree) -> str:
    counts: dict[str, int] = {}
    for task in tree.tasks:
        counts[task.state] = counts.get(task.state, 0) + 1
    chips = [f"<li class='chip {state}'>{number} {state}</li>" for state, number in counts.items()]
    if tree.violations:
        chips.append(f"<li class='chip flag'>{len(tree.violations)} out of place</li>")
    return f"<ul class=chips>{''.join(chips)}</ul>" if chips else ""


def _heads(lanes: Mapping[str, int]) -> str:
    return "".join(
        f"<b style='left:{index * _LANE}px;width:{_LANE}px' title='{_text(agent)}'>{_text(name(agent))}</b>"
        for agent, index in lanes.items()
    )


def _row(tree: Tree, entry: TraceEntry, lanes: Mapping[str, int]) -> str:
    flags = "".join(f"<em class=flag>{_text(flag.replace('_', ' '))}</em>" for flag in entry.flags)
    indent = min(entry.depth, _MAX_INDENT)
    if entry.message is None:
        return (
            f"<div class='row missing'><span class=time></span><span class=lanes>{_lifelines(lanes)}</span>"
            f"<span class=what style='--d:{indent}'>The message {_text(name(entry.mid))} is missing.</span>"
            "</div>"
        )
    message = entry.message
    raw = json.dumps(to_value(message), ensure_ascii=False, indent=2)
    return (
        f"<details class='msg {message.p}'><summary class=row><span class=time>{_after(tree, message)}</span>"
        f"<span class=lanes>{_lifelines(lanes)}{_arrows(message, lanes)}</span>"
        f"<span class=what style='--d:{indent}'><i>{message.p}</i>"
        f"<span>{_text(english(message))}{flags}</span></span>"
        "</summary>"
        f"<pre>{_raw(raw)}</pre></details>"
    )


def _after(tree: Tree, message: Message) -> str:
    return f"<span title='{iso(message.ts)}'>{_text(duration(message.ts - tree.started))}</span>"


def _raw(text: str) -> str:
    return "\n".join(_text(line) for line in text.split("\n"))


def _lifelines(lanes: Mapping[str, int]) -> str:
    return "".join(f"<s style='left:{_middle(index)}px'></s>" for index in lanes.values())


def _middle(index: int) -> int:
    return index * _LANE + _LANE // 2


def _arrows(message: Message, lanes: Mapping[str, int]) -> str:
    start = _middle(lanes[message.sender])
    targets = [lanes[agent] for agent in message.recipients if agent in lanes]
    if message.is_broadcast:
        targets = [index for agent, index in lanes.items() if agent != message.sender]
    width = len(lanes) * _LANE
    lines = "".join(_arrow(start, _middle(index)) for index in targets)
    return (
        f"<svg width='{width}' height='{_ROW}' aria-hidden='true'>{lines}"
        f"<circle cx='{start}' cy='{_ROW // 2 + 6}' r='4'/>{_label(message, start, targets)}</svg>"
    )


def _arrow(start: int, end: int) -> str:
    y = _ROW // 2 + 6
    if start == end:
        return f"<path d='M{start} {y} h22 v-8 h-16' class=line />"
    sign = 1 if end > start else -1
    tip = end - sign * 2
    back = tip - sign * 8
    return (
        f"<path d='M{start} {y} H{back}' class=line />"
        f"<path d='M{tip} {y} L{back} {y - 4.5} L{back} {y + 4.5} Z' class=tip />"
    )


def _label(message: Message, start: int, targets: list[int]) -> str:
    end = _middle(targets[0]) if targets else start
    middle = (start + min(max(end, start - _LANE), start + _LANE)) / 2
    task = str(message.data["code"]) if message.p == "ERR" else message.task
    task = task if len(task) <= _LABEL else task[: _LABEL - 1] + "…"
    return f"<text x='{middle:g}' y='{_ROW // 2 - 1}'>{_text(task)}</text>"


def _gantt(tree: Tree) -> str:
    if not tree.tasks:
        return ""
    bars = "".join(_bar(tree, task) for task in tree.tasks)
    return f"<div class=gantt><h2>Tasks</h2>{bars}</div>"


def _bar(tree: Tree, task: Task) -> str:
    whole = max(1, tree.duration)
    left = 100 * max(0, task.opened - tree.started) / whole
    end = tree.started + tree.duration if task.is_open else task.changed
    width = max(1.2, 100 * max(0, end - task.opened) / whole)
    left = min(left, 100 - width)
    owners = " → ".join(name(agent) for _, agent in task.owners)
    took = f" in {duration(task.duration)}" if task.duration is not None else ""
    code = f" {task.code}" if task.code and task.state in {TaskState.FAILED, TaskState.CANCELLED} else ""
    attempt = f" · attempt {task.attempt}" if task.attempt > 1 else ""
    mode = f" · {task.mode}" if task.mode else ""
    return (
        f"<div class=task><span class=who><b>{_text(name(task.name))}</b> "
        f"{_text(name(task.requester))} asked "
        f"{_text(owners)}{mode}{attempt}</span>"
        f"<span class=track><span class='bar {task.state}' "
        f"style='left:{left:.2f}%;width:{width:.2f}%'></span></span>"
        f"<span class='chip {task.state}'>{task.state}{_text(code)}{_text(took)}</span></div>"
    )


def _debts(tree: Tree) -> str:
    if not tree.owed:
        return ""
    items = "".join(
        f"<li><b>{_text(name(debt.debtor))}</b> owes <b>{_text(name(debt.creditor))}</b>: {_text(debt.owes)} "
        f"<small>({_text(name(debt.task))})</small></li>"
        for debt in tree.owed
    )
    return f"<div class=owed><h2>Still owed</h2><ul>{items}</ul></div>"


def _violations(tree: Tree) -> str:
    if not tree.violations:
        return ""
    return f"<div class=owed><h2>Out of place</h2><ul>{''.join(_violation_items(tree))}</ul></div>"


def _violation_items(tree: Tree) -> Iterator[str]:
    for flag in tree.violations:
        yield (
            f"<li><em class=flag>{_text(flag.kind.replace('_', ' '))}</em> {_text(flag.reason)} "
            f"<code>{_text(name(flag.mid))}</code> <small>{flag.row}</small></li>"
        )
