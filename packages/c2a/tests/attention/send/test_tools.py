"""The tools that write, through the writer: what is kept of a call, and what is refused."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tacit.attention.send.permissions import MOST_OPEN
from tacit.attention.state import records
from tacit.c2a.errors import Refusal
from tacit.c2a.signals import SIGNALS, Signal
from tests.attention.io.house import GROUP

if TYPE_CHECKING:
    from tests.attention.io.house import House

SEND = {"target": "channel:main", "visibility": "channel", "directedness": "ambient"}


def send(house: House, content: str, key: str, **more: Any) -> Any:
    return house.call("ann", "chat.send_message", content=content, idempotencyKey=key, **{**SEND, **more})


def refused(answer: Any) -> tuple[str, str]:
    assert isinstance(answer, Refusal), answer
    return answer.code, answer.row


@pytest.mark.spec("C2A-010", "C2A-149", "C2A-213")
@pytest.mark.parametrize("length", [1, 41, 64, 128])
def test_a_key_is_kept_to_its_last_letter_and_tells_one_send_from_another(house: House, length: int) -> None:
    one, other = "k" * (length - 1) + "1", "k" * (length - 1) + "2"
    first = send(house, "The index is rebuilt.", one)
    again = send(house, "The index is rebuilt.", one)
    assert (first["duplicate"], again["duplicate"]) == (False, True)
    second = send(house, "The disk was full all along.", other)
    assert not second["duplicate"]
    stored = [event for event in house.events(GROUP) if event.kind == "chat.message"]
    assert [event.data["client_id"] for event in stored] == [one, other]
    assert again["eventId"] == stored[0].id
    assert refused(send(house, "Something else entirely.", one)) == ("idempotency_conflict", "C2A-149")


@pytest.mark.spec("C2A-148")
def test_a_turn_that_an_event_started_says_what_it_answers(house: House) -> None:
    asked = house.say(GROUP, "user", "@ann which port is it?")
    place = {"target": f"thread:{asked.id}", "visibility": "thread"}
    assert refused(send(house, "It is 7434.", "k1", startedBy=asked.id, **place)) == (
        "invalid_request",
        "C2A-148",
    )
    assert refused(send(house, "It is 7434.", "k2", inReplyTo="nothing", **place)) == (
        "event_not_found",
        "C2A-148",
    )
    said = send(house, "It is 7434.", "k3", startedBy=asked.id, inReplyTo=asked.id, **place)
    assert said["ok"]
    assert house.events(GROUP)[-1].kind != "chat.message"
    [answer] = [one for one in house.events(GROUP) if one.by == "ann" and one.kind == "chat.message"]
    assert (answer.data["reply_to"], answer.data["c2a"]["in_reply_to"]) == (asked.id, asked.id)
    assert house.attention.obligations.get(asked.id, "ann").disposition == "responded"


@pytest.mark.spec("C2A-150", "C2A-147")
@pytest.mark.parametrize(
    ("target", "visibility", "expected"),
    [
        ("channel:main", "channel", None),
        ("channel:main", "thread", ("invalid_request", "C2A-150")),
        ("channel:main", "dm", ("invalid_request", "C2A-150")),
        ("dm:user", "dm", None),
        ("dm:user", "channel", ("invalid_request", "C2A-150")),
        ("thread:ROOT", "thread", None),
        ("thread:ROOT", "channel", ("invalid_request", "C2A-150")),
        ("channel:nowhere", "channel", ("event_not_found", "C2A-147")),
        ("thread:nowhere", "thread", ("event_not_found", "C2A-147")),
    ],
)
def test_what_a_send_is_to_be_seen_by_fits_where_it_goes(
    house: House, target: str, visibility: str, expected: tuple[str, str] | None
) -> None:
    root = house.say(GROUP, "user", "the index is slow")
    answer = send(
        house, "It is the disk.", "k", target=target.replace("ROOT", root.id), visibility=visibility
    )
    if expected is None:
        assert answer["ok"]
    else:
        assert refused(answer) == expected


@pytest.mark.spec("C2A-143", "C2A-145", "C2A-144", "C2A-146", "C2A-117")
@pytest.mark.parametrize(
    ("tool", "member", "row", "more"),
    [
        ("chat.react", "inReplyTo", "C2A-143", {"signal": "seen"}),
        ("chat.claim", "eventId", "C2A-144", {}),
        ("chat.claim", "threadId", "C2A-144", {}),
        ("chat.defer", "eventId", "C2A-145", {"reason": "busy"}),
        ("chat.resolve", "eventId", "C2A-146", {}),
        ("chat.resolve", "threadId", "C2A-146", {}),
        ("chat/disposition", "eventId", "C2A-117", {"disposition": "ignored"}),
    ],
)
def test_a_tool_names_an_event_that_the_session_may_read(
    house: House, tool: str, member: str, row: str, more: dict[str, Any]
) -> None:
    secret = house.say(GROUP, "user", "what is my salary?", to=["ben"], conversation={"kind": "dm"})
    for unknown in ("nothing", secret.id):
        assert refused(house.call("ann", tool, **{member: unknown}, **more)) == ("event_not_found", row)
    for wrong in ("", 7):
        assert refused(house.call("ann", tool, **{member: wrong}, **more)) == ("invalid_request", row)


@pytest.mark.spec("C2A-145", "C2A-122", "C2A-057")
def test_a_deferral_says_when_the_event_comes_back(house: House) -> None:
    asked = house.say(GROUP, "user", "@ann please check the disk")
    for wrong in ({"reason": 3}, {"reason": "busy", "eta": 3}, {"reason": ""}):
        assert refused(house.call("ann", "chat.defer", eventId=asked.id, **wrong))[0] == "invalid_request"
    answer = house.call("ann", "chat.defer", eventId=asked.id, reason="busy", eta="20 minutes")
    assert answer["resurfacesAt"] == "2026-01-13T10:20:00.000000Z"
    obligation = house.attention.obligations.get(asked.id, "ann")
    assert (obligation.disposition, obligation.note) == ("deferred", "busy")
    assert refused(house.call("ben", "chat.defer", eventId=asked.id, reason="busy")) == (
        "event_not_found",
        "C2A-145",
    )
    house.clock.move(1_200)
    house.tick()
    assert house.attention.obligations.get(asked.id, "ann").disposition is None


@pytest.mark.spec("C2A-143", "C2A-104", "C2A-195", "C2A-123")
def test_a_reaction_is_shown_recorded_and_refused_where_there_is_nothing_to_answer(house: House) -> None:
    asked = house.say(GROUP, "user", "@ann please check the disk")
    for wrong in ({}, {"signal": 3}, {"signal": "seen", "eta": 3}, {"signal": "shrug"}):
        assert refused(house.call("ann", "chat.react", inReplyTo=asked.id, **wrong))[0] == "invalid_request"
    assert house.call("ann", "chat.react", inReplyTo=asked.id, signal="seen") == {
        "ok": True,
        "signal": "seen",
        "closed": False,
    }
    assert house.call("ann", "chat.react", inReplyTo=asked.id, signal="declined")["closed"]
    held = {one.session: one for one in house.attention.obligations.of_event(asked.id)}
    assert (held["ann"].declined, held["ben"].owed, held["ben"].reason) == (True, True, "escalation")
    reactions = [one.data for one in house.events(GROUP) if one.kind == "chat.reaction"]
    assert [(one["event_id"], one["signal"]) for one in reactions] == [
        (asked.id, "seen"),
        (asked.id, "declined"),
    ]
    own = house.say(GROUP, "ann", "the disk is full")
    assert refused(house.call("ann", "chat.react", inReplyTo=own.id, signal="done")) == (
        "policy_forbids",
        "C2A-195",
    )
    house.record(records.DeleteRecord(event_id=asked.id, by="user"))
    assert refused(house.call("ben", "chat.react", inReplyTo=asked.id, signal="done")) == (
        "event_superseded",
        "C2A-104",
    )


@pytest.mark.spec("C2A-144", "C2A-063", "C2A-155", "C2A-158")
def test_what_is_not_the_agents_to_answer_is_not_its_to_claim(house: House) -> None:
    root = house.say(GROUP, "user", "lunch was good today")
    assert refused(house.call("ann", "chat.claim", eventId=root.id)) == ("policy_forbids", "C2A-063")
    assert refused(house.call("ann", "chat.claim", threadId=root.id)) == ("policy_forbids", "C2A-063")
    house.say(GROUP, "user", "@ann was there too", reply_to=root.id)
    assert house.call("ann", "chat.claim", threadId=root.id)["claimed"]
    asked = house.say(GROUP, "user", "@ben please check the disk")
    for wrong in (True, "600", 5, 10**9):
        assert refused(house.call("ben", "chat.claim", eventId=asked.id, ttlMs=wrong)) == (
            "invalid_request",
            "C2A-155",
        )
    answer = house.call("ben", "chat.claim", eventId=asked.id, ttlMs=60_000)
    assert (answer["owner"], answer["expiresAt"]) == ("ben", "2026-01-13T10:01:00.000000Z")
    assert answer["event"]["eventId"] == asked.id
    assert house.attention.obligations.get(asked.id, "ben").disposition == "claimed"
    assert refused(house.call("ann", "chat.claim", eventId=asked.id, release=True))[0] == "claim_conflict"
    house.record(records.DeleteRecord(event_id=asked.id, by="user"))
    assert refused(house.call("ben", "chat.claim", eventId=asked.id)) == ("event_superseded", "C2A-104")


@pytest.mark.spec("C2A-146")
def test_resolving_a_thread_ends_what_is_open_in_it_and_nothing_else(house: House) -> None:
    root = house.say(GROUP, "user", "@ann please check the disk")
    below = house.say(GROUP, "user", "@ann and the network?", reply_to=root.id)
    beside = house.say(GROUP, "user", "@ann and the logs?")
    theirs = house.say(GROUP, "user", "@ben and you?", reply_to=root.id)
    assert house.call("ann", "chat.claim", eventId=below.id)["claimed"]
    for wrong in ({}, {"eventId": root.id, "threadId": root.id}):
        assert refused(house.call("ann", "chat.resolve", **wrong)) == ("invalid_request", "C2A-146")
    silent = house.call("ann", "chat.resolve", threadId=below.id)
    assert refused(silent) == ("invalid_request", "C2A-146")
    assert sorted(silent.details["unanswered"]) == sorted([root.id, below.id])
    assert [held.target for held in house.attention.claims] == [f"event:{below.id}"], "all or none"
    place = {"target": f"thread:{root.id}", "visibility": "thread"}
    assert send(house, "The disk is fine.", "k1", inReplyTo=root.id, **place)["ok"]
    assert house.call("ann", "chat.react", inReplyTo=below.id, signal="done")["closed"]
    assert house.call("ann", "chat.resolve", threadId=below.id)["resolved"] == []
    obligations = house.attention.obligations
    assert [obligations.get(one.id, "ann").owed for one in (root, below, beside)] == [False, False, True]
    assert obligations.get(theirs.id, "ben").owed
    assert list(house.attention.claims) == []
    assert refused(house.call("ann", "chat.resolve", eventId=beside.id)) == ("invalid_request", "C2A-146")
    assert obligations.get(beside.id, "ann").owed
    assert refused(house.call("ann", "chat.resolve", eventId=theirs.id)) == ("permission_denied", "C2A-146")


@pytest.mark.spec("C2A-190", "C2A-192", "C2A-194")
def test_whoever_leaves_gives_back_what_it_held_there(house: House) -> None:
    asked = house.say(GROUP, "user", "@ann please check the disk")
    house.call("ann", "chat.claim", eventId=asked.id)
    assert refused(house.call("ann", "chat.leave", threadId="nothing")) == ("event_not_found", "C2A-194")
    assert refused(house.call("ann", "chat.leave", conversationId="dm:ann+user"))[0] == "invalid_request"
    assert house.call("ann", "chat.leave")["left"] == "channel:main"
    assert list(house.attention.claims) == []
    said = house.say(GROUP, "user", "does anybody know why?")
    assert house.attention.obligations.get(said.id, "ann") is None


@pytest.mark.spec("C2A-192")
@pytest.mark.parametrize("member", ["threadId", "eventId"])
def test_a_claim_on_a_thread_or_on_its_first_message_ends_with_leaving_the_thread(
    house: House, member: str
) -> None:
    root = house.say(GROUP, "user", "@ann please check the disk")
    beside = house.say(GROUP, "user", "@ann and the logs?")
    house.call("ann", "chat.claim", **{member: root.id})
    house.call("ann", "chat.claim", eventId=beside.id)
    assert house.call("ann", "chat.leave", threadId=root.id)["left"] == f"thread:{root.id}"
    assert [held.target for held in house.attention.claims] == [f"event:{beside.id}"]
    house.assert_rebuilds()


@pytest.mark.spec("C2A-181", "C2A-155")
def test_a_progress_report_is_checked_and_makes_a_claim_last(house: House) -> None:
    asked = house.say(GROUP, "user", "@ann please check the disk")
    house.call("ann", "chat.claim", eventId=asked.id)
    for wrong in (
        {"progress": 1},
        {"progressToken": "t"},
        {"progressToken": "t", "progress": "1"},
        {"progressToken": "t", "progress": True},
        {"progressToken": "t", "progress": float("nan")},
        {"progressToken": "t", "progress": 1, "total": "5"},
    ):
        assert refused(house.call("ann", "chat.progress", **wrong)) == ("invalid_request", "C2A-181")
    house.clock.move(300)
    assert house.call("ann", "chat.progress", eventId=asked.id, progress=1, message="m" * 501)["ok"]
    house.clock.move(400)
    house.tick()
    assert [held.session for held in house.attention.claims] == ["ann"]
    [report] = house.attention.progress.of_session("ann")
    assert (report.token, report.progress, report.message) == (asked.id, 1, "m" * 500)
    house.call("ann", "chat.progress", progressToken="mine", progress=2, total=4)
    [mine] = [one for one in house.page(GROUP, "ann") if one.kind == "x.c2a.progress"][1:]
    assert mine.visible_to("ann")
    assert not mine.visible_to("ben")


@pytest.mark.spec("C2A-117", "C2A-087", "C2A-163", "C2A-120")
def test_a_harness_reports_an_end_and_a_failure_tells_a_person(house: House) -> None:
    asked = house.say(GROUP, "user", "@ann please check the disk")
    report = {"eventId": asked.id, "disposition": "failed", "error": {"code": "boom"}}
    for wrong in ("claimed", "deferred", "gone", None):
        answer = house.call("ann", "chat/disposition", **{**report, "disposition": wrong})
        assert refused(answer) == ("invalid_request", "C2A-117")
    assert refused(house.call("ann", "chat/disposition", **{**report, "disposition": "ignored"})) == (
        "invalid_request",
        "C2A-120",
    )
    assert refused(house.call("ben", "chat/disposition", **report)) == ("event_not_found", "C2A-117")
    assert house.call("ann", "chat/disposition", **report) == {"ok": True}
    ended = [one.data for one in house.events(GROUP) if one.kind == "x.c2a.disposition"]
    assert [(one["disposition"], one["error"], one["reported"]) for one in ended] == [
        ("failed", {"code": "boom"}, True)
    ]
    [notice] = [one.data for one in house.events(GROUP) if one.kind == "system.notify"]
    assert notice["related_event_id"] == asked.id
    merged = house.say(GROUP, "user", "@ann and this")
    later = {"eventId": merged.id, "disposition": "superseded", "mergedInto": asked.id}
    assert house.call("ann", "chat/disposition", **later) == {"ok": True}
    assert house.attention.obligations.get(merged.id, "ann").note == asked.id
    assert len([one for one in house.events(GROUP) if one.kind == "system.notify"]) == 1


@pytest.mark.spec("C2A-207")
@pytest.mark.parametrize("member", ["during", "inReplyTo"])
def test_what_comes_from_private_talk_is_told_elsewhere_only_after_a_person_of_it_said_yes(
    house: House, member: str
) -> None:
    house.do(GROUP, "user", "x.tacit.person.add", principal="usr:eve", title="Eve")
    told = house.say(GROUP, "usr:eve", "@ann is the offer out?", to=["ann"], conversation={"kind": "dm"})
    said = "The offer went out on Tuesday."
    from_private = {member: told.id}
    assert refused(send(house, said, "k1", **from_private)) == ("approval_required", "C2A-207")
    [asked] = [one for one in house.events(GROUP) if one.kind == "x.c2a.approval"]
    assert (asked.data["state"], asked.data["for"]) == ("asked", ["ann", "usr:eve"])
    assert said in asked.data["says"]
    assert asked.data["asked_by"] == ["usr:eve"]
    [notice] = [one.data for one in house.events(GROUP) if one.kind == "system.notify"]
    assert (notice["kind"], notice["requires_ack"], notice["priority"]) == (
        "attention.approval",
        True,
        "high",
    )
    assert notice["context"] == {"approval_id": asked.data["approval_id"], "session": "ann"}
    assert said not in str(notice)
    before = len(house.events(GROUP))
    for _ in range(20):  # a harness asks every few seconds
        assert refused(send(house, said, "k1", **from_private))[0] == "approval_required"
    assert len(house.events(GROUP)) == before, (
        "what waits for an answer leaves one record, not one for each look"
    )
    yes = {name: asked.data[name] for name in ("approval_id", "session", "what")}
    house.record(records.ApprovalRecord(**yes, state="granted", answered_by="usr:eve", for_=["ann"]))
    assert send(house, said, "k1", **from_private)["ok"]


@pytest.mark.spec("C2A-207")
def test_what_was_said_in_private_holds_no_sentence_of_a_turn_in_the_room(house: House) -> None:
    sentence = "the build is green again and I am going to deploy it at noon today"
    house.say(GROUP, "user", f"@ann {sentence}", to=["ann"], conversation={"kind": "dm"})
    asked = house.say(GROUP, "user", "@ann how is the build?")
    assert send(house, sentence, "k1", during=asked.id)["ok"]
    assert not [one for one in house.events(GROUP) if one.kind == "x.c2a.approval"]


@pytest.mark.spec("C2A-207")
def test_an_answer_among_those_who_know_needs_nobodys_yes(house: House) -> None:
    told = house.say(GROUP, "user", "@ann is the offer out?", to=["ann"], conversation={"kind": "dm"})
    place = {"target": f"thread:{told.id}", "visibility": "dm", "directedness": "to_me"}
    assert send(house, "It went out on Tuesday.", "k1", inReplyTo=told.id, during=told.id, **place)["ok"]
    elsewhere = {"target": "dm:ben", "visibility": "dm", "directedness": "to_me"}
    assert (
        refused(send(house, "Did you send it?", "k2", during=told.id, **elsewhere))[0] == "approval_required"
    )


@pytest.mark.spec("C2A-206", "C2A-203")
def test_a_refusal_is_written_down_and_tells_nobody_of_private_talk(house: House) -> None:
    lunch = house.say(GROUP, "user", "lunch was good today")
    place = {"target": f"thread:{lunch.id}", "visibility": "thread", "inReplyTo": lunch.id}
    assert refused(send(house, "It was.", "k1", **place)) == ("policy_forbids", "C2A-061")
    assert refused(send(house, "It was.", "k2", inReplyTo=lunch.id, target="dm:user", visibility="dm"))
    shown, hidden = [one for one in house.page(GROUP) if one.kind == "x.c2a.audit"]
    assert shown.data == {
        "what": "chat.send_message",
        "session": "ann",
        "event_id": lunch.id,
        "code": "policy_forbids",
        "row": "C2A-061",
        "details": {"conversation": "main", "thread": lunch.id},
        "for": [],
    }
    assert shown.visible_to("ben")
    assert "event_id" not in hidden.data
    assert hidden.visible_to("ann")
    assert not hidden.visible_to("ben")


@pytest.mark.parametrize(
    "signal",
    [pytest.param(one, marks=pytest.mark.spec(one.row), id=one.name) for one in SIGNALS.values()],
)
def test_each_signal_leaves_the_disposition_that_its_row_says(house: House, signal: Signal) -> None:
    asked = house.say(GROUP, "user", "@ann may I merge the migration?")
    answer = house.call("ann", "chat.react", inReplyTo=asked.id, signal=signal.name)
    assert isinstance(answer, dict), answer
    assert answer["ok"]
    found = house.attention.obligations.get(asked.id, "ann")
    assert found is not None
    assert found.disposition == signal.disposition
    reactions = [one.data for one in house.events(GROUP) if one.kind == "chat.reaction"]
    assert [(one["emoji"], one["signal"]) for one in reactions] == [(signal.glyph, signal.name)]


@pytest.mark.spec("C2A-207")
def test_an_agents_questions_do_not_pile_up_before_people(house: House) -> None:
    asked = house.say(GROUP, "user", "@ann please compile the whole tree")

    def ask(number: int) -> Any:
        given = {
            "key": f"k{number}",
            "eventId": asked.id,
            "kind": "command",
            "title": "make",
        }
        return house.call("ann", "chat/permission", **given)

    assert all(ask(number)["state"] == "asked" for number in range(MOST_OPEN))
    assert refused(ask(MOST_OPEN))[0] == "rate_limited"
    before = len(house.events(GROUP))
    assert ask(0)["state"] == "asked", "what was asked before can still be looked up"
    assert len(house.events(GROUP)) == before, "a look leaves no record"
    house.clock.move(400 * 86_400)
    assert refused(ask(MOST_OPEN))[0] == "rate_limited"
    assert ask(0)["state"] == "asked", "a question waits for as long as it takes"
    house.steer("approve", approval_id=ask(0)["approvalId"])
    assert ask(0)["state"] == "granted"
    assert ask(MOST_OPEN)["state"] == "asked", "what was answered makes room"
    house.assert_rebuilds()


@pytest.mark.spec("C2A-207")
def test_a_question_is_taken_back_once_and_what_was_answered_stands(house: House) -> None:
    asked = house.say(GROUP, "user", "@ann please compile the whole tree")

    def ask(key: str, **more: Any) -> Any:
        given = {"key": key, "eventId": asked.id, "kind": "command", "title": "make"}
        return house.call("ann", "chat/permission", **given, **more)

    assert (ask("k1")["state"], ask("k2")["state"]) == ("asked", "asked")
    assert ask("k1", withdrawn="not needed any more")["state"] == "lapsed"
    before = len(house.events(GROUP))
    again = ask("k1", withdrawn="not needed any more")
    assert (again["state"], again["reason"]) == ("lapsed", "not needed any more")
    house.steer("approve", approval_id=ask("k2")["approvalId"])
    answered = len(house.events(GROUP))
    assert answered > before
    assert ask("k2", withdrawn="too late")["state"] == "granted"
    assert len(house.events(GROUP)) == answered
