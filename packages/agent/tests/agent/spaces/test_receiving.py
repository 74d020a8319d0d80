"""Packets of a space as one replica takes them: whose word counts, where each bound lies, and what its owner hears."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

from tacit.a2acp.consent.tiers import Policy
from tacit.agent.kernel import records
from tacit.agent.kernel.workspace import Peer
from tacit.agent.spaces import merge
from tacit.agent.spaces import receiving as space_receiving
from tacit.agent.spaces import records as said
from tacit.agent.spaces import sending as out
from tacit.agent.spaces.fields import LONGEST_TITLE, MOST_MEMBERS
from tacit.agent.spaces.fold import SpaceTables
from tacit.agent.spaces.levels import FULL_WRITE, READ_ALL, WRITE_OWN
from tacit.agent.spaces.state import ALL, HOUR, INVITED, JOINED, LEFT, Member
from tacit.base.moment import SECOND, Moment, rfc3339
from tacit.wire.version import SHARED_CONTEXT_SPACES
from tests.agent.scheduling.desk import Desk

SPACE = "spc_lisbon"
BEN, CARL, DORA, ZOE = (f"agent:{name}@relay.example" for name in ("ben", "carl", "dora", "zoe"))
AGE = 24 * HOUR


class Replica(Desk):
    """Anna's replica of a space that was created a day ago."""

    def __init__(self, *, creator: str = BEN, levels: dict[str, str] | None = None) -> None:
        super().__init__("anna", policy=Policy(always_share=("status",)))
        self.created = Moment(self.now - AGE)
        members = {self.me: FULL_WRITE, BEN: FULL_WRITE, CARL: FULL_WRITE} | (levels or {})
        known = {one: Member(level, 1, JOINED) for one, level in members.items()}
        self.decide(
            lambda ws: ws.say(
                said.SpaceBegan(
                    SPACE, creator or self.me, self.created, ws.keep(self.me, "Lisbon"), JOINED, known
                )
            )
        )

    def take(self, peer: str, kind: str = "space_update", **fields: Any) -> list[str]:
        """A packet arrives in the space's own thread; what it broke."""
        before = len(self.violations())
        space_id = fields.get("space_id", SPACE)
        body = {"space_id": SPACE, "changes": [], **fields} if kind == "space_update" else fields
        thread_id = out.thread_of(space_id, self.me, peer)
        self.receive(peer, thread_id, f"pkt_{len(self.log):08}", kind, body)
        return self.violations()[before:]

    def change(self, field: str = "place", value: Any = "Alfama", v: int = 1, **more: Any) -> dict[str, Any]:
        return {"field": field, "v": v, "at": rfc3339(self.now), "value": value} | more

    def write(self, field: str, value: Any) -> None:
        """Our own word, told to the others."""
        self.decide(lambda ws: out.keep_version(ws, SPACE, self._own(ws, field, value), ws.me))

    def _own(self, ws: Any, field: str, value: Any, v: int = 1) -> merge.Change:
        change = merge.Change(field, value, False, v, ws.now, "")
        return change._replace(mark=out.mark_of(ws, SPACE, change))

    def holds(self, field: str) -> Any:
        return out.value_of(self.workspace(), SPACE, field)

    def entry(self, number: int) -> Any:
        return self.value(out.entry_name(SPACE, number))

    @property
    def space(self) -> Any:
        return self.book.part(SpaceTables).spaces[SPACE]

    def told(self, peer: str) -> list[dict[str, Any]]:
        """What was sent to a member."""
        return [
            self.value(one.packet_id)
            for one in self.log
            if isinstance(one, said.SpaceSent) and one.peer == peer
        ]


# Whose word counts.


@pytest.mark.spec("A2ACP-201")
def test_a_packet_counts_only_in_the_spaces_own_thread_between_its_two() -> None:
    anna = Replica()
    for thread in (out.thread_of(SPACE, BEN, CARL), out.thread_of("spc_other", anna.me, BEN)):
        body = {"space_id": SPACE, "changes": [anna.change()]}
        anna.receive(BEN, thread, "pkt_00000001", "space_update", body)
    assert anna.violations() == ["space_thread"] * 2
    assert anna.holds("place") is None
    assert anna.take(BEN, changes=[anna.change()]) == []
    assert anna.holds("place") == "Alfama"


