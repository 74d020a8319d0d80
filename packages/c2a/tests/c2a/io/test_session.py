"""The reference client of C2A over a real WebSocket, against a peer that misbehaves on purpose."""

from __future__ import annotations

import asyncio

import msgspec
import pytest

from tacit.base.errors import Bug, Refused, Unavailable
from tacit.c2a.notifications import Cancelled
from tacit.c2a.permission import PermissionAsked
from tacit.c2a.retry import Pace
from tacit.client import AgentSession, Connected, Delivery, Disconnected, Habits, OutcomeUnknown, Typing
from tests.c2a_peer import WAIT, delivery, peering

QUICK = Habits(calls=Pace(first=0.01), connecting=Pace(first=0.01), wait_for_connection=5.0)


@pytest.fixture
async def peer():
    async with peering() as opened:
        yield opened


@pytest.fixture
async def session(peer):
    async with AgentSession(peer.url, "token", habits=QUICK) as opened:
        yield opened


class Hearing:
    """Takes items one at a time, with patience."""

    def __init__(self, session: AgentSession) -> None:
        self._items = session.incoming()

    async def next(self, kind):
        async with asyncio.timeout(WAIT):
            async for item in self._items:
                if isinstance(item, kind):
                    return item
        raise AssertionError("the session ended")


async def test_a_session_greets_and_learns_the_tools_and_what_was_agreed(peer, session):
    agreed = await Hearing(session).next(Connected)
    assert (agreed.version, agreed.session["id"]) == ("2026-06-24", "ada")
    assert peer.greetings[0]["clientInfo"] == {"name": "tacit-client", "version": "1"}
    await session.call("chat.list_events")
    assert "chat.send_message" in {tool["name"] for tool in session.tools}


@pytest.mark.spec("C2A-160")
async def test_a_delivery_is_answered_only_when_it_was_accepted(peer, session):
    hearing = Hearing(session)
    request = await peer.deliver(delivery("e1"))
    got = await hearing.next(Delivery)
    assert (await session.call("chat.list_events"))["ok"]
    assert request not in peer.answers
    assert await got.accept()
    answer = await peer.answer_to(request)
    assert answer["result"] == {"accepted": True, "eventId": "e1", "duplicate": False}


@pytest.mark.spec("C2A-162")
async def test_repeats_are_answered_as_duplicates_and_handed_over_once(peer, session):
    hearing = Hearing(session)
    first = await peer.deliver(delivery("e1"))
    got = await hearing.next(Delivery)
    early = await peer.deliver(delivery("e1", reliability__attempt=2))
    await session.call("chat.list_events")
    await got.accept()
    assert (await peer.answer_to(early))["result"]["accepted"]
    late = await peer.deliver(delivery("e1", reliability__attempt=3))
    assert (await peer.answer_to(late))["result"] == {"accepted": True, "eventId": "e1", "duplicate": True}
    await peer.deliver(delivery("e2"))
    assert (await hearing.next(Delivery)).event_id == "e2"
    assert (await peer.answer_to(first))["result"]["duplicate"] is False


@pytest.mark.spec("C2A-158", "C2A-222")
async def test_a_knock_that_became_an_obligation_is_handed_over_again(peer, session):
    hearing = Hearing(session)
    await peer.deliver(delivery("e1", policy="may_respond", attention__policy="may_respond"))
    await (await hearing.next(Delivery)).accept()
    await peer.deliver(delivery("e1", reliability__attempt=2))
    assert (await hearing.next(Delivery)).event.policy == "must_respond"


@pytest.mark.spec("C2A-162")
async def test_what_an_earlier_process_accepted_is_known_when_it_is_told(peer):
    async with AgentSession(peer.url, "token", habits=QUICK, known=lambda params: params["eventId"] == "old"):
        request = await peer.deliver(delivery("old"))
        assert (await peer.answer_to(request))["result"]["duplicate"] is True


@pytest.mark.spec("C2A-162")
async def test_a_delivery_that_comes_again_on_a_new_line_is_still_one(peer, session):
    hearing = Hearing(session)
    await peer.deliver(delivery("e1"))
    got = await hearing.next(Delivery)
    await peer.cut()
    await hearing.next(Disconnected)
    await hearing.next(Connected)
    again = await peer.deliver(delivery("e1", reliability__attempt=2))
    await session.call("chat.list_events")
    assert await got.accept()
    assert (await peer.answer_to(again))["result"]["accepted"]


