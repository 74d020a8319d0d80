"""Work as people read it: a sentence for each state, what happens next, and lists in their order."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from msgspec import structs

from tacit.attention.io.state_store import Archive
from tacit.attention.io.views import decisions_view
from tacit.attention.io.work_view import AgentsNow, sentence, what_now, work_shown, work_view
from tacit.attention.state.escalation import WHAT_NOW
from tacit.attention.state.work import Lives, PieceOfWork, Works, WorkState
from tacit.base.moment import Moment, parse_rfc3339, rfc3339
from tests.attention.io.house import GROUP

if TYPE_CHECKING:
    from tests.attention.io.house import House

NOON = parse_rfc3339("2026-05-04T12:00:07Z")


def piece(state: str, **more: Any) -> PieceOfWork:
    return PieceOfWork("e1", "ann", WorkState(state), Moment(0), Moment(0), **more)


@pytest.mark.spec("C2A-206")
@pytest.mark.parametrize(
    ("state", "more", "said"),
    [
        ("queued", {}, "ann has it in its queue, next in line"),
        ("queued", {"retry_at": NOON}, "ann comes back to it at 12:00:07 UTC"),
        (
            "queued",
            {"retry_at": NOON, "message": "The limit. "},
            "ann comes back to it at 12:00:07 UTC: The limit",
        ),
        ("working", {"attempt": 1}, "ann is working on it"),
        ("working", {"attempt": 2}, "ann is working on it, attempt 2"),
        ("waiting", {}, "ann waits for a person"),
        (
            "waiting",
            {"retry_at": NOON, "message": "the day's budget"},
            "ann waits until 12:00:07 UTC: the day's budget",
        ),
        ("answered", {}, "ann answered"),
        ("failed", {}, "ann failed: it did not say why"),
        ("failed", {"code": "no_login", "message": "Not logged in."}, "ann failed: Not logged in (no_login)"),
        ("handed_over", {}, "ann no longer has it"),
        ("handed_over", {"to": "ben"}, "ann no longer has it; ben does"),
        ("handed_over", {"to": "user"}, "ann no longer has it; a person does"),
        ("called_off", {}, "ann was called off"),
        ("called_off", {"message": "not needed"}, "ann was called off: not needed"),
    ],
)
def test_each_state_is_a_sentence_that_names_the_agent(state: str, more: dict[str, Any], said: str) -> None:
    assert sentence(piece(state, **more)) == said


@pytest.mark.spec("C2A-206")
def test_what_is_not_known_of_a_piece_of_work_is_left_out() -> None:
    known = {"code": "no_login", "message": "Not logged in.", "to": "ben", "currency": "EUR"}
    for told in ({}, *({name: word} for name, word in known.items()), known):
        shown = work_shown(piece("failed", **told), Works(), lambda _event, _agent: None)
        assert {name: shown[name] for name in known if name in shown} == told


def test_a_queue_says_how_many_are_before_it() -> None:
    assert sentence(piece("queued"), 2) == "ann has it in its queue, 2 before it"


@pytest.mark.parametrize(
    ("state", "more", "said"),
    [
        ("failed", {}, WHAT_NOW),
        ("failed", {"to": "user"}, f"The owner was told. {WHAT_NOW}"),
        ("failed", {"retry_at": NOON}, "It is tried again by itself at 12:00:07 UTC."),
        ("handed_over", {"to": "user"}, "The owner was told: answer it, or give it to another agent."),
        ("handed_over", {"to": "ben"}, ""),
        ("working", {}, ""),
    ],
)
def test_what_a_person_can_do_is_said_where_something_has_to_happen(
    state: str, more: dict[str, Any], said: str
) -> None:
    assert what_now(piece(state, **more)) == said


def present(house: House) -> AgentsNow:
    """What a host would know of the house's agents."""
    return AgentsNow(house.clock.now(), Lives(house.since, house.lives))


def listed(house: House, **chosen: Any) -> dict[str, Any]:
    return house.store.read(
        lambda reader: work_view(Archive.on(reader, reader.group(GROUP)), "user", present(house), **chosen)
    )


