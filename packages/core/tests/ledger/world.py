"""A ledger on a real disk for tests: a clock that is moved by hand, randomness from a seed, short verbs."""

from __future__ import annotations

import hashlib
import itertools
import os
from random import Random
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from tacit.base.errors import Refused
from tacit.base.moment import SECOND, Moment, parse_rfc3339
from tacit.ledger.admission import AdmissionSettings
from tacit.ledger.commands import RecordBlob
from tacit.ledger.cursor import selection
from tacit.ledger.envelope import Event, decode
from tacit.ledger.io import upkeep, verification
from tacit.ledger.io.journal import SqliteJournal
from tacit.ledger.io.store import Store, StoreOptions
from tacit.ledger.submission import Submission

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from contextlib import AbstractContextManager
    from pathlib import Path

    import apsw

    from tacit.ledger.commands import Committed, Duplicate
    from tacit.ledger.envelope import StoredEvent
    from tacit.ledger.io.reader import InboxContents
    from tacit.ledger.ports import Journal
    from tacit.ledger.state import Group

START = parse_rfc3339("2026-01-13T10:00:00Z") or Moment(0)


_seeds = itertools.count(1)


class HandClock:
    """Stands still until it is moved."""

    def __init__(self, at: Moment = START) -> None:
        self.at = at

    def now(self) -> Moment:
        return self.at

    def move(self, seconds: float) -> None:
        self.at = Moment(self.at + int(seconds * SECOND))


class SeededEntropy:
    """Reproducible bytes."""

    def __init__(self, seed: int = 1) -> None:
        self._random = Random(seed)

    def draw(self, count: int, /) -> bytes:
        return self._random.randbytes(count)


def submission(group: str, by: str, kind: str, data: dict[str, Any], scope_key: str = "") -> Submission:
    return Submission(group, by, kind, data, msgspec.json.encode(data), scope_key)


def submit(store: Store, group: str, by: str, kind: str, /, **data: Any) -> Committed | Duplicate:
    return store.append(submission(group, by, kind, data))


def refusal(code: str, row: str | None = None) -> AbstractContextManager[pytest.ExceptionInfo[Refused]]:
    """Expect a refusal with this code (and row)."""
    return pytest.raises(
        Refused, check=lambda error: error.code == code and (row is None or error.row == row)
    )


class World:
    """One data folder, opened and reopened."""

    def __init__(
        self,
        folder: Path,
        *,
        settings: AdmissionSettings | None = None,
        vfs: str | None = None,
        hard_pages: int = 16_000,
        journal: Callable[[apsw.Connection], Journal] = SqliteJournal,
    ) -> None:
        self.folder = folder
        self.clock = HandClock()
        # A second world on the same folder, also in a child process, must not draw the same ids again.
        self.entropy = SeededEntropy(os.getpid() << 20 | next(_seeds))
        self.settings = settings or AdmissionSettings()
        self.vfs = vfs
        self.hard_pages = hard_pages
        self.journal = journal
        self.store = self._open()

    def _open(self) -> Store:
        options = StoreOptions(
            settings=self.settings,
            clock=self.clock,
            entropy=self.entropy,
            purpose="a test",
            vfs=self.vfs,
            wal_hard_pages=self.hard_pages,
            journal=self.journal,
        )
        store = Store(self.folder, options)
        store.start()
        return store

    def close(self) -> None:
        if self.store is not None:
            self.store.close()
            self.store = None  # type: ignore[assignment]

    def reopen(self) -> None:
        self.close()
        self.store = self._open()

    def group(self, group_id: str = "g_one", *, scopes: Sequence[str] = (), **actors: str | None) -> str:
        """A group with actors; `name=role`, and `_` in a name stands for `-`."""
        data: dict[str, Any] = {"title": f"Group {group_id}"}
        if scopes:
            data["scopes"] = [{"url": url} for url in scopes]
        self.store.append(submission(group_id, "user", "group.create", data), creates=True)
        for name, role in actors.items():
            self.do(group_id, "user", "actor.add", actor_id=name.replace("_", "-"), role=role)
        return group_id

    def do(self, group: str, by: str, kind: str, /, **data: Any) -> Event:
        """Append; the event as it was stored."""
        outcome = submit(self.store, group, by, kind, **data)
        assert type(outcome).__name__ == "Committed", outcome
        return decode(outcome.event.raw)

    def try_(self, group: str, by: str, kind: str, /, **data: Any) -> Committed | Duplicate:
        return submit(self.store, group, by, kind, **data)

    def say(self, group: str, by: str, text: str = "hello", /, **data: Any) -> Event:
        return self.do(group, by, "chat.message", text=text, **data)

    def state(self, group: str) -> Group:
        return self.store.read(lambda reader: reader.group(group))

    def page(self, group: str, principal: str = "user", **wanted: Any) -> list[StoredEvent]:
        chosen = selection(**{"limit": 1000, **wanted})
        state = self.state(group)
        return self.store.read(lambda reader: reader.page(state, principal, chosen)).events

    def events(self, group: str, principal: str = "user", **wanted: Any) -> list[Event]:
        return [decode(found.raw) for found in self.page(group, principal, **wanted)]

    def inbox(self, group: str, principal: str, limit: int = 1000) -> InboxContents:
        state = self.state(group)
        return self.store.read(lambda reader: reader.inbox(state, principal, limit))

    def unread(self, group: str, principal: str) -> list[str]:
        """Ids of the unread events, each once; their number and the count must agree."""
        inbox = self.inbox(group, principal)
        assert len({found.seq for found in inbox.unread}) == len(inbox.unread) == inbox.unread_count
        return [found.event_id for found in inbox.unread]

    def owed(self, group: str, principal: str) -> list[str]:
        """Ids of the open acknowledgements; their number and the count must agree."""
        inbox = self.inbox(group, principal)
        assert len(inbox.attention) == inbox.attention_count
        return [found.event_id for found in inbox.attention]

    def notices(self, group: str, principal: str) -> list[str]:
        return [found.event_id for found in self.inbox(group, principal).notices]

    def blob(self, group: str, by: str, content: bytes) -> str:
        """Store a blob as a door would: bytes first, then its record and its owner. Its path."""
        incoming = self.store.blobs.incoming()
        incoming.write(content)
        stored = incoming.finish()
        self.store.execute(RecordBlob(group, stored.sha256, stored.size, "text/plain", by))
        return stored.sha256

    def sees_blob(self, group: str, principal: str, path: str) -> bool:
        state = self.state(group)
        try:
            return self.store.read(lambda reader: reader.blob(state, principal, path)).path == path
        except Refused as refused:
            if refused.code != "blob_not_found":
                raise
            return False

    def assert_rebuilds(self) -> None:
        """Close; a rebuild changes no projection and a verification finds nothing."""
        self.close()
        before = upkeep.fingerprint(self.folder)
        upkeep.rebuild(self.folder, self.clock, self.entropy, self.settings)
        assert upkeep.fingerprint(self.folder) == before
        report = verification.verify(self.folder, self.entropy)
        assert report.sound, report.problems


def digest(raws: Sequence[bytes] | Iterator[bytes]) -> str:
    """One hash over many events' bytes."""
    whole = hashlib.sha256()
    for raw in raws:
        whole.update(hashlib.sha256(raw).digest())
    return whole.hexdigest()
