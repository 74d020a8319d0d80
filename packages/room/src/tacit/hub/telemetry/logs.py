"""Structured logs: one JSON object a line, or a short line for a person at a terminal. Never user content."""

from __future__ import annotations

import json
import logging
from datetime import UTC, datetime
from typing import Final

_STANDARD: Final = frozenset(logging.makeLogRecord({}).__dict__) | {"message", "asctime", "taskName"}


def _extra(record: logging.LogRecord) -> dict[str, object]:
    return {name: value for name, value in record.__dict__.items() if name not in _STANDARD}


class JsonLines(logging.Formatter):
    """For machines."""

    def format(self, record: logging.LogRecord) -> str:
        """One object."""
        line: dict[str, object] = {
            "at": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "from": record.name,
            "what": record.getMessage(),
            **_extra(record),
        }
        if record.exc_info:
            line["trace"] = self.formatException(record.exc_info)
        return json.dumps(line, default=str)


class ShortLines(logging.Formatter):
    """For people."""

    def format(self, record: logging.LogRecord) -> str:
        """One line, and the trace of a fault below it."""
        extra = " ".join(f"{name}={value}" for name, value in _extra(record).items())
        line = f"{record.levelname.lower():7} {record.getMessage()} {extra}".rstrip()
        return f"{line}\n{self.formatException(record.exc_info)}" if record.exc_info else line


def set_up(*, as_json: bool, level: str = "INFO") -> None:
    """Send the house's logs to standard error."""
    handler = logging.StreamHandler()
    handler.setFormatter(JsonLines() if as_json else ShortLines())
    logger = logging.getLogger("tacit")
    logger.handlers = [handler]
    logger.setLevel(level)
    logger.propagate = False
