"""What a program may carry from one ledger into another (docs/nats.md): the text, and a word about its source."""

from typing import Any

import msgspec
import pytest

from tacit.base.errors import Refused
from tacit.ledger.commands import Committed, Duplicate
from tacit.ledger.io.store import Store
from tacit.ledger.submission import Submission

SOURCE = {
    "v": 1,
    "id": "a" * 32,
    "ts": "2026-01-01T00:00:00Z",
    "kind": "chat.message",
    "group_id": "g_of_one",
}


def submission(kind: str, data: dict[str, Any]) -> Submission:
    return Submission("g_two", "user", kind, data, msgspec.json.encode(data))


@pytest.fixture
def other(tmp_path):
    store = Store(tmp_path)
    store.start()
    store.append(submission("group.create", {"title": "Two"}), creates=True)
    yield store
    store.close()


@pytest.mark.spec("CCCS-095")
def test_a_source_that_this_ledger_does_not_have_is_refused(other):
    data = {"text": "hello", "src_group_id": SOURCE["group_id"], "src_event_id": SOURCE["id"]}
    with pytest.raises(Refused) as refused:
        other.append(submission("chat.message", data))
    assert (refused.value.code, refused.value.row) == ("group_not_found", "CCCS-095")


def test_the_second_commit_may_be_repeated_under_a_key_made_from_the_sources_id(other):
    data = {"text": "hello", "src_envelope": SOURCE, "client_id": f"from:{SOURCE['group_id']}:{SOURCE['id']}"}
    first = other.append(submission("chat.message", data))
    again = other.append(submission("chat.message", data))
    assert isinstance(first, Committed)
    assert isinstance(again, Duplicate)
    assert again.event.event_id == first.event.event_id
    assert first.event.data["src_envelope"] == SOURCE


def test_the_bytes_of_files_do_not_come_along(other):
    file = {
        "kind": "file",
        "path": f"state/blobs/{'b' * 64}_a.txt",
        "title": "a.txt",
        "sha256": "b" * 64,
        "bytes": 3,
    }
    with pytest.raises(Refused) as refused:
        other.append(submission("chat.message", {"text": "hello", "attachments": [file]}))
    assert refused.value.row == "CCCS-086"
