"""What a newer version wrote is refused at every door in the same words, and nothing in it is changed.

Each folder is made by this version; its format is then said to be one that comes later.
"""

from __future__ import annotations

import asyncio
import io
import json
import os
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from tacit.a2acp.commands.relay_place import RelayPlace
from tacit.a2acp.post.io.schema import SCHEMA as AGENT_SCHEMA
from tacit.a2acp.post.io.store import FILE as AGENT_FILE
from tacit.a2acp.post.io.store import AgentStore
from tacit.agent.consent.io import by_hand
from tacit.agent.features import FOLD
from tacit.agent.kernel.io.journal import Journal
from tacit.agent.kernel.io.paths import journal_file
from tacit.agent.shell.io import carrying
from tacit.base.errors import WrittenByNewer
from tacit.base.io.sqlite import connect
from tacit.base.io.system import SystemEntropy
from tacit.base.io.time_service import TimeService
from tacit.base.moment import Moment
from tacit.harness.io import store as harness
from tacit.hub.writer.codec import WriterFailure
from tacit.ledger.admission import AdmissionSettings
from tacit.ledger.io import backup, upkeep, verification
from tacit.ledger.io.jetstream import stream as ledger_stream
from tacit.ledger.io.jetstream.cache import open_cache
from tacit.ledger.io.jetstream.copying import copy_in
from tacit.ledger.io.schema import SCHEMA as LEDGER_SCHEMA
from tacit.ledger.io.store import DATABASE, Store, StoreOptions
from tacit.relay.io.jetstream.opening import RelayStream, open_store
from tacit.relay.io.schema import SCHEMA as RELAY_SCHEMA
from tacit.relay.io.store import FILE as RELAY_FILE
from tacit.relay.io.store import RelayStore
from tests.ledger.io.jetstream.servers import PATIENT, Server, new_name, one, opened
from tests.ledger.io.jetstream.test_cache import StreamWorld
from tests.ledger.world import World
from tests.typed import typed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from tacit.base.io.sqlite import Schema

CLOCK, ENTROPY = TimeService(), SystemEntropy()
LATER = 99
HARNESS_FILE = "harness.db"


def sentence(what: str, known: int, written: int = LATER) -> str:
    return (
        f"A newer version of Tacit wrote {what}: it has format {written}, and this version reads formats up to {known}."
        " Use that version or a newer one; nothing was changed."
    )


def is_newer(path: Path) -> None:
    with closing(connect(path)) as file:
        file.execute(f"PRAGMA user_version={LATER}")
        file.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()


