"""Ids of words that go to several."""

from types import SimpleNamespace

import pytest

from tacit.agent.engine.members import fanout_id
from tacit.agent.packets import packet


@pytest.mark.spec("A2ACP-174")
def test_an_id_of_one_word_to_several_differs_from_a_packets_in_its_first_letters_alone():
    drawn = bytes(range(17))
    made = fanout_id(SimpleNamespace(draw=lambda count: drawn[:count]))
    assert made == "fan_" + packet.identifier("pkt_", drawn).removeprefix("pkt_")
