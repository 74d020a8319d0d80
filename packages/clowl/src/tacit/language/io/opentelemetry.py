"""Hands a trace's spans to an OpenTelemetry exporter; needs the extra `otel` (CLOWL-079)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import Event, ReadableSpan
from opentelemetry.trace import SpanContext, SpanKind, Status, StatusCode, TraceFlags

from tacit.language.spans import spans

if TYPE_CHECKING:
    from collections.abc import Iterable

    from opentelemetry.sdk.trace.export import SpanExporter, SpanExportResult

    from tacit.language.trace import Tree

_STATUS: Final = {1: StatusCode.OK, 2: StatusCode.ERROR}


def export(trees: Iterable[Tree], exporter: SpanExporter) -> SpanExportResult:
    """Export every task of the traces as a span."""
    return exporter.export([_readable(span) for tree in trees for span in spans(tree)])


def _readable(span: dict[str, Any]) -> ReadableSpan:
    parent = span.get("parentSpanId")
    return ReadableSpan(
        name=span["name"],
        context=_context(span["traceId"], span["spanId"]),
        parent=_context(span["traceId"], parent) if parent else None,
        resource=Resource({"service.name": "clowl"}),
        attributes=_attributes(span["attributes"]),
        events=[
            Event(event["name"], _attributes(event["attributes"]), int(event["timeUnixNano"]))
            for event in span["events"]
        ],
        kind=SpanKind.INTERNAL,
        status=_status(span["status"]),
        start_time=int(span["startTimeUnixNano"]),
        end_time=int(span["endTimeUnixNano"]),
    )


def _context(trace: str, span: str) -> SpanContext:
    return SpanContext(
        int(trace, 16), int(span, 16), is_remote=False, trace_flags=TraceFlags(TraceFlags.SAMPLED)
    )


def _attributes(listed: list[dict[str, Any]]) -> dict[str, str]:
    return {entry["key"]: entry["value"]["stringValue"] for entry in listed}


def _status(status: dict[str, Any]) -> Status:
    code = _STATUS.get(status.get("code", 0), StatusCode.UNSET)
    return Status(code, status.get("message") if code is StatusCode.ERROR else None)