def content(folder: Path) -> dict[str, bytes]:
    """Every file but the ones by which SQLite's readers know of each other."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in files
        if not path.name.endswith(("-shm", "-wal")) and path.name not in {"lock", ".lock"}
    }


def a_ledger(folder: Path) -> Path:
    with closing(World(folder)) as world:
        world.group("g_a", ann="peer")
    return folder / DATABASE


def a_relay(folder: Path) -> Path:
    asyncio.run(RelayStore(folder, now=Moment(1)).close())
    return folder / RELAY_FILE


def keys(folder: Path) -> Path:
    AgentStore(folder).close()
    return folder / AGENT_FILE


def a_journal(folder: Path) -> Path:
    keys(folder)
    Journal(folder, FOLD, clock=CLOCK, entropy=ENTROPY).close()
    return journal_file(folder)


def a_harness(folder: Path) -> Path:
    folder.mkdir()
    harness.HarnessStore(folder / HARNESS_FILE).close()
    return folder / HARNESS_FILE


def its_settings(folder: Path) -> object:
    with closing(AgentStore(folder)) as store:
        return by_hand.settings(store, "zone")


DOORS: dict[str, tuple[Callable[[Path], Path], Callable[[Path], object], Schema]] = {
    "a hub": (a_ledger, Store, LEDGER_SCHEMA),
    "ledger verify": (a_ledger, lambda folder: verification.verify(folder, ENTROPY), LEDGER_SCHEMA),
    "ledger export": (a_ledger, lambda folder: list(upkeep.export(folder)), LEDGER_SCHEMA),
    "ledger rebuild": (a_ledger, lambda folder: upkeep.rebuild(folder, CLOCK, ENTROPY, AdmissionSettings()), LEDGER_SCHEMA),
    "backup": (a_ledger, lambda folder: backup.write(folder, io.BytesIO(), folder.parent, "now", ENTROPY), LEDGER_SCHEMA),
    "a relay": (a_relay, lambda folder: RelayStore(folder, now=Moment(1)), RELAY_SCHEMA),
    "a relay's commands": (a_relay, lambda folder: RelayPlace(folder).change(lambda _file: None), RELAY_SCHEMA),
    "an agent's keys": (keys, AgentStore, AGENT_SCHEMA),
    "an agent's journal": (a_journal, lambda folder: Journal(folder, FOLD, clock=CLOCK, entropy=ENTROPY), LEDGER_SCHEMA),
    "an agent's settings": (a_journal, its_settings, LEDGER_SCHEMA),
    "an agent's backup": (a_journal, carrying.saved, LEDGER_SCHEMA),
    "a harness": (a_harness, lambda folder: harness.HarnessStore(folder / HARNESS_FILE), harness._SCHEMA),
}  # fmt: skip


@pytest.mark.parametrize("door", DOORS)
def test_a_newer_folder_is_refused_in_the_same_words_and_left_as_it_is(door: str, tmp_path: Path) -> None:
    make, enter, schema = DOORS[door]
    folder = tmp_path / "data"
    path = make(folder)
    is_newer(path)
    before = content(folder)
    with pytest.raises(WrittenByNewer) as caught:
        enter(folder)
    assert str(caught.value) == sentence(f"this folder's {path.name}", len(schema.steps))
    assert content(folder) == before


def test_a_newer_ledger_that_ends_torn_is_not_tidied(tmp_path: Path) -> None:
    path = a_ledger(tmp_path / "data")
    is_newer(path)
    path.with_name(f"{DATABASE}-wal").write_bytes(os.urandom(5000))
    with pytest.raises(WrittenByNewer):
        Store(tmp_path / "data")
    assert not (tmp_path / "data" / "quarantine").exists()


def test_a_backup_of_a_newer_ledger_is_refused_in_the_same_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = io.BytesIO()
    with monkeypatch.context() as patched:
        patched.setattr(type(LEDGER_SCHEMA), "require_known", lambda *_: 0)
        is_newer(a_ledger(tmp_path / "data"))
        backup.write(tmp_path / "data", made, tmp_path, "now", ENTROPY)
    made.seek(0)
    with pytest.raises(WrittenByNewer, match=r"nothing was changed\.$"):
        backup.restore(made, tmp_path / "restored", ENTROPY)
    assert not (tmp_path / "restored").exists()


@pytest.mark.parametrize(
    ("make", "words", "schema"),
    [
        (a_ledger, ("ledger", "verify"), LEDGER_SCHEMA),
        (a_ledger, ("up", "--port", "0", "--no-crew"), LEDGER_SCHEMA),
        (a_relay, ("relay", "--port", "0", "--domain", "relay.test"), RELAY_SCHEMA),
        (a_relay, ("relay", "stats"), RELAY_SCHEMA),
        (keys, ("agent", "keys"), AGENT_SCHEMA),
    ],
    ids=["verify", "up", "relay", "relay stats", "agent keys"],
)
def test_a_command_says_it_in_one_line_and_ends_with_3(
    make: Callable[[Path], Path], words: tuple[str, ...], schema: Schema, tmp_path: Path
) -> None:
    path = make(tmp_path / "data")
    is_newer(path)
    done = typed((*words, "--data", str(tmp_path / "data")), os.environ | {"HOME": str(tmp_path)})
    assert (done.returncode, done.stdout) == (3, "")
    assert done.stderr.splitlines()[-1] == sentence(f"this folder's {path.name}", len(schema.steps))
    assert "damaged" not in done.stderr


def test_a_command_that_answers_in_json_gives_it_a_code(tmp_path: Path) -> None:
    is_newer(a_relay(tmp_path / "data"))
    words = ("relay", "stats", "--json", "--data", str(tmp_path / "data"))
    done = typed(words, os.environ | {"HOME": str(tmp_path)})
    answer = {
        "code": "written_by_newer",
        "message": sentence(f"this folder's {RELAY_FILE}", len(RELAY_SCHEMA.steps)),
    }
    assert (done.returncode, json.loads(done.stdout)) == (3, answer)


def test_the_process_that_writes_says_it_to_the_hub_in_the_same_words() -> None:
    error = WrittenByNewer("what is in the stream", 2, 1)
    again = WriterFailure.of(error).error()
    assert isinstance(again, WrittenByNewer)
    assert str(again) == str(error) == sentence("what is in the stream", 1, 2)


# On streams: the servers' messages bear a format, and the folder of a node is a file like the others.


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    made = one(tmp_path_factory.mktemp("nats"))
    yield made
    made.kill()


@pytest.mark.proof
def test_a_newer_node_is_not_followed_and_its_folder_not_made_anew(server: Server, tmp_path: Path) -> None:
    with closing(opened([server.url], new_name(), 1)) as stream:
        node = tmp_path / "node"
        store = open_cache(node, StoreOptions(readers=1), stream)
        store.close()
        is_newer(node / DATABASE)
        before = content(node)
        with pytest.raises(WrittenByNewer) as caught:
            open_cache(node, StoreOptions(readers=1), stream)
        assert str(caught.value) == sentence(f"this folder's {DATABASE}", len(LEDGER_SCHEMA.steps))
        assert content(node) == before


@pytest.mark.proof
def test_a_newer_ledger_is_not_copied_into_a_stream(server: Server, tmp_path: Path) -> None:
    is_newer(a_ledger(tmp_path / "data"))
    with closing(opened([server.url], new_name(), 1)) as stream:
        with pytest.raises(WrittenByNewer):
            copy_in(tmp_path / "data", stream, ENTROPY)
        assert stream.end() == 0


@pytest.mark.proof
def test_what_a_newer_node_put_into_a_stream_is_not_applied(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with closing(opened([server.url], new_name(), 1)) as stream:
        with monkeypatch.context() as later:
            later.setattr(ledger_stream, "FORMAT", "2")
            with closing(StreamWorld(tmp_path / "newer", stream)) as world:
                world.group("g_a", ann="peer")
        with pytest.raises(WrittenByNewer) as caught:
            open_cache(tmp_path / "node", StoreOptions(readers=1), stream)
        assert str(caught.value) == sentence("what is in the stream", 1, 2)


@pytest.mark.proof
def test_a_relays_node_refuses_a_newer_folder_and_what_a_newer_node_put_into_the_journal(
    server: Server, tmp_path: Path
) -> None:
    stream = RelayStream([server.url], new_name(), 1, patience=PATIENT, lease_seconds=60.0)
    steps = RELAY_SCHEMA.steps
    object.__setattr__(RELAY_SCHEMA, "steps", (*steps, "CREATE TABLE later (x INTEGER) STRICT"))
    try:
        newer = open_store(tmp_path / "newer", stream, CLOCK, ENTROPY)
        newer.write_now(lambda file: file.execute("UPDATE operator_changes SET version=version+1"))
        newer.abandon()
    finally:
        object.__setattr__(RELAY_SCHEMA, "steps", steps)
    known = len(steps)
    before = content(tmp_path / "newer")
    for folder, what in (("newer", f"this folder's {RELAY_FILE}"), ("node", "the relay's journal")):
        with pytest.raises(WrittenByNewer) as caught:
            open_store(tmp_path / folder, stream, CLOCK, ENTROPY)
        assert str(caught.value) == sentence(what, known, known + 1)
    assert content(tmp_path / "newer") == before
