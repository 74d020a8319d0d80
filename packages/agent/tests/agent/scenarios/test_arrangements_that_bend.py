"""What bends: no common time, clocks, wrong dates, silence, another purpose, a fork, a plain peer; real relay."""

from __future__ import annotations

import pytest

from tacit.a2acp.packets import packet
from tacit.agent.consent.answering import Answer
from tacit.agent.shell.io.agent import Agent
from tacit.base.errors import Refused
from tests.agent.arrangements import pair, share
from tests.agent_support import cleared

HOUR = 3600 * 1_000_000
WEDNESDAY = """BEGIN:VCALENDAR
VERSION:2.0
PRODID:-//tests//EN
BEGIN:VEVENT
UID:all-of-wednesday
DTSTART:20260325T000000Z
DTEND:20260326T000000Z
SUMMARY:away
END:VEVENT
END:VCALENDAR
"""


async def answered(both, person, kind: str, said: Answer | None = None) -> dict:
    """The question of this kind, answered; consent by sharing all."""
    asked = await both.question(person, kind)
    await person.answer(asked["question_id"], said or share(asked))
    return asked


async def ended(both, thread: str, state: str = "COMPLETED") -> list[dict]:
    return [await both.state(person, thread, state) for person in both.agents]


def received(agent: Agent, thread: str) -> list[dict]:
    """What has reached an agent in a thread, as it was written."""
    rows = agent.post.store.rows(
        "SELECT payload FROM history WHERE direction='in' AND thread_id=? ORDER BY ready", thread
    )
    return [packet.read(row[0]).fields for row in rows]


@pytest.mark.spec("A2ACP-042")
@pytest.mark.spec("A2ACP-101")
@pytest.mark.spec("A2ACP-108")
@pytest.mark.spec("A2ACP-133")
@pytest.mark.spec("A2ACP-235")
async def test_wednesday_against_thursday_and_then_a_question_that_nobody_answers(tmp_path):
    (tmp_path / "ben.ics").write_text(WEDNESDAY.replace("\n", "\r\n"))
    async with pair(tmp_path) as (both, anna, ben):
        await ben.add_calendar("work", {"kind": "ics", "path": str(tmp_path / "ben.ics")})
        begun = await anna.ask("dinner with ben on Wednesday evening, the date is fixed")
        thread = begun["thread_id"]
        await answered(both, anna, "consent")
        wanted = await both.question(ben, "consent")
        typed = {"time_windows": "Thursday 26 March 2026 18:00-21:00", "dietary": None}
        await ben.answer(wanted["question_id"], Answer(share=typed))
        shown = []
        for person in (anna, ben):
            asked = await both.question(person, "escalation")
            assert len(asked["choices"]) == 5
            shown.append(asked["choices"])
            await person.answer(asked["question_id"], Answer(choose=0))
        assert shown[0] == shown[1]
        for person in (anna, ben):
            await answered(both, person, "checkpoint", Answer(confirm=True))
        await ended(both, thread)
        for person, first in ((ben, "context"), (anna, "context_response")):
            opening, *later = received(person, thread)
            assert opening["type"] == first
            assert set(opening["capabilities"]) == {
                "supported_versions", "features", "max_context_size_bytes", "supported_encryption",
            }  # fmt: skip
            assert not any("capabilities" in one for one in later)

        # Scenario 13: a question that nobody answers.
        silent = (await anna.ask("lunch with ben on Monday"))["thread_id"]
        await answered(both, anna, "consent")
        waiting = await both.question(ben, "consent")
        for hours, reminders, state in ((23, 0, "INITIATED"), (2, 1, "INITIATED"), (22, 1, "INITIATED")):
            both.relay.clock.ahead += hours * HOUR
            await both.settled()
            codes = [one["code"] for one in (await ben.notices())["notices"] if one["thread_id"] == silent]
            assert (codes.count("reminder"), (await ben.thread(silent))["state"]) == (reminders, state)
        both.relay.clock.ahead += 2 * HOUR
        for person in (anna, ben):
            await both.state(person, silent, "STALLED")
        assert (await both.question(ben, "consent"))["question_id"] == waiting["question_id"]
        assert not [one for one in (await ben.disclosures())["disclosures"] if one["thread_id"] == silent]
        await ben.answer(waiting["question_id"], share(waiting))
        await both.state(ben, silent, "NEGOTIATING", "PROPOSED")
        await both.state(anna, silent, "NEGOTIATING", "PROPOSED")


