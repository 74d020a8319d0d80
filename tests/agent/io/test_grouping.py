"""How a wish with several is to be confirmed, as a caller says it."""

from __future__ import annotations

import pytest

from tacit.agent.io.grouping import options_of


@pytest.mark.spec("A2ACP-180", "A2ACP-183")
@pytest.mark.parametrize(
    ("given", "quorum", "in_order", "after"),
    [
        ({}, None, False, ""),
        ({"quorum": 3}, 3, False, ""),
        ({"in_order": True, "after": "agent:ben@relay.example"}, None, True, "agent:ben@relay.example"),
        ({"quorum": None, "in_order": None, "after": None}, None, False, ""),
    ],
)
def test_what_is_not_said_is_everybody_at_once(given, quorum, in_order, after):
    assert options_of(given) == {"quorum": quorum, "in_order": in_order, "after": after}
