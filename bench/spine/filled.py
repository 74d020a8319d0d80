"""A ledger that was filled through the store, kept between runs: the same talk, a thousand or a million long."""

from __future__ import annotations

import hashlib
import json
import random
import shutil
from typing import TYPE_CHECKING, Any, Final

import msgspec

from bench.spine.processes import CACHE
from bench.spine.texts import ClientIds, messages
from tacit.ledger.commands import Append
from tacit.ledger.io.schema import JOURNAL, OWN, READ_MODEL
from tacit.ledger.io.store import Store, StoreOptions
from tacit.ledger.submission import Submission

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

ACTORS: Final = 20
OPEN_ACKS: Final = 60
FORM: Final = 3
BATCH: Final = 2000


def filled(count: int, *, fresh: bool = False) -> tuple[Path, str]:
    """A data folder whose one group has `count` events, and the group's id."""
    tables = hashlib.sha256((JOURNAL + READ_MODEL + OWN).encode()).hexdigest()[:8]
    folder = CACHE / f"filled-{count}-{FORM}-{tables}"
    note = folder / "group.json"
    if fresh or not note.exists():
        shutil.rmtree(folder, ignore_errors=True)
        group_id = _fill(folder, count)
        note.write_text(json.dumps({"group_id": group_id}))
    return folder, str(json.loads(note.read_text())["group_id"])


def _fill(folder: Path, count: int) -> str:
    store = Store(folder, StoreOptions(purpose="benchmark"))
    store.checkpointer.start()
    group_id = "g_bench"
    store.writer.commit(
        [
            _job(
                Submission(group_id, "user", "group.create", {"title": "bench"}, b'{"title":"bench"}'),
                creates=True,
            )
        ]
    )
    batch: list[Append] = []
    for submission in _talk(group_id, count - 1):
        batch.append(_job(submission))
        if len(batch) == BATCH:
            _commit(store, batch)
    _commit(store, batch)
    store.close()
    return group_id


def _job(submission: Submission, *, creates: bool = False) -> Append:
    return Append(submission, creates)


def _commit(store: Store, batch: list[Append]) -> None:
    for outcome in store.writer.commit(batch):
        if isinstance(outcome, Exception):
            raise outcome
    batch.clear()


def _talk(group_id: str, count: int) -> Iterator[Submission]:
    """Twenty actors: mostly broadcasts, a tenth addressed to two; the last stretch holds the open attention."""
    dice, pool = random.Random(1), messages()
    client_ids = [ClientIds(number) for number in range(ACTORS)]
    for number in range(ACTORS):
        yield _made(group_id, "user", "actor.add", {"actor_id": f"a{number}"})
    for turn in range(count - ACTORS):
        by = dice.randrange(ACTORS)
        data: dict[str, Any] = {"text": pool[dice.randrange(len(pool))], "client_id": client_ids[by]()}
        left = count - ACTORS - turn
        if dice.random() < 0.1:
            data["to"] = [f"a{(by + other) % ACTORS}" for other in (1, 2)]
        if left <= OPEN_ACKS * 8 and left % 8 == 0:
            data |= {"to": ["@all"], "priority": "attention"}
        yield _made(group_id, f"a{by}", "chat.message", data)


def _made(group_id: str, by: str, kind: str, data: dict[str, Any]) -> Submission:
    return Submission(group_id, by, kind, data, msgspec.json.encode(data))
