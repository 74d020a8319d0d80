"""The agent's own page: only its owner's page gets in, and may ask for no more than the page needs."""

from __future__ import annotations

import asyncio
import contextlib
import json
import re
from typing import Any

import aiohttp
import pytest

from tacit.agent import Agent
from tacit.agent.shell.io import calls, page
from tacit.agent.shell.io.sign_in import LINK_LASTS, MOST, SESSION_LASTS, SignIn
from tacit.base.agent_operations import AGENT_OPERATIONS
from tacit.base.errors import Refused
from tacit.base.io.built_page import POLICY
from tacit.base.io.system import SystemEntropy
from tacit.base.moment import Moment
from tests.agent.arrangements import pair
from tests.agent_support import Person
from tests.relay_support import Relay

pytestmark = pytest.mark.spec("A2ACP-274")


class Visitor:
    """Somebody who speaks HTTP to a page's port, with whatever headers it likes."""

    def __init__(self, session: aiohttp.ClientSession, served: page.Page) -> None:
        self._session = session
        self.served = served
        self.token = ""
        self.origin = served.address.rstrip("/")

    async def post(self, path: str, body: Any, **headers: str) -> tuple[int, dict[str, Any]]:
        """The status and the answer; a header of "" is left out."""
        given = {"Origin": self.origin, "Authorization": f"Bearer {self.token}", **headers}
        given = {name.replace("_", "-"): value for name, value in given.items() if value}
        given.setdefault("Content-Type", "application/json")
        data = body if isinstance(body, (bytes, str)) else json.dumps(body)
        async with self._session.post(self.origin + path, data=data, headers=given) as answer:
            return answer.status, await answer.json()

    async def call(self, command: str, **arguments: Any) -> tuple[int, dict[str, Any]]:
        return await self.post("/agent/call", {"command": command, "arguments": arguments})

    async def sign_in(self, link: str = "") -> dict[str, Any]:
        secret = (link or self.served.link()).rsplit("/", 1)[1]
        status, opened = await self.post("/agent/open", {"link": secret})
        assert status == 200, opened
        self.token = opened["token"]
        return opened


@contextlib.asynccontextmanager
async def alone(folder):
    """One agent with its page, at a relay it needs not reach."""
    async with Relay(folder / "relay") as relay:
        person = Person(folder / "anna", relay, "anna")
        async with person.post:
            await person.register()
        person.post.store.close()
        async with (
            Agent(folder / "anna", clock=relay.clock) as agent,
            page.served(agent, 0) as served,
            aiohttp.ClientSession() as session,
        ):
            yield agent, Visitor(session, served), relay.clock


async def test_a_link_signs_in_once_and_the_page_is_served_under_the_hubs_own_policy(tmp_path):
    async with alone(tmp_path) as (_agent, visitor, _clock):
        link = visitor.served.link()
        async with visitor._session.get(link, allow_redirects=False) as arrival:
            assert arrival.status == 303
            assert arrival.headers["Location"].startswith("/#open=")
        async with visitor._session.get(visitor.served.address) as front:
            assert front.headers["Content-Security-Policy"] == POLICY
            text = await front.read()
            assert b'data-face="agent"' in text
        named = sorted(set(re.findall(rb'/(assets/[^"]+)"', text)))
        assert named
        for one in named:
            async with visitor._session.get(visitor.served.address + one.decode()) as part:
                assert part.status == 200
                assert "immutable" in part.headers["Cache-Control"]
        async with visitor._session.get(visitor.served.address + "assets/none.js") as part:
            assert part.status == 404
        await visitor.sign_in(link)
        assert (await visitor.call("pending")) == (200, {"ok": {"questions": []}})
        status, again = await visitor.post("/agent/open", {"link": link.rsplit("/", 1)[1]})
        assert (status, again["error"]["code"]) == (400, "used_link")
        status, guessed = await visitor.post("/agent/open", {"link": "A" * 32})
        assert (status, guessed["error"]["code"]) == (400, "unknown_link")


