"""`tacit agents`: who is online, busy, owing what, spending what."""

from __future__ import annotations

from contextlib import closing
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from tacit.base.commands.terminal import Table
from tacit.base.errors import Corrupt, Unavailable
from tacit.base.moment import Moment
from tacit.cli import show
from tacit.cli.session import CliSession, pass_session

if TYPE_CHECKING:
    from collections.abc import Sequence


@click.command()
@click.argument("group")
@click.option(
    "--days",
    type=click.IntRange(1, 366),
    help="What the agents that run on this machine have cost, by day and room, for so many days.",
)
@pass_session
def agents(session: CliSession, group: str, days: int | None) -> None:
    """Who is online, busy, owing what, spending what."""
    group_id = session.resolve_group(group)
    if days is not None:
        rows = _spent(session, group_id, days)
        session.answer(rows, lambda: session.out.print(_costs(rows)))
        return
    found = session.hub(group_id).call("agents", {"group_id": group_id})
    _add_worktrees(session, group_id, found["agents"])
    session.answer(found["agents"], lambda: session.out.print(_table(found["agents"])))


def _spent(session: CliSession, group_id: str, days: int) -> list[dict[str, Any]]:
    """From the agents' own memories: day, room and model of each."""
    from tacit.base.io.time_service import TimeService
    from tacit.cli.agents.join import state_folder
    from tacit.harness.budget import DAY, day_of
    from tacit.harness.io.store import HarnessStore

    since = day_of(Moment(TimeService().now() - (days - 1) * DAY))
    found: list[dict[str, Any]] = []
    for path in sorted(state_folder(group_id, "x").parent.glob("*/harness.db")):
        try:
            with closing(HarnessStore(path)) as store:
                found += [{"agent": path.parent.name, **asdict(one)} for one in store.spending(since)]
        except (Corrupt, Unavailable) as error:  # it fails alone
            session.err.print(show.plain(f"{path.parent.name}: {error}"))
    return found


def _costs(rows: Sequence[dict[str, Any]]) -> Table:
    caption = "~ is reckoned by bytes, as the agent counts no tokens; a cost that nobody knows is left out."
    table = Table("agent", "day", "room", "model", "turns", "tokens", "cost", caption=caption)
    for row in rows:
        about = "~" if row["estimated"] else ""
        cost = "" if row["cost_usd"] is None else f"{about}{row['cost_usd']:.4f} USD"
        words = [show.plain(str(row[name])) for name in ("agent", "day", "conversation", "model", "turns")]
        table.add(*words, f"{about}{row['tokens']}", cost)
    return table


def _add_worktrees(session: CliSession, group_id: str, rows: Sequence[dict[str, Any]]) -> None:
    """The branches that are on this machine, to the agents whose they are."""
    from tacit.cli.agents.worktree import all_worktrees

    here = {one.tree.agent: one for one in all_worktrees(session) if one.group_id == group_id}
    for row in rows:
        found = here.get(str(row["actor_id"]))
        row["worktree"] = found.shown() if found is not None else None


def _table(rows: Sequence[dict[str, Any]]) -> Table:
    caption = "Turns, tokens, time and cost are of today (UTC)."
    spent: list[dict[str, Any]] = [row.get("today") or {} for row in rows]
    if any(one.get("estimated") for one in spent):
        caption += " ~ is reckoned by bytes, as the agent counts no tokens."
    names = ["agent", "roles", "status", "owes", "holds", "turns", "tokens", "time", "cost"]
    if any(row.get("worktree") for row in rows):
        names.append("branch")
    table = Table(*names, caption=caption)
    for row in rows:
        today: dict[str, Any] = row.get("today") or {}
        currency = row.get("currency")  # none: the agent does not say what it costs
        about = "~" if today.get("estimated") else ""
        cost = f"{about}{today.get('cost', 0.0):.2f} {currency}" if today and currency else ""
        table.add(
            show.plain(str(row["actor_id"])),
            show.plain(", ".join(row.get("roles") or ())),
            show.plain(" ".join(filter(None, (row["status"], row.get("detail"))))),
            str(len(row.get("owes") or ())),
            str(len(row.get("claims") or ())),
            str(today.get("turns", 0)),
            f"{about}{today.get('tokens', 0)}",
            _lasting(today.get("duration_ms", 0)),
            cost,
            *([show.plain(_branch(row["worktree"]))] if row.get("worktree") else []),
        )
    return table


def _lasting(milliseconds: int) -> str:
    seconds = round(milliseconds / 1000)
    return f"{seconds // 60} min" if seconds >= 600 else f"{seconds} s"


def _branch(worktree: dict[str, Any]) -> str:
    status = worktree["status"]
    return f"{worktree['branch']} ({status['words'] if status else worktree['fault']})"
