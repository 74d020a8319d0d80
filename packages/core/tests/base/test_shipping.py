"""What became of a batch: whatever the network does, nobody is told what is not so."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.base.shipping import (
    FENCE_SUFFIX,
    Answer,
    BatchFound,
    BatchStored,
    Declined,
    Elsewhere,
    Fate,
    Nobody,
    NothingThere,
    ShippingStep,
    Silence,
    Tracking,
    after,
    again,
)


class Subject:
    """One subject of a stream, and a network that eats and holds back; `answers_by_id` as with three replicas."""

    def __init__(self, answers_by_id: bool) -> None:
        self.answers_by_id = answers_by_id
        self.log: list[str] = []
        self.held: list[str] = []

    def take(self, batch_id: str) -> Answer:
        """The guard is the empty subject: only the first is ever taken."""
        if self.answers_by_id and batch_id in self.log:
            return BatchStored(self.log.index(batch_id) + 1)
        if self.log:
            return Elsewhere()
        self.log.append(batch_id)
        return BatchStored(1)

    def send(self, batch_id: str, weather: str) -> Answer:
        match weather:
            case "eaten":
                return Silence()
            case "held":
                self.held.append(batch_id)
                return Silence()
            case "answer eaten":
                self.take(batch_id)
                return Silence()
            case "nobody":
                return Nobody()
            case "declined":
                return Declined(10077)
            case "rival":
                self.take("rival")
                return self.take(batch_id)
            case _:
                return self.take(batch_id)

    def look(self, weather: str) -> Answer:
        return BatchFound(1, self.log[0]) if self.log and weather == "fair" else NothingThere()

    def release(self, count: int) -> None:
        for batch_id in self.held[:count]:
            self.take(batch_id)
        del self.held[:count]


def carried(subject: Subject, tracking: Tracking, weather: list[str], landing: list[int]) -> Tracking:
    while tracking.fate is None:
        subject.release(landing.pop() if landing else 0)
        now = weather.pop() if weather else "fair"
        match tracking.step:
            case ShippingStep.PUBLISH:
                answer = subject.send("ours", now)
            case ShippingStep.FENCE:
                answer = subject.send("ours" + FENCE_SUFFIX, now)
            case ShippingStep.LOOK:
                answer = subject.look(now)
        tracking = after(tracking, answer)
    return tracking


WEATHER = ("fair", "eaten", "held", "answer eaten", "nobody", "declined", "rival")


@given(
    st.booleans(),
    st.integers(1, 8),
    st.lists(st.sampled_from(WEATHER), max_size=12),
    st.lists(st.integers(0, 2), max_size=12),
)
@settings(max_examples=600, deadline=None)
def test_what_is_said_of_a_batch_stays_true_whatever_lands_later(
    answers_by_id: bool, tries: int, weather: list[str], landing: list[int]
) -> None:
    subject = Subject(answers_by_id)
    tracking = carried(subject, Tracking("ours", tries), weather, landing)
    if tracking.fate is Fate.UNKNOWN:
        # Whoever takes it up later learns what became of it, once the network lets anything through.
        tracking = carried(subject, again(tracking, 20), [], landing)
    subject.release(len(subject.held))
    assert tracking.fate is not Fate.UNKNOWN
    assert (tracking.fate is Fate.KEPT) == (subject.log[:1] == ["ours"])
    if tracking.fate is Fate.KEPT:
        assert tracking.sequence == 1
    if tracking.fate is Fate.OVERTAKEN:
        assert subject.log == ["rival"]


DOUBT = Tracking("b", 5, doubt=True)


@pytest.mark.parametrize(
    ("before", "answer", "step", "fate"),
    [
        (Tracking("b", 5), Elsewhere(), None, Fate.OVERTAKEN),
        (Tracking("b", 5), Declined(10077), None, Fate.NOT_WRITTEN),
        (Tracking("b", 1), Nobody(), None, Fate.NOT_WRITTEN),
        (Tracking("b", 1), Silence(), None, Fate.UNKNOWN),
        (Tracking("b", 5), Silence(), ShippingStep.PUBLISH, None),
        (DOUBT, Elsewhere(), ShippingStep.LOOK, None),
        (DOUBT, Declined(10077), ShippingStep.FENCE, None),
        (DOUBT, BatchStored(7), None, Fate.KEPT),
        (Tracking("b", 3, doubt=True), Silence(), ShippingStep.FENCE, None),
    ],
)
def test_an_answer_means_something_else_when_an_earlier_attempt_is_in_doubt(
    before: Tracking, answer: Answer, step: ShippingStep | None, fate: Fate | None
) -> None:
    found = after(before, answer)
    assert found.fate is fate
    assert step is None or found.step is step
