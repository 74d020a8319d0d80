import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit.a2acp.consent import promotion, questions
from tacit.a2acp.consent.promotion import (
    ApprovalCount,
    after_approval,
    after_dismissal,
    after_refusal,
    offer_due,
)
from tacit.a2acp.consent.questions import ConsentField, ConsentQuestion, apply_answer, fingerprint
from tacit.a2acp.consent.tiers import Tier
from tacit.base.errors import Bug, Refused
from tests.post_support import ALICE, BOB

THREAD = "thr_abcdefgh"
ASKED = ConsentQuestion(
    to=BOB,
    thread_id=THREAD,
    fields=(
        ConsentField(
            field="dietary", reason="to pick a restaurant", priority="required", values=(["vegetarian"],)
        ),
        ConsentField(
            field="transport_mode", reason="how far it may be", priority="helpful", values=("driving",)
        ),
    ),
)


@pytest.mark.spec("A2ACP-128", "A2ACP-129")
def test_a_question_shows_who_asks_why_what_is_known_and_both_ways_to_answer_it_whole():
    assert questions.shown(ASKED) == {
        "counterpart": BOB,
        "thread_id": THREAD,
        "fields": [
            {"field": "dietary", "reason": "to pick a restaurant", "priority": "required", "values": (["vegetarian"],), "own": False},
            {"field": "transport_mode", "reason": "how far it may be", "priority": "helpful", "values": ("driving",), "own": False},
        ],
        "choices": ["share_selected", "decline_all"],
    }  # fmt: skip


@pytest.mark.spec("A2ACP-138")
def test_the_questions_of_an_urgent_thread_are_one():
    first = ConsentQuestion(
        to=BOB, thread_id=THREAD, fields=(ConsentField(field="dietary", reason="a", values=("x",)),)
    )
    second = ConsentQuestion(
        to=BOB,
        thread_id=THREAD,
        fields=(
            ConsentField(field="transport_mode", reason="b", values=("car",)),
            ConsentField(field="Dietary", reason="c", priority="required", values=("x", "y")),
        ),
    )
    assert questions.merged([first, second]).fields == (
        ConsentField(field="dietary", reason="c", priority="required", values=("x", "y")),
        ConsentField(field="transport_mode", reason="b", values=("car",)),
    )
    for other in (
        ConsentQuestion(to=ALICE, thread_id=THREAD, fields=()),
        ConsentQuestion(to=BOB, thread_id="thr_other", fields=()),
    ):
        with pytest.raises(Bug):
            questions.merged([first, other])


@pytest.mark.spec("A2ACP-132")
def test_what_is_selected_is_shared_and_the_rest_is_declined():
    answered = apply_answer(ASKED, {"dietary": None})
    assert answered.approved == {"dietary": ["vegetarian"]}
    assert answered.declined == ("transport_mode",)
    other = apply_answer(ASKED, {"Dietary": ["vegan"], "transportMode": "walking"})
    assert (other.approved, other.declined) == ({"dietary": ["vegan"], "transport_mode": "walking"}, ())
    for refusal in (
        apply_answer(ASKED, {}, decline_all=True),
        apply_answer(ASKED, {}, frozenset({"dietary"})),
    ):
        assert refusal == questions.OwnerAnswer(approved={}, declined=("dietary", "transport_mode"))


@pytest.mark.spec("A2ACP-132")
@pytest.mark.parametrize(
    ("share", "decline", "everything", "code"),
    [
        ({"health_info": "x"}, [], False, "unknown_field"),
        ({"cuisine_preference": None}, [], False, "unknown_field"),
        ({}, ["salary"], False, "unknown_field"),
        ({}, [], False, "no_answer"),
        ({"dietary": None}, ["dietary"], False, "contradiction"),
        ({"dietary": None}, ["Dietary"], False, "contradiction"),
        ({"dietary": None}, [], True, "contradiction"),
        ({"dietary": "a", "Dietary": "b"}, [], False, "contradiction"),
    ],
)
def test_an_answer_that_was_not_asked_for_or_says_two_things_is_refused(share, decline, everything, code):
    with pytest.raises(Refused, match=code):
        apply_answer(ASKED, share, frozenset(decline), decline_all=everything)