@pytest.mark.spec("A2ACP-203")
@pytest.mark.parametrize(
    "prepared",
    [
        lambda anna: said.SpaceMember(SPACE, BEN, Member(FULL_WRITE, 2, LEFT)),
        lambda anna: said.SpaceMember(SPACE, BEN, Member(FULL_WRITE, 2, INVITED)),
        lambda anna: said.SpaceJoined(SPACE, LEFT),
        lambda anna: said.SpaceJoined(SPACE, INVITED),
    ],
)
def test_whoever_is_not_in_it_or_writes_to_whom_is_not_says_nothing(prepared: Any) -> None:
    anna = Replica(creator=CARL)
    anna.decide(lambda ws: ws.say(prepared(anna)))
    assert anna.take(BEN, changes=[anna.change()]) == ["space_outsider"]
    assert anna.take(DORA, left=True) == ["space_outsider"]
    assert anna.take(BEN, space_id="spc_unknown") == ["space_outsider"]
    assert anna.holds("place") is None


@pytest.mark.spec("A2ACP-203")
def test_of_members_only_the_creators_word_counts_and_only_a_newer_one() -> None:
    anna = Replica()
    zoe = {"level": WRITE_OWN, "v": 1, "status": JOINED}
    assert anna.take(CARL, members={ZOE: zoe}) == ["space_members"]
    assert ZOE not in anna.space.members
    assert anna.take(BEN, members={ZOE: zoe, CARL: {"level": READ_ALL, "v": 2, "status": JOINED}}) == []
    assert anna.space.members[ZOE] == Member(WRITE_OWN, 1, JOINED, silent=True)
    assert anna.space.members[CARL].level == READ_ALL
    # The same number again, and one that nobody can count past, change nothing; nor does one of the creator's own.
    for number in (2, 1, space_receiving.MOST_VERSION + 1):
        anna.take(BEN, members={CARL: {"level": FULL_WRITE, "v": number, "status": LEFT}})
    anna.take(BEN, members={BEN: {"level": READ_ALL, "v": 9, "status": LEFT}})
    assert (anna.space.members[CARL].level, anna.space.members[CARL].status) == (READ_ALL, JOINED)
    assert (anna.space.members[BEN].level, anna.space.members[BEN].status) == (FULL_WRITE, JOINED)
    anna.take(BEN, members={CARL: {"level": READ_ALL, "v": space_receiving.MOST_VERSION, "status": JOINED}})
    assert anna.space.members[CARL].v == space_receiving.MOST_VERSION


@pytest.mark.spec("A2ACP-203")
@pytest.mark.parametrize(
    ("many", "broken"), [(4 * MOST_MEMBERS, []), (4 * MOST_MEMBERS + 1, ["space_members"])]
)
def test_a_list_of_members_has_an_end_and_so_has_what_is_known_of_them(many: int, broken: list[str]) -> None:
    anna = Replica()
    told = {
        f"agent:m{number:03}@relay.example": {"level": READ_ALL, "v": 1, "status": LEFT}
        for number in range(many)
    }
    assert anna.take(BEN, members=told) == broken
    assert len(anna.space.members) == (3 if broken else 2 * MOST_MEMBERS)


@pytest.mark.spec("A2ACP-203", "A2ACP-205")
@pytest.mark.parametrize("last", [BEN, ZOE])
def test_who_is_taken_out_is_out_and_hears_it_whoever_else_is_listed(last: str) -> None:
    anna = Replica(creator=last, levels={last: FULL_WRITE})
    gone = {"level": FULL_WRITE, "v": 2, "status": LEFT}
    stays = {"level": FULL_WRITE, "v": 1, "status": JOINED}
    listed = {anna.me: gone, last: stays, CARL: stays | {"v": 2}}
    assert anna.take(last, members=listed, changes=[anna.change()]) == []
    assert anna.space.status == LEFT
    assert anna.notices() == ["space_removed"]
    assert anna.book.part(SpaceTables).space_cells == {}
    assert anna.take(last, changes=[anna.change()]) == ["space_outsider"]


