"""How long to measure, and the form of what comes out."""

from __future__ import annotations

import statistics
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence


@dataclass(frozen=True, slots=True)
class Plan:
    """Seconds a round, rounds a pair, and the size that counts as large."""

    seconds: float = 5.0
    rounds: int = 5
    large: int = 1_000_000
    quick: bool = False

    def samples(self, full: int) -> int:
        """How many single measurements to make."""
        return max(20, full // 5) if self.quick else full


@dataclass(slots=True)
class Row:
    """One line of the table."""

    what: str
    value: float
    unit: str
    beside: str = ""
    beside_value: float | None = None
    ratio: float | None = None
    at_least: float | None = None
    at_most: float | None = None
    at_most_value: float | None = None
    note: str = ""

    @property
    def met(self) -> bool | None:
        """Was the target met? None when there is none."""
        checks: list[bool] = []
        if self.at_least is not None and self.ratio is not None:
            checks.append(self.ratio >= self.at_least)
        if self.at_most is not None and self.ratio is not None:
            checks.append(self.ratio <= self.at_most)
        if self.at_most_value is not None:
            checks.append(self.value <= self.at_most_value)
        return all(checks) if checks else None


@dataclass(slots=True)
class Case:
    """What one part of the benchmark found."""

    title: str
    rows: list[Row]
    raw: dict[str, Any] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    def as_json(self, plan: Plan) -> dict[str, Any]:
        """For the results file."""
        rows = [{**asdict(row), "met": row.met} for row in self.rows]
        return {"title": self.title, "plan": asdict(plan), "rows": rows, "notes": self.notes, "raw": self.raw}


async def in_turn(
    rounds: int, parts: dict[str, Callable[[], Awaitable[dict[str, float]]]]
) -> dict[str, list[dict[str, float]]]:
    """Run the parts one after the other, again and again: noise of the machine then hits all of them."""
    found: dict[str, list[dict[str, float]]] = {name: [] for name in parts}
    for number in range(rounds):
        order = list(parts.items())
        for name, part in order if number % 2 == 0 else reversed(order):
            found[name].append(await part())
    return found


def middle(rounds: Sequence[dict[str, float]], key: str) -> float:
    """The median over rounds."""
    return statistics.median(one[key] for one in rounds)


def ratio(found: dict[str, list[dict[str, float]]], upper: tuple[str, str], lower: tuple[str, str]) -> float:
    """The median of the ratios of neighbouring rounds."""
    pairs = zip(found[upper[0]], found[lower[0]], strict=True)
    return statistics.median(one[upper[1]] / other[lower[1]] for one, other in pairs)


def percentile(values: Sequence[float], share: float) -> float:
    """The value below which `share` of all lie."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))]
