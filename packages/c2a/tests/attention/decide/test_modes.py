"""Modes: what each exposes, and the way down for a harness that cannot take one."""

from __future__ import annotations

import pytest

from tacit.attention import Roster, RosterAgent, decide
from tacit.attention.decide.decision import PUSHED, content_shown, is_listed, step_down
from tacit.c2a.vocabulary import Mode
from tests.attention.world import event, lead_gets


@pytest.mark.spec("C2A-026", "C2A-021")
def test_modes_step_down_and_an_unseen_obligation_is_escalated_instead() -> None:
    named, approval = lead_gets(event("@lead look")), lead_gets(event("@lead ok to merge?"))
    knock, rollup = lead_gets(event("look", to=["@all"])), step_down(lead_gets(event("lunch")), frozenset())
    assert step_down(approval, frozenset({Mode.BUFFERED})).mode is Mode.BUFFERED
    assert step_down(named, frozenset({Mode.NOTIFY})).mode is Mode.NOTIFY
    below = step_down(named, frozenset({Mode.TOOL_MAILBOX}))
    assert (below.escalate, below.mode, below.rule("mode").row) == (True, Mode.TOOL_MAILBOX, "C2A-026")
    assert not step_down(knock, frozenset({Mode.TOOL_MAILBOX})).escalate
    assert rollup.mode is Mode.TOOL_MAILBOX
    limited = Roster.of([RosterAgent("lead", modes=frozenset({Mode.TOOL_MAILBOX, Mode.SILENT}))])
    assert lead_gets(event("@lead look"), roster=limited).escalate


@pytest.mark.spec("C2A-026")
def test_a_limited_harness_is_spared_what_it_cannot_take_in_a_broadcast_too() -> None:
    mixed = Roster.of(
        [
            RosterAgent("lead"),
            RosterAgent("plain", modes=frozenset({Mode.TOOL_MAILBOX, Mode.SILENT})),
            RosterAgent("other"),
        ]
    )
    decisions = decide(event("could one of you look", to=["@all"]), mixed)
    assert (decisions["lead"].mode, decisions["plain"].mode) == (Mode.NOTIFY, Mode.TOOL_MAILBOX)
    assert set(decisions.exceptions) == {"plain"}


@pytest.mark.spec("C2A-079", "C2A-091", "C2A-094")
def test_modes_expose_what_they_say() -> None:
    assert {Mode.IMMEDIATE, Mode.BUFFERED, Mode.NOTIFY} == PUSHED
    assert {mode for mode in Mode if content_shown(mode)} == {Mode.IMMEDIATE, Mode.BUFFERED}
    assert not is_listed(Mode.SILENT)
    assert is_listed(Mode.TOOL_MAILBOX)
    with pytest.raises(ValueError, match="loud"):
        Mode("loud")
