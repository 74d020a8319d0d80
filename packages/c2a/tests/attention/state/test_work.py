"""Work as an object: its states, who holds a duty, and what an answer makes of the other copies."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit.attention.state import records
from tacit.attention.state.work import (
    RECONNECT,
    Lives,
    PieceOfWork,
    SessionLife,
    Works,
    WorkState,
    alive_at,
    copies,
    is_news,
    silent_since,
)
from tacit.base.moment import Moment
from tacit.c2a.errors import Refusal
from tests.attention.io.house import GROUP
from tests.attention.state.test_deadlines import at, obligation

if TYPE_CHECKING:
    from tests.attention.io.house import House

QUESTION = "@ann please compile the whole tree"


def owing(house: House, event_id: str) -> list[str]:
    return [one.session for one in house.attention.obligations.of_event(event_id) if one.owed]


def notices(house: House) -> list[dict[str, Any]]:
    return [one.data for one in house.events(GROUP, kinds=["system.notify"])]


def piece_of(house: House, event_id: str, session: str) -> PieceOfWork:
    found = house.attention.work.get(event_id, session)
    assert found is not None
    return found


def answer(house: House, session: str, event_id: str, text: str, key: str = "") -> Any:
    return house.call(
        session, "chat.send_message", target=f"thread:{event_id}", inReplyTo=event_id, content=text,
        visibility="thread", directedness="ambient", idempotencyKey=key or f"{session}:{event_id}:{text}",
    )  # fmt: skip


def working(house: House, session: str, event_id: str, seconds: int, *, every: int = 30) -> None:
    """A job of so many seconds whose harness gives a sign of life now and then."""
    house.report(session, event_id, "working", turn="t1")
    for _ in range(0, seconds, every):
        house.clock.move(every)
        house.report(session, event_id, "working", turn="t1")
        house.tick()


# -- a running turn holds its duty


def test_a_list_repeats_no_more_of_a_harness_than_a_person_reads(house: House) -> None:
    asked = house.say(GROUP, "user", QUESTION)
    error = {"code": "c" * 9_000, "message": "m" * 9_000}
    house.call("ann", "chat/disposition", eventId=asked.id, disposition="failed", error=error)
    piece = piece_of(house, asked.id, "ann")
    assert (piece.state, len(piece.message), len(piece.code)) == (WorkState.FAILED, 500, 100)
    [told] = notices(house)
    assert len(told["message"]) < 900
    assert len(told["context"]["code"]) == 100
    house.assert_rebuilds()


@pytest.mark.spec("C2A-173", "C2A-175", "C2A-176", "C2A-178")
def test_a_job_of_340_seconds_with_signs_of_life_stays_where_it_is(house: House) -> None:
    asked = house.say(GROUP, "user", QUESTION)
    working(house, "ann", asked.id, 340, every=20)
    assert owing(house, asked.id) == ["ann"]
    assert house.attention.obligations.get(asked.id, "ann").attempt == 1, (
        "nobody is reminded of what it is at"
    )
    answered = answer(house, "ann", asked.id, "It compiles.")
    assert not isinstance(answered, Refusal), answered
    house.clock.move(4_000)
    house.tick()
    assert notices(house) == []
    assert {one.data["session"] for one in house.events(GROUP, kinds=["x.c2a.delivery"])} == {"ann"}
    house.assert_rebuilds()


@pytest.mark.spec("C2A-175", "C2A-176", "C2A-178")
def test_silence_after_work_is_counted_from_the_last_sign_of_life(house: House) -> None:
    asked = house.say(GROUP, "user", QUESTION)
    working(house, "ann", asked.id, 200, every=20)
    attempts = []
    for _ in range(10):
        house.clock.move(30)
        house.tick()
        attempts.append((house.attention.obligations.get(asked.id, "ann").attempt, *owing(house, asked.id)))
    assert attempts[4:] == [(2, "ann"), (2, "ann"), (2, "ann"), (3, "ann"), (3, "ann"), (4, "ben")]
    assert attempts[:4] == [(1, "ann")] * 4
    left = piece_of(house, asked.id, "ann")
    assert (left.state, left.to) == (WorkState.HANDED_OVER, "ben")
    assert piece_of(house, asked.id, "ben").state is WorkState.QUEUED


@pytest.mark.parametrize("sign", ["progress", "signal"])
@pytest.mark.spec("C2A-173", "C2A-181")
def test_progress_and_the_working_signal_hold_the_duty_without_any_report(house: House, sign: str) -> None:
    asked = house.say(GROUP, "user", QUESTION)
    house.clock.move(140)
    if sign == "progress":
        house.call("ann", "chat.progress", eventId=asked.id, progress=1)
    else:
        house.call("ann", "chat.react", inReplyTo=asked.id, signal="working")
    house.clock.move(149)
    house.tick()
    assert house.attention.obligations.get(asked.id, "ann").attempt == 1
    assert piece_of(house, asked.id, "ann").state is WorkState.WORKING
    house.clock.move(152)
    house.tick()
    assert owing(house, asked.id) == ["ben"]


@pytest.mark.spec("C2A-173")
def test_what_waits_in_the_queue_of_a_session_that_is_heard_of_is_held_too(house: House) -> None:
    first, second = (house.say(GROUP, "user", f"@ann please check disk {n}") for n in (1, 2))
    house.report("ann", second.id, "queued", position=1)
    working(house, "ann", first.id, 400)
    assert owing(house, second.id) == ["ann"]
    assert piece_of(house, second.id, "ann").state is WorkState.QUEUED


@pytest.mark.spec("C2A-155")
def test_a_claim_lasts_as_long_as_its_holder_is_at_it(house: House) -> None:
    for name in ("ann", "ben"):
        house.do(GROUP, "user", "actor.update", actor_id=name, roles=["ops"])
    asked = house.say(GROUP, "user", "@ops who rebuilds the index?")
    house.call("ann", "chat.claim", eventId=asked.id)
    working(house, "ann", asked.id, 1_500, every=60)
    assert [held.session for held in house.attention.claims] == ["ann"]
    house.clock.move(601)
    house.tick()
    assert [held.session for held in house.attention.claims] == []
    assert piece_of(house, asked.id, "ann").state is WorkState.HANDED_OVER


@pytest.mark.spec("C2A-176")
def test_a_failure_without_another_try_holds_nothing_and_one_with_a_time_does(house: House) -> None:
    final, passing = (house.say(GROUP, "user", f"@ann please check disk {n}") for n in (1, 2))
    in_20_minutes = house.clock.now() + 1_200_000_000
    house.report("ann", final.id, "failed", code="crashed", message="It crashed.")
    house.report("ann", passing.id, "failed", code="down", message="No model.", retry_at=in_20_minutes)
    for _ in range(19):
        house.clock.move(60)
        house.hear("ann")
        house.tick()
    assert "ann" not in owing(house, final.id)
    assert owing(house, passing.id) == ["ann"]


# -- restart


@pytest.mark.spec("C2A-173", "C2A-176", "C2A-027")
def test_after_a_restart_nothing_moves_before_its_session_could_come_back(house: House) -> None:
    asked = house.say(GROUP, "user", QUESTION)
    plain = house.say(GROUP, "user", "@ben please check the disk")
    house.report("ann", asked.id, "working")
    house.clock.move(900)
    house.present.clear()
    house.restart()
    house.tick()
    assert (owing(house, asked.id), owing(house, plain.id), notices(house)) == (["ann"], ["ben"], [])
    house.clock.move(59)
    house.tick()
    assert (owing(house, asked.id), owing(house, plain.id)) == (["ann"], ["ben"])
    house.connect("ann")
    house.hear("ann")
    working(house, "ann", asked.id, 30)
    assert owing(house, plain.id) == ["ann"], "whoever does not come back loses what it had"
    working(house, "ann", asked.id, 600)
    assert owing(house, asked.id) == ["ann"]


@pytest.mark.spec("C2A-222")
def test_a_question_to_a_role_waits_for_those_who_may_take_it_after_a_restart(house: House) -> None:
    for name in ("ann", "ben"):
        house.do(GROUP, "user", "actor.update", actor_id=name, roles=["ops"])
    house.say(GROUP, "user", "@ops who looks at the disk?")
    house.present.clear()
    house.clock.move(300)
    house.restart()
    house.tick()
    assert notices(house) == []
    house.clock.move(61)
    house.tick()
    assert [one["kind"] for one in notices(house)] == ["attention.unanswered"]


@pytest.mark.spec("C2A-176")
def test_a_harness_that_comes_back_without_its_memory_holds_nothing_for_ever(house: House) -> None:
    asked = house.say(GROUP, "user", QUESTION)
    house.report("ann", asked.id, "queued")
    house.restart()
    house.hear("ann")  # it is connected, and speaks of other things alone
    for _ in range(11):
        house.clock.move(30)
        house.hear("ann")
        house.tick()
    assert owing(house, asked.id) == ["ben"]


# -- one answer for all copies


def look(house: House, session: str, root: str) -> None:
    """Read the thread, as a late answer wants it."""
    house.clock.move(1)
    house.record(records.AuditRecord(what="chat.read_thread", session=session, details={"thread": root}))


@pytest.mark.spec("C2A-176", "C2A-177", "C2A-179")
@pytest.mark.parametrize("who", ["ann", "ben"])
def test_whoever_answers_calls_the_other_copy_back(house: House, who: str) -> None:
    asked = house.say(GROUP, "user", QUESTION)
    house.clock.move(301)
    house.tick()
    assert owing(house, asked.id) == ["ben"]
    house.report("ann", asked.id, "working")
    if who == "ann":
        look(house, "ann", asked.id)
        assert not isinstance(answer(house, "ann", asked.id, "It compiles."), Refusal)
    else:
        assert not isinstance(answer(house, "ben", asked.id, "It compiles."), Refusal)
    other = "ben" if who == "ann" else "ann"
    ended = house.attention.obligations.get(asked.id, other)
    assert (ended.disposition, ended.closed, ended.note) == ("superseded", True, f"Answered by {who}")
    assert piece_of(house, asked.id, other).state is WorkState.CALLED_OFF
    assert piece_of(house, asked.id, who).state is WorkState.ANSWERED
    house.clock.move(4_000)
    house.tick()
    assert notices(house) == [], "nobody is told of what was answered"
    house.assert_rebuilds()


@pytest.mark.spec("C2A-177")
def test_two_agents_that_were_both_asked_owe_an_answer_each(house: House) -> None:
    asked = house.say(GROUP, "user", "@ann and @ben what do you think of the new index?")
    answer(house, "ann", asked.id, "It is faster.")
    assert owing(house, asked.id) == ["ben"]


@pytest.mark.spec("C2A-176")
def test_an_answer_takes_the_notice_to_a_person_back(house: House) -> None:
    house.present.discard("ben")
    asked = house.say(GROUP, "user", QUESTION)
    house.clock.move(301)
    house.tick()
    [told] = house.events(GROUP, kinds=["system.notify"])
    assert house.store.read(lambda reader: len(reader.inbox(reader.group(GROUP), "user", 9).notices)) == 1
    assert "ann" in told.data["message"]
    look(house, "ann", asked.id)
    assert not isinstance(answer(house, "ann", asked.id, "It compiles."), Refusal)
    [back] = house.events(GROUP, kinds=["x.c2a.withdrawal"])
    assert (back.data["notice_id"], back.data["by"]) == (told.id, "ann")
    inbox = house.store.read(lambda reader: reader.inbox(reader.group(GROUP), "user", 9))
    assert inbox.notices == []
    seen = house.store.read(
        lambda reader: reader.acks(reader.group(GROUP), reader.event(reader.group(GROUP), told.id, "user"))
    )
    assert seen["acknowledged"] == [], "nobody acknowledged it"
    house.assert_rebuilds()


@pytest.mark.spec("C2A-176", "C2A-177")
def test_a_person_who_answers_in_an_agents_stead_settles_it_once_it_had_to_move(house: House) -> None:
    house.do(GROUP, "user", "x.tacit.person.add", principal="usr:cleo", title="Cleo")
    asked = house.say(GROUP, "user", "@ann which port does the relay use?")
    house.say(GROUP, "usr:cleo", "the manual has a page on it", reply_to=asked.id)
    assert owing(house, asked.id) == ["ann"], "a remark does not take a question away from who is at it"
    house.clock.move(301)
    house.tick()
    house.say(GROUP, "usr:cleo", "and which host?", reply_to=asked.id)
    assert owing(house, asked.id) == ["ben"], "who asks back has not answered"
    house.say(GROUP, "usr:cleo", "it is port 7434", reply_to=asked.id)
    assert owing(house, asked.id) == []
    assert {one.state for one in house.attention.work.of_event(asked.id)} >= {WorkState.CALLED_OFF}


# -- the state of a piece of work


@pytest.mark.spec("C2A-206")
def test_a_piece_of_work_says_how_it_went(house: House) -> None:
    asked = house.say(GROUP, "user", QUESTION)
    states = [piece_of(house, asked.id, "ann").state]
    for state, more in (
        ("queued", {"position": 2}),
        ("working", {"turn": "t1"}),
        ("waiting", {"code": "permission", "message": "May I run make?"}),
        ("working", {"turn": "t1"}),
        ("failed", {"code": "overloaded", "message": "Try later.", "retry_at": house.clock.now() + 9}),
        ("working", {"turn": "t2"}),
    ):
        assert house.report("ann", asked.id, state, **more) == 1
        assert house.report("ann", asked.id, state, **more) == 0
        found = piece_of(house, asked.id, "ann")
        states.append(found.state)
        assert (found.code, found.message) == (more.get("code", ""), more.get("message", ""))
    usage = records.UsageRecord(
        session="ann", event_ids=[asked.id], tokens_in=5, tokens_out=2, cost=0.25, currency="USD"
    )
    house.record(usage)
    answer(house, "ann", asked.id, "It compiles.")
    ended = piece_of(house, asked.id, "ann")
    assert states == ["queued", "queued", "working", "waiting", "working", "failed", "working"]
    assert (ended.state, ended.attempt, ended.tokens, ended.cost, ended.currency) == (
        "answered",
        2,
        7,
        0.25,
        "USD",
    )
    assert ended.ended is not None
    assert list(house.attention.work) == []
    assert house.attention.work.ended_of("ann") == [ended]
    assert house.report("ann", asked.id, "working") == 0, "what is over is no work"
    house.assert_rebuilds()


@pytest.mark.spec("C2A-203")
def test_nobody_works_on_what_it_never_got(house: House) -> None:
    asked = house.say(GROUP, "user", "@ann what is my salary?", to=["ann"], conversation={"kind": "dm"})
    assert house.report("ben", asked.id, "working") == 0
    assert house.attention.work.get(asked.id, "ben") is None


@pytest.mark.spec("C2A-176")
def test_a_failure_names_the_agent_what_happened_and_what_now(house: House) -> None:
    asked = house.say(GROUP, "user", QUESTION)
    error = {"code": "no_login", "message": "The program is not logged in."}
    house.call("ann", "chat/disposition", eventId=asked.id, disposition="failed", error=error)
    [told] = notices(house)
    assert told["title"].startswith("ann could not work")
    assert told["message"].startswith(
        "The program is not logged in (no_login). Ask again, give it to another"
    )
    assert told["context"] == {"agent": "ann", "code": "no_login"}
    ended = piece_of(house, asked.id, "ann")
    assert (ended.state, ended.code, ended.message, ended.to) == (
        "failed", "no_login", "The program is not logged in.", "user",
    )  # fmt: skip


def test_work_that_a_person_gives_to_another_is_handed_over(house: House) -> None:
    asked = house.say(GROUP, "user", QUESTION)
    house.report("ann", asked.id, "working")
    house.steer("reassign", event_id=asked.id, to="ben")
    left = piece_of(house, asked.id, "ann")
    assert (left.state, left.to) == ("handed_over", "ben")
    house.steer("cancel", event_id=asked.id)
    assert piece_of(house, asked.id, "ben").state == "called_off"


@pytest.mark.spec("C2A-122")
def test_deferred_work_comes_back(house: House) -> None:
    asked = house.say(GROUP, "user", QUESTION)
    house.call("ann", "chat.defer", eventId=asked.id, reason="lunch", eta="in 10 minutes")
    waits = piece_of(house, asked.id, "ann")
    assert (waits.state, waits.message) == ("queued", "lunch")
    assert waits.retry_at == house.clock.now() + 600_000_000
    house.clock.move(601)
    house.tick()
    assert piece_of(house, asked.id, "ann").retry_at is None


@pytest.mark.parametrize("deferred_first", [True, False])
def test_the_time_that_its_agent_said_stands_whichever_record_comes_first(
    house: House, *, deferred_first: bool
) -> None:
    asked = house.say(GROUP, "user", QUESTION)
    tomorrow = house.clock.now() + 86_400_000_000

    def told() -> None:
        house.report("ann", asked.id, "waiting", code="over_budget", message="Tomorrow.", retry_at=tomorrow)

    if not deferred_first:
        told()
    house.call("ann", "chat.defer", eventId=asked.id, reason="the budget is used up", eta="PT24H")
    assert house.attention.obligations.of_event(asked.id)[0].resurfaces_at < tomorrow
    if deferred_first:
        told()
    assert piece_of(house, asked.id, "ann").retry_at == tomorrow


# -- values


STATES = st.sampled_from(["queued", "working", "waiting", "failed", "called_off"])
INPUTS = st.one_of(
    st.tuples(st.just("deliver"), st.sampled_from(["must_respond", "may_respond"])),
    st.tuples(st.just("claim"), st.sampled_from(["take", "release", "expire", "renew"])),
    st.tuples(
        st.just("dispose"),
        st.sampled_from(["responded", "failed", "superseded", "ignored", "deferred", "claimed", None]),
    ),
    st.tuples(st.just("report"), STATES),
    st.tuples(st.just("progress"), st.just("")),
    st.tuples(st.just("usage"), st.just("")),
)


@given(st.lists(INPUTS, max_size=30), st.booleans())
def test_any_history_leaves_one_state_that_is_open_or_ended(
    history: list[tuple[str, Any]], owed: bool
) -> None:
    works = Works()
    for step, (what, which) in enumerate(history):
        now = at(step)
        match what:
            case "deliver":
                record = records.DeliveryRecord(
                    event_id="e",
                    session="s",
                    policy=which,
                    mode="buffered",
                    directedness="to_me",
                    reason="mention",
                )
                works.delivered(record, now, "other" if which == "may_respond" else "")
            case "claim":
                works.claimed(
                    records.ClaimRecord(target="event:e", session="s", action=which), now, owed=owed
                )
            case "dispose":
                closes = which in {"responded", "failed", "superseded", "ignored"}
                works.disposed(
                    records.DispositionRecord(event_id="e", session="s", disposition=which, closes=closes),
                    now,
                )
            case "report":
                works.reported(
                    records.WorkRecord(event_id="e", session="s", state=which, turn=f"t{step % 3}"), now
                )
            case "progress":
                works.progressed("e", "s", now)
            case _:
                works.used(records.UsageRecord(session="s", event_ids=["e"], tokens_in=1))
        piece = works.get("e", "s")
        if piece is None:
            assert works.of_event("e") == []
            continue
        over = {WorkState.ANSWERED, WorkState.HANDED_OVER, WorkState.CALLED_OFF}
        assert piece.is_open == (
            piece.state not in over and not (piece.state is WorkState.FAILED and piece.ended)
        )
        assert [piece] == works.of_event("e")
        assert list(works) == ([piece] if piece.is_open else [])
        assert works.ended_of("s") == ([] if piece.is_open else [piece])
        assert piece.since <= piece.updated <= now
        assert piece.state is not WorkState.WORKING or piece.attempt >= 1


def test_a_sign_of_life_counts_for_what_was_reported_on_this_connection() -> None:
    piece = PieceOfWork("e", "s", WorkState.WORKING, at(0), at(0), reported=True)
    life = SessionLife("s", at(10), at(90), frozenset({"e"}))
    assert alive_at(piece, Lives(sessions={"s": life})) == at(90)
    forgetful = SessionLife("s", at(10), at(90))
    assert alive_at(piece, Lives(sessions={"s": forgetful})) == at(10)
    assert alive_at(piece, Lives(since=at(50))) == at(50), "a hub that was down could not hear"
    assert alive_at(piece, Lives()) == 0
    assert alive_at(None, Lives(sessions={"s": life})) == 0


def test_a_report_that_was_written_on_this_connection_counts_until_the_host_hears_it_again() -> None:
    """What is brought again the host forgets; what another node heard comes here with its next word."""
    life = SessionLife("s", at(10), at(90))
    written = PieceOfWork("e", "s", WorkState.WORKING, at(0), at(20), reported=True)
    assert alive_at(written, Lives(sessions={"s": life})) == at(90)
    before_it_came_back = replace(written, updated=at(10))
    assert alive_at(before_it_came_back, Lives(sessions={"s": life})) == at(10)


HEARD = frozenset({"e"})


@pytest.mark.spec("C2A-206")
@pytest.mark.parametrize(
    ("life", "since", "deadline", "silent"),
    [
        pytest.param(SessionLife("s", at(0), at(40), HEARD), 0, 12, None, id="in touch"),
        pytest.param(SessionLife("s", at(0), at(34), HEARD), 0, 12, None, id="a sign is due now"),
        pytest.param(SessionLife("s", at(0), at(33), HEARD), 0, 12, 33, id="a sign is overdue"),
        pytest.param(SessionLife("s", at(0), at(20), HEARD), 0, 300, None, id="seldom is enough"),
        pytest.param(SessionLife("s", at(0), at(39), HEARD, connected=False), 0, 300, 39, id="gone"),
        pytest.param(SessionLife("s", at(37), at(39)), 0, 12, None, id="back a moment ago"),
        pytest.param(SessionLife("s", at(30), at(39)), 0, 12, 30, id="back and speaks of other things"),
        pytest.param(None, 30, 300, 30, id="not back since the hub began"),
        pytest.param(None, 0, 300, None, id="it reports without a connection"),
        pytest.param(None, 0, 60, 5, id="without a connection it fell silent"),
    ],
)
@pytest.mark.parametrize("state", ["queued", "working"])
def test_whoever_is_gone_or_owes_a_sign_of_life_is_out_of_touch(
    life: SessionLife | None, since: float, deadline: int, silent: float | None, state: str
) -> None:
    piece = PieceOfWork("e", "s", WorkState(state), at(0), at(5), reported=True)
    lives = Lives(at(since) if since else Moment(0), {"s": life} if life is not None else {})
    expected = None if silent is None else at(silent)
    assert silent_since(piece, lives, deadline * 1_000, at(40)) == expected


@pytest.mark.parametrize(
    "piece",
    [
        PieceOfWork("e", "s", WorkState.WAITING, at(0), at(5), reported=True),
        PieceOfWork("e", "s", WorkState.FAILED, at(0), at(5), reported=True, retry_at=at(99)),
        PieceOfWork("e", "s", WorkState.QUEUED, at(0), at(5), reported=True, retry_at=at(99)),
        PieceOfWork("e", "s", WorkState.ANSWERED, at(0), at(5), reported=True, ended=at(5)),
        PieceOfWork("e", "s", WorkState.WORKING, at(0), at(5)),
    ],
    ids=["waits for a person", "failed for now", "put off", "over", "never reported by a harness"],
)
def test_of_what_does_not_go_on_by_itself_no_sign_of_life_is_due(piece: PieceOfWork) -> None:
    gone = SessionLife("s", at(0), at(6), HEARD, connected=False)
    assert silent_since(piece, Lives(sessions={"s": gone}), 300_000, at(4_000)) is None


def test_only_what_is_older_than_the_hubs_start_is_excused() -> None:
    lives = Lives(since=at(100), sessions={"here": SessionLife("here", at(101), at(101))})
    assert lives.excused_until("gone", at(50)) == at(100) + RECONNECT
    assert lives.excused_until("gone", at(100)) == 0
    assert lives.excused_until("here", at(50)) == 0


def test_a_place_in_the_queue_alone_is_no_news() -> None:
    piece = PieceOfWork("e", "s", WorkState.QUEUED, at(0), at(0), position=3, reported=True)
    told = records.WorkRecord(event_id="e", session="s", state="queued", position=2)
    assert not is_news(piece, told)
    assert is_news(None, told)
    assert is_news(piece, records.WorkRecord(event_id="e", session="s", state="working"))


def test_copies_are_those_that_a_duty_moved_through() -> None:
    chain = [
        obligation(),
        obligation(instead_of="worker"),
        obligation(instead_of="lead"),
        obligation(),
    ]
    named = [
        type(one)(**{**{name: getattr(one, name) for name in one.__slots__}, "session": session})
        for one, session in zip(chain, ("worker", "lead", "tester", "ben"), strict=True)
    ]
    assert [one.session for one in copies(named, "tester")] == ["worker", "lead"]
    assert copies(named, "ben") == []
    assert Moment(0) == named[0].alive_at