@pytest.mark.spec("A2ACP-203", "A2ACP-205")
def test_an_owner_hears_who_came_who_went_and_what_it_may_write_now() -> None:
    anna = Replica()
    anna.peers[DORA] = Peer(DORA, frozenset({SHARED_CONTEXT_SPACES}), heard=True)
    level = {"level": WRITE_OWN, "v": 2, "status": JOINED}
    anna.take(BEN, members={anna.me: level})
    anna.take(BEN, members={anna.me: level | {"v": 3}})
    anna.take(BEN, members={DORA: level})
    anna.take(BEN, members={DORA: level | {"v": 3}})
    anna.take(BEN, members={DORA: level | {"v": 4, "status": LEFT}})
    anna.take(BEN, members={DORA: level | {"v": 5, "status": LEFT}})
    found = [(one.code, one.subject) for one in anna.log if isinstance(one, records.Noticed)]
    assert found == [("space_level", WRITE_OWN), ("space_joined", DORA), ("space_left", DORA)]
    assert anna.take(CARL, left=True) == []
    assert (anna.space.members[CARL].status, anna.space.members[CARL].v) == (LEFT, 1)
    assert anna.notices()[-1] == "space_left"


@pytest.mark.spec("A2ACP-203")
def test_the_creators_own_word_that_a_member_left_is_newer_than_the_one_before() -> None:
    anna = Replica(creator="")
    anna.take(CARL, left=True)
    assert (anna.space.members[CARL].status, anna.space.members[CARL].v) == (LEFT, 2)


@pytest.mark.spec("A2ACP-204")
@pytest.mark.parametrize(
    ("known", "compared", "asked"),
    [
        (Peer(DORA, heard=True), True, False),
        (Peer(DORA, frozenset({SHARED_CONTEXT_SPACES})), True, False),
        (Peer(DORA), False, True),
        (Peer(DORA, heard=True, blocked=True), False, False),
    ],
)
def test_a_newcomer_whom_the_owner_knows_is_told_and_any_other_is_asked_about(
    known: Peer, *, compared: bool, asked: bool
) -> None:
    anna = Replica()
    anna.peers[DORA] = known
    anna.take(BEN, members={DORA: {"level": READ_ALL, "v": 1, "status": JOINED}})
    assert bool(anna.told(DORA)) == compared
    assert bool(anna.questions(out.MEMBER)) == asked
    assert anna.space.members[DORA].silent == (not compared)


# Joining.


def invitation(anna: Replica, **more: Any) -> dict[str, Any]:
    return {
        "space_id": "spc_porto", "title": "Porto", "creator": BEN, "participants": [BEN, CARL],
        "created": rfc3339(anna.now), "conflict_resolution": "last_write_wins_per_field",
    } | more  # fmt: skip


def invited(anna: Replica, peer: str = BEN, **more: Any) -> bool:
    """Whether an invitation is one."""
    about = invitation(anna, **more)
    thread = out.thread_of(about["space_id"], anna.me, peer)
    before = len(anna.questions(out.INVITE))
    anna.receive(
        peer, thread, f"pkt_{len(anna.log):08}", "space_invite", {"space": about, "write_level": WRITE_OWN}
    )
    return len(anna.questions(out.INVITE)) > before


MANY = [f"agent:m{number:03}@relay.example" for number in range(MOST_MEMBERS)]


@pytest.mark.spec("A2ACP-201")
@pytest.mark.parametrize(
    ("more", "taken"),
    [
        ({}, True),
        ({"creator": CARL}, False),
        ({"participants": [CARL]}, False),
        ({"participants": [BEN, *MANY[1:]]}, True),
        ({"participants": [BEN, *MANY]}, False),
        ({"title": "a" * LONGEST_TITLE}, True),
        ({"title": "a" * (LONGEST_TITLE + 1)}, False),
        ({"space_id": SPACE}, False),
    ],
)
def test_an_invitation_is_its_creators_and_within_its_bounds(more: dict[str, Any], *, taken: bool) -> None:
    anna = Replica()
    assert invited(anna, **more) == taken
    assert anna.violations() == ([] if taken else ["space_invite"])


