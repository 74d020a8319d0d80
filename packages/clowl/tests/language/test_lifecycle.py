"""Tasks from request to end: the table, who may move what, delegation, cancellation, queries, deadlines."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from tacit.language import Lifecycle
from tacit.language.retry import MAX_RETRIES, plan, report, retried
from tacit.language.task import TERMINAL, TRANSITIONS, TaskState, Trigger
from tests.language.cast import Clock, author, message


def told(*messages, deadline=None):
    """A lifecycle after these messages, and everything held against them."""
    lifecycle = Lifecycle()
    flags = []
    for one in messages:
        flags += [flag.kind for flag in lifecycle.apply(one, deadline=deadline).violations]
    return lifecycle, flags


def states(lifecycle):
    return {(task.key.mid, task.key.agent): task.state.value for task in lifecycle.tasks}


REQUEST = message(mid="r", tid="t")
OWN = {"from_": "radar", "to": "oscar", "pid": "r", "tid": "t"}
ACK = message("ACK", mid="a", **OWN)
PROG = message("PROG", mid="p", **OWN)
DONE = message("DONE", mid="d", **OWN)
ERR = message("ERR", {"code": "E009", "msg": "x", "retry": True}, mid="e", **OWN)
E013 = message("ERR", {"code": "E013", "msg": "x", "retry": False}, mid="e13", **OWN)
CNCL = message("CNCL", mid="c", pid="r", tid="t")
STOPPED = message("ACK", {"status": "cancelled"}, mid="s", **{**OWN, "pid": "c"})
TRANSFER = message(
    "DLGT", {"delegation_mode": "transfer"}, mid="g", from_="radar", to="muse", pid="r", tid="t"
)
BY_MUSE = {"from_": "muse", "to": "oscar", "pid": "g", "tid": "t"}


@pytest.mark.spec("CLOWL-035")
@pytest.mark.parametrize(
    ("messages", "state", "flags"),
    [
        ([REQUEST], "requested", []),
        ([REQUEST, ACK], "accepted", []),
        ([REQUEST, PROG], "running", []),
        ([REQUEST, ACK, PROG, PROG], "running", []),
        ([REQUEST, DONE], "completed", []),
        ([REQUEST, ACK, PROG, DONE], "completed", []),
        ([REQUEST, ERR], "failed", []),
        ([REQUEST, E013], "failed", ["not_cancelled"]),
        ([REQUEST, CNCL], "cancelling", []),
        ([REQUEST, ACK, CNCL], "cancelling", []),
        ([REQUEST, CNCL, E013], "cancelled", []),
        ([REQUEST, CNCL, STOPPED], "cancelled", []),
        ([REQUEST, CNCL, message("ACK", mid="x", **{**OWN, "pid": "c"})], "cancelling", []),
        ([REQUEST, CNCL, DONE], "completed", []),
        ([REQUEST, CNCL, ERR], "failed", []),
        ([REQUEST, CNCL, PROG], "cancelling", ["out_of_place"]),
        ([REQUEST, ACK, message("ACK", mid="x", **OWN)], "accepted", ["out_of_place"]),
        ([REQUEST, PROG, ACK], "running", ["out_of_place"]),
        ([REQUEST, DONE, PROG], "completed", ["late"]),
        ([REQUEST, DONE, ERR], "completed", ["late"]),
        ([REQUEST, ERR, DONE], "failed", ["late"]),
        ([REQUEST, CNCL, E013, DONE], "cancelled", ["late"]),
    ],
)
def test_the_state_machine_of_annex_a(messages, state, flags):
    lifecycle, found = told(*messages)
    assert states(lifecycle) == {("r", "radar"): state}
    assert found == flags


@pytest.mark.spec("CLOWL-035")
def test_every_open_state_has_a_way_out_and_no_terminal_state_has_one():
    for state in TaskState:
        leaving = {trigger for (start, trigger) in TRANSITIONS if start is state}
        assert (not leaving) is (state in TERMINAL)
        assert (Trigger.DEADLINE in leaving) is (state not in TERMINAL)


@pytest.mark.spec("CLOWL-070", "CLOWL-068")
def test_a_mid_counts_once_and_the_first_content_wins():
    lifecycle, _ = told(REQUEST, ACK)
    before = lifecycle.tasks
    again = lifecycle.apply(ACK)
    assert again.duplicate
    assert (again.changed, again.violations) == ((), ())
    other = lifecycle.apply(message("DONE", mid="a", **OWN))
    assert other.duplicate
    assert [flag.kind for flag in other.violations] == ["mid_conflict"]
    assert other.advice == ()
    assert lifecycle.tasks == before


@pytest.mark.spec("CLOWL-037", "CLOWL-046")
def test_a_multicast_request_is_one_task_for_each_recipient():
    request = message(mid="r", to=["radar", "muse"])
    lifecycle, flags = told(
        request,
        DONE,
        message(
            "ERR", {"code": "E009", "msg": "x", "retry": True}, mid="f", from_="muse", to="oscar", pid="r"
        ),
    )
    assert states(lifecycle) == {("r", "radar"): "completed", ("r", "muse"): "failed"}
    assert flags == []
    lifecycle, _ = told(request, message("CNCL", mid="c", pid="r", to=["muse"]))
    assert states(lifecycle) == {("r", "radar"): "requested", ("r", "muse"): "cancelling"}


@pytest.mark.spec("CLOWL-046")
def test_a_broadcast_request_opens_a_task_for_whoever_answers():
    request = message(mid="r", to="*")
    lifecycle, flags = told(request)
    assert lifecycle.tasks == ()
    lifecycle, flags = told(request, ACK, message("CNCL", mid="c", pid="r", to="*"))
    assert states(lifecycle) == {("r", "radar"): "cancelling"}
    assert flags == []


@pytest.mark.spec("CLOWL-038", "CLOWL-042")
def test_inf_and_qry_start_and_change_no_task():
    lifecycle, flags = told(message("INF", mid="i"), message("QRY", mid="q", cid="c2"))
    assert lifecycle.tasks == ()
    lifecycle, flags = told(
        REQUEST, message("QRY", mid="q", pid="r"), message("INF", mid="i", **{**OWN, "pid": "q"})
    )
    assert states(lifecycle) == {("r", "radar"): "requested"}
    assert flags == []


@pytest.mark.spec("CLOWL-035")
def test_a_query_gets_exactly_one_answer_and_is_owed_until_then():
    query = message("QRY", mid="q")
    lifecycle, _ = told(query)
    (debt,) = lifecycle.obligations()
    assert (debt.debtor, debt.creditor, debt.owes) == ("radar", "oscar", "answer")
    first, second = (message("INF", mid=mid, **{**OWN, "pid": "q"}) for mid in ("i1", "i2"))
    assert lifecycle.apply(first).violations == ()
    assert lifecycle.obligations() == ()
    assert [flag.kind for flag in lifecycle.apply(second).violations] == ["extra_answer"]
    for p, data in (("PROG", {}), ("ERR", {"code": "E009", "msg": "x", "retry": True})):
        lifecycle, flags = told(
            REQUEST, message("QRY", mid="q", pid="r"), message(p, data, mid="x", **{**OWN, "pid": "q"})
        )
        assert states(lifecycle) == {("r", "radar"): "requested"}
        assert flags == []


@pytest.mark.spec("CLOWL-039")
@pytest.mark.parametrize("p", ["ACK", "PROG", "DONE", "ERR"])
def test_only_the_owner_reports_on_a_task(p):
    data = {"code": "E009", "msg": "x", "retry": True} if p == "ERR" else {}
    stranger = message(p, data, mid="x", from_="eve", to="oscar", pid="r")
    lifecycle, flags = told(REQUEST, stranger)
    assert states(lifecycle) == {("r", "radar"): "requested"}
    assert flags == ["not_owner"]
    _, flags = told(REQUEST, message(p, data, mid="x", from_="radar", to="eve", pid="r"))
    assert flags == ["misdirected"]


@pytest.mark.spec("CLOWL-040", "CLOWL-041")
def test_only_the_requester_cancels_and_each_wrong_cancel_has_its_answer():
    lifecycle, _ = told(REQUEST)
    step = lifecycle.apply(message("CNCL", mid="c1", from_="eve", pid="r"))
    assert [(advice.p, advice.code, advice.sender, advice.to) for advice in step.advice] == [
        ("ERR", "E002", "radar", "eve")
    ]
    assert states(lifecycle) == {("r", "radar"): "requested"}
    step = lifecycle.apply(message("CNCL", mid="c2", pid="nothing"))
    assert [(advice.p, advice.code) for advice in step.advice] == [("ERR", "E008")]
    lifecycle.apply(DONE)
    step = lifecycle.apply(message("CNCL", mid="c3", pid="r"))
    assert [(advice.p, advice.status) for advice in step.advice] == [("INF", "completed")]
    assert states(lifecycle) == {("r", "radar"): "completed"}


@pytest.mark.spec("CLOWL-040")
def test_a_cancelling_owner_owes_the_end():
    lifecycle, _ = told(REQUEST, CNCL)
    (debt,) = lifecycle.obligations()
    assert (debt.debtor, debt.creditor, debt.owes) == ("radar", "oscar", "stop and say so")


@pytest.mark.spec("CLOWL-043")
def test_progress_on_ended_or_unknown_tasks_changes_nothing():
    lifecycle, flags = told(
        REQUEST, DONE, PROG, message("PROG", mid="x", from_="radar", to="oscar", pid="nothing")
    )
    assert states(lifecycle) == {("r", "radar"): "completed"}
    assert flags == ["late", "orphan"]


@pytest.mark.spec("CLOWL-045")
def test_a_reply_without_parent_goes_to_the_only_open_task_or_nowhere():
    bare = message("DONE", mid="d", from_="radar", to="oscar")
    lifecycle, flags = told(REQUEST, bare)
    assert states(lifecycle) == {("r", "radar"): "completed"}
    assert flags == []
    second = message(mid="r2")
    lifecycle, flags = told(REQUEST, second, bare)
    assert set(states(lifecycle).values()) == {"requested"}
    assert flags == ["orphan"]
    _, flags = told(REQUEST, message("DONE", mid="d", from_="radar", to="oscar", cid="elsewhere"))
    assert flags == ["bad_opening", "orphan"]


@pytest.mark.spec("CLOWL-036")
def test_conversations_open_with_five_performatives_and_close_with_their_last_task():
    for p, data in (
        ("REQ", {}), ("INF", {}), ("QRY", {}), ("DLGT", {"delegation_mode": "fork"}),
        ("CAPS", {"supports": [], "clowl": "0.2"}),
    ):  # fmt: skip
        assert told(message(p, data))[1] == []
    for p in ("ACK", "DONE", "PROG"):
        assert "bad_opening" in told(message(p))[1]
    lifecycle, _ = told(REQUEST, message(mid="r2"))
    assert not lifecycle.is_closed("c1")
    lifecycle.apply(DONE)
    assert not lifecycle.is_closed("c1")
    lifecycle.apply(message("DONE", mid="d2", **{**OWN, "pid": "r2"}))
    assert lifecycle.is_closed("c1")


@pytest.mark.spec("CLOWL-035")
@pytest.mark.parametrize(
    ("parent", "reply"),
    [
        (ACK, message("DONE", mid="x", **{**OWN, "pid": "a"})),
        (DONE, message("ACK", mid="x", pid="d")),
        (ERR, message("ERR", {"code": "E009", "msg": "x", "retry": True}, mid="x", pid="e")),
        (PROG, message("ACK", mid="x", pid="p")),
        (CNCL, message("PROG", mid="x", **{**OWN, "pid": "c"})),
        (message("INF", mid="i"), message("DONE", mid="x", **{**OWN, "pid": "i"})),
        (message("INF", mid="i"), message("ERR", {"code": "E005", "msg": "x", "retry": False}, mid="x", **{**OWN, "pid": "i"})),
        (message("CAPS", {"supports": [], "clowl": "0.2"}, mid="k"), message("ERR", {"code": "E005", "msg": "x", "retry": False}, mid="x", **{**OWN, "pid": "k"})),
        (message("QRY", mid="q"), message("DONE", mid="x", **{**OWN, "pid": "q"})),
    ],
)  # fmt: skip
def test_replies_that_are_not_legal_are_flagged_and_change_nothing(parent, reply):
    lifecycle, flags = told(REQUEST, parent)
    before = lifecycle.tasks
    step = lifecycle.apply(reply)
    assert [flag.kind for flag in step.violations] == ["illegal_reply"]
    assert (lifecycle.tasks, step.advice) == (before, ())
    assert flags == []


def test_errors_about_a_context_and_about_a_version_are_legal():
    about = message("ERR", {"code": "E003", "msg": "x", "retry": True}, mid="x", **{**OWN, "pid": "i"})
    assert told(message("INF", mid="i"), about)[1] == []
    version = message("ERR", {"code": "E014", "msg": "x", "retry": False}, mid="x", **{**OWN, "pid": "k"})
    assert told(message("CAPS", {"supports": [], "clowl": "0.2"}, mid="k"), version)[1] == []


@pytest.mark.spec("CLOWL-048", "CLOWL-051")
@pytest.mark.parametrize("p", ["ACK", "PROG", "DONE"])
def test_a_transfer_takes_effect_when_the_delegate_accepts(p):
    lifecycle, _ = told(REQUEST, ACK, TRANSFER)
    assert states(lifecycle) == {("r", "radar"): "accepted", ("g", "muse"): "requested"}
    lifecycle.apply(message(p, mid="x", **BY_MUSE))
    task = lifecycle.task("r", "radar")
    assert task.state == ("completed" if p == "DONE" else "transferred")
    assert [owner for _, owner in task.owners] == ["radar", "muse"]
    assert task.owner == "muse"


@pytest.mark.spec("CLOWL-048")
@pytest.mark.parametrize("p", ["ACK", "PROG", "DONE", "ERR"])
def test_after_a_transfer_the_delegator_changes_nothing(p):
    data = {"code": "E009", "msg": "x", "retry": True} if p == "ERR" else {}
    lifecycle, _ = told(REQUEST, TRANSFER, message("ACK", mid="x", **BY_MUSE))
    step = lifecycle.apply(message(p, data, mid="y", **OWN))
    assert [(flag.kind, flag.row) for flag in step.violations] == [("not_owner", "CLOWL-048")]
    assert step.changed == ()


@pytest.mark.spec("CLOWL-048")
def test_who_handed_a_task_over_cannot_hand_it_over_again():
    accepted = message("ACK", mid="x", **BY_MUSE)
    again = {"delegation_mode": "transfer"}
    by_radar = message("DLGT", again, mid="g2", from_="radar", to="ida", pid="r", tid="t")
    by_eve = message("DLGT", again, mid="g2", from_="eve", to="ida", pid="r", tid="t")
    assert told(REQUEST, TRANSFER, accepted, by_radar)[1] == ["not_owner"]
    assert told(REQUEST, TRANSFER, accepted, by_eve)[1] == []


@pytest.mark.spec("CLOWL-036", "CLOWL-048")
def test_a_new_owner_may_report_under_the_request_itself():
    done = message("DONE", mid="x", **{**BY_MUSE, "pid": "r"})
    lifecycle, flags = told(REQUEST, TRANSFER, message("ACK", mid="y", **BY_MUSE), done)
    assert states(lifecycle) == {("r", "radar"): "completed", ("g", "muse"): "completed"}
    assert flags == []


@pytest.mark.spec("CLOWL-051")
def test_an_error_before_acceptance_leaves_the_delegator_owner():
    failed = message("ERR", {"code": "E005", "msg": "x", "retry": False}, mid="x", **BY_MUSE)
    lifecycle, flags = told(REQUEST, ACK, TRANSFER, failed, DONE)
    assert states(lifecycle) == {("r", "radar"): "completed", ("g", "muse"): "failed"}
    assert flags == []


@pytest.mark.spec("CLOWL-048")
def test_only_a_task_of_ones_own_that_is_open_is_handed_on():
    eves = message("DLGT", {"delegation_mode": "transfer"}, mid="g", from_="eve", to="muse", pid="r", tid="t")
    accepted = message("ACK", mid="x", **BY_MUSE)
    for before in ([REQUEST, ACK, eves, accepted], [REQUEST, DONE, TRANSFER, accepted]):
        lifecycle, _ = told(*before)
        assert lifecycle.task("g", "muse").delegated_from is None
        assert lifecycle.task("r", "radar").owner == "radar"
    lifecycle, _ = told(REQUEST, ACK, TRANSFER)
    assert lifecycle.task("g", "muse").delegated_from == ("r", "radar")


@pytest.mark.spec("CLOWL-051")
def test_who_gets_the_report_of_a_delegate():
    def reports_to(mode, **data):
        dlgt = message(
            "DLGT", {"delegation_mode": mode, **data}, mid="g", from_="radar", to="muse", pid="r", tid="t"
        )
        return told(REQUEST, dlgt)[0].task("g", "muse").reports_to

    assert reports_to("transfer") == "oscar"
    assert reports_to("fork") == reports_to("assist") == "radar"
    assert reports_to("fork", reply_to="eve") == "eve"
    alone = told(message("DLGT", {"delegation_mode": "transfer"}, mid="g", pid="m0"))[0].task("g", "radar")
    assert (alone.reports_to, alone.requester, alone.mode) == ("oscar", "oscar", "transfer")
    to_oscar = message("DONE", mid="x", **BY_MUSE)
    assert told(REQUEST, TRANSFER, to_oscar, message("INF", mid="i", t="delegated", **OWN))[1] == []


@pytest.mark.spec("CLOWL-049", "CLOWL-050")
@pytest.mark.parametrize("mode", ["fork", "assist"])
@pytest.mark.parametrize("end", ["DONE", "ERR", "CNCL"])
def test_after_fork_and_assist_the_delegates_end_is_not_the_delegators(mode, end):
    dlgt = message("DLGT", {"delegation_mode": mode}, mid="g", from_="radar", to="muse", pid="r", tid="t")
    if end == "CNCL":
        last = [message("CNCL", mid="x", from_="radar", to="muse", pid="g", tid="t"),
                message("ERR", {"code": "E013", "msg": "x", "retry": False}, mid="y", from_="muse", to="radar", pid="x", tid="t")]  # fmt: skip
    else:
        data = {"code": "E009", "msg": "x", "retry": True} if end == "ERR" else {}
        last = [message(end, data, mid="x", **{**BY_MUSE, "to": "radar"})]
    lifecycle, flags = told(REQUEST, PROG, dlgt, *last)
    assert lifecycle.task("r", "radar").state == "running"
    assert not lifecycle.task("g", "muse").is_open
    assert flags == []
    assert [debt.debtor for debt in lifecycle.obligations()] == ["radar"]
    lifecycle.apply(DONE)
    assert lifecycle.task("r", "radar").state == "completed"


@pytest.mark.spec("CLOWL-041")
@pytest.mark.parametrize(("code", "state"), [("E013", "cancelled"), ("E009", "failed")])
def test_a_cancelled_transfer_is_forwarded_and_its_end_comes_back(code, state):
    lifecycle, _ = told(REQUEST, TRANSFER, message("ACK", mid="x", **BY_MUSE))
    step = lifecycle.apply(CNCL)
    assert [(advice.p, advice.sender, advice.to, advice.pid) for advice in step.advice] == [
        ("CNCL", "radar", "muse", "g")
    ]
    assert ("radar", "muse", "forward the cancellation") in {
        (debt.debtor, debt.creditor, debt.owes) for debt in lifecycle.obligations()
    }
    lifecycle.apply(message("CNCL", mid="c2", from_="radar", to="muse", pid="g", tid="t"))
    assert [debt.owes for debt in lifecycle.obligations()] == ["stop and say so"]
    end = message("ERR", {"code": code, "msg": "x", "retry": False}, mid="z", **{**BY_MUSE, "pid": "c2"})
    assert lifecycle.apply(end).violations == ()
    assert states(lifecycle) == {("r", "radar"): state, ("g", "muse"): state}


def dlgt(mid, sender, to, mode="transfer", **members):
    data = {"delegation_mode": mode, **members.pop("data", {})}
    return message("DLGT", data, mid=mid, from_=sender, to=to, **members)


@pytest.mark.spec("CLOWL-052", "CLOWL-053")
@pytest.mark.parametrize("modes", list(itertools.product(["transfer", "fork", "assist"], repeat=2)))
def test_a_circle_is_found_across_hops_and_conversations_of_a_trace(modes):
    hops = [
        dlgt("g1", "a", "b", modes[0], tid="t", cid="c1"),
        dlgt("g2", "b", "c", modes[1], tid="t", cid="c2"),
        dlgt("g3", "c", "d", "fork", tid="t", cid="c3"),
    ]
    for back in ("a", "b", "c"):
        lifecycle, flags = told(*hops)
        assert flags == []
        step = lifecycle.apply(dlgt("g4", "d", back, tid="t", cid="c4"))
        assert [flag.kind for flag in step.violations] == ["cycle"]
        assert [(advice.code, advice.to) for advice in step.advice] == [("E015", "d")]
        assert lifecycle.task("g4", back) is None
    assert told(*hops, dlgt("g4", "d", "e", tid="t"))[1] == []
    assert told(*hops, dlgt("g4", "d", "a", tid="another"))[1] == []


@pytest.mark.spec("CLOWL-053")
def test_a_told_chain_counts_and_leaving_someone_out_does_not_help():
    assert told(dlgt("g", "c", "a", tid="t", data={"chain": ["a", "b", "c"]}))[1] == ["cycle"]
    assert told(dlgt("g1", "a", "b", tid="t"), dlgt("g2", "b", "a", tid="t", data={"chain": []}))[1] == [
        "cycle"
    ]
    eight = list("abcdefgh")
    assert told(dlgt("g", "h", "z", tid="t", data={"chain": eight}))[1] == []
    assert told(dlgt("g", "i", "z", tid="t", data={"chain": eight}))[1] == ["cycle"]
    lifecycle = Lifecycle()
    assert lifecycle.chain(dlgt("g", "c", "d", data={"chain": ["a", "b"]})) == ("a", "b", "c")


def test_what_has_ended_is_no_part_of_a_chain():
    first = dlgt("g1", "a", "b", tid="t")
    done = message("DONE", mid="d", from_="b", to="a", pid="g1", tid="t")
    assert told(first, dlgt("g2", "b", "a", tid="t"))[1] == ["cycle"]
    assert told(first, done, dlgt("g2", "b", "a", tid="t"))[1] == []


@pytest.mark.spec("CLOWL-062")
def test_a_passed_deadline_fails_the_task_with_e006():
    lifecycle, _ = told(REQUEST, deadline=100)
    assert lifecycle.expire(99).changed == ()
    step = lifecycle.expire(100)
    assert [(task.state, task.code) for task in step.changed] == [("failed", "E006")]
    assert [(advice.p, advice.code, advice.sender, advice.to) for advice in step.advice] == [
        ("ERR", "E006", "radar", "oscar")
    ]
    assert lifecycle.expire(101).changed == ()


@pytest.mark.spec("CLOWL-063", "CLOWL-064")
def test_retries_are_new_requests_under_the_error_three_at_most():
    clock = Clock()
    oscar, radar = author("oscar", clock), author("radar", clock)
    request = oscar.req("radar", "search", {"q": "x"})
    lifecycle, _ = told(request)
    current = request
    for attempt in range(1, MAX_RETRIES + 2):
        error = radar.err(current, "E009", "x")
        assert lifecycle.apply(error).violations == ()
        assert bool(plan(error, made=attempt - 1, changed=False).refused) is (attempt > MAX_RETRIES)
        again = retried(oscar, request, error)
        assert (again.parent, again.cid, again.trace, again.data) == (
            error.mid,
            request.cid,
            request.trace,
            request.data,
        )
        flags = [flag.kind for flag in lifecycle.apply(again).violations]
        assert flags == (["retry_refused"] if attempt > MAX_RETRIES else [])
        assert lifecycle.task(again.mid, "radar").attempt == attempt + 1
        current = again


@pytest.mark.spec("CLOWL-063", "CLOWL-061")
def test_an_error_that_is_not_to_be_retried_refuses_the_retry():
    for data in (
        {"code": "E005", "msg": "x", "retry": False}, {"code": "E005", "msg": "x", "retry": True},
        {"code": "E005", "msg": "x"}, {"code": "E004", "msg": "x", "retry": False},
        {"code": "E099", "msg": "x", "retry": True},
    ):  # fmt: skip
        error = message("ERR", data, mid="e", **OWN)
        assert plan(error, made=0, changed=True).refused
        assert report(error).retry is False
        assert told(REQUEST, error, message(mid="r2", pid="e", tid="t"))[1] == ["retry_refused"]
    assert report(message("ERR", {"code": "E003", "msg": "x"}, mid="e", **OWN)).retry is True
    assert told(REQUEST, ERR, message(mid="r2", pid="e", tid="t"))[1] == []
    assert told(REQUEST, ERR, message(mid="r2", pid="e", tid="other"))[1] == ["retry_elsewhere"]


@pytest.mark.spec("CLOWL-064")
def test_the_pace_of_retries():
    def busy(**data):
        return message("ERR", {"code": "E004", "msg": "x", "retry": True, **data}, mid="e", **OWN)

    assert [plan(busy(), made=made, changed=False).wait for made in range(3)] == [1, 2, 4]
    assert plan(busy(retry_after=7.5), made=0, changed=False).wait == 7.5
    for code in ("E001", "E008"):
        error = message("ERR", {"code": code, "msg": "x", "retry": True}, mid="e", **OWN)
        assert plan(error, made=0, changed=False).refused
        assert not plan(error, made=0, changed=True).refused


class Tasks(RuleBasedStateMachine):
    """One request after the other between a few agents, against a small model of Annex A."""

    WORKING = ("requested", "accepted", "running")

    @initialize()
    def start(self):
        self.lifecycle = Lifecycle()
        self.model: dict[str, str] = {}
        self.mids = itertools.count()
        self.sent = []

    def send(self, p, d=None, **members):
        one = message(p, d, mid=f"m{next(self.mids)}", **members)
        self.sent.append(one)
        return one, self.lifecycle.apply(one)

    @rule()
    def request(self):
        one, _ = self.send("REQ")
        self.model[one.mid] = "requested"

    def report(self, p, which, sender="radar", d=None):
        task = sorted(self.model)[which % len(self.model)]
        _, step = self.send(p, d, pid=task, from_=sender, to="oscar")
        return task, step

    @precondition(lambda self: self.model)
    @rule(which=st.integers(0, 50), p=st.sampled_from(["ACK", "PROG", "DONE", "ERR", "E013"]))
    def owner_reports(self, which, p):
        code = {"ERR": "E009", "E013": "E013"}.get(p)
        d = {"code": code, "msg": "x", "retry": False} if code else {}
        task, step = self.report("ERR" if code else p, which, d=d)
        before = self.model[task]
        expected = {
            "ACK": "accepted" if before == "requested" else before,
            "PROG": "running" if before in self.WORKING else before,
            "DONE": "completed",
            "ERR": "failed",
            "E013": "cancelled" if before == "cancelling" else "failed",
        }[p]
        legal = before in self.WORKING or before == "cancelling"
        self.model[task] = expected if legal else before
        if not legal:
            assert [flag.kind for flag in step.violations] == ["late"]

    @precondition(lambda self: self.model)
    @rule(which=st.integers(0, 50), p=st.sampled_from(["ACK", "PROG", "DONE"]))
    def stranger_reports(self, which, p):
        _, step = self.report(p, which, sender="eve")
        assert [flag.kind for flag in step.violations] == ["not_owner"]

    @precondition(lambda self: self.model)
    @rule(which=st.integers(0, 50), by=st.sampled_from(["oscar", "eve"]))
    def cancel(self, which, by):
        task = sorted(self.model)[which % len(self.model)]
        self.send("CNCL", pid=task, from_=by)
        if by == "oscar" and self.model[task] in self.WORKING:
            self.model[task] = "cancelling"

    @precondition(lambda self: self.sent)
    @rule(which=st.integers(0, 200))
    def repeat(self, which):
        before = self.lifecycle.tasks
        assert self.lifecycle.apply(self.sent[which % len(self.sent)]).duplicate
        assert self.lifecycle.tasks == before

    @invariant()
    def states_are_the_models(self):
        if hasattr(self, "model"):
            assert {task.key.mid: task.state.value for task in self.lifecycle.tasks} == self.model

    @invariant()
    def every_open_task_is_owed_by_its_owner(self):
        if hasattr(self, "model"):
            owed = sorted(debt.about for debt in self.lifecycle.obligations())
            assert owed == sorted(
                mid for mid, state in self.model.items() if state not in ("completed", "failed", "cancelled")
            )
            assert self.lifecycle.is_closed("c1") is (not owed)

    @invariant()
    def replaying_gives_the_same(self):
        if hasattr(self, "model") and len(self.sent) % 10 == 0:
            assert told(*self.sent)[0].tasks == self.lifecycle.tasks


Tasks.TestCase.settings = settings(max_examples=60, stateful_step_count=40, deadline=None)
TestTasks = Tasks.TestCase