@pytest.mark.spec("A2ACP-075")
@pytest.mark.spec("A2ACP-076")
async def test_london_and_new_york_and_dates_that_cannot_be_meant(tmp_path):
    zones = ("Europe/London", "America/New_York")
    async with pair(tmp_path, now="2026-03-09T09:00:00Z", zones=zones) as (both, anna, ben):
        thread = (await anna.ask("call with ben on Wednesday between 15:00 and 17:00"))["thread_id"]
        await answered(both, anna, "consent")
        wanted = await answered(both, ben, "consent")
        (windows,) = [one["values"][0] for one in wanted["fields"] if one["field"] == "time_windows"]
        assert windows == [{"date": "2026-03-11", "time": "11:00-04:00/13:00-04:00"}]
        for person in (anna, ben):
            await answered(both, person, "checkpoint", Answer(confirm=True))
        await ended(both, thread)
        times = [(person.folder / "calendar.ics").read_text() for person in (anna, ben)]
        starts = [[line for line in text.splitlines() if line.startswith("DTSTART")] for text in times]
        assert starts[0]
        assert starts[0] == starts[1]

        # Scenario 9, on the way out and on the way in; scenario 10.
        with pytest.raises(Refused, match="Saturday"):
            await anna.ask("dinner with ben on Friday 28 March 2026")
        intent = {"category": "scheduling", "summary": "Dinner", "urgency": "normal"}
        needs = [{"field": "time_windows", "reason": "to meet", "priority": "required"}]
        for number, window in enumerate(
            ("Friday 28 March 2026 18:00+00:00/21:00+00:00", "2026-03-27 18:00/21:00")
        ):
            wrong = f"thr_wrongdates{number}"
            body = {
                "intent": intent,
                "context": {"event_type": "dinner", "time_windows": [window]},
                "needs": needs,
            }
            anna.post.outbox.post(cleared(ben.me, "context", body, thread_id=wrong, at=anna.clock.now()))
            anna.connection.wake()
            found = await both.state(ben, wrong, "NEGOTIATING")
            assert [one["type"] for one in found["history"]] == ["context", "context_request"]
            assert found["outstanding"] == ["specific_availability"]
            assert not [one for one in (await ben.pending())["questions"] if one["thread_id"] == wrong]


