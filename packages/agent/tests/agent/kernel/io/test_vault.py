"""The vault's key: drawn once, the agent's own, and the same after every start."""

from __future__ import annotations

import hashlib

import pytest

from tacit.a2acp.post.io.store import AgentStore
from tacit.agent.kernel.io.journal import FOLDER
from tacit.agent.kernel.io.vault import Vault
from tacit.base.io.system import SystemEntropy


def hashed(folder, data: bytes) -> str:
    """What a start of an agent makes of the same bytes."""
    (folder / FOLDER).mkdir(parents=True, exist_ok=True)
    store = AgentStore(folder)
    vault = Vault(store, SystemEntropy())
    found = vault.keyed_hash(data)
    vault.close()
    store.close()
    return found


@pytest.mark.spec("A2ACP-195", "A2ACP-212")
def test_what_the_journal_names_content_by_is_the_agents_own_and_lasts(tmp_path):
    first = hashed(tmp_path / "anna", b"vegan")
    assert hashed(tmp_path / "anna", b"vegan") == first, "the key outlasts the process"
    assert hashed(tmp_path / "anna", b"vegetarian") != first
    assert hashed(tmp_path / "ben", b"vegan") != first, "another agent's is another"
    assert hashlib.blake2b(b"vegan", digest_size=16).hexdigest() != first, "without the key it says nothing"