@pytest.mark.spec("C2A-160", "C2A-162")
async def test_on_every_line_what_was_agreed_is_heard_before_what_came_with_it(peer, session):
    hearing = Hearing(session)
    await hearing.next(Connected)
    peer.hasty.append(delivery("e1"))
    await peer.cut()
    await hearing.next(Disconnected)
    heard = [await hearing.next((Connected, Delivery)) for _ in range(2)]
    assert [type(one) for one in heard] == [Connected, Delivery]
    assert await heard[1].accept()
    assert (await peer.answer_to("hasty"))["result"]["duplicate"] is False


async def test_whoever_waits_for_a_session_that_is_closed_is_told(peer):
    async with AgentSession(peer.url, "token", habits=QUICK) as session:
        await session.is_up()
    async with asyncio.timeout(WAIT):
        with pytest.raises(Unavailable):
            await session.is_up()


async def test_a_new_line_says_what_was_accepted_last(peer, session):
    hearing = Hearing(session)
    await peer.deliver(delivery("e1"))
    await (await hearing.next(Delivery)).accept()
    await peer.deliver(delivery("e2"))
    await hearing.next(Delivery)
    await peer.cut()
    await peer.until(lambda: len(peer.greetings) == 2)
    assert peer.greetings[1]["resume"] == {"lastAckedEventId": "e1"}


@pytest.mark.parametrize(
    ("broken", "path"),
    [
        ({"attention__policy": "perhaps"}, "policy"),
        ({"injection__role": "system"}, "injection.role"),
        ({"injection__mode": "notify"}, "content"),
        ({"reliability": {}}, "reliability.idempotencyKey"),
        ({"conversation__kind": "podcast"}, "conversation.kind"),
    ],
)
@pytest.mark.spec("C2A-030", "C2A-036", "C2A-040")
async def test_a_delivery_with_a_fault_is_refused_with_its_path_and_never_handed_over(
    peer, session, broken, path
):
    request = await peer.deliver(delivery("bad", **broken))
    error = (await peer.answer_to(request))["error"]
    assert error["code"] == -32602
    assert path in error["data"]["details"]["missing"]
    await peer.deliver(delivery("good"))
    assert (await Hearing(session).next(Delivery)).event_id == "good"


async def test_cancellations_and_typing_come_in_their_place(peer, session):
    hearing = Hearing(session)
    request = await peer.deliver(delivery("e1"))
    await peer.notify("notifications/cancelled", requestId=request, reason="deleted", eventId="e1")
    await peer.notify("notifications/typing", conversationId="g1", author={"id": "user"}, typing=True)
    assert (await hearing.next(Delivery)).is_cancelled
    assert await hearing.next(Cancelled) == Cancelled(request, "e1", "deleted")
    assert await hearing.next(Typing) == Typing("g1", "user", typing=True)


@pytest.mark.spec("C2A-160", "C2A-169", "C2A-179")
async def test_deliveries_alone_leave_out_what_was_cancelled_before_it_was_handed_over(peer, session):
    request = await peer.deliver(delivery("e1"))
    await peer.notify("notifications/cancelled", requestId=request, reason="deleted", eventId="e1")
    await peer.notify("notifications/typing", conversationId="g1", author={"id": "user"}, typing=True)
    await peer.deliver(delivery("e2"))
    # Its answer comes behind all of these.
    await session.call("chat.list_events")
    async with asyncio.timeout(WAIT):
        got = await anext(session.deliveries())
    assert got.event_id == "e2"


@pytest.mark.spec("C2A-167")
async def test_a_send_is_repeated_with_the_same_key_and_the_same_bytes(peer, session):
    peer.script = ["lose", {"code": "delivery_transient", "message": "later"}, None]
    sent = await session.send("thread:e1", "Grüße · 1", key="k1", in_reply_to="e1")
    assert sent.status == "delivered"
    bodies = {bytes(msgspec.json.decode(raw, type=dict[str, msgspec.Raw])["params"]) for raw in peer.raw}
    assert len(peer.raw) == 3
    assert len(bodies) == 1
    assert b'"idempotencyKey":"k1"' in bodies.pop()


