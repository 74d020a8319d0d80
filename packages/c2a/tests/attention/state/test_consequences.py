"""What the house writes because an event landed, from values alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tacit.attention.state import records
from tacit.attention.state.consequences import Around, consequences, is_call, reroute
from tacit.attention.state.records import Notice, Written
from tacit.attention.state.sessions import SessionAgreement
from tacit.base.moment import Moment
from tacit.c2a.vocabulary import Mode
from tests.attention.world import ROSTER, START, Room, event

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tacit.ledger.envelope import Event

MINUTE = 60_000_000


class Scene(Room):
    """A room whose agents have harnesses, and in which what the house writes is folded at once."""

    def __init__(self) -> None:
        super().__init__()
        self.attend("lead", "worker", "tester")
        self.pushed: dict[str, Sequence[Moment]] = {}

    def attend(self, *names: str, modes: frozenset[Mode] = frozenset(Mode)) -> None:
        for name in names:
            self.attention.sessions[name] = SessionAgreement(name, "2026-06-24", modes)

    def lands(self, what: Event) -> list[Written]:
        before = len(self.stopped)
        decisions = self.put(what)
        around = Around(ROSTER, START, self.pushed)
        written = consequences(what, decisions, self.attention, around, stopped=len(self.stopped) > before)
        for one in written:
            if not isinstance(one, Notice):
                self.record(records.kind_of(one), **records.data_of(one))
        return written

    def tells(self, text: str, *, by: str = "user", **data: Any) -> list[Written]:
        self.count += 1
        return self.lands(
            event(text, by=by, event_id=f"m{self.count}", at_s=self.count, seq=self.count, **data)
        )

    def reacts(self, on: str, emoji: str, *, by: str = "lead", **more: Any) -> list[Written]:
        made = event(kind="chat.reaction", by=by, actor_id=by, emoji=emoji, **more)
        made.data["event_id"] = on
        return self.lands(made)


def endings(written: list[Written]) -> list[tuple[str, str | None, bool]]:
    return [
        (one.session, one.disposition, one.closes)
        for one in written
        if isinstance(one, records.DispositionRecord)
    ]


@pytest.mark.spec("C2A-027", "C2A-206")
def test_only_whom_a_harness_speaks_for_gets_a_delivery_and_it_names_its_rules() -> None:
    scene = Scene()
    del scene.attention.sessions["worker"]
    [made] = scene.tells("@lead and @worker, please look")
    assert isinstance(made, records.DeliveryRecord)
    assert (made.session, made.policy, made.mode, made.attempt) == ("lead", "must_respond", "buffered", 1)
    assert (made.deadline_ms, made.reason, made.intent) == (300_000, "direct_mention", "request")
    assert made.because["policy"] == "matrix.direct_mention"


@pytest.mark.spec("C2A-117", "C2A-121")
@pytest.mark.parametrize(
    ("text", "performative", "expected"),
    [
        ("@lead why is it slow?", None, [("lead", "responded", True)]),
        ("@lead why is it slow?", "DONE", [("lead", "responded", True)]),
        ("@lead why is it slow?", "ERR", [("lead", "responded", True)]),
        ("@lead why is it slow?", "INF", [("lead", "responded", True)]),
        ("@lead please restart it", "INF", []),
        ("@lead please restart it", "ACK", [("lead", "acknowledged", False)]),
        ("@lead please restart it", "PROG", []),
        ("@lead please restart it", "QRY", []),
    ],
)
def test_an_answer_ends_what_it_answers_as_far_as_it_says(
    text: str, performative: str | None, expected: list[tuple[str, str, bool]]
) -> None:
    scene = Scene()
    scene.tells(text)
    spoken = {"clowl": {"p": performative}} if performative else {}
    assert endings(scene.tells("It was the disk.", by="lead", reply_to="m1", **spoken)) == expected


@pytest.mark.spec("C2A-060", "C2A-119")
def test_a_reply_to_what_wanted_a_receipt_is_one() -> None:
    scene = Scene()
    scene.tells("the freeze starts at noon", to=["lead"], receipt_wanted=True)
    assert endings(scene.tells("Received.", by="lead", reply_to="m1", to=["user"])) == [
        ("lead", "acknowledged", True)
    ]


@pytest.mark.spec("C2A-117")
def test_another_agents_reply_and_a_persons_end_nothing() -> None:
    scene = Scene()
    scene.tells("@lead why is it slow?")
    assert endings(scene.tells("I think it is the disk", by="worker", reply_to="m1")) == []
    assert endings(scene.tells("or the network", reply_to="m1")) == []
    assert scene.attention.obligations.get("m1", "lead").owed  # type: ignore[union-attr]


@pytest.mark.spec("C2A-155")
def test_an_owners_reply_makes_its_claim_last_longer() -> None:
    scene = Scene()
    scene.tells("@lead why is it slow?")
    scene.record("x.c2a.claim", target="event:m1", session="lead", action="take", expires_at=START + MINUTE)
    renewed = [
        one
        for one in scene.tells("Looking.", by="lead", reply_to="m1")
        if isinstance(one, records.ClaimRecord)
    ]
    assert [(one.target, one.action, one.expires_at) for one in renewed] == [
        ("event:m1", "renew", START + 10 * MINUTE)
    ]


@pytest.mark.spec("CLOWL-092", "C2A-180")
def test_a_cancel_calls_back_what_its_author_asked_and_nobody_elses() -> None:
    scene = Scene()
    scene.tells("please restart it", by="worker", to=["lead"], clowl={"p": "REQ"})
    assert endings(scene.tells("no", by="tester", to=["lead"], reply_to="m1", clowl={"p": "CNCL"})) == []
    asked_back = scene.tells("no", by="worker", to=["lead"], reply_to="m1", clowl={"p": "CNCL"})
    assert endings(asked_back) == [("lead", "superseded", True)]


@pytest.mark.spec("CLOWL-092")
@pytest.mark.parametrize(("mode", "expected"), [("transfer", [("lead", "superseded", True)]), ("assist", [])])
def test_a_delegation_moves_the_obligation_only_when_it_transfers(
    mode: str, expected: list[tuple[str, str, bool]]
) -> None:
    scene = Scene()
    scene.tells("please restart it", to=["lead"])
    delegated = {"p": "DLGT", "body": {"d": {"delegation_mode": mode}}}
    written = scene.tells("your turn", by="lead", to=["worker"], reply_to="m1", clowl=delegated)
    assert [one for one in endings(written) if one[0] == "lead"] == expected


@pytest.mark.spec("C2A-211", "C2A-137")
def test_a_signal_ends_what_the_session_holds_and_taking_it_back_opens_it_again() -> None:
    scene = Scene()
    scene.tells("@lead please restart it")
    assert endings(scene.reacts("m1", "✅")) == [("lead", "responded", True)]
    assert endings(scene.reacts("m1", "✅")) == []
    assert endings(scene.reacts("m1", "✅", by="worker")) == []
    assert endings(scene.reacts("m1", "🎉")) == []
    assert endings(scene.reacts("m1", "✅", removed=True)) == [("lead", None, False)]
    assert scene.attention.obligations.get("m1", "lead").owed  # type: ignore[union-attr]


@pytest.mark.spec("C2A-185", "C2A-189")
def test_an_edit_calls_back_the_form_before_it() -> None:
    scene = Scene()
    scene.tells("@lead please restart it")
    written = scene.lands(
        event("@lead please stop it", kind="x.c2a.edit", event_id="m9", at_s=9, supersedes="m1")
    )
    assert endings(written) == [("lead", "superseded", True)]
    assert [one.event_id for one in written if isinstance(one, records.DeliveryRecord)] == ["m9"]


@pytest.mark.spec("C2A-190", "C2A-192")
def test_whoever_is_asked_to_go_is_gone_and_gives_back_its_claims_there() -> None:
    scene = Scene()
    scene.tells("the index is slow")
    scene.record("x.c2a.claim", target="thread:m1", session="lead", action="take", expires_at=START + MINUTE)
    written = scene.tells("@lead please leave this thread", reply_to="m1")
    gone = [one for one in written if isinstance(one, records.MembershipRecord)]
    assert [(one.session, one.action, one.thread, one.event_id) for one in gone] == [
        ("lead", "leave", "m1", "m3")
    ]
    assert [one.action for one in written if isinstance(one, records.ClaimRecord)] == ["release"]


@pytest.mark.spec("C2A-198", "C2A-199")
def test_an_exchange_that_is_stopped_ends_what_its_agents_owe_and_tells_a_person() -> None:
    scene = Scene()
    written: list[Written] = []
    for number in range(6):
        by, to = ("lead", "worker") if number % 2 == 0 else ("worker", "lead")
        written = scene.tells(f"and what about part {number}?", by=by, to=[to])
    assert ("worker", "superseded", True) in endings(written) or ("lead", "superseded", True) in endings(
        written
    )
    assert not any(isinstance(one, records.DeliveryRecord) for one in written)
    [audit] = [one for one in written if isinstance(one, records.AuditRecord)]
    assert (audit.what, audit.row, audit.details["agents"]) == ("loop_stopped", "C2A-198", ["lead", "worker"])
    [notice] = [one for one in written if isinstance(one, Notice)]
    assert notice.data["context"] == {"last_event_ids": audit.details["last"]}
    assert len(audit.details["last"]) == 2


@pytest.mark.spec("C2A-205")
def test_beyond_the_limit_only_obligations_are_delivered() -> None:
    scene = Scene()
    scene.pushed = {"lead": tuple(Moment(START - number) for number in range(60))}
    assert [
        one.session
        for one in scene.tells("who can look?", to=["@all"])
        if isinstance(one, records.DeliveryRecord)
    ] == [
        "tester",
        "worker",
    ]
    [made] = scene.tells("@lead please look")
    assert isinstance(made, records.DeliveryRecord)


@pytest.mark.spec("C2A-026", "C2A-176")
def test_what_a_harness_could_not_even_be_knocked_at_with_goes_to_another() -> None:
    scene = Scene()
    scene.tells("@worker please look")
    decision = scene.say("@worker please look again")["worker"]
    around = Around(ROSTER, START, {})
    [moved] = reroute("m1", decision, scene.attention, around, {"worker"}, declined=False)
    assert isinstance(moved, records.DeliveryRecord)
    assert (moved.session, moved.reason, moved.deadline_ms, moved.created_at) == (
        "lead",
        "escalation",
        300_000,
        START,
    )
    scene.attend("lead", modes=frozenset({Mode.NOTIFY}))
    [softer] = reroute("m1", decision, scene.attention, around, {"worker"}, declined=False)
    assert isinstance(softer, records.DeliveryRecord)
    assert softer.mode == "notify"
    scene.attention.sessions.clear()
    [told] = reroute("m1", decision, scene.attention, around, {"worker"}, declined=True)
    assert isinstance(told, Notice)
    assert told.data["related_event_id"] == "m1"


@pytest.mark.spec("C2A-123", "C2A-176", "C2A-177")
def test_after_the_lead_the_owner_of_the_thread_is_next_and_then_a_person() -> None:
    scene = Scene()
    scene.tells("I keep the notes here.", by="tester")
    scene.tells("@worker please look", reply_to="m1")
    decision = scene.say("@worker please look again", reply_to="m1")["worker"]
    asked = next(one.id for one in scene.log if one.data.get("text") == "@worker please look")
    around = Around(ROSTER, START, {})
    [moved] = reroute(asked, decision, scene.attention, around, {"lead", "worker"}, declined=False)
    assert isinstance(moved, records.DeliveryRecord)
    assert moved.session == "tester"
    had = {"lead", "worker", "tester"}
    [told] = reroute(asked, decision, scene.attention, around, had, declined=False)
    assert isinstance(told, Notice)


@pytest.mark.spec("C2A-068")
@pytest.mark.parametrize(
    ("but", "called"),
    [
        ({}, True),
        ({"policy": "may_respond"}, True),
        ({"event_id": "m2"}, False),
        ({"session": "worker"}, False),
        ({"mode": "immediate"}, False),
        ({"policy": "must_not_respond"}, False),
    ],
)
def test_only_what_puts_a_call_before_an_agent_that_it_names_is_read_in_full(
    but: dict[str, str], called: bool
) -> None:
    room = Scene()
    room.tells("@lead please deploy the fix")
    parsed = room.attention.past["m1"]
    said = {"event_id": "m1", "session": "lead", "policy": "must_respond", "mode": "buffered"}
    written = records.DeliveryRecord(**(said | but), directedness="to_me", reason="direct_mention")
    assert is_call(written, "m1", parsed) is called
    assert not is_call(records.AcceptedRecord(session="lead", event_ids=["m1"]), "m1", parsed)
