"""Grandma's side, in a real Chromium: a link, two taps, a calendar entry (A2ACP-276)."""

from __future__ import annotations

import pytest
from axe_playwright_python.async_playwright import Axe

from tests.agent.guests.host import browser, host

TEXT = "Dinner on Friday at 7pm at Mario's?"


@pytest.mark.spec("A2ACP-276")
async def test_grandma_opens_the_link_taps_twice_and_has_her_calendar_entry(tmp_path):
    async with host(tmp_path) as (_, agent), browser() as opened:
        asked = await agent.guest_ask("Grandma", TEXT, signed="Anna")
        page = await opened.new_page()
        page.set_default_timeout(60_000)
        faults, elsewhere = [], []
        page.on("pageerror", lambda error: faults.append(str(error)))
        page.on("console", lambda message: faults.append(message.text) if message.type == "error" else None)
        page.on("request", lambda request: elsewhere.append(request.url))
        await page.goto(asked["link"])
        await page.wait_for_selector("#asked:not([hidden])")
        assert await page.inner_text("#title") == "Grandma, Anna asks you"
        assert await page.inner_text("#text") == TEXT
        assert await page.inner_text("#when") == "Friday 27 March 2026, 19:00 to 20:30 (Europe/London)"
        found = await Axe().run(page)
        assert found.violations_count == 0, found.generate_report()

        await page.check("input[value=confirm]")
        await page.click("#send")
        await page.wait_for_selector("#done:not([hidden])")
        async with page.expect_download() as download:
            await page.click("#ics")
        entry = (await (await download.value).path()).read_text()
        assert "DTSTART:20260327T190000Z" in entry
        assert "LOCATION:Mario's" in entry

        (said,) = (await agent.guest(asked["guest_id"]))["answers"]
        assert (said["choice"], said["source"], said["counts"]) == ("confirm", "link", True)
        assert faults == []
        origin = asked["link"].partition("/g/")[0]
        assert elsewhere
        assert all(url.startswith((origin, "blob:" + origin)) for url in elsewhere)