@pytest.mark.spec("A2ACP-201", "A2ACP-202")
def test_an_invitation_is_a_question_that_says_who_is_there_and_what_one_could_write() -> None:
    anna = Replica()
    assert invited(anna)
    asked = anna.content(anna.question(out.INVITE))
    assert asked == {
        "space_id": "spc_porto", "space": "Porto", "members": [BEN, CARL], "level": WRITE_OWN,
        "choices": ["confirm", "refuse"],
    }  # fmt: skip
    space = anna.book.part(SpaceTables).spaces["spc_porto"]
    assert space.status == INVITED
    assert space.members == {
        BEN: Member(FULL_WRITE, 0, JOINED), CARL: Member(WRITE_OWN, 0, JOINED),
        anna.me: Member(WRITE_OWN, 0, INVITED),
    }  # fmt: skip


@pytest.mark.spec("A2ACP-201")
@pytest.mark.parametrize(("ahead", "taken"), [(merge.SKEW, True), (merge.SKEW + SECOND, False)])
def test_a_space_is_not_created_tomorrow(ahead: int, *, taken: bool) -> None:
    anna = Replica()
    assert invited(anna, created=rfc3339(Moment(anna.now + ahead))) == taken


@pytest.mark.spec("A2ACP-201")
def test_of_one_creator_five_invitations_wait_and_one_who_left_can_be_invited_again() -> None:
    anna = Replica()
    ids = [f"spc_number{number}" for number in range(space_receiving.MOST_INVITES + 1)]
    assert [invited(anna, space_id=one) for one in ids] == [True] * space_receiving.MOST_INVITES + [False]
    assert invited(anna, CARL, creator=CARL, space_id="spc_carls")
    anna.decide(lambda ws: ws.say(said.SpaceJoined(ids[0], LEFT)))
    assert not invited(anna, CARL, creator=CARL, space_id=ids[0]), "it is Ben's"
    assert invited(anna, space_id=ids[0])


@pytest.mark.spec("A2ACP-201")
@pytest.mark.parametrize(
    ("accepted", "status", "code"), [(True, JOINED, "space_joined"), (False, LEFT, "space_declined")]
)
def test_an_invited_member_answers_once_and_to_its_creator(status: str, code: str, *, accepted: bool) -> None:
    anna = Replica(creator="")
    body = {"space_id": SPACE, "accepted": accepted}
    assert anna.take(BEN, "space_invite_response", **body) == ["space_response"], "it is a member already"
    anna.decide(lambda ws: out.set_member(ws, SPACE, BEN, status=INVITED))
    assert anna.take(BEN, "space_invite_response", **body) == []
    assert (anna.space.members[BEN].status, anna.space.members[BEN].v) == (status, 2)
    assert anna.notices() == [code]
    lists = [one["members"] for one in anna.told(BEN) if "members" in one]
    versions = [one for one in anna.told(BEN) if "field_versions" in one]
    assert (len(lists), len(versions)) == ((1, 1) if accepted else (0, 0))
    assert all(one[BEN]["status"] == JOINED for one in lists)
    assert anna.take(DORA, "space_invite_response", **body) == ["space_response"]
    other = Replica()
    other.decide(lambda ws: out.set_member(ws, SPACE, CARL, status=INVITED))
    assert other.take(CARL, "space_invite_response", **body) == ["space_response"], "nobody asked it here"


@pytest.mark.spec("A2ACP-203")
def test_who_has_not_answered_yet_is_on_no_list() -> None:
    anna = Replica(creator="")
    anna.decide(lambda ws: ws.say(said.SpaceMember(SPACE, DORA, Member(READ_ALL, 1, INVITED))))
    anna.decide(lambda ws: out.set_member(ws, SPACE, CARL, status=LEFT, v=2))
    anna.decide(lambda ws: space_receiving.tell_members(ws, SPACE, CARL))
    assert anna.told(DORA) == []
    for peer in (BEN, CARL):
        (told,) = anna.told(peer)
        assert told["members"] == {
            anna.me: {"level": FULL_WRITE, "v": 1, "status": JOINED},
            BEN: {"level": FULL_WRITE, "v": 1, "status": JOINED},
            CARL: {"level": FULL_WRITE, "v": 2, "status": LEFT},
        }


