"""Approvals: a person says yes once, for one thing."""

from __future__ import annotations

import pytest

from tacit.attention.state.approvals import Approvals, State, answer, ask, fingerprint, required
from tacit.base.moment import Moment
from tacit.c2a.errors import Refusal
from tests.attention.world import START


@pytest.mark.spec("C2A-207")
def test_a_person_approves_once_for_one_thing_and_silence_is_no() -> None:
    approvals, what = Approvals(), fingerprint("send", "C1", "the text")
    assert required(approvals, "lead", what, START) is not None
    approvals.apply(ask("p1", "lead", what, START))
    assert approvals.standing("lead", what, START) is State.ASKED
    by_agent = answer(approvals, "p1", granted=True, by="worker", by_human=False, now=START)
    assert isinstance(by_agent, Refusal)
    late = Moment(START + 3_600_000_000)
    assert approvals.standing("lead", what, late) is State.LAPSED
    assert isinstance(answer(approvals, "p1", granted=True, by="user", by_human=True, now=late), Refusal)
    yes = answer(approvals, "p1", granted=True, by="user", by_human=True, now=START)
    assert not isinstance(yes, Refusal)
    approvals.apply(yes)
    approvals.apply(ask("p2", "lead", what, START))
    assert required(approvals, "lead", what, START) is None
    changed = required(approvals, "lead", fingerprint("send", "C1", "the text!"), START)
    assert changed is not None
    assert changed.number == -32024
    assert isinstance(answer(approvals, "zz", granted=True, by="user", by_human=True, now=START), Refusal)
    assert fingerprint("ab", "c") != fingerprint("a", "bc")
