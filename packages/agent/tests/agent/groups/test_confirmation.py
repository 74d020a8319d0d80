"""The table of confirmations: all, a quorum, one after the other."""

from __future__ import annotations

import msgspec
import pytest

from tacit.a2acp.packets import bodies
from tacit.agent.groups import confirmation
from tacit.agent.groups.confirmation import ALL, MET, OPEN, QUORUM, SEQUENTIAL, UNREACHABLE, Confirmation
from tacit.base.errors import Refused

FIVE = ("a", "b", "c", "d", "e")
ROWS = [
    (Confirmation(ALL), "abcd", "", OPEN, "e"),
    (Confirmation(ALL), "abcde", "", MET, ""),
    (Confirmation(ALL), "abcd", "e", UNREACHABLE, ""),
    (Confirmation(QUORUM, 3), "ab", "", OPEN, "cde"),
    (Confirmation(QUORUM, 3), "abc", "", MET, "de"),
    (Confirmation(QUORUM, 3), "abc", "de", MET, ""),
    (Confirmation(QUORUM, 3), "ab", "de", OPEN, "c"),
    (Confirmation(QUORUM, 3), "ab", "cde", UNREACHABLE, ""),
    (Confirmation(QUORUM, 3), "abxyz", "", OPEN, "cde"),
    (Confirmation(QUORUM, 3), "aab", "", OPEN, "cde"),
    (Confirmation(QUORUM, 3), "abc", "a", OPEN, "de"),
    (Confirmation(SEQUENTIAL, order=("b", "a", "c", "d", "e")), "", "", OPEN, "b"),
    (Confirmation(SEQUENTIAL, order=("b", "a", "c", "d", "e")), "b", "", OPEN, "a"),
    (Confirmation(SEQUENTIAL, order=("b", "a", "c", "d", "e")), "b", "a", UNREACHABLE, ""),
    (Confirmation(SEQUENTIAL, order=("b", "a", "c", "d", "e")), "abcde", "", MET, ""),
]


@pytest.mark.spec("A2ACP-151")
@pytest.mark.spec("A2ACP-152")
@pytest.mark.spec("A2ACP-153")
@pytest.mark.parametrize(("way", "yes", "no", "outcome", "asked"), ROWS)
def test_what_follows_from_who_has_said_what(way, yes, no, outcome, asked):
    found = confirmation.standing(way, FIVE, tuple(yes), tuple(no))
    assert (found.outcome, "".join(found.asked)) == (outcome, asked)


@pytest.mark.spec("A2ACP-153")
@pytest.mark.parametrize("quorum", [0, -1, 6, 2.5, float("nan"), "3", True, [3]])
def test_a_quorum_that_cannot_be_is_refused_to_its_owner(quorum):
    with pytest.raises(Refused) as refused:
        confirmation.chosen(FIVE, quorum=quorum)
    assert refused.value.code == "bad_confirmation"


@pytest.mark.spec("A2ACP-153")
def test_a_quorum_and_an_order_at_once_are_refused():
    with pytest.raises(Refused):
        confirmation.chosen(FIVE, quorum=2, in_order=True)


@pytest.mark.spec("A2ACP-153")
@pytest.mark.parametrize(
    "written",
    [
        None,
        {},
        {"mode": "most"},
        {"mode": "quorum"},
        {"mode": "quorum", "quorum": 0},
        {"mode": "quorum", "quorum": 6},
        {"mode": "sequential"},
        {"mode": "sequential", "order": ["a", "b", "c", "d"]},
        {"mode": "sequential", "order": ["a", "b", "c", "d", "d"]},
        {"mode": "sequential", "order": ["a", "b", "c", "d", "x"]},
    ],
)
def test_a_packets_mode_that_cannot_be_means_all(written):
    said = msgspec.convert(written, bodies.PacketConfirmation) if written else None
    assert confirmation.read(said, FIVE) == Confirmation(ALL)


@pytest.mark.spec("A2ACP-153")
@pytest.mark.parametrize(
    "way", [Confirmation(ALL), Confirmation(QUORUM, 3), Confirmation(SEQUENTIAL, order=FIVE[::-1])]
)
def test_what_is_written_is_read_back(way):
    assert confirmation.read(confirmation.written(way), FIVE) == way
