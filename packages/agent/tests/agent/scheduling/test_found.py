"""What the machine of two agents found, each for itself."""

from __future__ import annotations

import pytest

from tacit.agent.kernel import records
from tests.agent.scheduling.desk import begun, desks

DINNER = "dinner with ben on Friday evening"


@pytest.mark.spec("A2ACP-138")
def test_an_urgent_thread_asks_its_owner_once_and_rests():
    both = desks()
    begun(both, DINNER, urgent=True)
    assert len(both.ben.questions("consent")) == 1
    assert sum(isinstance(one, records.Asked) for one in both.ben.log) == 1


@pytest.mark.spec("A2ACP-146")
def test_a_counter_says_its_time_and_releases_no_other():
    both = desks()
    thread = begun(both, DINNER)
    ben = both.ben
    ben.answer(ben.question("consent"), decline_all=True)
    body = {
        "proposal": {
            "summary": "Dinner",
            "details": {"date": "2026-03-27", "time": "19:00+00:00/21:00+00:00", "event_type": "dinner"},
        },
        "requires_confirmation_from": [both.anna.me, ben.me],
        "confirmation_timeout": "PT24H",
        "on_timeout": "expire",
    }
    ben.receive(both.anna.me, thread, "pkt_proposed", "resolution", body)
    ben.answer(ben.question("checkpoint"), counter=("time", "20:30"))
    said = [one.fields for one in ben.sent if one.type == "resolution_response"]
    assert said[0]["change_request"] == {"field": "time", "suggestion": "20:30"}
    assert ben.thread(thread).approved == {}
