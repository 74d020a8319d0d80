"""Approvals: a person says yes once, for one thing."""

from __future__ import annotations

import msgspec
import pytest

from tacit.attention.state.approvals import Approvals, ApprovalState, answer, ask, fingerprint, required
from tacit.base.moment import Moment
from tacit.c2a.errors import Refusal
from tests.attention.world import START


@pytest.mark.spec("C2A-207")
def test_a_person_approves_once_for_one_thing_and_silence_is_neither_yes_nor_no() -> None:
    approvals, what = Approvals(), fingerprint("send", "C1", "the text")
    assert required(approvals, "lead", what, START) is not None
    approvals.apply(ask("p1", "lead", what), START)
    assert approvals.standing("lead", what, START) is ApprovalState.ASKED
    by_agent = answer(approvals, "p1", granted=True, by="worker", by_human=False, now=START)
    assert isinstance(by_agent, Refusal)
    late = Moment(START + 400 * 86_400_000_000)
    assert approvals.standing("lead", what, late) is ApprovalState.ASKED
    assert [one.approval_id for one in approvals.waiting(late)] == ["p1"]
    assert required(approvals, "lead", what, late) is not None
    yes = answer(approvals, "p1", granted=True, by="user", by_human=True, now=late)
    assert not isinstance(yes, Refusal)
    approvals.apply(yes, late)
    approvals.apply(ask("p2", "lead", what), late)
    assert required(approvals, "lead", what, START) is None
    changed = required(approvals, "lead", fingerprint("send", "C1", "the text!"), START)
    assert changed is not None
    assert changed.number == -32024
    assert isinstance(answer(approvals, "zz", granted=True, by="user", by_human=True, now=START), Refusal)
    assert fingerprint("ab", "c") != fingerprint("a", "bc")


@pytest.mark.spec("C2A-207")
@pytest.mark.parametrize(
    ("kind", "askers", "by", "may"),
    [
        ("command", {"usr:mia"}, "usr:mia", False),
        ("command", {"usr:mia"}, "usr:ben", True),
        ("command", {"gus", "usr:mia"}, "usr:mia", False),
        ("edit", {"usr:mia"}, "usr:mia", False),
        ("other", {"usr:mia"}, "usr:mia", False),
        ("command", {"user"}, "user", True),
        ("send", {"usr:mia"}, "usr:mia", True),
        ("defer", {"usr:mia"}, "usr:mia", True),
    ],
)
def test_nobody_but_the_owner_allows_what_they_asked_for(
    kind: str, askers: set[str], by: str, may: bool
) -> None:
    approvals = Approvals()
    approvals.apply(msgspec.structs.replace(ask("p1", "bea", "w"), kind=kind), START)
    now = START
    yes = answer(approvals, "p1", granted=True, by=by, by_human=True, now=now, askers=askers)
    assert isinstance(yes, Refusal) is not may
    if isinstance(yes, Refusal):
        assert yes.code == "permission_denied"
    no = answer(approvals, "p1", granted=False, by=by, by_human=True, now=now, askers=askers)
    assert not isinstance(no, Refusal), "whoever asked may always say no"


def test_what_an_earlier_version_gave_up_stays_given_up() -> None:
    approvals = Approvals()
    approvals.apply(
        msgspec.structs.replace(ask("p1", "bea", "w"), expires_at=START + 1, kind="command"), START
    )
    assert approvals.standing("bea", "w", Moment(START + 1)) is ApprovalState.LAPSED
    assert approvals.waiting(Moment(START + 1)) == []
