"""What people do about attention: edit, delete, steer, set the numbers, have events posted to an address."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import json
from typing import Any, Self

import pytest
from aiohttp import web

from tacit.attention.settings import DEFAULTS, NAMES
from tacit.ledger.io.upkeep import events_on
from tests.hub.c2a.stage import refused, staged
from tests.hub.room import WAIT

TEXT = "the old password is hunter2"


# -- edits and deletes


@pytest.mark.spec("C2A-187", "C2A-214")
async def test_a_deleted_text_is_in_no_view_and_no_tool_in_any_of_its_forms(stage):
    ann = await stage.agent("ann")
    said = await stage.tell(f"@ann {TEXT}")
    await ann.delivery(said)
    first = (await stage.edit(said, f"@ann {TEXT}, I think")).body["id"]
    second = (await stage.edit(said, f"@ann {TEXT}, I know")).body["id"]
    await ann.delivery(second)
    reply = await stage.tell("anything new?", reply_to=said["id"])
    await ann.delivery(reply)
    assert (await stage.delete(said)).status == 200
    assert (await stage.delete(said)).status == 400
    base = f"/v1/groups/{stage.group_id}"
    views = ["/window", "/search?q=hunter2", "/inbox?actor_id=ann", "/inbox", "/agents"]
    for event_id in (said["id"], first, second):
        views += [f"/events/{event_id}", f"/events/{event_id}/decisions"]
    views += [f"/events/{said['id']}/thread", f"/events/{reply['id']}/thread"]
    for path in views:
        answer = await stage.get(base + path)
        assert answer.status == 200, (path, answer.body)
        assert "hunter2" not in str(answer.body), path
    for name, arguments in (
        ("chat.list_events", {}),
        ("chat.read_thread", {"threadId": said["id"]}),
        ("chat.read_thread", {"eventId": first}),
        ("chat.read_thread", {"conversationId": "main"}),
        ("chat.search", {"query": "hunter2"}),
        ("chat.search", {"query": "password"}),
    ):
        assert "hunter2" not in str(await ann.call(name, **arguments)), name
    # Who comes later gets nothing of it either.
    ben = await stage.agent("ben")
    late = await stage.tell("@ben @ann look at this thread", reply_to=reply["id"])
    assert "hunter2" not in str(await ben.delivery(late))
    # The journal has lost it too.
    assert TEXT not in str(await stage.events(stage.group_id))
    kept = await stage.server.hub.ledger.read(lambda reader: b"".join(events_on(reader.connection)))
    assert "hunter2" not in kept.decode()


@pytest.mark.spec("C2A-185", "C2A-189")
async def test_an_edited_text_stands_in_the_place_of_the_first(stage):
    ann = await stage.agent("ann")
    said = await stage.tell("@ann deploy to production", stage.owner)
    await ann.delivery(said)
    answer = await stage.edit(said, "@ann deploy to staging")
    assert answer.body["data"]["supersedes"] == said["id"]
    again = await stage.edit({"id": answer.body["id"]}, "@ann deploy to testing")
    assert again.body["data"]["supersedes"] == answer.body["id"]
    base = f"/v1/groups/{stage.group_id}"
    shown = (await stage.get(f"{base}/events/{said['id']}")).body["event"]
    assert shown["data"]["text"] == "@ann deploy to testing"
    assert shown["data"]["edited"]["event_id"] == again.body["id"]
    found = (await stage.get(f"{base}/search?q=testing")).body["events"]
    assert [one["id"] for one in found] == [said["id"]]
    assert (await stage.get(f"{base}/search?q=production")).body["events"] == []
    listed = (await ann.call("chat.list_events"))["events"]
    assert [(one["eventId"], one["content"]) for one in listed] == [
        (again.body["id"], "@ann deploy to testing")
    ]
    await ann.answer(again.body["id"], "Deployed to testing.", visibility="thread")


async def test_only_authors_edit_and_only_authors_and_the_owner_delete(stage):
    await stage.member("ann")
    bea, sam = await stage.person("bea"), await stage.person("sam")
    said = await stage.tell("good morning", bea)
    for token in (sam, stage.tokens["ann"], stage.owner):
        assert (await stage.edit(said, "bad morning", token)).status == 403
    for token in (sam, stage.tokens["ann"]):
        assert (await stage.delete(said, token)).status == 403
    assert (await stage.edit(said, "   ", bea)).status == 400
    assert (await stage.edit(said, "very good morning", bea)).status == 200
    assert (await stage.delete(said)).status == 200
    assert (await stage.edit(said, "again", bea)).status == 400
    missing = {"id": "01890000-0000-7000-8000-000000000000"}
    assert (await stage.edit(missing, "x", bea)).status == 404
    assert (await stage.delete(missing)).status == 404


@pytest.mark.spec("C2A-186")
async def test_an_edit_after_the_answer_is_a_new_look_and_no_new_question(stage):
    ann = await stage.agent("ann")
    said = await stage.tell("@ann which port?")
    await ann.answer(said, "Port 7434.", visibility="thread")
    edited = (await stage.edit(said, "@ann which port, and why?")).body["id"]
    heard = await ann.delivery(edited)
    assert (heard["policy"], heard["injection"]["mode"]) == ("may_respond", "notify")
    assert heard["attention"]["reason"] == "edited_after_response"
    assert ann.cancelled == []


# -- steering


@pytest.mark.spec("C2A-176", "C2A-179")
async def test_a_person_calls_off_or_gives_to_another(stage):
    ann, ben = await stage.cast("ann", "ben")
    first, second = await stage.tell("@ann rotate the keys"), await stage.tell("@ann write the report")
    await ann.delivery(second)
    answer = await stage.steer("cancel", event_id=first["id"])
    assert answer.body["cancelled"] == ["ann"]
    await ann.until(lambda: ann.cancelled)
    with refused("event_superseded"):
        await ann.answer(first, "The keys are rotated.", visibility="thread")
    answer = await stage.steer("reassign", event_id=second["id"], to="ben")
    assert answer.body["to"] == "ben"
    heard = await ben.delivery(second)
    assert (heard["policy"], heard["attention"]["reason"]) == ("must_respond", "escalation")
    await ann.until(lambda: len(ann.cancelled) == 2)
    with refused("event_superseded"):
        await ann.answer(second, "The report is here.", visibility="thread")
    await ben.answer(second, "The report is ready.", visibility="thread")
    audits = await stage.recorded("audit")
    assert [(one["what"], one["details"]["by"]) for one in audits if one["what"] in {"cancel", "reassign"}] == [
        ("cancel", "user"), ("reassign", "user"),
    ]  # fmt: skip


async def test_steering_refuses_what_makes_no_sense_and_who_is_no_person(stage):
    ann = await stage.agent("ann")
    await stage.member("ben")
    said = await stage.tell("@ann rotate the keys")
    own = await ann.answer(said, "They are rotated.", visibility="thread")
    for op, given, status in (
        ("reassign", {"event_id": said["id"]}, 400),
        ("reassign", {"event_id": said["id"], "to": "ben"}, 404),
        ("reassign", {"event_id": said["id"], "to": "nobody"}, 404),
        ("reassign", {"event_id": own, "to": "ann"}, 400),
        ("cancel", {}, 400),
        ("cancel", {"event_id": "01890000-0000-7000-8000-000000000000"}, 404),
        ("approve", {"approval_id": "nothing"}, 404),
        ("approve", {}, 400),
        ("leave", {}, 400),
        ("leave", {"agent": "nobody"}, 404),
        ("dance", {}, 400),
    ):
        assert (await stage.steer(op, **given)).status == status, (op, given)
    assert (await stage.steer("cancel", token=ann.token, event_id=said["id"])).status == 403
    dm = await stage.tell("hello?", to=["ann"])
    for op in ("leave", "return"):
        for where in ({"event_id": dm["id"]}, {"conversation_id": "dm:ann+user"}):
            assert (await stage.steer(op, agent="ann", **where)).body["details"]["row"] == "C2A-194"


@pytest.mark.spec("C2A-190", "C2A-193")
async def test_a_person_sends_an_agent_out_and_calls_it_back(stage):
    ann, _ben = await stage.cast("ann", "ben", roles=["ops"])
    owed = await stage.tell("@ann rotate the keys")
    await ann.delivery(owed)
    assert (await stage.steer("leave", agent="ann")).status == 200
    with refused("left_conversation"):
        await ann.session.send(
            "channel:main", "I am still here.", key="1", visibility="channel", directedness="ambient"
        )
    role = await stage.tell("@ops who is on call?")
    assert await stage.delivered(role) == ["ben"]
    assert (await stage.steer("return", agent="ann")).status == 200
    await ann.session.send(
        "channel:main", "I am back again.", key="2", visibility="channel", directedness="ambient"
    )
    role = await stage.tell("@ops and who now?")
    assert sorted(await stage.delivered(role)) == ["ann", "ben"]


async def test_a_preview_says_whom_a_message_would_oblige_and_writes_nothing(stage):
    await stage.cast("ann", "ben", roles=["ops"])
    before = await stage.last_seq(stage.group_id)
    path = f"/v1/groups/{stage.group_id}/preview"
    for text, obliges, knocks in (
        ("@ann which port?", ["ann"], []),
        ("@ops which port?", [], ["ann", "ben"]),
        ("nice weather", [], []),
    ):
        shown = (await stage.post(path, {"data": {"text": text}})).body
        assert (shown["obliges"], shown["knocks"]) == (obliges, knocks)
        assert shown["sentence"]
    assert (await stage.post(path, {"data": {"text": "x"}, "kind": "chat.ack"})).status == 400
    assert await stage.last_seq(stage.group_id) == before


# -- settings


@pytest.mark.spec("C2A-085", "C2A-086", "C2A-155", "C2A-178")
@pytest.mark.parametrize(
    "wrong",
    [
        {"compose_quiet_ms": 1999}, {"compose_quiet_ms": 5001}, {"compose_quiet_ms": 30_001, "compose_slow": True},
        {"compose_cap_ms": 30_001}, {"compose_quiet_ms": "3000"}, {"compose_quiet_ms": True}, {"compose_quiet_ms": None},
        {"deadline_ms": 0}, {"deadline_ms": -1}, {"deadline_ms": 10**18}, {"deadline_ms": 1.5}, {"freshness_ms": 0},
        {"claim_ttl_ms": 0}, {"claim_ttl_ms": 10}, {"claim_ttl_min_ms": 900_000}, {"claim_ttl_max_ms": 10**15},
        {"redeliver_at": [0.5, 1.0]}, {"redeliver_at": ["x"]}, {"redeliver_at": [0.8, 0.5]}, {"redeliver_at": 0.5},
        {"redeliver_at": [[1]]}, {"redeliver_at": [True]}, {"redeliver_at": [0.01 * n for n in range(1, 50)]},
        {"similarity": 1.5}, {"similarity": 0}, {"similar_window": -1}, {"exchange_limit": 0}, {"duplicate_limit": 0},
        {"injected_per_minute": 0}, {"sends_per_minute": 0}, {"sends_per_conversation": -3}, {"defer_ms": 0},
        {"digest_every_ms": 0}, {"digest_chars": 0}, {"topic_chars": 0}, {"topic_chars": 500}, {"assign_after_ms": -1},
        {"nothing": 1}, {"deadline_ms": 60_000, "nothing": 1},
    ],
    ids=str,
)  # fmt: skip
async def test_a_setting_outside_its_range_is_refused_and_changes_nothing(stage, wrong):
    answer = await stage.settings(**wrong)
    assert answer.status == 400, answer.body
    shown = await stage.get(f"/v1/groups/{stage.group_id}/attention/settings")
    expected = {name: getattr(DEFAULTS, name) for name in NAMES}
    assert shown.body["settings"] == {**expected, "redeliver_at": list(DEFAULTS.redeliver_at)}


async def test_a_setting_holds_at_once_and_after_a_restart(tmp_path):
    async with staged(tmp_path / "data") as stage:
        await stage.open()
        ann = await stage.agent("ann")
        answer = await stage.settings(deadline_ms=60_000, compose_quiet_ms=10_000, compose_slow=True)
        assert answer.body["warnings"]
        event = await stage.tell("@ann are you there?")
        assert (await ann.delivery(event))["attention"]["deadlineMs"] == 60_000
        assert (await stage.post(
            f"/v1/groups/{stage.group_id}/attention/settings", {"settings": {"deadline_ms": 1000}}, token=ann.token
        )).status == 403  # fmt: skip
        group, tokens, clock = stage.group_id, dict(stage.tokens), stage.clock
    clock.move(10)
    async with staged(tmp_path / "data", clock=clock) as stage:
        stage.group_id, stage.tokens = group, tokens
        ann = await stage.agent("ann")
        assert ann.session.agreed.settings["compose_quiet_ms"] == 10_000
        later = await stage.tell("@ann and now?")
        assert (await ann.delivery(later))["attention"]["deadlineMs"] == 60_000
        # The obligation of before the restart runs out when it would have.
        await stage.pass_time(51)
        assert "may_respond" in [
            one["policy"] for one in await stage.recorded("delivery", event_id=event["id"])
        ]


@pytest.mark.spec("C2A-205")
async def test_the_limit_of_injected_events_can_be_raised_while_agents_wait(stage):
    ann = await stage.agent("ann")
    events = [await stage.tell(f"@ann question number {number}?") for number in range(65)]
    await ann.until(lambda: len(ann.heard) == 60)
    assert (await stage.settings(injected_per_minute=500)).status == 200
    await ann.delivery(events[-1])
    assert [one["eventId"] for one in ann.heard] == [one["id"] for one in events]


# -- webhooks


class Receiver:
    """A little server that checks signatures and answers as it is told."""

    def __init__(self) -> None:
        self.secret = ""
        self.posts: list[dict[str, Any]] = []
        self.answers: list[Any] = []
        self.port = 0
        self._changed = asyncio.Condition()
        self._runner: web.AppRunner | None = None

    async def __aenter__(self) -> Self:
        app = web.Application()
        app.router.add_post("/hook", self._post)
        self._runner = web.AppRunner(app, shutdown_timeout=0.1)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", 0)
        await site.start()
        self.port = site._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._runner is not None
        await self._runner.cleanup()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/hook"

    async def _post(self, request: web.Request) -> web.Response:
        body = await request.read()
        stamp, mac = (part.partition("=")[2] for part in request.headers["Tacit-Signature"].split(","))
        made = hmac.new(self.secret.encode(), stamp.encode() + b"." + body, hashlib.sha256).hexdigest()
        message = json.loads(body)
        async with self._changed:
            self.posts.append({**message, "sound": hmac.compare_digest(mac, made), "at": int(stamp)})
            self._changed.notify_all()
        answer = self.answers.pop(0) if self.answers else 200
        if answer == 200:
            return web.json_response({"accepted": True, "eventId": message["params"]["eventId"]})
        return web.json_response(answer) if isinstance(answer, dict) else web.Response(status=answer)

    async def until(self, count: int) -> list[dict[str, Any]]:
        async with asyncio.timeout(WAIT), self._changed:
            await self._changed.wait_for(lambda: len(self.posts) >= count)
        return self.posts

    async def hook(self, stage: Any, name: str) -> None:
        path = f"/v1/groups/{stage.group_id}/actors/{name}/webhook"
        answer = await stage.post(path, {"url": self.url})
        assert answer.status == 201
        self.secret = answer.body["secret"]


@pytest.mark.spec("C2A-011", "C2A-161", "C2A-008")
async def test_a_webhook_is_signed_in_order_and_tried_again_before_the_next(stage):
    await stage.member("ann")
    async with Receiver() as receiver:
        receiver.answers = [503, {"accepted": False}]
        await receiver.hook(stage, "ann")
        events = [await stage.tell(f"@ann question {number}?") for number in range(3)]
        posts = await receiver.until(5)
        assert all(one["sound"] for one in posts)
        assert {one["at"] for one in posts} == {stage.clock.now() // 1_000_000}
        assert [one["params"]["eventId"] for one in posts] == [events[0]["id"]] * 3 + [
            events[1]["id"], events[2]["id"],
        ]  # fmt: skip
        assert [one["params"]["reliability"]["attempt"] for one in posts] == [1, 2, 3, 1, 1]
        assert len({one["id"] for one in posts[:3]}) == 1
        path = f"/v1/groups/{stage.group_id}/actors/ann/webhook"
        assert (await stage.call("DELETE", path)).body == {"removed": True}
        await stage.tell("@ann one more?")
        assert len(receiver.posts) == 5


async def test_what_was_deleted_is_not_posted_again_and_a_refusal_does_not_block(stage):
    await stage.member("ann")
    async with Receiver() as receiver:
        receiver.answers = [503] * 2 + [{"error": {"code": -32602, "message": "no"}}]
        await receiver.hook(stage, "ann")
        secret = await stage.tell("@ann hunter2 is the password")
        await receiver.until(1)
        await stage.delete(secret)
        second = await stage.tell("@ann which port?")
        third = await stage.tell("@ann and which host?")
        async with asyncio.timeout(WAIT):
            while not any(one["params"]["eventId"] == third["id"] for one in receiver.posts):
                await receiver.until(len(receiver.posts) + 1)
        told = [(one["method"], one["params"]["eventId"]) for one in receiver.posts]
        assert told.count(("chat/deliver", secret["id"])) <= 2
        assert told[-2:] == [("chat/deliver", second["id"]), ("chat/deliver", third["id"])] or (
            ("chat/deliver", second["id"]) in told
        )
        async with stage.stream(stage.group_id, kinds="x.c2a.accepted") as stream:
            accepted = (await stream.event())["data"]["event_ids"]
        assert secret["id"] not in accepted


async def test_a_webhook_goes_on_when_the_sessions_own_connection_ends_and_after_a_restart(tmp_path):
    async with Receiver() as receiver:
        async with staged(tmp_path / "data") as stage:
            await stage.open()
            await stage.member("ann")
            await receiver.hook(stage, "ann")
            async with stage.wire("ann") as wire:
                event = await stage.tell("@ann by socket?")
                message = await wire.delivery()
                assert message["params"]["eventId"] == event["id"]
                await wire.accept(message)
                async with stage.stream(stage.group_id, kinds="x.c2a.accepted") as stream:
                    await stream.event()
            event = await stage.tell("@ann by webhook?")
            posts = await receiver.until(1)
            assert [one["params"]["eventId"] for one in posts] == [event["id"]]
            group, clock = stage.group_id, stage.clock
        async with staged(tmp_path / "data", clock=clock) as stage:
            stage.group_id = group
            event = await stage.tell("@ann after the restart?")
            async with asyncio.timeout(WAIT):
                while receiver.posts[-1]["params"]["eventId"] != event["id"]:
                    await receiver.until(len(receiver.posts) + 1)
            assert receiver.posts[-1]["sound"]


async def test_only_the_owner_sets_webhooks_and_only_to_web_addresses(stage):
    token = await stage.member("ann")
    path = f"/v1/groups/{stage.group_id}/actors/ann/webhook"
    assert (await stage.post(path, {"url": "http://127.0.0.1:1/x"}, token=token)).status == 403
    for url in ("file:///etc/passwd", "ftp://x/y", "nonsense", "http://"):
        assert (await stage.post(path, {"url": url})).status == 400
    assert (await stage.post(path, {"url": "http://127.0.0.1:1/x", "version": "1999-01-01"})).status == 400
    nobody = f"/v1/groups/{stage.group_id}/actors/nobody/webhook"
    assert (await stage.post(nobody, {"url": "http://127.0.0.1:1/x"})).status == 404
    assert (await stage.call("DELETE", path)).body == {"removed": False}
