"""A trace as OpenTelemetry spans, in the OTLP JSON form that every collector takes (CLOWL-079).

A task is a span from its request to its end, below the task it was delegated or retried from; messages are
the span's events. Ids are hashes of CLowl's own, so the same trace exports to the same spans.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any, Final

from tacit.language.english import english
from tacit.language.task import TaskState

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tacit.language.message import Message
    from tacit.language.task import Task, TaskKey
    from tacit.language.trace import Tree

_NANOSECONDS: Final = 1_000_000_000
_INTERNAL: Final = 1
_OK: Final = 1
_ERROR: Final = 2


def trace_id(tid: str) -> str:
    """Sixteen bytes in hex digits."""
    return hashlib.sha256(f"clowl-trace:{tid}".encode()).hexdigest()[:32]


def span_id(key: TaskKey) -> str:
    """Eight bytes in hex digits."""
    return hashlib.sha256(f"clowl-task:{len(key.mid)}:{key.mid}:{key.agent}".encode()).hexdigest()[:16]


def spans(tree: Tree) -> list[dict[str, Any]]:
    """One span for each task of the trace."""
    end = tree.started + tree.duration
    return [_span(tree, task, end) for task in tree.tasks]


def otlp(trees: Iterable[Tree]) -> dict[str, Any]:
    """An OTLP export request, ready to be posted to a collector."""
    found = [span for tree in trees for span in spans(tree)]
    resource = {"attributes": [_attribute("service.name", "clowl")]}
    scope = {"scope": {"name": "tacit.language"}, "spans": found}
    return {"resourceSpans": [{"resource": resource, "scopeSpans": [scope]}]}


def _span(tree: Tree, task: Task, end: int) -> dict[str, Any]:
    span: dict[str, Any] = {
        "traceId": trace_id(tree.id),
        "spanId": span_id(task.key),
        "name": task.name,
        "kind": _INTERNAL,
        "startTimeUnixNano": str(task.opened * _NANOSECONDS),
        "endTimeUnixNano": str(max(task.opened, end if task.is_open else task.changed) * _NANOSECONDS),
        "attributes": [
            _attribute("clowl.requester", task.requester),
            _attribute("clowl.owner", task.owner),
            _attribute("clowl.state", task.state.value),
            _attribute("clowl.cid", task.cid),
            _attribute("clowl.mid", task.key.mid),
            _attribute("clowl.attempt", str(task.attempt)),
        ],
        "events": [_event(message) for message in tree.timeline if _concerns(message, task)],
        "status": _status(task),
    }
    above = task.delegated_from or task.retry_of
    if above is not None:
        span["parentSpanId"] = span_id(above)
    return span


def _concerns(message: Message, task: Task) -> bool:
    if message.mid == task.key.mid:
        return True
    return message.parent == task.key.mid and (
        message.sender == task.key.agent or task.key.agent in message.recipients
    )


def _event(message: Message) -> dict[str, Any]:
    return {
        "name": message.p,
        "timeUnixNano": str(message.ts * _NANOSECONDS),
        "attributes": [
            _attribute("clowl.mid", message.mid),
            _attribute("clowl.english", english(message)),
        ],
    }


def _status(task: Task) -> dict[str, Any]:
    if task.state is TaskState.COMPLETED:
        return {"code": _OK}
    if task.state in {TaskState.FAILED, TaskState.CANCELLED}:
        return {"code": _ERROR, "message": task.code}
    return {}


def _attribute(key: str, value: str) -> dict[str, Any]:
    return {"key": key, "value": {"stringValue": value}}
