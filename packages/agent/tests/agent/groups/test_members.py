"""Ids of words that go to several, and whom such a word names."""

from types import SimpleNamespace

import pytest

from tacit.a2acp.packets import packet
from tacit.agent.features import FOLD
from tacit.agent.groups.fold import GONE, Group, GroupTables
from tacit.agent.groups.members import fanout_id, headed
from tacit.agent.kernel.state import LEG, THEM, US


@pytest.mark.spec("A2ACP-174")
def test_an_id_of_one_word_to_several_differs_from_a_packets_in_its_first_letters_alone():
    drawn = bytes(range(17))
    made = fanout_id(SimpleNamespace(draw=lambda count: drawn[:count]))
    assert made == "fan_" + packet.identifier("pkt_", drawn).removeprefix("pkt_")


@pytest.mark.spec("A2ACP-174")
@pytest.mark.parametrize(
    ("peer", "sides", "named"),
    [
        ("ben", [], ["anna", "ben", "carl"]),
        ("ben", [THEM], ["anna", "ben", "carl"]),
        ("ben", [US], ["anna", "ben"]),
        ("ben", [US, THEM], ["anna", "ben"]),
        ("carl", [US], ["anna", "ben", "carl"]),
    ],
)
def test_the_first_word_names_all_who_began_and_later_ones_who_is_there_and_who_is_told(peer, sides, named):
    members = {"anna": "", "ben": "", "carl": min(GONE)}
    ws = SimpleNamespace(book=FOLD.book())
    ws.book.part(GroupTables).groups["g"] = Group("g", "anna", members)
    packets = [SimpleNamespace(side=side) for side in sides]
    thread = SimpleNamespace(role=LEG, group="g", peer=peer, packets=packets)
    said = headed(ws, thread, {"text": "x"}, "fan_1")
    assert said == {"text": "x", "fanout_id": "fan_1", "participants": named}
