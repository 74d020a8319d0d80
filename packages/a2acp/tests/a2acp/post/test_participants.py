"""Who may write in a thread: its peer, whom the group's list names, and in a thread that nobody knows anybody."""

from __future__ import annotations

import pytest

from tacit.a2acp.post.io.inbox import _StoredKnowledge
from tacit.a2acp.post.io.store import AgentStore

BEN, CARL, DORA = (f"agent:{name}@relay.example" for name in ("ben", "carl", "dora"))


@pytest.fixture
def store(tmp_path):
    made = AgentStore(tmp_path / "agent")
    with made.transaction():
        made.run("INSERT INTO threads (thread_id, peer) VALUES ('thr_known', ?)", BEN)
        made.run("INSERT INTO thread_members VALUES ('thr_known', ?, ?)", CARL, BEN)
    yield made
    made.close()


@pytest.mark.spec("A2ACP-030")
@pytest.mark.parametrize(
    ("thread", "sender", "may"),
    [
        ("thr_known", BEN, True),
        ("thr_known", CARL, True),
        ("thr_known", DORA, False),
        ("thr_new", DORA, True),
    ],
)
def test_a_thread_is_its_participants(store, thread, sender, may):
    assert _StoredKnowledge(store).participant(thread, sender) is may


@pytest.mark.spec("A2ACP-213")
def test_what_was_seen_and_what_was_dropped_is_known_by_sender_and_name(store):
    with store.transaction():
        store.run("INSERT INTO seen VALUES (?, 'pkt_one', 1)", BEN)
    known = _StoredKnowledge(store)
    assert [known.seen(who, name) for who, name in ((BEN, "pkt_one"), (BEN, "pkt_two"), (CARL, "pkt_one"))] == [
        True, False, False,
    ]  # fmt: skip
    assert not known.blocked(DORA)
    assert known.pin(DORA) is None
