import ast
import dataclasses

import pytest

from tacit.a2acp.packets.cleared import Cleared
from tacit.base.moment import Moment
from tools.places import modules

ALLOWED = ("a2acp/consent/", "a2acp/post/io/outbox.py")


def cleared(body):
    bases = (("dietary", "user_approved"),)
    return Cleared("agent:bob@b.example", "context", "thr_dinner", "pkt_a1b2c3d4", Moment(0), body, bases)


def test_what_was_judged_is_what_is_sent_whatever_its_maker_does_afterwards():
    body = {"context": {"dietary": ["none"]}}
    made = cleared(body)
    body["context"]["dietary"].append("gluten")
    assert made.body == {"context": {"dietary": ["none"]}}
    with pytest.raises(dataclasses.FrozenInstanceError):
        made.to = "agent:eve@b.example"


def imported(path):
    text = path.read_text()
    for node in ast.walk(ast.parse(text)) if "cleared" in text else ():
        if isinstance(node, ast.ImportFrom):
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)


def test_only_consent_and_the_outbox_can_name_it():
    for path, where in modules():
        if not where.startswith(ALLOWED):
            assert not any(name.startswith("tacit.a2acp.packets.cleared") for name in imported(path)), where
