"""Real NATS servers on the loopback, for tests: one, or three that are a cluster."""

from __future__ import annotations

import itertools
import os
import shutil
import socket
import subprocess
import sysconfig
import time
from typing import TYPE_CHECKING

from tacit.base.errors import Unavailable
from tacit.base.io.jetstream.connection import Patience
from tacit.ledger.io.jetstream.stream import JetStream

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

PROGRAM = (
    shutil.which("nats-server", path=f"{sysconfig.get_path('scripts')}:{os.environ['PATH']}") or "nats-server"
)
AT_MOST = 60.0
PATIENT = Patience(answer=5.0, tries=8, pause=0.05)
_names = itertools.count()


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


class PortTaken(Exception):
    """Somebody else was given the port in between."""


class Server:
    """One server process."""

    def __init__(
        self, folder: Path, name: str = "n1", routes: Sequence[int] = (), route: int = 0, more: str = ""
    ) -> None:
        self.folder = folder
        self.name = name
        folder.mkdir(parents=True, exist_ok=True)
        self.port = free_port()
        cluster = ""
        if routes:
            urls = ", ".join(f'"nats-route://127.0.0.1:{port}"' for port in routes)
            cluster = f'cluster {{ name: "tests", listen: "127.0.0.1:{route}", routes: [{urls}] }}'
        self.config = folder / "server.conf"
        self.config.write_text(
            f'server_name: "{name}"\nlisten: "127.0.0.1:{self.port}"\nmax_payload: 1MB\n'
            f'jetstream {{ store_dir: "{folder}", max_mem: 64MB, max_file: 1GB, sync_interval: always }}\n{cluster}\n{more}\n'
        )
        self.start()

    def start(self) -> None:
        with (self.folder / "log").open("ab") as log:
            self.process = subprocess.Popen([PROGRAM, "-c", self.config], stdout=log, stderr=log)
        end = time.monotonic() + AT_MOST
        while not self._answers():
            if self.process.poll() is not None:
                raise PortTaken
            if time.monotonic() > end:
                raise TimeoutError

    def restart(self) -> None:
        """Start again on the same port, which somebody's connection may have for a moment."""
        end = time.monotonic() + AT_MOST
        while True:
            try:
                return self.start()
            except PortTaken:
                if time.monotonic() > end:
                    raise

    def _answers(self) -> bool:
        """A server opens its port last, when all else is ready."""
        try:
            with socket.create_connection(("127.0.0.1", self.port), timeout=1) as found:
                return found.recv(4) == b"INFO"
        except OSError:
            time.sleep(0.02)
            return False

    @property
    def url(self) -> str:
        return f"nats://127.0.0.1:{self.port}"

    def kill(self) -> None:
        self.process.kill()
        self.process.wait(AT_MOST)


def one(folder: Path, more: str = "", name: str = "n1") -> Server:
    """A server alone; `more` is added to its configuration."""
    for attempt in itertools.count():
        try:
            return Server(folder / f"{attempt}", name, more=more)
        except PortTaken:
            continue
    raise AssertionError


def three(folder: Path) -> list[Server]:
    """A cluster."""
    for attempt in itertools.count():
        routes, made = [free_port() for _ in range(3)], list[Server]()
        try:
            for number, route in enumerate(routes):
                made.append(Server(folder / f"{attempt}-{number}", f"n{number}", routes, route))
        except PortTaken:
            for server in made:
                server.kill()
        else:
            return made
    raise AssertionError


def new_name() -> str:
    """A stream that no other test has."""
    return f"T{os.getpid()}_{next(_names)}"


def opened(urls: Sequence[str], name: str, replicas: int, patience: Patience = PATIENT) -> JetStream:
    """A stream on servers that may still be starting."""
    end = time.monotonic() + AT_MOST
    while True:
        try:
            return JetStream(urls, name, replicas=replicas, patience=patience)
        except Unavailable:
            if time.monotonic() > end:
                raise
