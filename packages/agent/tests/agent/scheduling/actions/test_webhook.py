"""Deeds at a real web server that books once for each key: it can refuse, hang, or cut the line after it booked."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

import aiohttp
import pytest
from aiohttp import web

from tacit.agent.scheduling.actions.io.webhook import WebhookHandler, checked_url
from tacit.agent.scheduling.actions.port import DONE, FAILED, UNKNOWN, Deed
from tacit.base.backoff import Backoff
from tacit.base.errors import Refused

NO_PAUSE = Backoff(first=0.0, longest=0.0)
DEED = Deed("act_abc", "book_table", {"date": "2026-03-27", "summary": "Dinner"})
Answer = Callable[[web.Request, dict[str, Any]], Awaitable[web.StreamResponse]]


@dataclass
class Restaurant:
    """Books once for each action; what it answers is scripted, the last answer repeats."""

    bookings: dict[str, dict[str, Any]] = field(default_factory=dict)
    requests: list[dict[str, Any]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    script: list[Answer] = field(default_factory=list)
    url: str = ""
    chunks: int = 0
    end: asyncio.Event = field(default_factory=asyncio.Event)

    async def serve(self, request: web.Request) -> web.StreamResponse:
        body = await request.json()
        self.requests.append(body)
        self.headers.append(dict(request.headers))
        answer = self.script.pop(0) if len(self.script) > 1 else self.script[0]
        return await answer(request, body)

    def book(self, body: dict[str, Any]) -> None:
        if body["operation"] == "do":
            self.bookings[body["action_id"]] = body["details"]
        else:
            self.bookings.pop(body["action_id"], None)

    # Answers.

    async def yes(self, _: web.Request, body: dict[str, Any]) -> web.StreamResponse:
        if body["operation"] == "do" and body["action_id"] in self.bookings:
            return web.json_response({"action_id": body["action_id"], "reference": "T-7"}, status=409)
        self.book(body)
        return web.json_response({"reference": "T-7"}, status=201)

    def status(self, status: int, said: object = None) -> Answer:
        async def answer(_: web.Request, __: dict[str, Any]) -> web.StreamResponse:
            return web.json_response(said, status=status)

        return answer

    async def cut_after_booking(self, request: web.Request, body: dict[str, Any]) -> web.StreamResponse:
        self.book(body)
        assert request.transport is not None
        request.transport.abort()
        return web.Response()

    async def hang_after_booking(self, _: web.Request, body: dict[str, Any]) -> web.StreamResponse:
        self.book(body)
        await self.end.wait()
        return web.Response()

    async def cut_within_the_yes(self, request: web.Request, body: dict[str, Any]) -> web.StreamResponse:
        self.book(body)
        response = web.StreamResponse(status=201, headers={"Content-Length": "100"})
        await response.prepare(request)
        await response.write(b'{"reference"')
        assert request.transport is not None
        request.transport.abort()
        return response

    async def talk_without_end(self, request: web.Request, body: dict[str, Any]) -> web.StreamResponse:
        self.book(body)
        response = web.StreamResponse(status=200)
        await response.prepare(request)
        with_room = True
        while with_room:
            try:
                await response.write(b"x" * 65_536)
                self.chunks += 1
            except (ConnectionError, aiohttp.ClientError):
                with_room = False
        return response


@pytest.fixture
async def restaurant() -> AsyncIterator[Restaurant]:
    place = Restaurant()
    place.script = [place.yes]
    app = web.Application()
    app.router.add_post("/book", place.serve)
    runner = web.AppRunner(app, shutdown_timeout=0.1)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    place.url = f"http://127.0.0.1:{runner.addresses[0][1]}/book"
    yield place
    place.end.set()
    await runner.cleanup()


@pytest.fixture
async def session() -> AsyncIterator[aiohttp.ClientSession]:
    async with aiohttp.ClientSession() as made:
        yield made


def handler(place: Restaurant, session: aiohttp.ClientSession, **given: Any) -> WebhookHandler:
    return WebhookHandler(place.url, session, **{"backoff": NO_PAUSE, "timeout": 20.0, **given})


@pytest.mark.spec("A2ACP-166")
async def test_a_deed_is_posted_with_its_id_as_idempotency_key(
    restaurant: Restaurant, session: aiohttp.ClientSession
) -> None:
    result = await handler(restaurant, session, secret="s3cret").do(DEED)
    assert (result.status, result.reference) == (DONE, "T-7")
    assert restaurant.requests == [
        {"action_id": "act_abc", "action": "book_table", "operation": "do", "details": DEED.details}
    ]
    assert restaurant.headers[0]["Idempotency-Key"] == "act_abc"
    assert restaurant.headers[0]["Authorization"] == "Bearer s3cret"


@pytest.mark.spec("A2ACP-167")
async def test_an_undo_has_a_key_of_its_own_and_undoing_twice_is_done(
    restaurant: Restaurant, session: aiohttp.ClientSession
) -> None:
    web_handler = handler(restaurant, session)
    assert web_handler.reversible
    await web_handler.do(DEED)
    assert (await web_handler.undo(DEED)).status == DONE
    assert restaurant.bookings == {}
    assert restaurant.headers[1]["Idempotency-Key"] == "act_abc-undo"
    restaurant.script = [restaurant.status(404)]
    assert (await web_handler.undo(DEED)).status == DONE
    assert (await web_handler.do(DEED)).status == FAILED


@pytest.mark.parametrize("status", [400, 401, 403, 404, 409, 422, 302, 304])
async def test_a_refusal_fails_at_once_with_the_owners_reason(
    restaurant: Restaurant, session: aiohttp.ClientSession, status: int
) -> None:
    restaurant.script = [restaurant.status(status, {"reason": "fully\nbooked", "action_id": "act_other"})]
    result = await handler(restaurant, session).do(DEED)
    assert result.status == FAILED
    assert len(restaurant.requests) == 1
    if status != 304:
        assert result.reason == "fully booked"


@pytest.mark.parametrize("status", [500, 502, 503, 429, 408])
async def test_a_server_that_is_not_well_is_asked_a_few_times_then_the_end_is_unknown(
    restaurant: Restaurant, session: aiohttp.ClientSession, status: int
) -> None:
    restaurant.script = [restaurant.status(status)]
    assert (await handler(restaurant, session, tries=3).do(DEED)).status == UNKNOWN
    assert len(restaurant.requests) == 3
    assert restaurant.requests == [restaurant.requests[0]] * 3
    assert {headers["Idempotency-Key"] for headers in restaurant.headers} == {"act_abc"}


@pytest.mark.spec("A2ACP-166")
@pytest.mark.parametrize("lost", ["cut_after_booking", "hang_after_booking"])
async def test_an_answer_lost_after_the_server_booked_is_recognised_on_repeat(
    restaurant: Restaurant, session: aiohttp.ClientSession, lost: str
) -> None:
    restaurant.script = [getattr(restaurant, lost), restaurant.yes]
    result = await handler(restaurant, session, timeout=0.5).do(DEED)
    assert (result.status, result.reference) == (DONE, "T-7")
    assert len(restaurant.requests) >= 2
    assert list(restaurant.bookings) == ["act_abc"]


@pytest.mark.spec("A2ACP-166")
async def test_an_end_that_stayed_unknown_is_recognised_by_a_later_handler(
    restaurant: Restaurant, session: aiohttp.ClientSession
) -> None:
    restaurant.script = [restaurant.cut_after_booking]
    assert (await handler(restaurant, session, tries=2).do(DEED)).status == UNKNOWN
    restaurant.script = [restaurant.yes]
    assert (await handler(restaurant, session).do(DEED)).status == DONE
    assert list(restaurant.bookings) == ["act_abc"]


async def test_a_yes_whose_words_were_cut_off_is_a_yes(
    restaurant: Restaurant, session: aiohttp.ClientSession
) -> None:
    restaurant.script = [restaurant.cut_within_the_yes]
    result = await handler(restaurant, session).do(DEED)
    assert (result.status, result.reference) == (DONE, "")
    assert len(restaurant.requests) == 1


async def test_an_answer_without_end_is_not_read_to_its_end(
    restaurant: Restaurant, session: aiohttp.ClientSession
) -> None:
    restaurant.script = [restaurant.talk_without_end]
    assert (await handler(restaurant, session).do(DEED)).status == DONE
    assert restaurant.chunks < 400


async def test_nobody_sends_us_on_to_another_address(
    restaurant: Restaurant, session: aiohttp.ClientSession
) -> None:
    async def elsewhere(_: web.Request, __: dict[str, Any]) -> web.StreamResponse:
        return web.Response(status=307, headers={"Location": restaurant.url})

    restaurant.script = [elsewhere, restaurant.yes]
    assert (await handler(restaurant, session).do(DEED)).status == FAILED
    assert (len(restaurant.requests), restaurant.bookings) == (1, {})


async def test_nobody_there_is_unknown_and_too_much_to_send_fails(
    restaurant: Restaurant, session: aiohttp.ClientSession, unused_tcp_port: int
) -> None:
    nobody = WebhookHandler(f"http://127.0.0.1:{unused_tcp_port}/", session, backoff=NO_PAUSE, tries=2)
    assert (await nobody.do(DEED)).status == UNKNOWN
    long = Deed("act_long", "book_table", {"note": "x" * 70_000})
    assert (await handler(restaurant, session).do(long)).status == FAILED
    assert restaurant.requests == []


async def test_pauses_grow_as_they_were_given(
    restaurant: Restaurant, session: aiohttp.ClientSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    pauses: list[float] = []
    real = asyncio.sleep

    async def sleep(seconds: float) -> None:
        pauses.append(seconds)
        await real(0)

    monkeypatch.setattr("tacit.agent.scheduling.actions.io.webhook.asyncio.sleep", sleep)
    restaurant.script = [restaurant.status(500)]
    await handler(restaurant, session, backoff=Backoff(first=1.0, longest=3.0), tries=4).do(DEED)
    assert [pause for pause in pauses if pause] == [1.0, 2.0, 3.0]


@pytest.mark.parametrize(
    "url",
    ["http://example.org/x", "http://10.0.0.1/", "ftp://localhost/", "https://", "", "https://user:pw@example.org/",
     "http://localhost.example.org/", "https://example.org:99999/", "http://[::2]/", "javascript:alert(1)"],
)  # fmt: skip
def test_only_https_or_this_device_is_reached(url: str) -> None:
    with pytest.raises(Refused):
        checked_url(url)


@pytest.mark.parametrize(
    "url", ["https://example.org/x", "http://localhost:80/", "http://127.0.0.1/", "http://[::1]:9/"]
)
def test_https_and_this_device_are_reached(url: str) -> None:
    assert checked_url(url) == url


async def test_a_secret_that_no_header_can_carry_is_refused(session: aiohttp.ClientSession) -> None:
    for secret in ("", "two words", "line\nbreak", "ключ"):
        with pytest.raises(Refused):
            WebhookHandler("https://example.org/", session, secret)
