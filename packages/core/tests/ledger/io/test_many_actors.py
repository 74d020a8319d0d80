"""Adding an actor costs the same however many there are: counted in calls and rows, not in time."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import msgspec

from tacit.attention.io.engine import AttentionEngine
from tacit.ledger.commands import Append
from tacit.ledger.io.store import Store
from tacit.ledger.submission import Submission

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

GROUP = "g_many"
FEW, MANY = 100, 10_000


def wanted(kind: str, **data: Any) -> Append:
    return Append(Submission(GROUP, "user", kind, data, msgspec.json.encode(data)), kind == "group.create")


def work_of(run: Callable[[], object]) -> int:
    """How many calls it makes."""
    count = 0

    def counted(_frame: object, event: str, _given: object) -> None:
        nonlocal count
        count += event in {"call", "c_call"}

    sys.setprofile(counted)
    try:
        run()
    finally:
        sys.setprofile(None)
    return count


def test_the_ten_thousandth_actor_costs_what_the_hundredth_does(tmp_path: Path) -> None:
    store = Store(tmp_path, engine=AttentionEngine)
    writer, connection = store.writer, store._opened().connection
    list(writer.commit([wanted("group.create", title="Many")]))

    def add(name: str) -> tuple[int, int]:
        rows = connection.total_changes()
        calls = work_of(lambda: list(writer.commit([wanted("actor.add", actor_id=name)])))
        return calls, connection.total_changes() - rows

    list(writer.commit([wanted("actor.add", actor_id=f"few{number}") for number in range(FEW)]))
    few = [add(f"few_more{number}") for number in range(5)]
    list(writer.commit([wanted("actor.add", actor_id=f"many{number}") for number in range(MANY)]))
    many = [add(f"many_more{number}") for number in range(5)]
    assert min(calls for calls, _ in many) <= 1.2 * max(calls for calls, _ in few)
    assert {rows for _, rows in many} <= {rows for _, rows in few}

    member = work_of(lambda: store.read(lambda reader: reader.is_member(GROUP, "many7")))
    assert member < 60
    assert store.read(lambda reader: reader.is_member(GROUP, "many7"))
    list(writer.commit([wanted("actor.remove", actor_id="many7")]))
    assert not store.read(lambda reader: reader.is_member(GROUP, "many7"))
    group = store.read(lambda reader: reader.group(GROUP))
    assert len(list(group.present())) == FEW + MANY + 9
    store.close()
