"""A real hub process and a real browser, for tests, screenshots and measurements of the web room."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import time
import urllib.error
import urllib.request
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from tests.typed import Started

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from playwright.sync_api import Browser, Locator

CHROMIUM = "/usr/bin/chromium"


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class HubProcess:
    """`tacit up` in a process of its own; may be killed and started again on the same folder and port."""

    def __init__(self, folder: Path, port: int | None = None, *options: str) -> None:
        self.folder = folder
        self._options = options
        self.port = port or free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self._process: Started | None = None

    def start(self) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        words = ("up", "--data", str(self.folder / "data"), "--port", str(self.port), *self._options)
        environment = {**os.environ, "TACIT_URL": "", "TACIT_HOME": str(self.folder / "home")}
        self._process = Started(words, environment, self.folder / "log", out=self.folder / "out")
        end = time.monotonic() + 60
        while True:
            try:
                with urllib.request.urlopen(f"{self.url}/healthz", timeout=1):
                    return
            except OSError:
                assert self._process.poll() is None, (self.folder / "log").read_text()
                assert time.monotonic() < end, "the hub did not start"
                time.sleep(0.02)

    def printed(self, pattern: str) -> str:
        """What the hub prints for its owner, once it has: it answers requests before it has said so."""
        end = time.monotonic() + 60
        while (found := re.search(pattern, (self.folder / "out").read_text())) is None:
            assert self._process is not None
            assert self._process.poll() is None, (self.folder / "log").read_text()
            assert time.monotonic() < end, "the hub printed no such thing"
            time.sleep(0.02)
        return found[0]

    def kill(self) -> None:
        """SIGKILL, no farewell."""
        if self._process is not None:
            self._process.send_signal(signal.SIGKILL)
            self._process.wait(10)
            self._process = None

    @contextmanager
    def held(self) -> Iterator[None]:
        """The hub stands still and answers nothing; its connections stay open."""
        assert self._process is not None
        process = self._process
        process.send_signal(signal.SIGSTOP)
        try:
            yield
        finally:
            if process.poll() is None:
                process.send_signal(signal.SIGCONT)

    def stop(self) -> None:
        if self._process is not None:
            self._process.terminate()
            self._process.wait(20)
            self._process = None

    @property
    def owner(self) -> str:
        return (self.folder / "data" / "owner.token").read_text().strip()

    def link(self, **person: str) -> str:
        """A sign-in link: the owner's, or with `group_id` and `principal` a person's."""
        return self.url + self.call("POST", "/v1/sign-in-links", person)["path"]

    def remembered(self, token: str | None = None) -> dict[str, Any]:
        """What the browser of somebody who has signed in keeps."""
        kept = [{"name": "tacit.sign-ins", "value": json.dumps([{"token": token or self.owner}])}]
        return {"origins": [{"origin": self.url, "localStorage": kept}]}

    def call(self, method: str, path: str, body: Any = None, token: str | None = None) -> Any:
        """One HTTP request; the owner's unless another token is given."""
        request = urllib.request.Request(
            self.url + path,
            data=None if body is None else json.dumps(body).encode(),
            method=method,
            headers={"Authorization": f"Bearer {token or self.owner}", "Content-Type": "application/json"},
        )
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                return json.loads(answer.read())
        except urllib.error.HTTPError as error:
            with error:
                told = error.read().decode(errors="replace")
            if error.code < 500:
                raise
            logged = (self.folder / "log").read_text()[-3_000:]
            raise AssertionError(f"{error.code}: {told}\n{logged}") from error

    def call_status(self, method: str, path: str, token: str) -> int:
        """The status alone, also of a refusal."""
        request = urllib.request.Request(
            self.url + path, method=method, headers={"Authorization": f"Bearer {token}"}
        )
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                return answer.status
        except urllib.error.HTTPError as error:
            return error.code

    def group(self, title: str) -> str:
        return self.call("POST", "/v1/groups", {"title": title})["group_id"]

    def actor(self, group: str, name: str, **given: Any) -> str:
        return self.call("POST", f"/v1/groups/{group}/actors", {"actor_id": name, **given})["token"]

    def person(self, group: str, name: str, title: str | None = None) -> str:
        body = {"principal": f"usr:{name}", **({"title": title} if title else {})}
        return self.call("POST", f"/v1/groups/{group}/people", body)["token"]

    def append(self, group: str, kind: str, data: dict[str, Any], token: str | None = None) -> dict[str, Any]:
        return self.call("POST", f"/v1/groups/{group}/events", {"kind": kind, "data": data}, token)

    def say(self, group: str, text: str, token: str | None = None, **data: Any) -> dict[str, Any]:
        return self.append(group, "chat.message", {"text": text, **data}, token)

    def events(self, group: str, token: str | None = None, **query: Any) -> list[dict[str, Any]]:
        given = "&".join(f"{name}={value}" for name, value in {"limit": 1000, **query}.items())
        return self.call("GET", f"/v1/groups/{group}/events?{given}", token=token)["events"]


def fill(folder: Path, group_id: str, count: int) -> None:
    """Put many messages into a stopped hub's ledger, through the library, a commit for every few thousand."""
    import msgspec

    from tacit.ledger.commands import Append
    from tacit.ledger.io.store import Store, StoreOptions
    from tacit.ledger.submission import Submission

    store = Store(folder / "data", StoreOptions())
    store.start()
    done: list[object] = []
    try:
        for number in range(count):
            data = {"text": f"message number {number} " + "word " * (number % 23), "format": "plain"}
            raw = msgspec.json.encode(data)
            store.submit(Append(Submission(group_id, "user", "chat.message", data, raw)), done.append)
            if number - len(done) > 8000:
                while number - len(done) > 2000:
                    time.sleep(0.005)
        while len(done) < count:
            time.sleep(0.005)
    finally:
        store.close()


@contextmanager
def chromium() -> Iterator[Browser]:
    """Debian's Chromium, headless."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=CHROMIUM, args=["--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu"]
        )
        try:
            yield browser
        finally:
            browser.close()


def use_tool(said: Locator, name: str) -> None:
    """Use one of a message's tools by the keyboard.

    They take the mouse only while it is over the message, and a message that moves when the hub has it, or when
    others arrive above, is no longer under it.
    """
    said.get_by_role("button", name=name).press("Enter")


def wait_until_all_is_sent(page: Any) -> None:
    """Return when the page's outbox is empty.

    Asked from outside again and again: a page whose policy forbids `eval` cannot be made to watch for itself.
    """
    while page.evaluate("localStorage.getItem('tacit.outbox.user')") != "[]":
        page.wait_for_timeout(20)