@pytest.mark.spec("C2A-167")
async def test_five_tries_and_no_more(peer, session):
    peer.script = [{"code": "delivery_transient", "message": "later"}] * 9
    with pytest.raises(Refused) as refused:
        await session.send("thread:e1", "hello", key="k1", in_reply_to="e1")
    assert refused.value.code == "delivery_transient"
    assert len(peer.raw) == 5


@pytest.mark.spec("C2A-167")
async def test_the_hub_says_how_long_to_wait(peer, session):
    loop = asyncio.get_running_loop()
    limited = {"code": "rate_limited", "message": "slow", "details": {"retryAfterMs": 300}}
    peer.script = [limited]
    began = loop.time()
    await session.send("thread:e1", "hello", key="k1", in_reply_to="e1")
    assert loop.time() - began >= 0.3


@pytest.mark.spec("C2A-167")
def test_pauses_double_from_one_second_to_thirty():
    pace = Pace()
    assert [pace.pause(tried, 0.0) for tried in (1, 2, 3, 4, 5, 6, 9)] == [1, 2, 4, 8, 16, 30, 30]
    assert pace.pause(1, 1.0) == 1.5
    assert pace.pause(1, 0.0, retry_after_ms=7000) == 7


@pytest.mark.spec("C2A-171")
async def test_reads_and_safe_writes_are_repeated(peer, session):
    peer.script = ["break", None, "lose", None]
    assert (await session.call("chat.read_thread", threadId="e1"))["ok"]
    assert (await session.call("chat.react", inReplyTo="e1", signal="seen"))["ok"]
    assert len(peer.tool_calls("chat.react")) == 2


@pytest.mark.spec("C2A-172")
@pytest.mark.parametrize(
    ("name", "arguments"),
    [("x.launch", {"what": "rocket"}), ("chat.send_message", {"target": "thread:e1", "content": "hi"})],
)
async def test_a_side_effect_without_a_key_is_called_once_and_the_doubt_is_told(
    peer, session, name, arguments
):
    peer.script = ["lose", None, None]
    with pytest.raises(OutcomeUnknown):
        await session.call(name, **arguments)
    await Hearing(session).next(Disconnected)
    await session.call("chat.list_events")
    assert len(peer.tool_calls(name)) == 1


@pytest.mark.spec("C2A-172")
async def test_a_hub_that_does_not_know_itself_is_asked_again_only_under_a_key(peer, session):
    unknown = {"code": "daemon_unavailable", "message": "?", "details": {"reason": "outcome_unknown"}}
    peer.script = [unknown, unknown, None]
    with pytest.raises(OutcomeUnknown):
        await session.call("x.launch", what="rocket")
    await session.call("x.launch", what="rocket", idempotencyKey="k")
    assert len(peer.raw) == 3


@pytest.mark.spec("C2A-172")
async def test_a_side_effect_with_a_key_may_be_repeated(peer, session):
    peer.script = ["lose", None]
    await session.call("x.launch", what="rocket", idempotencyKey="k")
    assert len(peer.tool_calls("x.launch")) == 2


@pytest.mark.spec("C2A-169")
async def test_a_permanent_failure_is_a_result_that_a_model_can_read(peer, session):
    error = {"code": "delivery_failed", "message": "gone", "details": {"permanent": True}}
    peer.script = [error]
    result = await session.tool_result("chat.send_message", {"target": "thread:e1", "idempotencyKey": "k"})
    assert result == {"ok": False, "error": error}
    assert len(peer.raw) == 1


async def test_dispositions_progress_and_logs_reach_the_hub(peer, session):
    await Hearing(session).next(Connected)
    await session.disposition("e1", "ignored", reason="nothing to add")
    assert await session.progress("t1", 1, 3, "reading")
    assert await session.log("info", "started")
    await peer.until(lambda: len(peer.told) == 2)
    assert peer.dispositions == {"e1": "ignored"}
    assert peer.told[0]["params"] == {"progressToken": "t1", "progress": 1, "total": 3, "message": "reading"}
    assert peer.told[1]["method"] == "notifications/log"


