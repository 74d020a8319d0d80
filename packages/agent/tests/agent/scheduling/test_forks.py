"""One thread becomes several: each ends by itself, what was answered is not asked again, limits hold."""

from __future__ import annotations

import pytest

from tacit.agent.kernel.workspace import Peer
from tacit.agent.scheduling import asking, purpose
from tacit.base.errors import Refused
from tests.agent.scheduling.desk import DAY, FEATURES, Desk, Desks, begun, desks

DINNER = "dinner with ben on Friday evening"
BOTH = ("dinner with ben on Friday evening", "game night with ben on Saturday evening")


def forked(both: Desks, thread: str, *texts: str, by: str = "anna") -> list[str]:
    """One of them makes several of it."""
    person = getattr(both, by)
    goals = [person.goal(text) for text in texts]
    children = person.decide(lambda ws: asking.fork(ws, thread, goals))
    both.settle()
    return children


def answered_all(both: Desks) -> None:
    """Everybody shares what they are asked for."""
    for _ in range(6):
        for person in (both.anna, both.ben):
            for question in person.questions("consent"):
                person.share_all(question)
        both.settle()


def asked_for_dietary(by: str = "anna") -> tuple[Desks, str]:
    """A thread in which Ben has just told his diet, and Anna has not considered it yet."""
    both = desks()
    thread = begun(both, DINNER)
    both.ben.answer(
        both.ben.question("consent"), share={"dietary": None}, decline=frozenset({"time_windows"})
    )
    if by == "anna":
        both.carry()
    return both, thread


@pytest.mark.spec("A2ACP-115")
@pytest.mark.spec("A2ACP-116")
@pytest.mark.spec("A2ACP-117")
@pytest.mark.parametrize("by", ["anna", "ben"])
def test_each_child_of_a_fork_ends_by_itself(by: str):
    both, thread = asked_for_dietary(by)
    children = forked(both, thread, *BOTH, by=by)
    for person in (both.anna, both.ben):
        assert person.state(thread) == "COMPLETED"
        assert person.thread(thread).closed_reason == "forked"
        assert not [one for one in person.questions() if one.thread_id == thread]
        for child, other in zip(children, reversed(children), strict=True):
            known = person.thread(child)
            assert (known.parent, known.siblings, known.depth) == (thread, (other,), 1)
            assert known.ours == (person is getattr(both, by))
            assert known.turns <= 3, "a count of its own"
    answered_all(both)
    for child, day in zip(children, ("2026-03-27", "2026-03-28"), strict=True):
        assert both.anna.state(child) == both.ben.state(child) == "PROPOSED"
        (proposed,) = [
            one
            for one in (*both.anna.sent, *both.ben.sent)
            if (one.thread_id, one.type) == (child, "resolution")
        ]
        assert proposed.fields["proposal"]["details"]["date"] == day
    for person in (both.anna, both.ben):
        (standing,) = [one for one in person.questions("checkpoint") if one.thread_id == children[0]]
        person.answer(standing, confirm=True)
    both.settle()
    assert both.anna.state(children[0]) == both.ben.state(children[0]) == "COMPLETED"
    assert both.anna.state(children[1]) == "PROPOSED"
    (standing,) = both.ben.questions("checkpoint")
    both.ben.answer(standing, refuse=True)
    both.settle()
    assert both.anna.state(children[1]) == both.ben.state(children[1]) == "DECLINED"
    assert both.anna.state(children[0]) == "COMPLETED"


@pytest.mark.spec("A2ACP-116")
@pytest.mark.spec("A2ACP-117")
def test_what_was_answered_in_the_parent_is_not_asked_again_in_a_child():
    both, thread = asked_for_dietary()
    children = forked(both, thread, "dinner with ben on Friday evening", "lunch with ben on Friday")
    for child in children:
        for person in (both.anna, both.ben):
            assert "dietary" in {**person.thread(child).wants, **person.thread(child).asked}
        assert both.ben.thread(child).asked["dietary"] == "data"
        assert "dietary" in both.ben.thread(child).approved
    answered_all(both)
    later = [one for one in both.anna.sent if one.thread_id in children]
    assert not [need for one in later for need in one.fields.get("needs", []) if need["field"] == "dietary"]
    prompts = [
        field
        for question in both.ben.book.questions.values()
        if question.thread_id in children and question.kind == "consent"
        for field in both.ben.asked(question)
    ]
    assert "dietary" not in prompts


