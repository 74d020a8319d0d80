"""A name that is nearly written reaches whoever is talking there, and nobody else."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit.attention import Roster, RosterAgent, RosterPerson
from tacit.attention.decide.explain import cues_in_words
from tacit.attention.read.calls import calls
from tacit.attention.read.near_names import nearly_called, nearly_inside
from tacit.attention.read.spelling import beginnings, off_by_one, plain
from tests.attention.world import Room, event

if TYPE_CHECKING:
    from tacit.attention.decide.decide import Decisions

ROSTER = Roster.of(
    [RosterAgent("claude"), RosterAgent("sonnet-2"), RosterAgent("deploy"), RosterAgent("{k}odd-")],
    [RosterPerson("usr:ann", ("Annabel",)), RosterPerson("usr:bo")],
)


class Talk(Room):
    """A room of these, in which each line says when it is said."""

    def __init__(self) -> None:
        super().__init__()
        self.roster = ROSTER

    def line(self, at_s: float, text: str, *, by: str = "usr:ann", **data: Any) -> Decisions:
        self.count += 1
        return self.put(event(text, by=by, event_id=f"m{self.count}", at_s=at_s, seq=self.count, **data))


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("claud: which port?", {"claude"}),
        ("cluade: which port?", {"claude"}),
        ("clauude, which port?", {"claude"}),
        ("Sonnet : which port?", {"sonnet-2"}),
        ("sonn: which port?", {"sonnet-2"}),
        ("annab: see above", {"usr:ann"}),
        ("cloud: it is down", set()),
        ("cl: which port?", set()),
        ("well, which port?", set()),
        ("deploy: it is down", set()),
        ("annotations: see above", set()),
        ("the claud: which port?", set()),
        ("@claud: which port?", set()),
        ("claud which port?", set()),
        ("请看: 8443", set()),
        ("", set()),
    ],
)
def test_a_word_like_a_name_is_a_call_only_before_a_mark(text: str, found: set[str]) -> None:
    assert nearly_called(text, ROSTER) == found


def test_without_a_mark_it_is_a_name_in_passing() -> None:
    assert nearly_inside("claud which port?", ROSTER) == {"claude"}
    assert nearly_inside("which port, claud", ROSTER) == set()
    assert nearly_inside("help me", ROSTER) == set()


def test_a_name_may_hold_any_sign() -> None:
    assert [one.name for one in calls("{k}odd-: which port?", ROSTER)] == ["{k}odd-"]


@pytest.mark.spec("C2A-072")
def test_whoever_is_talking_there_and_is_nearly_called_gets_it_and_nobody_else_does() -> None:
    room = Talk()
    room.line(0, "@claude which port does staging use?")
    room.line(10, "8443", by="claude", reply_to="m1")
    room.line(20, "@sonnet-2 is it up?")
    room.line(25, "it is", by="sonnet-2", reply_to="m3")
    asked = room.line(40, "claud: which certificate does it show?")
    assert (asked["claude"].policy, asked["claude"].mode) == ("must_respond", "buffered")
    assert asked["sonnet-2"].directedness == "to_other"
    assert asked.parsed is not None
    (told,) = asked.parsed.follows
    assert "it opens with a name like claude's" in cues_in_words("claude", "Ann", told)
    # It counts as spoken to claude: what follows goes on with that, and not with who spoke last.
    later = room.line(45, "the old one has expired").parsed
    assert later is not None
    assert later.follows[0].who == "claude"


@pytest.mark.spec("C2A-075")
def test_a_word_like_the_name_of_somebody_who_is_silent_calls_nobody() -> None:
    room = Talk()
    room.line(0, "good day", by="usr:bo")
    assert room.line(5, "claud: which port?")["claude"].mode == "tool_mailbox"


@pytest.mark.spec("C2A-072")
def test_who_had_no_word_with_its_author_gets_a_knock() -> None:
    room = Talk()
    room.line(0, "it is up", by="claude")
    for at_s in range(1, 9):
        room.line(at_s, "it rains", by="usr:bo")
    assert room.line(10, "which port?")["claude"].mode == "tool_mailbox"
    assert room.line(11, "claud: which port?")["claude"].mode == "notify"


@pytest.mark.spec("C2A-073")
def test_a_line_that_nearly_calls_a_person_is_theirs() -> None:
    room = Talk()
    room.line(0, "@claude which port does staging use?", by="usr:bo")
    room.line(10, "8443", by="claude", reply_to="m1")
    room.line(15, "I knew that")
    assert room.line(20, "Anabel: which one?", by="usr:bo")["claude"].mode == "tool_mailbox"


@pytest.mark.spec("C2A-083")
def test_whoever_nearly_calls_another_adds_nothing_to_a_question() -> None:
    room = Talk()
    room.line(0, "the port is 8443", by="sonnet-2")
    room.line(5, "@claude hey")
    assert room.line(10, "sonet: thanks for that port")["claude"].directedness == "to_other"


@given(
    name=st.text("abcdefg", min_size=5, max_size=12), at=st.integers(0, 11), letter=st.sampled_from("abcxyz")
)
def test_one_slip_in_a_name_is_always_found(name: str, at: int, letter: str) -> None:
    at %= len(name)
    slipped = (
        name[:at] + name[at + 1 :],
        name[:at] + letter + name[at:],
        name[:at] + letter + name[at + 1 :],
        name[:at] + name[at : at + 2][::-1] + name[at + 2 :],
    )
    for one in slipped:
        assert set(off_by_one(one)) & set(off_by_one(name))


def test_a_plain_name_has_no_signs_and_no_closing_digits() -> None:
    assert plain("  Sonnet_v-2 ") == "sonnetv"
    assert plain("1st-bot7") == "1stbot"
    assert list(beginnings("ada")) == ["ada"]
    assert list(beginnings("claude")) == ["cla", "clau", "claud", "claude"]
    assert list(beginnings("claudette")) == ["clau", "claud", "claude", "claudet", "claudett", "claudette"]
