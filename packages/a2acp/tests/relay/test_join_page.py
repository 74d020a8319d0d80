"""The registration page in a real Chromium with a virtual authenticator."""

import contextlib
import shutil

import aiohttp
import pytest
from axe_playwright_python.async_playwright import Axe
from playwright.async_api import async_playwright

from tacit.base.moment import SECOND
from tacit.relay.io import registry
from tacit.relay.settings import DAY
from tacit.wire.encoding import b64
from tests.relay_support import Bare, Relay

FLAGS = [
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
]  # fmt: skip


AUTHENTICATOR = {
    "protocol": "ctap2", "transport": "internal", "hasResidentKey": True, "hasUserVerification": True,
    "isUserVerified": True, "automaticPresenceSimulation": True,
}  # fmt: skip


@contextlib.asynccontextmanager
async def page_with_authenticator():
    """A page, its devtools, and every fault that it meets."""
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=shutil.which("chromium"), args=FLAGS)
        page = await browser.new_page()
        faults = []
        page.on("pageerror", lambda error: faults.append(str(error)))
        page.on("console", lambda message: faults.append(message.text) if message.type == "error" else None)
        cdp = await page.context.new_cdp_session(page)
        await cdp.send("WebAuthn.enable")
        added = await cdp.send("WebAuthn.addVirtualAuthenticator", {"options": AUTHENTICATOR})
        yield page, cdp, added["authenticatorId"], faults
        await browser.close()


async def join(page, relay, username):
    await page.goto(f"{relay.url}/join")
    await page.fill("#username", username)
    await page.fill("#email", f"{username}@mail.example")
    await page.click("#begin button")
    await page.wait_for_selector("#confirm:not([hidden])")
    await page.fill("#code", relay.mail.last_code())
    await page.click("#confirm button")
    await page.wait_for_selector("#account:not([hidden])")


@pytest.mark.spec("A2ACP-011", "A2ACP-012")
async def test_a_person_joins_with_a_passkey_in_a_browser_and_their_agent_registers(tmp_path):
    async with Relay(tmp_path) as relay, page_with_authenticator() as (page, _, _, faults):
        await join(page, relay, "bob")
        await page.wait_for_selector("#enrol:not([hidden])")
        assert await page.inner_text("#address") == f"agent:bob@{relay.domain}"

        await page.reload()
        await page.click("#login")
        await page.wait_for_selector("#enrol:not([hidden])")
        await page.click("#new-code")
        await page.wait_for_selector("#code-line:not([hidden])")
        command = await page.inner_text("#command")
        bob = Bare(relay, "bob")
        assert (await relay.post("/v1/agents", bob.enrolment(command.rsplit(" ", 1)[1])))[0] == 201
        async with bob:
            assert bob.welcome.address == bob.address
        assert faults == []


@pytest.mark.spec("A2ACP-011", "A2ACP-014", "A2ACP-019")
async def test_an_owner_adds_and_revokes_passkeys_cancels_a_recovery_and_ends_sessions_in_a_browser(tmp_path):
    async with Relay(tmp_path) as relay, page_with_authenticator() as (page, cdp, first, faults):
        await join(page, relay, "bob")
        assert await page.locator("#passkeys li").count() == 1
        assert await page.locator("#passkeys button").count() == 0

        # Another device, and the first one at hand no longer.
        await cdp.send("WebAuthn.removeVirtualAuthenticator", {"authenticatorId": first})
        await cdp.send("WebAuthn.addVirtualAuthenticator", {"options": AUTHENTICATOR})
        await page.click("#add-passkey")
        await page.wait_for_selector("#passkeys li:nth-child(2)")
        await relay.post("/v1/accounts/recovery", {"username": "bob", "email": "bob@mail.example"})
        await page.reload()
        await page.click("#login")
        await page.wait_for_selector("#recovery:not([hidden])")
        assert await page.locator("#sessions li").count() == 2

        await page.click("#cancel-recovery")
        await page.wait_for_selector("#recovery", state="hidden")
        await page.click("#end-others")
        await page.wait_for_selector("#sessions li:nth-child(2)", state="detached")
        revoked = await page.get_attribute("#passkeys li:first-child button", "data-passkey")
        await page.click("#passkeys li:first-child button")
        await page.wait_for_selector("#passkeys li:nth-child(2)", state="detached")
        (left,) = registry.passkeys(
            relay.mailboxes.store.reader, registry.account_of(relay.mailboxes.store.reader, "bob")[0]
        )
        assert b64(left.credential_id) != revoked

        await page.click("#sign-out")
        await page.wait_for_selector("#known:not([hidden])")
        assert await page.is_hidden("#account")
        found = await Axe().run(page)
        assert found.violations_count == 0, found.generate_report()
        await page.click("#login")
        await page.wait_for_selector("#account:not([hidden])")
        found = await Axe().run(page)
        assert found.violations_count == 0, found.generate_report()
        assert faults == []


@pytest.mark.spec("A2ACP-019")
async def test_a_lost_passkey_is_replaced_by_a_recovery_in_a_browser(tmp_path):
    async with Relay(tmp_path) as relay, page_with_authenticator() as (page, cdp, first, faults):
        await join(page, relay, "bob")
        await cdp.send("WebAuthn.removeVirtualAuthenticator", {"authenticatorId": first})
        await page.reload()
        await page.click("#lost summary")
        await page.fill("#lost-username", "bob")
        await page.fill("#lost-email", "bob@mail.example")
        await page.click("#recover button")
        # By a locator: a script handed in as text is what the page's content policy forbids.
        await page.locator("#status", has_text="on its way").wait_for()
        relay.clock.ahead += 3 * DAY + SECOND
        await page.fill("#recovery-code", relay.mail.last_code())
        await page.click("#recovered button")
        await page.wait_for_selector("#account:not([hidden])")
        await cdp.send("WebAuthn.addVirtualAuthenticator", {"options": AUTHENTICATOR})
        await page.click("#add-passkey")
        await page.wait_for_selector("#passkeys li:nth-child(2)")
        await page.click("#new-code")
        await page.wait_for_selector("#reset-line:not([hidden])")
        await page.click("#passkeys li:first-child button")
        await page.wait_for_selector("#passkeys li:nth-child(2)", state="detached")
        await page.reload()
        await page.click("#login")
        await page.wait_for_selector("#account:not([hidden])")
        assert faults == []


@pytest.mark.spec("A2ACP-011", "A2ACP-020")
async def test_the_page_and_its_parts_are_served_and_nothing_else_is(tmp_path):
    async with Relay(tmp_path) as relay, aiohttp.ClientSession() as http:
        for path, kind in (("", "text/html"), ("/join.js", "text/javascript"), ("/join.css", "text/css")):
            async with http.get(f"{relay.url}/join{path}") as answer:
                assert (answer.status, answer.content_type) == (200, kind)
                assert await answer.text()
        async with http.get(f"{relay.url}/join/other.js") as answer:
            assert answer.status == 404
