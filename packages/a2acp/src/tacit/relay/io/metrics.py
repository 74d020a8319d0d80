"""Counts for the operator, in Prometheus' text form: numbers only, never an address or a source."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.registry import Collector

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from prometheus_client.core import Metric

CONTENT_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"


@dataclass(slots=True)
class Counts:
    """What happened since the start."""

    accepted: int = 0
    delivered: int = 0
    received: int = 0
    logins: int = 0
    login_failures: int = 0
    superseded: int = 0
    overflows: int = 0
    expired: int = 0
    federated_out: int = 0
    federated_in: int = 0
    lookups: int = 0
    errors: Counter[str] = field(default_factory=Counter[str])


class _Relay(Collector):
    def __init__(self, counts: Counts, gauges: Callable[[], dict[str, float]]) -> None:
        self._counts = counts
        self._gauges = gauges

    def collect(self) -> Iterator[Metric]:
        counts = self._counts
        for name in Counts.__slots__:
            if name != "errors":
                yield CounterMetricFamily(
                    f"tacit_relay_{name}", f"Packets or events: {name}.", getattr(counts, name)
                )
        errors = CounterMetricFamily("tacit_relay_refusals", "Refusals by code.", labels=["code"])
        for code, number in sorted(counts.errors.items()):
            errors.add_metric([code], number)
        yield errors
        for name, value in self._gauges().items():
            yield GaugeMetricFamily(f"tacit_relay_{name}", f"At present: {name}.", value)


def exposition(counts: Counts, gauges: Callable[[], dict[str, float]]) -> bytes:
    """The page that Prometheus reads."""
    registry = CollectorRegistry()
    registry.register(_Relay(counts, gauges))
    return generate_latest(registry)
