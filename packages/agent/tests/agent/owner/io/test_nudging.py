"""Nudges carried for real: to a web service on loopback, over restarts, through quiet hours."""

from __future__ import annotations

import asyncio
import contextlib
import json
import stat
import sys

import pytest
from aiohttp import web

from tacit.agent import Agent
from tacit.agent.kernel.io.paths import journal_file
from tacit.agent.owner.io import nudging
from tacit.agent.shell.io import calls
from tacit.base.errors import Refused
from tacit.base.moment import SECOND, parse_rfc3339
from tests.agent.arrangements import pair, share

# One of apprise's many services still uses it.
pytestmark = pytest.mark.filterwarnings("ignore:'imghdr' is deprecated:DeprecationWarning")
SECRET = "MARKER-SECRET-TOKEN"
HOUR = 3600 * SECOND


@contextlib.asynccontextmanager
async def service():
    """A service that takes nudges; what it was told, as it was said."""
    told: list[bytes] = []

    async def take(request: web.Request) -> web.Response:
        told.append(await request.read())
        return web.Response()

    app = web.Application()
    app.router.add_post("/{rest:.*}", take)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    try:
        yield f"json://127.0.0.1:{site._server.sockets[0].getsockname()[1]}/{SECRET}", told
    finally:
        await runner.cleanup()


async def asked(both, anna):
    """A question that waits."""
    await anna.ask("dinner with ben on Friday evening")
    return await both.question(anna, "consent")


async def test_one_nudge_leaves_for_a_question_and_holds_a_number_alone(tmp_path):
    async with service() as (url, told), pair(tmp_path) as (both, anna, _ben):
        await calls.call(anna, "nudge", {"do": "add", "value": url})
        await nudging.once(anna)
        assert told == []
        question = await asked(both, anna)
        await nudging.once(anna)
        await nudging.once(anna)
        (body,) = told
        said = json.loads(body)
        assert (said["title"], said["message"]) == ("Tacit", "1 decision waits")
        about = (
            "ben",
            "anna",
            "dinner",
            "dietary",
            "no meat",
            question["question_id"],
            question["thread_id"],
        )
        for word in about:
            assert word not in body.decode(), word
        await anna.answer(question["question_id"], share(question))
        await nudging.once(anna)
        assert len(told) == 1


async def test_a_question_that_was_told_of_is_not_told_of_again_after_a_restart(tmp_path):
    async with service() as (url, told), pair(tmp_path) as (both, anna, _ben):
        await calls.call(anna, "nudge", {"do": "add", "value": url})
        await asked(both, anna)
        await nudging.once(anna)
        await anna.__aexit__()
        async with Agent(anna.folder, clock=anna.clock) as again:
            await nudging.once(again)
            assert [one["way"] for one in nudging.shown(again)["ways"]] == ["json://…"]
        await anna.__aenter__()
    assert len(told) == 1


async def test_in_quiet_hours_nudges_are_held_and_then_come_in_one(tmp_path):
    evening = parse_rfc3339("2026-03-23T22:30:00Z")
    async with service() as (url, told), pair(tmp_path) as (both, anna, _ben):
        await calls.call(anna, "nudge", {"do": "add", "value": url})
        await calls.call(anna, "nudge", {"do": "quiet", "value": "22:00-07:00"})
        both.relay.clock.ahead += evening - anna.clock.now()
        await asked(both, anna)
        await anna.ask("lunch with ben on Thursday")
        async with asyncio.timeout(60):
            while len((await anna.pending())["questions"]) < 2:
                await asyncio.sleep(0.02)
        await nudging.once(anna)
        assert told == []
        both.relay.clock.ahead += 9 * HOUR
        waits = len((await anna.pending())["questions"])
        await nudging.once(anna)
        await nudging.once(anna)
        assert [json.loads(one)["message"] for one in told] == [f"{waits} decisions wait"]
        assert waits >= 2


async def test_a_running_agent_nudges_by_itself_when_a_question_opens(tmp_path):
    async with service() as (url, told), pair(tmp_path) as (both, anna, _ben):
        await calls.call(anna, "nudge", {"do": "add", "value": url})
        running = asyncio.create_task(nudging.run(anna))
        try:
            await asked(both, anna)
            async with asyncio.timeout(60):
                while not told:
                    await asyncio.sleep(0.02)
        finally:
            running.cancel()
            await asyncio.gather(running, return_exceptions=True)


async def test_a_way_that_fails_says_nothing_of_its_secret_and_costs_no_other_way_its_nudge(tmp_path, caplog):
    async with service() as (url, told), pair(tmp_path) as (both, anna, _ben):
        await calls.call(anna, "nudge", {"do": "add", "value": f"json://127.0.0.1:1/{SECRET}"})
        await calls.call(anna, "nudge", {"do": "add", "value": url})
        shown = await calls.call(anna, "nudge", {"do": "try"})
        assert shown["tried"] == [False, True]
        assert SECRET not in str(shown)
        await asked(both, anna)
        with caplog.at_level("DEBUG"):
            await nudging.once(anna)
        assert [json.loads(one)["message"] for one in told][1:] == ["1 decision waits"]
        assert SECRET not in caplog.text
        held = [
            path for path in anna.folder.rglob("*") if path.is_file() and SECRET.encode() in path.read_bytes()
        ]
        assert {path.name.removesuffix("-wal") for path in held} == {journal_file(anna.folder).name}
        for _ in range(2):
            await calls.call(anna, "nudge", {"do": "remove", "value": "1"})
    for path in anna.folder.rglob("*"):
        if path.is_file():
            assert SECRET.encode() not in path.read_bytes(), path


async def test_ways_are_added_removed_and_silenced_and_what_is_none_is_refused(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    async with service() as (url, told), pair(tmp_path) as (both, anna, _ben):
        for value, code in (
            ("desktop", "no_desktop"),
            ("nonsense", "bad_way"),
            ("json://" + "x" * 2000, "bad_way"),
        ):
            with pytest.raises(Refused) as refused:
                await calls.call(anna, "nudge", {"do": "add", "value": value})
            assert refused.value.code == code
        program = tmp_path / "bin" / "notify-send"
        program.parent.mkdir()
        program.write_text(f'#!/bin/sh\nprintf "%s\\n" "$@" >> {tmp_path / "shown"}\n')
        program.chmod(program.stat().st_mode | stat.S_IXUSR)
        await calls.call(anna, "nudge", {"do": "add", "value": "desktop"})
        await calls.call(anna, "nudge", {"do": "add", "value": url})
        found = await calls.call(anna, "nudge", {"do": "remove", "value": "2"})
        assert [one["way"] for one in found["ways"]] == ["desktop"]
        with pytest.raises(Refused, match="nudge list"):
            await calls.call(anna, "nudge", {"do": "remove", "value": "7"})
        assert (await calls.call(anna, "nudge", {"do": "off"}))["on"] is False
        await asked(both, anna)
        await nudging.once(anna)
        assert not (tmp_path / "shown").exists()
        await calls.call(anna, "nudge", {"do": "on"})
        await nudging.once(anna)
        if sys.platform != "darwin":
            assert (tmp_path / "shown").read_text().splitlines()[-2:] == ["Tacit", "1 decision waits"]
        assert told == []


async def test_without_apprise_the_owner_is_told_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "apprise", None)
    async with pair(tmp_path) as (_both, anna, _ben):
        with pytest.raises(Refused, match=r"\[nudge\]"):
            await calls.call(anna, "nudge", {"do": "add", "value": "json://127.0.0.1:1"})
