"""The registration page in a real Chromium with a virtual authenticator."""

import shutil

import aiohttp
import pytest
from playwright.async_api import async_playwright
from tests.relay_support import Bare, Relay

FLAGS = [
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
]  # fmt: skip


@pytest.mark.spec("A2ACP-011", "A2ACP-012")
async def test_a_person_joins_with_a_passkey_in_a_browser_and_their_agent_registers(tmp_path):
    async with Relay(tmp_path) as relay, async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=shutil.which("chromium"), args=FLAGS)
        page = await browser.new_page()
        faults = []
        page.on("pageerror", lambda error: faults.append(str(error)))
        page.on("console", lambda message: faults.append(message.text) if message.type == "error" else None)
        cdp = await page.context.new_cdp_session(page)
        await cdp.send("WebAuthn.enable")
        await cdp.send("WebAuthn.addVirtualAuthenticator", {"options": {
            "protocol": "ctap2", "transport": "internal", "hasResidentKey": True, "hasUserVerification": True,
            "isUserVerified": True, "automaticPresenceSimulation": True,
        }})  # fmt: skip
        await page.goto(f"{relay.url}/join")
        await page.fill("#username", "bob")
        await page.fill("#email", "bob@mail.example")
        await page.click("#begin button")
        await page.wait_for_selector("#confirm:not([hidden])")
        await page.fill("#code", relay.mail.last_code())
        await page.click("#confirm button")
        await page.wait_for_selector("#enrol:not([hidden])")
        assert await page.inner_text("#address") == f"agent:bob@{relay.domain}"

        await page.reload()
        await page.click("#login")
        await page.wait_for_selector("#enrol:not([hidden])")
        await page.click("#new-code")
        await page.wait_for_selector("#code-line:not([hidden])")
        command = await page.inner_text("#command")
        await browser.close()
        bob = Bare(relay, "bob")
        assert (await relay.post("/v1/agents", bob.enrolment(command.rsplit(" ", 1)[1])))[0] == 201
        async with bob:
            assert bob.welcome.address == bob.address
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