@pytest.mark.spec("C2A-206")
def test_a_list_shows_open_work_oldest_first_then_what_ended_and_says_how_much_more_there_is(
    house: House,
) -> None:
    asked = [house.say(GROUP, "user", f"@ann please check disk {number}?") for number in range(3)]
    for one in asked[:2]:
        house.report("ann", one.id, "working")
    house.call("ann", "chat/disposition", eventId=asked[0].id, disposition="failed", error={"code": "x"})
    open_work = listed(house)
    assert [one["event_id"] for one in open_work["work"]] == [asked[1].id, asked[2].id]
    assert open_work["more"] == 0
    every = listed(house, ended=True)
    assert [one["event_id"] for one in every["work"]] == [asked[1].id, asked[2].id, asked[0].id]
    assert [one["open"] for one in every["work"]] == [True, True, False]
    first = listed(house, ended=True, limit=1)
    assert [one["event_id"] for one in first["work"]] == [asked[1].id]
    assert first["more"] == 2
    assert listed(house, agent="ben")["work"] == []
    assert [one["event_id"] for one in listed(house, state="working")["work"]] == [asked[1].id]


def test_a_line_shows_a_hundred_and_twenty_characters_of_its_question(house: House) -> None:
    short = "@ann please  check" + " " + "x" * 101 + "?"
    for text in (short, short + "!"):
        house.say(GROUP, "user", text)
    shown = [one["about"] for one in listed(house)["work"]]
    assert shown[0] == " ".join(short.split())
    assert len(shown[0]) == len(shown[1]) == 120
    assert shown[1].endswith("x…")


@pytest.mark.spec("C2A-206")
@pytest.mark.parametrize(
    ("state", "stood"), [("working", "was working on it"), ("queued", "had it in its queue")]
)
def test_whoever_is_gone_is_at_nothing_in_any_list(house: House, state: str, stood: str) -> None:
    asked = house.say(GROUP, "user", "@ann please check the disk?")
    house.report("ann", asked.id, state)
    house.call("ann", "chat.progress", eventId=asked.id, progress=1)
    if state == "queued":
        house.report("ann", asked.id, state, position=1)
    house.clock.move(7)
    house.lives["ann"] = structs.replace(house.lives["ann"], connected=False)
    assert listed(house, state=state)["work"] == []
    [shown] = listed(house, state="out_of_touch")["work"]
    heard = house.lives["ann"].heard_at
    assert shown["sentence"] == f"ann {stood} and has not been heard of since {rfc3339(heard)[11:19]} UTC"
    assert (shown["state"], shown["open"], "position" in shown) == ("out_of_touch", True, False)
    seen = house.store.read(
        lambda reader: decisions_view(Archive.on(reader, reader.group(GROUP)), asked.id, present(house))
    )
    assert seen is not None
    [decision] = [one for one in seen["decisions"] if one["agent"] == "ann"]
    assert (decision["state"], decision["work"]["sentence"]) == ("out_of_touch", shown["sentence"])
    assert "progress" not in decision
    assert seen["sentence"].startswith("ann owes a reply")
    house.lives["ann"] = structs.replace(house.lives["ann"], connected=True)
    assert [one["state"] for one in listed(house)["work"]] == [state]


@pytest.mark.spec("C2A-183", "C2A-206")
def test_progress_that_was_reported_before_the_question_moved_on_is_no_work(house: House) -> None:
    """Who cannot give signs of life (it calls tools and nothing else) is at work until its time is over."""
    asked = house.say(GROUP, "user", "@ann please check the disk?")
    house.call("ann", "chat.progress", eventId=asked.id, progress=1)
    for seconds, state in ((299, "working"), (2, "expired")):
        house.clock.move(seconds)
        house.tick()
        seen = house.store.read(
            lambda reader: decisions_view(Archive.on(reader, reader.group(GROUP)), asked.id, present(house))
        )
        assert seen is not None
        [decision] = [one for one in seen["decisions"] if one["agent"] == "ann"]
        assert (decision["state"], "progress" in decision) == (state, state == "working")
