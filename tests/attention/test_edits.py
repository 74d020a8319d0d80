"""Edits, deletes, and the compose window that both may touch."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit.attention import decide
from tacit.attention.settings import Settings, checked, warnings
from tacit.attention.state import records
from tacit.attention.state.obligations import Obligation
from tacit.attention.state.versions import Versions, answered_by, cancellations, edited
from tacit.base.moment import Moment
from tacit.c2a.vocabulary import Disposition, Mode, Policy
from tacit.harness import compose
from tacit.harness.compose import (
    Fragment,
    Late,
    accepts,
    added,
    closes_at,
    late_fragment,
    merged,
    opened,
    removed,
    typed,
)
from tests.attention.world import ROSTER, START, Room, event, three

PENDING = Obligation("e1", "lead", Policy.MUST_RESPOND, Mode.BUFFERED, START, request_id="deliver-9")
ANSWERED = replace(PENDING, session="worker", disposition=Disposition.RESPONDED, closed=True)


def at(seconds: float) -> Moment:
    return Moment(START + int(seconds * 1_000_000))


def piece(number: int, seconds: float, **more: object) -> Fragment:
    return Fragment(f"f{number}", "user", "main", f"line {number}", at(seconds), **more)  # type: ignore[arg-type]


@pytest.mark.spec("C2A-185", "C2A-187")
@pytest.mark.parametrize("what", ["edit", "delete"])
def test_a_change_before_the_answer_cancels_what_is_pending(what: str) -> None:
    [found] = cancellations([PENDING, ANSWERED], what)
    assert (found.session, found.request_id, found.record.disposition) == ("lead", "deliver-9", "superseded")
    assert what in found.reason
    assert answered_by([PENDING, ANSWERED]) == {"worker"}


@pytest.mark.spec("C2A-186", "C2A-189", "C2A-185")
def test_an_edit_is_a_new_event_that_is_decided_afresh_or_looked_at_again() -> None:
    room = Room()
    room.say("@lead @worker which branch")
    for session in ("lead", "worker"):
        room.record(
            "x.c2a.delivery",
            event_id="m1",
            session=session,
            policy="must_respond",
            mode="buffered",
            directedness="to_me",
            reason="direct_mention",
        )
    room.record("x.c2a.disposition", event_id="m1", session="worker", disposition="responded", closes=True)
    raw = event(
        "@lead @worker which branch of the fork",
        kind="x.c2a.edit",
        by="system",
        event_id="m9",
        supersedes="m1",
    )
    now = edited(room.log[0], raw)
    assert (now.id, now.by, now.data["text"]) == ("m9", "user", "@lead @worker which branch of the fork")
    decisions = room.put(now)
    assert three(decisions["lead"]) == ("to_me", "must_respond", "buffered")
    assert (decisions["worker"].policy, decisions["worker"].reason) == (
        "may_respond",
        "edited_after_response",
    )
    assert decisions.parsed is not None
    assert decisions.parsed.supersedes == "m1"
    assert room.attention.versions.replaced_by("m1") == "m9"
    assert room.log[0].data["text"] == "@lead @worker which branch"


@pytest.mark.spec("C2A-104", "C2A-187", "C2A-214")
def test_chains_of_edits_lead_to_the_newest_and_a_delete_takes_back_all_forms() -> None:
    versions = Versions()
    versions.edited("a", "b")
    versions.edited("a", "c")
    assert versions.latest("a") == "c"
    assert [versions.is_superseded(one) for one in "abc"] == [True, True, False]
    versions.deleted("a")
    assert all(versions.is_deleted(one) for one in "abc")
    room = Room()
    room.say("oops")
    room.record("x.c2a.delete", event_id="m1")
    assert room.attention.versions.is_deleted("m1")
    assert room.log[0].data["text"] == "oops"
    room.say("first form")
    room.attention.apply(event("second form", kind="x.c2a.edit", by="system", event_id="m8", supersedes="m3"))
    assert room.attention.versions.replaced_by("m3") == "m8"


@pytest.mark.spec("C2A-214")
def test_an_edit_that_is_folded_again_changes_nothing() -> None:
    versions = Versions()
    for _ in range(2):
        for earlier, later in (("a", "b"), ("b", "c"), ("c", "d")):
            versions.edited(earlier, later)
        assert not versions.is_superseded("d")
    assert [versions.latest(one) for one in "abcd"] == ["d"] * 4
    assert [versions.first(one) for one in "abcd"] == ["a"] * 4


def test_a_chain_that_an_earlier_release_folded_is_followed_and_goes_on() -> None:
    versions = Versions({"a": "b", "b": "c"})
    versions.edited("a", "b")
    versions.edited("b", "c")
    assert [versions.latest(one) for one in "abc"] == ["c"] * 3
    versions.edited("c", "d")
    versions.edited("d", "e")
    assert [versions.latest(one) for one in "abcde"] == ["e"] * 5
    versions.deleted("a")
    assert all(versions.is_deleted(one) for one in "abcde")


@pytest.mark.spec("C2A-083", "C2A-087")
def test_five_fragments_a_second_apart_make_one_turn() -> None:
    window = opened(piece(0, 0))
    for number in range(1, 5):
        assert accepts(window, piece(number, number))
        window = added(window, piece(number, number))
    turn = merged(window)
    assert turn.text == "line 0\nline 1\nline 2\nline 3\nline 4"
    assert (turn.carrier, turn.superseded) == ("f4", ("f0", "f1", "f2", "f3"))
    assert added(window, piece(4, 9)) == window


@pytest.mark.spec("C2A-083")
def test_a_window_never_joins_authors_or_conversations() -> None:
    window = opened(piece(0, 0))
    assert not accepts(window, replace(piece(1, 1), author="usr:ann"))
    assert not accepts(window, replace(piece(1, 1), conversation="other"))


@pytest.mark.spec("C2A-085", "C2A-086", "C2A-221", "C2A-084")
def test_a_window_closes_after_a_pause_waits_for_typing_and_has_a_cap() -> None:
    window = opened(piece(0, 0))
    assert closes_at(window) == at(3)
    assert closes_at(added(window, piece(1, 2))) == at(5)
    assert closes_at(typed(window, at(1))) == at(30)
    assert closes_at(typed(typed(window, at(1)), at(9), typing=False)) == at(12)
    for number in range(1, 15):
        window = added(window, piece(number, number * 2.5))
    assert closes_at(window) == at(30)
    assert not accepts(window, piece(99, 31))


@pytest.mark.spec("C2A-087")
@given(
    st.lists(
        st.tuples(st.sampled_from(list(Policy)), st.sampled_from(list(Mode)), st.none() | st.integers(1, 99)),
        min_size=1,
        max_size=6,
    )
)
def test_a_turn_takes_the_strongest_policy_and_the_earliest_deadline(
    parts: list[tuple[Policy, Mode, int | None]],
) -> None:
    order = ["must_not_respond", "ack_only", "may_respond", "must_respond"]
    pieces = [
        piece(n, n * 0.1, policy=p, mode=m, deadline_at=None if d is None else at(d))
        for n, (p, m, d) in enumerate(parts)
    ]
    window = opened(pieces[0])
    for one in pieces[1:]:
        window = added(window, one)
    turn = merged(window)
    assert order.index(turn.policy) == max(order.index(p) for p, _, _ in parts)
    given_deadlines = [d for _, _, d in parts if d is not None]
    assert turn.deadline_at == (at(min(given_deadlines)) if given_deadlines else None)


@pytest.mark.spec("C2A-185", "C2A-187")
def test_edits_and_deletes_before_injection_change_the_window() -> None:
    window = added(opened(piece(0, 0)), piece(1, 1))
    changed = compose.edited(window, "f0", replace(piece(7, 2), text="better"))
    assert merged(changed).text == "better\nline 1"
    kept = removed(window, "f1")
    assert kept is not None
    assert merged(kept).carrier == "f0"
    assert removed(kept, "f0") is None


@pytest.mark.spec("C2A-188")
def test_a_late_fragment_restarts_the_turn_while_nothing_has_left_the_house() -> None:
    assert late_fragment(sent=False, side_effects=False, restarts=0) is Late.RESTART
    assert late_fragment(sent=False, side_effects=False, restarts=2) is Late.WAIT
    assert late_fragment(sent=True, side_effects=False, restarts=0) is Late.WAIT
    assert late_fragment(sent=False, side_effects=True, restarts=0) is Late.WAIT


@pytest.mark.spec("C2A-085")
def test_settings_outside_their_range_are_refused_at_start() -> None:
    assert checked(Settings()) is None
    for wrong in (
        Settings(compose_quiet_ms=1_999), Settings(compose_quiet_ms=5_001), Settings(compose_cap_ms=31_000),
        Settings(compose_quiet_ms=31_000, compose_slow=True), Settings(claim_ttl_ms=1), Settings(redeliver_at=(1.5,)),
    ):  # fmt: skip
        assert checked(wrong) is not None
    slow = Settings(compose_quiet_ms=12_000, compose_slow=True)
    assert checked(slow) is None
    assert warnings(slow)
    assert not warnings(Settings())
    assert records.kind_of(records.Delete(event_id="x")) == "x.c2a.delete"
    assert decide(event("x"), ROSTER)