@pytest.mark.spec("A2ACP-116")
def test_a_child_has_timers_of_its_own():
    both = desks()
    thread = begun(both, DINNER)
    both.later(DAY)
    goals = [both.anna.goal(text) for text in BOTH]
    children = both.anna.decide(lambda ws: asking.fork(ws, thread, goals))
    both.anna.out.clear()
    both.later(DAY + DAY // 2)
    assert {both.anna.state(one) for one in children} == {"INITIATED"}
    both.later(DAY)
    assert {both.anna.state(one) for one in children} == {"STALLED"}


@pytest.mark.spec("A2ACP-117")
def test_a_parent_takes_no_more_negotiation():
    both, thread = asked_for_dietary()
    forked(both, thread, *BOTH)
    sent = len(both.ben.sent)
    needs = {"needs": [{"field": "dietary", "reason": "again", "priority": "required"}]}
    both.ben.receive(both.anna.me, thread, "pkt_afterwards1", "context_request", needs)
    both.settle()
    assert len(both.ben.sent) == sent
    assert both.ben.state(thread) == "COMPLETED"


def _fork(thread: str, *ids: str) -> dict[str, object]:
    return {
        "parent_thread_id": thread,
        "new_threads": [
            {"thread_id": one, "intent": {"category": "scheduling", "summary": "Something"}} for one in ids
        ],
        "shared_context": {},
    }


@pytest.mark.spec("A2ACP-117")
@pytest.mark.parametrize(
    "ids",
    [
        ("thr_childalone1",),
        tuple(f"thr_childmany{one}" for one in range(6)),
        ("thr_childtwice1", "thr_childtwice1"),
        ("thr_childfirst1", "thr_known000001"),
    ],
    ids=["one", "six", "twice the same", "an id that is used"],
)
def test_a_fork_beyond_the_limits_is_dropped_and_counted(ids: tuple[str, ...]):
    both, thread = asked_for_dietary()
    both.ben.receive(
        both.anna.me,
        "thr_known000001",
        "pkt_known000001",
        "context",
        {"intent": {"category": "x", "summary": "x", "urgency": "normal"}, "context": {}},
    )
    before = set(both.ben.book.threads)
    both.ben.receive(both.anna.me, thread, "pkt_badfork0001", "thread_fork", _fork(thread, *ids))
    assert set(both.ben.book.threads) == before
    assert both.ben.state(thread) == "NEGOTIATING"
    assert "fork" in both.ben.violations()


@pytest.mark.spec("A2ACP-117")
def test_a_fork_goes_two_deep_and_no_deeper_sent_or_received():
    both, thread = asked_for_dietary()
    parent = thread
    for depth in (1, 2):
        parent = forked(both, parent, *BOTH)[0]
        assert both.ben.thread(parent).depth == depth
    with pytest.raises(Refused, match="cannot_fork"):
        forked(both, parent, *BOTH)
    both.ben.receive(
        both.anna.me,
        parent,
        "pkt_deepfork001",
        "thread_fork",
        _fork(parent, "thr_deep0000001", "thr_deep0000002"),
    )
    assert "thr_deep0000001" not in both.ben.book.threads
    assert "fork" in both.ben.violations()


@pytest.mark.spec("A2ACP-117")
@pytest.mark.spec("A2ACP-278")
def test_what_can_no_longer_become_several_is_refused_to_the_owner():
    both = desks()
    thread = begun(both, DINNER)
    for texts in ((DINNER,), (DINNER,) * 6):
        with pytest.raises(Refused, match="cannot_fork"):
            forked(both, thread, *texts)
    both.anna.peers[both.ben.me] = Peer(both.ben.me, FEATURES - {"thread_forking"}, heard=True)
    with pytest.raises(Refused, match="not_supported"):
        forked(both, thread, *BOTH)
    both.anna.peers.clear()
    both.ben.share_all(both.ben.question("consent"))
    both.settle()
    with pytest.raises(Refused, match="cannot_fork"):
        forked(both, thread, *BOTH)
    both.ben.receive(
        both.anna.me,
        thread,
        "pkt_latefork001",
        "thread_fork",
        _fork(thread, "thr_late0000001", "thr_late0000002"),
    )
    assert both.ben.state(thread) == "PROPOSED"
    assert "fork" in both.ben.violations()


@pytest.mark.spec("A2ACP-117")
@pytest.mark.parametrize(("timely", "kept"), [(True, {"dietary", "time_windows"}), (False, {"dietary"})])
def test_children_inherit_what_was_told_and_its_times_only_for_the_same_days(timely, kept):
    fields = {"dietary": "vegan", "time_windows": [], "event_type": "dinner"}
    found = purpose.for_children(fields, Desk("anna").workspace(), timely=timely)
    assert set(found) == kept