# Changes.


@pytest.mark.spec("A2ACP-200")
@pytest.mark.parametrize(
    ("more", "taken"),
    [
        ({}, True),
        ({"field": " place"}, False),
        ({"field": "a//b"}, False),
        ({"value": ["a", "list"]}, False),
        ({"value": None}, False),
        ({"value": None, "deleted": True}, True),
        ({"value": "Alfama", "deleted": True}, False),
        ({"value": "x" * 8190}, True),
        ({"value": "x" * 8191}, False),
    ],
)
def test_one_bad_change_does_not_cost_its_packet_the_others(more: dict[str, Any], *, taken: bool) -> None:
    anna = Replica()
    changes = [anna.change() | more, anna.change("when", "May")]
    assert anna.take(BEN, changes=changes) == ([] if taken else ["space_field"])
    assert len(anna.book.part(SpaceTables).space_cells) == 1 + taken
    assert anna.holds("when") == "May"


@pytest.mark.spec("A2ACP-200")
@pytest.mark.parametrize(("length", "kept"), [(64, True), (65, False)])
def test_a_mark_is_kept_as_it_came_unless_it_is_longer_than_any(length: int, *, kept: bool) -> None:
    anna = Replica()
    anna.take(BEN, changes=[anna.change(mark="m" * length)])
    (cell,) = anna.book.part(SpaceTables).space_cells.values()
    assert cell.mark == ("m" * length if kept else "")


@pytest.mark.spec("A2ACP-199", "A2ACP-202")
def test_what_breaks_the_merges_rules_is_named_and_what_is_merely_old_is_not() -> None:
    anna = Replica(levels={CARL: WRITE_OWN})
    most = merge.highest_count(anna.created, anna.now)
    assert anna.take(BEN, changes=[anna.change(v=most + 1)]) == ["space_too_high"]
    late = rfc3339(Moment(anna.now + merge.SKEW + SECOND))
    assert anna.take(BEN, changes=[anna.change(at=late)]) == ["space_too_late"]
    assert anna.take(BEN, changes=[anna.change(v=2)]) == []
    assert anna.take(BEN, changes=[anna.change(v=1), anna.change(v=2)]) == []
    ahead = rfc3339(Moment(anna.now + SECOND))
    assert anna.take(BEN, changes=[anna.change(v=3, since=ahead)]) == ["space_field"]
    anna.decide(lambda ws: ws.say(said.SpaceMember(SPACE, CARL, Member(READ_ALL, 2, JOINED))))
    assert anna.take(CARL, changes=[anna.change(v=3)]) == ["space_level"]
    assert [(cell.v, cell.by) for cell in anna.book.part(SpaceTables).space_cells.values()] == [(2, BEN)]


@pytest.mark.spec("A2ACP-199", "A2ACP-202", "A2ACP-203")
def test_a_field_stays_its_first_authors_and_what_others_write_there_is_kept_and_does_not_stand() -> None:
    anna = Replica(levels={CARL: WRITE_OWN, DORA: WRITE_OWN})
    earlier = rfc3339(Moment(anna.now - HOUR))
    anna.take(CARL, changes=[anna.change(at=earlier)])
    assert anna.take(DORA, changes=[anna.change(v=9, value="Chiado")]) == []
    assert anna.holds("place") == "Alfama"
    assert anna.entry(2)["lost"]
    anna.take(BEN, changes=[anna.change(v=2, value="Baixa")])
    assert anna.holds("place") == "Baixa", "full write is for every field"
    anna.take(CARL, changes=[anna.change(v=3, value="Belem", since=earlier)])
    assert anna.holds("place") == "Belem", "it is Carl's field still"
    anna.restarted()


@pytest.mark.spec("A2ACP-199", "A2ACP-202")
def test_the_same_first_writes_in_any_order_end_in_one_replica_and_nobody_is_blamed() -> None:
    ends = set()
    for order in itertools.permutations((BEN, CARL, DORA)):
        anna = Replica(levels=dict.fromkeys((BEN, CARL, DORA), WRITE_OWN), creator="")
        for author in order:
            at = rfc3339(Moment(anna.created + HOUR * (1 + (BEN, CARL, DORA).index(author) * 2 % 3)))
            assert anna.take(author, changes=[anna.change(at=at, value=author)]) == []
        ends.add(anna.holds("place"))
    assert len(ends) == 1


