"""What an agent can be asked is said once: each operation has one that carries it out, by the shape it reads."""

from __future__ import annotations

import pytest

from tacit.agent.shell.io import calls
from tacit.base.agent_operations import AGENT_OPERATIONS
from tacit.base.agent_requests import AgentAskHere, SetInSpace
from tacit.base.errors import Refused


def test_every_operation_is_carried_out_by_the_shape_that_it_declares():
    assert calls.HANDLERS.keys() == AGENT_OPERATIONS.keys()
    for name, operation in AGENT_OPERATIONS.items():
        assert calls.HANDLERS[name].shape == (operation.here or operation.params), name


def test_what_a_terminal_may_say_beside_is_all_that_other_doors_may_say_and_more():
    for operation in AGENT_OPERATIONS.values():
        if operation.here is not None:
            assert issubclass(operation.here, operation.params)


@pytest.mark.parametrize(
    ("command", "given", "why"),
    [
        ("thread", {}, "thread_id"),
        ("thread", {"thread_id": None}, "thread_id"),
        ("thread", {"thread_id": 3}, "Expected `str`"),
        ("change", {"thread_id": "t", "text": "x", "scope_change": "more"}, "scope_change"),
        ("fork", {"thread_id": "t", "texts": "dinner"}, "Expected `array`"),
        ("space", {"do": "dance"}, "dance"),
        ("space", {"do": "set", "space_id": "s", "field": "a"}, "value"),
        ("space", {}, "do"),
    ],
)
def test_what_is_missing_or_of_another_form_is_said(command, given, why):
    with pytest.raises(Refused, match=why) as refused:
        AGENT_OPERATIONS[command].request(given, here=True)
    assert refused.value.code == "bad_command"
    assert f"`{command}`" in refused.value.message


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
def test_what_is_not_said_of_a_wish_with_several_is_everybody_at_once(given, quorum, in_order, after):
    request = AGENT_OPERATIONS["ask"].request({"text": "dinner", **given}, here=True)
    assert (request.quorum, request.in_order, request.after) == (quorum, in_order, after)


def test_a_name_without_a_value_is_left_out_where_it_may_be_and_null_is_a_value_where_one_is_asked():
    request = AGENT_OPERATIONS["ask"].request({"text": "dinner", "quorum": None, "to": None}, here=True)
    assert request == AgentAskHere(text="dinner")
    given = {"do": "set", "space_id": "s", "field": "a", "value": None}
    assert AGENT_OPERATIONS["space"].request(given, here=True) == SetInSpace(
        space_id="s", field="a", value=None
    )
    assert (
        AGENT_OPERATIONS["memory_edit"].request({"who": "ben", "key": "k", "value": None}, here=True).value
        is None
    )


async def test_what_is_no_operation_is_refused():
    with pytest.raises(Refused, match="no such command"):
        await calls.call(None, "dance", {})
