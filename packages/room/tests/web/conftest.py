"""One browser and one hub for each module; a page fails its test when it logs an error."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from playwright.sync_api import expect

from tests.web.stage import HubProcess, chromium

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from playwright.sync_api import Browser, BrowserContext, Page

PATIENCE = 60_000
"""Milliseconds until something is missed; on a busy machine a page may take its time."""
expect.set_options(timeout=PATIENCE)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """One for each module: while Playwright is open its event loop counts as running, and no other may run beside it."""
    with chromium() as opened:
        yield opened


@pytest.fixture(scope="module")
def hub(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HubProcess]:
    opened = HubProcess(tmp_path_factory.mktemp("hub"))
    opened.start()
    try:
        yield opened
    finally:
        opened.stop()


class Visits:
    """People who open the room; each has a browser profile of its own unless one is shared."""

    def __init__(self, browser: Browser, hub: HubProcess) -> None:
        self._browser = browser
        self._hub = hub
        self.contexts: list[BrowserContext] = []
        self.faults: list[str] = []
        self.expects_faults = False
        self.expected = ""
        """A fault that may come, by a part of its words."""

    def profile(self, **given: Any) -> BrowserContext:
        given.setdefault("viewport", {"width": 1280, "height": 800})
        context = self._browser.new_context(reduced_motion="reduce", locale="en-GB", **given)
        context.set_default_timeout(PATIENCE)
        context.grant_permissions(["clipboard-read", "clipboard-write"], origin=self._hub.url)
        self.contexts.append(context)
        return context

    def __call__(
        self,
        group: str | None = None,
        token: str | None = None,
        profile: BrowserContext | None = None,
        **given: Any,
    ) -> Page:
        """Somebody's page: in a profile of its own as who has signed in before, in a shared one by its token."""
        if profile is None:
            given.setdefault("storage_state", self._hub.remembered(token))
        page = (profile or self.profile(**given)).new_page()
        page.on("pageerror", lambda error: self.faults.append(str(error)))
        page.on(
            "console", lambda message: self.faults.append(message.text) if message.type == "error" else None
        )
        page.goto(self._hub.url)
        if profile is not None and page.evaluate("localStorage.getItem('tacit.sign-ins')") is None:
            page.get_by_label("Sign-in link or token").fill(token or self._hub.owner)
            page.keyboard.press("Enter")
        page.wait_for_selector(".connection.online", state="attached")
        if group is not None:
            page.goto(f"{self._hub.url}/#/g/{group}")
            page.wait_for_selector(f".talk[data-place='{group}'] .history[aria-busy=false]")
        return page


@pytest.fixture
def visit(browser: Browser, hub: HubProcess) -> Iterator[Visits]:
    visits = Visits(browser, hub)
    yield visits
    for context in visits.contexts:
        context.close()
    if not visits.expects_faults:
        assert [one for one in visits.faults if not (visits.expected and visits.expected in one)] == []


@pytest.fixture
def write() -> Callable[..., None]:
    def act(page: Page, text: str, where: str = ".main") -> None:
        area = page.locator(f"{where} .composer textarea")
        area.fill(text)
        area.press("Enter")

    return act
