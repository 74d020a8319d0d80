"""How much may reach a session in a minute."""

from __future__ import annotations

import pytest

from tacit.attention.decide.decision import Flow, inbound
from tacit.attention.settings import Settings
from tacit.base.moment import Moment
from tacit.c2a.vocabulary import Mode
from tests.attention.world import START, event, lead_gets


@pytest.mark.spec("C2A-205")
def test_too_many_events_fall_to_the_mailbox_and_obligations_wait() -> None:
    past = [Moment(START + n) for n in range(60)]
    now = Moment(START + 1_000_000)
    knock, named, plain = (
        lead_gets(event("look", to=["@all"])),
        lead_gets(event("@lead look")),
        lead_gets(event("lunch")),
    )
    lowered, flow = inbound(knock, past, now)
    assert (lowered.mode, flow, lowered.rule("mode").row) == (Mode.TOOL_MAILBOX, Flow.LOWERED, "C2A-205")
    assert inbound(named, past, now) == (named, Flow.QUEUED)
    assert inbound(plain, past, now) == (plain, Flow.NOW)
    assert inbound(knock, past[:59], now) == (knock, Flow.NOW)
    assert inbound(knock, past, now, Settings(injected_per_minute=61)) == (knock, Flow.NOW)
