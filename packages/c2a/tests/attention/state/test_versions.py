"""Edits and deletes."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tacit.attention.state import records
from tacit.attention.state.obligations import Obligation
from tacit.attention.state.versions import Versions, answered_by, cancellations, edited
from tacit.c2a.vocabulary import Disposition, Mode, Policy
from tests.attention.world import START, Room, event, three

PENDING = Obligation("e1", "lead", Policy.MUST_RESPOND, Mode.BUFFERED, START, request_id="deliver-9")


ANSWERED = replace(PENDING, session="worker", disposition=Disposition.RESPONDED, closed=True)


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
    assert [versions.shown(one) for one in "abc"] == ["c"] * 3
    versions.deleted("a")
    assert all(versions.is_deleted(one) for one in "abc")
    room = Room()
    room.say("oops")
    room.record("x.c2a.delete", event_id="m1")
    assert room.attention.versions.is_deleted("m1")
    assert room.log[0].data["text"] == "oops"
    room.say("first form")
    edit = event("second form", kind="x.c2a.edit", by="system", event_id="m8", supersedes="m3")
    room.attention.apply(edit, records.moment_of(edit))
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


def test_a_message_that_was_taken_back_in_an_early_form_is_gone_in_every_later_one() -> None:
    versions = Versions()
    for earlier, later in (("a", "b"), ("b", "c"), ("c", "d"), ("d", "e")):
        versions.edited(earlier, later)
    assert [versions.latest(one) for one in "abcde"] == ["e"] * 5
    assert [versions.is_superseded(one) for one in "abcde"] == [True] * 4 + [False]
    versions.deleted("a")
    assert all(versions.is_deleted(one) for one in "abcde")
    assert versions.is_superseded("e")
