"""A real CalDAV server, Radicale, in a process of its own on loopback."""

from __future__ import annotations

import base64
import socket
import subprocess
import sys
import time
import urllib.request
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

USER, PASSWORD = "alice", "päss wörd"


class RadicaleProcess:
    """Started on a free port; may be stopped and started again on the same folder and port."""

    def __init__(self, folder: Path, users: tuple[str, ...] = (USER,)) -> None:
        self.folder = folder
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        self.password_file = folder / "password"
        self.password_file.write_text(PASSWORD + "\n", "utf-8")
        (folder / "users").write_text("".join(f"{one}:{PASSWORD}\n" for one in users), "utf-8")
        (folder / "config").write_text(
            f"[server]\nhosts = 127.0.0.1:{self.port}\n"
            f"[auth]\ntype = htpasswd\nhtpasswd_filename = {folder / 'users'}\nhtpasswd_encryption = plain\ndelay = 0\n"
            f"[storage]\nfilesystem_folder = {folder / 'collections'}\n"
            "[web]\ntype = none\n[logging]\nlevel = warning\n"
        )
        self._process: subprocess.Popen | None = None

    def start(self) -> None:
        with open(self.folder / "log", "ab") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "radicale", "--config", str(self.folder / "config")],
                stdout=log,
                stderr=log,
            )
        end = time.monotonic() + 60
        while True:
            try:
                socket.create_connection(("127.0.0.1", self.port), timeout=1).close()
                return
            except OSError:
                assert self._process.poll() is None, (self.folder / "log").read_text()
                assert time.monotonic() < end, "Radicale did not start"
                time.sleep(0.02)

    def stop(self) -> None:
        if self._process is not None:
            self._process.terminate()
            self._process.wait(20)
            self._process = None

    def calendar(self, name: str, user: str = USER, **events: bytes) -> str:
        """A new calendar with these events; its address."""
        address = f"{self.url}/{user}/{name}/"
        self._request("MKCALENDAR", address, None, user)
        for event, data in events.items():
            self._request("PUT", f"{address}{event}.ics", data, user)
        return address

    def stored(self, name: str, user: str = USER) -> list[str]:
        """The names of the events in a calendar, as they lie on the server's disk."""
        return sorted(one.stem for one in self._kept(name, user).glob("*.ics"))

    def text(self, name: str, user: str = USER) -> str:
        """All events of a calendar, as they lie there."""
        return "\n".join(one.read_text("utf-8") for one in sorted(self._kept(name, user).glob("*.ics")))

    def _kept(self, name: str, user: str) -> Path:
        return self.folder / "collections" / "collection-root" / user / name

    def _request(self, method: str, address: str, data: bytes | None, user: str = USER) -> None:
        token = base64.b64encode(f"{user}:{PASSWORD}".encode()).decode()
        headers = {"Authorization": f"Basic {token}", "Content-Type": "text/calendar"}
        request = urllib.request.Request(address, data=data, headers=headers, method=method)
        with urllib.request.urlopen(request, timeout=60) as answer:
            assert answer.status in {201, 204}, answer.status


@contextmanager
def running(folder: Path, *users: str):
    server = RadicaleProcess(folder, users or (USER,))
    server.start()
    try:
        yield server
    finally:
        server.stop()
