import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit.base.errors import Refused
from tacit.wire import address

GOOD = [
    "agent:jono@a2acp.io",
    "agent:a@b",
    "agent:a.b_c-d@relay.example:7434",
    "agent:0@localhost:1",
    "agent:" + "a" * 32 + "@x.example",
]
BAD = [
    "",
    "jono@a2acp.io",
    "agent:jono",
    "agent:@a2acp.io",
    "agent:jono@",
    "agent:Jono@a2acp.io",
    "agent:jono@A2ACP.io",
    "agent:-jono@a2acp.io",
    "agent:jono.@a2acp.io",
    "agent:" + "a" * 33 + "@x.example",
    "agent:jono@a2acp.io:0",
    "agent:jono@a2acp.io:70000",
    "agent:jono@-bad.example",
    "agent:jono@a..b",
    "agent:jo no@a2acp.io",
    "agent:jono@a2acp.io\n",
    "agent:j\u043eno@a2acp.io",  # a Cyrillic o
    "agent:\uff4aono@a2acp.io",  # a full-width j
    "agent:jono@a2a\u0441p.io",
    "AGENT:jono@a2acp.io",
    "agent:a@b@c",
]


@pytest.mark.spec("A2ACP-009", "A2ACP-010")
@pytest.mark.parametrize("text", GOOD)
def test_a_well_formed_address_comes_back_as_it_was(text):
    assert str(address.parse(text)) == text


@pytest.mark.spec("A2ACP-009", "A2ACP-010")
@pytest.mark.parametrize("text", BAD)
def test_any_other_shape_is_refused_as_bad_address(text):
    with pytest.raises(Refused) as refused:
        address.parse(text)
    assert refused.value.code == "bad_address"


@pytest.mark.spec("A2ACP-010")
def test_what_a_person_types_is_forgiven_capitals_and_a_missing_scheme():
    assert str(address.parse_typed(" Jono@A2ACP.io ")) == "agent:jono@a2acp.io"
    with pytest.raises(Refused):
        address.parse_typed("J\u043eno@a2acp.io")


@pytest.mark.spec("A2ACP-010")
@pytest.mark.parametrize(
    ("one", "other"), [("alice", "a1ice"), ("bob", "b0b"), ("mary", "rnary"), ("a.b", "ab"), ("will", "wi11")]
)
def test_look_alikes_share_a_skeleton(one, other):
    assert address.skeleton(one) == address.skeleton(other)


@given(st.text(max_size=80))
def test_any_text_is_either_an_address_or_refused(text):
    try:
        found = address.parse(text)
    except Refused:
        return
    assert str(found) == text
