"""`tacit agents`: what was not counted is not told as if it were."""

from __future__ import annotations

from tacit.cli.agents.agents import _table


def row(name, **today):
    spent = {"turns": 1, "tokens": 1200, "cost": 0.5, "duration_ms": 1000, **today}
    return {"actor_id": name, "status": "idle", "currency": "USD", "today": spent}


def printed(*rows):
    return "\n".join(_table(list(rows)).lines(120))


def test_estimated_tokens_and_their_cost_are_marked_and_counted_ones_are_not():
    shown = printed(row("ada", estimated=True), row("bob", estimated=False))
    ada, bob = (next(line for line in shown.splitlines() if name in line) for name in ("ada", "bob"))
    assert "~1200" in ada
    assert "~0.50 USD" in ada
    assert "~" not in bob
    assert "~ is reckoned by bytes" in " ".join(shown.split())
    assert "~" not in printed(row("bob"))