@pytest.mark.spec("A2ACP-092")
@pytest.mark.spec("A2ACP-109")
@pytest.mark.spec("A2ACP-112")
@pytest.mark.spec("A2ACP-117")
@pytest.mark.spec("A2ACP-125")
async def test_a_third_approval_a_no_another_purpose_and_a_fork(tmp_path):
    async with pair(tmp_path) as (both, anna, ben):
        for _ in range(3):
            thread = (await anna.ask("ask ben for his dietary"))["thread_id"]
            await answered(both, ben, "consent")
            await answered(both, anna, "checkpoint", Answer(confirm=True))
            await ended(both, thread)
        offer = await both.question(ben, "promotion")
        assert offer["counterpart"] == anna.me
        await ben.answer(offer["question_id"], Answer(confirm=True))
        allowed = await ben.permissions()
        assert allowed["overrides"][anna.me]["promote_to_always_share"] == ["dietary"]
        assert "dietary" in allowed["ask_first"]

        # Scenario 12: a no, kept over a restart, without a reason and without a second question.
        thread = (await anna.ask("dinner with ben on Friday evening"))["thread_id"]
        await answered(both, anna, "consent")
        asked = await both.question(ben, "consent")
        assert [one["field"] for one in asked["fields"]] == ["time_windows"], "nothing nice to have, no diet"
        await ben.answer(asked["question_id"], Answer(decline_all=True))
        await both.state(anna, thread, "PROPOSED")
        told = [one for body in received(anna, thread) for one in body.get("context_unavailable", [])]
        assert {"field": "time_windows", "status": "declined", "hint": None} in told
        await ben.__aexit__(None, None, None)
        async with Agent(ben.folder, clock=both.relay.clock) as again:
            both.agents = (anna, again)
            again.connect()
            await both.state(again, thread, "PROPOSED")
            standing = await both.question(again, "checkpoint")
            await again.answer(standing["question_id"], Answer(excuse="again"))
            await both.settled()
            wanted = [need["field"] for body in received(again, thread) for need in body.get("needs", [])]
            assert wanted.count("time_windows") == 1
            assert not [one for one in (await again.pending())["questions"] if one["kind"] == "consent"]
            await anna.stop(thread)

            # Scenario 15: the dinner becomes a game night.
            thread = (await anna.ask("dinner with ben on Friday evening"))["thread_id"]
            await answered(both, anna, "consent")
            await both.question(again, "consent")
            await anna.change(thread, "game night with ben on Saturday evening")
            changed = await both.question(again, "scope")
            assert "Dinner" in changed["about"]["before"]
            assert "Game night" in changed["about"]["after"]
            assert not [one for one in (await again.pending())["questions"] if one["kind"] == "consent"]
            await again.answer(changed["question_id"], Answer(confirm=True))
            fresh = await both.question(again, "consent")
            (windows,) = [one["values"][0] for one in fresh["fields"] if one["field"] == "time_windows"]
            assert [one["date"] for one in windows] == ["2026-03-28"]

            # Scenario 16: it becomes two, and each ends by itself.
            forked = await anna.fork(
                thread, ["dinner with ben on Friday evening", "game night with ben on Saturday evening"]
            )
            assert (await anna.thread(thread))["closed_reason"] == "forked"
            dinner, games = [one["thread_id"] for one in forked["threads"]]
            for child in (dinner, games):
                await both.state(again, child, "INITIATED", "NEGOTIATING")
            for _ in range(8):
                await both.settled()
                for person in both.agents:
                    for one in (await person.pending())["questions"]:
                        if one["kind"] == "consent":
                            await person.answer(one["question_id"], share(one))
            for person in both.agents:
                for child in (dinner, games):
                    await both.state(person, child, "PROPOSED")
            for person in both.agents:
                (one,) = [
                    q
                    for q in (await person.pending())["questions"]
                    if (q["thread_id"], q["kind"]) == (dinner, "checkpoint")
                ]
                await person.answer(one["question_id"], Answer(confirm=True))
            await ended(both, dinner)
            (one,) = [
                q
                for q in (await again.pending())["questions"]
                if (q["thread_id"], q["kind"]) == (games, "checkpoint")
            ]
            await again.answer(one["question_id"], Answer(refuse=True))
            await ended(both, games, "DECLINED")
            assert (await anna.thread(dinner))["state"] == "COMPLETED"


@pytest.mark.spec("A2ACP-278")
async def test_with_agents_that_name_no_features_a_dinner_comes_to_its_end(tmp_path, monkeypatch):
    usual = packet.capabilities()
    monkeypatch.setattr(
        packet, "capabilities", lambda: {**usual, "supported_versions": ["0.1"], "features": []}
    )
    async with pair(tmp_path) as (both, anna, ben):
        thread = (await anna.ask("dinner with ben on Friday or Saturday evening"))["thread_id"]
        await answered(both, anna, "consent")
        await answered(both, ben, "consent")
        for person in (anna, ben):
            asked = await answered(both, person, "checkpoint", Answer(confirm=True))
            assert not asked["proposal"]["alternatives"]
        await ended(both, thread)
        plain = {"context", "context_request", "context_response", "resolution", "resolution_response"}
        for person in (anna, ben):
            assert {one["type"] for one in received(person, thread)} <= plain
            assert not [one for one in (await person.notices())["notices"] if one["code"] == "not_sent"]
