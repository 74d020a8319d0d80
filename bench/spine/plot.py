"""The picture of the documentation: ratios against their targets, and what growth costs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import matplotlib as mpl

if TYPE_CHECKING:
    from pathlib import Path

    from matplotlib.axes import Axes

mpl.use("Agg")

INK, GOOD, BAD, QUIET = "#1f2933", "#2f7d6b", "#c2513b", "#c9d1d9"
SHORT: Final = {
    "a": ("append, 8 x 16 in flight", "of a bare writer"),
    "c": ("HTTP POST, 64 connections", "of a bare handler"),
    "g": ("fan-out to 200, 16 in flight", "of a bare broadcast"),
}


def draw(results: dict[str, Any], path: Path) -> None:
    """Write the PNG; parts that were not measured are left out."""
    from matplotlib import pyplot as plt

    plt.rcParams.update({"font.size": 9, "text.color": INK, "axes.labelcolor": INK, "axes.edgecolor": QUIET})
    plt.rcParams.update({"xtick.color": INK, "ytick.color": INK, "axes.titleweight": "bold"})
    figure, ((left, right), (below, last)) = plt.subplots(2, 2, figsize=(11, 7.2), layout="constrained")
    _shares(left, results["cases"])
    _beside(right, results["cases"])
    _growth(below, results["cases"])
    _small(last, results["cases"])
    figure.suptitle("Tacit's spine, each part beside its bare counterpart", fontsize=13, fontweight="bold")
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=140, facecolor="white")
    plt.close(figure)


def _bare(axes: Axes, title: str) -> None:
    axes.set_title(title, loc="left", fontsize=10)
    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.tick_params(left=False)


def _bars(
    axes: Axes, names: list[str], values: list[float], colors: list[str], texts: list[str], past: float = 0.0
) -> None:
    """Bars with their numbers; `past` keeps the numbers clear of a target line."""
    spots = range(len(names))
    axes.barh(spots, values, color=colors, height=0.55)
    axes.set_yticks(spots, names)
    axes.invert_yaxis()
    for spot, value, text in zip(spots, values, texts, strict=True):
        axes.annotate(text, (max(value, past), spot), xytext=(6, 0), textcoords="offset points", va="center")


def _shares(axes: Axes, cases: dict[str, Any]) -> None:
    """Throughput as a share of the bare counterpart."""
    _bare(axes, "Throughput: share of the bare counterpart")
    rows = [(letter, cases[letter]["rows"][0]) for letter in SHORT if cases.get(letter, {}).get("rows")]
    names = ["\n".join(SHORT[letter]) for letter, _ in rows]
    colors = [BAD if row["met"] is False else GOOD for _, row in rows]
    texts = [f"{row['ratio']:.0%}  ({row['value']:,.0f} {row['unit']})" for _, row in rows]
    _bars(axes, names, [row["ratio"] for _, row in rows], colors, texts, 0.61)
    for spot, (_, row) in enumerate(rows):
        if row["at_least"]:
            axes.plot([row["at_least"]] * 2, [spot - 0.38, spot + 0.38], color=INK, linewidth=1.6)
    axes.set_xlim(0, 1.25)
    axes.set_xticks([0.0, 0.25, 0.5, 0.75, 1.0])
    axes.xaxis.set_major_formatter(mpl.ticker.PercentFormatter(1.0))
    axes.set_xlabel("black line: target, at least")


def _beside(axes: Axes, cases: dict[str, Any]) -> None:
    """Durable appends a second, ours and CCCC's, on a scale of powers."""
    _bare(axes, "Sends a second with 8 clients (log scale)")
    rows = cases.get("b", {}).get("rows", [])
    if not rows:
        axes.text(0.5, 0.5, "CCCC could not be installed here", ha="center", transform=axes.transAxes)
        axes.set_xticks([])
        axes.set_yticks([])
        return
    theirs = rows[0]["beside"].split(",", 1)[0].replace("`", "")
    names = ["Tacit, 16 in flight", "Tacit, one at a time", theirs.replace(" (", "\n(")]
    values = [rows[0]["value"], rows[1]["value"], rows[0]["beside_value"]]
    texts = [f"{value:,.0f}/s" for value in values]
    texts = [f"{text}, {row['ratio']:.0f}x" for text, row in zip(texts, rows, strict=False)] + texts[2:]
    _bars(axes, names, values, [GOOD, GOOD, QUIET], texts)
    axes.set_xscale("log")
    axes.set_xlim(10, max(values) * 30)


def _growth(axes: Axes, cases: dict[str, Any]) -> None:
    """The cost at the large size over the cost at a thousand events."""
    rows = [row for row in cases.get("f", {}).get("rows", []) if row["ratio"] is not None]
    large = cases["f"]["plan"]["large"] if rows else 0
    _bare(axes, f"Growth: p50 at {large:,} events over p50 at 1,000")
    names = [row["what"].split(", at ", 1)[0] for row in rows]
    colors = [GOOD if row["met"] else BAD for row in rows]
    texts = [f"{row['ratio']:.2f}x  ({row['value']:,.0f} µs)" for row in rows]
    _bars(axes, names, [row["ratio"] for row in rows], colors, texts, 1.3)
    axes.axvline(1.3, color=INK, linewidth=1.6)
    axes.set_xlim(0, max([1.95, *(row["ratio"] * 1.45 for row in rows)]))
    axes.set_xlabel("black line: target, at most 1.3 times")


def _small(axes: Axes, cases: dict[str, Any]) -> None:
    """Latency: ours and the bare one, in milliseconds."""
    _bare(axes, "Latency, p50 in milliseconds")
    found: list[tuple[str, float, float]] = []
    for row in cases.get("d", {}).get("rows", []):
        found.append(
            ("append, one at a time\nvs commit + echo", row["value"] / 1e3, row["beside_value"] / 1e3)
        )
    for row, name in zip(cases.get("e", {}).get("rows", []), ("/v1/ws", "SSE"), strict=False):
        found.append((f"append to receipt, {name}\nvs echo", row["value"], row["beside_value"]))
    for spot, (_, ours, bare) in enumerate(found):
        axes.barh(spot - 0.17, ours, height=0.32, color=GOOD, label="Tacit" if not spot else None)
        axes.barh(spot + 0.17, bare, height=0.32, color=QUIET, label="bare" if not spot else None)
        for offset, value in ((-0.17, ours), (0.17, bare)):
            axes.annotate(
                f"{value:.2f}", (value, spot + offset), xytext=(5, 0), textcoords="offset points", va="center"
            )
    axes.set_yticks(range(len(found)), [name for name, _, _ in found])
    axes.invert_yaxis()
    axes.set_xlim(0, max([1.0, *(ours * 1.25 for _, ours, _ in found)]))
    if found:
        axes.legend(frameon=False, loc="lower right")
