"""Groups as the tables hold them: loading a group's small state without reading its history."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from tacit.base.moment import Moment
from tacit.ledger.state import Actor, Group, Person

if TYPE_CHECKING:
    import apsw


def is_member(connection: apsw.Connection, group_id: str, principal: str) -> bool:
    """Is this an actor that is in the group now, or one of its people? The roster is not read for it."""
    row = connection.execute(
        "SELECT EXISTS(SELECT 1 FROM actors WHERE group_no=g.number AND actor_id=:who AND removed IS NULL) "
        "OR EXISTS(SELECT 1 FROM people WHERE group_no=g.number AND principal=:who) "
        "FROM groups g WHERE g.group_id=:group",
        {"who": principal, "group": group_id},
    ).fetchone()
    return row is not None and bool(row[0])


def load_group(connection: apsw.Connection, group_id: str) -> Group | None:
    """The group as its last event left it; None when there is none."""
    row = connection.execute(
        "SELECT number, last_seq, last_ts, chain, title, created, scopes "
        "FROM groups JOIN profiles ON group_no=number WHERE group_id=?",
        (group_id,),
    ).fetchone()
    if row is None:
        return None
    number = row[0]
    actors = connection.execute(
        "SELECT actor_id, role, title, roles, joined, removed FROM actors WHERE group_no=? ORDER BY joined",
        (number,),
    )
    people = connection.execute(
        "SELECT principal, title, joined FROM people WHERE group_no=? ORDER BY joined", (number,)
    )
    return Group(
        group_id=group_id,
        number=number,
        last_seq=row[1],
        last_ts=Moment(row[2]),
        chain=bytes(row[3]),
        title=row[4],
        created=row[5],
        scopes=json.loads(row[6]),
        actors={a[0]: Actor(a[0], a[1], a[2], _roles(a[3]), a[4], a[5]) for a in actors},
        people={p[0]: Person(p[0], p[1], p[2]) for p in people},
    )


def _roles(kept: str) -> tuple[str, ...]:
    return () if kept == "[]" else tuple(json.loads(kept))
