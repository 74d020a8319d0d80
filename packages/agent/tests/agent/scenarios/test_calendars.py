"""Real calendars behind an arrangement: what moves in them between two steps is seen."""

from __future__ import annotations

import pytest

from tacit.agent.consent import answering
from tacit.base.errors import Refused
from tests.agent.arrangements import pair
from tests.agent.scenarios.booking import YES, checkpoint, proposed, until
from tests.agent.scheduling.calendars import radicale
from tests.agent.scheduling.calendars.texts import calendar, event

SERIES = calendar(
    event("DTSTART;TZID=Europe/London:20260306T173000", "DURATION:PT5H", "RRULE:FREQ=WEEKLY", "EXDATE;TZID=Europe/London:20260403T173000"),
    event("RECURRENCE-ID;TZID=Europe/London:20260327T173000", "DTSTART;TZID=Europe/London:20260326T170000", "DURATION:PT6H"),
)  # fmt: skip


@pytest.mark.spec("A2ACP-146", "A2ACP-160")
async def test_a_weekly_event_and_a_slot_that_somebody_takes_meanwhile(tmp_path):
    """Scenario 7: a moved and a removed instance; and 6: booked between proposal and confirmation."""
    (tmp_path / "dav").mkdir()
    with radicale.running(tmp_path / "dav") as server:
        async with pair(tmp_path) as (both, anna, ben):
            url = server.calendar("ben", series=SERIES)
            definition = {
                "kind": "caldav",
                "url": url,
                "user": radicale.USER,
                "password_file": str(server.password_file),
                "write": True,
            }
            await ben.add_calendar("work", definition)
            thread = await proposed(both, anna, ben, "dinner with ben on Thursday or Friday evening")
            shown = (await checkpoint(both, ben, thread))["proposal"]
            # Thursday is taken by the moved instance, Friday is free of it.
            offered = [shown["details"], *[one["details"] for one in shown["alternatives"]]]
            assert {one["date"] for one in offered} == {"2026-03-27"}
            told = [one for one in (await ben.disclosures())["disclosures"] if one["field"] == "time_windows"]
            assert {window["date"] for window in told[0]["value"]} == {"2026-03-27"}

            question = await checkpoint(both, anna, thread)
            await anna.answer(question["question_id"], YES)
            taken = event("DTSTART;TZID=Europe/London:20260327T190000", "DURATION:PT1H", uid="taken")
            server._request("PUT", f"{url}taken.ics", calendar(taken))
            question = await checkpoint(both, ben, thread)
            await ben.answer(question["question_id"], YES)
            await both.settled()
            for one in (anna, ben):
                found = await checkpoint(both, one, thread)
                assert found["question_id"] != question["question_id"]
                assert found["proposal"]["details"]["time"] in {
                    "17:30+00:00/19:00+00:00",
                    "20:30+00:00/22:00+00:00",
                    "20:00+00:00/21:30+00:00",
                }
            assert "slot_taken" in {one["code"] for one in (await ben.notices())["notices"]}
            assert server.stored("ben") == ["series", "taken"]

            # A server that is away confirms nothing: what cannot be looked at is not booked.
            server.stop()
            question = await checkpoint(both, ben, thread)
            with pytest.raises(Exception, match="cannot be read"):
                await ben.answer(question["question_id"], YES)
            server.start()
            for one in (anna, ben):
                question = await checkpoint(both, one, thread)
                await one.answer(question["question_id"], YES)
            await until(both, thread, "COMPLETED")
            assert len(server.stored("ben")) == 3

            # The week after: the removed instance leaves its evening free.
            other = await proposed(both, anna, ben, "dinner with ben on 3 April in the evening")
            assert (await checkpoint(both, ben, other))["proposal"]["details"]["date"] == "2026-04-03"
            with pytest.raises(Refused):
                await ben.decide(lambda ws: answering.answer(ws, question["question_id"], YES))