@pytest.mark.spec("C2A-117", "C2A-207")
@pytest.mark.parametrize("trouble", ["lose", "break", {"code": "delivery_transient", "message": "later"}])
async def test_a_disposition_and_a_question_of_permission_are_said_again_when_the_answer_was_lost(
    peer, session, trouble
):
    await Hearing(session).next(Connected)
    peer.reports = [trouble]
    await session.disposition("e1", "ignored", reason="nothing to add")
    assert peer.dispositions == {"e1": "ignored"}
    peer.reports = [trouble, {"state": "allowed"}]
    assert await session.permission(PermissionAsked("k1", title="rm")) == {"state": "allowed"}


async def test_unknown_requests_are_refused_and_unknown_notifications_dropped(peer, session):
    await Hearing(session).next(Connected)
    await peer._say({"id": "q", "method": "chat/dance", "params": {}})
    await peer.notify("notifications/dance")
    assert (await peer.answer_to("q"))["error"]["code"] == -32601


async def test_a_token_that_the_hub_does_not_know_ends_the_session(peer):
    async with AgentSession(peer.url, "wrong", habits=QUICK) as session:
        with pytest.raises(Refused):
            await Hearing(session).next(Connected)
        with pytest.raises(Refused):
            await session.call("chat.list_events")


async def test_a_hub_without_the_door_ends_the_session(peer):
    async with AgentSession(peer.url + "/elsewhere", "token", habits=QUICK) as session:
        with pytest.raises(Refused) as refused:
            await session.is_up()
    assert refused.value.code == "unknown_op"


async def test_a_hub_that_is_away_is_waited_for_and_then_called_unavailable(unused_tcp_port):
    habits = Habits(connecting=Pace(first=0.01), wait_for_connection=0.2)
    async with AgentSession(f"http://127.0.0.1:{unused_tcp_port}", "token", habits=habits) as session:
        with pytest.raises(Unavailable):
            await session.call("chat.list_events")
        assert await session.log("info", "nobody hears") is False


async def test_a_hub_that_is_busy_is_asked_again(peer):
    peer.busy = 2
    async with AgentSession(peer.url, "token", habits=QUICK) as session:
        await Hearing(session).next(Connected)
    assert peer.busy == 0


@pytest.mark.spec("C2A-162")
async def test_a_fault_of_our_own_ends_the_session_instead_of_leaving_it_silent(peer):
    kept: dict[str, bool] = {}
    async with AgentSession(
        peer.url, "token", habits=QUICK, known=lambda params: kept[params["eventId"]]
    ) as one:
        await peer.deliver(delivery("e1"))
        with pytest.raises(Bug):
            await Hearing(one).next(Delivery)


async def test_a_hub_that_starts_late_is_found(peer):
    await peer.stop()
    async with AgentSession(peer.url, "token", habits=QUICK) as session:
        calling = asyncio.create_task(session.call("chat.list_events"))
        await peer.start()
        assert (await calling)["ok"]


@pytest.mark.parametrize(
    "strange",
    [
        {"injection__mode": "telepathy"},
        {"target__directedness": "to_nobody"},
        {"reliability": {"attempt": "x", "idempotencyKey": "k"}},
        {"timing": {"sequence": [1]}},
        {"target": {"directedness": "to_me", "mentions": 7}},
        {"attention": {"policy": "must_respond", "priority": {}, "reason": 1}, "conversation__kind": 3},
    ],
)
async def test_a_strange_delivery_is_refused_and_the_line_lives(peer, session, strange):
    request = await peer.deliver(delivery("odd", **strange))
    assert (await peer.answer_to(request))["error"]["code"] == -32602
    await peer.deliver(delivery("good"))
    assert (await Hearing(session).next(Delivery)).event_id == "good"
    assert len(peer.greetings) == 1


async def test_params_that_are_no_object_do_not_break_the_line(peer, session):
    await Hearing(session).next(Connected)
    await peer._say({"method": "notifications/typing", "params": [1]})
    await peer._say({"id": "q", "method": "chat/deliver", "params": "x"})
    assert (await peer.answer_to("q"))["error"]["code"] == -32602


@pytest.mark.parametrize(("code", "word"), [(4001, "permission_denied"), (4009, "session_taken")])
async def test_a_line_that_the_hub_ended_for_good_is_not_opened_again(peer, session, code, word):
    hearing = Hearing(session)
    await hearing.next(Connected)
    await peer.socket.close(code=code)
    with pytest.raises(Refused) as refused:
        await hearing.next(Connected)
    assert refused.value.code == word
    assert len(peer.greetings) == 1