@pytest.mark.spec("A2ACP-199", "A2ACP-200")
def test_a_replica_from_before_heals_when_it_hears_what_it_once_refused() -> None:
    """Such a replica held one version of a field, under a name of its path alone."""
    anna = Replica(levels=dict.fromkeys((BEN, CARL), WRITE_OWN))
    former = out._former_key(anna.workspace(), SPACE, "place")
    at = Moment(anna.now - HOUR)

    def held(ws: Any) -> None:
        ws.keep(CARL, {"field": "place", "value": "Alfama"}, name=out.value_name(SPACE, former))
        ws.say(said.SpaceWritten(SPACE, former, 3, at, CARL, CARL))

    anna.decide(held)
    assert anna.holds("place") == "Alfama"
    assert anna.take(BEN, changes=[anna.change(at=rfc3339(Moment(at - SECOND)), value="Baixa")]) == []
    assert anna.holds("place") == "Baixa", "Ben had it first, and every replica comes to say so"
    assert anna.notices() == []
    assert anna.take(CARL, changes=[anna.change(v=4, value="Belem", since=rfc3339(at))]) == []
    assert (SPACE, former) not in anna.book.part(SpaceTables).space_cells
    anna.restarted()


@pytest.mark.spec("A2ACP-200")
def test_of_two_that_crossed_the_other_stands_in_the_list_once_and_counts_toward_its_authors_hour() -> None:
    anna = Replica()
    anna.now = Moment(anna.now + SECOND)
    anna.write("place", "Belem")
    anna.write("when", "May")
    assert anna.space.changes == 2
    earlier = rfc3339(Moment(anna.now - SECOND))
    assert anna.take(BEN, changes=[anna.change(at=earlier)]) == []
    assert anna.holds("place") == "Belem"
    assert anna.space.changes == 3
    assert anna.entry(3) == {
        "n": 3,
        "field": "place",
        "v": 1,
        "at": earlier,
        "by": BEN,
        "value": "Alfama",
        "lost": True,
    }
    assert anna.entry(2)["field"] == "when"
    # An older one is no news: it knew of nothing that it crossed.
    anna.write("place", "Chiado")
    assert anna.take(CARL, changes=[anna.change(v=1, at=earlier, field="what")]) == []
    assert anna.take(CARL, changes=[anna.change(v=1, at=rfc3339(anna.created), field="what")]) == []
    assert anna.space.members[BEN].taken == 1
    assert anna.space.members[CARL].taken == 1


