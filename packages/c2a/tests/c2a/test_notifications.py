"""Notifications: written and read back; what makes no sense is dropped."""

from __future__ import annotations

from typing import Any, get_args

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit.c2a.activity import KINDS, STATES, Activity, ActivityWanted
from tacit.c2a.notifications import (
    LEVELS,
    STATUSES,
    WORK_STATES,
    Cancelled,
    Continued,
    Ephemeral,
    Log,
    Notification,
    PermissionDecided,
    Progress,
    Status,
    Typing,
    Usage,
    Work,
    members,
    method_of,
    read_notification,
)

WORD = st.text(min_size=1, max_size=10)
NUMBER = st.integers(0, 10**6) | st.floats(0, 10**6, allow_nan=False)
COUNT = st.integers(0, 2**53 - 1)
ITEM = st.fixed_dictionaries(
    {"id": WORD, "kind": st.sampled_from(sorted(KINDS)), "state": st.sampled_from(sorted(STATES))},
    optional={
        "title": WORD,
        "text": WORD,
        "files": st.lists(WORD, min_size=1, max_size=2),
        "cut": st.just(True),
    },
)
TOLD = st.one_of(
    st.builds(Cancelled, WORD, st.none() | WORD, st.text(max_size=10)),
    st.builds(Typing, st.text(max_size=10), st.text(max_size=10), st.booleans()),
    st.builds(Continued, WORD),
    st.builds(Ephemeral, WORD, WORD, st.text(max_size=10)),
    st.builds(Progress, WORD, NUMBER, st.none() | NUMBER, st.none() | st.text(max_size=10)),
    st.builds(Log, st.sampled_from(sorted(LEVELS)), st.text(max_size=10), st.none() | st.just({"a": 1})),
    st.builds(Status, st.sampled_from(sorted(STATUSES)), st.text(max_size=10)),
    st.builds(
        Usage, WORD, st.lists(WORD, max_size=2).map(tuple), *([COUNT] * 5),
        st.floats(0, 99, allow_nan=False), WORD, WORD, WORD,
    ),
    st.builds(Work, WORD, st.sampled_from(sorted(WORK_STATES)), WORD, COUNT, WORD, WORD, WORD),
    st.builds(PermissionDecided, WORD, WORD, st.text(max_size=5), st.text(max_size=5), st.text(max_size=5)),
    st.builds(
        Activity, WORD, WORD, st.sampled_from(["running", "ended"]), COUNT, st.lists(ITEM, max_size=2).map(tuple),
        answers=st.text(max_size=5),
    ),
    st.builds(ActivityWanted, WORD, WORD, st.booleans()),
)  # fmt: skip


@pytest.mark.spec("C2A-179", "C2A-181", "C2A-184")
@given(told=TOLD)
def test_a_notification_read_back_is_the_same(told: Notification) -> None:
    params = msgspec.json.decode(msgspec.json.encode(members(told)))
    assert None not in params.values()
    assert read_notification(method_of(told), params) == told


def test_every_notification_is_among_those_that_are_tried() -> None:
    names = {method_of(one(*([""] * 3))) for one in (Cancelled, Typing, Ephemeral)}
    names |= {method_of(Progress("", 0)), method_of(Log("", "")), method_of(Status("")), method_of(Usage())}
    names |= {
        method_of(Continued("e")),
        method_of(Work("e", "working")),
        method_of(PermissionDecided("a", "b")),
    }
    names |= {method_of(Activity("e")), method_of(ActivityWanted("e", "r"))}
    assert len(names) == len(get_args(Notification))


@pytest.mark.parametrize(
    ("method", "params"),
    [
        ("notifications/dance", {}),
        ("notifications/progress", {"progressToken": "t", "progress": "much"}),
        ("notifications/progress", {"progressToken": "t", "progress": True}),
        ("notifications/progress", {"progressToken": "t", "progress": float("nan")}),
        ("notifications/progress", {"progress": 1}),
        ("notifications/status", {"status": "asleep"}),
    ],
)
def test_what_makes_no_sense_is_dropped(method: str, params: dict[str, Any]) -> None:
    assert read_notification(method, params) is None


def test_words_and_numbers_that_nobody_knows_become_the_usual_ones() -> None:
    assert read_notification("notifications/log", {"level": "loud", "message": "x"}) == Log("info", "x")
    usage = read_notification(
        "notifications/usage", {"tokensIn": -1, "tokensOut": "9", "cost": -2, "eventIds": 3}
    )
    assert usage == Usage()
    assert read_notification("notifications/cancelled", {"requestId": 7}) == Cancelled("7", None, "")
    author = read_notification("notifications/typing", {"conversationId": "c", "author": {"id": "ann"}})
    assert author == Typing("c", "ann", typing=True)


@pytest.mark.spec("C2A-014", "C2A-181")
@pytest.mark.parametrize(
    ("said", "taken"), [(0, 0), (7, 7), (2**53 - 1, 2**53 - 1), (2**53, 0), (-1, 0), (True, 0), (1.5, 0)]
)
def test_a_count_is_one_that_every_reader_of_json_can_hold(said: object, taken: int) -> None:
    assert read_notification("notifications/usage", {"tokensIn": said}) == Usage(tokens_in=taken)
