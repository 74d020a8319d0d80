"""What the room asks of post and agent: answered where they are installed, said where they are not."""

from __future__ import annotations

import importlib
import sys

import pytest

from tacit.base.errors import Refused
from tacit.base.io.system import SystemEntropy
from tacit.hub import beside

ASKED = {
    "tacit.seal.nats_login": lambda folder: beside.login_in("user:password"),
    "tacit.seal.sealed_stream": lambda folder: beside.sealer("a long passphrase", SystemEntropy()),
    "tacit.a2acp.post.io.schema": beside.agent_in,
    "tacit.agent.shell.mcp.door": lambda folder: beside.agent_surface(),
}


@pytest.mark.parametrize("module", ASKED)
def test_what_is_not_installed_is_refused_with_a_sentence(module, tmp_path, monkeypatch):
    parent, _, name = module.rpartition(".")
    monkeypatch.delattr(importlib.import_module(parent), name, raising=False)
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(Refused) as refused:
        ASKED[module](tmp_path)
    assert refused.value.code == "not_installed"


def test_a_folder_without_an_agent_has_none(tmp_path):
    assert beside.agent_in(tmp_path) is None


def test_a_library_of_others_that_is_missing_is_not_taken_for_ours(monkeypatch):
    for name in ("nats_login", "primitives"):
        monkeypatch.delattr(importlib.import_module("tacit.seal"), name, raising=False)
        monkeypatch.delitem(sys.modules, f"tacit.seal.{name}", raising=False)
    monkeypatch.setitem(sys.modules, "nacl", None)
    with pytest.raises(ModuleNotFoundError):
        beside.login_in("user:password")