@pytest.mark.spec("A2ACP-200")
@pytest.mark.parametrize("crossing", [False, True])
def test_of_one_member_so_many_changes_an_hour_are_taken_and_no_more(
    monkeypatch: Any, *, crossing: bool
) -> None:
    monkeypatch.setattr(space_receiving, "MOST_IN_AN_HOUR", 3)
    anna = Replica()
    fields = [f"field{number}" for number in range(4)]
    earlier = rfc3339(Moment(anna.now - SECOND))
    for one in fields if crossing else ():
        anna.write(one, "ours")
    own = anna.space.changes
    changes = [anna.change(one, at=earlier) for one in fields]
    assert anna.take(BEN, changes=changes[:3]) == []
    assert anna.space.changes == own + 3
    assert anna.take(BEN, changes=changes[3:]) == ["space_flood"]
    assert anna.take(CARL, changes=[anna.change("another")]) == []
    assert anna.space.changes == own + 4
    anna.now = Moment((anna.now // HOUR + 1) * HOUR)
    assert anna.take(BEN, changes=changes[3:]) == []
    assert anna.space.changes == own + 5
    anna.restarted()


@pytest.mark.spec("A2ACP-200", "A2ACP-205")
def test_an_owner_hears_that_its_word_lost_to_one_that_crossed_it_or_came_before_it_was_told() -> None:
    anna = Replica()
    later = rfc3339(Moment(anna.now + SECOND))
    anna.write("crossed", "ours")
    anna.take(BEN, changes=[anna.change("crossed", at=later)])
    assert anna.notices() == ["space_lost"]
    assert anna.decide(lambda ws: out.write(ws, SPACE, [("status", "ours")])) == ""
    anna.take(BEN, changes=[anna.change("status", v=2)])
    assert anna.notices() == ["space_lost", "space_lost"]
    anna.write("known", "ours")
    anna.take(BEN, changes=[anna.change("known", v=2)])
    assert anna.notices()[2:] == ["space_changed"], "it replaces what the owner wrote, and knew of it"
    anna.take(BEN, changes=[anna.change("known", v=3)])
    assert len(anna.notices()) == 3, "what replaces another's word concerns nobody here"
    anna.decide(lambda ws: ws.say(said.SpaceSet(SPACE, notify=ALL)))
    anna.take(BEN, changes=[anna.change("known", v=4)])
    assert anna.notices()[3:] == ["space_changed"]


# Comparing.


@pytest.mark.spec("A2ACP-200", "A2ACP-201")
def test_our_own_words_come_back_by_their_marks_and_nobody_elses_do() -> None:
    anna = Replica()
    own = anna._own(anna.workspace(), "place", "Belem", 3)
    back = {"field": "place", "v": 3, "at": rfc3339(own.at), "value": "Belem", "mark": own.mark}
    for forged in (
        back | {"value": "Alfama"},
        back | {"v": 4},
        {**back, "mark": "0" * 32},
        back | {"field": " x"},
    ):
        assert anna.take(BEN, returned=[forged]) == ["space_returned"]
    assert anna.holds("place") is None
    assert anna.take(BEN, returned=[back]) == []
    (cell,) = anna.book.part(SpaceTables).space_cells.values()
    assert (cell.v, cell.by, anna.holds("place")) == (3, anna.me, "Belem")
    assert anna.notices() == [], "an owner knows what it wrote"
    changes = anna.space.changes
    assert anna.take(BEN, returned=[back]) == []
    assert anna.space.changes == changes, "it is there already"


@pytest.mark.spec("A2ACP-201")
def test_a_comparison_is_answered_once_with_what_is_missing_and_so_often_a_minute() -> None:
    anna = Replica()
    anna.write("status", "ours")
    anna.take(BEN, changes=[anna.change("status2", "his")])
    assert anna.take(BEN, field_versions={}) == []
    missing, compared = anna.told(BEN)
    assert [one["field"] for one in missing["changes"]] == ["status"]
    assert (set(compared["field_versions"]), compared["answer"]) == ({"status2"}, True)
    (cell,) = [one for one in anna.book.part(SpaceTables).space_cells.values() if one.by == anna.me]
    known = {"status": {"v": 1, "at": rfc3339(cell.at), "by": anna.me}}
    assert anna.take(BEN, field_versions=known, answer=True) == []
    assert len(anna.told(BEN)) == 2, "an answer is not answered, and nothing is missing"
    more = {"other": {"v": 2, "at": rfc3339(cell.at), "by": anna.me}}
    assert anna.take(BEN, field_versions=known | more, answer=True) == []
    assert anna.told(BEN)[2]["wanted"] == ["other"]
    assert anna.take(BEN, field_versions={" bad": known["status"]}) == ["space_versions"]
    for _ in range(2):
        assert anna.take(BEN, field_versions=known, answer=True) == []
    assert anna.take(BEN, field_versions={}) == ["space_comparisons"]
    assert anna.take(CARL, field_versions=known, answer=True) == []


@pytest.mark.spec("A2ACP-201")
def test_a_field_that_is_called_like_a_secret_is_asked_back_by_the_name_that_the_other_said() -> None:
    anna = Replica()
    anna.own["allergies"] = "peanuts"
    lost = {"peanuts": {"v": 2, "at": rfc3339(Moment(anna.now - HOUR)), "by": anna.me}}
    assert anna.take(BEN, field_versions=lost, answer=True) == []
    assert [one.get("wanted") for one in anna.told(BEN)] == [["peanuts"]]