ELSEWHERE = [
    ({"Origin": "https://evil.example"}, "foreign_origin"),
    ({"Origin": "null"}, "foreign_origin"),
    ({"Origin": ""}, "foreign_origin"),
    ({"Origin": "http://127.0.0.1:1"}, "foreign_origin"),
    ({"Host": "evil.example"}, "foreign_host"),
    ({"Host": "127.0.0.1.evil.example"}, "foreign_host"),
    ({"Host": "127.0.0.1"}, "foreign_host"),
    ({"Authorization": ""}, "unknown_token"),
    ({"Authorization": "Bearer guessed"}, "unknown_token"),
    ({"Content_Type": "text/plain"}, "bad_command"),
    ({"Content_Type": "application/x-www-form-urlencoded"}, "bad_command"),
    ({"Content_Type": "multipart/form-data; boundary=x"}, "bad_command"),
]


async def test_a_request_from_elsewhere_is_refused_before_any_work(tmp_path):
    async with alone(tmp_path) as (agent, visitor, _clock):
        await visitor.sign_in()
        body = {"command": "profile", "arguments": {"changes": {"dietary": "stolen"}}}
        for headers, code in ELSEWHERE:
            for path in ("/agent/call", "/agent/changes"):
                status, answer = await visitor.post(path, body, **headers)
                assert status in {400, 401, 403}, headers
                assert answer["error"]["code"] == code, headers
        assert (await agent.profile({}))["profile"] == {}


async def test_a_foreign_name_that_points_here_gets_not_even_the_empty_page(tmp_path):
    async with alone(tmp_path) as (_agent, visitor, _clock):
        for path in ("/", "/q/anything", "/assets/nothing.js"):
            headers = {"Host": f"rebound.example:{visitor.served.port}"}
            url = visitor.origin + path
            async with visitor._session.get(url, headers=headers, allow_redirects=False) as answer:
                assert answer.status == 403


async def test_links_and_sessions_end_by_time_and_with_the_process(tmp_path):
    async with alone(tmp_path) as (agent, visitor, clock):
        old = visitor.served.link()
        await visitor.sign_in()
        clock.ahead += LINK_LASTS + 1
        status, late = await visitor.post("/agent/open", {"link": old.rsplit("/", 1)[1]})
        assert (status, late["error"]["code"]) == (400, "expired_link")
        assert (await visitor.call("me_is_not_asked"))[0] == 404
        clock.ahead += SESSION_LASTS
        status, answer = await visitor.call("pending")
        assert (status, answer["error"]["code"]) == (401, "expired_token")
        await visitor.sign_in()
        kept = visitor.token
        async with page.served(agent, 0) as again:
            other = Visitor(visitor._session, again)
            other.token = kept
            status, answer = await other.call("pending")
            assert (status, answer["error"]["code"]) == (401, "unknown_token")


async def test_the_page_may_ask_for_its_table_of_commands_and_nothing_else(tmp_path):
    async with alone(tmp_path) as (_agent, visitor, _clock):
        await visitor.sign_in()
        closed = {name for name, operation in AGENT_OPERATIONS.items() if not operation.page}
        for command in (*sorted(closed), "made_up"):
            status, answer = await visitor.call(command)
            assert (status, answer["error"]["code"]) == (404, "unknown_command"), command
        assert {"add_handler", "add_calendar", "remove_calendar", "page_link", "program"} <= closed


async def test_the_page_says_no_more_than_its_shape_has(tmp_path):
    """What another program knows, and what only this device can reach, is the terminal's to say."""
    async with alone(tmp_path) as (_agent, visitor, _clock):
        await visitor.sign_in()
        asked = []

        async def noted(_agent, request):
            asked.append(request)
            return {}

        for command, given in (
            ("answer", {"question_id": "q_1", "via": "message:9"}),
            ("find", {"account": "ben@b.example", "private": True}),
            ("ask", {"text": "dinner with ben", "by_program": True, "facts": {"busy": []}}),
        ):
            with pytest.MonkeyPatch.context() as patched:
                patched.setitem(calls.HANDLERS, command, calls.Handler(None, noted))
                assert (await visitor.call(command, **given))[0] == 200
        answer, find, ask = asked
        assert (answer.via, find.private, ask.by_program, ask.facts) == ("page", False, False, None)


