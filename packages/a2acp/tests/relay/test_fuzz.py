"""A short, seeded stretch of `fuzz/relay.py`."""

import pytest

from fuzz import relay
from fuzz.agent_end import fuzz_agent


@pytest.mark.spec("A2ACP-003", "A2ACP-006", "A2ACP-215", "A2ACP-226", "A2ACP-249", "A2ACP-255")
def test_edited_and_invented_input_meets_documented_errors_and_nothing_untold_is_stored():
    relay.fuzz(examples=40, number=7)


@pytest.mark.spec("A2ACP-006", "A2ACP-025")
def test_any_bytes_are_a_frame_or_no_frame():
    relay.decode_alone(examples=400, number=7)


@pytest.mark.spec("A2ACP-006", "A2ACP-209", "A2ACP-226", "A2ACP-251")
def test_whatever_its_relay_says_an_agent_takes_the_next_honest_packet_and_loses_nothing_untold():
    fuzz_agent(examples=40, number=7)