@pytest.mark.parametrize("values", [(), ("a", "b")])
def test_which_value_is_meant_is_not_guessed(values):
    asked = ConsentQuestion(
        to=BOB, thread_id=THREAD, fields=(ConsentField(field="dietary", reason="r", values=values),)
    )
    with pytest.raises(Refused, match="which_value"):
        apply_answer(asked, {"dietary": None})
    assert apply_answer(asked, {"dietary": "b"}).approved == {"dietary": "b"}


@pytest.mark.spec("A2ACP-139", "A2ACP-140")
def test_every_refusal_looks_the_same():
    assert questions.answer_entries(["salary", "dietary"], ["transport_mode", "dietary"]) == [
        {"field": "dietary", "status": "declined", "hint": None},
        {"field": "salary", "status": "declined", "hint": None},
        {"field": "transport_mode", "status": "not_available", "hint": None},
    ]


def test_a_fingerprint_names_exactly_what_would_be_sent():
    one = fingerprint(BOB, THREAD, {"dietary": ["vegan"], "budget_range": {"low": 1, "high": 2}})
    assert one == fingerprint(BOB, THREAD, {"budget_range": {"high": 2, "low": 1}, "dietary": ["vegan"]})
    assert len(one) == 64
    others = [
        fingerprint(ALICE, THREAD, {"dietary": ["vegan"], "budget_range": {"low": 1, "high": 2}}),
        fingerprint(BOB, "thr_other", {"dietary": ["vegan"], "budget_range": {"low": 1, "high": 2}}),
        fingerprint(BOB, THREAD, {"dietary": ["vegan"], "budget_range": {"low": 1, "high": 3}}),
        fingerprint(BOB, THREAD, {"dietary": "vegan", "budget_range": {"low": 1, "high": 2}}),
        fingerprint(BOB, THREAD, {"dietary": ["vegan"]}),
        fingerprint(BOB, THREAD, {"Dietary": ["vegan"], "budget_range": {"low": 1, "high": 2}}),
    ]
    assert len({one, *others}) == 7


def after(*steps):
    count = ApprovalCount()
    for step in steps:
        count = step(count)
    return count


yes, no, dismiss = after_approval, after_refusal, after_dismissal


@pytest.mark.spec("A2ACP-125", "A2ACP-126")
@pytest.mark.parametrize(
    ("steps", "due"),
    [
        ([], False),
        ([yes, yes], False),
        ([yes, yes, yes], True),
        ([yes, yes, yes, yes], True),
        ([yes, yes, no, yes], False),
        ([yes, yes, no, yes, yes, yes], True),
        ([yes, yes, yes, dismiss], False),
        ([yes, yes, yes, dismiss, yes, yes], False),
        ([yes, yes, yes, dismiss, yes, yes, yes], True),
        ([yes, yes, yes, dismiss, yes, no, yes, yes], False),
        ([yes] * 3 + [dismiss] + [yes] * 3 + [dismiss] + [yes] * 9, False),
        ([yes] * 3 + [dismiss] + [yes] * 3 + [dismiss, no] + [yes] * 9, False),
    ],
)
def test_the_third_approval_since_the_last_refusal_makes_an_offer(steps, due):
    assert offer_due(after(*steps), Tier.ASK) is due


@pytest.mark.spec("A2ACP-124", "A2ACP-125")
@given(st.lists(st.sampled_from([yes, no, dismiss]), max_size=30), st.sampled_from([Tier.NEVER, Tier.ALWAYS]))
def test_what_never_goes_and_what_always_goes_is_never_offered(steps, tier):
    assert not promotion.offer_due(after(*steps), tier)