async def test_a_body_that_is_no_command_is_refused_with_its_reason(tmp_path):
    async with alone(tmp_path) as (_agent, visitor, _clock):
        await visitor.sign_in()
        nothing = (b"", b"{", b"[]", b"null", b'{"command": 3}', b'{"command":"thread"}', b"[" * 90_000)
        for body in nothing:
            status, answer = await visitor.post("/agent/call", body)
            assert (status, answer["error"]["code"]) == (400, "bad_command"), body[:20]


async def test_a_body_beyond_its_bound_is_refused_and_the_page_goes_on(tmp_path):
    async with alone(tmp_path) as (_agent, visitor, _clock):
        await visitor.sign_in()
        status, answer = await visitor.call("ask", text="x" * page.LARGEST)
        assert (status, answer["error"]["code"]) == (413, "too_large")
        assert (await visitor.call("pending"))[0] == 200


async def test_two_faces_answer_in_the_same_moment_and_one_is_told_that_it_was_late(tmp_path):
    async with (
        pair(tmp_path) as (both, anna, _ben),
        page.served(anna, 0) as served,
        aiohttp.ClientSession() as session,
    ):
        visitor = Visitor(session, served)
        await anna.ask("dinner with ben on Friday evening")
        asked = await both.question(anna, "consent")
        link = (await anna.page_link(asked["question_id"]))["url"]
        assert (await visitor.sign_in(link))["question_id"] == asked["question_id"]
        given = {"question_id": asked["question_id"], "decline_all": True}
        first, second = await asyncio.gather(
            visitor.call("answer", **given, via="terminal"), visitor.call("answer", **given)
        )
        late, taken = sorted((first, second), key=lambda one: -one[0])
        assert taken[0] == 200
        assert (late[0], late[1]["error"]["code"]) == (409, "stale_question")
        # Where it was answered is said by the door, whatever the page claims.
        (closed,) = [one for one, _ in anna.journal.records("x.a2acp.answered")]
        assert closed.via == "page"
        with pytest.raises(Refused, match="no longer open"):
            await anna.page_link(asked["question_id"])


async def test_the_page_hears_of_changes_and_of_the_end(tmp_path):
    async with alone(tmp_path) as (agent, visitor, _clock):
        await visitor.sign_in()
        headers = {"Origin": visitor.origin, "Authorization": f"Bearer {visitor.token}"}
        url = visitor.origin + "/agent/changes"
        async with asyncio.timeout(60), visitor._session.post(url, json={}, headers=headers) as stream:
            assert json.loads(await stream.content.readline()) == {"following": agent.me}
            await agent.profile({"dietary": "no meat"})
            said = await stream.content.readline()
            assert json.loads(said) == {"change": "settings", "name": "profile"}
            visitor.served.close()
            assert (await stream.content.read()).strip() == b""


def test_links_and_sessions_are_bounded_and_the_oldest_goes():
    sign_in = SignIn(SystemEntropy())
    links = [sign_in.link(Moment(number)) for number in range(MOST + 1)]
    with pytest.raises(Refused, match="opens nothing"):
        sign_in.open(links[0], Moment(0))
    assert sign_in.open(links[-1], Moment(0)).token


async def test_contacts_are_listed_judged_and_blocked_by_every_face_alike(tmp_path):
    async with pair(tmp_path) as (_both, anna, ben):
        (listed,) = (await calls.call(anna, "contacts", {}))["contacts"]
        assert listed == {
            "address": ben.me,
            "label": "",
            "welcome": True,
            "blocked": False,
            "flagged": False,
            "key": "unknown",
        }
        added = await calls.call(anna, "contact", {"who": "carl@elsewhere.example", "decision": "add"})
        assert added["welcome"]
        blocked = await calls.call(anna, "contact", {"who": ben.me, "decision": "block"})
        assert blocked["blocked"]
        with pytest.raises(Refused, match="marry"):
            await calls.call(anna, "contact", {"who": ben.me, "decision": "marry"})


@pytest.mark.spec("A2ACP-076")
async def test_words_that_were_not_understood_are_asked_about_on_the_page(tmp_path):
    async with alone(tmp_path) as (_agent, visitor, _clock):
        await visitor.sign_in()
        status, answer = await visitor.call(
            "ask", text="dinner with ben unless it rains", to=["ben@localhost:1"]
        )
        assert (status, answer["error"]["code"]) == (400, "unclear_request")
        assert "“unless it rains”" in answer["error"]["message"]
