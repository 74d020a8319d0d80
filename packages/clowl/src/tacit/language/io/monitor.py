"""Counts and logs inline context, the degraded path (CLOWL-030): ids and lengths only, never content."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from prometheus_client import REGISTRY, CollectorRegistry, Counter

if TYPE_CHECKING:
    from tacit.language.context import InlineUse

_log = logging.getLogger("tacit.language")


class InlineMonitor:
    """A counter for a dashboard and a warning in the log for each use."""

    def __init__(self, registry: CollectorRegistry = REGISTRY) -> None:
        self._uses = Counter(
            "tacit_clowl_inline_context",
            "Messages whose context was sent or used inline",
            ["direction"],
            registry=registry,
        )

    def inline_used(self, use: InlineUse) -> None:
        """Take note of one use."""
        self._uses.labels(use.direction).inc()
        _log.warning("inline context %s: mid=%s length=%d", use.direction, use.mid, use.length)
