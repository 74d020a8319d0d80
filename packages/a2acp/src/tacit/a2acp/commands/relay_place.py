"""Where a relay's state is: in its folder, or in streams of NATS servers that several nodes share.

The operator's commands work beside a running relay. In a folder they write to its file, and it notices. In
streams they are a node for the moment, with a file of their own below the folder (`operator`).
"""

# apsw's types name a buffer type that Python 3.11 lacks.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false

from __future__ import annotations

from contextlib import closing, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from tacit.a2acp.commands import relay_parts
from tacit.base.commands.stream_options import plan_of
from tacit.base.errors import Refused, Unavailable
from tacit.base.install_hint import install_hint
from tacit.base.io import sqlite
from tacit.base.io.folder_lock import FolderLock
from tacit.base.io.system import SystemEntropy
from tacit.base.io.time_service import TimeService
from tacit.base.stream_plan import way_to
from tacit.relay.io import registry
from tacit.relay.io.schema import SCHEMA
from tacit.relay.io.store import FILE, follows_stream
from tacit.seal.nats_login import login_in

if TYPE_CHECKING:
    from collections.abc import Callable, Generator
    from pathlib import Path

    import apsw

    from tacit.base.ports import Clock
    from tacit.relay.io.jetstream.opening import RelayStream
    from tacit.relay.io.jetstream.store import StreamStore

OPERATOR: Final = "operator"


@dataclass(frozen=True, slots=True)
class RelayPlace:
    """A folder, and the streams, if the state is there."""

    data: Path
    stream: RelayStream | None = None

    @contextmanager
    def read(self) -> Generator[apsw.Connection]:
        """The file of the relay, for reading."""
        if self.stream is not None:
            with _operator(self.data, self.stream) as store:
                yield store.reader
            return
        with closing(self._file()) as file:
            yield file

    def change(self, change: Callable[[apsw.Connection], None]) -> None:
        """Make a change as a whole, and have every running node notice. It may be run more than once."""

        def noticed(file: apsw.Connection) -> None:
            change(file)
            file.execute("UPDATE operator_changes SET version=version+1")

        if self.stream is not None:
            with _operator(self.data, self.stream) as store:
                store.write_now(noticed)
            return
        with closing(self._file()) as file:
            file.execute("BEGIN IMMEDIATE")
            try:
                noticed(file)
                file.execute("COMMIT")
            finally:
                if file.in_transaction:
                    file.execute("ROLLBACK")

    def _file(self) -> apsw.Connection:
        path = self.data / FILE
        if follows_stream(self.data):
            raise Refused(
                "on_stream", "this relay's state is in streams: name them with `tacit relay --nats`"
            )
        if not path.exists():
            raise Unavailable(
                f"there is no relay in {self.data}; start one first, or name its folder with --data"
            )
        connection = sqlite.connect(path)
        SCHEMA.migrate(connection, path)
        return connection


@contextmanager
def _operator(data: Path, stream: RelayStream) -> Generator[StreamStore]:
    from tacit.relay.io.jetstream.opening import open_store

    folder = data / OPERATOR
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    lock = FolderLock(folder, purpose="tacit relay")
    try:
        store = open_store(folder, stream, TimeService(), SystemEntropy())
        try:
            yield store
        finally:
            store.abandon()
    finally:
        lock.release()


def relay_stream(options: dict[str, Any]) -> RelayStream | None:
    """What the command line says about streams."""
    if not options["nats"]:
        return None
    try:
        from tacit.relay.io.jetstream.opening import RelayStream
    except ModuleNotFoundError as error:
        missing = f"the library for NATS is not installed; add it with: {install_hint('a2acp', 'scale')}"
        raise Refused("not_installed", missing) from error
    plan = plan_of(options["nats"], dict(options))
    return RelayStream(way_to(plan, login_in), plan.stream, plan.replicas)


def open_node(data: Path, stream: RelayStream, clock: Clock) -> tuple[StreamStore, bytes]:
    """The store of a node that is to serve, and the seed of the relay's key, which all nodes have alike."""
    from tacit.relay.io.jetstream.opening import open_node as opened

    entropy = SystemEntropy()
    # A relay that comes from a folder of its own brings its key along: others have pinned it.
    own = relay_parts.relay_seed(data, entropy) if (data / relay_parts.KEY).exists() else None
    fresh = own or entropy.draw(32)
    store = opened(data, stream, clock, entropy)
    try:
        seed = store.write_now(lambda file: registry.secret(file, "relay_key", fresh))
    except BaseException:
        store.abandon()
        raise
    if own not in {None, seed}:
        store.abandon()
        raise Refused("another_key", "relay.key is not the key of the relay in these streams: remove it")
    return store, seed
