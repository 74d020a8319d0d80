"""The operator's page of a ledger on NATS, followed: copy in, serve, lose the machine, go on, copy out."""

from __future__ import annotations

import shutil
import signal
from typing import TYPE_CHECKING

from tests.ledger.io.jetstream.servers import new_name
from tests.shell import shell  # noqa: F401 - a fixture

if TYPE_CHECKING:
    from tests.ledger.io.jetstream.servers import Server
    from tests.shell import Shell


def test_a_ledger_moves_to_nats_outlives_its_machine_and_comes_back(shell: Shell, server: Server) -> None:  # noqa: F811
    data = shell.home / "data" / "tacit"
    stream = ("--nats-stream", new_name(), "--nats-replicas", "1")
    shell.start()
    assert "in its own folder" in shell.run("nodes")
    shell.run("group", "new", "My room")
    shell.run("send", "My room", "at home")
    shell.stop()
    assert "are copied and verified" in shell.run("ledger", "copy", "--to-nats", server.url, *stream)
    assert "not_empty" in shell.run("ledger", "copy", "--to-nats", server.url, *stream, code=1)

    shutil.rmtree(data)
    shell.start("--nats", server.url, *stream)
    shell.run("send", "My room", "in the stream")
    assert "this one" in shell.run("nodes")
    # The group that was written to, and the records that are no group's.
    assert [(one["groups"], one["behind"]) for one in shell.json("nodes")] == [(2, 0)]
    shell.stop(signal.SIGKILL)
    shell.start("--nats", server.url, *stream)
    shell.run("send", "My room", "after a kill")
    shell.stop()
    assert "--nats" in shell.run("up", code=1)
    assert "back up the stream" in shell.run("backup", str(shell.home / "copy"), code=1)
    shell.run("ledger", "verify")

    shutil.rmtree(data)
    assert shell.json("ledger", "copy", "--from-nats", server.url, *stream)["events"] == 4
    shell.start()
    said = shell.run("tail", "My room", "--no-follow")
    assert said.index("at home") < said.index("in the stream") < said.index("after a kill")
    shell.stop()
