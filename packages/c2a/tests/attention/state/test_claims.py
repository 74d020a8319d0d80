"""Claims: one owner, for a while; and a state machine of claims and dispositions against a small model."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from tacit.attention.settings import DEFAULTS
from tacit.attention.state import records
from tacit.attention.state.claims import (
    TRANSITIONS,
    Claims,
    Holding,
    assign_at,
    assignee,
    event_target,
    path_target,
    release,
    renewals,
    take,
    thread_target,
)
from tacit.attention.state.obligations import FINAL, Obligations, ReportedDisposition, change
from tacit.base.moment import Moment
from tacit.c2a.errors import Refusal
from tacit.c2a.vocabulary import Disposition
from tests.attention.world import START, Room

EVENT = event_target("e1")


SECOND = 1_000_000


def at(seconds: float) -> Moment:
    return Moment(START + int(seconds * SECOND))


def taken(claims: Claims, session: str, now: Moment, target: str = EVENT, **options: object) -> bool:
    found = take(claims, target, session, now, **options)  # type: ignore[arg-type]
    if isinstance(found, Refusal):
        return False
    claims.apply(found, now)
    return True


@pytest.mark.spec("C2A-154")
def test_of_twenty_simultaneous_claims_one_succeeds() -> None:
    claims = Claims()
    won = [name for name in (f"a{n}" for n in range(20)) if taken(claims, name, at(0))]
    assert won == ["a0"]
    refused = take(claims, EVENT, "a7", at(1))
    assert isinstance(refused, Refusal)
    assert (refused.code, refused.number, refused.details["owner"]) == ("claim_conflict", -32011, "a0")


@pytest.mark.spec("C2A-155")
@pytest.mark.parametrize(("sort", "limit"), [("event", "claims_per_session"), ("path", "leases_per_session")])
def test_a_session_holds_so_many_and_whoever_hoards_renews_nothing(sort: str, limit: str) -> None:
    few = replace(DEFAULTS, claims_per_session=4, leases_per_session=4)
    names = [f"{sort}:one{n}" for n in range(5)]
    claims = Claims()
    for target in names[:2]:
        assert taken(claims, "ann", at(0), target, settings=few)
    renewed = take(claims, names[0], "ann", at(60), settings=few)
    assert isinstance(renewed, records.ClaimRecord)
    assert renewed.expires_at == at(660), "half of what it may hold is no hoard"
    for target in names[2:4]:
        assert taken(claims, "ann", at(0), target, settings=few)
    refused = take(claims, names[4], "ann", at(0), settings=few)
    assert isinstance(refused, Refusal)
    assert (refused.code, refused.number, refused.details["limit"]) == ("rate_limited", -32020, limit)
    assert "release" in refused.remedy
    assert taken(claims, "ben", at(0), names[4], settings=few), "it is hers alone"
    other = "path:src" if sort == "event" else "event:e9"
    assert taken(claims, "ann", at(0), other, settings=few), "files and questions are counted apart"
    again = take(claims, names[0], "ann", at(60), settings=few)
    assert isinstance(again, records.ClaimRecord)
    assert (again.action, again.expires_at) == ("renew", at(600)), "said again, and no longer"
    assert renewals(claims, "ann", names, at(60), few) == []
    for target in names[1:3]:
        given = release(claims, target, "ann", at(60))
        assert isinstance(given, records.ClaimRecord)
        claims.apply(given, at(60))
    assert [one.expires_at for one in renewals(claims, "ann", names[:1], at(60), few)] == [at(660)]
    assert taken(claims, "ann", at(700), "event:late" if sort == "event" else "path:late", settings=few)


@pytest.mark.parametrize(
    ("held", "wanted", "is_free"),
    [
        ("src/app.py", "src/app.py", False),
        ("src", "src/app.py", False),
        ("src/app.py", "./src/", False),
        ("src/app.py", "src/app.pyi", True),
        ("src", "srcs/x.py", True),
        ("docs", "src", True),
    ],
)
def test_a_lease_covers_a_path_and_what_is_inside_it(held: str, wanted: str, is_free: bool) -> None:
    claims = Claims()
    mine, other = path_target(held), path_target(wanted)
    assert mine is not None
    assert other is not None
    assert taken(claims, "ada", at(0), mine)
    assert taken(claims, "bob", at(1), other) is is_free


@pytest.mark.parametrize("path", ["/etc/passwd", "~/x", "../x", "a/../../b", "", " ", ".", "a\nb"])
def test_what_is_not_named_from_the_projects_root_is_no_target(path: str) -> None:
    assert path_target(path) is None


def test_leases_end_with_the_turn_and_other_claims_do_not() -> None:
    claims = Claims()
    for session, target in (("ada", "path:a"), ("ada", EVENT), ("bob", "path:b")):
        assert taken(claims, session, at(0), target)
    claims.end_leases("ada", ())
    assert sorted(one.target for one in claims) == [EVENT, "path:b"]


def test_a_turn_that_ends_leaves_the_leases_of_another_of_the_same_session() -> None:
    claims = Claims()
    for target, during in (("path:a", "e1"), ("path:b", "e2"), ("path:c", None)):
        assert taken(claims, "ada", at(0), target, during=during)
    claims.end_leases("ada", ["e0", "e1"])
    assert [one.target for one in claims] == ["path:b"]
    claims.end_leases("ada", ["e2"])
    assert list(claims) == []


@pytest.mark.spec("C2A-155")
def test_a_claim_ends_and_the_event_is_offered_again() -> None:
    claims = Claims()
    taken(claims, "a", at(0))
    assert claims.holder(EVENT, None, at(599)) is not None
    assert claims.holder(EVENT, None, at(600)) is None
    ended = claims.ended(at(600))
    assert [(one.target, one.action) for one in ended] == [(EVENT, "expire")]
    claims.apply(ended[0], at(600))
    assert claims.ended(at(700)) == []
    assert taken(claims, "b", at(601))
    assert isinstance(take(claims, EVENT, "a", at(602)), Refusal)


@pytest.mark.spec("C2A-155")
def test_a_claim_is_renewed_by_its_owner_and_bounded() -> None:
    claims = Claims()
    taken(claims, "a", at(0))
    again = take(claims, EVENT, "a", at(500))
    assert isinstance(again, records.ClaimRecord)
    assert again.action == "renew"
    claims.apply(again, at(500))
    assert claims.holder(EVENT, None, at(1000)) is not None
    [spoke] = renewals(claims, "a", [EVENT], at(1050))
    claims.apply(spoke, at(1050))
    assert claims.holder(EVENT, None, at(1640)) is not None
    assert renewals(claims, "b", [EVENT], at(1050)) == []
    for ttl in (29_999, 3_600_001):
        assert isinstance(take(Claims(), EVENT, "a", at(0), ttl_ms=ttl), Refusal)


@pytest.mark.spec("C2A-154")
def test_a_thread_and_its_events_have_one_owner() -> None:
    claims = Claims()
    taken(claims, "a", at(0), thread_target("r"))
    assert not taken(claims, "b", at(1), event_target("e9"), thread="r")
    assert taken(claims, "a", at(1), event_target("e9"), thread="r")
    other = Claims()
    taken(other, "b", at(0), event_target("e9"), thread="r")
    assert not taken(other, "a", at(1), thread_target("r"))


@pytest.mark.spec("C2A-159")
def test_replayed_claim_records_change_nothing() -> None:
    claims = Claims()
    record = take(claims, EVENT, "a", at(0))
    assert isinstance(record, records.ClaimRecord)
    for _ in range(3):
        claims.apply(record, at(0))
    claims.apply(records.ClaimRecord(target=EVENT, session="b", action="release"), at(1))
    assert [held.session for held in claims] == ["a"]
    given_back = release(claims, EVENT, "a", at(2))
    assert isinstance(given_back, records.ClaimRecord)
    claims.apply(given_back, at(2))
    claims.apply(given_back, at(3))
    assert list(claims) == []
    assert release(claims, EVENT, "a", at(4)) is None
    assert {state for state, _ in TRANSITIONS} == set(Holding)


@pytest.mark.spec("C2A-222")
def test_an_unclaimed_role_mention_goes_to_the_owner_or_the_least_loaded() -> None:
    assert assignee(["b", "a", "c"], frozenset({"c"}), {"c": 9}) == "c"
    assert assignee(["b", "a", "c"], frozenset(), {"a": 1}) == "b"
    assert assignee(["b", "a"], frozenset(), {}) == "a"
    assert assignee([], frozenset(), {}) is None
    assert assign_at(at(0)) == at(30)
    found = take(Claims(), EVENT, "a", at(31), assigned=True)
    assert isinstance(found, records.ClaimRecord)
    assert found.action == "assign"


@pytest.mark.spec("C2A-214", "C2A-050")
def test_claiming_a_thread_makes_one_take_part_in_it_and_own_it() -> None:
    room = Room()
    room.say("the index is slow")
    room.record("x.c2a.claim", target="thread:m1", session="tester", action="take", expires_at=at(600))
    reply = room.say("the disk is slow too", reply_to="m1")
    assert reply["tester"].directedness == "to_my_role"
    room.record("x.c2a.claim", target="thread:m1", session="tester", action="expire")
    assert "m1" not in room.attention.thread_owner


class ClaimsAndDispositions(RuleBasedStateMachine):
    """Random sessions claim, release, react, answer and wait; a dictionary says what should be so."""

    sessions = st.sampled_from(["a", "b", "c"])
    events = st.sampled_from(["e1", "e2"])

    def __init__(self) -> None:
        super().__init__()
        self.now = at(0)
        self.claims = Claims()
        self.log: list[tuple[records.ClaimRecord, Moment]] = []
        self.owner: dict[str, tuple[str, Moment]] = {}
        self.obligations = Obligations()
        self.model: dict[tuple[str, str], Disposition | None] = {}
        for event_id in ("e1", "e2"):
            for session in ("a", "b", "c"):
                policy = "must_respond" if session == "a" else "may_respond"
                self.obligations.delivered(
                    records.DeliveryRecord(event_id=event_id, session=session, policy=policy, mode="notify", directedness="to_my_role", reason="role_mention"),
                    self.now,
                )  # fmt: skip
                self.model[event_id, session] = None

    def _live(self, target: str) -> str | None:
        held = self.owner.get(target)
        return held[0] if held is not None and held[1] > self.now else None

    def _fold(self, record: records.ClaimRecord) -> None:
        self.claims.apply(record, self.now)
        self.log.append((record, self.now))

    @rule(seconds=st.sampled_from([1, 29, 300, 601]))
    def wait(self, seconds: int) -> None:
        self.now = Moment(self.now + seconds * SECOND)

    @rule(on=events, session=sessions, ttl=st.sampled_from([30_000, 600_000]))
    def claim(self, on: str, session: str, ttl: int) -> None:
        found = take(self.claims, event_target(on), session, self.now, ttl_ms=ttl)
        if self._live(on) not in {None, session}:
            assert isinstance(found, Refusal)
            return
        assert isinstance(found, records.ClaimRecord)
        self.owner[on] = (session, Moment(self.now + ttl * 1000))
        self._fold(found)

    @rule(on=events, session=sessions)
    def give_back(self, on: str, session: str) -> None:
        found = release(self.claims, event_target(on), session, self.now)
        live = self._live(on)
        if live is None:
            assert found is None
        elif live != session:
            assert isinstance(found, Refusal)
        else:
            assert isinstance(found, records.ClaimRecord)
            del self.owner[on]
            self._fold(found)

    @rule()
    def sweep(self) -> None:
        for record in self.claims.ended(self.now):
            assert self._live(record.target.removeprefix("event:")) is None
            self._fold(record)

    @rule(on=events, session=sessions, disposition=st.sampled_from(list(Disposition)))
    def dispose(self, on: str, session: str, disposition: Disposition) -> None:
        obligation = self.obligations.get(on, session)
        assert obligation is not None
        found = change(obligation, ReportedDisposition(disposition, reason="later"), self.now)
        known = self.model[on, session]
        closed = known in FINAL and obligation.closed
        refused = isinstance(found, Refusal)
        if closed:
            assert refused == (disposition not in {known, Disposition.SUPERSEDED})
        else:
            never = session == "a" and disposition is Disposition.IGNORED
            undeferrable = session != "a" and disposition is Disposition.DEFERRED
            assert refused == (never or undeferrable)
        if isinstance(found, records.DispositionRecord):
            self.obligations.disposed(found)
            if not closed:
                self.model[on, session] = disposition

    @invariant()
    def one_owner_and_the_model_agrees(self) -> None:
        for target in ("e1", "e2"):
            held = self.claims.holder(event_target(target), None, self.now)
            assert (held.session if held else None) == self._live(target)

    @invariant()
    def replaying_the_log_gives_the_same_claims(self) -> None:
        again = Claims()
        for record, moment in self.log:
            again.apply(record, moment)
        assert sorted(held.target + held.session for held in again) == sorted(
            held.target + held.session for held in self.claims
        )

    @invariant()
    def dispositions_agree(self) -> None:
        for (event_id, session), expected in self.model.items():
            obligation = self.obligations.get(event_id, session)
            assert obligation is not None
            assert obligation.disposition is expected
            acknowledged = session == "a" and expected is Disposition.ACKNOWLEDGED
            assert obligation.closed == (expected in FINAL and not acknowledged)


TestClaimsAndDispositions = ClaimsAndDispositions.TestCase


TestClaimsAndDispositions.settings = settings(max_examples=60, stateful_step_count=30)


assert DEFAULTS.claim_ttl_ms == 600_000
